//! What the commands of lioprof say about themselves: their version, manual pages and completions for shells. All of it is made of
//! the definitions with which a command reads its arguments, so it cannot differ from them.

mod config_page;
mod man;
mod share;
mod version;

pub use config_page::ConfigPage;
pub use share::{ShareDir, write_share};
pub use version::{COMMIT, Version};
