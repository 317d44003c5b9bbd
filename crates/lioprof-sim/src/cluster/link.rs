//! Network links that are the limit: one pipe for all that goes through.

/// What a link of a client or server moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkConfig {
    /// Bytes per second of bulk data, all requests together; 0: it is never the limit.
    pub bytes_per_s: u64,
}

/// A link at work.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Link {
    config: LinkConfig,
    free_us: u64,
}

impl Link {
    pub(crate) fn new(config: LinkConfig) -> Self {
        Self { config, free_us: 0 }
    }

    /// Whether anything has to wait for it.
    pub(crate) fn is_limit(&self) -> bool {
        self.config.bytes_per_s > 0
    }

    /// When `bytes` that it is asked for now are through.
    pub(crate) fn done_us(&mut self, now_us: u64, bytes: u64) -> u64 {
        if self.config.bytes_per_s == 0 {
            return now_us;
        }
        self.free_us = self.free_us.max(now_us) + bytes.saturating_mul(1_000_000) / self.config.bytes_per_s;
        self.free_us
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_through_shares_the_link() {
        let mut link = Link::new(LinkConfig { bytes_per_s: 1_000_000 });
        assert_eq!((link.done_us(0, 1000), link.done_us(500, 1000), link.done_us(10_000, 1000)), (1000, 2000, 11_000));
        assert_eq!(Link::default().done_us(7, 1 << 40), 7);
    }
}
