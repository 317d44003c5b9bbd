//! Finds Apache ECharts in the sources of the crate `charming`.
//!
//! Cargo has fetched them (`charming` is a build-dependency) but does not say where they are; `cargo metadata` does. It
//! is asked about a package that has nothing but this dependency: the whole workspace would need sources that a build
//! never downloads (other platforms, tests), and would fail offline.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use sha2::{Digest, Sha256};

/// The crate, its version, and the file in it.
const CRATE: (&str, &str) = ("charming", "0.6.0");
const FILE: &str = "src/asset/echarts-5.5.1.min.js";
/// What the file must be.
const SHA256: &str = "e84270bd0cd5bdf60fefc26d00c2a391cb2e81f4d26a7a9ee16185a54773a3cf";
/// A path to use instead, for packagers who have the same file elsewhere.
pub(crate) const OVERRIDE: &str = "LIOPROF_ECHARTS_JS";

/// The library's text, checked.
pub(crate) fn source(out: &Path) -> Vec<u8> {
    let path = env::var_os(OVERRIDE).map_or_else(|| crate_dir(out).join(FILE), PathBuf::from);
    let text = fs::read(&path).unwrap_or_else(|err| panic!("failed to read ECharts from `{}`: {err}", path.display()));
    let found: String = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(found, SHA256, "`{}` is not the ECharts 5.5.1 that the page was tested with", path.display());
    text
}

fn crate_dir(out: &Path) -> PathBuf {
    let (name, version) = CRATE;
    let manifest_dir = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let probe = out.join("locate");
    fs::create_dir_all(&probe).expect("OUT_DIR can be written");
    let manifest = probe.join("Cargo.toml");
    let text = format!(
        "[package]\nname = \"locate\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\n[workspace]\n\
         [dependencies]\n{name} = {{ version = \"={version}\", default-features = false }}\n"
    );
    fs::write(&manifest, text).expect("OUT_DIR can be written");
    fs::write(probe.join("lib.rs"), "").expect("OUT_DIR can be written");
    // The versions that are being built, so that nothing else need be there.
    if let Some(lock) = manifest_dir.ancestors().map(|dir| dir.join("Cargo.lock")).find(|lock| lock.is_file()) {
        fs::copy(lock, probe.join("Cargo.lock")).expect("OUT_DIR can be written");
    }
    let output = Command::new(env::var_os("CARGO").expect("cargo sets it"))
        .args(["metadata", "--format-version", "1", "--offline", "--filter-platform"])
        .arg(env::var_os("HOST").expect("cargo sets it"))
        .arg("--manifest-path")
        .arg(&manifest)
        // Where the configuration of this build (a vendor directory, say) is in force.
        .current_dir(&manifest_dir)
        .output()
        .expect("cargo can be run");
    let told = serde_json::from_slice::<serde_json::Value>(&output.stdout).ok();
    let found = told.iter().flat_map(|it| it["packages"].as_array()).flatten().find(|it| it["name"] == name);
    let dir = found.and_then(|it| Path::new(it["manifest_path"].as_str()?).parent());
    dir.map(Path::to_path_buf).unwrap_or_else(|| {
        panic!(
            "cargo metadata does not say where the sources of {name} {version} are; {OVERRIDE}=FILE names their {FILE}\n{}",
            String::from_utf8_lossy(&output.stderr)
        )
    })
}
