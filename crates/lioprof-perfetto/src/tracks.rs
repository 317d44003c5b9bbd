//! The tracks of a node in a file, declared when something is first drawn on them.
//!
//! ```text
//! oss1                       process
//!   marks
//!   lustre-OST0000           group
//!     read, write            counters, B/s
//!     in flight              counter
//!     RPCs                   lanes
//!     locks                  lanes
//!   target unknown           group
//!   service threads          group
//!     ll_ost_io00_002 (4711) lanes, mostly one
//! ```

use std::collections::BTreeMap;

use lustre_debuglog::TargetName;
use rustc_hash::FxHashMap;

use crate::counters::Series;
use crate::lanes::Lanes;
use crate::packets::{TraceFile, Track};

/// Order among the children of a node; targets stand between.
const MARKS_RANK: i32 = 0;
const TARGETS_RANK: i32 = 1;
const UNKNOWN_RANK: i32 = 2;
const THREADS_RANK: i32 = 3;

/// What lanes hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum On {
    Rpcs,
    Locks,
}

#[derive(Debug, Default)]
struct TargetTracks {
    group: u64,
    rpcs: Lanes,
    locks: Lanes,
    series: Series,
}

/// A node in a file.
#[derive(Debug)]
pub(crate) struct NodeTracks {
    process: u64,
    marks: Option<u64>,
    threads_group: Option<u64>,
    threads: FxHashMap<u32, Lanes>,
    targets: BTreeMap<Option<TargetName>, TargetTracks>,
}

impl NodeTracks {
    /// Declares the node, the `number`th of the trace from 1.
    pub(crate) fn new(name: &str, number: i32, file: &mut TraceFile) -> Self {
        let process = file.track(&Track { name, rank: number, process: Some(number), ..Track::default() });
        Self { process, marks: None, threads_group: None, threads: FxHashMap::default(), targets: BTreeMap::new() }
    }

    pub(crate) fn marks(&mut self, file: &mut TraceFile) -> u64 {
        let parent = Some(self.process);
        let track = Track { parent, name: "marks", rank: MARKS_RANK, ..Track::default() };
        *self.marks.get_or_insert_with(|| file.track(&track))
    }

    /// A free lane of a target; `None` if all are taken.
    pub(crate) fn target_lane(
        &mut self,
        target: Option<TargetName>,
        on: On,
        (start_us, end_us): (i64, i64),
        file: &mut TraceFile,
    ) -> Option<u64> {
        let tracks = self.target(target, file);
        let (lanes, name, rank) = match on {
            On::Rpcs => (&mut tracks.rpcs, "RPCs", 3),
            On::Locks => (&mut tracks.locks, "locks", 4),
        };
        let track = Track { parent: Some(tracks.group), name, rank, ..Track::default() };
        lanes.place(start_us, end_us, || file.track(&track))
    }

    /// A lane of a service thread.
    pub(crate) fn thread_lane(
        &mut self,
        (pid, name): (u32, &str),
        (start_us, end_us): (i64, i64),
        file: &mut TraceFile,
    ) -> Option<u64> {
        let group =
            Track { parent: Some(self.process), name: "service threads", rank: THREADS_RANK, ..Track::default() };
        let parent = *self.threads_group.get_or_insert_with(|| file.track(&group));
        let name = format!("{name} ({pid})");
        let track = Track { parent: Some(parent), name: &name, ..Track::default() };
        self.threads.entry(pid).or_default().place(start_us, end_us, || file.track(&track))
    }

    /// The series of a target.
    pub(crate) fn series(&mut self, target: Option<TargetName>, file: &mut TraceFile) -> &mut Series {
        &mut self.target(target, file).series
    }

    /// Writes all series.
    pub(crate) fn write_series(&mut self, file: &mut TraceFile) {
        for tracks in self.targets.values_mut() {
            let parent = Some(tracks.group);
            tracks.series.write(file, |file, name, rank, unit| {
                file.track(&Track { parent, name, rank, unit: Some(unit), ..Track::default() })
            });
        }
    }

    fn target(&mut self, target: Option<TargetName>, file: &mut TraceFile) -> &mut TargetTracks {
        let parent = Some(self.process);
        self.targets.entry(target).or_insert_with(|| {
            let (name, rank) = match target {
                Some(target) => (target.to_string(), TARGETS_RANK),
                None => ("target unknown".to_owned(), UNKNOWN_RANK),
            };
            TargetTracks {
                group: file.track(&Track { parent, name: &name, rank, ..Track::default() }),
                ..Default::default()
            }
        })
    }
}
