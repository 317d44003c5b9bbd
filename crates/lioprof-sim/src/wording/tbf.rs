//! Classes of a token bucket filter as its lines show them.

use std::fmt;

use super::Wording;

/// What its line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TbfStep {
    /// A request was put into its class's queue.
    Enqueues,
    /// A request was handed to a thread.
    Dequeues,
}

/// Requests of one job, client and operation, and the rule that they fall under.
#[derive(Clone, Copy, Debug)]
pub struct TbfClass<'a> {
    /// The release that prints it.
    pub wording: &'a Wording,
    /// What happens.
    pub step: TbfStep,
    /// The part of a service that has it: `ost_io.0`.
    pub part: (&'a str, usize),
    /// Hashed pointers of class and rule.
    pub pointers: (u32, u32),
    /// What its requests have in common: job, NID, name of the operation, owner.
    pub job: &'a str,
    /// See there.
    pub nid: &'a str,
    /// See there.
    pub operation: &'a str,
    /// See there.
    pub owner: (u32, u32, u32),
    /// Requests a second that the rule allows.
    pub rate: u32,
    /// Tokens left.
    pub tokens: u64,
    /// When the next token comes, and now, nanoseconds.
    pub times_ns: (u64, u64),
}

/// Tokens that a bucket holds, as `tbf_depth` of the module is by default.
pub const TBF_DEPTH: u64 = 3;

impl fmt::Display for TbfClass<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { part: (service, cpt), pointers: (class, rule), job, nid, operation, rate, tokens, .. } = self;
        let (step, state) = match self.step {
            TbfStep::Enqueues => ("TBF enqueues", 1),
            TbfStep::Dequeues => ("TBF dequeues", 0),
        };
        if !self.wording.has_tbf_keys {
            return write!(
                f,
                "{step}: class@{class:016x} rate {rate} gen 0 token {tokens}, rule@{rule:016x} rate {rate} gen 0"
            );
        }
        let ((uid, gid, projid), (deadline_ns, now_ns)) = (self.owner, self.times_ns);
        write!(
            f,
            "{service}.{cpt} NRS: {step}: class@{class:016x} key jobid={{{job}}}&nid={{{nid}}}&opcode={{{operation}}}"
        )?;
        write!(
            f,
            "&uid={{{uid}}}&gid={{{gid}}}&projid={{{projid}}}&nodemap={{-1}} rule@{rule:#018x} gen 0 rate {rate}"
        )?;
        write!(f, " depth {TBF_DEPTH} token {tokens} deadline {deadline_ns} time {now_ns} state {state:#x} ref 1")
    }
}
