//! Lists of files; and the few file operations that decide whether a part survives a crash, in one place, so that tests can fail each.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::StoreError;

/// What is in a folder, sorted by name.
pub(crate) fn entries(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(dir)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.sort();
    Ok(paths)
}

/// A file being written.
pub(crate) trait OutFile: Write + Send {
    /// Flushes what the kernel holds to the disk.
    fn sync(&mut self) -> io::Result<()>;
}

impl OutFile for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

/// File operations of a writer.
pub(crate) trait Files: Send {
    /// Makes a folder that is not there yet.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Makes a file, or empties it.
    fn create(&self, path: &Path) -> io::Result<Box<dyn OutFile>>;
    /// Renames a file.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Flushes a folder's entries to the disk.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// Deletes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// The operating system's.
pub(crate) struct OsFiles;

impl Files for OsFiles {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        match fs::create_dir(path) {
            Err(err) if err.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
            other => other,
        }
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn OutFile>> {
        Ok(Box::new(File::create(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
}

/// Suffix of files that are not complete; they also begin with a dot, so that no engine's `*.parquet` finds them.
pub(crate) const TEMPORARY_SUFFIX: &str = ".tmp";

/// Where the file `path` is written until it is complete: `.NAME.tmp` in the same folder.
pub(crate) fn temporary(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(TEMPORARY_SUFFIX);
    path.with_file_name(name)
}

/// Makes a folder and those above it, so that they survive a crash.
pub(crate) fn create_dirs(files: &dyn Files, path: &Path) -> Result<(), StoreError> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = folder_of(path);
    create_dirs(files, parent)?;
    files.create_dir(path).map_err(StoreError::io("create folder", path))?;
    files.sync_dir(parent).map_err(StoreError::io("sync folder", parent))
}

/// The folder that holds it: of a bare name, the one in which the process runs.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What was written, as manifests tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) bytes: u64,
    pub(crate) crc32: u32,
}

/// A file that adds up what is written to it.
pub(crate) struct SummedFile {
    file: Box<dyn OutFile>,
    bytes: u64,
    crc32: crc32fast::Hasher,
}

impl Write for SummedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = self.file.write(bytes)?;
        self.bytes += len as u64;
        self.crc32.update(&bytes[..len]);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Opens the temporary file of `path`, making folders as needed.
pub(crate) fn create(files: &dyn Files, path: &Path) -> Result<SummedFile, StoreError> {
    create_dirs(files, folder_of(path))?;
    let temporary = temporary(path);
    let file = files.create(&temporary).map_err(StoreError::io("create", temporary))?;
    Ok(SummedFile { file, bytes: 0, crc32: crc32fast::Hasher::new() })
}

/// Brings a complete temporary file to the disk and gives it its name.
pub(crate) fn publish(files: &dyn Files, file: SummedFile, path: &Path) -> Result<Written, StoreError> {
    let temporary = temporary(path);
    let SummedFile { mut file, bytes, crc32 } = file;
    file.sync().map_err(StoreError::io("sync", &temporary))?;
    drop(file);
    files.rename(&temporary, path).map_err(StoreError::io("rename to", path))?;
    let folder = folder_of(path);
    files.sync_dir(folder).map_err(StoreError::io("sync folder", folder))?;
    Ok(Written { bytes, crc32: crc32.finalize() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_name_lies_in_the_folder_of_the_process() {
        for (path, folder) in [("x.parquet", "."), ("./x.parquet", "."), ("a/x.parquet", "a"), ("/x", "/")] {
            assert_eq!(folder_of(Path::new(path)), Path::new(folder), "{path}");
        }
    }
}
