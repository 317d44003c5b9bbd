//! Each client's bytes and times: two of nine kinds of lines are searched for, and six fields of them read and added up.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;

use memchr::memmem::Finder;
use rustc_hash::FxHashMap;

use super::{END, EXTENT, Extent, Rpc, behind, lines, lines_with, number};

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
        let (ends, extents) = (Finder::new(END), Finder::new(EXTENT));
        let mut clients = Clients::default();
        lines(file, |text| {
            // An RPC's bytes are known before its end; a line that is not as expected is none.
            for (_, line) in lines_with(&extents, text) {
                let _read = clients.extent(line);
            }
            for (_, line) in lines_with(&ends, text) {
                let _read = clients.end(line);
            }
        })?;
        Ok(clients)
    }

    fn extent(&mut self, line: &[u8]) -> Option<()> {
        let extent = Extent::read(line)?;
        self.bytes_of_xid.insert(extent.xid, extent.end + 1 - extent.start);
        Some(())
    }

    fn end(&mut self, line: &[u8]) -> Option<()> {
        let Rpc { xid, nid, opcode, rest } = Rpc::read(line)?;
        let (service_us, _) = number(behind(rest, b' ')?.get("Request processed in ".len()..)?);
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
