//! Words that name nobody.

use std::sync::OnceLock;

use rustc_hash::FxHashSet;

/// Single words of the messages of Lustre's servers, LNet and the lock manager, 2.5 to 2.17, without those that people like to call
/// things (`lustre/ptlrpc`, `ldlm`, `target`, `ofd`; of other folders those of errors, warnings and the console).
const WORDS: &str = include_str!("words.txt");

/// Of request and lock descriptions, of operations on clients, of `lctl`, of fields that are not in the format strings.
const GRAMMAR: &str = "\
    pname cluuid ref pid xid nid opc job lens dl fl rc rpc interpret complete new bulk unreg umount lov osc mdc lwp osp \
    clilov client params sptlrpc cliir mdtir ostir mdtlov osd uuid mgc mgs filter mdt ost oss mds mdd lod namelessobjects \
    ext ibt pln flk pw pr ex cw cr nl cos txn req lrc mode res rrc type bits flags remote expref lvb_type lru_score lru_type \
    timeout initiator gid uid projid policy_data ns lock local null unknown start completed file fid ppos count offset \
    datasync end need_sync request_mask foreign current size valid attrs hsm_import atime mtime ctime name dir src_dir \
    tgt_dir oldname newname target inode intent open creat lookup getattr readdir unlink getxattr layout flock vfs op cmd \
    excl unhashed opened open_flags dev vma idx vmf_flags vm_flags mask access pos stripe_offset stripe_count hash_type \
    hash fifo crrn orr trr tbf nrs delay request from seq handle handling handled with round object index dequeues \
    enqueues class rule rate gen token depth deadline key opcode jobid default ref state debug marker source \
    portal id mbits event status desc read write pages now flight brw xattr sb proj opcode processed procesed us total \
    trans added to wait list at on off removed blocking completion glimpse ast refreshed locks for prolong dom \
    tcp o2ib lo gni kfi gip ptlf efa bxi3f lines kept dropped bad log final slow s t re ve ll d m haven hasn wasn isn aren couldn shouldn don doesn didn won can lock_put destroyed freeing it \
    closed discon connecting replay replay_locks replay_wait recover full evicted idle supports cli min max low water \
    ost_io ost_create ost_out ost_seq ldlm_cbd ldlm_canceld mdt_readpage mdt_setattr mdt_out mdt_seqs mdt_seqm mdt_fld mdt_io";

/// Lioprof's own, in what it says of events (`lustre_debuglog::message::Reason`).
const REASONS: &str =
    "did not give a lock back in time answered answer callback for error an heard pinger took longer than";

/// Words of parameters and counters besides those of messages (`lprocfs_status.c`, `lprocfs_counters.c`, `lprocfs_jobstats.c`, 2.5 to
/// 2.17).
const COUNTERS: &str = "\
    obdfilter osd-ldiskfs osd-zfs ldiskfs zfs mdt mds mgs ost oss ldlm osc mdc osp lod lov mgc lwp llite namespaces services \
    exports stats md_stats job_stats ldlm_stats brw_stats rpc_stats import export state brw_size blocksize filestotal \
    filesfree kbytestotal kbytesfree kbytesavail recovery_status num_exports job_id jobid_var jobid_name snapshot_time \
    start_time elapsed_time secs nsecs usecs msecs samples unit min max sum sumsq bytes pages reqs read_bytes write_bytes read \
    write getattr setattr punch sync destroy create statfs get_info set_info quotactl prealloc open close mknod link unlink \
    mkdir rmdir rename getxattr setxattr migrate parallel_rename_file parallel_rename_dir samedir_rename crossdir_rename \
    parallel fallocate seek readdir truncate enqueue cancel convert bufs req_waittime req_qdepth req_active req_timeout reqbuf_avail ldlm_enqueue \
    ldlm_cancel ldlm_convert ldlm_bl_callback ldlm_cp_callback ldlm_gl_callback ldlm_extent_enqueue ldlm_ibits_enqueue \
    ldlm_plain_enqueue ldlm_flock_enqueue ldlm_glimpse_enqueue obd_ping ost_read ost_write ost_sync ost_statfs ost_punch \
    ost_connect ost_disconnect ost_destroy ost_create ost_getattr ost_setattr ost_get_info ost_set_info ost_quotactl \
    ost_fallocate ost_seek ost_ladvise mds_reint mds_reint_open mds_reint_create mds_reint_unlink mds_reint_link \
    mds_reint_rename mds_reint_setattr mds_reint_setxattr mds_close mds_getattr mds_getattr_lock mds_getxattr mds_connect \
    mds_disconnect mds_get_root mds_statfs mds_sync mds_readpage mds_quotactl mds_hsm_state_get mds_swap_layouts \
    mgs_config_read mgs_target_reg ost_io ost_out ost_seq ost_create ldlm_cbd ldlm_canceld mdt_seqs mdt_seqm mdt_readpage \
    mdt_out mdt_io mdt_fld mdt_setattr out_update llog_origin_handle_create llog_origin_handle_next_block \
    llog_origin_handle_read_header fld_read fld_query seq_query quota_acquire quota_release threads_min threads_max \
    threads_started nrs_policies regular_requests high_priority_requests policies name queued active fallback none started \
    stopped debug subsystem_debug debug_mb version lustre kernel build health_check healthy degraded readonly \
    no_create sync_journal max_rpcs_in_flight max_dirty_mb max_pages_per_rpc lock_count lock_unused_count contended_locks \
    contention_seconds pool granted_locks grant_rate cancel_rate limit tot_dirty tot_granted tot_pending disk i/o size time \
    discontiguous blocks fragmented pages per bulk r/w rpcs cum in flight ios % 1/1000s";

/// Services, in the names of whose threads numbers follow (`service_name` of `lioprof-model` cuts these off).
const THREADS: [&str; 35] = [
    "ll_ost",
    "ll_ost_io",
    "ll_ost_create",
    "ll_ost_out",
    "ll_ost_seq",
    "ll_mgs",
    "ll_mgt",
    "mdt",
    "mdt_io",
    "mdt_attr",
    "mdt_fld",
    "mdt_out",
    "mdt_rdpg",
    "mdt_seqm",
    "mdt_seqs",
    "mdt_readpage",
    "mdt_setattr",
    "mdt_hsm",
    "mdt_ck",
    "ldlm_cb",
    "ldlm_cn",
    "ldlm_bl",
    "ldlm_elt",
    "ptlrpcd",
    "ptlrpcd_rcv",
    "ll_ping",
    "ll_sa",
    "ll_agl",
    "ll_evictor",
    "ll_imp_inval",
    "ll_cfg_requeue",
    "tgt_recover",
    "socknal_sd",
    "kiblnd_sd",
    "kworker",
];

fn words() -> &'static FxHashSet<&'static [u8]> {
    static SET: OnceLock<FxHashSet<&'static [u8]>> = OnceLock::new();
    // Operations of counters are the names of opcodes, too.
    let operations = || COUNTERS.split_whitespace().filter(|word| word.contains('_'));
    let all = || {
        WORDS.split_whitespace().chain(GRAMMAR.split_whitespace()).chain(REASONS.split_whitespace()).chain(operations())
    };
    SET.get_or_init(|| all().map(str::as_bytes).collect())
}

/// Whether this is a word of `lctl get_param`: there, what may be a name elsewhere is none.
pub(crate) fn is_of_counters(word: &[u8]) -> bool {
    static SET: OnceLock<FxHashSet<&'static [u8]>> = OnceLock::new();
    SET.get_or_init(|| COUNTERS.split_whitespace().map(str::as_bytes).collect()).contains(word)
}

/// Whether Lustre says this word of itself, in any case of letters.
pub(crate) fn is_known(word: &[u8]) -> bool {
    const LONGEST: usize = 40;
    if word.len() > LONGEST {
        return false;
    }
    let mut lower = [0; LONGEST];
    let lower = &mut lower[..word.len()];
    lower.copy_from_slice(word);
    lower.make_ascii_lowercase();
    words().contains(&*lower)
}

/// Whether a process with this name is a thread of Lustre's.
pub(crate) fn is_thread(name: &[u8]) -> bool {
    let service = lioprof_model::traffic::service_name(name);
    let service = service.strip_suffix(b"_").unwrap_or(service);
    THREADS.iter().any(|known| known.as_bytes() == service)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_threads() {
        for word in ["evicting", "Client", "lock_put", "OST"] {
            assert!(is_known(word.as_bytes()), "{word}");
        }
        for word in ["alice", "oss01", "scratch", "", "lustre"] {
            assert!(!is_known(word.as_bytes()), "{word}");
        }
        for name in ["ll_ost_io00_002", "mdt00_001", "ptlrpcd_00_01", "ldlm_cb00_000", "ll_mgs_0002", "ptlrpcd_rcv"] {
            assert!(is_thread(name.as_bytes()), "{name}");
        }
        for name in ["python3", "a.out", "mdt_simulation", "ll_ost_io00_alice"] {
            assert!(!is_thread(name.as_bytes()), "{name}");
        }
    }
}
