//! Whether the daemon works.

use std::sync::Mutex;

use lioprof_model::lock;

/// What `/healthz` says: `ok`, or what is wrong.
#[derive(Debug)]
pub(crate) struct Health {
    trouble: Mutex<Option<String>>,
}

impl Health {
    /// Healthy.
    pub(crate) fn good(&self) {
        *lock(&self.trouble) = None;
    }

    /// Not healthy, and why.
    pub(crate) fn bad(&self, why: impl Into<String>) {
        *lock(&self.trouble) = Some(why.into());
    }

    /// What is wrong, if anything is.
    pub(crate) fn trouble(&self) -> Option<String> {
        lock(&self.trouble).clone()
    }
}

impl Default for Health {
    /// A daemon that has not said so is not healthy yet.
    fn default() -> Self {
        Self { trouble: Mutex::new(Some("starting".to_owned())) }
    }
}
