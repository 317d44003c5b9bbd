//! The lines above the lists: how much is going on, and what is wrong.

use lioprof_model::live::LiveServer;
use lioprof_model::time::utc_of;
use lioprof_model::units::{mib, plural, three_digits};
use lioprof_model::{Live, Severity};

use crate::clean::clean;

/// A log is read within seconds; after this time something hinders.
const LATE_S: f64 = 15.0;

/// What all servers do together, and when that was.
pub(crate) fn totals(live: &Live) -> String {
    let known = || live.servers.iter().filter(|server| server.error.is_none());
    let servers = match live.servers.as_slice() {
        [one] => clean(&one.name),
        many => plural(many.len() as u64, "server"),
    };
    if known().next().is_none() {
        return format!("{servers}: no answer");
    }
    let sum = |figure: fn(&LiveServer) -> Option<f64>| known().filter_map(figure).sum::<f64>();
    let (rpcs, read, write) = (
        sum(|server| Some(server.rpcs_per_s)),
        sum(|server| server.read.bytes_per_s),
        sum(|server| server.write.bytes_per_s),
    );
    let decoded = || known().filter(|server| has_decoded(server));
    let to = decoded().map(|server| server.to).reduce(f64::min);
    let until = to.map_or_else(
        || "nothing decoded yet".to_owned(),
        |to| {
            let behind = decoded().map(|server| server.now - server.to).fold(0.0, f64::max);
            format!("until {} ({behind:.0} s ago)", time_of_day(to))
        },
    );
    format!("{servers}  {} RPCs/s  read {} MiB/s  write {} MiB/s  {until}", three_digits(rpcs), mib(read), mib(write))
}

/// The worst verdict of all servers.
pub(crate) fn verdict(live: &Live) -> (Option<Severity>, String) {
    let judged = live.servers.iter().filter_map(|server| Some((server, server.verdict.as_ref()?)));
    let Some((server, worst)) = judged.clone().max_by(|(a, mine), (b, theirs)| {
        // Of equals, the first one by name.
        mine.severity.cmp(&theirs.severity).then_with(|| b.name.cmp(&a.name))
    }) else {
        let has_answers = live.servers.iter().any(|server| server.error.is_none());
        let why =
            if has_answers { "No verdict yet: the first window is not over" } else { "No verdict: no server answers" };
        return (None, why.to_owned());
    };
    let troubled = judged.filter(|(_, verdict)| verdict.severity > Some(Severity::Info)).count() as u64;
    let name = if live.servers.len() > 1 { format!("{}, ", clean(&server.name)) } else { String::new() };
    let more = match troubled.saturating_sub(1) {
        0 => String::new(),
        more => format!(" [and {} in trouble]", plural(more, "other server")),
    };
    let span = format!("{} to {}", time_of_day(worst.from), time_of_day(worst.to));
    (worst.severity, format!("{name}{span}: {}{more}", clean(&worst.text)))
}

/// What hinders: servers that do not answer, or are not traced all the time.
pub(crate) fn troubles(live: &Live) -> Vec<String> {
    let trouble = |server: &LiveServer| {
        let name = clean(&server.name);
        if let Some(error) = &server.error {
            return Some(format!("{name}: {}", clean(error)));
        }
        match server.state.as_str() {
            "" | "tracing" if !has_decoded(server) => Some(format!("{name}: nothing is decoded yet")),
            state if !has_decoded(server) => {
                Some(format!("{name}: {}; nothing is decoded yet", clean(&state.replace('_', " "))))
            }
            "" | "tracing" if server.now - server.to > LATE_S => Some(format!(
                "{name}: what is shown is {:.0} s old: decoding is behind, or nothing was logged since",
                server.now - server.to
            )),
            "" | "tracing" => None,
            state => Some(format!(
                "{name}: {}; {} s of the last {:.0} s are known",
                clean(&state.replace('_', " ")),
                three_digits(server.traced_s),
                server.to - server.from
            )),
        }
    };
    live.servers.iter().filter_map(trouble).collect()
}

/// Whether there was anything in its log so far.
fn has_decoded(server: &LiveServer) -> bool {
    server.to > 0.0
}

/// `08:51:22`, UTC.
fn time_of_day(unix_s: f64) -> String {
    utc_of(unix_s).split('T').nth(1).unwrap_or_default().trim_end_matches('Z').to_owned()
}
