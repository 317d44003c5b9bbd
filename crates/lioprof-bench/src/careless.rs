//! The least that a program must do to a log as text. It believes whatever it finds, and passes over lines that do not look as expected: a
//! bound for readers that check less, not a way to read logs.
//!
//! * [`sums`]: each client's bytes and times.
//! * [`in_order`]: what takes the requests of a client, of a job or of an object one after the other, and callbacks.

use std::error::Error;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use memchr::memmem::Finder;

pub(crate) mod in_order;
pub(crate) mod sums;

/// Where an RPC ends: `THREAD:UUID+REF:PID:XID:NID:OPC:JOB Request processed in Nus (Nus total) trans N rc N/N`.
const END: &str = "Handled RPC";
/// Which bytes it reads or writes: `(A->B)  req@ADDRESS xXID/..`.
const EXTENT: &str = "refresh rw locks";

/// Bytes read at once.
const PIECE: usize = 256 << 10;

/// Hands out a file's lines, as many whole ones at once as have been read.
fn lines(file: &Path, mut read: impl FnMut(&[u8])) -> Result<(), Box<dyn Error>> {
    let failed = |err| format!("failed to read `{}`: {err}", file.display());
    let mut open = File::open(file).map_err(failed)?;
    let (mut buffer, mut kept) = (vec![0; PIECE], 0);
    loop {
        let got = open.read(&mut buffer[kept..]).map_err(failed)?;
        if got == 0 {
            return Ok(());
        }
        // The last line ends with the next piece.
        let filled = kept + got;
        let whole = memchr::memrchr(b'\n', &buffer[..filled]).map_or(0, |end| end + 1);
        read(&buffer[..whole]);
        buffer.copy_within(whole..filled, 0);
        kept = filled - whole;
        if kept == buffer.len() {
            return Err(format!("`{}` is no log: a line is longer than {PIECE} bytes", file.display()).into());
        }
    }
}

/// For each line with the text that is searched for, what is before that text, and what follows it to the end of the line.
fn lines_with<'a>(search: &'a Finder<'_>, text: &'a [u8]) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
    search.find_iter(text).map(|at| {
        let line = &text[at + search.needle().len()..];
        (&text[..at], &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())])
    })
}

/// What a read or write is for.
struct Extent<'a> {
    xid: u64,
    fid: &'a [u8],
    start: u64,
    end: u64,
}

impl<'a> Extent<'a> {
    /// `for FID (A->B)  req@ADDRESS xXID/..`.
    fn read(line: &'a [u8]) -> Option<Self> {
        let (fid, line) = until(line, b'(')?;
        let (start, line) = number(line);
        let (end, line) = number(line.get(2..)?);
        let (xid, _) = number(behind(behind(line, b'@')?, b'x')?);
        Some(Self { xid, fid, start, end })
    }
}

/// Who asked for what.
struct Rpc<'a> {
    xid: u64,
    nid: &'a [u8],
    opcode: u64,
    /// The job, and what follows it.
    rest: &'a [u8],
}

impl<'a> Rpc<'a> {
    /// Six names of fields, then `THREAD:UUID:PID:XID:NID:OPC:`; a server writes `x` before the XID of a request that it handles.
    fn read(line: &'a [u8]) -> Option<Self> {
        let line = (0..9).try_fold(line, |line, _| behind(line, b':'))?;
        let (xid, line) = number(line.strip_prefix(b"x").unwrap_or(line));
        let (nid, line) = until(line.get(1..)?, b':')?;
        let (opcode, line) = number(line);
        Some(Self { xid, nid, opcode, rest: line.get(1..)? })
    }
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
