//! LNet's interfaces, peers and counters (lnet `lnet_debugfs.c`, `router_proc.c` before 2.17).

use lioprof_params::Tree;

use crate::facts::{Fact, LnetFacts, LnetInterface};

/// Where LNet's files are: debugfs, `/proc/sys/lnet` on 2.10.
const PLACES: [&str; 2] = ["/sys/kernel/debug/lnet", "/proc/sys/lnet"];

pub(super) fn read(tree: &mut Tree) -> Fact<LnetFacts> {
    let read = |tree: &mut Tree, file: &str| {
        PLACES.iter().find_map(|place| tree.read_path(&tree.node_path(&format!("{place}/{file}"))))
    };
    let Some(nis) = read(tree, "nis").filter(|text| text.starts_with("nid")) else {
        return Fact::Unknown(
            "cannot read `/sys/kernel/debug/lnet/nis`: is LNet loaded, and debugfs mounted?".to_owned(),
        );
    };
    let peers = read(tree, "peers").unwrap_or_default();
    let counters: Vec<Option<u64>> =
        read(tree, "stats").unwrap_or_default().split_ascii_whitespace().map(|word| word.parse().ok()).collect();
    // allocated, most allocated, errors, sent, received, routed, dropped, and bytes of the last four.
    let counter = |at: usize| (counters.len() >= 11).then(|| counters.get(at).copied().flatten()).flatten();
    Fact::Known(LnetFacts {
        interfaces: interfaces(&nis),
        peers_down: peers_down(&peers),
        errors: counter(2),
        received: counter(4),
        dropped: counter(6),
    })
}

/// `10.10.0.2@tcp  up  -1  1  8  0  256  256  245`, a line for each CPU partition.
fn interfaces(text: &str) -> Vec<LnetInterface> {
    let mut interfaces: Vec<LnetInterface> = Vec::new();
    for line in text.lines().skip(1) {
        let mut words = line.split_ascii_whitespace();
        let (Some(nid), Some(status)) = (words.next(), words.next()) else { continue };
        if nid.contains('@') && interfaces.iter().all(|known| known.nid != nid) {
            interfaces.push(LnetInterface { nid: nid.to_owned(), status: status.to_owned() });
        }
    }
    interfaces
}

/// `10.10.0.12@tcp  1  NA  -1 ..`: `down` is known of routers, and of peers whose health is checked.
fn peers_down(text: &str) -> Vec<String> {
    let down = |line: &str| {
        let words: Vec<&str> = line.split_ascii_whitespace().take(3).collect();
        (words.get(2) == Some(&"down")).then(|| words.first().map(|nid| (*nid).to_owned())).flatten()
    };
    let mut peers: Vec<String> = text.lines().skip(1).filter_map(down).collect();
    peers.sort();
    peers.dedup();
    peers
}
