//! What `lioprof record` shows while it records: a line for each host on a terminal, a line now and then elsewhere.

use std::io::{self, IsTerminal as _};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lioprof_model::units::{UNKNOWN, byte_rate, percent, plural, real};
use lioprof_record::{Progress, Tell};

use crate::messages::{self, Verbosity};

/// Between two lines where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(60);
/// Hosts that have a line of their own; a terminal has not many more.
const MOST_LINES: usize = 20;

pub(crate) struct Screen {
    verbosity: Verbosity,
    bar: Option<ProgressBar>,
    last_line: Mutex<Instant>,
}

impl Screen {
    pub(crate) fn new(verbosity: Verbosity) -> Self {
        let has_terminal = verbosity >= Verbosity::Normal && io::stderr().is_terminal();
        let bar = has_terminal.then(|| {
            let style = ProgressStyle::with_template("{msg}").expect("the template is a constant");
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style)
        });
        Self { verbosity, bar, last_line: Mutex::new(Instant::now()) }
    }
}

impl Tell for Screen {
    fn note(&self, text: &str) {
        let say = || messages::note(self.verbosity, text);
        match &self.bar {
            Some(bar) => bar.suspend(say),
            None => say(),
        }
    }

    fn progress(&self, hosts: &[Progress]) {
        if let Some(bar) = &self.bar {
            if hosts.is_empty() {
                bar.finish_and_clear();
            } else {
                bar.set_message(lines(hosts));
                bar.tick();
            }
            return;
        }
        if hosts.is_empty() {
            return;
        }
        let mut last_line = lioprof_model::lock(&self.last_line);
        if last_line.elapsed() >= LINE_EVERY {
            *last_line = Instant::now();
            messages::note(self.verbosity, &sum(hosts));
        }
    }
}

/// The hosts that need a look first, then the busiest.
fn lines(hosts: &[Progress]) -> String {
    let mut order: Vec<&Progress> = hosts.iter().collect();
    let is_well = |host: &Progress| host.state == "tracing";
    order.sort_by(|a, b| is_well(a).cmp(&is_well(b)).then(b.bytes_per_s.total_cmp(&a.bytes_per_s)));
    let width = hosts.iter().map(|host| host.host.len()).max().unwrap_or_default().max(4);
    let mut text = format!("{:<width$}  {:>8}  {:>12}  {:>8}  {:>6}  state", "host", "RPC/s", "bytes/s", "lost", "lag");
    for host in order.iter().take(MOST_LINES) {
        let lost = host.lost_fraction.map_or_else(|| UNKNOWN.to_owned(), |share| percent(share, 1));
        let lag = host.lag_s.map_or_else(|| UNKNOWN.to_owned(), |lag_s| format!("{lag_s:.1} s"));
        let bytes = byte_rate(host.bytes_per_s);
        text += &format!(
            "\n{:<width$}  {:>8.0}  {bytes:>12}  {lost:>8}  {lag:>6}  {}",
            host.host, host.rpcs_per_s, host.state
        );
    }
    if order.len() > MOST_LINES {
        text += &format!("\nand {} more", order.len() - MOST_LINES);
    }
    text + "\n" + &sum(hosts)
}

/// `40 hosts: 123,456 RPC/s, 12.3 GiB/s; 1 host needs a look: oss07 is out of reach`.
fn sum(hosts: &[Progress]) -> String {
    let rpcs_per_s: f64 = hosts.iter().map(|host| host.rpcs_per_s).sum();
    let bytes_per_s: f64 = hosts.iter().map(|host| host.bytes_per_s).sum();
    let rpcs: u64 = hosts.iter().map(|host| host.rpcs).sum();
    let mut text = format!(
        "{}: {rpcs_per_s:.0} RPC/s, {}, {rpcs} RPCs so far",
        plural(hosts.len() as u64, "host"),
        byte_rate(bytes_per_s),
    );
    let lost = hosts.iter().filter_map(|host| Some((real(host.rpcs), host.lost_fraction?)));
    let (all, lost) = lost.fold((0.0, 0.0), |(all, lost), (rpcs, share)| (all + rpcs, lost + rpcs * share));
    if lost > 0.0 {
        text += &format!(", {} lost", percent(lost / all, 2));
    }
    let unwell: Vec<String> = hosts
        .iter()
        .filter(|host| host.state != "tracing")
        .map(|host| format!("{}: {}", host.host, host.state))
        .collect();
    if !unwell.is_empty() {
        text += &format!("; {}", unwell.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str, state: &str, rpcs_per_s: f64) -> Progress {
        Progress {
            host: name.to_owned(),
            state: state.to_owned(),
            rpcs_per_s,
            bytes_per_s: rpcs_per_s * 1024.0,
            rpcs: 100,
            lost_fraction: Some(0.01),
            lag_s: Some(0.5),
            ..Progress::default()
        }
    }

    #[test]
    fn hosts_that_need_a_look_come_first() {
        let hosts = [host("oss1", "tracing", 10.0), host("oss2", "tracing", 2048.0), host("oss3", "paused", 0.0)];
        let text = lines(&hosts);
        let names: Vec<&str> = text.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
        assert_eq!(names, ["host", "oss3", "oss2", "oss1", "3"], "{text}");
        assert_eq!(sum(&hosts), "3 hosts: 2058 RPC/s, 2.01 MiB/s, 300 RPCs so far, 1.00 % lost; oss3: paused");
    }

    #[test]
    fn a_crowd_of_hosts_fits_on_a_screen() {
        let hosts: Vec<Progress> = (0..40).map(|number| host(&format!("oss{number}"), "tracing", 1.0)).collect();
        assert_eq!(lines(&hosts).lines().count(), MOST_LINES + 3);
    }
}
