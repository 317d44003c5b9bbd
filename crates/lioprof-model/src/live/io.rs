//! Rates of reads or writes.

use serde::{Deserialize, Serialize};

use crate::io::Io;
use crate::units::real;

/// Rates of reads or writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LiveIo {
    /// RPCs per second, those that failed as well.
    pub rpcs_per_s: f64,
    /// Bytes per second, best estimate; `null` if there are RPCs and the log shows the size of none.
    pub bytes_per_s: Option<f64>,
}

impl LiveIo {
    /// The rates of what was summed up in so many seconds.
    #[must_use]
    pub fn of(io: &Io, seconds: f64) -> Self {
        let per_s = |count: u64| if seconds > 0.0 { real(count) / seconds } else { 0.0 };
        Self { rpcs_per_s: per_s(io.rpcs), bytes_per_s: io.known_bytes().map(per_s) }
    }

    /// Bytes per RPC; `None` if there is no RPC, or the size of none is known.
    #[must_use]
    pub fn rpc_bytes(&self) -> Option<f64> {
        (self.rpcs_per_s > 0.0).then_some(self.bytes_per_s? / self.rpcs_per_s)
    }

    /// Adds another one's rates.
    pub fn add(&mut self, other: &Self) {
        self.bytes_per_s = match (self.bytes_per_s, other.bytes_per_s) {
            (Some(mine), Some(theirs)) => Some(mine + theirs),
            // Whoever has no RPCs knows that it moved nothing.
            (known, None) if other.rpcs_per_s == 0.0 => known,
            (None, known) if self.rpcs_per_s == 0.0 => known,
            (mine, theirs) => mine.filter(|&bytes| bytes > 0.0).or(theirs.filter(|&bytes| bytes > 0.0)),
        };
        self.rpcs_per_s += other.rpcs_per_s;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::RpcSize;

    fn io(sizes: &[RpcSize]) -> Io {
        let mut io = Io::default();
        sizes.iter().for_each(|&size| io.add(size, false));
        io
    }

    #[test]
    fn rates_add_up_and_what_is_unknown_stays_so() {
        let exact = LiveIo::of(&io(&[RpcSize::Exact(100), RpcSize::Exact(300)]), 2.0);
        assert_eq!((exact.rpcs_per_s, exact.bytes_per_s, exact.rpc_bytes()), (1.0, Some(200.0), Some(200.0)));
        let unknown = LiveIo::of(&io(&[RpcSize::Unknown; 2]), 2.0);
        assert_eq!((unknown.bytes_per_s, unknown.rpc_bytes()), (None, None));
        let idle = LiveIo::of(&Io::default(), 2.0);
        assert_eq!((idle.bytes_per_s, idle.rpc_bytes()), (Some(0.0), None));
        let sum = |mut a: LiveIo, b: LiveIo| {
            a.add(&b);
            (a.rpcs_per_s, a.bytes_per_s)
        };
        assert_eq!(sum(exact, unknown), (2.0, Some(200.0)));
        assert_eq!(sum(unknown, exact), (2.0, Some(200.0)));
        assert_eq!(sum(unknown, idle), (1.0, None));
        assert_eq!(sum(idle, unknown), (1.0, None));
        assert_eq!(sum(idle, exact), (1.0, Some(200.0)));
        assert_eq!(LiveIo::of(&io(&[RpcSize::Exact(1)]), 0.0).rpcs_per_s, 0.0);
    }
}
