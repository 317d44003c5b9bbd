//! The daemon's unix socket.

mod bind;
mod client;
mod error;
pub(crate) mod protocol;
mod server;

pub(crate) use bind::ControlSocket;
pub use client::{Client, ClientError};
pub(crate) use error::SocketError;
pub(crate) use server::{Command, ServerLimits, serve};

#[cfg(test)]
mod tests;
