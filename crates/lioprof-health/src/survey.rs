//! What `obdfilter-survey` of the Lustre I/O kit found, OST by OST, from its `*.detail`.
//!
//! The script drives all OSTs of a server at once, and passes on what `lctl test_brw` printed for each of them (utils `obd.c`,
//! `jt_obd_test_brw`; lustre-iokit `obdfilter-survey`):
//!
//! ```text
//! =======================> ost  2 sz  1228800K rsz 1024K obj    2 thr    2
//! =============> write localhost:lustre-OST0000_ecc
//! 1/1 Total: 264.669692/second
//! Total: total 600 threads 1 sec 4.493496 133.526323/second
//! ```
//!
//! The last line counts records of `rsz` KiB over the whole test. Its `*.summary` has only sums over the OSTs; the analysis reads that
//! (`--baseline`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Best bandwidths of an OST by test (`write`, `rewrite`, `read`), over all numbers of objects and threads, bytes per second.
pub type Bandwidths = BTreeMap<String, u64>;

/// A survey of one server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SurveyFacts {
    /// What the script was told: `size=1024 thrhi=16`.
    pub settings: String,
    /// Its `*.summary`, as it is.
    pub summary: String,
    /// Its `*.detail`, as it is.
    pub detail: String,
    /// Bandwidths by OST.
    pub osts: BTreeMap<String, Bandwidths>,
    /// The same from the survey before this one, and that one's name; `None` if there was none with the same settings.
    pub last: Option<LastSurvey>,
}

/// The survey before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastSurvey {
    /// Name of its file.
    pub name: String,
    /// Bandwidths by OST.
    pub osts: BTreeMap<String, Bandwidths>,
}

/// The bandwidths in a `*.detail`. Lines of another form are the script's own, and skipped.
#[must_use]
pub fn parse_survey(detail: &str) -> BTreeMap<String, Bandwidths> {
    let mut osts: BTreeMap<String, Bandwidths> = BTreeMap::new();
    let mut record_bytes: Option<u64> = None;
    let mut running: Option<(&str, &str)> = None;
    for line in detail.lines() {
        if let Some(heading) = heading(line) {
            let mut words = heading.split_whitespace();
            match (words.next(), words.next()) {
                (Some("ost"), _) => record_bytes = record_size(heading),
                (Some(test), Some(client)) => running = ost_of(client).map(|ost| (test, ost)),
                _ => running = None,
            }
        } else if let (Some((test, ost)), Some(record_bytes), Some(records_per_s)) = (running, record_bytes, rate(line))
        {
            let bandwidth = osts.entry(ost.to_owned()).or_default().entry(test.to_owned()).or_default();
            *bandwidth = (*bandwidth).max(to_bytes(records_per_s, record_bytes));
        }
    }
    osts
}

/// What stands behind the arrow of a heading.
fn heading(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("=============")?.trim_start_matches('=').strip_prefix("> ")?;
    Some(rest.trim())
}

/// `ost  2 sz  1228800K rsz 1024K obj ..`
fn record_size(heading: &str) -> Option<u64> {
    let size = heading.split_whitespace().skip_while(|word| *word != "rsz").nth(1)?;
    size.trim_end_matches('K').parse::<u64>().ok()?.checked_mul(1024)
}

/// `localhost:lustre-OST0000_ecc`; of headings that name no client, `Create 1 on ..` and `write global`, nothing.
fn ost_of(client: &str) -> Option<&str> {
    let (_, device) = client.rsplit_once(':')?;
    Some(device.strip_suffix("_ecc").unwrap_or(device))
}

/// `Total: total 600 threads 1 sec 4.493496 133.526323/second`: records per second.
fn rate(line: &str) -> Option<f64> {
    let rest = line.strip_prefix("Total: total ")?;
    rest.split_whitespace().last()?.strip_suffix("/second")?.parse().ok().filter(|rate: &f64| *rate >= 0.0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a bandwidth is positive and far below 2^53"
)]
fn to_bytes(records_per_s: f64, record_bytes: u64) -> u64 {
    (records_per_s * record_bytes as f64).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_ost_of_a_real_survey() {
        let osts = parse_survey(include_str!("../../../fixtures/survey/server1.detail"));
        assert_eq!(osts.keys().collect::<Vec<_>>(), ["lustre-OST0000", "lustre-OST0001"]);
        // 133.526323 records of 1 MiB with one thread, fewer with two.
        assert_eq!(osts["lustre-OST0000"]["write"], 140_012_498);
        for bandwidths in osts.values() {
            assert_eq!(bandwidths.keys().collect::<Vec<_>>(), ["read", "rewrite", "write"]);
        }
    }

    #[test]
    fn what_is_cut_off_or_something_else_is_skipped() {
        let whole = include_str!("../../../fixtures/survey/server1.detail");
        for end in (0..whole.len()).step_by(97) {
            let osts = parse_survey(&whole[..end]);
            assert!(osts.len() <= 2);
        }
        assert!(
            parse_survey("Total: total 5 sec 1 9/second\n=============> write x\n=======================> ost\n")
                .is_empty()
        );
        let strange = "=======================> ost 1 sz 1K rsz xK\n=============> write h:a_ecc\nTotal: total 1 sec 1 nan/second\n";
        assert!(parse_survey(strange).is_empty());
    }
}
