//! Whether targets serve.

use super::rule::{Draft, Rule};
use crate::facts::{Fact, ServerFacts, TargetFacts};
use crate::outcome::Status::{self, Critical, Warning};

pub(super) const HEALTH: Rule = Rule {
    id: "health",
    title: "Lustre's own health check",
    noun: "server",
    expected: "health_check: healthy",
    remedy: "See `dmesg`. A target whose disk failed, or an LBUG, needs a failover or a reboot of the server.",
    check: health,
};

fn health(servers: &[ServerFacts], draft: &mut Draft) {
    for facts in servers {
        let Some(text) = draft.fact(&facts.health, &facts.server, "") else { continue };
        draft.judge(&facts.server, "", (text != "healthy").then(|| (Critical, text.replace('\n', ", "))));
    }
}

pub(super) const TARGETS: Rule = Rule {
    id: "targets",
    title: "targets mounted and up",
    noun: "target",
    expected: "every target mounted, and its device UP",
    remedy: "Mount the target. `lctl dl` shows the states of devices.",
    check: targets,
};

fn targets(servers: &[ServerFacts], draft: &mut Draft) {
    for facts in servers {
        let Some(targets) = draft.fact(&facts.targets, &facts.server, "") else { continue };
        if targets.is_empty() {
            draft.wrong(Critical, &facts.server, "", "no target is mounted: is this a Lustre server?");
        }
        for target in targets {
            let (server, name) = (&facts.server, &target.name);
            match (&target.state, &target.mounted) {
                (Some(state), _) if state != "UP" => {
                    draft.wrong(Critical, server, name, format!("state {state} in the list of devices"));
                }
                // The MGS shares the mount of a target, and not every version says so in its options.
                (_, Fact::Known(false)) if target.kind != "mgs" => {
                    draft.wrong(Critical, server, name, "has a device, but is not in /proc/mounts");
                }
                (None, Fact::Unknown(why)) => draft.unknown(server, name, why),
                _ => draft.fine(),
            }
        }
    }
}

pub(super) const OSTS_OF_MDT: Rule = Rule {
    id: "mdt_osts",
    title: "OSTs connected to the MDTs",
    noun: "MDT-to-OST connection",
    expected: "every OST ACTIVE in lod.*.target_obd, and state FULL in osp.*.import",
    remedy: "Mount the OST, or check the network between the MDS and its OSS. Files get no objects there until then. An OST that was \
             removed for good can be deactivated with `lctl conf_param FSNAME-OSTxxxx.osc.active=0`.",
    check: osts_of_mdt,
};

fn osts_of_mdt(servers: &[ServerFacts], draft: &mut Draft) {
    for (facts, target) in all_targets(servers).filter(|(_, target)| target.kind == "mdt") {
        if target.osts.is_empty() {
            draft.unknown(&facts.server, &target.name, "cannot read lod.*.target_obd");
        }
        for ost in &target.osts {
            let wrong = match &ost.connection {
                _ if !ost.active => Some(format!("{} is INACTIVE", ost.name)),
                // An idle connection is made again when it is needed.
                Some(state) if !["FULL", "IDLE"].contains(&state.as_str()) => {
                    Some(format!("the connection to {} is {state}", ost.name))
                }
                _ => None,
            };
            draft.judge(&facts.server, &target.name, wrong.map(|found| (Critical, found)));
        }
    }
}

pub(super) const READ_ONLY: Rule = Rule {
    id: "read_only",
    title: "read-only targets",
    noun: "target",
    expected: "readonly=0",
    remedy: "`lctl set_param obdfilter.TARGET.readonly=0` (mdt.TARGET for an MDT) once the reason is known.",
    check: read_only,
};

fn read_only(servers: &[ServerFacts], draft: &mut Draft) {
    for (facts, target) in all_targets(servers).filter(|(_, target)| target.kind != "mgs") {
        let wrong = (Critical, "readonly=1: writes and creates fail");
        flag(draft, &facts.server, &target.name, &target.read_only, wrong);
    }
}

pub(super) const DEGRADED: Rule = Rule {
    id: "degraded",
    title: "degraded OSTs",
    noun: "OST",
    expected: "degraded=0",
    remedy: "The MDS avoids these OSTs for new files while their RAID rebuilds. Wait for the rebuild, then see that \
             `obdfilter.TARGET.degraded` is 0 again.",
    check: degraded,
};

fn degraded(servers: &[ServerFacts], draft: &mut Draft) {
    for (facts, target) in all_targets(servers).filter(|(_, target)| target.kind == "ost") {
        flag(draft, &facts.server, &target.name, &target.degraded, (Warning, "degraded=1"));
    }
}

/// Something that should be false.
fn flag(draft: &mut Draft, server: &str, target: &str, fact: &Fact<bool>, wrong: (Status, &str)) {
    if let Some(is_so) = draft.fact(fact, server, target) {
        draft.judge(server, target, is_so.then(|| (wrong.0, wrong.1.to_owned())));
    }
}

pub(super) const RECOVERY: Rule = Rule {
    id: "recovery",
    title: "targets in recovery",
    noun: "target",
    expected: "recovery_status: COMPLETE or INACTIVE",
    remedy: "Clients' requests wait until recovery ends. Wait, or end it with `lctl --device TARGET abort_recovery` if the clients that \
             are missing will not return.",
    check: recovery,
};

fn recovery(servers: &[ServerFacts], draft: &mut Draft) {
    for (facts, target) in all_targets(servers).filter(|(_, target)| target.kind != "mgs") {
        let Some(recovery) = draft.fact(&target.recovery, &facts.server, &target.name) else { continue };
        if ["COMPLETE", "INACTIVE"].contains(&recovery.status.as_str()) {
            draft.fine();
            continue;
        }
        let mut found = recovery.status.clone();
        if let Some(clients) = &recovery.clients {
            found += &format!(", {clients} clients");
        }
        if let Some(remaining_s) = recovery.time_remaining_s {
            found += &format!(", {remaining_s} s left");
        }
        draft.wrong(Critical, &facts.server, &target.name, found);
    }
}

/// All targets that are known.
pub(super) fn all_targets(servers: &[ServerFacts]) -> impl Iterator<Item = (&ServerFacts, &TargetFacts)> {
    servers.iter().flat_map(|facts| facts.targets.known().into_iter().flatten().map(move |target| (facts, target)))
}
