//! Which commit this is: of an archive what `git archive` wrote into the file `COMMIT`, of a clone what git says, else "unknown".
//! No time, no host: the same sources give the same program. Runs again when another commit is checked out, not at every build.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Written by `git archive` in place of a placeholder (`.gitattributes`: export-subst).
const ARCHIVED: &str = "COMMIT";

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={ARCHIVED}");
    let commit = archived(&here).or_else(|| checked_out(&here)).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=LIOPROF_COMMIT={commit}");
}

/// The commit that an archive was made of.
fn archived(here: &Path) -> Option<String> {
    let text = fs::read_to_string(here.join(ARCHIVED)).ok()?;
    let commit = text.lines().find_map(|line| line.strip_prefix("commit: "))?.trim();
    is_commit(commit).then(|| commit.to_owned())
}

/// The commit of the clone that these sources are in. Sources that only lie somewhere below a repository are not of it.
fn checked_out(here: &Path) -> Option<String> {
    git(here, &["ls-files", "--error-unmatch", ARCHIVED])?;
    // `logs/HEAD` gets a line whenever HEAD becomes another commit. It is missing where reflogs are switched off; then what HEAD
    // names is watched. A file that is not there must not be named: cargo would run this at every build.
    let head = git(here, &["symbolic-ref", "--quiet", "HEAD"]).unwrap_or_else(|| "HEAD".to_owned());
    for name in ["HEAD", "logs/HEAD", &head, "packed-refs"] {
        if let Some(path) = git(here, &["rev-parse", "--git-path", name]).map(|path| here.join(path))
            && path.exists()
        {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    git(here, &["rev-parse", "HEAD"]).filter(|commit| is_commit(commit))
}

fn is_commit(text: &str) -> bool {
    text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// What `git ARGS..` prints, if there is git and it is content.
fn git(here: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new("git").current_dir(here).args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
