//! Writes a dataset.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{fs, thread};

use super::options::{DatasetError, DatasetOptions};
use super::plan;
use super::play;
use super::script;
use super::site;
use super::truth::Truth;

/// Writes a dataset into a new or empty folder; the sums over it.
///
/// # Errors
/// If captures cannot be read or rows not be written.
pub fn write(dir: &Path, options: &DatasetOptions) -> Result<Truth, DatasetError> {
    let folder = |source| DatasetError::Folder(dir.to_owned(), source);
    fs::create_dir_all(dir).map_err(folder)?;
    if dir.read_dir().map_err(folder)?.next().is_some() {
        return Err(DatasetError::NotEmpty(dir.to_owned()));
    }
    let scripts = script::read_all(&options.captures)?;
    let site = site::Site::new(options);
    let next = AtomicU32::new(0);
    let result = Mutex::new(Ok(Truth::default()));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= options.nodes {
                break;
            }
            let plays = plan::plays(&site, &scripts, options, number / 2);
            let written = play::write_node(dir, &site, &scripts, &plays, options, number);
            let mut result = result.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            match (&mut *result, written) {
                (Ok(sum), Ok(truth)) => sum.merge(&truth),
                (Ok(_), Err(err)) => *result = Err(err),
                (Err(_), _) => {}
            }
            if result.is_err() {
                break;
            }
        }
    };
    let threads = options.threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, Into::into));
    thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(work);
        }
    });
    Ok(result.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())?)
}
