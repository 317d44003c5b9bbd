//! Whether a client's writes slow each other, on whatever OSTs: then something that all of them pass through is the limit.

use std::cmp::Ordering;

use lioprof_model::{Analysis, SampledRpc};

use super::stats::{real, share};

/// Numbers at a time that differ by less say nothing,
const APART: f64 = 1.5;
/// nor do those that were seen for less of the time: the beginning and the end.
const LEAST: f64 = 0.1;

/// How much more a client's writes move together when more of them are under way than usual, against when fewer are: the exponent of the
/// number at a time. 0: as much, whatever their number, so something that all of them pass through is the limit. `None`: always about
/// as many are under way, or not all are in the sample.
///
/// When a write moves its bytes is not in the log: either evenly with the others, as over a link that all share, or when it is over, as over
/// one that serves one after the other. The less rising of both counts.
pub(super) fn rate_rises(analysis: &Analysis, nid: &str) -> Option<f64> {
    let client = analysis.clients.iter().position(|client| client.nid == nid)?;
    let is_it = |rpc: &&SampledRpc| rpc.client as usize == client && rpc.direction.is_write() && rpc.end > rpc.start;
    let writes: Vec<&SampledRpc> = analysis.sample.rpcs.iter().filter(is_it).collect();
    if analysis.sample.one_in > 1 {
        return None;
    }
    let mut times: Vec<f64> = writes.iter().flat_map(|rpc| [rpc.start, rpc.end]).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    let stretches = stretches(&writes, &times);
    let number = |of: &[usize]| real(of.len() as u64);
    let mut work_s = vec![0.0; writes.len()];
    for Stretch { from, to, of } in &stretches {
        of.iter().for_each(|&it| work_s[it] += (to - from) / number(of));
    }
    let usual = usual_number(&stretches)?;
    // Seconds, numbers, and bytes in both ways: with fewer than usual, as many, and more.
    let mut sums = [[0.0; 4]; 3];
    for Stretch { from, to, of } in &stretches {
        let sum = match of.len().cmp(&usual) {
            Ordering::Less => &mut sums[0],
            Ordering::Equal => &mut sums[1],
            Ordering::Greater => &mut sums[2],
        };
        let (s, bytes) = (to - from, |it: usize| real(writes[it].bytes.unwrap_or(0)));
        let shared: f64 = of.iter().map(|&it| bytes(it) * s / number(of) / work_s[it]).sum();
        let over: f64 = of.iter().filter(|&&it| writes[it].end <= *to).map(|&it| bytes(it)).sum();
        [s, s * number(of), shared, over].into_iter().zip(sum).for_each(|(value, sum)| *sum += value);
    }
    let all_s: f64 = sums.iter().map(|sum| sum[0]).sum();
    let rises = |way: usize| {
        let mut seen = sums.iter().filter(|sum| sum[way] > 0.0 && sum[0] >= LEAST * all_s);
        let of = |sum: &[f64; 4]| (share(sum[1], sum[0]), share(sum[way], sum[0]));
        let (few, many) = (of(seen.next()?), of(seen.next_back()?));
        (many.0 >= APART * few.0).then(|| share((many.1 / few.1).ln(), (many.0 / few.0).ln()))
    };
    [rises(2), rises(3)].into_iter().flatten().min_by(f64::total_cmp)
}

/// A stretch of time in which the same writes are under way.
struct Stretch {
    from: f64,
    to: f64,
    of: Vec<usize>,
}

/// All of them; `times`: when any write begins or ends, in order.
fn stretches(writes: &[&SampledRpc], times: &[f64]) -> Vec<Stretch> {
    let mut to_come: Vec<usize> = (0..writes.len()).collect();
    to_come.sort_by(|&a, &b| writes[b].start.total_cmp(&writes[a].start));
    let mut under_way: Vec<usize> = Vec::new();
    let mut stretches = Vec::new();
    for ends in times.windows(2) {
        while let Some(next) = to_come.pop_if(|next| writes[*next].start <= ends[0]) {
            under_way.push(next);
        }
        under_way.retain(|&it| writes[it].end > ends[0]);
        if !under_way.is_empty() {
            stretches.push(Stretch { from: ends[0], to: ends[1], of: under_way.clone() });
        }
    }
    stretches
}

/// The number at a time that the middle of the time saw.
fn usual_number(stretches: &[Stretch]) -> Option<usize> {
    let mut numbers: Vec<(usize, f64)> = stretches.iter().map(|it| (it.of.len(), it.to - it.from)).collect();
    numbers.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut left_s = numbers.iter().map(|(_, s)| s).sum::<f64>() / 2.0;
    let middle = numbers.iter().find(|(_, s)| {
        left_s -= s;
        left_s <= 0.0
    });
    middle.map(|(number, _)| *number)
}

#[cfg(test)]
mod tests {
    use lioprof_model::{Client, Direction, Io};

    use super::*;

    /// Writes of 1 MiB that begin and end so.
    fn rises(spans: &[(f64, f64)]) -> Option<f64> {
        let client = Client {
            nid: "10.0.0.1@tcp".to_owned(),
            uuids: Vec::new(),
            server: false,
            rpcs: 0,
            read: Io::default(),
            write: Io::default(),
            targets: 4,
            ..Client::default()
        };
        let mut analysis = Analysis { clients: vec![client], ..Analysis::default() };
        analysis.sample.one_in = 1;
        let write = |&(start, end): &(f64, f64)| SampledRpc {
            client: 0,
            target: Some(0),
            direction: Direction::Write,
            bytes: Some(1 << 20),
            arrival: start,
            start,
            end,
            object: None,
            offset: None,
            last: None,
            job: None,
            before_us: None,
            transfer_us: None,
        };
        analysis.sample.rpcs = spans.iter().map(write).collect();
        rate_rises(&analysis, "10.0.0.1@tcp")
    }

    #[test]
    fn writes_that_share_a_link_move_no_more_together() {
        // One after the other for a second each, then four at a time for four seconds, over one link; and as long as alone, over four.
        let one_by_one = (0..8u32).map(|n| (f64::from(n), f64::from(n) + 1.0));
        let shared = (0..8u32).map(|n| (10.0 + f64::from(n / 4) * 4.0, 14.0 + f64::from(n / 4) * 4.0));
        let free = (0..8u32).map(|n| (10.0 + f64::from(n / 4), 11.0 + f64::from(n / 4)));
        let of = |more: Vec<(f64, f64)>| rises(&one_by_one.clone().chain(more).collect::<Vec<_>>());
        assert!(of(shared.collect()).unwrap().abs() < 0.01);
        assert!((of(free.collect()).unwrap() - 1.0).abs() < 0.01);
        // All at once, over a link that serves one after the other.
        let served = |n: u32| (0.0, f64::from(n));
        assert!(rises(&(1..24).map(served).collect::<Vec<_>>()).unwrap().abs() < 0.01);
        // Always as many: nobody can say.
        assert_eq!(rises(&one_by_one.collect::<Vec<_>>()), None);
    }
}
