//! The log of a scenario's server as a file, for tests and fixtures: the same options give the same bytes.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use thiserror::Error;

use crate::kernel::{Flush, Kernel, KernelConfig, Mask};
use crate::record::{SimRecord, Workload};
use crate::scenario::{Options, Scenario, SizeArgs, UnknownScenario};
use crate::text;
use rustix::io::Errno;

/// A larger file would be a ring (libcfs `tracefile.h`, `CFS_TRACEFILE_SIZE`): the largest size in MiB that the kernel takes.
const FILE_LIMIT_MIB: u32 = 20_480;

/// Command line for writing a log.
#[derive(Clone, Debug, clap::Args)]
pub struct LogArgs {
    /// Scenario, see `replay --list`
    #[arg(value_name = "NAME")]
    pub scenario: String,

    /// File to write; one that exists is replaced
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,

    /// As the kernel's debug daemon writes it; otherwise the text that `lctl debug_file` makes of that, sorted
    #[arg(long)]
    pub binary: bool,

    /// Masks, as `lctl set_param debug=` takes them
    #[arg(long, value_name = "NAMES", default_value = "rpctrace dlmtrace net")]
    pub debug: String,

    /// Subsystems, as `lctl set_param subsystem_debug=` takes them
    #[arg(long, value_name = "NAMES", default_value = "rpc filter ldlm")]
    pub subsystem_debug: String,

    #[command(flatten)]
    /// How large it is.
    pub size: SizeArgs,
}

/// The log cannot be written.
#[derive(Debug, Error)]
pub enum LogError {
    /// There is no such scenario.
    #[error(transparent)]
    Scenario(#[from] UnknownScenario),
    /// The kernel does not take this value of a mask.
    #[error("{0} does not take `{1}`: give names as in `lctl debug_list`, separated by spaces")]
    Mask(&'static str, String, #[source] Errno),
    /// The file cannot be written.
    #[error("failed to write `{}`", .0.display())]
    Write(PathBuf, #[source] io::Error),
}

/// Writes the log; returns the number of records in it.
///
/// # Errors
/// If there is no such scenario or mask, or the file cannot be written.
pub fn write(args: &LogArgs) -> Result<u64, LogError> {
    let mut simulation =
        Scenario::named(&args.scenario, &args.size.apply(Options { follow: Some(0), ..Options::default() }))?;
    let config = KernelConfig {
        cpus: simulation.cpus_of(0),
        flush: Flush::Simulated { period_us: 1_000_000, latency_us: 0 },
        ..KernelConfig::default()
    };
    let kernel = Kernel::new(config);
    for (what, mask, value) in
        [("debug", Mask::Debug, &args.debug), ("subsystem_debug", Mask::SubsystemDebug, &args.subsystem_debug)]
    {
        let refused = |errno| LogError::Mask(what, value.clone(), errno);
        kernel.write_mask(mask, value.as_bytes()).map_err(refused)?;
    }
    let error = |err| LogError::Write(args.output.clone(), err);
    let written =
        if args.binary { binary(args, &kernel, &mut simulation) } else { plain(args, &kernel, &mut simulation) };
    written.map_err(error)
}

fn plain(args: &LogArgs, kernel: &Kernel, workload: &mut dyn Workload) -> io::Result<u64> {
    let mut out = BufWriter::new(File::create(&args.output)?);
    let mut record = SimRecord::default();
    let mut records = 0;
    while workload.next(&mut record) {
        if kernel.passes(record.subsystem, record.mask) {
            text::write_record(&mut out, &record, false)?;
            records += 1;
        }
    }
    out.flush()?;
    Ok(records)
}

fn binary(args: &LogArgs, kernel: &std::sync::Arc<Kernel>, workload: &mut dyn Workload) -> io::Result<u64> {
    // The daemon continues a file that exists.
    File::create(&args.output)?;
    let path = std::path::absolute(&args.output)?;
    let command = |text: &[u8]| kernel.daemon_command(text).map_err(io::Error::from);
    command(format!("size={FILE_LIMIT_MIB}").as_bytes())?;
    command(path.as_os_str().as_bytes())?;
    let mut record = SimRecord::default();
    while workload.next(&mut record) {
        kernel.log(&record);
    }
    command(b"stop")?;
    Ok(kernel.account().total.written.records)
}
