//! How much is read, how often.

lioprof_model::with_defaults! {
    /// Bounds of what a sample may cost.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) struct SamplerOptions {
        /// Clients and jobs are read in the first sample and in each n-th after it.
        pub(crate) clients_every: u32 = 10,
        /// Exports read per target; those beyond, in order of their NIDs, are counted only.
        pub(crate) max_exports: usize = 10_000,
        /// Jobs read per target.
        pub(crate) max_jobs: usize = 20_000,
        /// Clients per target that get rows of their own: those whose bytes grew most since they were last read.
        pub(crate) top_clients: usize = 32,
        /// Jobs per target that get rows of their own.
        pub(crate) top_jobs: usize = 32,
    }
}
