//! The command `lioprof-bench`: generates large logs and datasets for benchmarks of lioprof.
#![forbid(unsafe_code)]

use std::error::Error;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, Subcommand};
use lioprof_bench::crowd::{self, CrowdOptions};
use lioprof_bench::dataset::{self, DatasetOptions};
use lioprof_bench::log_writer::LogWriter;
use lioprof_bench::replica::Replica;
use lioprof_bench::stage::Stage;

/// Generates large logs and datasets for benchmarks of lioprof.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Repeat a capture one copy after the other in time, each with its own requests
    Replicate {
        /// The capture as text, plain or .zst
        log: PathBuf,

        /// Size of the binary log in megabytes (10^6 bytes); the text is a little larger
        megabytes: u64,

        #[command(flatten)]
        output: Output,
    },
    /// Generate a log of any number of clients, OSTs and jobs
    Crowd {
        #[command(flatten)]
        crowd: CrowdOptions,

        #[command(flatten)]
        output: Output,
    },
    /// Generate the rows of a whole site, as its daemons would write them; print exact sums over them as JSON
    Dataset {
        /// New or empty directory for the dataset
        dir: PathBuf,

        #[command(flatten)]
        options: DatasetOptions,
    },
    /// Do a part of what an analysis does, and all that comes before it, on one thread
    Stage {
        /// Which part
        #[arg(value_enum)]
        stage: Stage,

        /// A log, or a dataset
        input: PathBuf,
    },
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = true)]
struct Output {
    /// Write the log as `lctl debug_file` prints it
    #[arg(long, value_name = "FILE")]
    text: Option<PathBuf>,

    /// Write the log as the kernel's debug daemon does
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

impl Output {
    fn open(&self) -> Result<LogWriter<BufWriter<File>>, Box<dyn Error>> {
        let create = |path: &PathBuf| {
            File::create(path)
                .map(|file| BufWriter::with_capacity(1 << 20, file))
                .map_err(|err| format!("failed to create `{}`: {err}", path.display()))
        };
        let text = self.text.as_ref().map(create).transpose()?;
        Ok(LogWriter::new(text, self.binary.as_ref().map(create).transpose()?))
    }
}

fn main() -> ExitCode {
    match run(&Args::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(err) => {
            say(&lioprof_model::with_causes(&*err));
            ExitCode::from(2)
        }
    }
}

fn run(command: &Command) -> Result<(), Box<dyn Error>> {
    match command {
        Command::Replicate { log, megabytes, output } => {
            let text = read(log).map_err(|err| format!("failed to read `{}`: {err}", log.display()))?;
            let replica = Replica::of_text(&text);
            if replica.records() == 0 {
                return Err(format!("`{}` holds no records: give a debug log as text", log.display()).into());
            }
            let mut out = output.open()?;
            let copies = replica.write(megabytes * 1_000_000, &mut out)?;
            out.finish()?;
            say(&format!("{copies} copies of {} records", replica.records()));
        }
        Command::Crowd { crowd, output } => {
            let mut out = output.open()?;
            let (reads, writes) = crowd::write(crowd, &mut out)?;
            out.finish()?;
            say(&format!("{reads} reads and {writes} writes"));
        }
        Command::Dataset { dir, options } => {
            let start = Instant::now();
            let truth = dataset::write(dir, options)?;
            let (took, gb) = (start.elapsed(), truth.disk_bytes as f64 / 1e9);
            say(&format!("{} RPCs in {} parts, {gb:.3} GB, {:.1} s", truth.rpcs, truth.parts, took.as_secs_f64()));
            writeln!(io::stdout(), "{}", serde_json::to_string_pretty(&truth)?)?;
        }
        Command::Stage { stage, input } => {
            let (what, count) = stage.run(input)?;
            say(&format!("{count} {what}"));
        }
    }
    Ok(())
}

fn read(log: &Path) -> io::Result<Vec<u8>> {
    let bytes = fs::read(log)?;
    if log.extension().is_some_and(|it| it == "zst") { zstd::decode_all(&bytes[..]) } else { Ok(bytes) }
}

/// Messages are for people; nobody reading them is no reason to fail.
fn say(text: &str) {
    writeln!(io::stderr(), "lioprof-bench: {text}").unwrap_or_default();
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Args;

    #[test]
    fn no_argument_is_in_the_way_of_another() {
        Args::command().debug_assert();
    }
}
