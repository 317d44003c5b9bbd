//! Figures as cells.

use lioprof_model::live::LiveIo;
use lioprof_model::units::{mib, real, three_digits};

use crate::table::Cell;

/// A number of things at a time, or per second.
pub(crate) fn rate(value: f64) -> Cell {
    Cell::figure(Some(value), number)
}

/// MiB per second.
pub(crate) fn bandwidth(io: &LiveIo) -> Cell {
    Cell::figure(io.bytes_per_s, |bytes| if bytes == 0.0 { "0".to_owned() } else { mib(bytes) })
}

/// KiB per RPC.
pub(crate) fn rpc_size(io: &LiveIo) -> Cell {
    Cell::figure(io.rpc_bytes(), |bytes| number(bytes / 1024.0))
}

/// Milliseconds.
pub(crate) fn time(us: Option<u64>) -> Cell {
    Cell::figure(us.map(real), |us| number(us / 1000.0))
}

/// Things that are counted.
pub(crate) fn count(count: u64) -> Cell {
    Cell::figure(Some(real(count)), |_| count.to_string())
}

fn number(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { three_digits(value) }
}
