//! Settings of an analysis.

use std::collections::BTreeMap;

use lioprof_model::analysis::NOTED_LOSS;
use lioprof_model::{Baseline, ClockReading, OpenRpc, Selected, Symbol, Symbols};
use lioprof_trace::input::NodeRule;
use lioprof_trace::{DEFAULT_CHUNK_BYTES, Progress, Reading};
use lustre_debuglog::Opcode;
use serde::{Deserialize, Serialize};

use crate::select::{NidPattern, TargetPattern};

/// Settings of an analysis.
#[derive(Clone, Debug)]
pub struct Config {
    /// Number of threads, and of nodes that are read at once at most.
    pub threads: usize,
    /// Size of the chunks in which logs are decoded, bytes.
    pub chunk_bytes: usize,
    /// Width of the time bins in microseconds; `None`: chosen by the duration.
    pub bin_us: Option<i64>,
    /// Count only RPCs that ended at this time or later.
    pub from: Option<Bound>,
    /// Count only RPCs that ended at this time or earlier.
    pub to: Option<Bound>,
    /// Which RPCs to count.
    pub selection: Selection,
    /// Which files belong to which node.
    pub node_rules: Vec<NodeRule>,
    /// Whether to analyze lock contention.
    pub locks: bool,
    /// Whether operations have the names of their files, which clients' logs hold.
    pub names: bool,
    /// When a resource counts as contended; `None`: by the defaults of the Lustre version that the log suggests.
    pub contended: Option<ContendedRule>,
    /// Receives the progress of reading.
    pub progress: Progress,
    /// What the OSTs can deliver, if the user said so.
    pub baseline: Option<Baseline>,
    /// Clocks of nodes, by name, as somebody read them while the logs were written.
    pub clocks: BTreeMap<String, Vec<ClockReading>>,
    /// When the nodes of kernel logs were booted, microseconds since the epoch; their stamps count from then.
    pub boot_us: Option<i64>,
    /// Time zone of kernel logs' stamps that have none: offset from UTC, microseconds.
    pub zone_us: Option<i64>,
    /// So many nodes have sums of their own until their clocks have been compared, and only those whose clock is wrong are read again. The
    /// sums of more nodes are added up as they come, which takes less memory; if a clock is wrong, all are read again.
    pub nodes_apart: usize,
    /// Share of lost RPCs above which a warning says so.
    pub noted_loss: f64,
}

/// What is asked of rows: sums answer the question that they were made for, and no other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    bin_us: Option<i64>,
    from: Option<Bound>,
    to: Option<Bound>,
    selection: Selection,
    locks: bool,
    contended: Option<ContendedRule>,
}

impl Question {
    /// Which RPCs count.
    #[must_use]
    pub fn selection(&self) -> &Selection {
        &self.selection
    }
}

/// All of the rows, in the ways that are chosen by themselves.
impl Default for Question {
    fn default() -> Self {
        Config::default().question()
    }
}

/// The number of conflicts within a window after which a resource is contended, and how long it stays so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContendedRule {
    /// Number of conflicts.
    pub conflicts: usize,
    /// Length of the window, microseconds.
    pub window_us: i64,
    /// How long the resource stays contended, microseconds.
    pub hold_us: i64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            threads: 1,
            chunk_bytes: DEFAULT_CHUNK_BYTES,
            bin_us: None,
            from: None,
            to: None,
            selection: Selection::default(),
            node_rules: Vec::new(),
            locks: true,
            names: false,
            contended: None,
            progress: Progress::default(),
            baseline: None,
            clocks: BTreeMap::new(),
            boot_us: None,
            zone_us: None,
            nodes_apart: 8,
            noted_loss: NOTED_LOSS,
        }
    }
}

impl Config {
    /// The same for a node that may keep so many threads busy.
    pub(crate) fn with_threads(&self, threads: usize) -> Self {
        Self { threads, ..self.clone() }
    }

    /// What is asked of the rows.
    #[must_use]
    pub fn question(&self) -> Question {
        let Self { bin_us, from, to, selection, locks, contended, .. } = self.clone();
        Question { bin_us, from, to, selection, locks, contended }
    }

    /// For a question, with all that it leaves open as it is by default.
    #[must_use]
    pub fn asking(question: &Question) -> Self {
        let Question { bin_us, from, to, selection, locks, contended } = question.clone();
        Self { bin_us, from, to, selection, locks, contended, ..Self::default() }
    }

    /// The settings for reading logs.
    pub(crate) fn reading(&self) -> Reading {
        Reading::new(self.chunk_bytes, self.threads).with_names(self.names)
    }
}

/// A limit in time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Bound {
    /// Microseconds since the epoch.
    Time(i64),
    /// Microseconds since midnight, UTC: on the day on which the logs begin. If that leaves two moments, there is no analysis.
    TimeOfDay(i64),
    /// `lctl mark` lines with this text or, if there are none, those that begin with it. If marks repeat, the last complete pair
    /// counts.
    Marker(String),
}

/// Which RPCs to count; empty lists select all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Selection {
    /// NIDs of clients.
    pub clients: Vec<NidPattern>,
    /// Targets.
    pub targets: Vec<TargetPattern>,
    /// Job ids.
    pub jobs: Vec<String>,
    /// Opcodes.
    pub opcodes: Vec<Opcode>,
}

impl Selection {
    /// Whether a client with this NID is selected.
    pub(crate) fn takes_nid(&self, nid: &str) -> bool {
        self.clients.is_empty() || self.clients.iter().any(|pattern| pattern.matches(nid.as_bytes()))
    }

    /// As the analysis tells it.
    #[must_use]
    pub fn selected(&self) -> Selected {
        fn texts(values: &[impl ToString]) -> Vec<String> {
            values.iter().map(ToString::to_string).collect()
        }
        Selected {
            clients: texts(&self.clients),
            targets: texts(&self.targets),
            jobs: self.jobs.clone(),
            opcodes: texts(&self.opcodes),
        }
    }

    /// Whether an RPC is selected.
    #[must_use]
    pub fn takes(&self, row: &lioprof_model::RpcRow, symbols: &Symbols) -> bool {
        TargetPattern::takes(&self.targets, row.target) && self.takes_but_for_target(row, symbols)
    }

    /// Whether an RPC is selected if its target is: what the target is may be known elsewhere.
    pub(crate) fn takes_but_for_target(&self, row: &lioprof_model::RpcRow, symbols: &Symbols) -> bool {
        self.takes_of(row.nid, row.job, symbols) && (self.opcodes.is_empty() || self.opcodes.contains(&row.opcode))
    }

    /// Whether a request that has not ended is selected.
    pub(crate) fn takes_open(&self, rpc: &OpenRpc) -> bool {
        let is_job = |job: &String| self.jobs.contains(job);
        self.takes_nid(&rpc.nid)
            && TargetPattern::takes(&self.targets, rpc.target())
            && (self.jobs.is_empty() || rpc.job.as_ref().is_some_and(is_job))
            && (self.opcodes.is_empty() || self.opcodes.contains(&Opcode(rpc.opcode)))
    }

    /// Whether a client's wait for a lock is selected: it is a part of the request for the lock.
    pub(crate) fn takes_lock_wait(&self, client: Symbol, job: Option<Symbol>, symbols: &Symbols) -> bool {
        self.takes_of(client, job, symbols) && (self.opcodes.is_empty() || self.opcodes.contains(&Opcode::LDLM_ENQUEUE))
    }

    /// Whether what a client, and a job, does is selected.
    fn takes_of(&self, nid: Symbol, job: Option<Symbol>, symbols: &Symbols) -> bool {
        let client = |patterns: &[NidPattern]| {
            let nid = symbols.bytes(nid);
            patterns.iter().any(|pattern| pattern.matches(nid))
        };
        let is_job =
            |jobs: &[String]| job.is_some_and(|job| jobs.iter().any(|wanted| wanted.as_bytes() == symbols.bytes(job)));
        (self.clients.is_empty() || client(&self.clients)) && (self.jobs.is_empty() || is_job(&self.jobs))
    }
}
