//! Loading and unloading the Lustre modules.

use std::sync::atomic::Ordering::Relaxed;

use lioprof_model::lock;
use rustix::io::Errno;

use super::node::DEFAULT_MIB_PER_CPU;
use super::{Cause, DEFAULT_SIZE, Kernel, PAGES_PER_MIB, Parameters, masks};

impl Kernel {
    /// Unloads the Lustre modules: the daemon stops, the buffer is gone.
    ///
    /// # Errors
    /// `ENOENT` if they are not loaded.
    pub fn unload(&self) -> Result<(), Errno> {
        let control = lock(&self.control);
        if !self.loaded.swap(false, Relaxed) {
            return Err(Errno::NOENT);
        }
        self.with_lustre.store(false, Relaxed);
        self.stop_thread();
        self.discard_all(Cause::Unloaded);
        lock(&self.daemon.path).clear();
        drop(control);
        Ok(())
    }

    /// Loads the modules again, with all settings at their defaults, or what LNet did not load already.
    ///
    /// # Errors
    /// `EEXIST` if they are loaded.
    pub fn load(&self) -> Result<(), Errno> {
        if !self.is_loaded() {
            self.load_lnet()?;
        }
        if self.with_lustre.swap(true, Relaxed) { Err(Errno::EXIST) } else { Ok(()) }
    }

    /// Loads LNet with the debug log only, as `lnet.service` does at boot: there are control files, but no version, no
    /// targets and no counters.
    ///
    /// # Errors
    /// `EEXIST` if it is loaded.
    pub fn load_lnet(&self) -> Result<(), Errno> {
        let control = lock(&self.control);
        if self.is_loaded() {
            return Err(Errno::EXIST);
        }
        self.with_lustre.store(false, Relaxed);
        for (mask, bits) in self.masks.iter().zip(masks::DEFAULTS) {
            mask.store(bits, Relaxed);
        }
        self.daemon.size.store(DEFAULT_SIZE, Relaxed);
        self.daemon.pass_lock().writer.reset();
        self.share_pages(DEFAULT_MIB_PER_CPU * PAGES_PER_MIB);
        *lock(&self.parameters) = Parameters::default();
        self.loaded.store(true, Relaxed);
        drop(control);
        Ok(())
    }
}
