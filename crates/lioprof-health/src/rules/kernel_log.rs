//! Evictions and errors of the last day.

use lioprof_model::time::utc_short;
use lioprof_model::units::{duration_us, plural};

use super::rule::{Draft, Rule};
use crate::facts::{KernelLogFacts, KernelMessages, MessageKind, ServerFacts};
use crate::outcome::Status::{self, Critical, Warning};

/// Errors a day that are nothing unusual: a mount alone logs a few.
const FEW_ERRORS: u64 = 10;

pub(super) const SEVERE: Rule = Rule {
    id: "kernel_severe",
    title: "LBUGs, disk errors, hung threads (24 h)",
    noun: "server",
    expected: "none in the kernel log",
    remedy: "See `dmesg -T`. Replace the disk, run `e2fsck` on the target, or reboot the server, before anything large depends on it.",
    check: severe,
};

fn severe(servers: &[ServerFacts], draft: &mut Draft) {
    const KINDS: [(MessageKind, Status, &str); 3] = [
        (MessageKind::Lbug, Critical, "LBUG"),
        (MessageKind::Disk, Critical, "disk error"),
        (MessageKind::HungThread, Warning, "hung thread"),
    ];
    of_kinds(servers, draft, &KINDS);
}

pub(super) const EVICTIONS: Rule = Rule {
    id: "evictions",
    title: "evictions (24 h)",
    noun: "server",
    expected: "none in the kernel log",
    remedy: "An evicted client loses what it had not yet written. Look at the client and its network; docs/locks.md says how a lock \
             callback times out.",
    check: evictions,
};

fn evictions(servers: &[ServerFacts], draft: &mut Draft) {
    of_kinds(servers, draft, &[(MessageKind::Eviction, Warning, "eviction")]);
}

pub(super) const ERRORS: Rule = Rule {
    id: "kernel_errors",
    title: "other Lustre and LNet errors (24 h)",
    noun: "server",
    expected: "fewer than 10 a day of each kind in the kernel log (a mount alone logs a few)",
    remedy: "See `dmesg -T | grep -E 'LustreError|LNetError'`.",
    check: errors,
};

fn errors(servers: &[ServerFacts], draft: &mut Draft) {
    const KINDS: [(MessageKind, Status, &str); 2] =
        [(MessageKind::Lnet, Warning, "LNetError"), (MessageKind::Lustre, Warning, "LustreError")];
    of_kinds(servers, draft, &KINDS);
}

fn of_kinds(servers: &[ServerFacts], draft: &mut Draft, kinds: &[(MessageKind, Status, &str)]) {
    for facts in servers {
        let Some(log) = draft.fact(&facts.kernel_log, &facts.server, "") else { continue };
        let wrong: Vec<(&KernelMessages, Status, &str)> =
            kinds.iter().filter_map(|&(kind, status, noun)| Some((many(log, kind)?, status, noun))).collect();
        for (messages, status, noun) in &wrong {
            let last = match messages.last_us {
                Some(us) => format!("at {}", utc_short(us)),
                None if messages.before_end_us == 0 => "at the end of the log".to_owned(),
                None => format!("{} before the end of the log", duration_us(messages.before_end_us as f64)),
            };
            let found = format!("{}, last {last}: {}", plural(messages.count, noun), messages.last.trim());
            draft.wrong(*status, &facts.server, "", found);
        }
        draft.summary("none");
        if wrong.is_empty() && log.cut {
            let hours = log.covers_s / 3600;
            draft.unknown(
                &facts.server,
                "",
                format!("none, but the kernel log goes back only {}", plural(hours, "hour")),
            );
        } else if wrong.is_empty() {
            draft.fine();
        }
    }
}

/// Messages of a kind, if they are more than usual.
fn many(log: &KernelLogFacts, kind: MessageKind) -> Option<&KernelMessages> {
    let usual = if matches!(kind, MessageKind::Lnet | MessageKind::Lustre) { FEW_ERRORS } else { 1 };
    log.messages.iter().find(|messages| messages.kind == kind && messages.count >= usual)
}
