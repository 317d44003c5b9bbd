//! Names what the bytes of a node's sums are of: they are those of a program with the same sources of the sums.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let mut hash = DefaultHasher::new();
    env::var("CARGO_PKG_VERSION").expect("cargo sets it").hash(&mut hash);
    // The others lie beside this crate in the repository; elsewhere versions tell.
    for dir in ["src", "../lioprof-model/src", "../lustre-debuglog/src"] {
        println!("cargo::rerun-if-changed={dir}");
        let mut files = BTreeSet::new();
        list(&here.join(dir), &mut files);
        for file in files {
            fs::read(file).unwrap_or_default().hash(&mut hash);
        }
    }
    println!("cargo::rustc-env=LIOPROF_SUMS={:016x}", hash.finish());
}

fn list(dir: &Path, files: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            list(&path, files);
        } else {
            files.insert(path);
        }
    }
}
