//! Names of all kinds and damage of all kinds: no name survives, no record is lost.
//!
//! `LIOPROF_FUZZ_ITERATIONS` and `LIOPROF_FUZZ_SEED`: see `lioprof_testkit::fuzz`.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::Cursor;
use std::path::PathBuf;

use lioprof_anonymise::{Key, Options, anonymise};
use lioprof_testkit::files::{capture, files_under, unpacked};
use lioprof_testkit::fuzz::{
    Piece, Rng, binary_records, change_binary_header, change_text_header, for_each_seed, join, text_records, wound,
};
use lioprof_trace::logged_text;
use lustre_debuglog::frame::binary::BinaryRecords;
use lustre_debuglog::frame::text::{TextItem, TextRecords};
use lustre_debuglog::frame::{Form, detect};

/// The only file that is written of one input.
fn anonymised(log: &[u8], name: &str, key: &Key) -> Option<Vec<u8>> {
    written(log, name, key).map(|written| written.log)
}

/// A key of the seed, so that a failure with it comes again.
fn key(rng: &mut Rng) -> Key {
    let file = tempfile::NamedTempFile::new().unwrap();
    let bytes: Vec<u8> = (0..32).map(|_| rng.byte()).collect();
    fs::write(&file, bytes).unwrap();
    Key::from_file(file.path()).unwrap()
}

/// A written log, the names that were replaced (kind and name), and whether the log was taken for one of several hosts.
struct Written {
    log: Vec<u8>,
    names: Vec<(String, String)>,
    is_split: bool,
}

/// What is written of one input; nothing if it is no log. What damage left before a header may look like a host's name: then there are
/// several files, here one after the other.
fn written(log: &[u8], name: &str, key: &Key) -> Option<Written> {
    let dir = tempfile::tempdir().unwrap();
    let (path, to) = (dir.path().join(name), dir.path().join("to"));
    fs::write(&path, log).unwrap();
    let inputs: [PathBuf; 1] = [path];
    let table = dir.path().join("names");
    let options = Options { inputs: &inputs, rules: &[], key, output: &to, mapping: Some(&table) };
    let outcome = anonymise(&options).unwrap();
    let files = files_under(&to);
    assert_eq!(files.len(), outcome.written.len());
    let names = fs::read_to_string(&table).unwrap();
    let names = names.lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
    let replaced = names.filter(|fields| fields[1] != fields[2]).map(|fields| (fields[0].clone(), fields[1].clone()));
    files.first()?;
    let log = files.iter().map(|file| fs::read(file).unwrap()).collect::<Vec<_>>().join(&b'\n');
    Some(Written { log, names: replaced.collect(), is_split: files.len() > 1 })
}

/// Times of all records as they were logged, and bytes that are none.
fn framed(log: &[u8]) -> (Vec<i64>, usize) {
    let (mut times, mut skipped) = (Vec::new(), 0);
    match detect(log, true) {
        Some(Form::Binary(layout)) => {
            for item in BinaryRecords::new(log, layout) {
                match item {
                    Ok((record, _)) => times.push(record.time_us),
                    Err(bytes) => skipped += bytes.len,
                }
            }
        }
        _ => {
            let stream = Box::new(Cursor::new(log.to_vec()));
            logged_text(stream, |text, left_out| {
                skipped += left_out.iter().map(|bytes| bytes.len()).sum::<usize>();
                for item in TextRecords::new(text) {
                    match item {
                        TextItem::Record(record, _) => times.push(record.time_us),
                        TextItem::Skipped(bytes) => skipped += bytes.len,
                        TextItem::Summary(..) => {}
                    }
                }
                Ok(())
            })
            .unwrap();
        }
    }
    (times, skipped)
}

/// A word that no message has.
fn name(rng: &mut Rng) -> String {
    let len = 6 + rng.below(3);
    (0..len).map(|_| char::from(rng.pick(b"qxzjkvwy"))).collect()
}

#[test]
fn random_names_never_survive() {
    for_each_seed(4, |rng| {
        let (fs, job, file, mark, host) = (name(rng), name(rng), name(rng), name(rng), name(rng));
        let uuid = format!("{:08x}-{:04x}-4000-8000-{:012x}", rng.next() >> 32, rng.next() >> 48, rng.next() >> 16);
        let uid = 1_000_000 + rng.below(8_000_000);
        let nid = match rng.below(4) {
            0 => format!("10.{}.{}.{}@tcp", rng.below(256), rng.below(256), 1 + rng.below(254)),
            1 => format!("fe80::{:x}:{:x}@o2ib3", 1 + rng.below(65_000), 1 + rng.below(65_000)),
            2 => format!("{}@kfi", 1_000_000 + rng.below(1_000_000)),
            _ => format!("{host}@tcp"),
        };
        let head = |file: &str, function: &str| {
            format!("00000100:00100000:1.0:1700000000.000001:0:7:0:({file}:1:{function}()) ")
        };
        let tail = format!(
            "req@00000000d5e09f76 x17/t0(0) o4->{uuid}@{nid}:298/0 lens 488/0 e 0 to 0 dl 1 ref 1 fl New:/600/ffffffff rc 0/-1 \
             job:'{job}.{uid}' uid:{uid} gid:{uid} projid:{uid}"
        );
        let lock = format!(
            "ns: filter-{fs}-OST0001_UUID lock: 0000000000000001/0x12 lrc: 3/0,0 mode: PW/PW res: [0x1:0x0:0x0].0x0 rrc: 3 \
             type: EXT [0->1] (req 0->1) gid 0 flags: 0x20 nid: {nid} remote: 0x99 expref: 7 pid: 5 timeout: 0 lvb_type: 0"
        );
        let texts = [
            format!(
                "Handling RPC req@00000000d5e09f76 pname:cluuid+ref:pid:xid:nid:opc:job ll_ost00_001:{uuid}+6:381:x17:12345-{nid}:4:{job}.{uid}"
            ),
            format!(
                "Sending RPC req@00000000cf20c915 pname:cluuid:pid:xid:nid:opc:job {job}:{fs}-OST0001_UUID:2313:17:{nid}:104:{job}"
            ),
            format!("peer: 12345-{nid} (source: 12345-{nid})"),
            format!(
                "@@@ {fs}-OST0001 ll_ost_io00_002: refresh rw locks for [0x280000400:0x4:0x0] (0->1048575)  {tail}"
            ),
            format!("@@@ {host} has sent something  {tail}"),
            format!("### lock callback timer expired after 100s: evicting client at {nid}  {lock}"),
            format!("### {host} did it {lock}"),
            format!("{fs}-OST0000: haven't heard from client {uuid} (at {nid}) in 102 seconds. I think it's dead"),
            format!("START file {file}:[0x200000bd1:0xa:0x0], ppos: 0, count: 1048576"),
            format!(
                "VFS Op:oldname={file}, src_dir=[0x200000bd1:0xa:0x0](0000000000000001), newname={job}, tgt_dir=[0x200000bd1:0xa:0x0](0000000000000001)"
            ),
            format!("VFS Op:name={file}, dir=[0x200000bd1:0xa:0x0](0000000000000001), target=/{host}/{job}"),
            format!("DEBUG MARKER: {mark} begins"),
            format!("the client {host} at {nid} of {fs} is lost"),
            format!("client at {nid} of {fs}-MDT0000 is lost"),
            format!("Handled RPC {job}"),
            format!(
                "Handled RPC req@1 pname:cluuid+ref:pid:xid:nid:opc:job ll_ost00_001:{uuid}+6:381:x17:12345-{nid}:4:{job} Request processed in 1us (2us total) trans 0 rc 0/0 {host}"
            ),
            format!("ost_io.0 NRS: TBF dequeues: class@1 key jobid={{{job}}}&nid={{{nid}}} rule@1 {host} gen 0 rate 1"),
        ];
        let mut log = Vec::new();
        for _ in 0..40 {
            let site = if rng.one_in(9) { head(&format!("{host}.c"), &job) } else { head("service.c", "f") };
            let text = &texts[rng.below(texts.len())];
            log.extend_from_slice(site.as_bytes());
            log.extend_from_slice(text.as_bytes());
            log.push(b'\n');
            if rng.one_in(20) {
                log.extend_from_slice(format!("{host} says hello\n").as_bytes());
            }
        }
        let Some(out) = anonymised(&log, &format!("rpc-{host}.txt"), &key(rng)) else { panic!("nothing was written") };
        let address = nid.split('@').next().unwrap_or_default();
        for name in [&fs, &job, &file, &mark, &host, &uuid, &uid.to_string(), address] {
            // A file or a function is told of as it is only if it can be one.
            let site = [format!("({host}.c:"), format!(":{job}()")];
            let out = String::from_utf8(out.clone()).unwrap();
            let out = site.iter().fold(out, |out, site| out.replace(site, ""));
            assert!(!out.contains(name), "{name} in {out}");
        }
        assert_eq!(framed(&out).0, framed(&log).0);
    });
}

/// Wounds a capture; the same records and the same wounds must come out, without the names.
fn check_wounded(records: &[&[u8]], name: &str, change_header: lioprof_testkit::fuzz::ChangeHeader, rng: &mut Rng) {
    let from = rng.below(records.len().saturating_sub(80).max(1));
    let pieces: Vec<Piece> = wound(rng, &records[from..records.len().min(from + 80)], change_header);
    let (mut log, _) = join(&pieces);
    if rng.one_in(3) {
        log.truncate(log.len() - rng.below(100.min(log.len())));
    }
    // A log that is none any more is refused.
    let Some(Written { log: out, names, is_split }) = written(&log, name, &key(rng)) else { return };
    let (times, skipped) = framed(&log);
    let (new_times, new_skipped) = framed(&out);
    if is_split {
        // A wound that looks like a heading, or is behind one, takes its record with it.
        assert!(new_times.len() + 3 >= times.len(), "{} of {}", new_times.len(), times.len());
    } else {
        assert_eq!((new_times.len(), new_skipped), (times.len(), skipped));
        assert_eq!(new_times, times);
    }
    for (kind, name) in names {
        let needle = match kind.as_str() {
            "IPv4 address" => format!("{name}@"),
            "file system" => format!("{name}-OST"),
            "program" => format!("{name}.0"),
            "uuid" => name,
            _ => continue,
        };
        let is_part =
            |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_'));
        let left = memchr::memmem::find_iter(&out, &needle).any(|at| {
            !is_part(at.checked_sub(1).and_then(|at| out.get(at)))
                && (kind != "program" || !is_part(out.get(at + needle.len())))
        });
        assert!(!left, "{needle} in {}", out.escape_ascii());
    }
}

#[test]
fn wounded_binary_logs_keep_their_records_and_wounds() {
    let log = unpacked(capture("lock_pingpong_small/server2/rpc.bin.zst"));
    let records = binary_records(&log);
    for_each_seed(4, |rng| check_wounded(&records, "rpc.bin", change_binary_header, rng));
}

#[test]
fn wounded_text_logs_keep_their_records_and_wounds() {
    let log = unpacked(capture("lock_pingpong_small/server2/rpc.txt.zst"));
    let records = text_records(&log);
    for_each_seed(4, |rng| check_wounded(&records, "rpc.txt", change_text_header, rng));
}

#[test]
fn counters_keep_their_figures_and_lose_what_is_not_known() {
    let text = "obdfilter.work1-OST0000.job_stats=\njob_stats:\n- job_id:          ior.4242\n  \
        read_bytes:      { samples:          3, unit: bytes, min:  1, max:  2, sum:         4, sumsq:    5 }\n\
        obdfilter.work1-OST0000.exports.10.9.8.7@o2ib.stats=\nread_bytes                          3 samples [bytes] 1 2 4 5\n\
        remark of alice                     1 samples [reqs]\n";
    let out = String::from_utf8(anonymised(text.as_bytes(), "counters.txt", &Key::random().unwrap()).unwrap()).unwrap();
    for name in ["work1", "ior", "4242", "10.9.8.7", "alice"] {
        assert!(!out.contains(name), "{name} in {out}");
    }
    for kept in [
        "-OST0000.job_stats=",
        "read_bytes                          3 samples [bytes] 1 2 4 5",
        "@o2ib.stats=",
        "(text removed)",
    ] {
        assert!(out.contains(kept), "{kept} in {out}");
    }
}

#[test]
fn anything_is_written_or_refused_without_a_panic() {
    for_each_seed(4, |rng| {
        let len = rng.below(4096);
        let log: Vec<u8> = (0..len).map(|_| rng.byte()).collect();

        let _written_or_refused = anonymised(&log, "rpc.bin", &key(rng));
    });
}
