//! Whether the daemon works.

use std::sync::{Mutex, PoisonError};

/// What `/healthz` says: `ok`, or what is wrong.
#[derive(Debug)]
pub(crate) struct Health {
    trouble: Mutex<Option<String>>,
}

impl Health {
    /// Healthy.
    pub(crate) fn good(&self) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Not healthy, and why.
    pub(crate) fn bad(&self, why: impl Into<String>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.into());
    }

    /// What is wrong, if anything is.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Default for Health {
    /// A daemon that has not said so is not healthy yet.
    fn default() -> Self {
        Self { trouble: Mutex::new(Some("starting".to_owned())) }
    }
}
