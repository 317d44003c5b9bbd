//! What the OSTs can deliver, measured beforehand by `obdfilter-survey`.

use serde::{Deserialize, Serialize};

use crate::io::Direction;

named! {
    /// Which test of a survey says what an OST can take of written bytes.
    #[derive(Default)]
    pub enum WriteTest {
        /// `write`: new objects, which need disk space to be allocated. Most applications write new data.
        #[default]
        Write = "write",
        /// `rewrite`: the same objects once more, in place. Caches may make it several times as fast.
        Rewrite = "rewrite",
    }
}

/// The best results of one run of `obdfilter-survey`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ObdfilterSurvey {
    /// File it was read from.
    pub path: String,
    /// `disk`, `network` or `netdisk`.
    pub case: Option<String>,
    /// Host that the script ran on, as its first line says.
    pub host: Option<String>,
    /// OSTs under test.
    pub osts: u64,
    /// First writing of new objects.
    pub write: Option<Ceiling>,
    /// Writing over them.
    pub rewrite: Option<Ceiling>,
    /// What the OSTs can deliver for reads; `None` if not stated.
    pub read: Option<Ceiling>,
}

/// The best result of one test, over all numbers of objects and threads that were tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ceiling {
    /// All OSTs together, bytes per second.
    pub bytes_per_s: f64,
    /// Slowest and fastest moment of any OST, bytes per second; `null` where the script printed `SHORT`.
    pub ost_min_max_bytes_per_s: Option<(f64, f64)>,
    /// Objects, all OSTs together.
    pub objects: u64,
    /// Threads, all OSTs together.
    pub threads: u64,
    /// Size of each read or write.
    pub record_bytes: u64,
}

impl ObdfilterSurvey {
    /// Best bytes per second of all its OSTs together; `None` if the test was not run.
    #[must_use]
    pub fn bytes_per_s(&self, direction: Direction, writes: WriteTest) -> Option<f64> {
        let best = match (direction, writes) {
            (Direction::Read, _) => self.read,
            (Direction::Write, WriteTest::Write) => self.write,
            (Direction::Write, WriteTest::Rewrite) => self.rewrite,
        };
        best.map(|ceiling| ceiling.bytes_per_s)
    }
}

/// Surveys of the servers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// In the order in which they were given.
    pub surveys: Vec<ObdfilterSurvey>,
    /// The test that writes are held against.
    #[serde(default)]
    pub writes: WriteTest,
}

impl Baseline {
    /// What one OST of a node can deliver, bytes per second: by the survey that was made on the node, or, if none
    /// names it, the mean of all surveys.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "OSTs are few")]
    pub fn ost_bytes_per_s(&self, node: &str, direction: Direction) -> Option<f64> {
        let short = |name: &str| name.split('.').next().unwrap_or(name).to_ascii_lowercase();
        let own = self.surveys.iter().filter(|survey| survey.host.as_deref().map(short) == Some(short(node)));
        let mean = |surveys: &mut dyn Iterator<Item = &ObdfilterSurvey>| {
            let known = surveys.filter_map(|survey| Some((survey.bytes_per_s(direction, self.writes)?, survey.osts)));
            let (bytes, osts) = known.fold((0.0, 0), |sum, (bytes, osts)| (sum.0 + bytes, sum.1 + osts));
            (osts > 0).then_some(bytes / osts as f64)
        };
        mean(&mut own.into_iter()).or_else(|| mean(&mut self.surveys.iter()))
    }
}

/// What was reached of what is available.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Available {
    /// Reads or writes.
    pub direction: Direction,
    /// Bytes per second of all OSTs together, over the time bins with reads or writes.
    pub bytes_per_s: f64,
    /// What the same OSTs can deliver together.
    pub ceiling_bytes_per_s: f64,
    /// OSTs that moved bytes.
    pub osts: u64,
    /// Seconds with reads or writes.
    pub seconds: f64,
    /// Name of the survey's test.
    pub test: &'static str,
}

impl Available {
    /// 0.62 of what is available; more than 1 where caches help.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.bytes_per_s / self.ceiling_bytes_per_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survey(host: &str, osts: u64, write: f64) -> ObdfilterSurvey {
        let ceiling = Some(Ceiling { bytes_per_s: write, ..Ceiling::default() });
        ObdfilterSurvey { host: Some(host.to_owned()), osts, write: ceiling, ..ObdfilterSurvey::default() }
    }

    #[test]
    fn a_node_has_its_own_survey_or_the_mean_of_all() {
        let surveys = vec![survey("OSS1.cluster", 2, 200.0), survey("oss2", 4, 1000.0)];
        let baseline = Baseline { surveys, ..Baseline::default() };
        let of = |node| baseline.ost_bytes_per_s(node, Direction::Write);
        assert_eq!((of("oss1"), of("oss2.other"), of("oss3")), (Some(100.0), Some(250.0), Some(200.0)));
        assert_eq!(baseline.ost_bytes_per_s("oss1", Direction::Read), None);
        // New data are not rewritten: the faster column counts only for those who say so.
        let rewrite = Some(Ceiling { bytes_per_s: 800.0, ..Ceiling::default() });
        let surveys = vec![ObdfilterSurvey { rewrite, ..survey("oss1", 2, 200.0) }];
        let of = |writes| Baseline { surveys: surveys.clone(), writes }.ost_bytes_per_s("oss1", Direction::Write);
        assert_eq!((of(WriteTest::Write), of(WriteTest::Rewrite)), (Some(100.0), Some(400.0)));
    }
}
