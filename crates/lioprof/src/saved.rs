//! Saved analyses: what `analysis.json` leaves out is in tables beside it.

use std::path::Path;

use lioprof_model::{Analysis, Event};
use serde::Deserialize;

use crate::messages::{self, Verbosity};

/// The schema that a saved file says it has.
pub(crate) fn schema(json: &[u8]) -> serde_json::Result<String> {
    #[derive(Deserialize)]
    struct Saved {
        schema: String,
    }
    serde_json::from_slice::<Saved>(json).map(|saved| saved.schema)
}

/// Completes the lists of an analysis that was read from `path`; what is left out after that is said, and becomes a warning.
pub(crate) fn complete(analysis: &mut Analysis, path: &Path, verbosity: Verbosity) -> anyhow::Result<()> {
    let name = path.display();
    let mut left_out = Vec::new();
    let mut missing = if analysis.others.is_empty() { Vec::new() } else { tables(analysis, path)? };
    // Of events there is no more than the list.
    missing.retain(|list| !Event::is_rest(list));
    if !missing.is_empty() {
        left_out.push(format!(
            "`{name}` has only the largest rows of {}: their complete tables are not in `tables` beside it",
            missing.join(", ")
        ));
    }
    if analysis.series.joined > 1 {
        let (joined, width_s) = (analysis.series.joined, analysis.series.bin_s);
        left_out.push(format!("in `{name}` every {joined} time bins are joined: figures over time are of {width_s} s"));
    }
    for text in left_out {
        messages::note(verbosity, &format!("note: {text}"));
        analysis.warnings.push(text);
    }
    Ok(())
}

/// Reads the tables; names of the lists that remain cut.
#[cfg(feature = "parquet")]
fn tables(analysis: &mut Analysis, path: &Path) -> anyhow::Result<Vec<String>> {
    use anyhow::Context as _;

    // Standard input has nothing beside it.
    let Some(dir) = path.parent().filter(|_| path != Path::new("-")) else {
        return Ok(analysis.others.keys().cloned().collect());
    };
    lioprof_store::complete_analysis(analysis, dir)
        .with_context(|| format!("failed to read the tables of `{}`: analyze the logs again", path.display()))
}

/// This build reads no Parquet.
#[cfg(not(feature = "parquet"))]
#[expect(clippy::unnecessary_wraps, reason = "as with Parquet")]
fn tables(analysis: &mut Analysis, _: &Path) -> anyhow::Result<Vec<String>> {
    Ok(analysis.others.keys().cloned().collect())
}
