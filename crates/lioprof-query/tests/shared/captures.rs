//! Real captures as datasets.

use std::path::Path;

use lioprof_analysis::{Config, analyze};
use lioprof_insight::{Limits, find_and_predict};
use lioprof_model::Analysis;
use lioprof_store::{DatasetExport, Options};

/// Exports a capture; its analysis.
pub(crate) fn export(capture: &str, to: &Path) -> Analysis {
    let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/captures").join(capture);
    let mut export = DatasetExport::new(to, Options::default());
    let mut outcome = analyze(&[input], &Config::default(), Some(&mut export)).unwrap();
    export.finish().unwrap();
    find_and_predict(&mut outcome.analysis, &Limits::default(), &mut outcome.replay);
    outcome.analysis
}
