//! Compares the server's own counters with the rows of the same time: what was counted but has no row is lost.

use lioprof_model::counted::ledger::IoAccount;
use lioprof_model::{
    Counted, CountedIo, CountedRpcs, Ledger, LockEvent, Mark, RowSink, RowSource, RpcRow, SentRpc, Symbols,
};

/// Passes on all rows of a source, and compares them with its counters.
pub(crate) fn read(
    source: &mut dyn RowSource,
    symbols: &mut Symbols,
    sink: &mut dyn RowSink,
) -> (Result<(), String>, Counted) {
    let mut ledger = Ledger::default();
    let mut began = false;
    let counters = source.counters(&mut |snapshot| {
        // Nothing can begin where no counter is shown: an absent one may be 0, or may not have been read.
        began |= !(snapshot.services.is_empty() && snapshot.targets.is_empty());
        if began {
            ledger.sample(snapshot);
        }
    });
    ledger.end();
    let rows = if ledger.is_empty() {
        source.read(symbols, sink)
    } else {
        source.read(symbols, &mut Entered { ledger: &mut ledger, sink })
    };
    let result = match (rows, counters) {
        (Err(rows), Err(counters)) if rows != counters => Err(format!("{rows}; {counters}")),
        (Err(error), _) | (Ok(()), Err(error)) => Err(error),
        (Ok(()), Ok(())) => Ok(()),
    };
    (result, counted(&ledger))
}

fn counted(ledger: &Ledger) -> Counted {
    let services = ledger.services.by_key.iter().filter(|(_, account)| account.is_shown && account.is_compared());
    let targets = ledger.targets.by_key.iter().filter(|(_, account)| account.is_shown && account.is_compared());
    Counted {
        services: services
            .map(|(name, it)| (name.clone(), CountedRpcs { counted: it.counted, seen: it.inside, edge: it.edge }))
            .collect(),
        targets: targets.map(|(name, account)| (name.to_string(), io(account))).collect(),
        unattributed: CountedIo { counted_rpcs: 0, counted_bytes: 0, ..io(&ledger.unattributed) },
    }
}

/// Reads and writes together.
fn io(account: &IoAccount) -> CountedIo {
    let (counted, seen) = (account.counted.both(), account.inside.both());
    CountedIo {
        counted_rpcs: counted.rpcs,
        counted_bytes: counted.bytes,
        seen_rpcs: seen.rpcs,
        seen_bytes: seen.bytes,
        edge_rpcs: account.edge.both().rpcs,
    }
}

/// Enters rows while passing them on.
struct Entered<'a> {
    ledger: &'a mut Ledger,
    sink: &'a mut dyn RowSink,
}

impl RowSink for Entered<'_> {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        self.ledger.rpc(row, symbols);
        self.sink.rpc(row, symbols);
    }

    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        self.sink.lock_event(event, symbols);
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        self.sink.sent_rpc(sent, symbols);
    }

    fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
        self.sink.mark(mark, symbols);
    }
}
