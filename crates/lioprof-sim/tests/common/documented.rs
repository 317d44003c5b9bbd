//! Tables in `docs/` that tests make.

use std::fs;
use std::path::PathBuf;

/// Compares what stands between two marks in a page of the documentation with what it should be; `LIOPROF_BLESS=1` writes it.
#[track_caller]
pub(crate) fn compare_documented(page: &str, (begin, end): (&str, &str), new: &str) {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../docs", page].iter().collect();
    let mut text = fs::read_to_string(&path).unwrap();
    let start = text.find(begin).expect("the page has the beginning of a table") + begin.len();
    let len = text[start..].find(end).expect("the page has the end of the table");
    if std::env::var_os("LIOPROF_BLESS").is_some() {
        text.replace_range(start..start + len, new);
        fs::write(&path, text).unwrap();
        return;
    }
    assert!(text[start..start + len] == *new, "docs/{page} is stale; LIOPROF_BLESS=1 renews it. It should be:\n{new}");
}
