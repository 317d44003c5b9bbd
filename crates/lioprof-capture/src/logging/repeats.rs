//! Messages that repeat themselves.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lioprof_model::lock;
use tracing::callsite::Identifier;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

lioprof_model::with_defaults! {
    /// How often the same line of the program may log a message.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) struct RepeatLimit {
        /// Largest number of messages ..
        pub(crate) messages: u32 = 5,
        /// .. within this time.
        pub(crate) per: Duration = Duration::from_secs(60),
    }
}

#[derive(Debug)]
struct Spoken {
    metadata: &'static Metadata<'static>,
    since: Instant,
    messages: u32,
    left_out: u64,
}

/// Who spoke how often. There are as many entries as lines of the program that log.
#[derive(Debug)]
pub(crate) struct Repeats {
    limit: RepeatLimit,
    spoken: Mutex<HashMap<Identifier, Spoken>>,
}

impl Repeats {
    pub(super) fn new(limit: RepeatLimit) -> Self {
        Self { limit, spoken: Mutex::default() }
    }

    /// Writes how often messages were left out since the last report.
    pub(crate) fn report(&self) {
        for (metadata, left_out) in self.take() {
            let (file, line) = (metadata.file().unwrap_or(""), metadata.line().unwrap_or(0));
            tracing::warn!(left_out, level = %metadata.level(), at = %format_args!("{file}:{line}"), "a message was repeated");
        }
    }

    /// The counts since the last time, in the order of files and lines.
    fn take(&self) -> Vec<(&'static Metadata<'static>, u64)> {
        let mut spoken = lock(&self.spoken);
        let counts = spoken.values_mut().map(|it| (it.metadata, std::mem::take(&mut it.left_out)));
        let mut counts: Vec<_> = counts.filter(|(_, left_out)| *left_out > 0).collect();
        counts.sort_by_key(|(metadata, _)| (metadata.file(), metadata.line()));
        counts
    }

    fn may_speak(&self, metadata: &'static Metadata<'static>, now: Instant) -> bool {
        let mut spoken = lock(&self.spoken);
        let entry =
            spoken.entry(metadata.callsite()).or_insert(Spoken { metadata, since: now, messages: 0, left_out: 0 });
        if now.saturating_duration_since(entry.since) >= self.limit.per {
            (entry.since, entry.messages) = (now, 0);
        }
        entry.messages = entry.messages.saturating_add(1);
        let may = entry.messages <= self.limit.messages;
        entry.left_out += u64::from(!may);
        may
    }

    pub(super) fn layer(self: &Arc<Self>, level: LevelFilter) -> RepeatLayer {
        RepeatLayer { repeats: Arc::clone(self), level }
    }
}

/// Lets the first messages of each line through, of those that are important enough. A layer over all and not a filter
/// of one: such filters (tracing-subscriber 0.3) lose track of an event that their `event_enabled` rejects.
#[derive(Debug)]
pub(super) struct RepeatLayer {
    repeats: Arc<Repeats>,
    level: LevelFilter,
}

impl<S: Subscriber> Layer<S> for RepeatLayer {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        *metadata.level() <= self.level
    }

    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if *metadata.level() <= self.level { Interest::always() } else { Interest::never() }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        // What tells of repetitions is not left out itself.
        let report = event.metadata().module_path() == Some(module_path!());
        report || self.repeats.may_speak(event.metadata(), Instant::now())
    }
}
