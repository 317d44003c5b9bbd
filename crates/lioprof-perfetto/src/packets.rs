//! One trace file: packets, interned texts, sequence flags.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use prost::Message;
use rustc_hash::FxHashMap;

use crate::proto::{
    CLOCK_BOOTTIME, CLOCK_REALTIME, Clock, ClockSnapshot, CounterDescriptor, DebugAnnotation, EventType, InternedData,
    InternedName, ORDER_EXPLICIT, ProcessDescriptor, SEQ_INCREMENTAL_STATE_CLEARED, SEQ_NEEDS_INCREMENTAL_STATE, Trace,
    TracePacket, TracePacketDefaults, TrackDescriptor, TrackEvent, UNIT_COUNT,
};

/// The one sequence of a file: whoever numbers it is the one who wrote it.
const SEQUENCE: u32 = 1;
/// Bytes of interned texts above which all are forgotten: job ids and objects keep coming.
const MAX_INTERNED_BYTES: usize = 4 << 20;
/// Last time that fits into nanoseconds of 64 bits with a sign, as Perfetto keeps them.
const MAX_US: i64 = i64::MAX / 1000;

/// Nanoseconds since the epoch; `None` for what cannot be drawn.
pub(crate) fn ns(us: i64) -> Option<u64> {
    u64::try_from(us).ok().filter(|_| us <= MAX_US).map(|us| us * 1000)
}

/// The value of an argument.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Uint(u64),
    Int(i64),
    Bool(bool),
}

/// Name and value.
pub(crate) type Argument = (&'static str, Value);

/// What a slice or an instant says.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Label<'a> {
    pub(crate) category: &'static str,
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a [Argument],
    pub(crate) flows: &'a [u64],
    pub(crate) terminating_flows: &'a [u64],
}

/// Texts of one kind and their numbers.
#[derive(Debug, Default)]
struct TextNumbers {
    numbers: FxHashMap<Box<str>, u64>,
    /// Not written yet.
    fresh: Vec<InternedName>,
}

impl TextNumbers {
    fn number(&mut self, text: &str, bytes: &mut usize) -> u64 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.numbers.len() as u64 + 1;
        *bytes += text.len();
        self.numbers.insert(text.into(), number);
        self.fresh.push(InternedName { iid: Some(number), name: Some(text.to_owned()) });
        number
    }
}

#[derive(Debug, Default)]
struct Interned {
    categories: TextNumbers,
    names: TextNumbers,
    argument_names: TextNumbers,
    texts: TextNumbers,
    bytes: usize,
}

impl Interned {
    /// What has come in since the last packet.
    fn fresh(&mut self) -> Option<InternedData> {
        let take = |names: &mut TextNumbers| std::mem::take(&mut names.fresh);
        let data = InternedData {
            event_categories: take(&mut self.categories),
            event_names: take(&mut self.names),
            debug_annotation_names: take(&mut self.argument_names),
            debug_annotation_string_values: take(&mut self.texts),
        };
        (data != InternedData::default()).then_some(data)
    }
}

/// How a track is shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Track<'a> {
    pub(crate) parent: Option<u64>,
    pub(crate) name: &'a str,
    /// Place among its siblings.
    pub(crate) rank: i32,
    /// Process id: the track stands for a process.
    pub(crate) process: Option<i32>,
    /// Unit: the track is a counter.
    pub(crate) unit: Option<Unit>,
}

/// What a counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    BytesPerSecond,
    Rpcs,
}

/// A trace file being written.
pub(crate) struct TraceFile {
    out: BufWriter<File>,
    /// Bytes so far.
    pub(crate) bytes: u64,
    buffer: Vec<u8>,
    interned: Interned,
    next_uuid: u64,
    /// The clock has been set.
    started: bool,
    /// The next packet begins with nothing interned.
    cleared: bool,
    error: Option<io::Error>,
}

impl TraceFile {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        Ok(Self {
            out: BufWriter::with_capacity(1 << 20, File::create(path)?),
            bytes: 0,
            buffer: Vec::new(),
            interned: Interned::default(),
            next_uuid: 1,
            started: false,
            cleared: true,
            error: None,
        })
    }

    /// Whether something could not be written; [`Self::finish`] will say what.
    pub(crate) fn failed(&self) -> bool {
        self.error.is_some()
    }

    pub(crate) fn finish(mut self) -> io::Result<u64> {
        if let Some(err) = self.error {
            return Err(err);
        }
        self.out.flush()?;
        Ok(self.bytes)
    }

    /// Declares a track.
    pub(crate) fn track(&mut self, track: &Track<'_>) -> u64 {
        let uuid = self.next_uuid;
        self.next_uuid += 1;
        let descriptor = TrackDescriptor {
            uuid: Some(uuid),
            parent_uuid: track.parent,
            // A process is named by its own descriptor.
            name: track.process.is_none().then(|| track.name.to_owned()),
            process: track
                .process
                .map(|pid| ProcessDescriptor { pid: Some(pid), process_name: Some(track.name.to_owned()) }),
            counter: track.unit.map(|unit| match unit {
                Unit::BytesPerSecond => CounterDescriptor { unit: None, unit_name: Some("B/s".to_owned()) },
                Unit::Rpcs => CounterDescriptor { unit: Some(UNIT_COUNT), unit_name: None },
            }),
            child_ordering: Some(ORDER_EXPLICIT),
            sibling_order_rank: Some(track.rank),
        };
        self.packet(TracePacket { track_descriptor: Some(descriptor), ..TracePacket::default() });
        uuid
    }

    pub(crate) fn begin(&mut self, track: u64, at_ns: u64, label: &Label<'_>) {
        self.event(track, at_ns, EventType::SliceBegin, label);
    }

    pub(crate) fn end(&mut self, track: u64, at_ns: u64) {
        self.event(track, at_ns, EventType::SliceEnd, &Label::default());
    }

    pub(crate) fn slice(&mut self, track: u64, from_ns: u64, to_ns: u64, label: &Label<'_>) {
        self.begin(track, from_ns, label);
        self.end(track, to_ns);
    }

    pub(crate) fn instant(&mut self, track: u64, at_ns: u64, label: &Label<'_>) {
        self.event(track, at_ns, EventType::Instant, label);
    }

    pub(crate) fn counter(&mut self, track: u64, at_ns: u64, value: f64) {
        self.start(at_ns);
        let event = TrackEvent {
            r#type: Some(EventType::Counter as i32),
            track_uuid: Some(track),
            double_counter_value: Some(value),
            ..TrackEvent::default()
        };
        self.packet(TracePacket { timestamp: Some(at_ns), track_event: Some(event), ..TracePacket::default() });
    }

    fn event(&mut self, track: u64, at_ns: u64, kind: EventType, label: &Label<'_>) {
        self.start(at_ns);
        if self.interned.bytes > MAX_INTERNED_BYTES {
            self.interned = Interned::default();
            self.cleared = true;
        }
        let Interned { categories, names, argument_names, texts, bytes } = &mut self.interned;
        let mut annotation = |(name, value): &Argument| {
            let mut annotation =
                DebugAnnotation { name_iid: Some(argument_names.number(name, bytes)), ..DebugAnnotation::default() };
            match value {
                Value::Text(text) => annotation.string_value_iid = Some(texts.number(text, bytes)),
                Value::Uint(number) => annotation.uint_value = Some(*number),
                Value::Int(number) => annotation.int_value = Some(*number),
                Value::Bool(flag) => annotation.bool_value = Some(*flag),
            }
            annotation
        };
        let debug_annotations = label.arguments.iter().map(&mut annotation).collect();
        let is_end = kind == EventType::SliceEnd;
        let event = TrackEvent {
            r#type: Some(kind as i32),
            track_uuid: Some(track),
            category_iids: if is_end { Vec::new() } else { vec![categories.number(label.category, bytes)] },
            name_iid: (!is_end).then(|| names.number(label.name, bytes)),
            debug_annotations,
            flow_ids: label.flows.to_vec(),
            terminating_flow_ids: label.terminating_flows.to_vec(),
            double_counter_value: None,
        };
        self.packet(TracePacket { timestamp: Some(at_ns), track_event: Some(event), ..TracePacket::default() });
    }

    /// Says once which clock times are on, and that its time is that of the trace: the UI then shows the time of day.
    fn start(&mut self, at_ns: u64) {
        if self.started {
            return;
        }
        self.started = true;
        let clock = |id| Clock { clock_id: Some(id), timestamp: Some(at_ns) };
        let clocks = vec![clock(CLOCK_BOOTTIME), clock(CLOCK_REALTIME)];
        let snapshot = ClockSnapshot { clocks, primary_trace_clock: Some(CLOCK_REALTIME) };
        self.packet(TracePacket { clock_snapshot: Some(snapshot), ..TracePacket::default() });
    }

    fn packet(&mut self, mut packet: TracePacket) {
        packet.trusted_packet_sequence_id = Some(SEQUENCE);
        packet.sequence_flags = Some(SEQ_NEEDS_INCREMENTAL_STATE);
        packet.interned_data = self.interned.fresh();
        if std::mem::take(&mut self.cleared) {
            packet.sequence_flags = Some(SEQ_INCREMENTAL_STATE_CLEARED | SEQ_NEEDS_INCREMENTAL_STATE);
            packet.trace_packet_defaults = Some(TracePacketDefaults { timestamp_clock_id: Some(CLOCK_REALTIME) });
        }
        if self.error.is_some() {
            return;
        }
        let trace = Trace { packet: vec![packet] };
        self.buffer.clear();
        let written = match trace.encode(&mut self.buffer) {
            Ok(()) => self.out.write_all(&self.buffer),
            Err(err) => Err(io::Error::other(err)),
        };
        self.bytes += self.buffer.len() as u64;
        self.error = written.err();
    }
}
