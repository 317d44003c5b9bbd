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
    tcp o2ib lo gni kfi gip ptlf efa bxi3f lines kept dropped bad log";

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
    SET.get_or_init(|| WORDS.split_whitespace().chain(GRAMMAR.split_whitespace()).map(str::as_bytes).collect())
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
        for word in ["evicting", "Client", "ldlm_lock", "OST"] {
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
