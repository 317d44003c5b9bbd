//! Rows of datasets: read and written by `lioprof-store`, part by part, so that what it does not know is not passed on.

use std::path::Path;

use lioprof_model::{LockEvent, LockHappening, Mark, RowSink, RpcRow, RpcWindow, SentRpc, Symbol, Symbols};
use lioprof_store::{CounterSample, Dataset, DatasetWriter, NodeInfo, Options, Part, Session};
use lustre_debuglog::TargetName;
use rustc_hash::FxHashMap;

use crate::kind::Kind;
use crate::manifest;
use crate::names::{Names, Pseudonyms};
use crate::piece::Pieces;
use crate::rewrite::{self, Dropped};
use crate::text::{self, Text};

/// What is done with the names of a row.
trait Visitor {
    fn symbol(&mut self, symbol: &mut Symbol, of: Text, symbols: &Symbols);
    fn target(&mut self, target: &mut TargetName);
    /// The first word of a resource, which may spell the name of a file system.
    fn number(&mut self, number: &mut u64);
    fn owner(&mut self, number: &mut u32, kind: Kind);
}

fn visit_window(window: &mut RpcWindow, symbols: &Symbols, visitor: &mut impl Visitor) {
    visitor.symbol(&mut window.nid, Text::Nid, symbols);
    visitor.symbol(&mut window.client_uuid, Text::Device, symbols);
    window.job.iter_mut().for_each(|job| visitor.symbol(job, Text::Job, symbols));
}

fn visit_rpc(row: &mut RpcRow, symbols: &Symbols, visitor: &mut impl Visitor) {
    visitor.symbol(&mut row.node, Text::Host, symbols);
    visitor.symbol(&mut row.nid, Text::Nid, symbols);
    visitor.symbol(&mut row.client_uuid, Text::Device, symbols);
    visitor.symbol(&mut row.thread, Text::Thread, symbols);
    row.job.iter_mut().for_each(|job| visitor.symbol(job, Text::Job, symbols));
    row.target.iter_mut().for_each(|target| visitor.target(target));
    row.uid.iter_mut().for_each(|uid| visitor.owner(uid, Kind::Uid));
    row.gid.iter_mut().for_each(|gid| visitor.owner(gid, Kind::Gid));
    row.projid.iter_mut().for_each(|projid| visitor.owner(projid, Kind::Projid));
}

fn visit_lock_event(event: &mut LockEvent, symbols: &Symbols, visitor: &mut impl Visitor) {
    visitor.symbol(&mut event.node, Text::Host, symbols);
    event.window.iter_mut().for_each(|window| visit_window(window, symbols, visitor));
    event.happening.symbols(&mut |nid| visitor.symbol(nid, Text::Nid, symbols));
    match &mut event.happening {
        LockHappening::Lock(_, lock) => {
            visitor.target(&mut lock.target);
            visitor.number(&mut lock.resource.0[0]);
        }
        LockHappening::CallbackTimedOut { target, .. } => visitor.target(target),
        LockHappening::SilentEvicted { target, .. } => target.iter_mut().for_each(|target| visitor.target(target)),
        LockHappening::KernelContention { resource, .. } => visitor.number(&mut resource.0[0]),
        LockHappening::EnqueueStart | LockHappening::EnqueueEnd => {}
    }
}

fn visit_sent(sent: &mut SentRpc, symbols: &Symbols, visitor: &mut impl Visitor) {
    visitor.symbol(&mut sent.node, Text::Host, symbols);
    visitor.symbol(&mut sent.device, Text::Device, symbols);
    visitor.symbol(&mut sent.nid, Text::Nid, symbols);
    sent.window.iter_mut().for_each(|window| visit_window(window, symbols, visitor));
}

fn visit_mark(mark: &mut Mark, symbols: &Symbols, visitor: &mut impl Visitor) {
    visitor.symbol(&mut mark.node, Text::Host, symbols);
    visitor.symbol(&mut mark.text, Text::Mark, symbols);
}

/// Collects the names of a dataset. What cannot be read of it is returned, as sentences.
pub(crate) fn collect(dir: &Path, names: &mut Names) -> Vec<String> {
    let dataset = match Dataset::open(dir) {
        Ok(dataset) => dataset,
        Err(err) => return vec![lioprof_model::with_causes(&err)],
    };
    let mut problems: Vec<String> = dataset.problems().iter().map(|err| lioprof_model::with_causes(err)).collect();
    for node in dataset.nodes() {
        for part in dataset.parts(node) {
            manifest::collect(&part.manifest, names);
            let mut symbols = Symbols::default();
            problems.extend(dataset.part_source(part).read(&mut symbols, &mut Collector(names)).err());
            let samples = Dataset::part_counters(part, |sample| {
                sample_texts(sample).for_each(|(of, text)| text::collect(text.as_bytes(), of, names));
            });
            problems.extend(samples.err().map(|err| lioprof_model::with_causes(&err)));
        }
    }
    problems
}

/// The texts of a sample that may be names.
fn sample_texts<'a>(sample: &CounterSample<'a>) -> impl Iterator<Item = (Text, &'a str)> {
    let of = if sample.source.ends_with("job_stats") { Text::Job } else { Text::Device };
    let target = sample.target.map(|target| (Text::Device, target));
    target.into_iter().chain(sample.entity.map(|entity| (of, entity)))
}

struct Collector<'a>(&'a mut Names);

impl Visitor for Collector<'_> {
    fn symbol(&mut self, symbol: &mut Symbol, of: Text, symbols: &Symbols) {
        text::collect(symbols.bytes(*symbol), of, self.0);
    }

    fn target(&mut self, target: &mut TargetName) {
        if !target.fsname().is_empty() {
            self.0.add(Kind::FsName, target.fsname().as_bytes());
        }
    }

    fn number(&mut self, _: &mut u64) {}

    fn owner(&mut self, number: &mut u32, kind: Kind) {
        self.0.add(kind, number.to_string().as_bytes());
    }
}

impl RowSink for Collector<'_> {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        visit_rpc(&mut row.clone(), symbols, self);
    }

    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        visit_lock_event(&mut event.clone(), symbols, self);
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        visit_sent(&mut sent.clone(), symbols, self);
    }

    fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
        visit_mark(&mut mark.clone(), symbols, self);
    }
}

/// Writes a dataset with pseudonyms into the folder `to`; how many rows and samples.
///
/// # Errors
/// A sentence, if a part cannot be written.
pub(crate) fn rewrite(dir: &Path, to: &Path, pseudonyms: &Pseudonyms, dropped: &mut Dropped) -> Result<u64, String> {
    let dataset = Dataset::open(dir).map_err(|err| lioprof_model::with_causes(&err))?;
    let mut items = 0;
    for node in dataset.nodes() {
        let mut session: Option<(Session, DatasetWriter)> = None;
        for part in dataset.parts(node) {
            let writer = match &mut session {
                Some((open, writer)) if *open == part.manifest.session => writer,
                other => &mut other.insert((part.manifest.session.clone(), open(part, to, pseudonyms))).1,
            };
            items += rewrite_part(&dataset, part, writer, pseudonyms, dropped)?;
        }
    }
    Ok(items)
}

/// A writer for the session of a part.
fn open(part: &Part, to: &Path, pseudonyms: &Pseudonyms) -> DatasetWriter {
    let session = Session { start_us: part.manifest.session.start_us, id: "anonymised".to_owned() };
    let node = text::replaced(part.manifest.node.as_bytes(), Text::Host, pseudonyms);
    let fs = manifest::file_systems(&part.manifest.fs, pseudonyms);
    DatasetWriter::new(to, NodeInfo { fs, node, session }, Options::default())
}

fn rewrite_part(
    dataset: &Dataset,
    part: &Part,
    writer: &mut DatasetWriter,
    pseudonyms: &Pseudonyms,
    dropped: &mut Dropped,
) -> Result<u64, String> {
    writer.set_fs(manifest::file_systems(&part.manifest.fs, pseudonyms));
    writer.forget_symbols();
    let mut renamer =
        Renamer { pseudonyms, symbols: Symbols::default(), known: FxHashMap::default(), writer, items: 0 };
    // What is damaged has been told of in the first pass.
    let _told = dataset.part_source(part).read(&mut Symbols::default(), &mut renamer);
    let mut items = renamer.items;
    let _told = Dataset::part_counters(part, |sample| {
        let mut texts = sample_texts(sample).map(|(of, text)| text::replaced(text.as_bytes(), of, pseudonyms));
        let target = sample.target.and_then(|_| texts.next());
        let entity = sample.entity.and_then(|_| texts.next());
        let (target, entity) = (target.as_deref(), entity.as_deref());
        writer.counter(&CounterSample { target, entity, ..sample.clone() });
        items += 1;
    });
    let facts = manifest::facts(&part.manifest.facts, pseudonyms, dropped);
    writer.close_part(facts).map_err(|err| lioprof_model::with_causes(&err))?;
    Ok(items)
}

/// Passes rows on with pseudonyms.
struct Renamer<'a> {
    pseudonyms: &'a Pseudonyms,
    /// Of the rows that are written.
    symbols: Symbols,
    /// What stands for a text of the rows that are read.
    known: FxHashMap<(Symbol, Text), Symbol>,
    writer: &'a mut DatasetWriter,
    items: u64,
}

impl Visitor for Renamer<'_> {
    fn symbol(&mut self, symbol: &mut Symbol, of: Text, symbols: &Symbols) {
        let Self { pseudonyms, symbols: new, known, .. } = self;
        *symbol = *known.entry((*symbol, of)).or_insert_with(|| {
            let mut pieces = Pieces::new();
            text::split(symbols.bytes(*symbol), of, &mut pieces);
            let mut text = Vec::new();
            rewrite::write(&pieces, pseudonyms, false, &mut 0, &mut text);
            new.intern(&text)
        });
    }

    fn target(&mut self, target: &mut TargetName) {
        let name = self.pseudonyms.get(Kind::FsName, target.fsname().as_bytes());
        let name = name.and_then(|name| std::str::from_utf8(name).ok());
        // The management service has no file system; any other name was collected.
        *target = TargetName::new(name.unwrap_or("removed"), target.kind(), target.index()).unwrap_or(TargetName::MGS);
    }

    fn number(&mut self, number: &mut u64) {
        *number = self.pseudonyms.of_number(*number).unwrap_or(*number);
    }

    fn owner(&mut self, number: &mut u32, kind: Kind) {
        let pseudonym = self.pseudonyms.get(kind, number.to_string().as_bytes());
        *number = pseudonym.and_then(|text| std::str::from_utf8(text).ok()?.parse().ok()).unwrap_or(u32::MAX);
    }
}

impl RowSink for Renamer<'_> {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        let mut row = row.clone();
        visit_rpc(&mut row, symbols, self);
        self.writer.rpc(&row, &self.symbols);
        self.items += 1;
    }

    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        let mut event = event.clone();
        visit_lock_event(&mut event, symbols, self);
        self.writer.lock_event(&event, &self.symbols);
        self.items += 1;
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        let mut sent = sent.clone();
        visit_sent(&mut sent, symbols, self);
        self.writer.sent_rpc(&sent, &self.symbols);
        self.items += 1;
    }

    fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
        let mut mark = *mark;
        visit_mark(&mut mark, symbols, self);
        self.writer.mark(&mark, &self.symbols);
        self.items += 1;
    }
}
