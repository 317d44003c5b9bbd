//! Operations of clients' programs and where their time went.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use lustre_debuglog::vocab::OperationKind;
use lustre_debuglog::{Fid, Opcode, TargetName};
use serde::Serialize;

use crate::client_logs::{ClientLog, Evidence, RpcSum};

named! {
    /// Where a part of an operation's time went.
    pub enum Part {
        /// Nothing of the operation was under way but its own thread.
        ClientWork = "client_work",
        /// A request was made and not sent yet: too many RPCs were in flight, or the sending thread was busy.
        ClientQueue = "client_queue",
        /// A request, or the data of a write, were on their way to the server.
        NetworkOut = "network_out",
        /// The request waited for a thread of the server.
        ServerQueue = "server_queue",
        /// A lock was waited for, on the server or on the client.
        LockWait = "lock_wait",
        /// The server worked on the request.
        ServerWork = "server_work",
        /// The server read the data from its disk or cache, or wrote them.
        Disk = "disk",
        /// A reply, or the data of a read, were on their way to the client.
        NetworkBack = "network_back",
        /// No RPC of the operation was in flight, but one for the same file that another thread had sent (read-ahead, write-back).
        Other = "other",
        /// The logs do not tell.
        Unknown = "unknown",
    }
}

impl Part {
    /// Whether only a server's log tells of it.
    fn is_servers(self) -> bool {
        matches!(self, Self::NetworkOut | Self::ServerQueue | Self::ServerWork | Self::Disk | Self::NetworkBack)
    }

    /// What it is, in a few words for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::ClientWork => "client's own work",
            Self::ClientQueue => "waiting in the client to be sent",
            Self::NetworkOut => "network to the server",
            Self::ServerQueue => "waiting for a server thread",
            Self::LockWait => "waiting for locks",
            Self::ServerWork => "server's work",
            Self::Disk => "disk",
            Self::NetworkBack => "network back",
            Self::Other => "other threads' RPCs for the file",
            Self::Unknown => "unknown",
        }
    }

    /// Its name with the unit.
    #[must_use]
    pub fn name_us(self) -> &'static str {
        static NAMES: LazyLock<[String; Part::ALL.len()]> =
            LazyLock::new(|| Part::ALL.map(|part| format!("{}_us", part.name())));
        &NAMES[self as usize]
    }
}

/// The parts of an operation, microseconds. They add up to its duration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts([u64; Part::ALL.len()]);

impl Parts {
    /// Adds to a part.
    pub fn add(&mut self, part: Part, us: u64) {
        self.0[part as usize] += us;
    }

    /// One part.
    #[must_use]
    pub fn get(&self, part: Part) -> u64 {
        self.0[part as usize]
    }

    /// All parts together.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// A stretch of an operation's or an RPC's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// What it was spent on.
    pub part: Part,
    /// Its begin.
    pub from_us: i64,
    /// Its end.
    pub to_us: i64,
}

impl FromIterator<Stretch> for Parts {
    fn from_iter<I: IntoIterator<Item = Stretch>>(stretches: I) -> Self {
        let mut parts = Self::default();
        for Stretch { part, from_us, to_us } in stretches {
            parts.add(part, u64::try_from(to_us - from_us).unwrap_or(0));
        }
        parts
    }
}

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Asked {
    /// An operation, by its lines in a client's log.
    Operation(OperationKind),
    /// An operation that was inferred from its requests or from its first line: it lasted at least so long.
    Inferred(OperationKind),
    /// An RPC, where only servers' logs tell.
    Rpc(Opcode),
}

impl Asked {
    /// Whether logs can tell of a part: those of servers alone say nothing of the client, and of the network only how long bulk data took.
    fn can_tell(self, part: Part) -> bool {
        const WITH_DATA: [Opcode; 3] = [Opcode::OST_READ, Opcode::OST_WRITE, Opcode::MDS_READPAGE];
        match (self, part) {
            (Self::Operation(_) | Self::Inferred(_), _) => true,
            (Self::Rpc(_), Part::ClientWork | Part::ClientQueue | Part::Other) => false,
            (Self::Rpc(opcode), Part::NetworkOut | Part::NetworkBack) => WITH_DATA.contains(&opcode),
            (Self::Rpc(_), _) => true,
        }
    }

    /// Whether it was inferred.
    #[must_use]
    pub fn is_inferred(self) -> bool {
        matches!(self, Self::Inferred(_))
    }

    /// Its name for programs: that of the kind, inferred or not.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Operation(kind) | Self::Inferred(kind) => kind.to_string(),
            Self::Rpc(opcode) => opcode.to_string(),
        }
    }
}

/// For people: inferred ones have an asterisk.
impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operation(kind) => kind.fmt(f),
            Self::Inferred(kind) => f.pad(&format!("{kind}*")),
            Self::Rpc(opcode) => f.pad(&opcode.to_string()),
        }
    }
}

named! {
    /// Which line an operation's begin is taken from.
    pub enum BeginEvidence {
        /// The operation's own first line.
        FirstLine = "first_line",
        /// The first step of the walk along the file's path, before that line (mask vfstrace).
        PathWalk = "path_walk",
        /// The first RPC, or the first one that was put together: it was inferred from its requests.
        FirstRequest = "first_request",
    }
}

/// An RPC of an operation, on the operation's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationRpc {
    /// Operation that it asks the server for.
    pub opcode: Opcode,
    /// When it was sent.
    pub sent_us: i64,
    /// When the reply came.
    pub answered_us: i64,
    /// What its time was spent on, from when the client began to prepare it to the reply, without gaps.
    pub stretches: Vec<Stretch>,
    /// What the server did; `None` if its log or its clock is not known.
    pub served: Option<ServedRpc>,
}

/// The server's side of an RPC, on the operation's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedRpc {
    /// The server.
    pub node: Arc<str>,
    /// The target that was asked, as far as the server's log tells.
    pub target: Option<TargetName>,
    /// When the request arrived.
    pub arrival_us: i64,
    /// When a service thread took it.
    pub start_us: i64,
    /// When it was handled.
    pub end_us: i64,
}

/// One operation.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationRow {
    /// Node on which it ran; the server for an RPC.
    pub node: Arc<str>,
    /// Kernel pid of the thread.
    pub pid: u32,
    /// What was asked for.
    pub asked: Asked,
    /// The file; for unlink and its like the directory.
    pub fid: Option<Fid>,
    /// The file's name, for unlink and its like the one in the directory, fit to be shown; only if names were asked for.
    pub name: Option<Arc<str>>,
    /// When it began, microseconds since the epoch on the node's own clock.
    pub begin_us: i64,
    /// How long it took.
    pub duration_us: u64,
    /// Which line the begin is taken from.
    pub begin_evidence: BeginEvidence,
    /// What the operation is known by.
    pub evidence: Evidence,
    /// What it returned; `None` if the log does not say.
    pub result: Option<i64>,
    /// RPCs that it sent.
    pub rpcs: u32,
    /// Those of them whose server's log is there, too.
    pub joined_rpcs: u32,
    /// Where the time went.
    pub parts: Parts,
    /// The same in the order of time, without gaps.
    pub stretches: Vec<Stretch>,
    /// Its RPCs with both ends in the log, for drawing.
    pub sent: Vec<OperationRpc>,
    /// What its times need to be put on the clock that the nodes' are compared by; 0 if that is not known.
    pub axis_us: i64,
}

impl OperationRow {
    /// A part, microseconds; `None` where the logs cannot tell of it.
    #[must_use]
    pub fn part_us(&self, part: Part) -> Option<u64> {
        let is_told = self.asked.can_tell(part) && (self.has_servers() || !part.is_servers());
        is_told.then(|| self.parts.get(part))
    }

    /// Whether the logs of servers have any of its RPCs, if it sent some.
    fn has_servers(&self) -> bool {
        matches!(self.asked, Asked::Rpc(_)) || self.rpcs == 0 || self.joined_rpcs > 0
    }

    /// When it ended.
    #[must_use]
    pub fn end_us(&self) -> i64 {
        self.begin_us.saturating_add_unsigned(self.duration_us)
    }
}

/// All operations of a capture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Operations {
    /// The operations, by node, then in the order of their begins.
    pub rows: Vec<OperationRow>,
    /// Whether a client's log tells of them; else they are RPCs, as servers' logs tell of them.
    pub from_clients: bool,
    /// RPCs that are no rows because no program waits for them: pings, statfs, cancels, callbacks. Only where servers' logs tell; else 0.
    pub unawaited_rpcs: u64,
    /// Operations of which a first or a last line is missing.
    pub unfinished: u64,
    /// RPCs that the clients sent while they logged operations.
    pub rpcs: u64,
    /// Those of them that are part of an operation.
    pub owned_rpcs: u64,
    /// Bulk RPCs that belong to no caller: read-ahead.
    pub read_ahead_rpcs: u64,
    /// Bulk RPCs that belong to no caller: write-back.
    pub write_back_rpcs: u64,
    /// Owned RPCs whose server's row is found.
    pub joined_rpcs: u64,
    /// What each client's log holds, by node.
    pub clients: Vec<ClientLog>,
    /// Whether the clocks of all clients and servers that the RPCs join could be compared: else network times are unknown.
    pub clocks_known: bool,
}

/// Exact figures of a set of times, microseconds; percentiles by the nearest rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Quantiles {
    /// Median.
    pub p50: u64,
    /// 90 %.
    pub p90: u64,
    /// 99 %.
    pub p99: u64,
    /// Largest.
    pub max: u64,
    /// Sum of all.
    pub total: u64,
}

impl Quantiles {
    /// Of these times.
    #[must_use]
    pub fn of(mut times_us: Vec<u64>) -> Self {
        times_us.sort_unstable();
        let rank = |percent: usize| {
            let at = (times_us.len() * percent).div_ceil(100).saturating_sub(1);
            times_us.get(at).copied().unwrap_or(0)
        };
        Self { p50: rank(50), p90: rank(90), p99: rank(99), max: rank(100), total: times_us.iter().sum() }
    }
}

/// Figures of all operations of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindSums {
    /// What was asked for.
    pub asked: Asked,
    /// How many.
    pub count: u64,
    /// What they are known by, and how many of them by that.
    pub evidence: BTreeMap<Evidence, u64>,
    /// The whole.
    pub duration_us: Quantiles,
    /// Each part, in the order of [`Part::ALL`]: over all operations of the kind, also those without it; `None` where the logs can tell of
    /// none of them.
    pub parts_us: [Option<Quantiles>; Part::ALL.len()],
}

impl KindSums {
    /// The parts that logs tell of, and that took any time.
    pub fn parts(&self) -> impl Iterator<Item = (Part, &Quantiles)> {
        let told = Part::ALL.into_iter().zip(&self.parts_us).filter_map(|(part, us)| Some((part, us.as_ref()?)));
        told.filter(|(_, us)| us.total > 0)
    }
}

impl Operations {
    /// RPCs that are part of an operation that is shown, and those of them with both lines of the client, which can be drawn.
    #[must_use]
    pub fn drawn_rpcs(&self) -> (u64, u64) {
        let sums = self.rows.iter().map(|row| (u64::from(row.rpcs), row.sent.len() as u64));
        sums.fold((0, 0), |(all, drawn), (rpcs, sent)| (all + rpcs, drawn + sent))
    }

    /// Operations that were inferred.
    #[must_use]
    pub fn inferred(&self) -> u64 {
        self.rows.iter().filter(|row| row.asked.is_inferred()).count() as u64
    }

    /// RPCs of all clients that belong to no operation, by what they asked for.
    #[must_use]
    pub fn no_operation(&self) -> BTreeMap<Opcode, RpcSum> {
        let mut all: BTreeMap<Opcode, RpcSum> = BTreeMap::new();
        for (opcode, sum) in self.clients.iter().flat_map(|client| &client.no_operation) {
            let of = all.entry(*opcode).or_default();
            *of = RpcSum::of([&*of, sum]);
        }
        all
    }

    /// Figures by kind, in the order of kinds.
    #[must_use]
    pub fn by_kind(&self) -> Vec<KindSums> {
        let mut kinds: BTreeMap<Asked, Vec<&OperationRow>> = BTreeMap::new();
        for row in &self.rows {
            kinds.entry(row.asked).or_default().push(row);
        }
        let sums = |(asked, rows): (Asked, Vec<&OperationRow>)| {
            let any_sent = rows.iter().any(|row| row.rpcs > 0);
            // Those without an RPC know that they took no time at a server, which says nothing of the others.
            let is_told = |part| rows.iter().any(|row| row.part_us(part).is_some() && (row.rpcs > 0 || !any_sent));
            let of = |part| Quantiles::of(rows.iter().map(|row| row.parts.get(part)).collect());
            KindSums {
                asked,
                count: rows.len() as u64,
                evidence: rows.iter().fold(BTreeMap::new(), |mut counts, row| {
                    *counts.entry(row.evidence).or_default() += 1;
                    counts
                }),
                duration_us: Quantiles::of(rows.iter().map(|row| row.duration_us).collect()),
                parts_us: Part::ALL.map(|part| is_told(part).then(|| of(part))),
            }
        };
        kinds.into_iter().map(sums).collect()
    }

    /// The slowest ones, slowest first.
    #[must_use]
    pub fn slowest(&self, count: usize) -> Vec<&OperationRow> {
        let mut rows: Vec<&OperationRow> = self.rows.iter().collect();
        rows.sort_by(|a, b| b.duration_us.cmp(&a.duration_us).then(a.begin_us.cmp(&b.begin_us)));
        rows.truncate(count);
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_by_the_nearest_rank() {
        assert_eq!(Quantiles::of(Vec::new()), Quantiles::default());
        assert_eq!(Quantiles::of(vec![7]), Quantiles { p50: 7, p90: 7, p99: 7, max: 7, total: 7 });
        let hundred = Quantiles::of((1..=100).rev().collect());
        assert_eq!(hundred, Quantiles { p50: 50, p90: 90, p99: 99, max: 100, total: 5050 });
    }
}
