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
    }
}

/// The disk at work.
pub(crate) struct Disk {
    config: DiskConfig,
    free_us: u64,
}

impl Disk {
    pub(crate) fn new(config: DiskConfig) -> Self {
        Self { config, free_us: 0 }
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
        let mut disk = Disk::new(DiskConfig { bytes_per_s: 1_000_000, latency_us: 0, tail_ppm: 0, tail_factor: 1 });
        assert_eq!(disk.done_us(0, 1000, &mut rng), 1001);
        assert_eq!(disk.done_us(500, 1000, &mut rng), 2001);
        assert_eq!(disk.done_us(10_000, 1000, &mut rng), 11_001);
    }
}
