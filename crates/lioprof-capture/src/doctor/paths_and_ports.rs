//! Checks of the directories of segments and data, the lock, the journal, the socket and the port of the metrics.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{Access, access};

use super::check::{Check, Status, Subject};
use crate::config::{Auto, Config};
use crate::control::sizing::{file_limit_mib, spool_bound_mib};
use crate::metrics::MetricsServer;
use crate::pointers::{self, Pointer};
use crate::socket::ControlSocket;
use crate::system::mounts::{mounts_of, place};
use crate::system::volumes::{VolumeKind, existing, volume};
use lioprof_model::with_causes;

/// `asked` is the configuration, `chosen` the same with directory and size of the segments filled in, or why none fits.
pub(super) fn checks(asked: &Config, chosen: &Result<Config, Vec<String>>) -> Vec<Check> {
    let config = chosen.as_ref().unwrap_or(asked);
    let known = pointers::with_own(config);
    vec![
        spool_directory(config.capture.spool_dir()),
        spool_kind(config.capture.spool_dir()),
        spool_space(chosen, asked),
        spool_as_kernel_sees_it(&config.control.root, config.capture.spool_dir()),
        data_directory(config),
        other_daemon(&known),
        leftover(&known),
        socket(&config.talk.socket, &known),
        metrics(config, &known),
    ]
}

/// Whether this process can create files there; the error says why not.
fn usable(path: &Path) -> Result<String, String> {
    let Some(there) = existing(path) else { return Err("no part of the path exists".to_owned()) };
    if !there.is_dir() {
        return Err(format!("`{}` is not a directory", there.display()));
    }
    access(&there, Access::WRITE_OK | Access::EXEC_OK)
        .map_err(|err| format!("cannot write to `{}`: {}", there.display(), std::io::Error::from(err)))?;
    Ok(if there == path { path.display().to_string() } else { format!("{} (will be created)", path.display()) })
}

/// The kernel follows links and writes as root, so nobody else may create files in that directory.
pub(super) fn spool_directory(path: &Path) -> Check {
    let check = Subject("spool_dir", "segment directory usable");
    let found = match usable(path) {
        Ok(found) => found,
        Err(found) => {
            return check.failed(found, "Set capture.spool_dir to another directory.");
        }
    };
    if let Ok(about) = fs::metadata(path)
        && (about.uid() != rustix::process::geteuid().as_raw() || about.permissions().mode() & 0o022 != 0)
    {
        return check.failed(
            format!("{}: owner {}, mode {:o}", path.display(), about.uid(), about.permissions().mode() & 0o7777),
            "The kernel writes there as root and follows links: let only root write to it (`chown root`, `chmod 0700`).",
        );
    }
    check.ok(found)
}

/// The kind of file system. [`spool_space`] checks the free space.
pub(super) fn spool_kind(path: &Path) -> Check {
    let check = Subject("spool_volume", "segments on a local file system");
    let there = existing(path).ok_or_else(|| std::io::Error::from(std::io::ErrorKind::NotFound));
    let volume = match there.and_then(|path| volume(&path)) {
        Ok(volume) => volume,
        Err(error) => return check.skipped(with_causes(&error), ""),
    };
    let (status, remedy) = match volume.kind {
        VolumeKind::Lustre => {
            (Status::Failed, "Writing the log to Lustre generates more log. Set capture.spool_dir to a tmpfs.")
        }
        VolumeKind::Network => {
            (Status::Failed, "The kernel must never wait for a network here. Set capture.spool_dir to a tmpfs.")
        }
        VolumeKind::Overlay | VolumeKind::Fuse | VolumeKind::Unknown => {
            (Status::Warning, "Not a plain local file system: the kernel may see a different one. A tmpfs is best.")
        }
        VolumeKind::Memory | VolumeKind::Local => (Status::Ok, ""),
    };
    check.came_to(status, format!("{} on {}", path.display(), volume.name), remedy)
}

/// How much space the segments get, or why no directory has enough.
fn spool_space(chosen: &Result<Config, Vec<String>>, asked: &Config) -> Check {
    let check = Subject("spool_space", "room for the segments");
    match chosen {
        Ok(config) => {
            let capture = &config.capture;
            let (dir, bound) = (capture.spool_dir(), spool_bound_mib(capture));
            let found = format!(
                "{} MiB in {}, each closed at {} MiB; the kernel's file takes at most {} MiB, all segments and it {bound} MiB even if \
                 the daemon hangs",
                capture.spool_limit_mib(),
                dir.display(),
                capture.segment_mib(),
                file_limit_mib(capture)
            );
            let free_mib = existing(dir).and_then(|dir| volume(&dir).ok()).map_or(u64::MAX, |volume| volume.free_mib);
            if free_mib >= bound {
                return check.ok(found);
            }
            let remedy = format!(
                "{free_mib} MiB are free; segments and buffer would fill them if the daemon hangs or is overloaded. Lower \
                 capture.spool_limit_mib, capture.buffer_limit_mib or capture.buffer_mib, or set capture.spool_dir (--spool) to a larger \
                 local file system."
            );
            check.warning(found, remedy)
        }
        Err(tried) => {
            let wanted = match asked.capture.spool_limit_mib {
                Auto::Is(mib) => format!(
                    "capture.spool_limit_mib is {mib}: free some space, lower it, or leave it to \"auto\". A full file system loses log."
                ),
                Auto::Auto => format!(
                    "Twice {} MiB must be free: free some space, or set capture.spool_dir (--spool) to a local file system that has it.",
                    asked.capture.least_spool_mib()
                ),
            };
            check.failed(tried.join("; "), wanted)
        }
    }
}

/// The path must lead to the same directory for the kernel's own threads, which live in the first mount namespace. In the
/// namespace of a unit with `ProtectSystem=` it does; with `PrivateTmp=`, `/tmp` does not.
pub(super) fn spool_as_kernel_sees_it(root: &Path, path: &Path) -> Check {
    let check = Subject("spool_namespace", "kernel sees the same segment directory");
    let (Some(own), Some(kernel)) = (mounts_of(root, "self"), mounts_of(root, "1")) else {
        return check.skipped("the mounts of process 1 cannot be read", "");
    };
    // Parts that do not exist yet are made on the same file system.
    let Some(path) = existing(path).and_then(|path| path.canonicalize().ok()) else {
        return check.skipped("no part of the path exists", "");
    };
    match (place(&own, &path), place(&kernel, &path)) {
        (Some(own), Some(kernel)) if (&own.device, &own.inner) == (&kernel.device, &kernel.inner) => {
            check.ok(format!("{} on {}", own.inner.display(), own.kind))
        }
        (Some(own), Some(kernel)) => check.failed(format!(
                "`{}` is {} of {} ({}) here, but {} of {} ({}) for the kernel",
                path.display(),
                own.inner.display(),
                own.device,
                own.kind,
                kernel.inner.display(),
                kernel.device,
                kernel.kind
            ),
            "A private mount namespace (PrivateTmp=, a container). Use a path that is the same in both, such as /run/lioprof.",
        ),
        _ => check.skipped(
    "no mount table contains the path", ""),
    }
}

fn data_directory(config: &Config) -> Check {
    let check = Subject("data_dir", "data directory usable, with room");
    let path = &config.keep.dir;
    let found = match usable(path) {
        Ok(found) => found,
        Err(found) => return check.failed(found, "Set keep.dir to another directory."),
    };
    let volume = match existing(path).ok_or(std::io::ErrorKind::NotFound.into()).and_then(|path| volume(&path)) {
        Ok(volume) => volume,
        Err(error) => return check.failed(with_causes(&error), ""),
    };
    let found = format!("{found}: {}, {} MiB free", volume.name, volume.free_mib);
    let wanted = config.budget.disk_reserve_mib.saturating_add(config.keep.file_mib);
    if volume.kind == VolumeKind::Lustre {
        let remedy = "Writing to a Lustre file system that this server serves generates more log. Set keep.dir to a local directory.";
        return check.failed(found, remedy);
    }
    if volume.free_mib < wanted {
        let remedy = format!(
            "budget.disk_reserve_mib and one file (keep.file_mib) are {wanted} MiB: free some space, or lower them."
        );
        return check.failed(found, remedy);
    }
    if matches!(volume.kind, VolumeKind::Network | VolumeKind::Fuse) {
        let remedy = "If the network stops, segments pile up in the spool up to its limit.";
        return check.warning(found, remedy);
    }
    check.ok(found)
}

/// Only one lioprof daemon can run: the kernel has one debug daemon.
fn other_daemon(known: &[Pointer]) -> Check {
    let check = Subject(super::check::OTHER_DAEMON, "no other lioprof daemon");
    if let Some(other) = known.iter().find(|pointer| pointer.is_running() == Some(true)) {
        let (dir, socket) = (other.dir.display(), other.socket.display());
        return check.failed(
            format!("one is running: process {}, data in `{dir}`", other.pid),
            format!(
                "A second one cannot run beside it. `lioprof status --socket {socket}` shows what it is doing, `lioprof stop --socket \
                 {socket}` stops it."
            ),
        );
    }
    match known.iter().find(|pointer| pointer.is_running().is_none()) {
        Some(unknown) => check.skipped(format!("`{}` cannot be locked", unknown.lock.display()), ""),
        None => check.ok("none"),
    }
}

fn leftover(known: &[Pointer]) -> Check {
    let check = Subject("journal", "no settings left behind");
    let mut running = false;
    for pointer in known {
        match pointer.load() {
            Ok(None) => {}
            Ok(Some(_)) if pointer.is_running() == Some(true) => running = true,
            Ok(Some(journal)) => {
                return check.warning(
                    format!(
                        "process {} changed settings and did not restore them: `{}`",
                        journal.pid,
                        pointer.journal.display()
                    ),
                    "The daemon restores them when it starts; without it: `lioprof daemon --restore`.",
                );
            }
            Err(error) => return check.failed(with_causes(&error), ""),
        }
    }
    check.ok(if running { "those of the running daemon" } else { "none" })
}

/// Why socket and port are not checked: a running daemon uses them, which another check reports.
const RUNS: &str = "a lioprof daemon is running";

fn socket(path: &Path, known: &[Pointer]) -> Check {
    let check = Subject("socket", "socket for status, stop and mark");
    if known.iter().any(|pointer| pointer.is_running() == Some(true)) {
        return check.skipped(RUNS, "");
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    let remedy = "Set talk.socket (--socket) to another path.";
    match usable(folder) {
        Ok(_) => match ControlSocket::could_bind(path) {
            Ok(()) => check.ok(path.display().to_string()),
            Err(error) => check.failed(with_causes(&error), remedy),
        },
        Err(found) => check.failed(found, remedy),
    }
}

/// Binds the port for a moment.
fn metrics(config: &Config, known: &[Pointer]) -> Check {
    let check = Subject("metrics", "port for metrics");
    if known.iter().any(|pointer| pointer.is_running() == Some(true)) {
        return check.skipped(RUNS, "");
    }
    let Some(address) = config.talk.metrics.get() else { return check.ok("off") };
    match MetricsServer::bind(address) {
        Ok(_) => check.ok(address.to_string()),
        Err(error) => check.failed(with_causes(&error), ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::spool::choose;
    use crate::journal::{JournalFile, JournalStore};

    fn config(root: &Path, spool: &Path) -> Config {
        let mut config = Config::default();
        config.control.root = root.to_owned();
        config.capture.spool_dir = Auto::Is(spool.to_owned());
        config.keep.dir = root.join("data");
        config.budget.disk_reserve_mib = 1;
        config.capture.spool_limit_mib = Auto::Is(1);
        config.keep.file_mib = 1;
        config
    }

    #[test]
    fn a_directory_others_can_write_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let spool = root.path().join("spool");
        assert_eq!(spool_directory(&spool).status, Status::Ok);
        assert!(spool_directory(&spool).found.contains("will be created"));
        fs::create_dir(&spool).unwrap();
        fs::set_permissions(&spool, fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(spool_directory(&spool).status, Status::Ok);
        fs::set_permissions(&spool, fs::Permissions::from_mode(0o777)).unwrap();
        let check = spool_directory(&spool);
        assert_eq!(check.status, Status::Failed);
        assert!(check.found.contains("mode 777") && check.remedy.contains("follows links"), "{check:?}");
        let file = root.path().join("file");
        fs::write(&file, "").unwrap();
        assert_eq!(spool_directory(&file.join("x")).status, Status::Failed);
    }

    #[test]
    fn room_is_compared_with_the_limits() {
        let root = tempfile::tempdir().unwrap();
        let mut config = config(root.path(), &root.path().join("spool"));
        let space = |config: &Config| spool_space(&choose(config), config);
        assert_eq!(space(&config).status, Status::Ok);
        assert_ne!(data_directory(&config).status, Status::Failed);
        config.capture.spool_limit_mib = Auto::Is(u64::MAX);
        config.budget.disk_reserve_mib = u64::MAX;
        let check = space(&config);
        assert_eq!(check.status, Status::Failed);
        assert!(check.found.contains("MiB free") && check.remedy.contains("capture.spool_limit_mib"), "{check:?}");
        config.capture.spool_limit_mib = Auto::Auto;
        let half = choose(&config).unwrap();
        assert!(
            half.capture.spool_limit_mib() <= 1024 && half.capture.spool_limit_mib() >= 4 * half.capture.segment_mib()
        );
        assert_eq!(data_directory(&config).status, Status::Failed);
    }

    #[test]
    fn the_trap_of_a_private_tmp() {
        let root = tempfile::tempdir().unwrap();
        let spool = root.path().join("spool");
        fs::create_dir_all(&spool).unwrap();
        let spool = spool.canonicalize().unwrap();
        assert_eq!(spool_as_kernel_sees_it(root.path(), &spool).status, Status::Skipped);
        let table = |process: &str, extra: &str| {
            let dir = root.path().join("proc").join(process);
            fs::create_dir_all(&dir).unwrap();
            fs::write(dir.join("mountinfo"), format!("27 1 254:0 / / rw - ext4 /dev/vda rw\n{extra}")).unwrap();
        };
        let mount = |inner: &str| format!("30 27 254:0 {inner} {} rw - ext4 /dev/vda rw\n", spool.display());
        table("1", "");
        table("self", &mount(spool.to_str().unwrap()));
        assert_eq!(spool_as_kernel_sees_it(root.path(), &spool).status, Status::Ok);
        table("self", &mount("/tmp/systemd-private-1/tmp"));
        let check = spool_as_kernel_sees_it(root.path(), &spool);
        assert_eq!(check.status, Status::Failed);
        assert!(check.found.contains("systemd-private-1") && check.remedy.contains("/run/lioprof"), "{check:?}");
    }

    #[test]
    fn a_running_daemon_and_what_a_dead_one_left() {
        let root = tempfile::tempdir().unwrap();
        let config = config(root.path(), &root.path().join("spool"));
        let statuses = || {
            let known = pointers::with_own(&config);
            (other_daemon(&known).status, leftover(&known).status)
        };
        assert_eq!(statuses(), (Status::Ok, Status::Ok));
        fs::create_dir_all(&config.keep.dir).unwrap();
        let held = crate::lock::Lock::take(&config.lock_path()).unwrap();
        let journal = crate::journal::Journal { pid: 4711, ..Default::default() };
        JournalFile::new(&config.journal_path()).save(&journal).unwrap();
        assert_eq!(statuses(), (Status::Failed, Status::Ok));
        drop(held);
        assert_eq!(statuses(), (Status::Ok, Status::Warning));
        fs::write(config.journal_path(), "rubbish").unwrap();
        assert_eq!(statuses(), (Status::Ok, Status::Failed));
    }
}
