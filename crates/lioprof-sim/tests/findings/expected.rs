//! What is to be found in each scenario.

use crate::runs::Seen;

/// Scenario, and the finding that must rank first; `None`: nothing above `info`.
static EXPECTED: &[(&str, Option<&str>)] = &[
    ("file-per-process", None),
    ("shared-aligned", None),
    ("idle", None),
    ("metadata", None),
    ("steady", None),
    ("busy", None),
    ("direct-io", None),
    ("read-lustre-aware", None),
    ("hdf5-collective-metadata", None),
    ("lock-pingpong", Some("lock-ping-pong")),
    ("false-sharing", Some("lock-ping-pong")),
    ("many-writers", Some("many-writers")),
    ("read-not-lustre-aware", Some("reads-not-lustre-aware")),
    ("hdf5-metadata", Some("small-io-between-large")),
    ("small-rpcs", Some("small-rpcs")),
    ("unaligned", Some("unaligned-rpcs")),
    ("gapped", Some("gapped-rpcs")),
    ("strided-read", Some("strided-reads")),
    ("backward-read", Some("backward-reads")),
    ("sluggish-ost", Some("sluggish-ost")),
    ("imbalance", Some("load-imbalance")),
    ("single-writer", Some("single-writer")),
    ("hot-ost", Some("hot-ost")),
    ("thread-starved", Some("queue-bound")),
    ("disk-bound", Some("disk-bound")),
    ("client-bound", Some("client-bound")),
    ("metadata-bound", Some("metadata-bound")),
    ("ping-storm", Some("ping-storm")),
    ("statfs-storm", Some("statfs-storm")),
    ("heavy-tail", Some("slow-tail")),
    ("unfair", Some("unfair-sharing")),
    ("evictions", Some("evictions")),
];

/// What is to be found; `None`: nobody has said it.
pub(crate) fn of(scenario: &str) -> Option<Option<&'static str>> {
    EXPECTED.iter().find(|(name, _)| *name == scenario).map(|(_, finding)| *finding)
}

/// Findings that are notes on purpose: the bottleneck is nobody's fault.
static NOTES: &[&str] = &["disk-bound", "client-bound"];

/// Whether something is wrong in it.
pub(crate) fn is_pathology(scenario: &str) -> bool {
    of(scenario).flatten().is_some_and(|finding| !NOTES.contains(&finding))
}

/// What ranks first and should not; `None`: all is as it should be.
pub(crate) fn wrong(seen: &Seen) -> Option<&str> {
    let is_it = |id: &str, wanted: &str| id == wanted && (NOTES.contains(&id) || seen.above.iter().any(|it| it == id));
    match of(seen.scenario).flatten() {
        Some(wanted) if seen.first.as_deref().is_some_and(|id| is_it(id, wanted)) => None,
        Some(_) => Some(seen.above.first().map_or("nothing", String::as_str)),
        None => seen.above.first().map(String::as_str),
    }
}
