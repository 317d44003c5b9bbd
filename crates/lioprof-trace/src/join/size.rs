//! How many bytes an RPC moved, from the best evidence the capture holds.
//!
//! Reads are exact: the handler's status is the number of bytes sent (`tgt_brw_read`, 2.5 to master).
//! A write's message is `base + 16 * (niobufs - 1) + inline data` bytes long (`OST_BRW_WRITE` request
//! layout), which, with the extent, tells whether the extent is full.

use lioprof_model::{RpcSize, SizeEvidence, Symbol};
use lustre_debuglog::{Extent, Opcode, TargetKind, TargetName};
use rustc_hash::{FxHashMap, FxHashSet};

/// Size of one `struct niobuf_remote`.
const NIOBUF: u64 = 16;
/// Smallest page of a Lustre client; those with larger pages use multiples of it.
const PAGE: u64 = 4096;
/// Inline data is at most this long (`OBD_MAX_SHORT_IO_BYTES`; the default limit is 16 KiB).
const MAX_INLINE: u64 = 64 * 1024;
/// Length of a write request with one niobuf and no inline data (2.15.8 and 2.17.57 servers' logs).
/// Older clients pack one buffer less and come out 8 or 16 bytes shorter.
const WRITE_BASE: u64 = 488;
/// Bytes by which [`WRITE_BASE`] may be too large for an older client.
const WRITE_BASE_SLACK: u64 = 16;

/// What is known of one RPC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SizeClues {
    pub(crate) opcode: Opcode,
    pub(crate) nid: Symbol,
    pub(crate) target: Option<TargetName>,
    /// Nothing was done.
    pub(crate) failed: bool,
    pub(crate) rc: i32,
    pub(crate) extent: Option<Extent>,
    pub(crate) request_len: Option<u32>,
    /// A bulk transfer would have been logged.
    pub(crate) net: bool,
    pub(crate) bulk_bytes: Option<u64>,
}

/// Sizes RPCs; learns from those it has seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sizer {
    /// Shortest write request per client.
    bases: FxHashMap<Symbol, u64>,
    /// Exact bulk writes per client and target: bytes and niobufs.
    runs: FxHashMap<(Symbol, Option<TargetName>), (u64, u64)>,
    /// Largest exact size seen.
    largest: u64,
    osts: FxHashSet<TargetName>,
}

/// What a message length can mean for a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WriteShape {
    /// One niobuf, no inline data.
    One,
    /// Inline data of this many bytes.
    Inline(u64),
    /// This many niobufs with gaps, no inline data.
    Many(u64),
    /// Inline data or this many niobufs, both fit.
    Either { inline: u64, niobufs: u64 },
    /// Nothing fits.
    Unclear,
}

impl Sizer {
    /// Replaces symbols by what `renamed` gives.
    pub(super) fn symbols(&mut self, renamed: &mut impl FnMut(Symbol) -> Symbol) {
        self.bases = self.bases.drain().map(|(nid, base)| (renamed(nid), base)).collect();
        self.runs = self.runs.drain().map(|((nid, target), runs)| ((renamed(nid), target), runs)).collect();
    }

    /// The OST of this index, if the log has named it and only one file system has it.
    pub(crate) fn ost(&self, index: u32) -> Option<TargetName> {
        let mut found = self.osts.iter().filter(|target| u32::from(target.index()) == index);
        found.next().copied().filter(|_| found.next().is_none())
    }

    /// The size of an RPC, and what it rests on.
    pub(crate) fn size(&mut self, clues: &SizeClues) -> (RpcSize, SizeEvidence) {
        self.osts.extend(clues.target.filter(|target| target.kind() == TargetKind::Ost));
        if clues.opcode != Opcode::OST_READ && clues.opcode != Opcode::OST_WRITE {
            return (RpcSize::Unknown, SizeEvidence::None);
        }
        if clues.failed {
            return (RpcSize::Exact(0), SizeEvidence::Failed);
        }
        let (size, evidence) = if clues.opcode == Opcode::OST_READ {
            (RpcSize::Exact(u64::from(clues.rc.unsigned_abs())), SizeEvidence::ReadStatus)
        } else {
            self.write(clues)
        };
        if let RpcSize::Exact(bytes) = size {
            self.largest = self.largest.max(bytes);
        }
        (size, evidence)
    }

    fn write(&mut self, clues: &SizeClues) -> (RpcSize, SizeEvidence) {
        let extra = clues.request_len.map(|len| self.beyond_base(clues.nid, u64::from(len)));
        if let Some(bytes) = clues.bulk_bytes {
            self.learn(clues, bytes, extra.map_or(1, |extra| extra / NIOBUF + 1));
            return (RpcSize::Exact(bytes), SizeEvidence::Bulk);
        }
        match (clues.extent, extra) {
            (Some(extent), Some(extra)) => self.extent_and_length(clues, extent, extra),
            (Some(extent), None) => {
                let max = extent.len_bytes();
                (RpcSize::Bounded { best: max, min: 1, max }, SizeEvidence::LockExtent)
            }
            // The data is inline, or its transfer would have been logged; only the niobufs are unknown.
            (None, Some(extra)) if clues.net && extra > 0 => {
                let min = extra.saturating_sub(NIOBUF * (MAX_INLINE / PAGE)).max(1);
                (RpcSize::Bounded { best: extra, min, max: extra }, SizeEvidence::Inline)
            }
            (None, _) => (RpcSize::Unknown, SizeEvidence::None),
        }
    }

    fn extent_and_length(&mut self, clues: &SizeClues, extent: Extent, extra: u64) -> (RpcSize, SizeEvidence) {
        let max = extent.len_bytes();
        match shape(extent, extra) {
            WriteShape::One => {
                self.learn(clues, max, 1);
                (RpcSize::Exact(max), SizeEvidence::Extent)
            }
            WriteShape::Inline(bytes) => (RpcSize::Exact(bytes), SizeEvidence::Inline),
            WriteShape::Many(niobufs) => (
                RpcSize::Bounded { best: self.estimate(clues, niobufs, max), min: niobufs, max },
                SizeEvidence::Niobufs,
            ),
            WriteShape::Either { inline, niobufs } => {
                let best = self.estimate(clues, niobufs, max);
                (RpcSize::Bounded { best, min: niobufs.min(inline), max }, SizeEvidence::Niobufs)
            }
            WriteShape::Unclear => (RpcSize::Bounded { best: max, min: 1, max }, SizeEvidence::LockExtent),
        }
    }

    /// Bytes of a request beyond those of the shortest this client can send.
    fn beyond_base(&mut self, nid: Symbol, len: u64) -> u64 {
        let base = self.bases.entry(nid).or_insert(WRITE_BASE);
        if len < *base && len + WRITE_BASE_SLACK >= WRITE_BASE {
            *base = len;
        }
        len.saturating_sub(*base)
    }

    fn learn(&mut self, clues: &SizeClues, bytes: u64, niobufs: u64) {
        let (known_bytes, known_niobufs) = self.runs.entry((clues.nid, clues.target)).or_default();
        *known_bytes += bytes;
        *known_niobufs += niobufs;
    }

    /// Niobufs times what one usually holds (a page at least), not above the largest transfer seen.
    fn estimate(&self, clues: &SizeClues, niobufs: u64, max: u64) -> u64 {
        let run = match self.runs.get(&(clues.nid, clues.target)) {
            Some(&(bytes, count)) if count > 0 => (bytes / count).max(PAGE),
            _ => PAGE,
        };
        let ceiling = if self.largest == 0 { max } else { self.largest.min(max) };
        niobufs.saturating_mul(run).min(ceiling).clamp(niobufs.min(max), max)
    }
}

/// What a request `extra` bytes longer than the shortest one means for this extent.
fn shape(extent: Extent, extra: u64) -> WriteShape {
    if extra == 0 {
        return WriteShape::One;
    }
    let inline = inline_bytes(extent, extra);
    let niobufs = extra.is_multiple_of(NIOBUF).then_some(extra / NIOBUF + 1).filter(|&count| {
        // Niobufs of one request do not share pages, and all but the outer ones fill theirs.
        extent.len_bytes() > (count - 2) * PAGE
    });
    match (inline, niobufs) {
        (Some(bytes), None) => WriteShape::Inline(bytes),
        (None, Some(count)) => WriteShape::Many(count),
        (Some(inline), Some(niobufs)) => WriteShape::Either { inline, niobufs },
        (None, None) => WriteShape::Unclear,
    }
}

/// Inline data of a request: whole pages, but for the part of the first page before the extent and the
/// part of the last page behind it.
fn inline_bytes(extent: Extent, extra: u64) -> Option<u64> {
    let outside = extent.start % PAGE + (PAGE - 1 - extent.end % PAGE);
    (1..=MAX_INLINE / PAGE)
        .map_while(|niobufs| extra.checked_sub(NIOBUF * (niobufs - 1)).map(|bytes| (niobufs, bytes)))
        .find(|&(niobufs, bytes)| {
            let pages = (bytes + outside) / PAGE;
            let whole = (bytes + outside).is_multiple_of(PAGE) && pages >= niobufs && pages <= MAX_INLINE / PAGE;
            let fits = if niobufs == 1 { bytes == extent.len_bytes() } else { bytes < extent.len_bytes() };
            bytes > 0 && whole && fits
        })
        .map(|(_, bytes)| bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(start: u64, len: u64) -> Extent {
        Extent { start, end: start + len - 1 }
    }

    #[test]
    fn the_shortest_request_has_one_full_extent() {
        assert_eq!(shape(extent(0, 1 << 20), 0), WriteShape::One);
    }

    #[test]
    fn inline_data_fills_the_extent() {
        // Lengths as seen on 2.17.57: 5000 bytes at a page start, and a page.
        assert_eq!(shape(extent(8 << 20, 5000), 5000), WriteShape::Inline(5000));
        assert_eq!(shape(extent(65536, 4096), 4096), WriteShape::Inline(4096));
        // Unaligned direct I/O: the data starts inside a page.
        assert_eq!(shape(extent(100, 5000), 5000), WriteShape::Inline(5000));
    }

    #[test]
    fn inline_data_with_a_gap() {
        // Two pages, far apart.
        assert_eq!(shape(extent(0, 1 << 20), 2 * 4096 + 16), WriteShape::Inline(8192));
    }

    #[test]
    fn niobufs_with_gaps_are_only_counted() {
        assert_eq!(shape(extent(0, 8_364_032), 16), WriteShape::Many(2));
        assert_eq!(shape(extent(0, 8_323_072), 1008), WriteShape::Many(64));
    }

    #[test]
    fn what_fits_both_ways_is_not_decided() {
        // 514 niobufs in 8 MiB, or two pages of inline data.
        let got = shape(extent(0, 8 << 20), 2 * 4096 + 16);
        assert_eq!(got, WriteShape::Either { inline: 8192, niobufs: 514 });
    }

    fn write(len: u32, extent: Extent) -> SizeClues {
        SizeClues {
            opcode: Opcode::OST_WRITE,
            nid: Symbol(0),
            target: None,
            failed: false,
            rc: 0,
            extent: Some(extent),
            request_len: Some(len),
            net: false,
            bulk_bytes: None,
        }
    }

    #[test]
    fn an_estimate_uses_the_clients_usual_run_and_stays_in_bounds() {
        let mut sizer = Sizer::default();
        assert_eq!(sizer.size(&write(488, extent(0, 65536))).0, RpcSize::Exact(65536));
        assert_eq!(
            sizer.size(&write(488 + 16, extent(0, 8 << 20))),
            (RpcSize::Bounded { best: 65536, min: 2, max: 8 << 20 }, SizeEvidence::Niobufs),
            "not above the largest transfer seen"
        );
        sizer.size(&write(488, extent(0, 1 << 20)));
        let RpcSize::Bounded { best, .. } = sizer.size(&write(488 + 16, extent(0, 8 << 20))).0 else { panic!() };
        assert_eq!(best, 1 << 20);
    }

    #[test]
    fn an_older_clients_base_is_learnt() {
        let mut sizer = Sizer::default();
        assert_eq!(sizer.size(&write(480, extent(0, 65536))).0, RpcSize::Exact(65536));
        let (size, evidence) = sizer.size(&write(496, extent(0, 1 << 20)));
        assert_eq!(evidence, SizeEvidence::Niobufs);
        assert!(matches!(size, RpcSize::Bounded { min: 2, .. }));
    }

    #[test]
    fn a_failed_write_moves_nothing() {
        let failed = SizeClues { failed: true, rc: -28, ..write(488, extent(0, 4096)) };
        assert_eq!(Sizer::default().size(&failed), (RpcSize::Exact(0), SizeEvidence::Failed));
    }

    #[test]
    fn a_server_local_lock_alone_bounds_the_size() {
        let local = SizeClues { request_len: None, ..write(0, extent(4096, 28672)) };
        let want = RpcSize::Bounded { best: 28672, min: 1, max: 28672 };
        assert_eq!(Sizer::default().size(&local), (want, SizeEvidence::LockExtent));
    }
}
