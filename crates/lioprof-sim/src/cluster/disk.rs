//! The disk of an OST: one pipe with a latency.

use super::Rng;

lioprof_model::with_defaults! {
    /// How fast a target's disk is.
    #[derive(Clone, Copy, Debug)]
    pub struct DiskConfig {
        /// Bytes per second that the disk moves, all requests together.
        pub bytes_per_s: u64 = 2_000_000_000,
        /// Mean time before a request's first byte, microseconds.
        pub latency_us: u64 = 400,
        /// Requests in a million that take [`tail_factor`](Self::tail_factor) times the latency.
        pub tail_ppm: u64 = 0,
        /// See there.
        pub tail_factor: u64 = 1,
        /// Mean time until what was written is on it for good, microseconds.
        pub sync_us: u64 = 2_500,
        /// Bytes for which it has room.
        pub room_bytes: u64 = u64::MAX,
        /// Writes after which it answers none any more.
        pub hangs_after: u64 = u64::MAX,
    }
}

/// Takes bytes of what is left; whether there are so many.
pub(crate) fn take(left_bytes: &mut u64, bytes: u64) -> bool {
    let left = left_bytes.checked_sub(bytes);
    *left_bytes = left.unwrap_or(*left_bytes);
    left.is_some()
}

/// The disk at work.
pub(crate) struct Disk {
    config: DiskConfig,
    free_us: u64,
    writes: u64,
}

impl Disk {
    pub(crate) fn new(config: DiskConfig) -> Self {
        Self { config, free_us: 0, writes: 0 }
    }

    /// Mean time of a sync, microseconds.
    pub(crate) fn sync_us(&self) -> u64 {
        self.config.sync_us
    }

    /// Takes room for bytes; whether there is any.
    pub(crate) fn takes(&mut self, bytes: u64) -> bool {
        take(&mut self.config.room_bytes, bytes)
    }

    /// When `bytes` that are to be written now are done; `None`: never.
    pub(crate) fn written_us(&mut self, now_us: u64, bytes: u64, rng: &mut Rng) -> Option<u64> {
        self.writes += 1;
        (self.writes <= self.config.hangs_after).then(|| self.done_us(now_us, bytes, rng))
    }

    /// When `bytes` that the disk is asked for now are done.
    pub(crate) fn done_us(&mut self, now_us: u64, bytes: u64, rng: &mut Rng) -> u64 {
        let transfer_us = bytes.saturating_mul(1_000_000) / self.config.bytes_per_s.max(1);
        self.free_us = self.free_us.max(now_us) + transfer_us;
        let mut latency_us = rng.about(self.config.latency_us);
        if rng.chance(self.config.tail_ppm) {
            latency_us *= self.config.tail_factor;
        }
        self.free_us + latency_us + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_share_the_pipe() {
        let mut rng = Rng::new(1);
        let mut disk = Disk::new(DiskConfig { bytes_per_s: 1_000_000, latency_us: 0, ..DiskConfig::default() });
        assert_eq!(disk.done_us(0, 1000, &mut rng), 1001);
        assert_eq!(disk.done_us(500, 1000, &mut rng), 2001);
        assert_eq!(disk.done_us(10_000, 1000, &mut rng), 11_001);
    }
}
