//! What was typed before, kept in the user's state folder.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use rustyline::Editor;
use rustyline::history::FileHistory;

use super::complete::Assistant;

/// `$XDG_STATE_HOME/lioprof/query-history`, by default below `~/.local/state`. None without a home.
pub(super) fn file() -> Option<PathBuf> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("lioprof/query-history"))
}

/// Adds what was typed since the start.
pub(super) fn save(editor: &mut Editor<Assistant, FileHistory>, file: &Path) -> rustyline::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    editor.append_history(file)
}
