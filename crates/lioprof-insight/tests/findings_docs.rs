//! `docs/findings.md` says what the rules do: a section for each, with its thresholds as they are.
//!
//! `LIOPROF_BLESS=1` writes the tables of thresholds anew.

use std::fmt::Write;
use std::fs;

use lioprof_insight::{Rule, rules};
use lioprof_testkit::files::repository;

const PAGE: &str = "docs/findings.md";

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
    lioprof_testkit::blessed(PAGE, |is| {
        let mut text = is.to_owned();
        for rule in rules() {
            assert!(text.contains(&format!("\n## {}\n", rule.id)), "{PAGE} has no section {}", rule.id);
            let place = place(&text, rule);
            text.replace_range(place, &table(rule));
        }
        text
    });
}

#[test]
fn sections_are_of_rules() {
    let text = fs::read_to_string(repository(PAGE)).unwrap();
    for id in text.lines().filter_map(|line| line.strip_prefix("<!-- thresholds of ")?.strip_suffix(" -->")) {
        assert!(rules().iter().any(|rule| rule.id == id), "there is no rule {id}");
    }
}
