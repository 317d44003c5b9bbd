//! Segments as they are, compressed.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::DrainError;

/// Segments are compressed once and hardly ever read: speed matters more than size.
const LEVEL: i32 = 1;

/// Keeps compressed copies of segments in a folder per day.
#[derive(Debug)]
pub struct RawKeep {
    dir: PathBuf,
}

impl RawKeep {
    /// Copies go to folders of this one, named like those of the rows.
    #[must_use]
    pub fn new(dir: &Path, fs_name: &str, node: &str) -> Self {
        Self { dir: dir.join("raw").join(format!("fs={fs_name}")).join(format!("node={node}")) }
    }

    /// Makes a durable copy of a segment: it is there completely or not at all.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub fn add(&mut self, segment: &Path) -> Result<(), DrainError> {
        let name = segment.file_stem().unwrap_or_default().to_string_lossy();
        let date = date(segment)?;
        let folder = self.dir.join(format!("date={date}"));
        let path = folder.join(format!("{name}.bin.zst"));
        self.copy(segment, &folder, &path).map_err(|err| DrainError::Raw { path, err })
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

/// Day of the segment's last change, UTC.
fn date(segment: &Path) -> Result<String, DrainError> {
    let modified = fs::metadata(segment).and_then(|metadata| metadata.modified());
    let modified = modified.map_err(|err| DrainError::Segment { path: segment.to_owned(), err })?;
    let text = humantime::format_rfc3339_seconds(modified).to_string();
    Ok(text.split('T').next().unwrap_or_default().to_owned())
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

    fn walk(dir: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { found.extend(walk(&path)) } else { found.push(path) }
        }
        found
    }
}
