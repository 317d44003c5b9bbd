//! `docs/findings.md` says what the rules do: a section for each, with its thresholds as they are.
//!
//! `LIOPROF_BLESS=1` writes the tables of thresholds anew.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use lioprof_insight::{Rule, rules};

fn page() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../docs/findings.md"].iter().collect()
}

fn table(rule: &Rule) -> String {
    let mut table = String::from("\n| threshold | default | meaning |\n|---|---|---|\n");
    for limit in rule.limits {
        writeln!(table, "| `{}` | {} | {} |", limit.name, limit.default, limit.meaning)
            .expect("writing to a String cannot fail");
    }
    table.push('\n');
    table
}

/// The text between the marks of a rule's table.
fn place(text: &str, rule: &Rule) -> std::ops::Range<usize> {
    let mark = format!("<!-- thresholds of {} -->", rule.id);
    let start = text.find(&mark).unwrap_or_else(|| panic!("docs/findings.md has no line {mark}")) + mark.len() + 1;
    let len = text[start..].find("<!-- end -->").unwrap_or_else(|| panic!("no <!-- end --> after {mark}"));
    start..start + len
}

#[test]
fn thresholds_are_as_documented() {
    let mut text = fs::read_to_string(page()).unwrap();
    let before = text.clone();
    for rule in rules() {
        assert!(text.contains(&format!("\n## {}\n", rule.id)), "docs/findings.md has no section {}", rule.id);
        let place = place(&text, rule);
        text.replace_range(place, &table(rule));
    }
    if std::env::var_os("LIOPROF_BLESS").is_some() {
        fs::write(page(), &text).unwrap();
    } else {
        assert!(text == before, "the tables of thresholds in docs/findings.md are stale: LIOPROF_BLESS=1 renews them");
    }
}

#[test]
fn sections_are_of_rules() {
    let text = fs::read_to_string(page()).unwrap();
    for id in text.lines().filter_map(|line| line.strip_prefix("<!-- thresholds of ")?.strip_suffix(" -->")) {
        assert!(rules().iter().any(|rule| rule.id == id), "there is no rule {id}");
    }
}
