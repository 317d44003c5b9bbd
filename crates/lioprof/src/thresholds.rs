//! `--threshold` and `--thresholds`: overrides of the thresholds of findings.

use std::fs;

use anyhow::{Context, bail};
use lioprof_insight::Limits;

use crate::args::ThresholdArgs;

/// The default thresholds, overridden by those of the file, then by single ones.
pub(crate) fn limits(args: &ThresholdArgs) -> anyhow::Result<Limits> {
    let mut limits = Limits::default();
    if let Some(path) = &args.file {
        let text = fs::read_to_string(path).with_context(|| format!("failed to read `{}`", path.display()))?;
        read(&text, &mut limits).with_context(|| format!("`{}`", path.display()))?;
    }
    for (name, value) in &args.single {
        limits.set(name, *value)?;
    }
    Ok(limits)
}

/// Reads a TOML text with a table per rule and a number per threshold.
fn read(text: &str, limits: &mut Limits) -> anyhow::Result<()> {
    let rules: toml::Table = text.parse()?;
    for (rule, names) in rules {
        let toml::Value::Table(names) = names else {
            bail!("expected a table for each kind of finding, such as [trace-quality]; found the key `{rule}`");
        };
        for (name, value) in names {
            let name = format!("{rule}.{name}");
            match value {
                toml::Value::Float(value) => limits.set(&name, value)?,
                #[expect(clippy::cast_precision_loss, reason = "nobody sets a threshold of 2^53")]
                toml::Value::Integer(value) => limits.set(&name, value as f64)?,
                other => bail!("threshold `{name}`: expected a number, found {}", other.type_str()),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        format!("{:#}", read(text, &mut Limits::default()).unwrap_err())
    }

    #[test]
    fn a_file_changes_thresholds() {
        let mut limits = Limits::default();
        read("# a note\n[trace-quality]\nlost_share = 0.5\n", &mut limits).unwrap();
        assert_ne!(limits, Limits::default());
        read("[trace-quality]\nlost_share = 1\n", &mut limits).unwrap();
    }

    #[test]
    fn mistakes_are_named() {
        assert!(error("lost_share = 1").contains("`lost_share`"));
        assert!(error("[trace-quality]\nlost = 1").contains("`trace-quality.lost`"));
        assert!(error("[trace-quality]\nlost_share = \"1\"").contains("found string"));
        assert!(error("[trace-quality\n").contains("line 1"));
    }
}
