//! The logs of a node: read as rows, accounted for.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use lioprof_model::units::seconds;
use lioprof_model::{BadPlace, Format, Input, OtherRecords, RowSink, Symbol, Symbols, TraceSummary, UnreadRpcs};
use lustre_debuglog::frame::Form;

use crate::decode::chunk::{Counts, Head, merge_heads};
use crate::decode::merge::{Merge, Waiting};
use crate::decode::source::InputFacts;
use crate::join::{Join, RowOutput};
use crate::plan::{NodeLogs, OpeningNotes, Planned, Reading};
use crate::sink_thread::with_sink_thread;

/// Bad places listed per input.
const MAX_BAD_PLACES: usize = 20;
/// Kinds of records listed per input that lioprof does not interpret.
const MAX_OTHER: usize = 20;

/// What is wrong with a text that ends inside a line.
const CUT: &str = "the text ends in the middle of a line: it was cut there, and more may be missing; copy the whole log, or put its pieces together if it was split (`cat PIECES > LOG`)";

/// What reading a node's logs has shown.
pub struct ReadLogs {
    /// The same logs, to be read again.
    pub logs: NodeLogs,
    /// The account of each log.
    pub inputs: Vec<Input>,
    /// What the rows do not say, of all logs together.
    pub summary: TraceSummary,
    /// Records that several of the logs hold, which count once.
    pub duplicates: u64,
}

impl NodeLogs {
    /// Makes rows of all logs. Must run on a thread of the pool that decodes; if `reading` may keep more than one busy, `sink` gets the rows
    /// on another thread than they are made on.
    ///
    /// What is wrong with a log is in its account ([`Input::error`]); what came before it has been handed on.
    pub fn read(
        self,
        node: Symbol,
        reading: Reading,
        symbols: &mut Symbols,
        sink: &mut (dyn RowSink + Send),
    ) -> ReadLogs {
        with_sink_thread(reading.threads, symbols, sink, |symbols, sink| read(node, self.0, reading, symbols, sink))
    }
}

/// What became of one log.
struct LogResult {
    planned: Planned,
    seen: InputFacts,
    notes: OpeningNotes,
}

fn read(
    node: Symbol,
    planned: Vec<Planned>,
    reading: Reading,
    symbols: &mut Symbols,
    sink: &mut dyn RowSink,
) -> ReadLogs {
    planned.iter().for_each(Planned::announce);
    // Inputs are opened when their time comes, by the merge; what they turn out to be is kept here.
    let inputs: Vec<Rc<RefCell<(Planned, OpeningNotes)>>> =
        planned.into_iter().map(|input| Rc::new(RefCell::new((input, OpeningNotes::default())))).collect();
    let mut folders: Vec<PathBuf> = Vec::new();
    let waiting = inputs.iter().enumerate().map(|(index, input)| {
        let opening = Rc::clone(input);
        let planned = &input.borrow().0;
        let folder = planned.found.place().parent().unwrap_or(Path::new("")).to_owned();
        Waiting {
            first_us: planned.first_us,
            input: index,
            folder: folders.iter().position(|known| *known == folder).unwrap_or_else(|| {
                folders.push(folder);
                folders.len() - 1
            }),
            open: Box::new(move || {
                let (planned, notes) = &mut *opening.borrow_mut();
                planned.open(reading, notes)
            }),
        }
    });
    let mut merge = Merge::new(waiting.collect());
    let mut join = Join::new(node);
    while let Some((event, is_another_capture)) = merge.next(symbols) {
        if is_another_capture {
            join.another_capture();
        }
        join.event(event, &mut RowOutput { symbols, sink });
    }
    join.finish(&mut RowOutput { symbols, sink });

    let duplicates = merge.duplicates;
    let mut seen: Vec<Option<InputFacts>> = inputs.iter().map(|_| None).collect();
    for (index, source) in merge.done {
        seen[index] = Some(source.finish());
    }
    let logs: Vec<LogResult> = inputs
        .into_iter()
        .zip(seen)
        .map(|(input, seen)| {
            let Ok(cell) = Rc::try_unwrap(input) else { unreachable!("the merge has opened or dropped every input") };
            let (planned, notes) = cell.into_inner();
            LogResult { planned, seen: seen.unwrap_or_default(), notes }
        })
        .collect();
    let mut summary = TraceSummary::default();
    for log in &logs {
        summary.merge(&log.seen.summary());
        summary.loss.torn_seams += log.notes.seams;
        summary.loss.logs_without_arrivals += u64::from(is_filtered(log));
    }
    summary.merge(&join.summary());
    summary.under_way = summary.under_way.until(summary.last_us.unwrap_or(i64::MIN));
    summary.loss.streams_without_head = streams_without_head(&logs);
    let several = join.several_servers(symbols);
    let inputs = logs.iter().map(|log| Input { several_servers: several.clone(), ..account(symbols.text(node), log) });
    let inputs = inputs.collect();
    ReadLogs { logs: NodeLogs(logs.into_iter().map(|log| log.planned).collect()), inputs, summary, duplicates }
}

/// What was read of a log.
fn account(node: String, log: &LogResult) -> Input {
    let (planned, seen, notes, summary) = (&log.planned, &log.seen, &log.notes, log.seen.summary());
    let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
    let mut other: Vec<OtherRecords> = seen
        .counts
        .other
        .iter()
        .flat_map(|(file, functions)| {
            functions.iter().map(|(function, &records)| OtherRecords {
                file: text(file),
                function: text(function),
                records,
            })
        })
        .collect();
    other.sort_by(|a, b| b.records.cmp(&a.records).then_with(|| (&a.file, &a.function).cmp(&(&b.file, &b.function))));
    other.truncate(MAX_OTHER);
    let error = notes.error.clone().or_else(|| notes.damage.get().map(|damage| damage.to_string()));
    let error = error.or_else(|| seen.error.as_ref().map(ToString::to_string));
    let error = error.or_else(|| seen.is_cut.then(|| CUT.to_owned()));
    let mut repairs = seen.counts.repairs;
    for repair in planned.recoded.repairs() {
        repairs.add(repair, summary.records);
    }
    Input {
        path: planned.found.path.display().to_string(),
        node,
        node_from: Some(planned.node_from),
        several_servers: None,
        format: match planned.form {
            Form::Text => Format::Text,
            Form::Binary(_) => Format::Binary,
        },
        compression: planned.compression.map(|compression| compression.to_string()),
        bytes: summary.bytes,
        records: summary.records,
        messages: summary.messages,
        bad_records: summary.loss.bad_records,
        skipped_bytes: summary.loss.skipped_bytes,
        bad_places: seen
            .gaps
            .iter()
            .take(MAX_BAD_PLACES)
            .map(|gap| BadPlace { offset: gap.offset, bytes: gap.len, why: gap.why.as_str().to_owned() })
            .collect(),
        malformed: seen.counts.malformed.iter().map(|(kind, n)| ((*kind).to_owned(), *n)).collect(),
        other,
        first: summary.first_us.map(seconds),
        last: summary.last_us.map(seconds),
        unread: unread(&seen.counts),
        envelope: repairs.iter().map(|(kind, lines)| (kind.as_str().to_owned(), lines)).collect(),
        error,
    }
}

/// So many records of rpctrace are enough for one of a request's arrival to be among them.
const WITH_ARRIVALS: u64 = 20;

/// Whether somebody picked lines out of a text log: of those for a client, a job or a target requests' arrival (`got req`) is none, which names
/// nobody, and of those of a service's thread what the network's thread logged (`peer:`).
fn is_filtered(log: &LogResult) -> bool {
    let Counts { summary, has_rpcs, has_requests, has_arrivals, .. } = &log.seen.counts;
    log.planned.form == Form::Text
        && (*has_rpcs || *has_requests)
        && (!*has_arrivals || summary.arrivals.is_empty())
        && summary.rpctrace_records >= WITH_ARRIVALS
}

/// Longest text quoted.
const MAX_QUOTE: usize = 300;

/// What rpctrace logged, if no request could be read of it.
fn unread(counts: &Counts) -> Option<UnreadRpcs> {
    let records = counts.summary.rpctrace_records;
    if records == 0 || counts.has_rpcs {
        return None;
    }
    let quote = |text: &[u8]| String::from_utf8_lossy(&text[..text.len().min(MAX_QUOTE)]).into_owned();
    let text = counts.unread.as_ref().map(|(text, _)| quote(text));
    let word = counts.unread.as_ref().map(|(text, offset)| {
        let blank = |byte: &u8| byte.is_ascii_whitespace();
        let at = (*offset).min(text.len());
        let start = text[..at].iter().rposition(blank).map_or(0, |before| before + 1);
        let end = text[at..].iter().position(blank).map_or(text.len(), |behind| at + behind);
        quote(&text[start..end])
    });
    Some(UnreadRpcs { records, text, word })
}

/// Streams of a node whose first record does not carry the `F` flag.
fn streams_without_head(logs: &[LogResult]) -> u64 {
    let mut logs: Vec<_> = logs.iter().collect();
    logs.sort_by_key(|log| log.seen.counts.summary.first_us);
    let mut heads: Vec<Head> = Vec::new();
    for log in logs {
        merge_heads(&mut heads, &log.seen.counts.stream_heads);
    }
    heads.iter().filter(|head| **head == Head::Missing).count() as u64
}
