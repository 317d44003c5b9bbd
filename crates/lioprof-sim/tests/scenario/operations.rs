//! Operations of simulated clients: what the analysis finds in their logs is what happened, and they log as real clients do.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lioprof_analysis::{Config, NoStores, find_operations};
use lioprof_model::{Evidence, OperationRow, Operations, Part};
use lioprof_sim::SimRecord;
use lioprof_sim::cluster::{
    Access, Call, ClientConfig, Cluster, DiskConfig, Op, Program, ServerConfig, Simulation, TrueOperation, TrueRpc,
    opcode,
};
use lioprof_sim::scenario_log::of_all;
use lioprof_sim::wording::{V2_15, V2_17, Wording};

use crate::records::{Rec, capture};
use crate::shapes::{Place, places};

const MIB: u64 = 1 << 20;
/// Files that each process works on.
const FILES: usize = 12;

/// Two clients with a program each that opens, writes, syncs, reads, asks for and deletes files of its own, and in between writes and reads
/// one that both share.
fn cluster(wording: &'static Wording) -> Simulation {
    let mut cluster = Cluster::new(3, 1_795_250_600_000_000);
    cluster.wording = wording;
    let server = ServerConfig::default();
    let [oss1, oss2, mds] = [(); 3].map(|()| cluster.server(server));
    let osts = [cluster.ost(oss1, DiskConfig::default()), cluster.ost(oss2, DiskConfig::default())];
    let mdt = cluster.mdt(mds);
    let shared = cluster.file(MIB, &osts[..1]);
    for client in 0..2u64 {
        let mount = cluster.client(ClientConfig { rtt_us: 400, ..ClientConfig::default() });
        let mut steps = vec![Op::Sleep(40_000 + 7_000 * client)];
        for number in 0..FILES {
            let file = cluster.file(MIB, &osts[number % 2..=number % 2]);
            let metadata = |opcode| Op::Plain { opcode, target: mdt };
            let offset = (number as u64 * 2 + client) * 65_536;
            steps.extend([
                metadata(opcode::LDLM_ENQUEUE),
                Op::Io(Access::write(file, 0, MIB)),
                Op::Io(Access::write(file, MIB, 4096)),
                Op::Sync(file),
                metadata(opcode::MDS_CLOSE),
                Op::Sleep(30_000),
                Op::Io(Access::read(file, 0, 65_536)),
                Op::Stat(file),
                Op::Io(Access::write(shared, offset, 65_536)),
                Op::Io(Access::read(shared, offset, 65_536)),
                Op::Sleep(25_000),
                metadata(opcode::MDS_REINT),
                Op::Sleep(30_000),
            ]);
        }
        cluster.process(mount, "cp.1000", Box::new(steps.into_iter()) as Program);
    }
    cluster.log_of_all_clients();
    cluster.start()
}

fn found(dir: &Path) -> Operations {
    find_operations(&[dir.to_owned()], &NoStores, &Config { threads: 2, ..Config::default() }).unwrap().1
}

/// The strongest at any time counts: of RPCs in flight the one that is answered last, then a request that waits to be sent, then a
/// lock. What nothing claims is the client's own work.
fn true_parts(operation: &TrueOperation) -> BTreeMap<Part, u64> {
    // From, to, how strong, and what it is.
    type Claim = (u64, u64, (u8, u64, u8), Part);
    let mut claims: Vec<Claim> = Vec::new();
    for rpc in &operation.rpcs {
        let mut add =
            |from: u64, to: u64, is_wait: u8, part| claims.push((from, to, (3, rpc.answered_us, is_wait), part));
        add(rpc.sent_us, rpc.arrival_us, 0, Part::NetworkOut);
        add(rpc.arrival_us, rpc.start_us, 0, Part::ServerQueue);
        add(rpc.end_us, rpc.answered_us, 0, Part::NetworkBack);
        match rpc.transfer_us {
            None => add(rpc.start_us, rpc.end_us, 0, Part::ServerWork),
            Some((from, to)) => {
                let write = rpc.opcode == opcode::OST_WRITE;
                add(rpc.start_us, from, 0, if write { Part::ServerWork } else { Part::Disk });
                add(from, to, 0, if write { Part::NetworkOut } else { Part::NetworkBack });
                add(to, rpc.end_us, 0, if write { Part::Disk } else { Part::ServerWork });
            }
        }
        if let Some((from, to)) = rpc.wait_us {
            add(from, to.min(rpc.end_us), 1, Part::LockWait);
        }
        if let Some(from) = rpc.queued_us {
            claims.push((from, rpc.sent_us, (2, 0, 0), Part::ClientQueue));
        }
    }
    for lock in &operation.locks {
        claims.push((lock.answered_us, lock.ended_us, (1, 0, 0), Part::LockWait));
    }
    let (begin, end) = (operation.begin_us, operation.end_us);
    let cuts: BTreeSet<u64> =
        claims.iter().flat_map(|claim| [claim.0, claim.1]).chain([begin, end]).map(|us| us.clamp(begin, end)).collect();
    let cuts: Vec<u64> = cuts.into_iter().collect();
    let mut parts = BTreeMap::new();
    for pair in cuts.windows(2) {
        let strongest =
            claims.iter().filter(|claim| claim.0 <= pair[0] && pair[1] <= claim.1).max_by_key(|claim| claim.2);
        *parts.entry(strongest.map_or(Part::ClientWork, |claim| claim.3)).or_default() += pair[1] - pair[0];
    }
    parts
}

/// Whether no two of its RPCs are in flight at the same time.
fn is_one_by_one(operation: &TrueOperation) -> bool {
    let mut spans: Vec<(u64, u64)> =
        operation.rpcs.iter().map(|rpc: &TrueRpc| (rpc.sent_us, rpc.answered_us)).collect();
    spans.sort_unstable();
    spans.windows(2).all(|pair| pair[0].1 <= pair[1].0)
}

/// The network's time there and back together: how it is split depends on how well clocks are known.
fn with_network_as_one(parts: impl Fn(Part) -> u64) -> Vec<(Part, u64)> {
    let network = parts(Part::NetworkOut) + parts(Part::NetworkBack);
    let others = Part::ALL.into_iter().filter(|part| !matches!(part, Part::NetworkOut | Part::NetworkBack));
    others.map(|part| (part, parts(part))).chain([(Part::NetworkOut, network)]).collect()
}

#[test]
fn operations_and_their_parts_are_found_exactly() {
    for wording in [&V2_17, &V2_15] {
        let dir = tempfile::tempdir().unwrap();
        let mut simulation = cluster(wording);
        of_all(dir.path(), &mut simulation, |_, _| true).unwrap();
        let truth = simulation.operations();
        let mut operations = found(dir.path());
        let name = wording.release;
        // What a version's client does not log is inferred from its requests; the truth has what it logs.
        let all = operations.rows.len();
        operations.rows.retain(|row| row.evidence == Evidence::Logged);
        assert_eq!(all > operations.rows.len(), name != V2_17.release, "{name}");
        assert_eq!((operations.rows.len(), operations.unfinished), (truth.len(), 0), "{name}");
        let per_file = if name == V2_17.release { 10 } else { 6 };
        assert_eq!(truth.len(), 2 * FILES * per_file, "{name}");
        let by_begin: BTreeMap<(u32, i64), &OperationRow> =
            operations.rows.iter().map(|row| ((row.pid, row.begin_us), row)).collect();
        let (mut exact, mut waits_us, mut calls) = (0, 0, BTreeSet::new());
        for operation in truth {
            let row = by_begin[&(operation.pid, operation.begin_us.cast_signed())];
            assert_eq!(row.asked.to_string(), operation.call.name(), "{name}: {operation:?}");
            assert_eq!(row.duration_us, operation.end_us - operation.begin_us, "{name}: {operation:?}");
            assert_eq!((row.rpcs as usize, row.joined_rpcs), (operation.rpcs.len(), row.rpcs), "{name}: {operation:?}");
            if is_one_by_one(operation) && row.parts.get(Part::Unknown) == 0 {
                let parts = true_parts(operation);
                let told = with_network_as_one(|part| row.parts.get(part));
                let want = with_network_as_one(|part| parts.get(&part).copied().unwrap_or(0));
                // Times of servers are put on the client's clock, which rounds them.
                let rounded = 2 * operation.rpcs.len() as u64;
                let alike =
                    told.iter().zip(&want).all(|(told, want)| told.0 == want.0 && told.1.abs_diff(want.1) <= rounded);
                assert!(alike, "{name}: {told:?}, really {want:?}: {operation:?}");
                waits_us += row.parts.get(Part::LockWait);
                exact += 1;
                calls.insert(operation.call);
            }
        }
        // The transfers of a few RPCs cannot be told apart.
        assert!(exact * 10 >= truth.len() * 9, "{name}: {exact} of {}", truth.len());
        assert!(waits_us > 1_000, "{name}: clients waited for each other's locks: {waits_us}");
        let all = [Call::Open, Call::Close, Call::Read, Call::Write, Call::Fsync, Call::Stat, Call::Unlink];
        let traced: BTreeSet<Call> =
            if name == V2_17.release { all.into() } else { [Call::Read, Call::Write, Call::Unlink].into() };
        assert_eq!(calls, traced, "{name}");
    }
}

/// A line that tells of an operation: C function, and what it says.
fn step(function: &str, text: &str) -> Option<String> {
    let words = |text: &str| text.split_whitespace().next().unwrap_or_default().to_owned();
    if let Some(rest) = text.strip_prefix("### client-side enqueue ") {
        return ["START", "END"].into_iter().find(|word| rest.starts_with(word)).map(|word| format!("enqueue {word}"));
    }
    if text.starts_with("Sending RPC") || text.starts_with("Completed RPC") {
        let opcode = text.rsplit(':').nth(1)?;
        // How a client makes a server write its cache to disk is the file system's own business.
        let opcode = if ["16", "44"].contains(&opcode) { "sync" } else { opcode };
        return Some(format!("{} {opcode}", words(text)));
    }
    let is_step = text.starts_with("VFS Op:") || text.starts_with("START") || text.starts_with("COMPLETED");
    let is_bulk = matches!(function, "osc_brw_prep_request" | "osc_build_rpc") && !text.starts_with("@@@");
    (is_step || is_bulk)
        .then(|| format!("{function} {}", if is_step { words(text).replace(':', "") } else { String::new() }))
}

/// For each C function with `START` and `COMPLETED` lines, the different sequences of its thread's lines from the one to the other.
fn sequences(recs: &[Rec]) -> BTreeMap<&str, BTreeSet<Vec<String>>> {
    let mut running: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    let mut found: BTreeMap<&str, BTreeSet<Vec<String>>> = BTreeMap::new();
    for rec in recs {
        let Some(step) = step(&rec.function, rec.text.trim_end()) else { continue };
        if rec.text.starts_with("START") {
            running.insert(rec.pid, Vec::new());
        }
        let Some(steps) = running.get_mut(&rec.pid) else { continue };
        steps.push(step);
        if rec.text.starts_with("COMPLETED") {
            let steps = running.remove(&rec.pid).unwrap_or_default();
            found.entry(&rec.function).or_default().insert(steps);
        }
    }
    found
}

fn is_within(few: &[String], many: &[String]) -> bool {
    let mut many = many.iter();
    few.iter().all(|step| many.any(|other| other == step))
}

/// What the first client logs.
fn simulated_client() -> Vec<Rec> {
    let mut simulation = cluster(&V2_17);
    let first = simulation.server_count();
    let mut record = SimRecord::default();
    let mut recs = Vec::new();
    while let Some(node) = simulation.next_of_any(&mut record) {
        if node == first {
            recs.push(Rec::from(&record));
        }
    }
    recs
}

#[test]
fn lines_come_in_the_order_of_a_real_client() {
    let (simulated, real) = (simulated_client(), capture("op_anatomy", "clientA"));
    let (simulated, real) = (sequences(&simulated), sequences(&real));
    assert_eq!(simulated.len(), 6, "{:?}", simulated.keys());
    // In this capture read-ahead and fsync put all data together. Other calls that wait for data do so with the same lines.
    let is_bulk = |step: &String| step.starts_with("osc_");
    for (function, shapes) in &simulated {
        for shape in shapes {
            let (bulk, own): (Vec<String>, Vec<String>) = shape.iter().cloned().partition(is_bulk);
            for (steps, function) in [(own, *function), (bulk, "ll_fsync")] {
                let like = real[function].iter().any(|real| is_within(&steps, real));
                assert!(like, "{function}: no real operation has {steps:?}, but {:?}", real[function]);
            }
        }
    }
}

#[test]
fn lines_are_those_of_a_real_client() {
    // Who sends is the program's name.
    let lines = |recs: &[Rec]| -> BTreeSet<Place> {
        let is_sending = |place: &Place| ["Sending RPC", "Completed RPC"].iter().any(|head| place.5.starts_with(head));
        places(recs).map(|(place, _)| place).filter(|place| !is_sending(place)).collect()
    };
    let (simulated, real) = (lines(&simulated_client()), lines(&capture("op_anatomy", "clientA")));
    let strange: Vec<&Place> = simulated.difference(&real).collect();
    assert!(strange.is_empty() && simulated.len() > 15, "{strange:#?}");
}
