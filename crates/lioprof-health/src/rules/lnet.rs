//! LNet.

use lioprof_model::units::{percent, share};

use super::rule::{Draft, Rule};
use crate::facts::ServerFacts;
use crate::outcome::Status::{Critical, Warning};

/// Share of the messages received that may be dropped: replies that come too late are, on a healthy network, too.
const DROPPED: f64 = 0.001;
/// Fewer are no reason for a warning, whatever their share.
const FEW_DROPPED: u64 = 10;

pub(super) const INTERFACES: Rule = Rule {
    id: "lnet_interfaces",
    title: "LNet interfaces, routers, peers up",
    noun: "interface",
    expected: "every interface `up` in /sys/kernel/debug/lnet/nis, no peer `down`",
    remedy: "See `lnetctl net show -v`, `ip link`, `ibstat`.",
    check: interfaces,
};

fn interfaces(servers: &[ServerFacts], draft: &mut Draft) {
    for facts in servers {
        let Some(lnet) = draft.fact(&facts.lnet, &facts.server, "") else { continue };
        for interface in lnet.interfaces.iter().filter(|interface| !interface.nid.ends_with("@lo")) {
            let found = || (Critical, format!("{} is {}", interface.nid, interface.status));
            draft.judge(&facts.server, "", (interface.status != "up").then(found));
        }
        if lnet.interfaces.iter().all(|interface| interface.nid.ends_with("@lo")) {
            draft.wrong(Critical, &facts.server, "", "LNet has no interface but the loopback");
        }
        if !lnet.peers_down.is_empty() {
            draft.wrong(Warning, &facts.server, "", format!("peers down: {}", lnet.peers_down.join(", ")));
        }
    }
}

pub(super) const DROPS: Rule = Rule {
    id: "lnet_drops",
    title: "LNet messages lost",
    noun: "server",
    expected: "no errors and at most 0.1 % of messages dropped since LNet was loaded (/sys/kernel/debug/lnet/stats)",
    remedy: "See `lnetctl stats show`, `lnetctl net show -v 4` for the interface, and errors of the link itself (`ip -s link`, \
             `perfquery`). The counters start with the module: compare after some time.",
    check: drops,
};

fn drops(servers: &[ServerFacts], draft: &mut Draft) {
    for facts in servers {
        let Some(lnet) = draft.fact(&facts.lnet, &facts.server, "") else { continue };
        let (Some(errors), Some(received), Some(dropped)) = (lnet.errors, lnet.received, lnet.dropped) else {
            draft.unknown(&facts.server, "", "cannot read /sys/kernel/debug/lnet/stats");
            continue;
        };
        let lost = share(dropped, received);
        let many = errors > 0 || (dropped >= FEW_DROPPED && lost > DROPPED);
        let found = || format!("{errors} errors, {dropped} of {received} messages dropped ({})", percent(lost, 2));
        draft.judge(&facts.server, "", many.then(|| (Warning, found())));
    }
}
