//! Calls on a client of 2.12, whose log has no line of iotrace at all: what is certain is found, what is not belongs to none.

use std::fmt::Write;

use lioprof_model::{Asked, Evidence, Operations};
use lustre_debuglog::Opcode;
use lustre_debuglog::vocab::OperationKind;

use super::operations;

const ROOT: &str = "[0x200000007:0x1:0x0](ffff88103b8d9800)";
const FILE: &str = "[0x200000401:0x2a:0x0](ffff88103b8d9c00)";
const PROGRAM: (&str, u32) = ("cp", 7001);
const OTHER: (&str, u32) = ("dd", 7002);
const PTLRPCD: (&str, u32) = ("ptlrpcd_00_00", 6001);

/// A client's log, as 2.12.9 words it.
#[derive(Default)]
struct Log {
    text: String,
    us: u32,
    xid: u64,
}

impl Log {
    fn line(&mut self, pid: u32, (subsystem, mask): (u32, u32), place: &str, text: &str) {
        self.us += 100;
        let us = self.us;
        writeln!(self.text, "{subsystem:08x}:{mask:08x}:0.0:1600000000.{us:06}:0:{pid}:0:({place}()) {text}").unwrap();
    }

    fn vfs(&mut self, (_, pid): (&str, u32), place: &str, text: &str) {
        self.line(pid, (0x80, 0x20_0000), place, text);
    }

    fn rpc(&mut self, word: &str, (name, pid): (&str, u32), opcode: u32, xid: u64) {
        let text = format!(
            "{word} RPC pname:cluuid:pid:xid:nid:opc {name}:c2e536ac-5cbc-4724-9725-adf4775d49c3:{pid}:{xid}:10.1.0.1@o2ib:{opcode}"
        );
        self.line(pid, (0x100, 0x10_0000), "client.c:1:ptlrpc_check_set", &text);
    }

    fn send(&mut self, thread: (&str, u32), opcode: u32) -> u64 {
        self.xid += 64;
        self.rpc("Sending", thread, opcode, self.xid);
        self.xid
    }

    /// An RPC with its reply, and, if it carries an intent, the answer to that.
    fn asks(&mut self, thread: (&str, u32), opcode: u32, intent: Option<&str>) {
        let xid = self.send(thread, opcode);
        self.us += 1_000;
        self.rpc("Completed", thread, opcode, xid);
        if let Some(intent) = intent {
            let text = format!(
                "@@@ {intent}\n  req@ffff881013b16300 x{xid}/t0(0) o101->scratch-MDT0000-mdc-ffff881013b16000@10.1.0.1@o2ib:12/10 \
                 lens 576/688 e 0 to 0 dl 1600000044 ref 1 fl Complete:R/0/0 rc 0/0"
            );
            self.line(thread.1, (0x2, 0x10_0000), "mdc_locks.c:1:mdc_finish_enqueue", &text);
        }
    }

    /// From the root to a name in it.
    fn walk(&mut self, thread: (&str, u32), name: &str) {
        self.vfs(thread, "file.c:1:ll_inode_revalidate", &format!("VFS Op:inode={ROOT},name=/"));
        self.vfs(thread, "file.c:1:ll_inode_permission", &format!("VFS Op:inode={ROOT}, inode mode 41ed mask 1"));
        self.vfs(thread, "dcache.c:1:ll_revalidate_nd", &format!("VFS Op:name={name}, flags=17"));
    }

    fn open(&mut self, thread: (&str, u32)) {
        self.walk(thread, "a file");
        self.vfs(thread, "file.c:1:ll_inode_permission", &format!("VFS Op:inode={FILE}, inode mode 81a4 mask 44"));
        self.vfs(thread, "file.c:1:ll_file_open", &format!("VFS Op:inode={FILE}, flags 100000"));
        self.asks(thread, 101, Some("op: 1 disposition: 200002b, status: 0"));
    }

    fn pause(&mut self) {
        self.us += 50_000;
    }

    fn found(&self) -> Operations {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("client1");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("dk.txt"), &self.text).unwrap();
        operations(&[folder])
    }
}

fn kinds(found: &Operations) -> Vec<(Asked, Evidence, u32)> {
    found.rows.iter().map(|row| (row.asked, row.evidence, row.rpcs)).collect()
}

fn of_none(found: &Operations) -> Vec<(Opcode, u64)> {
    found.no_operation().into_iter().map(|(opcode, sum)| (opcode, sum.rpcs)).collect()
}

#[test]
fn a_copy_with_2_12() {
    let mut log = Log::default();
    log.open(PROGRAM);
    // A read: its lock is no open's, and the data are nobody's, since no line says who has put them together.
    log.vfs(PROGRAM, "file.c:1:ll_file_io_generic", "a file: read ppos: 0, count: 4096");
    log.asks(PROGRAM, 101, None);
    log.asks(PTLRPCD, 3, None);
    log.vfs(PROGRAM, "file.c:1:ll_file_io_generic", "iot: 0, result: 4096");
    // fstat, with a glimpse.
    log.vfs(PROGRAM, "file.c:1:ll_inode_revalidate", &format!("VFS Op:inode={FILE},name=a file"));
    log.asks(PROGRAM, 101, Some("op: 8 disposition: b, status: 0"));
    log.asks(PROGRAM, 101, None);
    // fsync: MDT, then the two objects.
    log.vfs(PROGRAM, "file.c:1:ll_fsync", &format!("VFS Op:inode={FILE}"));
    log.us += 90_000;
    log.asks(PROGRAM, 44, None);
    log.asks(PTLRPCD, 16, None);
    log.asks(PTLRPCD, 16, None);
    log.vfs(PROGRAM, "file.c:1:ll_file_release", &format!("VFS Op:inode={FILE}"));
    log.asks(PROGRAM, 35, None);
    let found = log.found();
    use OperationKind::{Close, Fsync, Open, Stat};
    let want = [(Open, 1), (Stat, 2), (Fsync, 3), (Close, 1)];
    let want = want.map(|(kind, rpcs)| (Asked::Inferred(kind), Evidence::EntryLine, rpcs));
    assert_eq!(kinds(&found), want);
    assert_eq!(of_none(&found), [(Opcode::OST_READ, 1), (Opcode::LDLM_ENQUEUE, 1)]);
    // From its first line to the last reply.
    assert_eq!(found.rows[2].duration_us, 90_000 + 3 * 1_200);
    let client = &found.clients[0];
    assert_eq!((client.rpcs, client.inferred_rpcs, client.logged.len()), (9, 7, 0));
}

#[test]
fn what_may_be_anyones_belongs_to_none() {
    let mut log = Log::default();
    // Two at the same time: the OST_SYNC may be of either.
    for thread in [PROGRAM, OTHER] {
        log.vfs(thread, "file.c:1:ll_fsync", &format!("VFS Op:inode={FILE}"));
        log.asks(thread, 44, None);
    }
    log.asks(PTLRPCD, 16, None);
    log.pause();
    // access(): its lookup is not the open's that follows.
    log.walk(PROGRAM, "another file");
    log.asks(PROGRAM, 101, Some("op: 10 disposition: b, status: 0"));
    log.vfs(PROGRAM, "file.c:1:ll_inode_permission", &format!("VFS Op:inode={FILE}, inode mode 81a4 mask 24"));
    log.open(PROGRAM);
    log.pause();
    // chmod: a walk, and a request that no kind has that is inferred.
    log.walk(PROGRAM, "a file");
    log.asks(PROGRAM, 36, None);
    log.pause();
    // An open handle that a lock callback gives back, and names that statahead looks up.
    log.asks(("ldlm_bl_02", 411), 35, None);
    log.asks(("ll_sa_7001", 9001), 37, None);
    // A file that is not there: an open all the same.
    log.walk(PROGRAM, "no file");
    let lookup = format!("VFS Op:name=no file, dir={ROOT}, intent=open");
    log.vfs(PROGRAM, "namei.c:1:ll_lookup_it", &lookup);
    log.asks(PROGRAM, 101, Some("op: 1 disposition: 3, status: -2"));
    // The reply is not in the log: it is not known how long that took.
    log.open(OTHER);
    log.vfs(OTHER, "file.c:1:ll_file_release", &format!("VFS Op:inode={FILE}"));
    log.send(OTHER, 35);
    let found = log.found();
    use OperationKind::{Fsync, Open};
    let want = [(Fsync, 1), (Fsync, 1), (Open, 1), (Open, 1), (Open, 1)];
    let want = want.map(|(kind, rpcs)| (Asked::Inferred(kind), Evidence::EntryLine, rpcs));
    assert_eq!(kinds(&found), want);
    assert_eq!(found.unfinished, 1);
    let want = [
        (Opcode::OST_SYNC, 1),
        (Opcode::MDS_CLOSE, 2),
        (Opcode::MDS_REINT, 1),
        (Opcode::MDS_READPAGE, 1),
        (Opcode::LDLM_ENQUEUE, 1),
    ];
    assert_eq!(of_none(&found), want);
}

#[test]
fn rpctrace_alone_tells_of_no_call() {
    let mut log = Log::default();
    log.asks(PROGRAM, 101, Some("op: 1 disposition: 200002b, status: 0"));
    log.asks(PROGRAM, 35, None);
    let found = log.found();
    assert!(!found.from_clients && found.rows.is_empty());
    assert_eq!(found.clients[0].no_operation_sum().rpcs, 2);
}
