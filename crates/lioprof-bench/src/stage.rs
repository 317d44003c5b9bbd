//! A part of what an analysis does, alone. Each stage does what those before it do, too: the next one costs the difference, and however
//! fast all that follows becomes, the analysis takes at least as long as the stage. `Careless` and `CarelessInOrder` are other ways, which
//! check nothing.

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use lioprof_model::{LockEvent, RowSink, RowStores, RpcRow, SentRpc, Symbols};
use lioprof_store::{DatasetWriter, Datasets, ManifestFacts, NodeInfo, Options, Session};
use lioprof_trace::{DEFAULT_CHUNK_BYTES, Inputs, Progress, Reading, stages};
use lustre_debuglog::{Message, Record};

use crate::careless;

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Stage {
    /// Log: its bytes are read
    Bytes,
    /// Log: ends of lines are found
    Lines,
    /// Text: two kinds of lines are searched for, and bytes and times of clients added up; nothing is checked
    Careless,
    /// Text: four kinds of lines are searched for, for what takes requests one after the other; nothing is checked
    CarelessInOrder,
    /// Log: records are found, and their headers read
    Records,
    /// Log: messages are read
    Messages,
    /// Log: events are made and put in order
    Events,
    /// Dataset: the Parquet library makes columns
    Columns,
    /// Log or dataset: rows are made
    Rows,
    /// Log or dataset: rows are made, and written as Parquet files
    Written,
}

impl Stage {
    /// Does it, on one thread; what was found, and how many of them.
    ///
    /// # Errors
    /// If the input is not what the stage is for, or cannot be read.
    pub fn run(self, input: &Path) -> Result<(&'static str, u64), Box<dyn Error>> {
        let no_log = || format!("`{}` is no log", input.display());
        Ok(match self {
            Self::Bytes => ("bytes", pieces(input, |piece| piece.len())?),
            Self::Lines => ("lines", pieces(input, |piece| memchr::memchr_iter(b'\n', piece).count())?),
            Self::Careless => ("RPCs", careless::sums::rpcs(input)?),
            Self::CarelessInOrder => ("RPCs", careless::in_order::rpcs(input)?),
            Self::Records => ("records", stages::records(input, |record| _ = black_box(record)).ok_or_else(no_log)?),
            Self::Messages => {
                let parse = |record: &Record<'_>| _ = black_box(Message::parse(record));
                ("records", stages::records(input, parse).ok_or_else(no_log)?)
            }
            Self::Events => ("events", stages::order(input, 1).ok_or_else(no_log)?),
            Self::Columns => {
                let mut rows = 0;
                lioprof_store::stages::columns(input, |batch| rows += black_box(batch).num_rows() as u64)?;
                ("rows", rows)
            }
            Self::Rows => ("rows", rows_made(input)?),
            Self::Written => ("rows", rows_written(input)?),
        })
    }
}

/// Bytes read at once: more is slower, for the kernel copies into memory that is not in the processor's cache.
const PIECE: usize = 64 << 10;

/// Sums up over the pieces of a file.
fn pieces(file: &Path, count: impl Fn(&[u8]) -> usize) -> Result<u64, Box<dyn Error>> {
    let failed = |err| format!("failed to read `{}`: {err}", file.display());
    let mut open = File::open(file).map_err(failed)?;
    let mut buffer = vec![0; PIECE];
    let mut sum = 0;
    loop {
        let got = open.read(&mut buffer).map_err(failed)?;
        if got == 0 {
            return Ok(sum);
        }
        sum += count(&buffer[..got]) as u64;
    }
}

/// Rows that nobody wants.
#[derive(Default)]
struct Count(u64);

impl RowSink for Count {
    fn rpc(&mut self, row: &RpcRow, _: &Symbols) {
        black_box(row);
        self.0 += 1;
    }

    fn lock_event(&mut self, event: &LockEvent, _: &Symbols) {
        black_box(event);
        self.0 += 1;
    }

    fn sent_rpc(&mut self, sent: &SentRpc, _: &Symbols) {
        black_box(sent);
        self.0 += 1;
    }
}

/// Hands the rows of each node to a sink made for it.
fn rows<S: RowSink + Send>(
    input: &Path,
    mut sink: impl FnMut(&str) -> S,
    mut end: impl FnMut(S) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let inputs: [PathBuf; 1] = [input.to_owned()];
    let found = Inputs::find(&inputs, &[], &|path| Datasets.is_store(path), &Progress::default());
    if found.nodes.is_empty() && found.stores.is_empty() {
        return Err(format!("`{}` is no log and no dataset", input.display()).into());
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    for (name, logs) in found.nodes {
        let (mut symbols, mut rows) = (Symbols::default(), sink(&name));
        let node = symbols.intern(name.as_bytes());
        pool.install(|| logs.read(node, Reading::new(DEFAULT_CHUNK_BYTES, 1), &mut symbols, &mut rows));
        end(rows)?;
    }
    let opened = Datasets.open(&found.stores);
    if let Some((_, why)) = opened.unreadable.into_iter().next() {
        return Err(why.into());
    }
    for mut source in opened.sources {
        let mut rows = sink(source.node());
        source.read(&mut Symbols::default(), &mut rows)?;
        end(rows)?;
    }
    Ok(())
}

/// Makes all rows and drops them; how many there are.
fn rows_made(input: &Path) -> Result<u64, Box<dyn Error>> {
    let mut sum = 0;
    rows(
        input,
        |_| Count::default(),
        |count| {
            sum += count.0;
            Ok(())
        },
    )?;
    Ok(sum)
}

/// Writes all rows as a daemon does, into a folder that is deleted afterwards; how many there are.
fn rows_written(input: &Path) -> Result<u64, Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    let writer = |node: &str| {
        let session = Session { start_us: 0, id: "stage".to_owned() };
        DatasetWriter::new(
            dir.path(),
            NodeInfo { fs: "lustre".to_owned(), node: node.to_owned(), session },
            Options::default(),
        )
    };
    let mut sum = 0;
    rows(input, writer, |mut writer| {
        let stats = writer.part_stats();
        sum += stats.rpcs + stats.lock_events + stats.sent_rpcs;
        writer.close_part(ManifestFacts::default())?;
        Ok(())
    })?;
    Ok(sum)
}
