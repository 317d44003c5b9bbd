//! Before a recording: every host is looked at, and nothing is changed.

use std::collections::BTreeMap;

use lioprof_capture::doctor::{Check, Status};
use lioprof_model::ClockReading;
use lioprof_remote::{Ssh, on_all};
use lioprof_text::wrapped;

use crate::connection::{Agent, CHECKED_WITHIN, unexpected};
use crate::error::HostError;
use crate::host::Host;
use crate::plan::Plan;
use crate::protocol::{CaptureOptions, Reply, Request};
use crate::push::{self, Copy};
use crate::state::HostRecord;

/// Hosts that are looked at together; each takes an ssh process here.
pub(crate) const AT_ONCE: usize = 64;
/// A clock that is further off is worth a word.
const CLOCK_IS_OFF_US: i64 = 1_000_000;

/// What was found of a host.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) host: Host,
    /// Why it cannot be recorded, each with what to do.
    pub(crate) problems: Vec<String>,
    /// What is worth knowing.
    pub(crate) notes: Vec<String>,
}

/// Looks at all hosts.
pub(crate) async fn survey(plan: &Plan, id: &str, options: &CaptureOptions, copy: Option<&Copy>) -> Vec<Candidate> {
    let mut candidates = on_all(plan.hosts.names().to_vec(), AT_ONCE, |name| {
        let (ssh, program, copy) = (plan.ssh.clone(), plan.remote_lioprof.clone(), copy.cloned());
        let request = Request::Survey { id: id.to_owned(), options: options.clone() };
        async move { look(&ssh, &name, &program, copy, &request).await }
    })
    .await;
    name_twins(&mut candidates);
    candidates
}

async fn look(ssh: &Ssh, name: &str, program: &str, copy: Option<Copy>, request: &Request) -> Candidate {
    let mut record = HostRecord::new(name, program);
    let (mut problems, mut notes) = (Vec::new(), Vec::new());
    let can_push = copy.is_some();
    let agent = match connect(ssh, &mut record, copy, request).await {
        Ok((agent, checks)) => {
            problems.extend(checks.iter().filter(|check| check.status == Status::Failed).map(of_check));
            notes.extend(checks.iter().filter(|check| check.status == Status::Warning).map(of_check));
            notes.extend(record.clocks.last().copied().and_then(of_clock));
            Some(agent)
        }
        Err(err) => {
            let advice = if err.is_of_program() && !can_push { "; or let --push copy this lioprof there" } else { "" };
            problems.push(format!("{err}{advice}"));
            None
        }
    };
    Candidate { host: Host::new(record, agent), problems, notes }
}

async fn connect(
    ssh: &Ssh,
    record: &mut HostRecord,
    copy: Option<Copy>,
    request: &Request,
) -> Result<(Agent, Vec<Check>), HostError> {
    let agent = Agent::connect(ssh, &record.host, &record.program).await;
    let mut agent = match (agent, copy) {
        (Err(err), Some(copy)) if err.is_of_program() => {
            let folder = copy.push(ssh, &record.host).await?;
            record.program = push::program_in(&folder);
            record.pushed = Some(folder);
            Agent::connect(ssh, &record.host, &record.program).await?
        }
        (agent, _) => agent?,
    };
    let Reply::Survey(survey) = agent.ask(request, CHECKED_WITHIN).await? else { return Err(unexpected()) };
    record.clocks.push(agent.clock().await?);
    record.node = survey.node;
    record.directory = survey.directory;
    Ok((agent, survey.checks))
}

fn of_check(check: &Check) -> String {
    let remedy = if check.remedy.is_empty() { String::new() } else { format!(" -> {}", check.remedy) };
    format!("{}: {}{remedy}", check.title, check.found)
}

fn of_clock(clock: ClockReading) -> Option<String> {
    let certain_us = clock.ahead_us.abs() - clock.error_us;
    (certain_us > CLOCK_IS_OFF_US).then(|| {
        let which = if clock.ahead_us > 0 { "ahead of" } else { "behind" };
        format!("its clock is {:.1} s {which} this machine's", lioprof_model::units::seconds(clock.ahead_us.abs()))
    })
}

/// Two nodes of the same name would be one in the data.
fn name_twins(candidates: &mut [Candidate]) {
    let mut by_node: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for candidate in candidates.iter().filter(|candidate| !candidate.host.record.node.is_empty()) {
        let record = &candidate.host.record;
        by_node.entry(record.node.clone()).or_default().push(record.host.clone());
    }
    for candidate in candidates {
        let record = &candidate.host.record;
        let others = by_node.get(&record.node).into_iter().flatten().filter(|name| **name != record.host);
        let others: Vec<&str> = others.map(String::as_str).collect();
        if !others.is_empty() {
            candidate.problems.push(format!(
                "it calls itself `{}`, as {} does -> Set node.name in /etc/lioprof/lioprof.toml, or name each server once.",
                record.node,
                others.join(", ")
            ));
        }
    }
}

/// A paragraph for each host that has something of a kind.
pub(crate) fn table<'a>(of: impl IntoIterator<Item = (&'a str, &'a [String])>) -> String {
    let of: Vec<_> = of.into_iter().filter(|(_, texts)| !texts.is_empty()).collect();
    let width = of.iter().map(|(host, _)| host.len()).max().unwrap_or_default();
    let mut out = String::new();
    for (host, texts) in of {
        for (number, text) in texts.iter().enumerate() {
            let first = format!("  {:<width$}  ", if number == 0 { host } else { "" });
            let rest = " ".repeat(first.len());
            // What doctor says comes in paragraphs of its own.
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            out.push_str(&wrapped(&text, &first, &rest));
        }
    }
    out.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_are_one_in_the_data_are_told_apart() {
        let candidate = |host: &str, node: &str| {
            let record = HostRecord { node: node.to_owned(), ..HostRecord::new(host, "lioprof") };
            Candidate { host: Host::new(record, None), problems: Vec::new(), notes: Vec::new() }
        };
        let mut all = [candidate("a", "oss1"), candidate("b", "oss2"), candidate("c", "oss1"), candidate("d", "")];
        name_twins(&mut all);
        let wrong: Vec<&str> =
            all.iter().filter(|it| !it.problems.is_empty()).map(|it| it.host.record.host.as_str()).collect();
        assert_eq!(wrong, ["a", "c"]);
        assert!(all[0].problems[0].contains("as c does"), "{:?}", all[0].problems);
    }

    #[test]
    fn a_clock_is_off_if_that_is_certain() {
        let said = |ahead_us, error_us| of_clock(ClockReading { at_us: 0, ahead_us, error_us });
        assert_eq!(said(2_000_000, 100), Some("its clock is 2.0 s ahead of this machine's".to_owned()));
        assert_eq!(said(-90_000_000, 100), Some("its clock is 90.0 s behind this machine's".to_owned()));
        assert_eq!(said(2_000_000, 1_500_000), None);
    }

    #[test]
    fn the_table_names_each_host_once() {
        let texts = ["first".to_owned(), "second ".repeat(20)];
        let none: [String; 0] = [];
        let table = table([("oss1", &texts[..]), ("oss2", &none[..]), ("oss10", &texts[..1])]);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!((lines[0], lines[lines.len() - 1]), ("  oss1   first", "  oss10  first"));
        assert!(lines[1].starts_with("         second") && lines.iter().all(|line| line.len() <= 80), "{table}");
    }
}
