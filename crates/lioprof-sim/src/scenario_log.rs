//! The log of a scenario's server as a file, for tests and fixtures: the same options give the same bytes.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::bits::{ALWAYS, mask};
use crate::cluster::Simulation;
use crate::kernel::{Flush, Kernel, KernelConfig, Mask};
use crate::record::{SimRecord, Workload};
use crate::scenario::{Options, Scenario, SizeArgs, UnknownScenario};
use crate::text;
use rustix::io::Errno;

/// A larger file would be a ring (libcfs `tracefile.h`, `CFS_TRACEFILE_SIZE`): the largest size in MiB that the kernel takes.
const FILE_LIMIT_MIB: u32 = 20_480;

/// What clients log.
const CLIENT_MASKS: u32 = mask::RPCTRACE | mask::DLMTRACE | mask::VFSTRACE | mask::IOTRACE;

/// Command line for writing a log.
#[derive(Clone, Debug, clap::Args)]
pub struct LogArgs {
    /// Scenario, see `replay --list`
    #[arg(value_name = "NAME")]
    pub scenario: String,

    /// File to write (with `--client-logs` a folder); one that exists is replaced
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,

    /// As the kernel's debug daemon writes it; otherwise the text that `lctl debug_file` makes of that, sorted
    #[arg(long)]
    pub binary: bool,

    /// Logs of all servers and clients as FILE/server1/rpc.txt, .., FILE/client1/rpc.txt, ..: clients say with masks rpctrace,
    /// dlmtrace, vfstrace and iotrace what their programs do
    #[arg(long, conflicts_with = "binary")]
    pub client_logs: bool,

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
    let follow = if args.client_logs { None } else { Some(0) };
    let options = Options { follow, client_logs: args.client_logs, ..Options::default() };
    let mut simulation = Scenario::named(&args.scenario, &args.size.apply(options))?;
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
    let written = match (args.client_logs, args.binary) {
        (true, _) => of_all(&args.output, &mut simulation, |subsystem, mask| kernel.passes(subsystem, mask)),
        (false, true) => binary(args, &kernel, &mut simulation),
        (false, false) => plain(args, &kernel, &mut simulation),
    };
    written.map_err(error)
}

/// Writes the log of each server and client to a folder of its own; returns the number of records. `passes` says which subsystems and
/// masks servers log.
///
/// # Errors
/// If a file cannot be written.
pub fn of_all(dir: &Path, simulation: &mut Simulation, passes: impl Fn(u32, u32) -> bool) -> io::Result<u64> {
    let servers = simulation.server_count();
    let mut logs: BTreeMap<usize, BufWriter<File>> = BTreeMap::new();
    let mut record = SimRecord::default();
    let mut records = 0;
    while let Some(node) = simulation.next_of_any(&mut record) {
        let is_logged = match node < servers {
            true => passes(record.subsystem, record.mask),
            false => record.mask & (CLIENT_MASKS | ALWAYS) != 0,
        };
        if !is_logged {
            continue;
        }
        let log = match logs.entry(node) {
            Entry::Occupied(log) => log.into_mut(),
            Entry::Vacant(place) => {
                let name = match node.checked_sub(servers) {
                    None => format!("server{}", node + 1),
                    Some(client) => format!("client{}", client + 1),
                };
                let folder = dir.join(name);
                fs::create_dir_all(&folder)?;
                place.insert(BufWriter::new(File::create(folder.join("rpc.txt"))?))
            }
        };
        text::write_record(log, &record, false)?;
        records += 1;
    }
    logs.into_values().try_for_each(|mut log| log.flush())?;
    Ok(records)
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
