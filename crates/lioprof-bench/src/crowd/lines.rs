//! Lines of that log, and numbers that look random.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};

use lioprof_sim::SimRecord;
use lustre_debuglog::Record;
use lustre_debuglog::record::Context;

use crate::log_writer::LogWriter;
use crate::random::mix;

/// Which release logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Release {
    /// 2.12.9: the last one whose lines LIOProf's scripts understand.
    #[value(name = "2.12")]
    V2_12,
    /// 2.17.57.
    #[default]
    #[value(name = "2.17")]
    V2_17,
}

/// Lines that are made, but whose time has not come.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) heap: BinaryHeap<Reverse<(i64, u64, usize)>>,
    pub(super) records: Vec<SimRecord>,
    pub(super) free: Vec<usize>,
    pub(super) made: u64,
}

impl Lines {
    /// A record to fill in, for a time not before the last one written.
    pub(super) fn add(&mut self, time_us: i64) -> &mut SimRecord {
        let at = self.free.pop().unwrap_or_else(|| {
            self.records.push(SimRecord::default());
            self.records.len() - 1
        });
        self.made += 1;
        self.heap.push(Reverse((time_us, self.made, at)));
        let record = &mut self.records[at];
        record.time_us = time_us;
        record.text.clear();
        record
    }

    pub(super) fn write_before<W: Write>(&mut self, time_us: i64, out: &mut LogWriter<W>) -> io::Result<()> {
        while let Some(Reverse((due_us, _, at))) = self.heap.peek().copied()
            && due_us < time_us
        {
            self.heap.pop();
            self.free.push(at);
            let record = &self.records[at];
            out.add(&Record {
                subsystem: record.subsystem,
                mask: record.mask,
                cpu: u32::from(record.cpu),
                context: Some(Context::Process),
                first: false,
                time_us: record.time_us,
                stack: 0,
                pid: record.pid,
                extern_pid: 0,
                file: &record.file,
                line: record.line,
                function: &record.function,
                text: &record.text,
            })?;
        }
        Ok(())
    }
}

/// A number without order from one.
pub(super) fn scatter(number: u64) -> u32 {
    u32::try_from(mix(number) >> 32).unwrap_or(0)
}
