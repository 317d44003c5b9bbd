//! A page of the debug buffer and the packing of records into it.

use crate::SimRecord;

/// Size of a page; a record never crosses one.
pub const PAGE_BYTES: usize = 4096;
/// Size of a record's fixed header.
const HEADER_BYTES: usize = 48;
const HANDLED: &[u8] = b"Handled RPC ";

/// A page with records, and what the account wants to know about them.
#[derive(Clone, Debug)]
pub(super) struct Page {
    bytes: [u8; PAGE_BYTES],
    used: usize,
    pub(super) cpu: u16,
    pub(super) context: u16,
    pub(super) records: u32,
    pub(super) handled_rpcs: u32,
    pub(super) first_us: i64,
    pub(super) last_us: i64,
    /// Its records are accounted for: a page that is put back after a failed write is counted once.
    pub(super) settled: bool,
}

impl Page {
    pub(super) fn new(cpu: u16, context: u16) -> Box<Self> {
        Box::new(Self {
            bytes: [0; PAGE_BYTES],
            used: 0,
            cpu,
            context,
            records: 0,
            handled_rpcs: 0,
            first_us: 0,
            last_us: 0,
            settled: false,
        })
    }

    /// Empties the page for the stream of another CPU or context, or the same one.
    pub(super) fn reset(&mut self, cpu: u16, context: u16) {
        (self.cpu, self.context) = (cpu, context);
        (self.used, self.records, self.handled_rpcs, self.settled) = (0, 0, 0, false);
    }

    pub(super) fn used(&self) -> &[u8] {
        &self.bytes[..self.used]
    }

    pub(super) fn free_bytes(&self) -> usize {
        PAGE_BYTES - self.used
    }

    /// Appends a record; there must be room for it.
    pub(super) fn push(&mut self, record: &SimRecord, time_us: i64, first: bool) {
        let names = record.file.len() + record.function.len() + 2;
        let len = HEADER_BYTES + names + record.text.len();
        let out = &mut self.bytes[self.used..self.used + len];
        let (header, body) = out.split_at_mut(HEADER_BYTES);
        pack_header(header, record, time_us, first, len, (self.cpu, self.context));
        let (file, rest) = body.split_at_mut(record.file.len() + 1);
        let (function, text) = rest.split_at_mut(record.function.len() + 1);
        put_c_string(file, &record.file);
        put_c_string(function, &record.function);
        text.copy_from_slice(&record.text);

        self.used += len;
        if self.records == 0 {
            self.first_us = time_us;
        }
        self.last_us = time_us;
        self.records += 1;
        self.handled_rpcs += u32::from(record.text.starts_with(HANDLED));
    }
}

/// Bytes of a record besides its text.
pub(super) fn known_bytes(record: &SimRecord) -> usize {
    HEADER_BYTES + record.file.len() + 1 + record.function.len() + 1
}

fn put_c_string(out: &mut [u8], text: &[u8]) {
    out[..text.len()].copy_from_slice(text);
    out[text.len()] = 0;
}

/// `struct ptldebug_header`, packed, little-endian as on the servers that this simulates.
fn pack_header(out: &mut [u8], record: &SimRecord, time_us: i64, first: bool, len: usize, (cpu, context): (u16, u16)) {
    // The kernel keeps 32 bits of the seconds and prints them unsigned.
    let seconds = (time_us.div_euclid(1_000_000) & i64::from(u32::MAX)).to_le_bytes();
    out[0..4].copy_from_slice(&u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes());
    out[4..8].copy_from_slice(&u32::from(first).to_le_bytes());
    out[8..12].copy_from_slice(&record.subsystem.to_le_bytes());
    out[12..16].copy_from_slice(&record.mask.to_le_bytes());
    out[16..18].copy_from_slice(&cpu.to_le_bytes());
    out[18..20].copy_from_slice(&context.to_le_bytes());
    out[20..24].copy_from_slice(&seconds[..4]);
    out[24..32].copy_from_slice(&time_us.rem_euclid(1_000_000).to_le_bytes());
    // Stack in use: always 0 on x86_64.
    out[32..36].fill(0);
    out[36..40].copy_from_slice(&record.pid.to_le_bytes());
    // "Host pid": always 0 on Linux.
    out[40..44].fill(0);
    out[44..48].copy_from_slice(&record.line.to_le_bytes());
}
