//! The messages of a Perfetto trace that are written here, and no other fields of them.
//!
//! Names and numbers: `protos/perfetto/trace/perfetto_trace.proto` of <https://github.com/google/perfetto>, where they
//! never change. `scripts/check-perfetto` decodes what is written with Perfetto's own descriptors. `TracePacket.data` and
//! `DebugAnnotation.value` are `oneof`s there: on the wire the same as optional fields of which one is set.

use prost::Message;

/// `BuiltinClock`: nanoseconds since the epoch.
pub(crate) const CLOCK_REALTIME: u32 = 1;
/// `BuiltinClock`: what Perfetto takes for a trace's time unless told otherwise.
pub(crate) const CLOCK_BOOTTIME: u32 = 6;
/// `TracePacket.SequenceFlags`: forget what was interned.
pub(crate) const SEQ_INCREMENTAL_STATE_CLEARED: u32 = 1;
/// `TracePacket.SequenceFlags`: refers to what was interned.
pub(crate) const SEQ_NEEDS_INCREMENTAL_STATE: u32 = 2;
/// `TrackDescriptor.ChildTracksOrdering`: by `sibling_order_rank`.
pub(crate) const ORDER_EXPLICIT: i32 = 3;
/// `CounterDescriptor.Unit`.
pub(crate) const UNIT_COUNT: i32 = 2;

/// `TrackEvent.Type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventType {
    SliceBegin = 1,
    SliceEnd = 2,
    Instant = 3,
    Counter = 4,
}

/// Declares messages: of each field the number, the name, the type here and that of Protocol Buffers.
macro_rules! messages {
    ($($(#[$meta:meta])* $message:ident {
        $($(#[$field_meta:meta])* $tag:literal $field:ident: $type:ty = ($($kind:tt)+),)+
    })+) => {$(
        $(#[$meta])*
        #[derive(Clone, PartialEq, Message)]
        pub(crate) struct $message {
            $($(#[$field_meta])* #[prost($($kind)+, tag = $tag)] pub(crate) $field: $type,)+
        }
    )+};
}

messages! {
    /// The file. Traces can be joined end to end: one packet at a time is written as a trace of its own.
    Trace {
        "1" packet: Vec<TracePacket> = (message, repeated),
    }

    TracePacket {
        "6" clock_snapshot: Option<ClockSnapshot> = (message, optional),
        /// Nanoseconds, on the clock that the packet defaults name.
        "8" timestamp: Option<u64> = (uint64, optional),
        "10" trusted_packet_sequence_id: Option<u32> = (uint32, optional),
        "11" track_event: Option<TrackEvent> = (message, optional),
        "12" interned_data: Option<InternedData> = (message, optional),
        "13" sequence_flags: Option<u32> = (uint32, optional),
        "59" trace_packet_defaults: Option<TracePacketDefaults> = (message, optional),
        "60" track_descriptor: Option<TrackDescriptor> = (message, optional),
    }

    TracePacketDefaults {
        "58" timestamp_clock_id: Option<u32> = (uint32, optional),
    }

    ClockSnapshot {
        "1" clocks: Vec<Clock> = (message, repeated),
        "2" primary_trace_clock: Option<u32> = (uint32, optional),
    }

    Clock {
        "1" clock_id: Option<u32> = (uint32, optional),
        "2" timestamp: Option<u64> = (uint64, optional),
    }

    TrackDescriptor {
        "1" uuid: Option<u64> = (uint64, optional),
        "2" name: Option<String> = (string, optional),
        "3" process: Option<ProcessDescriptor> = (message, optional),
        "5" parent_uuid: Option<u64> = (uint64, optional),
        "8" counter: Option<CounterDescriptor> = (message, optional),
        "11" child_ordering: Option<i32> = (int32, optional),
        "12" sibling_order_rank: Option<i32> = (int32, optional),
    }

    ProcessDescriptor {
        "1" pid: Option<i32> = (int32, optional),
        "6" process_name: Option<String> = (string, optional),
    }

    CounterDescriptor {
        "3" unit: Option<i32> = (int32, optional),
        "6" unit_name: Option<String> = (string, optional),
    }

    TrackEvent {
        "3" category_iids: Vec<u64> = (uint64, repeated, packed = "false"),
        "4" debug_annotations: Vec<DebugAnnotation> = (message, repeated),
        "9" r#type: Option<i32> = (int32, optional),
        "10" name_iid: Option<u64> = (uint64, optional),
        "11" track_uuid: Option<u64> = (uint64, optional),
        "44" double_counter_value: Option<f64> = (double, optional),
        "47" flow_ids: Vec<u64> = (fixed64, repeated, packed = "false"),
        "48" terminating_flow_ids: Vec<u64> = (fixed64, repeated, packed = "false"),
    }

    DebugAnnotation {
        "1" name_iid: Option<u64> = (uint64, optional),
        "2" bool_value: Option<bool> = (bool, optional),
        "3" uint_value: Option<u64> = (uint64, optional),
        "4" int_value: Option<i64> = (int64, optional),
        "17" string_value_iid: Option<u64> = (uint64, optional),
    }

    InternedData {
        "1" event_categories: Vec<InternedName> = (message, repeated),
        "2" event_names: Vec<InternedName> = (message, repeated),
        "3" debug_annotation_names: Vec<InternedName> = (message, repeated),
        "29" debug_annotation_string_values: Vec<InternedName> = (message, repeated),
    }

    /// `EventCategory`, `EventName`, `DebugAnnotationName` and `InternedString`, which are alike on the wire.
    InternedName {
        "1" iid: Option<u64> = (uint64, optional),
        "2" name: Option<String> = (string, optional),
    }
}
