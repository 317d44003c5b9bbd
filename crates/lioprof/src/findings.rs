//! `lioprof findings`: lists the rules and their thresholds.

use std::io::{self, Write};

use anyhow::anyhow;
use lioprof_insight::{Limit, Rule, rules};
use lioprof_text::paragraph;

use crate::args::FindingsArgs;
use crate::exit_code::Code;

/// Prints a file of thresholds, with their meanings as comments.
pub(crate) fn list(args: &FindingsArgs) -> anyhow::Result<Code> {
    for id in &args.rules {
        rule(id)?;
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    writeln!(out, "# Kinds of findings and their thresholds; docs/findings.md explains them.")?;
    for rule in rules().iter().filter(|rule| args.rules.is_empty() || args.rules.iter().any(|id| id == rule.id)) {
        writeln!(out)?;
        paragraph(rule.meaning, "# ", "# ", &mut out)?;
        writeln!(out, "[{}]", rule.id)?;
        for Limit { name, default, meaning } in rule.limits {
            paragraph(meaning, "# ", "# ", &mut out)?;
            writeln!(out, "{name} = {default}")?;
        }
    }
    out.flush()?;
    Ok(Code::Success)
}

/// The rule of a kind.
///
/// # Errors
/// There is no such kind.
pub(crate) fn rule(id: &str) -> anyhow::Result<&'static Rule> {
    let known = || rules().iter().map(|rule| rule.id).collect::<Vec<_>>().join(", ");
    let rule = rules().iter().find(|rule| rule.id == id);
    rule.ok_or_else(|| anyhow!("there is no kind of finding `{id}`; expected one of: {}", known()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_name_plots_that_exist() {
        for rule in rules() {
            for plot in rule.plots {
                assert!(lioprof_plot::plot(plot).is_some(), "{}: {plot}", rule.id);
            }
        }
    }
}
