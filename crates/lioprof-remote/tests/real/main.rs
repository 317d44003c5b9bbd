//! Commands over real OpenSSH servers.

#[cfg(test)]
mod sshd;
