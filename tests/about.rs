//! What the command says about itself: version, manual pages, completions.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::util::lioprof;

fn stdout<S: AsRef<OsStr>>(args: &[S]) -> String {
    String::from_utf8(lioprof(args).exits(0).stdout).unwrap()
}

/// What follows `key: ` in a line of its own.
#[track_caller]
fn value<'a>(text: &'a str, key: &str) -> &'a str {
    let mut values = text.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
    values.next().unwrap_or_else(|| panic!("no {key} in {text}"))
}

#[test]
fn the_long_version_says_commit_features_and_schemas() {
    let short = stdout(&["-V"]);
    assert_eq!(short, concat!("lioprof ", env!("CARGO_PKG_VERSION"), "\n"));
    let long = stdout(&["--version"]);
    assert!(long.starts_with(&short), "{long}");
    let commit = value(&long, "commit");
    assert!(commit == "unknown" || (commit.len() >= 40 && commit.bytes().all(|b| b.is_ascii_hexdigit())), "{long}");
    let schemas: Vec<&str> = value(&long, "schemas").split(' ').collect();
    assert!(schemas.contains(&"lioprof.analysis/1"), "{long}");
    for (schema, is_in) in [("lioprof.rows/", cfg!(feature = "parquet")), ("lioprof.rollup/", cfg!(feature = "export"))]
    {
        assert_eq!(schemas.iter().any(|found| found.starts_with(schema)), is_in, "{schema}: {long}");
    }
}

#[test]
fn the_version_knows_every_feature() {
    let manifest: toml::Table = include_str!("../crates/lioprof/Cargo.toml").parse().unwrap();
    let declared: BTreeSet<&str> = manifest["features"].as_table().unwrap().keys().map(String::as_str).collect();
    let enabled = [
        ("daemon", cfg!(feature = "daemon")),
        ("export", cfg!(feature = "export")),
        ("parquet", cfg!(feature = "parquet")),
        ("replay", cfg!(feature = "replay")),
        ("report", cfg!(feature = "report")),
    ];
    let known: BTreeSet<&str> = enabled.iter().map(|(name, _)| *name).chain(["default"]).collect();
    assert_eq!(known, declared, "a feature is missing here, and in about.rs");
    let expected: Vec<&str> = enabled.iter().filter(|(_, is_in)| *is_in).map(|(name, _)| *name).collect();
    let long = stdout(&["--version"]);
    assert_eq!(value(&long, "features"), if expected.is_empty() { "none".to_owned() } else { expected.join(" ") });
}

/// Names of the commands that `lioprof --help` lists.
fn commands() -> Vec<String> {
    let help = stdout(&["--help"]);
    let list = help.split_once("Capture:\n").unwrap().1.split_once("Options:\n").unwrap().0;
    let lines = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = lines.filter_map(|line| line.split_whitespace().next());
    names.map(str::to_owned).collect()
}

fn read(share: &Path, name: &str) -> String {
    fs::read_to_string(share.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_command_has_a_manual_page_and_completions() {
    let dir = TempDir::new().unwrap();
    let share = dir.path();
    lioprof(&["generate".as_ref(), share.as_os_str()]).exits(0);
    let commands = commands();
    assert!(commands.iter().any(|name| name == "analyze"), "{commands:?}");
    let overview = read(share, "man/man1/lioprof.1");
    assert!(overview.contains("lioprof.analysis/1"), "the long version");
    for name in &commands {
        let page = read(share, &format!("man/man1/lioprof-{name}.1"));
        assert!(page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"), "{name}: {page}");
        // roff takes a bare hyphen for a place to break a line.
        let name = name.replace('-', "\\-");
        assert!(overview.contains(&format!("lioprof\\-{name}(1)")), "{name} is not in the overview");
    }
    let pages =
        fs::read_dir(share.join("man/man1")).unwrap().map(|page| page.unwrap().file_name().into_string().unwrap());
    let (of_parts, pages): (Vec<_>, Vec<_>) =
        pages.partition(|page| commands.iter().any(|name| page.starts_with(&format!("lioprof-{name}-"))));
    assert_eq!(pages.len(), commands.len() + 1, "no page of a hidden command: {pages:?}");
    assert!(of_parts.iter().any(|page| page == "lioprof-record-mark.1"), "{of_parts:?}");
    for file in
        ["bash-completion/completions/lioprof", "zsh/site-functions/_lioprof", "fish/vendor_completions.d/lioprof.fish"]
    {
        let text = read(share, file);
        assert!(text.contains("max-loss") && commands.iter().all(|name| text.contains(name)), "{file}");
    }
    let file = share.join("man/man1/lioprof.1");
    lioprof(&["generate".as_ref(), file.as_os_str()]).exits(2).says(&["cannot write", "lioprof.1"]);
}

#[cfg(feature = "daemon")]
#[test]
fn the_manual_page_of_the_configuration_has_every_key_and_what_is_said_of_it() {
    let dir = TempDir::new().unwrap();
    lioprof(&["generate".as_ref(), dir.path().as_os_str()]).exits(0);
    // As read: without what roff needs.
    let page = read(dir.path(), "man/man5/lioprof.toml.5").replace("\\-", "-").replace("\\&", "").replace("\\\\", "\\");
    let sample = include_str!("../packaging/lioprof.toml");
    assert!(sample.contains("buffer_limit_mib = "));
    for line in sample.lines().filter(|line| !line.is_empty()) {
        let text = line.trim_start_matches('#').trim();
        assert!(page.contains(text), "{text:?} is not in {page}");
    }
}

#[test]
fn the_index_names_every_page_of_the_documentation() {
    let docs = lioprof_testkit::files::repository("docs");
    let index = fs::read_to_string(docs.join("README.md")).unwrap();
    for entry in fs::read_dir(&docs).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_page = name.ends_with(".md") && name != "README.md";
        assert!(!is_page || index.contains(&format!("({name}")), "{name} is not in docs/README.md");
    }
    // What it names is there, down to the heading.
    for link in index.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
        let (page, heading) = link.split_once('#').unwrap_or((link, ""));
        let text = fs::read_to_string(docs.join(page)).unwrap_or_else(|error| panic!("{link}: {error}"));
        let anchor = |line: &str| {
            let kept = |sign: &char| sign.is_alphanumeric() || matches!(sign, ' ' | '-' | '_');
            line.trim_start_matches(['#', ' '])
                .to_lowercase()
                .chars()
                .filter(kept)
                .collect::<String>()
                .replace(' ', "-")
        };
        let mut headings = text.lines().filter(|line| line.starts_with('#')).map(anchor);
        assert!(heading.is_empty() || headings.any(|it| it == heading), "{link}");
    }
}
