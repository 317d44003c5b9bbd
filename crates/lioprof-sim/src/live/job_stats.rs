//! `job_stats`: after `lprocfs_jobstats_seq_show` of obdclass `lprocfs_jobstats.c`.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::stats::{Clock, OST_OPERATIONS, Style, sum_of_squares};
use crate::counters::{Samples, Sizes, Traffic};

/// All jobs of a target; `clock` is that of one job.
pub(super) fn text(style: Style, jobs: &BTreeMap<String, Traffic>, clock: impl Fn(&str) -> Clock) -> String {
    let mut text = String::from("job_stats:\n");
    for (job, traffic) in jobs {
        writeln!(text, "- job_id:          {job}").unwrap_or_default();
        for (name, value) in clock(job).lines(style) {
            line(&mut text, name, &value);
        }
        line(&mut text, "read_bytes", &samples(style, "bytes", &traffic.read_bytes, &traffic.read_sizes));
        line(&mut text, "write_bytes", &samples(style, "bytes", &traffic.write_bytes, &traffic.write_sizes));
        for (name, opcode) in OST_OPERATIONS {
            let operation = traffic.operations_us.get(&opcode).copied().unwrap_or_default();
            line(&mut text, name, &samples(style, "usecs", &operation, &Sizes::new()));
        }
    }
    text
}

fn line(text: &mut String, name: &str, value: &str) {
    writeln!(text, "  {:<17}{value}", format!("{name}:")).unwrap_or_default();
}

/// Counters that counted nothing are printed, too.
fn samples(style: Style, unit: &str, samples: &Samples, sizes: &Sizes) -> String {
    let Samples { count, min, max, sum, .. } = samples;
    let squares = sum_of_squares(samples);
    let mut text = format!(
        "{{ samples: {count:>11}, unit: {unit}, min: {min:>8}, max: {max:>8}, sum: {sum:>16}, sumsq: {squares:>18}"
    );
    if style.has_sizes && !sizes.is_empty() {
        let sizes: Vec<String> = sizes.iter().map(|(exponent, rpcs)| format!("{}: {rpcs}", human(*exponent))).collect();
        write!(text, ", hist: {{ {} }}", sizes.join(", ")).unwrap_or_default();
    }
    text.push_str(" }");
    text
}

/// A power of two as Lustre prints it: `512`, `4K`, `1M`.
pub(super) fn human(exponent: u32) -> String {
    let unit = ["", "K", "M", "G", "T", "P", "E"].get(exponent as usize / 10).copied().unwrap_or_default();
    format!("{}{unit}", 1_u32 << (exponent % 10))
}
