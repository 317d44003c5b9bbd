//! Writes a large log made of a small one, for `scripts/bench`:
//! `replicate LOG MEGABYTES TEXT BINARY`, where LOG is text, plain or `.zst`.

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

#[path = "../benches/support/mod.rs"]
mod support;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let [log, megabytes, text, binary] = &args[..] else {
        return Err("usage: replicate LOG MEGABYTES TEXT BINARY".into());
    };
    let mut small = fs::read(log)?;
    if Path::new(log).extension().is_some_and(|it| it == "zst") {
        small = zstd::decode_all(&small[..])?;
    }
    let megabytes: u64 = megabytes.to_str().ok_or("no number")?.parse()?;
    let copies = (megabytes * 1_000_000).div_ceil(small.len().max(1) as u64);
    let mut large = Vec::new();
    support::replicate(&small, copies, &mut large)?;
    fs::write(text, &large)?;
    fs::write(binary, support::to_binary(&large))?;
    Ok(())
}
