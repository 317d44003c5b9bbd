use std::path::Path;

use lioprof_insight::{Limits, find};
use lioprof_model::analysis::NOTED_LOSS;
use lioprof_model::{Input, LockEvidence, Locks, Node, NodeRole, TraceSummary};

use super::*;
use crate::run::stored_input;

fn input_of(path: &str) -> Input {
    stored_input("oss0", Path::new(path), &TraceSummary::default(), None)
}

/// All that warnings and findings say about a loss.
fn said(loss: Loss) -> String {
    let input = Input { bytes: 1 << 20, records: 1000, ..input_of("a") };
    let mut analysis = Analysis { loss, inputs: vec![input], ..Analysis::default() };
    analysis.totals.rpcs = 100;
    let mut said = early(&[], &analysis, NOTED_LOSS);
    find(&mut analysis, &Limits::default());
    let findings = analysis.findings.iter().filter(|finding| finding.id == "trace-quality");
    said.extend(findings.flat_map(|finding| finding.remedies.iter().chain([&finding.title]).cloned()));
    said.join("\n")
}

fn overflowed() -> Loss {
    Loss { discarded_heads: 1, estimated_lost_fraction: Some(0.3), ..Loss::default() }
}

#[test]
fn advice_is_for_whoever_sets_the_size_of_the_buffer() {
    let by_hand = said(overflowed());
    assert!(
        by_hand.contains("enlarge debug_mb") && by_hand.contains("as far as the node's memory allows"),
        "{by_hand}"
    );
    assert!(!by_hand.contains("1024"), "{by_hand}");
    let of_daemon = said(Loss { kernel_overflows: 31, ..overflowed() });
    assert!(!of_daemon.contains("debug_mb"), "{of_daemon}");
    for text in [&by_hand, &of_daemon] {
        assert!(text.contains("slow") && text.contains("frozen"), "{text}");
    }
    for key in ["capture.buffer_mib", "capture.buffer_limit_mib", "capture.spool_dir"] {
        assert!(of_daemon.contains(key), "{key} in {of_daemon}");
    }
}

#[test]
fn keys_that_are_named_exist() {
    let dropped = Loss { dropped_segments: 2, kernel_overflows: 1, ..overflowed() };
    let said = said(dropped);
    let mut known = Vec::new();
    let mut section = "";
    for line in include_str!("../../../packaging/lioprof.toml").lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
        } else if let Some((key, _)) = line.split_once('=') {
            known.push(format!("{section}.{}", key.trim_start_matches('#').trim()));
        }
    }
    let words = said.split(|c: char| !(c.is_ascii_lowercase() || c == '_' || c == '.'));
    let named: Vec<&str> = words
        .map(|word| word.trim_matches('.'))
        .filter(|word| word.starts_with("capture.") || word.starts_with("budget."))
        .collect();
    assert!(named.len() >= 4, "{said}");
    for key in named {
        assert!(known.iter().any(|it| it == key), "no key `{key}`: {said}");
    }
}

#[test]
fn masks_are_not_blamed_for_lines_that_were_lost() {
    let mut analysis = Analysis::default();
    analysis.totals.rpcs = 2391;
    analysis.totals.write.rpcs = 2391;
    analysis.totals.unattributed.write.rpcs = 28;
    let of = |analysis: &Analysis| late(analysis).join("\n");
    assert!(
        of(&analysis).contains("the OST of 28 of 2,391 reads and writes is unknown: direct I/O"),
        "{}",
        of(&analysis)
    );
    // The masks were on, and nothing shows that lines are missing.
    analysis.locks = Some(Locks { evidence: LockEvidence::Dlmtrace, ..Locks::default() });
    assert!(of(&analysis).contains("+dlmtrace"), "{}", of(&analysis));
    analysis.loss = overflowed();
    assert!(of(&analysis).contains("the lines that name it were lost"), "{}", of(&analysis));
    assert!(!of(&analysis).contains("+dlmtrace"), "{}", of(&analysis));
    // Lines are missing, and the masks were not on.
    analysis.locks = Some(Locks::default());
    assert!(of(&analysis).contains("+dlmtrace"), "{}", of(&analysis));
}

#[test]
fn logs_of_clients_only_are_called_so() {
    let node = |role| Node { sent_rpcs: 117, sent_reads: 1, sent_writes: 100, role: Some(role), ..Node::default() };
    let mut analysis = Analysis { nodes: vec![node(NodeRole::Client)], ..Analysis::default() };
    let input = Input { records: 1000, ..input_of("a") };
    analysis.inputs = vec![input];
    let said = late(&analysis).join("\n");
    assert!(
        said.contains("this is the log of a client: 117 RPCs sent, including 1 read and 100 writes of OSTs"),
        "{said}"
    );
    find(&mut analysis, &Limits::default());
    assert!(analysis.findings.is_empty(), "{:?}", analysis.findings);
    analysis.nodes.push(node(NodeRole::Client));
    assert!(
        late(&analysis).join("").contains("the logs of 2 clients: 234 RPCs sent, including 2 reads and 200 writes")
    );
    // A server's log without an RPC is another matter.
    analysis.nodes.push(node(NodeRole::Oss));
    assert!(late(&analysis).join("").contains("no handled RPC"));
    find(&mut analysis, &Limits::default());
    assert_eq!(analysis.findings[0].id, "trace-quality");
}

#[test]
fn what_went_through_two_hands_is_in_doubt() {
    for (kinds, is_doubtful) in [
        (&["wrapped", "characters"][..], true),
        (&["at_sign", "prefix", "wrapped"], true),
        (&["wrapped", "prefix"], false),
        (&["characters", "at_sign"], false),
    ] {
        let envelope = kinds.iter().map(|kind| ((*kind).to_owned(), 7)).collect();
        let input = Input { envelope, ..input_of("a") };
        let said = early(&[], &Analysis { inputs: vec![input], ..Analysis::default() }, NOTED_LOSS).join("\n");
        assert!(said.contains("a did not arrive as it was logged"), "{said}");
        assert_eq!(said.contains("may be missing from the figures"), is_doubtful, "{said}");
    }
}

#[test]
fn one_is_not_told_as_several() {
    let input = |malformed| Input {
        bad_records: 1,
        envelope: Default::default(),
        unread: None,
        skipped_bytes: malformed,
        malformed: [("nrs".to_owned(), malformed)].into(),
        ..input_of("a")
    };
    let said = |input| early(&[], &Analysis { inputs: vec![input], ..Analysis::default() }, NOTED_LOSS).join("\n");
    let one = said(input(1));
    assert!(one.contains("a: 1 byte in 1 place could not be decoded"), "{one}");
    assert!(one.contains("could not parse 1 message of known kinds"), "{one}");
    let two = said(input(2));
    assert!(two.contains("a: 2 bytes in 1 place could not be decoded"), "{two}");
    assert!(two.contains("could not parse 2 messages of known kinds"), "{two}");
}
