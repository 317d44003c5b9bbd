//! Which counters are sampled.

use crate::config::Config;
use crate::counters::SamplerOptions;

pub(super) fn sampler_options(config: &Config) -> SamplerOptions {
    let every = config.counters.every.get().map_or(10, |span| span.0.as_secs().max(1));
    let clients = config.counters.clients_every.get().map_or(u64::MAX, |span| span.0.as_secs());
    let clients_every = u32::try_from(clients.div_ceil(every).max(1)).unwrap_or(u32::MAX);
    SamplerOptions { clients_every, ..SamplerOptions::default() }
}
