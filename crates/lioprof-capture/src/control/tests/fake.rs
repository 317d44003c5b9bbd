//! A make-believe kernel for the tests: the settings with the semantics and errors of libcfs.
//!
//! Written from the kernel's rules (`cfs_str2mask`, `cfs_trace_daemon_command`, `cfs_trace_set_debug_mb`), with bits and not
//! with names, so that it shares no code with what it tests.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::control::io::ControlIo;
use crate::control::{Control, ControlError, Param};

/// What survives the death of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) debug: u32,
    pub(crate) subsystem_debug: u32,
    /// MiB per possible CPU: what the kernel really keeps.
    pub(crate) mib_per_cpu: u64,
    pub(crate) daemon_file: String,
    pub(crate) daemon_size_mib: u64,
    pub(crate) markers: Vec<String>,
    pub(crate) boot: u32,
}

#[derive(Debug)]
struct Inner {
    state: State,
    cpus: u64,
    memory_mib: u64,
    loaded: bool,
    /// An operator holds for all names that follow (up to 2.16).
    sticky_operator: bool,
    /// Settings whose writes fail with this error number.
    broken: Option<(Param, i32)>,
    /// Effects that the process may still have before it is killed.
    life: Option<u32>,
    /// What was written, in order.
    writes: Vec<String>,
}

/// The kernel; clones are the same one.
#[derive(Clone, Debug)]
pub(crate) struct FakeKernel(Arc<Mutex<Inner>>);

impl FakeKernel {
    pub(crate) fn new(cpus: u64) -> Self {
        let state = State {
            // ioctl neterror warning error emerg ha config console lfsck
            debug: 0x1306_0580 | 0x8_0000,
            subsystem_debug: u32::MAX,
            mib_per_cpu: 5,
            daemon_file: String::new(),
            daemon_size_mib: 500,
            markers: Vec::new(),
            boot: 1,
        };
        Self(Arc::new(Mutex::new(Inner {
            state,
            cpus,
            memory_mib: 64 * 1024,
            loaded: true,
            sticky_operator: true,
            broken: None,
            life: None,
            writes: Vec::new(),
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap()
    }

    pub(crate) fn control(&self) -> Control {
        Control::with_io(std::path::Path::new("/nonexistent"), Box::new(self.clone()))
    }

    pub(crate) fn state(&self) -> State {
        self.lock().state.clone()
    }

    /// Somebody else's change.
    pub(crate) fn other(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock().state);
    }

    pub(crate) fn one_token_operator(&self) {
        self.lock().sticky_operator = false;
    }

    pub(crate) fn break_writes(&self, broken: Option<(Param, i32)>) {
        self.lock().broken = broken;
    }

    /// Modules unloaded: the settings are gone.
    pub(crate) fn unload(&self) {
        self.lock().loaded = false;
    }

    /// The process dies after so many effects; with `None` it lives (again).
    pub(crate) fn set_life(&self, effects: Option<u32>) {
        self.lock().life = effects;
    }

    /// One effect on the world (a write to a control file or to disk), unless the process is dead.
    pub(crate) fn effect(&self) -> io::Result<()> {
        match &mut self.lock().life {
            Some(0) => Err(io::Error::other("killed")),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.lock().life == Some(0)
    }

    pub(crate) fn take_writes(&self) -> Vec<String> {
        std::mem::take(&mut self.lock().writes)
    }
}

/// Each part in whole pages of 4 KiB, all together in MiB, plus one.
fn shown(inner: &Inner) -> u64 {
    let pages = inner.state.mib_per_cpu * 256;
    let per_cpu = pages * 80 / 100 + pages * 10 / 100 + pages * 10 / 100;
    per_cpu * inner.cpus / 256 + 1
}

fn errno(code: i32) -> io::Error {
    io::Error::from_raw_os_error(code)
}

const EINVAL: i32 = 22;
const ENAMETOOLONG: i32 = 36;

fn bit(param: Param, name: &str) -> Option<u32> {
    let bits = param.bits().iter();
    bits.filter(|(_, known)| known.eq_ignore_ascii_case(name)).map(|(bit, _)| *bit).next()
}

fn show(param: Param, mask: u32) -> String {
    if mask == 0 {
        return "0\n".to_owned();
    }
    let names = param.bits().iter().filter(|(bit, _)| mask & bit != 0).map(|(_, name)| *name);
    names.collect::<Vec<_>>().join(" ") + "\n"
}

/// `cfs_str2mask`.
fn str2mask(param: Param, text: &str, old: u32, sticky: bool) -> io::Result<u32> {
    let least = if param == Param::Debug { 0x206_0400 } else { 0 };
    if let Some(number) = text.strip_prefix("0x").and_then(|hex| u32::from_str_radix(hex, 16).ok()) {
        return Ok(number);
    }
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    let mut mask = if text.starts_with(['+', '-']) { old } else { least };
    let mut operator = None;
    for token in text.split_whitespace() {
        let name = token.trim_start_matches(['+', '-']);
        if token.starts_with(['+', '-']) {
            operator = token.chars().next();
        } else if !sticky {
            operator = None;
        }
        let bits =
            if name.eq_ignore_ascii_case("all") { u32::MAX } else { bit(param, name).ok_or_else(|| errno(EINVAL))? };
        mask = match operator {
            Some('-') if bits == u32::MAX => least,
            Some('-') => mask & !bits,
            _ => mask | bits,
        };
    }
    Ok(mask)
}

impl Inner {
    fn command(&mut self, text: &str) -> io::Result<()> {
        let text = text.trim_end();
        if text == "stop" {
            self.state.daemon_file.clear();
        } else if let Some(size) = text.strip_prefix("size=") {
            let size: u64 = size.parse().map_err(|_| errno(EINVAL))?;
            self.state.daemon_size_mib = if (10..=20480).contains(&size) { size } else { 500 };
        } else if text.len() >= 1024 {
            return Err(errno(ENAMETOOLONG));
        } else if !text.starts_with('/') {
            return Err(errno(EINVAL));
        } else {
            text.clone_into(&mut self.state.daemon_file);
        }
        Ok(())
    }

    fn write(&mut self, param: Param, value: &str) -> io::Result<()> {
        let sticky = self.sticky_operator;
        match param {
            Param::Debug => self.state.debug = str2mask(Param::Debug, value, self.state.debug, sticky)?,
            Param::SubsystemDebug => {
                self.state.subsystem_debug =
                    str2mask(Param::SubsystemDebug, value, self.state.subsystem_debug, sticky)?;
            }
            Param::DebugMb => {
                let limit = (self.memory_mib * 4 / 5).max(512);
                let mib: u64 = value.parse().map_err(|_| errno(EINVAL))?;
                self.state.mib_per_cpu = mib.max(self.cpus).min(limit) / self.cpus;
            }
            Param::DaemonFile => self.command(value)?,
            Param::DebugMarker => self.state.markers.push(value.to_owned()),
        }
        Ok(())
    }
}

impl ControlIo for FakeKernel {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn read(&self, param: Param) -> Result<String, ControlError> {
        let inner = self.lock();
        if !inner.loaded {
            return Err(ControlError::NoFile { param, tried: Vec::new() });
        }
        Ok(match param {
            Param::Debug => show(Param::Debug, inner.state.debug),
            Param::SubsystemDebug => show(Param::SubsystemDebug, inner.state.subsystem_debug),
            Param::DebugMb => format!("{}\n", shown(&inner)),
            Param::DaemonFile => format!("{}\n", inner.state.daemon_file),
            Param::DebugMarker => String::new(),
        })
    }

    fn write(&self, param: Param, value: &str) -> Result<(), ControlError> {
        let failed =
            |source| ControlError::Write { param, path: PathBuf::from(param.name()), value: value.to_owned(), source };
        self.effect().map_err(failed)?;
        let mut inner = self.lock();
        if !inner.loaded {
            return Err(ControlError::NoFile { param, tried: Vec::new() });
        }
        if let Some((_, code)) = inner.broken.filter(|(broken, _)| *broken == param) {
            return Err(failed(errno(code)));
        }
        inner.writes.push(format!("{param}={value}"));
        inner.write(param, value).map_err(failed)
    }

    fn debug_log_loaded(&self) -> Option<bool> {
        Some(self.lock().loaded)
    }

    fn boot_id(&self) -> Option<String> {
        Some(self.lock().state.boot.to_string())
    }
}

mod tests {
    use super::*;
    use crate::control::masks::MaskSet;
    use std::path::Path;

    #[test]
    fn changes_leave_other_bits_alone_in_all_versions() {
        for sticky in [true, false] {
            let kernel = FakeKernel::new(4);
            if !sticky {
                kernel.one_token_operator();
            }
            let control = kernel.control();
            let before = control.mask(Param::Debug).unwrap();
            let on = MaskSet::of(&["rpctrace", "dlmtrace"]);
            let off = MaskSet::of(&["ioctl", "ha"]);
            let now = control.change_mask(Param::Debug, &on, &off).unwrap();
            assert_eq!(now, before.minus(&off).or(&on));
            assert_eq!(control.change_mask(Param::Debug, &off, &on).unwrap(), before);
        }
    }

    #[test]
    fn an_unknown_name_changes_nothing_and_is_explained() {
        let kernel = FakeKernel::new(4);
        let before = kernel.state();
        let on = MaskSet::of(&["rpctrace", "zpctrace"]);
        let error = kernel.control().change_mask(Param::Debug, &on, &MaskSet::default()).unwrap_err();
        assert!(error.to_string().contains("does not know this mask"), "{error}");
        assert_eq!(kernel.state(), before);
    }

    #[test]
    fn the_buffer_shows_its_value_or_one_more() {
        let kernel = FakeKernel::new(64);
        assert_eq!(kernel.control().mib(Param::DebugMb).unwrap(), 321);
        assert_eq!(kernel.control().set_mib(Param::DebugMb, 640).unwrap(), 641);
    }

    #[test]
    fn daemon_commands() {
        let kernel = FakeKernel::new(4);
        let control = kernel.control();
        assert_eq!(control.daemon_file().unwrap(), None);
        control.start_daemon(Path::new("/run/lioprof/log"), 64).unwrap();
        assert_eq!(control.daemon_file().unwrap().as_deref(), Some(Path::new("/run/lioprof/log")));
        assert_eq!(kernel.take_writes(), ["daemon_file=size=64", "daemon_file=/run/lioprof/log"]);
        control.stop_daemon().unwrap();
        assert_eq!(control.daemon_file().unwrap(), None);
        for bad in ["log", "/log ", "/a\nb"] {
            let error = control.start_daemon(Path::new(bad), 64).unwrap_err();
            assert!(matches!(error, ControlError::BadDaemonPath { .. }), "{error}");
        }
    }

    #[test]
    fn markers_are_one_line_and_never_the_command_clear() {
        let kernel = FakeKernel::new(4);
        let control = kernel.control();
        control.mark("run 7\nstart").unwrap();
        control.mark(&"ä".repeat(200)).unwrap();
        assert!(control.mark("clear").is_err());
        assert!(control.mark(" clear\n").is_err());
        assert!(control.mark("\n").is_err());
        let markers = kernel.state().markers;
        assert_eq!(markers[0], "run 7 start");
        assert_eq!(markers[1].len(), 254);
        assert_eq!(markers.len(), 2);
    }
}
