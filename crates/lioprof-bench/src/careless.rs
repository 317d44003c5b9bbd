//! The least that a program must do to a log as text to know each client's bytes and times: search for two of nine kinds of lines, read
//! six fields of them, and add up. It believes whatever it finds: a bound for readers that check less, not a way to read logs.

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::Read as _;
use std::path::Path;

use memchr::memmem::Finder;
use rustc_hash::FxHashMap;

/// Where an RPC ends: `THREAD:UUID+REF:PID:XID:NID:OPC:JOB Request processed in Nus (Nus total) trans N rc N/N`.
const END: &str = "Handled RPC";
/// Which bytes it reads or writes: `(A->B)  req@ADDRESS xXID/..`.
const EXTENT: &str = "refresh rw locks";

/// Bytes read at once.
const PIECE: usize = 256 << 10;

/// What is known of a client's RPCs of one kind.
#[derive(Default)]
struct Sums {
    rpcs: u64,
    bytes: u64,
    service_us: u64,
}

/// Sums by NID and opcode, and the bytes of RPCs that have not ended.
#[derive(Default)]
struct Clients {
    sums: FxHashMap<Box<[u8]>, FxHashMap<u64, Sums>>,
    bytes_of_xid: FxHashMap<u64, u64>,
}

/// RPCs of a log as text.
///
/// # Errors
/// If the file cannot be read.
pub(crate) fn rpcs(file: &Path) -> Result<u64, Box<dyn Error>> {
    let clients = Clients::read(file)?;
    Ok(clients.sums.values().flat_map(FxHashMap::values).map(|sums| black_box(sums).rpcs).sum())
}

impl Clients {
    fn read(file: &Path) -> Result<Self, Box<dyn Error>> {
        let failed = |err| format!("failed to read `{}`: {err}", file.display());
        let mut open = File::open(file).map_err(failed)?;
        let (ends, extents) = (Finder::new(END), Finder::new(EXTENT));
        let (mut buffer, mut kept) = (vec![0; PIECE], 0);
        let mut clients = Clients::default();
        loop {
            let got = open.read(&mut buffer[kept..]).map_err(failed)?;
            if got == 0 {
                return Ok(clients);
            }
            // The last line ends with the next piece.
            let filled = kept + got;
            let whole = memchr::memrchr(b'\n', &buffer[..filled]).map_or(0, |end| end + 1);
            // An RPC's bytes are known before its end; a line that is not as expected is none.
            for line in lines_with(&extents, &buffer[..whole]) {
                let _read = clients.extent(line);
            }
            for line in lines_with(&ends, &buffer[..whole]) {
                let _read = clients.end(line);
            }
            buffer.copy_within(whole..filled, 0);
            kept = filled - whole;
            if kept == buffer.len() {
                return Err(format!("`{}` is no log: a line is longer than {PIECE} bytes", file.display()).into());
            }
        }
    }

    fn extent(&mut self, line: &[u8]) -> Option<()> {
        let line = behind(line, b'(')?;
        let (start, line) = number(line);
        let (end, line) = number(line.get(2..)?);
        let (xid, _) = number(behind(behind(line, b'@')?, b'x')?);
        self.bytes_of_xid.insert(xid, end + 1 - start);
        Some(())
    }

    fn end(&mut self, line: &[u8]) -> Option<()> {
        let mut line = line;
        for _ in 0..9 {
            line = behind(line, b':')?;
        }
        let (xid, line) = number(line.get(1..)?);
        let (nid, line) = until(line.get(1..)?, b':')?;
        let (opcode, line) = number(line);
        let (service_us, _) = number(behind(line, b' ')?.get("Request processed in ".len()..)?);
        if !self.sums.contains_key(nid) {
            self.sums.insert(nid.into(), FxHashMap::default());
        }
        let sums = self.sums.get_mut(nid)?.entry(opcode).or_default();
        sums.rpcs += 1;
        sums.bytes += self.bytes_of_xid.remove(&xid).unwrap_or(0);
        sums.service_us += service_us;
        Some(())
    }
}

/// What follows the text that is searched for, to the end of its line.
fn lines_with<'a>(search: &'a Finder<'_>, text: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    search.find_iter(text).map(|at| {
        let line = &text[at + search.needle().len()..];
        &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())]
    })
}

/// What is before a byte, and what follows it.
fn until(line: &[u8], byte: u8) -> Option<(&[u8], &[u8])> {
    memchr::memchr(byte, line).map(|at| (&line[..at], &line[at + 1..]))
}

fn behind(line: &[u8], byte: u8) -> Option<&[u8]> {
    until(line, byte).map(|(_, rest)| rest)
}

/// A number at the beginning, and what follows it.
fn number(line: &[u8]) -> (u64, &[u8]) {
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let value =
        line[..digits].iter().fold(0, |value: u64, digit| value.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')));
    (value, &line[digits..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_times_of_clients_are_those_of_the_lines() {
        let log = tempfile::NamedTempFile::new().unwrap();
        let end = "(service.c:2592:ptlrpc_server_handle_request()) Handled RPC req@3c6e pname:cluuid+ref:pid:xid:nid:opc:job \
                   ll_ost_io01_001:dbd2-01+5:380:x18:12345-10.1.0.2@o2ib:3:ior.1 Request processed in 1307us (1484us total) trans 0 rc 0/0\n";
        let extent = "(ofd_dev.c:2708:ofd_rw_hpreq_check()) @@@ fs-OST0005 ll_ost_io01_000: refresh rw locks for [0x3:0x7:0x0] \
                      (4096->1048575)  req@9e37 x18/t0(0) o3->dbd2-01@10.1.0.2@o2ib:219/0\n";
        std::fs::write(log.path(), format!("{extent}{extent}{end}{end}Handled RPC of nobody\n")).unwrap();
        let clients = Clients::read(log.path()).unwrap();
        let sums = &clients.sums[b"12345-10.1.0.2@o2ib".as_slice()][&3];
        assert_eq!((sums.rpcs, sums.bytes, sums.service_us), (2, 1_044_480, 2_614));
        assert_eq!((clients.sums.len(), clients.bytes_of_xid.len()), (1, 0));
    }
}
