//! Properties of vocabulary and messages: what is rendered is read back, and nothing panics.

use std::fmt::Display;
use std::str::FromStr;

use lustre_debuglog::message::{DebugReq, Handled, Handling, LockTail, ObjectName, Outcome, Repeated};
use lustre_debuglog::vocab::{Lnd, LockType, Net, NidAddr};
use lustre_debuglog::{
    Extent, Fid, JobId, LockCookie, LockMode, Message, Nid, Opcode, ResourceId, TargetKind, TargetName, Xid,
};
use proptest::prelude::*;

/// `value` printed is read back as `value`.
fn round_trip<T>(value: &T) -> Result<(), TestCaseError>
where
    T: Display + FromStr<Err: PartialEq + std::fmt::Debug> + PartialEq + std::fmt::Debug,
{
    let text = value.to_string();
    let read = text.parse::<T>();
    prop_assert_eq!(read.as_ref(), Ok(value), "{}", text);
    Ok(())
}

fn fid() -> impl Strategy<Value = Fid> {
    (any::<u64>(), any::<u32>(), any::<u32>()).prop_map(|(seq, oid, ver)| Fid { seq, oid, ver })
}

fn extent() -> impl Strategy<Value = Extent> {
    let end = prop_oneof![any::<u64>(), Just(Extent::EOF)];
    (any::<u64>(), end).prop_map(|(start, end)| Extent { start, end })
}

fn target() -> impl Strategy<Value = TargetName> {
    let kind = prop_oneof![Just(TargetKind::Ost), Just(TargetKind::Mdt), Just(TargetKind::Mgs)];
    ("[A-Za-z0-9_-]{1,8}", kind, any::<u16>())
        .prop_map(|(fsname, kind, index)| TargetName::new(&fsname, kind, index).expect("a valid name"))
}

fn nid() -> impl Strategy<Value = Nid> {
    let addr = prop_oneof![
        any::<u32>().prop_map(|bits| NidAddr::V4(bits.into())),
        any::<u128>().prop_map(|bits| NidAddr::V6(bits.into())),
        any::<u32>().prop_map(NidAddr::Num),
    ];
    let lnd = prop_oneof![
        Just(Lnd::Lo),
        Just(Lnd::Tcp),
        Just(Lnd::O2ib),
        Just(Lnd::Gni),
        Just(Lnd::Gip),
        Just(Lnd::Kfi),
        Just(Lnd::Ptlf),
        Just(Lnd::Efa),
        Just(Lnd::Bxi3f),
    ];
    (addr, lnd, any::<u16>()).prop_map(|(addr, lnd, number)| Nid { addr, net: Net { lnd, number } })
}

/// Any job but one that ends in a line break of Unix or Windows, which no message can tell from its own end.
fn job() -> impl Strategy<Value = Vec<u8>> {
    let bytes = prop::collection::vec(any::<u8>(), 0..32);
    let words = prop::collection::vec(
        prop_oneof![Just(" Request processed in "), Just(":"), Just("'"), Just(" uid:1"), Just("R"), Just(" req@1 x")],
        0..6,
    );
    prop_oneof![bytes, words.prop_map(|words| words.concat().into_bytes())]
        .prop_filter("ends in a line break", |job| !job.ends_with(b"\n") && !job.ends_with(b"\r"))
}

proptest! {
    #[test]
    fn vocabulary_reads_what_it_prints(
        fid in fid(),
        words in any::<[u64; 4]>(),
        extent in extent(),
        target in target(),
        nid in nid(),
        number in any::<u64>(),
        opcode in prop_oneof![0..2000_u32, any::<u32>()],
        job in prop::collection::vec(any::<u8>(), 0..32),
    ) {
        round_trip(&fid)?;
        round_trip(&ResourceId(words))?;
        round_trip(&extent)?;
        round_trip(&target)?;
        round_trip(&nid)?;
        round_trip(&Xid(number))?;
        round_trip(&LockCookie(number))?;
        round_trip(&Opcode(opcode))?;
        round_trip(&JobId::from_bytes(&job))?;
        prop_assert_eq!(TargetName::parse_bytes(format!("{target}_UUID").as_bytes()).is_some(), target != TargetName::MGS);
    }

    #[test]
    fn idif_and_resource_are_inverse(index in any::<u16>(), id in 0_u64..1 << 48) {
        let resource = ResourceId([id, 0, 0, 0]);
        let fid = resource.to_ost_fid(index);
        prop_assert_eq!(fid.idif_ost_index(), Some(index));
        prop_assert_eq!(fid.to_resource(), resource);
    }

    #[test]
    fn handling_and_handled_of_all_versions(
        req in any::<Option<u64>>(),
        thread in "[a-z_]{1,10}[0-9]{2}_[0-9]{2}",
        uuid in "[0-9a-f]{8}-[0-9a-f-]{27}|0|lustre-MDT0000-mdtlov_UUID",
        refs in any::<i32>(),
        pid in any::<i32>(),
        xid in any::<u64>(),
        nid in nid(),
        opcode in any::<u32>(),
        job in job(),
        times in any::<(i64, i64)>(),
        outcome in any::<(u64, i32, i32)>(),
    ) {
        // Since 2.13 both the pointer and the job are printed, before that neither.
        let nid = nid.to_string();
        let (pointer, columns) = match req {
            Some(req) => (format!("req@{req:016x} "), ":job "),
            None => (String::new(), " "),
        };
        let values = format!("pname:cluuid+ref:pid:xid:nid:opc{columns}{thread}:{uuid}+{refs}:{pid}:x{xid}:12345-{nid}:{opcode}");
        let mut text = format!("Handling RPC {pointer}{values}").into_bytes();
        if req.is_some() {
            text.extend([&b":"[..], &job].concat());
        }
        let rpc = Handling {
            req,
            thread: thread.as_bytes(),
            client_uuid: uuid.as_bytes(),
            export_refs: refs,
            client_pid: pid,
            xid: Xid(xid),
            nid: nid.as_bytes(),
            opcode: Opcode(opcode),
            job: req.map(|_| job.as_slice()),
        };
        prop_assert_eq!(Message::parse_text(&text), Message::Handling(rpc));

        let handling_text = text;
        let ((service_us, total_us), (transno, rc, reply_rc)) = (times, outcome);
        let word = if req.is_some() { "processed" } else { "procesed" };
        let Message::Handling(parsed) = Message::parse_text(&handling_text) else { panic!("it was one before") };
        let repeated = Repeated::of(&handling_text, &parsed);
        prop_assert_eq!(repeated.is_some(), req.is_some());
        let mut text = handling_text.clone();
        text.splice(..8, *b"Handled");
        text.extend(format!(" Request {word} in {service_us}us ({total_us}us total) trans {transno} rc {rc}/{reply_rc}").bytes());
        let outcome = Outcome { service_us, total_us, transno, rc, reply_rc };
        prop_assert_eq!(Message::parse_text(&text), Message::Handled(Handled { rpc, outcome }));
        prop_assert_eq!(repeated.and_then(|repeated| repeated.outcome(&text)), req.map(|_| outcome));
    }

    #[test]
    fn refresh_of_all_versions(
        target in target(),
        fid in fid(),
        extent in any::<Option<(u64, u64)>>(),
        old in any::<bool>(),
        numbers in any::<(u64, u64, i64)>(),
        opcode in prop::option::of(0_u32..2000),
        nid in nid(),
        lengths in any::<(u32, i32)>(),
        flags in any::<(u32, u32)>(),
        rc in any::<(i32, i32)>(),
        job in prop::option::of(job()),
        owner in prop::option::of(any::<(u32, u32)>()),
        projid in any::<Option<u32>>(),
    ) {
        let (req, xid, transno) = numbers;
        let nid = nid.to_string();
        let printed_opcode = opcode.map_or(-1, i64::from);
        let (words, end) = if old { (":", "\n ") } else { (" for", " ") };
        let range = extent.map_or(String::new(), |(start, end)| format!(" ({start}->{end})"));
        let mut text = format!(
            "@@@ {target} ll_ost_io00_002: refresh rw locks{words} {fid}{range}{end} req@{req:016x} x{xid}/t{transno}(0) \
             o{printed_opcode}->u-1@{nid}:298/0 lens {}/{} e 0 to 0 dl 17 ref 1 fl New:SH/{:x}/{:x} rc {}/{}",
            lengths.0, lengths.1, flags.0, flags.1, rc.0, rc.1,
        )
        .into_bytes();
        let owner = owner.filter(|_| job.is_some());
        let projid = projid.filter(|_| owner.is_some());
        if let Some(job) = &job {
            text.extend([&b" job:'"[..], job, b"'"].concat());
        }
        if let Some((uid, gid)) = owner {
            text.extend(format!(" uid:{uid} gid:{gid}").bytes());
        }
        if let Some(projid) = projid {
            text.extend(format!(" projid:{projid}").bytes());
        }
        let message = Message::parse_text(&text);
        let Message::RefreshRwLocks(refresh) = message else {
            return Err(TestCaseError::fail(format!("{message:?} of {}", text.escape_ascii())));
        };
        prop_assert_eq!(refresh.target, target);
        prop_assert_eq!(refresh.object, ObjectName::Fid(fid));
        prop_assert_eq!(refresh.extent, extent.map(|(start, end)| Extent { start, end }));
        let want = DebugReq {
            req,
            xid: Xid(xid),
            transno,
            opcode: opcode.map(Opcode),
            peer: b"u-1",
            nid: nid.as_bytes(),
            request_len: lengths.0,
            reply_len: lengths.1,
            early_count: 0,
            deadline_s: 17,
            phase: b"New",
            letters: b"SH",
            request_flags: flags.0,
            reply_flags: flags.1,
            rc: rc.0,
            reply_rc: rc.1,
            job: job.as_deref(),
            uid: owner.map(|(uid, _)| uid).filter(|id| *id != u32::MAX),
            gid: owner.map(|(_, gid)| gid).filter(|id| *id != u32::MAX),
            projid: projid.filter(|id| *id != u32::MAX),
        };
        prop_assert_eq!(refresh.req, Some(want));
    }

    #[test]
    fn extent_lock_of_all_versions(
        target in target(),
        numbers in any::<(u64, u64, u64, u32, i64)>(),
        words in any::<[u64; 4]>(),
        granted in any::<(u64, u64)>(),
        requested in any::<(u64, u64)>(),
        nid in nid(),
        gid in any::<Option<u64>>(),
        bare_last_word in any::<bool>(),
        lru in any::<bool>(),
    ) {
        let (cookie, flags, remote, pid, timeout) = numbers;
        let nid = nid.to_string();
        let resource = match bare_last_word {
            true => format!("[{:#x}:{:#x}:{:#x}].{:x}", words[0], words[1], words[2], words[3]),
            false => ResourceId(words).to_string(),
        };
        let gid_text = gid.map_or(String::new(), |gid| format!(" gid {gid}"));
        let lru_text = if lru { " lru_score: 0 lru_type: 1" } else { "" };
        let text = format!(
            "### removed ns: filter-{target}_UUID lock: 00000000052d0627/{cookie:#x} lrc: 4/0,0 mode: --/PW res: {resource} \
             rrc: 3 type: EXT [{}->{}] (req {}->{}){gid_text} flags: {flags:#x} nid: {nid} remote: {remote:#x} expref: 5 \
             pid: {pid} timeout: {timeout} lvb_type: 0{lru_text}",
            granted.0, granted.1, requested.0, requested.1,
        );
        let message = Message::parse_text(text.as_bytes());
        let Message::Ldlm(ldlm) = message else {
            return Err(TestCaseError::fail(format!("{message:?} of {text}")));
        };
        let lock = ldlm.lock.expect("the line names a lock");
        let namespace = format!("filter-{target}_UUID");
        prop_assert_eq!(lock.namespace, namespace.as_bytes());
        prop_assert_eq!(lock.cookie, LockCookie(cookie));
        prop_assert_eq!((lock.granted_mode, lock.requested_mode), (LockMode::None, LockMode::Pw));
        prop_assert_eq!(lock.resource, Some(ResourceId(words)));
        prop_assert_eq!(lock.lock_type, Some(LockType::Extent));
        prop_assert_eq!(lock.granted_extent, Some(Extent { start: granted.0, end: granted.1 }));
        prop_assert_eq!(lock.requested_extent, Some(Extent { start: requested.0, end: requested.1 }));
        prop_assert_eq!((lock.gid, lock.flags), (gid, flags));
        prop_assert_eq!(lock.tail, LockTail::Export { nid: nid.as_bytes(), remote, pid, timeout });
    }

    #[test]
    fn arbitrary_bytes_never_panic(
        start in prop::sample::select(BEGINNINGS.to_vec()),
        rest in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let text = [start.as_bytes(), &rest].concat();
        if let Message::Malformed(malformed) = Message::parse_text(&text) {
            prop_assert!(malformed.offset <= text.len());
        }
    }

    #[test]
    fn damaged_lines_never_panic(
        line in prop::sample::select(DAMAGED.to_vec()),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut text = line.as_bytes().to_vec();
        let position = at.index(text.len());
        text[position] = byte;
        text.remove(cut.index(line.len()));
        if let Message::Malformed(malformed) = Message::parse_text(&text) {
            prop_assert!(malformed.offset <= text.len());
        }
    }
}

const BEGINNINGS: [&str; 22] = [
    "",
    "Handling RPC ",
    "Handled RPC pname:cluuid+ref:pid:xid:nid:opc:job ",
    "Sending RPC req@1 pname:cluuid:pid:xid:nid:opc:job a:b:1:2:",
    "Completed RPC ",
    "peer: 12345-",
    "unwrap req x",
    "got req ",
    "finish req x",
    "NRS start fifo request from ",
    "NRS: starting to handle orr request for object with FID [",
    "ost_io.0 NRS: TBF ",
    "@@@ ",
    "@@@ lustre-OST0001 t: refresh rw locks for ",
    "@@@ sending reply  req@",
    "### ",
    "### removed ns: ",
    "### client (nid ",
    "Transferring ",
    "Sending 12 bytes to portal ",
    "lustre-OST0000: haven't heard from client ",
    "add 1 to [",
];

const DAMAGED: [&str; 4] = [
    "Handled RPC req@1 pname:cluuid+ref:pid:xid:nid:opc:job t:u+1:2:x3:12345-fe80::1@tcp:4:R job Request processed in 7us (9us total) trans 9 rc 0/0",
    "@@@ lustre-OST0001 t: refresh rw locks for [0x1:0x2:0x0] (0->1)  req@1 x17/t0(0) o4->u@0@lo:0/0 lens 488/0 e 0 to 0 dl 1 ref 1 fl New:/0/ffffffff rc 0/-1 job:'a' uid:1 gid:2 projid:3",
    "### lock callback timer expired after 1s: evicting client at 0@lo  ns: MGS lock: f/0x12 lrc: 3/0,0 mode: EX/EX res: [0x1:0x0:0x0].0x0 rrc: 3 type: EXT [0->1] (req 0->1) gid 0 flags: 0x20 nid: 0@lo remote: 0x99 expref: 7 pid: 5 timeout: 0 lvb_type: 0",
    "Transferring 1 pages 4096 bytes via portal 8 id 12345-27@gni mbits 0x55d0-0x55d0",
];
