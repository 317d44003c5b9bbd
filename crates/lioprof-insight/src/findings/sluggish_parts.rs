//! `sluggish-ost` by the parts of service times: a slow disk is one OST's, a slow link all OSTs' of a server.

use lioprof_model::units::few;
use lioprof_model::{Confidence, Finding, ServerParts, Severity};

use super::load::{Ost, alone_together_s, interval, seconds, span};
use super::rule::{Case, Cost, Draft, median, real, share};
use super::slow_part::{SlowPart, Which};

/// What the parts say.
#[derive(Default)]
pub(super) struct ByParts {
    pub(super) found: Vec<Finding>,
    /// What looks slow, and may be chance: a sentence for each.
    pub(super) perhaps: Vec<String>,
}

/// Servers whose link, and OSTs whose disk is slow. `alone_s`: what each OST did while all others were idle.
pub(super) fn by_parts(case: &Case<'_>, osts: &[Ost<'_>], alone_s: &[f64]) -> ByParts {
    let all = &case.analysis.service_parts;
    let mut told = ByParts::default();
    for server in &all.servers {
        let own: Vec<usize> = (0..osts.len()).filter(|&index| osts[index].node == server.node).collect();
        if own.len() < 2 || told.found.iter().any(|it: &Finding| it.nodes.contains(&server.node)) {
            continue; // One OST: a server's link cannot be told from that OST.
        }
        let transfer = SlowPart::of(case, &server.parts).into_iter().find(|(slow, _)| slow.which == Which::Transfer);
        let Some((slow, certain)) = transfer.filter(|_| delivers_less(case, osts, &own)) else { continue };
        if certain {
            told.found.push(link(case, osts, &own, &slow));
        } else {
            let many = slow.parts.direction.requests();
            told.perhaps.push(format!(
                "data of {many} take {:.1} times as long with server {} as with others, but with its {} {many} that may be chance",
                slow.ratio, server.node, slow.against.rpcs
            ));
        }
    }
    for target in &all.targets {
        let Some(ost) =
            osts.iter().position(|ost| Some(ost.name) == target.target.as_deref() && ost.node == target.node)
        else {
            continue;
        };
        if told.found.iter().any(|it| it.targets.iter().any(|name| name == osts[ost].name)) {
            continue;
        }
        let disks = SlowPart::of(case, &target.parts).into_iter().find(|(slow, _)| slow.which != Which::Transfer);
        let Some((slow, certain)) = disks.filter(|_| delivers_less(case, osts, &[ost])) else { continue };
        if certain {
            told.found.push(disk(case, osts, ost, alone_s[ost], &slow));
        } else {
            told.perhaps.push(format!(
                "{} takes {:.1} times as long on OST {} as on others, but with {} {} that may be chance",
                slow.what(),
                slow.ratio,
                osts[ost].name,
                slow.against.rpcs,
                slow.parts.direction.requests()
            ));
        }
    }
    for server in all.servers.iter().filter(|server| server.apart) {
        told.found.extend(apart(case, osts, server));
    }
    told
}

/// A note: all OSTs of a server are of another kind, or look like it.
fn apart(case: &Case<'_>, osts: &[Ost<'_>], server: &ServerParts) -> Option<Finding> {
    let slow = SlowPart::of(case, &server.parts).into_iter().find(|(slow, _)| slow.which != Which::Transfer)?.0;
    let names: Vec<&str> = osts.iter().filter(|ost| ost.node == server.node).map(|ost| ost.name).collect();
    let takes = if names.len() == 1 { "takes" } else { "take" };
    let title = format!(
        "{} of {} {takes} {:.1} times as long as those of other servers for {}, as another type of OSD does",
        few(&names),
        server.node,
        slow.ratio,
        slow.what()
    );
    let draft = case
        .finding(Severity::Info, Confidence::Medium, title)
        .explain(format!(
            "Not one OST but all of {} that were used take so long for the same clients' {} of the same sizes (in brackets: other servers): \
             {}. OSTs on ZFS take several times as long as such on ldiskfs for small direct writes and for syncs. So they are compared with \
             each other only, and no disk is called slow for it.",
            server.node,
            slow.parts.direction.requests(),
            slow.in_words(),
        ))
        .targets(names)
        .nodes([server.node.as_str()])
        .remedy(format!("Is it so in a run that was well (`lioprof compare`)? Which type of OSD has {}: `lctl get_param osd-*.*.fstype`?", server.node))
        .remedy("Send larger requests: what a single one takes longer matters less.");
    Some(slow.evidence(draft).done())
}

/// Whether each of these moves fewer bytes while it is busy than the others. Many requests at a time take longer each, but not together.
fn delivers_less(case: &Case<'_>, osts: &[Ost<'_>], own: &[usize]) -> bool {
    let rate = |ost: &Ost<'_>| {
        let work = ost.work(case.analysis.series.bin_s, 0..ost.series.rpcs.len());
        share(work.bytes, work.busy_s)
    };
    let peers = osts.iter().enumerate().filter(|(index, _)| !own.contains(index)).map(|(_, ost)| rate(ost));
    let Some(peers) = median(peers) else { return false };
    own.iter().all(|&index| peers >= case.limit("part_rate_ratio") * rate(&osts[index]))
}

fn link(case: &Case<'_>, osts: &[Ost<'_>], own: &[usize], slow: &SlowPart<'_>) -> Finding {
    let node = osts[own[0]].node;
    let peers = case.analysis.service_parts.servers.len() - 1;
    let alone_s = alone_together_s(osts, case.analysis.series.bin_s, own);
    let title = format!("The network of server {node} is slow: {}", slow.than_peers("at other servers"));
    begun(case, osts, (peers, alone_s), slow, title)
        .explain(format!(
            "Of the service time of {}, all {} OSTs of {node} together, these are the parts (in brackets: other servers, the same clients \
             and sizes): {}. All clients' data are slow, on all of its OSTs, so it is the server's link rather than a disk or a client. Its \
             OSTs worked alone for {alone_s:.2} s.",
            slow.parts.direction.requests(),
            own.len(),
            slow.in_words(),
        ))
        .targets(own.iter().map(|&index| osts[index].name))
        .nodes([node])
        .interval(span(osts).map(|span| interval(case.analysis, span)))
        .remedy(format!(
            "Look at the network of {node}: errors and speed of its links (`lnetctl net show -v`, `lnetctl stats show`, `ethtool`, \
             `ibqueryerrors`), switch ports, routers, CPU of its LNet threads."
        ))
        .remedy("Measure it with lnet-selftest between this server and several clients.")
        .done()
}

fn disk(case: &Case<'_>, osts: &[Ost<'_>], ost: usize, alone_s: f64, slow: &SlowPart<'_>) -> Finding {
    let name = osts[ost].name;
    let title = format!("The disk of {name} ({}) is slow: {}", osts[ost].node, slow.than_peers("on the other OSTs"));
    begun(case, osts, (osts.len() - 1, alone_s), slow, title)
        .explain(format!(
            "These are the parts of the service time of its {} (in brackets: the other OSTs, the same clients and sizes): {}. The data \
             moved as fast as elsewhere, so it is what lies below {name}, not the network. It worked alone for {alone_s:.2} s.",
            slow.parts.direction.requests(),
            slow.in_words(),
        ))
        .targets([name])
        .nodes([osts[ost].node])
        .interval(osts[ost].span().map(|span| interval(case.analysis, span)))
        .remedies_of_device(name)
        .done()
}

impl Draft {
    /// What to do about an OST whose device is slow.
    pub(super) fn remedies_of_device(self, name: &str) -> Self {
        self.remedy(format!(
            "Look at the device below {name}: RAID rebuild, failing disk, full or fragmented file system (`lctl get_param \
             osd-*.{name}.brw_stats`, `iostat -x`, `lfs df`)."
        ))
        .remedy(format!(
            "Until then keep new files off it: on the MDS `lctl set_param osp.{name}-osc-MDT*.max_create_count=0`, and move hot files with \
             `lfs migrate`."
        ))
        .remedy("Measure it alone with obdfilter-survey and pass the result with `--baseline`.")
    }
}

/// What both have in common. One peer says that the two differ, not which of them is odd.
fn begun(
    case: &Case<'_>,
    osts: &[Ost<'_>],
    (peers, alone_s): (usize, f64),
    slow: &SlowPart<'_>,
    title: String,
) -> Draft {
    let whole_s = span(osts).map_or(0.0, |span| seconds(interval(case.analysis, span)));
    let critical = share(alone_s, whole_s) >= case.limit("critical_share");
    let severity = if critical { Severity::Critical } else { Severity::Warning };
    // A faster one would have saved what it did alone, as far as the part makes up its service.
    let service_s = slow.parts.mean_service_us() / 1e6;
    let longer = share(slow.longer_s, service_s * real(slow.against.rpcs)).min(1.0);
    let confidence = if peers >= 2 { Confidence::High } else { Confidence::Medium };
    slow.evidence(case.finding(severity, confidence, title))
        .evidence("alone_s", alone_s)
        .cost(alone_s * longer, Cost::WallTime)
}
