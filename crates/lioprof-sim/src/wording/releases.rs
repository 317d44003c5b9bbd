//! The releases whose messages are known.

use super::Wording;
use super::messages::{SITES_2_15, SITES_2_17};

/// The newest.
impl Default for &'static Wording {
    fn default() -> Self {
        &V2_17
    }
}

/// Lustre 2.17.57.
pub static V2_17: Wording = Wording {
    release: "2.17.57",
    sites: SITES_2_17,
    has_owner: true,
    has_lru: true,
    has_local_worker: false,
    has_fid_on_ost: true,
    has_tbf_keys: true,
    client_flags: 0x600,
    server_flags: 0x200,
    xid_step: 128,
    bl_job: "ldlm_bl.0",
    ast_timeout_s: 11,
};

/// Lustre 2.15.8.
pub static V2_15: Wording = Wording {
    release: "2.15.8",
    sites: SITES_2_15,
    has_owner: false,
    has_lru: false,
    has_local_worker: true,
    has_fid_on_ost: false,
    has_tbf_keys: false,
    client_flags: 0,
    server_flags: 0,
    xid_step: 64,
    bl_job: "ldlm_bl_01.0",
    ast_timeout_s: 6,
};
