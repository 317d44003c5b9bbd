//! What is to be found in each scenario.

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
];

/// What is to be found; `None`: nobody has said it.
pub(crate) fn of(scenario: &str) -> Option<Option<&'static str>> {
    EXPECTED.iter().find(|(name, _)| *name == scenario).map(|(_, finding)| *finding)
}

/// Whether this finding is the one.
pub(crate) fn is_right(scenario: &str, first: Option<&str>) -> bool {
    of(scenario) == Some(first)
}
