//! The status for people: at most 80 columns.

use std::fmt;
use std::time::Duration;

use lioprof_model::time::{utc, utc_of};
use lioprof_model::units::{byte_rate, human_bytes, percent, plural, real, thousands, whole};
use lioprof_text::wrapped;

use super::Missing;
use super::{State, Status};

/// Indentation of the texts, as wide as the column of names.
const NAMES: &str = "            ";

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Lines { f };
        let node = if self.node.is_empty() { "this node" } else { &self.node };
        lines.line("", &format!("lioprof {} on {node}, pid {}: {}", self.version, self.pid, self.state))?;
        lines.line("since", &self.since())?;
        if self.state == State::WaitingForLustre {
            lines.line("lustre", "not loaded; tracing starts once it is")?;
        } else {
            let lustre = self.lustre_version.as_deref().unwrap_or("version unknown");
            lines.line("lustre", &format!("{lustre}; {}", list(&self.targets, "no targets")))?;
        }
        // While Lustre is not loaded there are no masks.
        if !self.profile.is_empty() && self.state != State::WaitingForLustre {
            lines.line("masks", &format!("profile {}; {}", self.profile, self.masks))?;
        }
        lines.line("logged", &self.logged())?;
        if self.left_out.records > 0 {
            let more = if self.left_out.at_least { " and more" } else { "" };
            let since =
                self.left_out.first_us.map_or_else(String::new, |first_us| format!(", since {}", utc(first_us)));
            let text = format!("{}{more} from before the capture{since}", plural(self.left_out.records, "record"));
            lines.line("left out", &text)?;
        }
        if self.totals.sent_rpcs > 0 {
            lines.line("sent", &self.sent())?;
        }
        lines.line("I/O", &self.io())?;
        lines.line("segments", &self.segments_text())?;
        if !self.spool.directory.is_empty() {
            let (limit, segment) = (human_bytes(self.spool.limit_bytes), human_bytes(self.spool.segment_bytes));
            lines.line("spool", &format!("at most {limit} in {}, closed at {segment}", self.spool.directory))?;
        }
        lines.line("loss", &self.loss_text())?;
        lines.line("budget", &self.budget_text())?;
        let files = &self.files;
        let mut text = format!("{} written, {}", plural(files.written, "file"), human_bytes(files.written_bytes));
        text += &format!("; {} kept", human_bytes(files.kept_bytes));
        if let Some(free) = files.free_bytes {
            text += &format!(", {} free", human_bytes(free));
        }
        if !files.directory.is_empty() {
            text += &format!(" in {}", files.directory);
        }
        lines.line("files", &text)?;
        if let Some(counters) = self.counters {
            let text = format!("{} figures at {}", thousands(counters.values), utc(counters.time_us));
            lines.line("counters", &text)?;
        }
        if let Some(verdict) = &self.verdict {
            let text = format!("{} (until {})", verdict.text, utc_of(verdict.to));
            lines.line("verdict", &text)?;
        }
        for warning in &self.warnings {
            lines.line("warning", warning)?;
        }
        Ok(())
    }
}

impl Status {
    fn since(&self) -> String {
        let up = duration(self.now_us - self.since_us);
        let mut text = format!("{} ({up})", utc(self.since_us));
        if self.state != State::Tracing || self.state_since_us != self.since_us {
            text += &format!("; {} for {}", self.state, duration(self.now_us - self.state_since_us));
        }
        text
    }

    fn logged(&self) -> String {
        let (totals, rates) = (&self.totals, &self.rates);
        let lag = self.lag_s.map_or_else(|| "lag ?".to_owned(), |lag| format!("lag {lag:.1} s"));
        format!(
            "{} ({}/s), {} ({}/s), {}; {lag}",
            plural(totals.records, "record"),
            rate(rates.records_per_s),
            plural(totals.rpcs, "RPC"),
            rate(rates.rpcs_per_s),
            plural(totals.lock_events, "lock event"),
        )
    }

    fn sent(&self) -> String {
        let (totals, per_s) = (&self.totals, rate(self.rates.sent_rpcs_per_s));
        let mut text = format!("{} ({per_s}/s)", plural(totals.sent_rpcs, "RPC"));
        if totals.sent_reads + totals.sent_writes > 0 {
            text += &format!(
                ", including {} and {} of OSTs, whose sizes are in the OSSs' logs",
                plural(totals.sent_reads, "read"),
                plural(totals.sent_writes, "write"),
            );
        }
        text
    }

    fn io(&self) -> String {
        let (totals, rates) = (&self.totals, &self.rates);
        format!(
            "{} read ({}), {} written ({})",
            human_bytes(totals.read_bytes),
            byte_rate(rates.read_bytes_per_s),
            human_bytes(totals.write_bytes),
            byte_rate(rates.write_bytes_per_s),
        )
    }

    fn segments_text(&self) -> String {
        let it = &self.segments;
        let mut text =
            format!("{} decoded, {} queued ({})", thousands(it.decoded), it.queued, human_bytes(it.queued_bytes));
        if it.dropped > 0 {
            text += &format!(", {} DROPPED ({})", thousands(it.dropped), human_bytes(it.dropped_bytes));
            if let Some((from, to)) = it.dropped_from_us.zip(it.dropped_to_us) {
                text += &format!(" from {} to {}", utc(from), utc(to));
            }
        }
        text
    }

    fn loss_text(&self) -> String {
        let (loss, kernel) = (&self.loss, &self.kernel_log);
        if !loss.any() && kernel.errors == 0 {
            return "none found".to_owned();
        }
        let counts = [
            (loss.dropped_segments, "segment lost unread", "segments lost unread"),
            (loss.discarded_heads, "run of records without head", "runs of records without heads"),
            (loss.nrs_sequence_gaps, "gap in scheduler numbers", "gaps in scheduler numbers"),
            (loss.bad_records, "unreadable record", "unreadable records"),
            (loss.skipped_bytes, "skipped byte", "skipped bytes"),
            (loss.kernel_overflows, "buffer overflow in the kernel log", "buffer overflows in the kernel log"),
            (kernel.errors, "debug daemon error in the kernel log", "debug daemon errors in the kernel log"),
        ];
        let some = counts.iter().filter(|(count, ..)| *count > 0);
        let mut parts: Vec<String> = some
            .map(|&(count, one, many)| format!("{} {}", thousands(count), if count == 1 { one } else { many }))
            .collect();
        match &loss.counters {
            // The counters are more exact than the estimate from sequence numbers.
            Some(missing) if missing.counted_rpcs > 0 => parts.insert(0, missing_text(missing)),
            _ => parts
                .extend(loss.estimated_lost_fraction.map(|share| format!("about {} of RPCs lost", percent(share, 2)))),
        }
        parts.join(", ")
    }

    fn budget_text(&self) -> String {
        let (figures, limits) = (&self.budget.figures, &self.budget.limits);
        let cpu = figures.cpu_share.map_or_else(|| "?".to_owned(), |share| format!("{:.1}", share * 100.0));
        let mut text = format!(
            "{}; CPU {cpu} of {}, memory {} of {}",
            self.budget.level,
            percent(limits.cpu_share, 0),
            human_bytes(figures.resident_bytes),
            human_bytes(limits.resident_bytes),
        );
        if let Some(step) = &self.budget.last_step {
            text += &format!("; {}, last at {}: {step}", plural(self.budget.steps, "step"), utc(step.time_us));
        }
        text
    }
}

fn missing_text(missing: &Missing) -> String {
    format!(
        "{} of {} reads and writes that the OSTs counted are missing ({}, {})",
        thousands(missing.rpcs),
        thousands(missing.counted_rpcs),
        percent(real(missing.rpcs) / real(missing.counted_rpcs), 2),
        human_bytes(missing.bytes),
    )
}

struct Lines<'a, 'b> {
    f: &'a mut fmt::Formatter<'b>,
}

impl Lines<'_, '_> {
    fn line(&mut self, name: &str, text: &str) -> fmt::Result {
        // Names come from files and from other programs.
        let text: String = text.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
        let first = if name.is_empty() { String::new() } else { format!("  {name:<width$}", width = NAMES.len() - 2) };
        self.f.write_str(&wrapped(&text, &first, NAMES))
    }
}

fn list(names: &[String], none: &str) -> String {
    if names.is_empty() { none.to_owned() } else { names.join(" ") }
}

fn duration(micros: i64) -> String {
    let seconds = u64::try_from(micros / 1_000_000).unwrap_or(0);
    humantime::format_duration(Duration::from_secs(seconds)).to_string()
}

fn rate(per_s: f64) -> String {
    if per_s < 10.0 { format!("{per_s:.1}") } else { thousands(whole(per_s)) }
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
