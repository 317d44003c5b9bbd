//! The simulated kernel against facts about libcfs: the buffer, the debug daemon, its commands.
#![expect(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "tests: helpers, too, panic where something is wrong; the numbers are small"
)]

mod buffer;
mod control;
mod daemon;
mod disk;
mod live;
mod reader;

use std::path::Path;
use std::sync::Arc;

use lioprof_sim::SimRecord;
use lioprof_sim::kernel::{Flush, Kernel, KernelConfig, LustreVersion};

/// Microseconds since the epoch at which the tests begin.
const START_US: i64 = 1_700_000_000_000_000;
/// Bytes of a record of `numbered`: 48, `a.c`, `f` with their NULs, 40 of text.
const RECORD_BYTES: usize = 48 + 4 + 2 + 40;
/// The kernel first asks for room for 85 bytes of text and a NUL: so many records of `numbered` fit into a page.
const PER_PAGE: usize = 1 + (4096 - (48 + 4 + 2 + 85 + 1)) / RECORD_BYTES;
/// Pages of a process stream if there is 1 MiB per CPU: 80 %.
const PROCESS_PAGES: usize = 256 * 80 / 100;

/// A record of mask rpctrace with a number in its text, one microsecond after the one before.
fn numbered(number: usize) -> SimRecord {
    SimRecord {
        time_us: START_US + number as i64,
        cpu: 0,
        context: 0,
        subsystem: 0x100,
        mask: 0x10_0000,
        pid: 7,
        file: b"a.c".to_vec(),
        line: 1,
        function: b"f".to_vec(),
        text: format!("record {number:0>32}\n").into_bytes(),
    }
}

/// The same as a `Handled RPC` message of the same length.
fn handled(number: usize) -> SimRecord {
    SimRecord { text: format!("Handled RPC {number:0>27}\n").into_bytes(), ..numbered(number) }
}

/// The number in a text of `numbered` or `handled`.
fn number(record: &reader::Raw) -> usize {
    let digits: String =
        record.text.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    digits.parse().expect("the text holds a number")
}

/// A kernel with all masks on and 1 MiB of buffer per CPU.
fn kernel(version: LustreVersion, cpus: u16, flush: Flush) -> Arc<Kernel> {
    let kernel = Kernel::new(KernelConfig { version, cpus, flush, ..KernelConfig::default() });
    kernel.daemon_command(b"size=100").unwrap();
    kernel.write_mask(lioprof_sim::kernel::Mask::Debug, b"-1").unwrap();
    kernel.set_debug_mb(cpus.to_string().as_bytes()).unwrap();
    kernel
}

fn log_all(kernel: &Arc<Kernel>, numbers: impl IntoIterator<Item = usize>) {
    for number in numbers {
        kernel.log(&numbered(number));
    }
}

fn start(kernel: &Arc<Kernel>, path: &Path) {
    kernel.daemon_command(path.to_str().unwrap().as_bytes()).unwrap();
}

fn stop(kernel: &Arc<Kernel>) {
    kernel.daemon_command(b"stop").unwrap();
}

/// All records of the account are somewhere.
fn assert_balanced(kernel: &Kernel) {
    let total = kernel.account().total;
    let lost = total.lost.total();
    assert_eq!(total.logged.records, total.written.records + lost.records + total.pending.records);
    assert_eq!(total.logged.handled_rpcs, total.written.handled_rpcs + lost.handled_rpcs + total.pending.handled_rpcs);
    assert_eq!(total.logged.bytes, total.written.bytes + lost.bytes + total.pending.bytes);
}
