//! What the page of operations shows. Field names are those that `web/operations/*.js` reads.

use std::collections::{BTreeMap, BTreeSet};

use lioprof_model::client_logs;
use lioprof_model::units::{percent, plural, real, share};
use lioprof_model::{Generator, KindSums, OperationRow, OperationRpc, Operations, Part, Quantiles, Stretch};
use serde::Serialize;

use crate::numbered::Numbered;
use crate::object::object;

/// Single operations of each kind that the page has, and of all kinds together: the slowest.
const SLOWEST_OF_KIND: usize = 20;
const SLOWEST_OF_ALL: usize = 100;
/// RPCs of an operation, the longest ones.
const MAX_RPCS: usize = 40;
/// Stretches of an operation and of an RPC. Of more, neighbours are put together, and what most of the time was counts.
const MAX_STRETCHES: usize = 300;
const MAX_RPC_STRETCHES: usize = 40;
/// Kinds of operations: RPCs have more than operations.
const MAX_KINDS: usize = 60;

/// Version of this layout.
const SCHEMA: &str = "lioprof.operations-page/1";

/// p50, p90, p99, max and sum, microseconds.
type Figures = [u64; 5];

/// A part's number and how long it took, microseconds.
type Piece = (usize, i64);

/// The data of the page.
pub(crate) fn operations<'a>(
    it: &'a Operations,
    generator: &'a Generator,
    title: &'a str,
    verdict: &'a str,
) -> impl Serialize + use<'a> {
    let mut kinds = it.by_kind();
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.duration_us.total));
    let left_out_kinds = kinds.len().saturating_sub(MAX_KINDS);
    kinds.truncate(MAX_KINDS);
    let mut nodes = Numbered::default();
    let shown: Vec<_> = slowest(it, &kinds)
        .into_iter()
        .map(|(number, kind)| operation(number, &it.rows[number], kind, &mut nodes))
        .collect();
    object!(Operations {
        schema: SCHEMA,
        generator,
        title,
        verdict,
        from_clients: it.from_clients,
        clocks_known: it.clocks_known,
        operations: it.rows.len(),
        unfinished: it.unfinished,
        rpcs: it.owned_rpcs,
        joined_rpcs: it.joined_rpcs,
        read_ahead_rpcs: it.read_ahead_rpcs,
        write_back_rpcs: it.write_back_rpcs,
        inferred: it.inferred(),
        // Which operations clients log, what was inferred, what belongs to none: sentences.
        notes: client_logs::notes(&it.clients),
        of_none: it
            .no_operation()
            .into_iter()
            .map(|(opcode, sum)| {
                object!(OfNone {
                    opcode: opcode.to_string(),
                    rpcs: sum.rpcs,
                    us: sum.round_trip_us,
                    what: client_logs::why_of_none(opcode),
                })
            })
            .collect::<Vec<_>>(),
        all_rpcs: it.rpcs,
        traced_nodes: traced(it).len(),
        // Unix seconds of the first begin.
        start: it.rows.iter().map(|row| row.begin_us).min().map(|us| us as f64 / 1e6),
        total_us: it.rows.iter().map(|row| row.duration_us).sum::<u64>(),
        parts: Part::ALL.map(|part| object!(PartNames { key: part.name(), name: part.words() })),
        kinds: kinds.iter().map(|kind| self::kind(kind, it)).collect::<Vec<_>>(),
        left_out_kinds,
        of_kind: SLOWEST_OF_KIND,
        of_all: SLOWEST_OF_ALL,
        slowest: shown,
        // Nodes by number.
        nodes: nodes.names,
    })
}

/// The nodes that operations ran on.
fn traced(it: &Operations) -> BTreeSet<&str> {
    it.rows.iter().map(|row| &*row.node).collect()
}

/// Whose operations they are.
pub(crate) fn title(it: &Operations) -> String {
    let what = if it.from_clients { "Operations of" } else { "RPCs of" };
    let nodes: Vec<&str> = traced(it).into_iter().collect();
    match nodes.as_slice() {
        [] => "Operations".to_owned(),
        few @ ([_] | [_, _] | [_, _, _]) => format!("{what} {}", few.join(", ")),
        [first, .., last] => format!("{what} {} nodes, {first} to {last}", nodes.len()),
    }
}

/// Where the time of all of them went, in a sentence.
pub(crate) fn verdict(it: &Operations) -> String {
    let total: u64 = it.rows.iter().map(|row| row.duration_us).sum();
    if total == 0 {
        return "there is no operation and no RPC in these logs".to_owned();
    }
    let of = |part: Part| it.rows.iter().map(|row| row.parts.get(part)).sum::<u64>();
    let mut parts: Vec<(u64, Part)> = Part::ALL.into_iter().map(|part| (of(part), part)).collect();
    parts.retain(|(us, part)| *us > 0 && *part != Part::Unknown);
    parts.sort_by_key(|(us, part)| (std::cmp::Reverse(*us), *part));
    let text = |(us, part): &(u64, Part)| format!("{} {}", percent(share(*us, total), 0), part.words());
    let largest: Vec<String> = parts.iter().take(4).map(text).collect();
    let unknown = match of(Part::Unknown) {
        0 => String::new(),
        us => format!("; {} is unknown", percent(share(us, total), 1)),
    };
    let what = if it.from_clients { "operation" } else { "RPC" };
    let count = plural(it.rows.len() as u64, what);
    format!("{count}, {:.1} s in all: {}{unknown}", real(total) / 1e6, largest.join(", "))
}

fn kind(it: &KindSums, of: &Operations) -> impl Serialize + use<> {
    let rpcs: u64 = of.rows.iter().filter(|row| row.asked == it.asked).map(|row| u64::from(row.rpcs)).sum();
    object!(Kind {
        name: it.asked.to_string(),
        count: it.count,
        rpcs,
        us: figures(&it.duration_us),
        evidence: it.evidence.iter().map(|(evidence, count)| (evidence.name(), *count)).collect::<Vec<_>>(),
        // `null`: the logs cannot tell.
        parts: it.parts_us.each_ref().map(|us| us.as_ref().map(figures)),
    })
}

fn figures(it: &Quantiles) -> Figures {
    [it.p50, it.p90, it.p99, it.max, it.total]
}

/// The operations that the page has, slowest first: their row and their kind.
fn slowest(it: &Operations, kinds: &[KindSums]) -> Vec<(usize, usize)> {
    let numbers: BTreeMap<_, usize> = kinds.iter().enumerate().map(|(number, kind)| (kind.asked, number)).collect();
    let mut order: Vec<(usize, usize)> =
        it.rows.iter().enumerate().filter_map(|(at, row)| Some((at, *numbers.get(&row.asked)?))).collect();
    order.sort_by_key(|(at, _)| (std::cmp::Reverse(it.rows[*at].duration_us), it.rows[*at].begin_us, *at));
    let mut of_kind = vec![0; kinds.len()];
    let mut rank = 0;
    order.retain(|(_, kind)| {
        rank += 1;
        of_kind[*kind] += 1;
        rank <= SLOWEST_OF_ALL || of_kind[*kind] <= SLOWEST_OF_KIND
    });
    order
}

fn operation<'a>(
    number: usize,
    row: &'a OperationRow,
    kind: usize,
    nodes: &mut Numbered<&'a str>,
) -> impl Serialize + use<'a> {
    let mut rpcs: Vec<&OperationRpc> = row.sent.iter().collect();
    rpcs.sort_by_key(|rpc| std::cmp::Reverse(rpc.answered_us - rpc.sent_us));
    let left_out_rpcs = rpcs.len().saturating_sub(MAX_RPCS);
    rpcs.truncate(MAX_RPCS);
    rpcs.sort_by_key(|rpc| (rpc.sent_us, rpc.answered_us));
    object!(Operation {
        // Its number among all operations: what an address names.
        id: number.to_string(),
        node: nodes.number(&row.node),
        pid: row.pid,
        kind,
        fid: row.fid.map(|fid| fid.to_string()),
        name: row.name.as_deref(),
        // Unix microseconds on the node's clock.
        begin_us: row.begin_us,
        us: row.duration_us,
        result: row.result,
        evidence: row.evidence.name(),
        is_walk: row.begin_evidence == lioprof_model::BeginEvidence::PathWalk,
        rpcs: row.rpcs,
        joined_rpcs: row.joined_rpcs,
        parts: Part::ALL.map(|part| row.part_us(part)),
        stretches: pieces(&row.stretches, MAX_STRETCHES),
        is_coarse: row.stretches.len() > MAX_STRETCHES,
        sent: rpcs.into_iter().map(|rpc| self::rpc(rpc, row.begin_us, nodes)).collect::<Vec<_>>(),
        left_out_rpcs,
    })
}

fn rpc<'a>(rpc: &'a OperationRpc, begin_us: i64, nodes: &mut Numbered<&'a str>) -> impl Serialize + use<'a> {
    object!(Rpc {
        opcode: rpc.opcode.to_string(),
        // Microseconds since the operation's begin.
        from: rpc.stretches.first().map_or(rpc.sent_us, |first| first.from_us) - begin_us,
        sent: rpc.sent_us - begin_us,
        answered: rpc.answered_us - begin_us,
        // `null`: its server's log or clock is not known.
        node: rpc.served.as_ref().map(|served| nodes.number(&served.node)),
        target: rpc.served.as_ref().and_then(|served| served.target).map(|target| target.to_string()),
        served: rpc.served.as_ref().map(|it| [it.arrival_us, it.start_us, it.end_us].map(|us| us - begin_us)),
        stretches: pieces(&rpc.stretches, MAX_RPC_STRETCHES),
    })
}

/// Stretches one after the other, at most so many.
fn pieces(stretches: &[Stretch], most: usize) -> Vec<Piece> {
    let piece = |all: &[Stretch]| {
        let mut us = [0; Part::ALL.len()];
        for it in all {
            us[it.part as usize] += it.to_us - it.from_us;
        }
        let longest = (0..us.len()).max_by_key(|&part| (us[part], std::cmp::Reverse(part))).unwrap_or(0);
        (longest, us.iter().sum())
    };
    stretches.chunks(stretches.len().div_ceil(most).max(1)).map(piece).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use lioprof_model::{Asked, BeginEvidence, Parts};
    use lustre_debuglog::Opcode;
    use lustre_debuglog::vocab::OperationKind;

    use super::*;

    fn row(kind: OperationKind, us: u64, rpcs: usize) -> OperationRow {
        let end_us = i64::try_from(us).unwrap();
        let half = end_us / 2;
        let stretches = vec![
            Stretch { part: Part::ClientWork, from_us: 0, to_us: half },
            Stretch { part: Part::Disk, from_us: half, to_us: end_us },
        ];
        let sent = OperationRpc {
            opcode: Opcode::OST_WRITE,
            sent_us: half,
            answered_us: end_us,
            stretches: stretches[1..].to_vec(),
            served: None,
        };
        OperationRow {
            node: Arc::from("client1"),
            pid: 7,
            asked: Asked::Operation(kind),
            fid: None,
            name: Some(Arc::from("</script><script>alert(1)</script>")),
            begin_us: 0,
            duration_us: us,
            begin_evidence: BeginEvidence::FirstLine,
            evidence: lioprof_model::Evidence::Logged,
            result: None,
            rpcs: u32::try_from(rpcs).unwrap(),
            joined_rpcs: 0,
            parts: stretches.iter().copied().collect::<Parts>(),
            stretches,
            sent: vec![sent; rpcs],
            axis_us: 0,
        }
    }

    fn page(rows: Vec<OperationRow>) -> serde_json::Value {
        let it = Operations { rows, from_clients: true, ..Operations::default() };
        serde_json::to_value(operations(&it, &Generator::default(), &title(&it), &verdict(&it))).unwrap()
    }

    #[test]
    fn the_slowest_of_each_kind_are_in_the_page() {
        let many = 2 * SLOWEST_OF_ALL;
        let mut rows: Vec<OperationRow> =
            (0..many).map(|n| row(OperationKind::Fsync, 10_000 + n as u64, MAX_RPCS + 2)).collect();
        rows.extend((0..many).map(|n| row(OperationKind::Stat, n as u64, 0)));
        let page = page(rows);
        let shown = page["slowest"].as_array().unwrap();
        assert_eq!(shown.len(), SLOWEST_OF_ALL + SLOWEST_OF_KIND);
        assert!(shown.is_sorted_by_key(|it| std::cmp::Reverse(it["us"].as_u64())));
        assert_eq!((&page["kinds"][0]["name"], &page["kinds"][0]["count"]), (&"fsync".into(), &many.into()));
        assert_eq!((&shown[0]["left_out_rpcs"], shown[0]["sent"].as_array().unwrap().len()), (&2.into(), MAX_RPCS));
        assert_eq!(page["title"], "Operations of client1");
        let (_, verdict) = page["verdict"].as_str().unwrap().split_once(": ").unwrap();
        assert!(verdict.starts_with("50 % "), "{verdict}");
    }

    #[test]
    fn many_stretches_become_few_and_take_as_long() {
        let parts = [Part::ServerWork, Part::NetworkOut];
        let stretch = |n: i64| Stretch { part: parts[usize::from(n % 2 == 0)], from_us: n * 10, to_us: n * 10 + 10 };
        let all: Vec<Stretch> = (0..1000).map(stretch).collect();
        let few = pieces(&all, 300);
        assert!(few.len() <= 300);
        assert_eq!(few.iter().map(|(_, us)| us).sum::<i64>(), 10_000);
        assert_eq!(pieces(&all[..2], 300), [(Part::NetworkOut as usize, 10), (Part::ServerWork as usize, 10)]);
        assert!(pieces(&[], 300).is_empty());
    }

    #[test]
    fn nothing_makes_a_page_too() {
        let page = page(Vec::new());
        assert_eq!(page["title"], "Operations");
        assert!(page["start"].is_null() && page["slowest"].as_array().unwrap().is_empty());
    }
}
