//! How much the page shows of each list: it stays small, whatever the analysis holds.

/// Rows of a table; what is beyond is one row of others.
pub(super) const MAX_TARGETS: usize = 2_000;

pub(super) const MAX_CLIENTS: usize = 400;

pub(super) const MAX_JOBS: usize = 200;

pub(super) const MAX_OWNERS: usize = 200;

pub(super) const MAX_OBJECTS: usize = 200;

pub(super) const MAX_OPERATIONS: usize = 300;

pub(super) const MAX_SENT: usize = 100;

pub(super) const MAX_INPUTS: usize = 200;

pub(super) const MAX_EVENTS: usize = 1_000;

/// Servers that the head of the page names.
pub(super) const MAX_SERVERS: usize = 8;

pub(super) const MAX_FINDINGS: usize = 60;

/// Rows and columns of the matrix.
pub(super) const MATRIX: (usize, usize) = (64, 64);

/// Time bins of a row of its own of servers and locks, and of OSTs at least: more cannot be seen on a wall without a zoom.
pub(super) const MAX_BINS: usize = 400;

/// Numbers of all OSTs over time together, five and a half bytes each: a day of sixteen OSTs in bins of five seconds. A browser draws what
/// can be seen of them.
pub(super) const MAX_SERIES_NUMBERS: usize = 2_000_000;

/// OSTs with rows of their own in full resolution.
pub(super) const MAX_LANES: usize = 24;

/// Cells of the heat map of all OSTs, for reads and for writes each.
pub(super) const MAX_HEAT_CELLS: usize = 90_000;

/// Clients whose time is shown, and jobs.
pub(super) const MAX_TIMES: usize = 200;

/// Targets with a colour of their own in the account of the time.
pub(super) const MAX_SPENDINGS: usize = 6;

/// OSTs, servers and clients whose service time is shown in parts, of each.
pub(super) const MAX_PARTS: usize = 60;

/// Time bins of the latency heat map.
pub(super) const MAX_LATENCY_BINS: usize = 240;

/// Single RPCs.
pub(super) const MAX_SAMPLE: usize = 8_000;

/// Objects with their locks over time, and locks and waits of each.
pub(super) const MAX_TIMELINES: usize = 5;

pub(super) const MAX_HOLDS: usize = 1_000;

pub(super) const MAX_LOCK_TARGETS: usize = 200;

pub(super) const MAX_LOCK_OBJECTS: usize = 100;

pub(super) const MAX_PAIRS: usize = 300;
