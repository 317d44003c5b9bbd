//! Segments as they are, compressed.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use lioprof_model::time::{since_epoch_us, utc};

use super::DrainError;

/// Segments are compressed once and hardly ever read: speed matters more than size.
const LEVEL: i32 = 1;

/// Keeps compressed copies of segments in a folder per day.
pub(crate) struct RawKeep {
    dir: PathBuf,
    fs_name: Box<dyn Fn() -> String + Send>,
    node: String,
}

impl std::fmt::Debug for RawKeep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RawKeep").field("dir", &self.dir).field("node", &self.node).finish_non_exhaustive()
    }
}

impl RawKeep {
    /// Copies go to folders of this one, named like those of the rows.
    pub(crate) fn new(dir: &Path, fs_name: &str, node: &str) -> Self {
        let fs_name = fs_name.to_owned();
        Self::named_by(dir, move || fs_name.clone(), node)
    }

    /// The same where the file system's name may become known later: Lustre's modules are there before its targets.
    pub(crate) fn named_by(dir: &Path, fs_name: impl Fn() -> String + Send + 'static, node: &str) -> Self {
        Self { dir: dir.to_owned(), fs_name: Box::new(fs_name), node: node.to_owned() }
    }

    /// Makes a durable copy of a segment: it is there completely or not at all.
    /// Fails if it cannot be read or written.
    pub(crate) fn add(&mut self, segment: &Path) -> Result<(), DrainError> {
        let name = segment.file_stem().unwrap_or_default().to_string_lossy();
        let date = date(segment)?;
        let node = self.dir.join("raw").join(format!("fs={}", (self.fs_name)())).join(format!("node={}", self.node));
        let folder = node.join(format!("date={date}"));
        let path = folder.join(format!("{name}.bin.zst"));
        self.copy(segment, &folder, &path).map_err(|source| DrainError::Raw { path, source })
    }

    fn copy(&self, segment: &Path, folder: &Path, path: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let temporary = path.with_extension("tmp");
        let written = (|| {
            let mut out = zstd::Encoder::new(File::create(&temporary)?, LEVEL)?;
            io::copy(&mut File::open(segment)?, &mut out)?;
            out.finish()?.sync_all()?;
            fs::rename(&temporary, path)
        })();
        if written.is_err() && temporary.exists() {
            fs::remove_file(&temporary)?;
        }
        written?;
        File::open(folder)?.sync_all()
    }
}

/// Deletes the oldest copies of a node's segments until the limits hold; says which.
/// Fails if a folder cannot be read or a file not be deleted.
pub(crate) fn raw_retention(
    dir: &Path,
    node: &str,
    max_age: Option<Duration>,
    max_bytes: Option<u64>,
) -> io::Result<Vec<PathBuf>> {
    let mut copies = Vec::new();
    find(&dir.join("raw"), &format!("node={node}"), false, &mut copies)?;
    copies.sort();
    let mut total: u64 = copies.iter().map(|copy| copy.2).sum();
    let mut deleted = Vec::new();
    for (modified, path, bytes) in copies {
        let too_old = max_age.is_some_and(|max| modified.elapsed().is_ok_and(|age| age > max));
        if !too_old && max_bytes.is_none_or(|max| total <= max) {
            break;
        }
        fs::remove_file(&path)?;
        total -= bytes;
        deleted.push(path);
    }
    Ok(deleted)
}

/// Copies below `dir` that are in a folder of this node: time, path, bytes.
fn find(dir: &Path, node: &str, inside: bool, copies: &mut Vec<(SystemTime, PathBuf, u64)>) -> io::Result<()> {
    if !dir.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let metadata = fs::metadata(&path)?;
        let of_node = inside || path.file_name().is_some_and(|name| name == node);
        if metadata.is_dir() {
            find(&path, node, of_node, copies)?;
        } else if inside && path.extension().is_some_and(|extension| extension == "zst") {
            copies.push((metadata.modified()?, path, metadata.len()));
        }
    }
    Ok(())
}

/// Day of the segment's last change, UTC.
fn date(segment: &Path) -> Result<String, DrainError> {
    let modified = fs::metadata(segment).and_then(|metadata| metadata.modified());
    let modified = modified.map_err(|source| DrainError::Segment { path: segment.to_owned(), source })?;
    Ok(utc(since_epoch_us(modified))[..10].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_complete_or_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let segment = dir.path().join("000-00000001.seg");
        fs::write(&segment, b"records").unwrap();
        let mut keep = RawKeep::new(dir.path(), "lustre", "oss1");
        keep.add(&segment).unwrap();
        let found = walk(dir.path());
        let copy = found.iter().find(|path| path.extension().is_some_and(|e| e == "zst")).unwrap();
        assert!(copy.to_string_lossy().contains("raw/fs=lustre/node=oss1/date=2"), "{}", copy.display());
        assert_eq!(zstd::decode_all(File::open(copy).unwrap()).unwrap(), b"records");

        // A folder that cannot be made.
        fs::write(dir.path().join("file"), b"").unwrap();
        let error = RawKeep::new(&dir.path().join("file"), "lustre", "oss1").add(&segment).unwrap_err();
        assert!(error.to_string().contains("file/raw"), "{error}");
        assert!(walk(dir.path()).iter().all(|path| path.extension().is_none_or(|e| e != "tmp")));
    }

    #[test]
    fn a_file_system_may_be_known_later() {
        use std::sync::atomic::{AtomicBool, Ordering};
        static MOUNTED: AtomicBool = AtomicBool::new(false);
        let dir = tempfile::tempdir().unwrap();
        let name = || if MOUNTED.load(Ordering::Relaxed) { "lustre".to_owned() } else { "unknown".to_owned() };
        let mut keep = RawKeep::named_by(dir.path(), name, "oss1");
        for number in 0..2 {
            let segment = dir.path().join(format!("000-{number:08}.seg"));
            fs::write(&segment, b"records").unwrap();
            keep.add(&segment).unwrap();
            MOUNTED.store(true, Ordering::Relaxed);
        }
        let copies = |fs: &str| walk(&dir.path().join("raw").join(fs).join("node=oss1")).len();
        assert_eq!((copies("fs=unknown"), copies("fs=lustre")), (1, 1));
    }

    #[test]
    fn the_oldest_copies_of_this_node_go_first() {
        let dir = tempfile::tempdir().unwrap();
        let segment = |number: u32| {
            let path = dir.path().join(format!("000-{number:08}.seg"));
            fs::write(&path, vec![0; 1000]).unwrap();
            path
        };
        for node in ["oss1", "oss2"] {
            for number in 0..3 {
                RawKeep::new(dir.path(), "lustre", node).add(&segment(number)).unwrap();
            }
        }
        let bytes = walk(dir.path()).iter().find(|path| path.extension().is_some_and(|e| e == "zst")).unwrap().clone();
        let bytes = fs::metadata(bytes).unwrap().len();
        let deleted = raw_retention(dir.path(), "oss1", None, Some(2 * bytes)).unwrap();
        assert_eq!(deleted.len(), 1);
        assert!(deleted[0].ends_with("000-00000000.bin.zst"), "{deleted:?}");
        assert_eq!(raw_retention(dir.path(), "oss1", Some(Duration::from_secs(3600)), None).unwrap().len(), 0);
        assert_eq!(raw_retention(dir.path(), "oss1", Some(Duration::ZERO), None).unwrap().len(), 2);
        assert_eq!(raw_retention(dir.path(), "oss2", None, Some(3 * bytes)).unwrap().len(), 0);
    }

    fn walk(dir: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { found.extend(walk(&path)) } else { found.push(path) }
        }
        found
    }
}
