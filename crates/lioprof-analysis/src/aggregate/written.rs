//! Of which OST a sync is: no line of a log names it.

use lioprof_model::{RpcRow, Symbol};
use lustre_debuglog::TargetName;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// An OST to which a client has not written since so many of its syncs on the server is none that it syncs now: the processes of a client
/// sync their files by turns.
const SYNCS: usize = 8;

/// To which OSTs of a server each client has written.
#[derive(Clone, Debug, Default)]
pub(super) struct Written {
    clients: FxHashMap<Symbol, OfClient>,
}

#[derive(Clone, Debug, Default)]
struct OfClient {
    /// When the last write to each OST was over; `None`: to one that is not known.
    osts: SmallVec<[(Option<TargetName>, i64); 2]>,
    /// When the last syncs were over, in the order in which they were: some of them after one that takes long has come.
    synced_us: Vec<i64>,
}

impl Written {
    /// Notes a write.
    pub(super) fn write(&mut self, row: &RpcRow) {
        let osts = &mut self.clients.entry(row.nid).or_default().osts;
        match osts.iter_mut().find(|(ost, _)| *ost == row.target) {
            Some((_, end_us)) => *end_us = (*end_us).max(row.end_us),
            None => osts.push((row.target, row.end_us)),
        }
    }

    /// The OST of a sync: the only one to which its client has written of late.
    pub(super) fn sync(&mut self, row: &RpcRow) -> Option<TargetName> {
        let client = self.clients.get_mut(&row.nid)?;
        let arrival_us = row.arrival_us()?;
        let before = client.synced_us.iter().filter(|end_us| **end_us <= arrival_us).count();
        let since_us = before.checked_sub(SYNCS).map_or(i64::MIN, |first| client.synced_us[first]);
        let mut of_late = client.osts.iter().filter(|(_, end_us)| *end_us > since_us).map(|(ost, _)| *ost);
        let only = of_late.next().filter(|_| of_late.next().is_none()).flatten();
        // As many again may be over while one takes long.
        if client.synced_us.len() >= 4 * SYNCS {
            client.synced_us.drain(..SYNCS);
        }
        client.synced_us.push(row.end_us);
        only
    }

    /// No more rows of the node will come.
    pub(super) fn keep_little(&mut self) {
        self.clients = FxHashMap::default();
    }
}

#[cfg(test)]
mod tests {
    use lustre_debuglog::Opcode;

    use super::*;

    fn row(opcode: Opcode, target: Option<&str>, [arrival_us, end_us]: [i64; 2]) -> RpcRow {
        let total_us = Some(end_us.abs_diff(arrival_us));
        let target = target.map(|name| name.parse().expect("a target's name"));
        RpcRow { target, total_us, ..RpcRow::made_up(Symbol(0), opcode, end_us) }
    }

    #[test]
    fn the_only_ost_written_to_is_synced() {
        let mut written = Written::default();
        let write = |written: &mut Written, ost: &str, at_us: i64| {
            written.write(&row(Opcode::OST_WRITE, Some(ost), [at_us - 1, at_us]));
        };
        let sync = |written: &mut Written, times: [i64; 2]| {
            written.sync(&row(Opcode::OST_SYNC, None, times)).map(|name| name.to_string())
        };
        assert_eq!(sync(&mut written, [1, 2]), None);
        write(&mut written, "a-OST0002", 5);
        assert_eq!(sync(&mut written, [6, 7]).as_deref(), Some("a-OST0002"));
        write(&mut written, "a-OST0003", 8);
        // Of a file on either; and of the first one still, though only the second one was written to since the last sync.
        assert_eq!(sync(&mut written, [9, 10]), None);
        // Until it is too long ago.
        for at in (20..).step_by(10).take(SYNCS - 2) {
            write(&mut written, "a-OST0003", at);
            assert_eq!(sync(&mut written, [at + 1, at + 2]), None);
        }
        write(&mut written, "a-OST0003", 200);
        assert_eq!(sync(&mut written, [201, 202]).as_deref(), Some("a-OST0003"));
        // One that came before all of these and took as long as they: of either.
        assert_eq!(sync(&mut written, [9, 300]), None);
    }
}
