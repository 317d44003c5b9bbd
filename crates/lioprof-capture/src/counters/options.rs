//! How much is read, how often.

/// Bounds of what a sample may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SamplerOptions {
    /// Clients and jobs are read in the first sample and in each n-th after it.
    pub(crate) clients_every: u32,
    /// Exports read per target; those beyond, in order of their NIDs, are counted only.
    pub(crate) max_exports: usize,
    /// Jobs read per target.
    pub(crate) max_jobs: usize,
    /// Clients per target that get rows of their own: those whose bytes grew most since they were last read.
    pub(crate) top_clients: usize,
    /// Jobs per target that get rows of their own.
    pub(crate) top_jobs: usize,
}

impl Default for SamplerOptions {
    fn default() -> Self {
        Self { clients_every: 10, max_exports: 10_000, max_jobs: 20_000, top_clients: 32, top_jobs: 32 }
    }
}
