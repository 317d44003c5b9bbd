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
    ("ost-starved", Some("queue-bound")),
    ("cancel-starved", Some("queue-bound")),
    ("mdt-starved", Some("queue-bound")),
    ("metadata-hog", Some("queue-bound")),
    ("tbf", Some("throttled")),
    ("nrs-delay", Some("throttled")),
    ("slow-network", Some("slow-client-link")),
    ("slow-syncs", Some("sluggish-ost")),
    ("glimpse-storm", Some("glimpses")),
    ("over-quota", Some("failed-requests")),
    ("full-ost", Some("failed-requests")),
    ("hung-requests", Some("hung-requests")),
    ("eviction-storm", Some("evictions")),
];

/// Words that the first finding of a scenario has in its title, or among those whom it names; [`LAST_OST`] stands for the last one.
static NAMED: &[(&str, &[&str])] = &[
    ("sluggish-ost", &[LAST_OST, "disk"]),
    ("hot-ost", &["lustre-OST0000"]),
    ("ost-starved", &["a thread of ost on oss", "chown.0"]),
    ("cancel-starved", &["a thread of ldlm_canceld on oss", "untar.1000"]),
    ("mdt-starved", &["a thread of mdt on oss", "mdtest.1000"]),
    ("metadata-hog", &["a thread of mdt on oss", "find.0"]),
    ("tbf", &["TBF", "20/s", "bulk.1001", "oss"]),
    ("nrs-delay", &["in mdt of oss", "mdtest.1000"]),
    ("slow-network", &["network tcp1"]),
    ("slow-syncs", &["disk", "syncs", LAST_OST]),
    ("glimpse-storm", &["ls.1000"]),
    ("over-quota", &["-122 EDQUOT", "grow.1001"]),
    ("full-ost", &["-28 ENOSPC", LAST_OST]),
    ("hung-requests", &["OST_WRITE", LAST_OST]),
    ("eviction-storm", &["6 clients"]),
];

const LAST_OST: &str = "last OST";

/// Words that are missing in what the first finding says.
fn missing(seen: &Seen) -> Option<&'static str> {
    let (_, words) = NAMED.iter().find(|(name, _)| *name == seen.scenario)?;
    let last = format!("lustre-OST{:04x}", seen.osts - 1);
    words.iter().copied().find(|&word| !seen.names.contains(if word == LAST_OST { &last } else { word }))
}

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

/// What ranks first and should not, or whom it does not name; `None`: all is as it should be.
pub(crate) fn wrong(seen: &Seen) -> Option<&str> {
    let is_it = |id: &str, wanted: &str| id == wanted && (NOTES.contains(&id) || seen.above.iter().any(|it| it == id));
    match of(seen.scenario).flatten() {
        Some(wanted) if seen.first.as_deref().is_some_and(|id| is_it(id, wanted)) => missing(seen),
        Some(_) => Some(seen.above.first().map_or("nothing", String::as_str)),
        None => seen.above.first().map(String::as_str),
    }
}
