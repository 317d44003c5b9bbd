//! `lioprof explain`: a kind of finding, as docs/findings.md explains it.

use std::io::{self, Write};

use lioprof_insight::{Rule, rules};
use lioprof_text::paragraph;

use crate::args::ExplainArgs;
use crate::exit_code::Code;
use crate::findings;

/// A section per kind; a test holds them to the rules.
const PAGE: &str = include_str!("../../../docs/findings.md");

pub(crate) fn run(args: &ExplainArgs) -> anyhow::Result<Code> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match &args.kind {
        None => {
            for rule in rules() {
                paragraph(&format!("{}: {}", rule.id, rule.meaning), "", "    ", &mut out)?;
            }
        }
        Some(kind) => {
            explain(findings::rule(kind)?, &mut out)?;
        }
    }
    out.flush()?;
    Ok(Code::Success)
}

fn explain(rule: &Rule, out: &mut dyn Write) -> io::Result<()> {
    let mut text = String::new();
    for line in section(rule.id).lines().chain([""]).filter(|line| !line.starts_with("<!--")) {
        // A line of its own begins a paragraph, and so does what stands in a list or a table.
        let is_apart = line.is_empty() || line.starts_with(['|', '*', '-', '#']);
        if is_apart && !text.is_empty() {
            paragraph(&without_markup(&text), "", "  ", out)?;
            text.clear();
        }
        if line.is_empty() {
            writeln!(out)?;
        } else if let Some(cells) = line.strip_prefix("| ").and_then(|row| row.strip_suffix(" |")) {
            let cells: Vec<String> = cells.split(" | ").map(without_markup).collect();
            paragraph(&cells.join("  "), "  ", "      ", out)?;
        } else if !line.starts_with("|--") {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(line.trim_start_matches('#').trim_start());
        }
    }
    Ok(())
}

/// What stands under the heading of a kind, with the heading.
fn section(id: &str) -> &'static str {
    let heading = format!("\n## {id}\n");
    let start = PAGE.find(&heading).map_or(PAGE.len(), |at| at + 1);
    let section = &PAGE[start..];
    section.get(3..).and_then(|rest| rest.find("\n## ")).map_or(section, |end| &section[..end + 3]).trim_end()
}

/// Text without the signs of Markdown; of a link its text.
fn without_markup(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        plain.push_str(before);
        match link.split_once("](").and_then(|(name, target)| Some((name, target.split_once(')')?.1))) {
            Some((name, after)) if !name.contains(']') => {
                plain.push_str(name);
                rest = after;
            }
            _ => {
                plain.push('[');
                rest = link;
            }
        }
    }
    plain.push_str(rest);
    plain.replace(['*', '`'], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_explained() {
        for rule in rules() {
            let mut out = Vec::new();
            explain(rule, &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            assert!(text.starts_with(rule.id) && text.contains("\nEvidence: "), "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= 80) && !text.contains("]("), "{text}");
            assert_eq!(text.matches("\n## ").count(), 0);
            for limit in rule.limits {
                assert!(text.contains(limit.name), "{}: {text}", limit.name);
            }
        }
    }

    #[test]
    fn links_are_their_text() {
        let text = "See [the *loss*](numbers.md#loss), `[0x1:0x2:0x0]` and [that](a.md).";
        assert_eq!(without_markup(text), "See the loss, [0x1:0x2:0x0] and that.");
    }
}
