//! A log as it was, out of what arrived: one pass over its lines, one record after the other.

use std::borrow::Cow;
use std::ops::Range;

use lustre_debuglog::frame::text::{
    LineHeaders, MAX_RECORD, SUMMARY, TextItem, TextRecords, header_len, starts_like_header,
};
use lustre_debuglog::frame::{SkipReason, Skipped};
use lustre_debuglog::message::Handled;
use lustre_debuglog::record::mask;
use lustre_debuglog::{Message, Record};
use smallvec::SmallVec;

use super::kinds::{Repair, Repairs};
use super::wrap::{self, Take, Whole, Widths};
use super::{characters, prefix};

/// Most lines of a record. A text has at most 4096 bytes.
const MAX_LINES: usize = 4096;

/// Masks of the messages that are read and that begin in many ways. Of the others (`net`, `dlmtrace`) there are too many to look at each text
/// that is not known; they begin with a word, or with what hides it.
const FEW: u32 = mask::RPCTRACE | mask::VFSTRACE | mask::FOR_PEOPLE;
/// All masks of the messages that are read.
const READ_MASKS: u32 = FEW | mask::DLMTRACE | mask::NET;

/// Whether a text may have been changed on its way: a message that is broken, or may be of a longer one or another than it was parsed as.
/// The decoder asks this before it has anything repaired, the repair before it touches a line: with one answer, what is read does not
/// depend on where chunks end. Names with entities in them fit, too: [`holds_markup`].
#[inline(always)]
pub(crate) fn may_be_changed(message: &Message<'_>, record: &Record<'_>, is_continued: bool) -> bool {
    match message {
        Message::Malformed(_) => true,
        // Headers may stand in the lines behind any record.
        Message::Other if is_continued => record.mask & READ_MASKS != 0 || holds_header(record.text),
        // Blanks were doubled, or words stand for signs.
        Message::Other if record.mask & FEW != 0 => {
            characters::is_changed(record.text) || characters::begins_changed(record.text)
        }
        Message::Other => record.text.first().is_some_and(|byte| !matches!(byte, b' '..=b'~' if *byte != b'&')),
        message if wrap::may_have_breaks(message) => {
            // Blanks within a name, which do not fit either, come from breaks.
            let is_broken = || holds_header(record.text) || !wrap::may_have_own_breaks(record.text);
            is_continued && (is_broken() || wrap::fit(message) != wrap::Fit::Wholly)
                || wrap::may_be_longer(message) && characters::may_be_changed(record.message())
        }
        _ => is_continued,
    }
}

/// Whether names hold entities or tags of HTML, or dashes that are none: they can be anything, so the message fits with them.
pub(crate) fn holds_markup(message: &Message<'_>, text: &[u8]) -> bool {
    match message {
        Message::Handling(rpc) | Message::Handled(Handled { rpc, .. }) if text.is_ascii() => {
            rpc.job.is_some_and(characters::has_markup)
        }
        _ => characters::is_disguised(text),
    }
}

/// A record as it was logged.
#[derive(Debug)]
pub(crate) struct Logged<'a> {
    /// Its header, perhaps without the blank at its end.
    header: &'a [u8],
    /// Its text has no line break at its end.
    pub(crate) record: Record<'a>,
    /// What the text was parsed as.
    pub(crate) message: &'a Message<'a>,
}

impl Logged<'_> {
    /// Appends it as `lctl` prints it.
    pub(crate) fn append(&self, out: &mut Vec<u8>) {
        for bytes in [self.header.strip_suffix(b" ").unwrap_or(self.header), b" ", self.record.text, b"\n"] {
            out.extend_from_slice(bytes);
        }
    }

    /// Whether its text may hold other records, or what is none: whoever reads it must find those.
    pub(crate) fn may_hold_others(&self) -> bool {
        let text = self.record.text;
        let may_be_other = |at: usize| match &text[at..] {
            [b')', b')', b' ', ..] => text[..at].ends_with(b"("),
            [b'\n', behind, ..] => matches!(behind, b'\0' | b'D'),
            _ => false,
        };
        text.len() > MAX_RECORD / 2 || memchr::memchr2_iter(b'\n', b')', text).any(may_be_other)
    }
}

/// A line of a record: where it stands in the text that it came in.
#[derive(Clone, Copy, Debug)]
struct Line {
    start: usize,
    /// Behind what stood before it.
    text: usize,
    end: usize,
}

/// The lines of one record, as they arrived but for what stood before them. They stay in the text that they came in.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// What stood before its header.
    prefix: Vec<u8>,
    /// .. in the same line.
    is_prefixed: bool,
    /// Lines that came behind it.
    arrived: usize,
    lines: Vec<Line>,
    /// Bytes of them.
    bytes: usize,
    /// How many lines there are up to the last one that is no break's: it stood behind the same as the header, or begins with a blank.
    own: usize,
    broken: BrokenHeaders,
    headers: LineHeaders,
}

/// Headers put together out of several lines.
#[derive(Debug, Default)]
struct BrokenHeaders {
    /// .. as these are.
    joined: Vec<u8>,
    /// .. without what an editor put there.
    unmarked: Vec<u8>,
}

/// Lines of a record. Most are broken into few.
type Lines<'a> = SmallVec<[&'a [u8]; 8]>;

impl Group {
    /// Begins with a line of `text` whose header is at `start` of it, behind `previous`.
    pub(crate) fn begin(&mut self, text: &[u8], line: Range<usize>, start: usize, previous: &[u8]) {
        let before = prefix::standing_before(&text[line.clone()], start, previous);
        if self.prefix != *before {
            self.prefix.clear();
            self.prefix.extend_from_slice(&before);
        }
        self.is_prefixed = start > 0;
        self.lines.clear();
        (self.arrived, self.bytes, self.own) = (0, 0, 0);
        self.push(Line { start: line.start, text: line.start + start, end: line.end });
    }

    /// Takes a line without header.
    pub(crate) fn go_on(&mut self, text: &[u8], line: Range<usize>) {
        self.arrived += 1;
        let whole = &text[line.clone()];
        let rest = prefix::without(whole, &self.prefix, self.arrived);
        let has_room = self.lines.len() < MAX_LINES && self.bytes + whole.len() <= MAX_RECORD;
        // What doubles line breaks leaves empty lines.
        let is_none = match rest.first() {
            Some(b'D') => rest.starts_with(SUMMARY),
            Some(byte) => byte.is_ascii_whitespace() && rest.trim_ascii().is_empty(),
            None => true,
        };
        if has_room && !is_none {
            self.push(Line { start: line.start, text: line.end - rest.len(), end: line.end });
            if rest.len() < whole.len() || characters::begins_with_blank(rest) {
                self.own = self.lines.len();
            }
        }
    }

    fn push(&mut self, line: Line) {
        self.bytes += line.end - line.start;
        self.lines.push(line);
    }

    /// Whether `line` stands behind the same prefix, which must be there.
    pub(crate) fn is_prefixed(&self, line: &[u8]) -> bool {
        !self.prefix.is_empty() && line.starts_with(&self.prefix)
    }

    /// Whether there is a record.
    pub(crate) fn is_open(&self) -> bool {
        !self.lines.is_empty()
    }

    /// Whether the lines so far begin with a whole header.
    pub(crate) fn has_header(&mut self, text: &[u8]) -> bool {
        self.is_open() && header_of(&lines_of(text, &self.lines), &mut self.broken, &mut self.headers).is_some()
    }

    /// Whether the lines so far are a whole record: what follows is not needed.
    fn is_whole(&mut self, text: &[u8]) -> bool {
        let mut lines = lines_of(text, &self.lines);
        let Some(header) = header_of(&lines, &mut self.broken, &mut self.headers) else { return false };
        let texts = header.texts(&mut lines);
        let arrived = Arrived::behind(header.breaks, text, &self.lines, self.own);
        let widths = widths_of(&self.lines);
        texts.len() == 1 && !wrap::begins_known(texts[0])
            || put_together_without_signs(texts, &arrived, (&widths, header.breaks), &mut |_, _| {})
                .is_some_and(|whole| whole.fits)
    }

    /// Whether a line may be the rest of the record.
    pub(crate) fn may_go_on(&mut self, text: &[u8]) -> bool {
        self.is_open() && !self.is_whole(text)
    }

    /// Ends the record and gives it to `take`, if it has a whole header.
    pub(crate) fn end(&mut self, text: &[u8], repairs: &mut Repairs, mut take: impl FnMut(&Logged<'_>)) {
        if self.is_open() {
            self.hand_on(text, repairs, &mut take);
            self.lines.clear();
        }
    }

    fn hand_on(&mut self, text: &[u8], repairs: &mut Repairs, take: &mut impl FnMut(&Logged<'_>)) {
        // Most records are of one line, and only something stood before that.
        if let [line] = self.lines[..] {
            let line = &text[line.text..line.end];
            let Some(record) = self.headers.record_in(line) else { return };
            let message = Message::parse(&record);
            repairs.add(Repair::Prefix, u64::from(self.is_prefixed));
            let header = &line[..line.len() - record.text.len()];
            if !may_be_changed(&message, &record, false) && !holds_markup(&message, record.text) {
                take(&Logged { header, record, message: &message });
                return;
            }
            let mut hand_on = |text: &[u8], message: &Message<'_>| {
                take(&Logged { header, record: Record { text, ..record }, message });
            };
            let whole = wrap::one_line(record.text, &message, &mut hand_on);
            hand_on_whole(whole, &[record.text], repairs, &mut hand_on);
            return;
        }
        let mut lines = lines_of(text, &self.lines);
        let Some(header) = header_of(&lines, &mut self.broken, &mut self.headers) else { return };
        repairs.add(Repair::Prefix, u64::from(self.is_prefixed));
        repairs.add(Repair::Wrapped, header.breaks as u64);
        let texts = header.texts(&mut lines);
        // Only its header was broken.
        if let [text] = *texts {
            let record = Record { text, ..header.record };
            let message = Message::parse(&record);
            if !may_be_changed(&message, &record, false) && !holds_markup(&message, record.text) {
                take(&Logged { header: header.bytes, record, message: &message });
                return;
            }
        }
        let mut hand_on = |text: &[u8], message: &Message<'_>| {
            take(&Logged { header: header.bytes, record: Record { text, ..header.record }, message });
        };
        // Broken behind its header only, by whoever breaks lines at blanks: nothing else can be made of it.
        if let [[], [b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z', ..]] = *texts
            && wrap::take_whole(texts[1], &mut hand_on)
        {
            repairs.add(Repair::Wrapped, 1);
            return;
        }
        let arrived = Arrived::behind(header.breaks, text, &self.lines, self.own);
        let widths = widths_of(&self.lines);
        let whole = put_together_without_signs(texts, &arrived, (&widths, header.breaks), &mut hand_on);
        hand_on_whole(whole, texts, repairs, &mut hand_on);
    }
}

/// Counts what was done to make a text of `texts`, and gives it to `take` if it was not taken yet.
fn hand_on_whole(whole: Option<Whole>, texts: &[&[u8]], repairs: &mut Repairs, take: &mut Take<'_>) {
    let Some(Whole { text, breaks, own_breaks, repair, .. }) = whole else {
        // Of no known kind, or damaged: as it came.
        let text = texts.join(&b'\n');
        take(&text, &Message::parse_text(&text));
        return;
    };
    if let Some(text) = text {
        take(&text, &Message::parse_text(&text));
    }
    repairs.add(Repair::Wrapped, (breaks - own_breaks) as u64);
    if let Some(repair) = repair {
        repairs.add(repair, 1);
    }
}

fn lines_of<'a>(text: &'a [u8], lines: &[Line]) -> Lines<'a> {
    lines.iter().map(|line| &text[line.text..line.end]).collect()
}

/// How long lines were as they arrived.
fn widths_of(lines: &[Line]) -> SmallVec<[usize; 8]> {
    lines.iter().map(|line| line.end - line.start).collect()
}

/// The lines of a text as they arrived.
struct Arrived<'a> {
    text: &'a [u8],
    /// Their texts.
    lines: &'a [Line],
    /// See [`Group::own`].
    own: usize,
}

impl<'a> Arrived<'a> {
    /// Of a record, of which the first `header` lines hold nothing but its header.
    fn behind(header: usize, text: &'a [u8], lines: &'a [Line], own: usize) -> Self {
        Self { text, lines: &lines[header..], own: own.saturating_sub(header) }
    }

    /// A line with what stood before its text.
    fn line(&self, i: usize) -> &'a [u8] {
        let Line { start, end, .. } = self.lines[i];
        &self.text[start..end]
    }
}

/// The same of lines of so many bytes, of which some hold the header only; before the rest of each, an editor may have put a sign. It may have
/// counted that as part of the line, or not.
fn put_together_without_signs(
    texts: &[&[u8]],
    arrived: &Arrived<'_>,
    (widths, header): (&[usize], usize),
    take: &mut Take<'_>,
) -> Option<Whole> {
    if let Some(unsigned) = wrap::without_signs(texts) {
        let marks = texts.iter().zip(&unsigned).map(|(text, unsigned)| text.len() - unsigned.len());
        let marks = std::iter::repeat_n(0, header).chain(marks);
        let without: SmallVec<[usize; 8]> = widths.iter().zip(marks).map(|(width, mark)| width - mark).collect();
        for widths in [&without, widths] {
            if let Some(whole) =
                put_together(&unsigned, arrived, Widths::of(widths, header), take).filter(|whole| whole.fits)
            {
                return Some(whole);
            }
        }
    }
    let arrived_widths = Widths::of(widths, header);
    let mut rest = texts.iter().zip(&widths[header..]).skip(1);
    if rest.all(|(text, width)| text.len() == *width) {
        return put_together(texts, arrived, arrived_widths, take);
    }
    // What was taken for the prefix of the rest may have been put there by whoever broke the line, and not counted.
    let own = texts.iter().skip(1).map(|text| text.len());
    let own: SmallVec<[usize; 8]> = widths.iter().take(header + 1).copied().chain(own).collect();
    let own_widths = Widths::of(&own, header);
    if own_widths.full_lines() > arrived_widths.full_lines()
        && let Some(whole) = put_together(texts, arrived, own_widths, take).filter(|whole| whole.fits)
    {
        return Some(whole);
    }
    put_together(texts, arrived, arrived_widths, take)
}

/// Puts the text of a record together. Where that does not succeed, lines are left out that may be none of it: prefixes that a break left
/// alone, and remarks before the last line of its own. And what looks like a prefix may be the text behind a break.
fn put_together(texts: &[&[u8]], arrived: &Arrived<'_>, widths: Widths<'_>, take: &mut Take<'_>) -> Option<Whole> {
    if wrap::may_begin_with_breaks(texts[0]) && texts.iter().skip(1).any(|text| wrap::is_behind_own_break(text)) {
        let as_it_is = texts.join(&b'\n');
        let message = Message::parse_text(&as_it_is);
        if wrap::has_own_breaks(&message) {
            take(&as_it_is, &message);
            let breaks = texts.len() - 1;
            return Some(Whole { text: None, breaks, own_breaks: breaks, repair: None, fits: true });
        }
    }
    // With these a job's name would fit, too.
    if let Some(unmarked) = wrap::without_end_marks(texts)
        && let Some(whole) = wrap::whole(&unmarked, widths, take).filter(|whole| whole.fits)
    {
        return Some(whole);
    }
    let found = wrap::whole(texts, widths, take);
    // In a log with many masks most texts are of no kind.
    if found.as_ref().is_some_and(|whole| whole.fits) || !texts[0].is_empty() && wrap::is_of_no_kind(texts) {
        return found;
    }
    for unmarked in wrap::unmarked(texts) {
        if let Some(whole) = wrap::whole(&unmarked, widths, take).filter(|whole| whole.fits) {
            return Some(whole);
        }
    }
    let mut without = |is_left_out: &dyn Fn(usize, &[u8]) -> bool| {
        let own: Vec<usize> = (0..texts.len()).filter(|&i| i == 0 || !is_left_out(i, texts[i])).collect();
        if own.len() == texts.len() {
            return None;
        }
        let own_texts: Vec<&[u8]> = own.iter().map(|&i| texts[i]).collect();
        let own_widths: Vec<usize> = own.iter().filter_map(|&i| widths.lines.get(i).copied()).collect();
        let whole =
            wrap::whole(&own_texts, Widths { lines: &own_widths, ..widths }, take).filter(|whole| whole.fits)?;
        Some(Whole { breaks: own[whole.breaks], ..whole })
    };
    without(&|_, text| prefix::is_bare(text))
        .or_else(|| without(&|i, text| prefix::is_bare(text) || i + 1 < arrived.own && is_remark(text)))
        .or_else(|| {
            let is_behind_break = |i: usize| i > 0 && widths.is_full(i - 1);
            let lines: Lines<'_> =
                (0..texts.len()).map(|i| if is_behind_break(i) { arrived.line(i) } else { texts[i] }).collect();
            if lines.iter().zip(texts).all(|(line, text)| line.len() == text.len()) {
                return None;
            }
            wrap::whole(&lines, widths, take).filter(|whole| whole.fits)
        })
        .or(found)
}

/// Whether a line may be somebody's words: nothing in it that parts of messages have.
fn is_remark(line: &[u8]) -> bool {
    !line.starts_with(b" ") && !line.iter().any(|byte| matches!(byte, b'@' | b'>' | b'/' | b'[' | b'(' | b':'))
}

/// The header of a group of lines.
struct Header<'a> {
    bytes: &'a [u8],
    /// The text is empty.
    record: Record<'a>,
    /// Its line breaks.
    breaks: usize,
    /// What stands behind it in its last line.
    text: &'a [u8],
}

impl<'a> Header<'a> {
    fn new(joined: &'a [u8], record: Record<'a>, breaks: usize, text: &'a [u8]) -> Self {
        Self {
            bytes: &joined[..joined.len() - record.text.len()],
            record: Record { text: b"", ..record },
            breaks,
            text,
        }
    }

    /// The text and the lines behind it, in place of those that the header was in.
    fn texts<'l>(&self, lines: &'l mut [&'a [u8]]) -> &'l [&'a [u8]] {
        let texts = &mut lines[self.breaks..];
        texts[0] = self.text;
        texts
    }
}

/// The header at the start of `lines`, which may be broken into several.
fn header_of<'a>(lines: &[&'a [u8]], broken: &'a mut BrokenHeaders, headers: &mut LineHeaders) -> Option<Header<'a>> {
    let first = *lines.first()?;
    // Before its end there is no need to read it.
    if memchr::memchr(b')', first).is_some()
        && let Some(record) = headers.record_in(first)
    {
        return Some(Header::new(first, record, 0, record.text));
    }
    let BrokenHeaders { joined, unmarked } = broken;
    if let Some(end) = join_header(lines, joined)
        && let Some(record) = headers.record_in(joined)
    {
        return end.header(joined, record);
    }
    let mut is_header =
        |lines: &[&'a [u8]]| join_header(lines, unmarked).filter(|_| headers.record_in(unmarked).is_some());
    let end = match wrap::without_end_marks(lines).and_then(|lines| is_header(&lines)) {
        Some(end) => end,
        None => wrap::unmarked(lines).find_map(|lines| is_header(&lines))?,
    };
    end.header(unmarked, headers.record_in(unmarked)?)
}

/// Where a broken header ends.
struct HeaderEnd<'a> {
    /// The number of its breaks, and the line behind the last one.
    breaks: usize,
    line: &'a [u8],
    /// Bytes of it in lines before that.
    before: usize,
}

impl<'a> HeaderEnd<'a> {
    /// The header, as it was read in `joined`.
    fn header(&self, joined: &'a [u8], record: Record<'a>) -> Option<Header<'a>> {
        let text = self.line.get((joined.len() - record.text.len()).checked_sub(self.before)?..)?;
        Some(Header::new(joined, record, self.breaks, text))
    }
}

/// Puts what may be a broken header together, with the line that it ends in. A header has a blank at its end only: what breaks it elsewhere
/// breaks words, and quoted-printable or HTML leaves a sign there.
fn join_header<'a>(lines: &[&'a [u8]], joined: &mut Vec<u8>) -> Option<HeaderEnd<'a>> {
    joined.clear();
    joined.extend_from_slice(characters::without_break(lines.first()?));
    for (i, line) in lines.iter().enumerate().skip(1).take(4) {
        let before = joined.len();
        joined.extend_from_slice(line);
        // Its end may be broken, too.
        if prefix::has_header_end(&joined[before.saturating_sub(2)..]) {
            return Some(HeaderEnd { breaks: i, line, before });
        }
        joined.truncate(characters::without_break(joined).len());
    }
    None
}

/// Whether something that is no log stands before a record: behind a header ends a line only.
pub(crate) fn is_behind_prefix(record: &Record<'_>, is_continued: bool) -> bool {
    is_continued && !record.text.ends_with(b"\n")
}

/// Whether bytes that no record begins with may hold one.
pub(crate) fn may_hold_record(skipped: &[u8]) -> bool {
    !skipped.contains(&0) && (!skipped.ends_with(b"\n") || holds_header(skipped))
}

/// Lines behind the first one in which a header is looked for: where headers are broken, most are.
const FIRST_LINES: usize = 8;

/// Whether a piece of text begins with neither a record nor what a crash or `lctl` leaves there, or the next header is broken.
pub(crate) fn begins_elsewhere(data: &[u8]) -> bool {
    let mut next_lines = lines(data).skip(1).take(FIRST_LINES);
    data.first().is_some_and(|byte| *byte != 0) && !data.starts_with(SUMMARY) && header_len(data).is_none()
        || next_lines.find(|line| starts_like_header(line)).is_some_and(|line| header_len(line).is_none())
}

/// A piece of text, whole records, as it was logged: itself where nothing was changed. And what was left out of it because it is no record.
pub(crate) fn as_logged(data: &[u8]) -> (Cow<'_, [u8]>, Vec<Skipped>) {
    let repaired_from = |at: usize| {
        let mut text = Vec::with_capacity(data.len());
        text.extend_from_slice(&data[..at]);
        let Repaired { skipped, .. } = repaired(data, at, |logged| logged.append(&mut text));
        (Cow::Owned(text), skipped)
    };
    if begins_elsewhere(data) {
        return repaired_from(0);
    }
    let mut records = TextRecords::new(data);
    while let Some(item) = records.next() {
        let (at, is_changed) = match item {
            TextItem::Record(record, at) => {
                let is_continued = records.is_continued();
                let message = Message::parse(&record);
                let is_changed = is_behind_prefix(&record, is_continued)
                    || may_be_changed(&message, &record, is_continued)
                    || holds_markup(&message, record.text);
                (at, is_changed)
            }
            TextItem::Skipped(Skipped { offset, len, .. }) => (offset, may_hold_record(&data[offset..offset + len])),
            TextItem::Summary(at, _) => (at, false),
        };
        if is_changed {
            return repaired_from(at);
        }
    }
    (Cow::Borrowed(data), Vec::new())
}

/// What was done to a piece of text.
#[derive(Debug, Default)]
pub(crate) struct Repaired {
    /// Lines repaired.
    pub(crate) repairs: Repairs,
    /// Bytes before the first record, and NULs: no text holds those, a crashed or full file system leaves them.
    pub(crate) skipped: Vec<Skipped>,
}

/// Repairs a piece of text that ends with whole records, from `from` on, and gives them to `take`.
pub(crate) fn repaired(data: &[u8], from: usize, mut take: impl FnMut(&Logged<'_>)) -> Repaired {
    let mut repairs = Repairs::default();
    let mut skipped: Vec<Skipped> = Vec::new();
    let mut group = Group::default();
    let (mut usual, mut seen, mut in_nuls) = (0, false, false);
    let mut previous = &b""[..];
    // The last line before the first header: what stands before that may have been left there by a break.
    let mut leading = None;
    let mut skip = |offset: usize, len: usize| {
        let len = len.min(data.len() - offset);
        match skipped.last_mut() {
            Some(Skipped { offset: at, len: before, .. }) if *at + *before == offset => *before += len,
            _ => skipped.push(Skipped { offset, len, why: SkipReason::NoHeader }),
        }
    };
    for line in lines(&data[from..]) {
        let at = line.as_ptr().addr() - data.as_ptr().addr();
        let place = at..at + line.len();
        if let Some(start) = prefix::header_start(line, usual) {
            group.end(data, &mut repairs, &mut take);
            if let Some((at, len)) = leading.take()
                && (start > 0 || previous.is_empty() || !prefix::is_bare(previous))
            {
                skip(at, len);
            }
            if line[..start].first() == Some(&0) {
                skip(at, start);
                usual = 0;
                group.begin(data, at + start..place.end, 0, b"");
            } else {
                usual = start;
                group.begin(data, place, start, previous);
            }
            (seen, in_nuls) = (true, false);
            previous = b"";
            continue;
        }
        previous = line;
        // As framing does: a line that begins with NULs ends the record, up to the next header.
        in_nuls |= line.first() == Some(&0);
        if seen && !in_nuls {
            group.go_on(data, place);
        } else if let Some((at, len)) = leading.replace((at, line.len() + 1)) {
            skip(at, len);
        }
    }
    if let Some((at, len)) = leading {
        skip(at, len);
    }
    group.end(data, &mut repairs, &mut take);
    Repaired { repairs, skipped }
}

/// The lines of `data`, without their ends.
pub(crate) fn lines(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = data;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (line, behind) = match memchr::memchr(b'\n', rest) {
            Some(at) => (&rest[..at], &rest[at + 1..]),
            None => (rest, &rest[rest.len()..]),
        };
        rest = behind;
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    })
}

/// Where to cut `data` so that the first part holds whole records only: the start of the last line with a header in it, whatever stands
/// before that. `None`: there is none but at the very start.
pub(crate) fn find_cut(data: &[u8]) -> Option<usize> {
    let mut end = data.len();
    while let Some(newline) = memchr::memrchr(b'\n', &data[..end]) {
        let line = newline + 1;
        if prefix::header_start(&data[line..end], 0).is_some() {
            return Some(line);
        }
        end = newline;
    }
    None
}

/// A text is a log if its first header stands within so many bytes: tickets and mails have a head, and may quote what was written before.
const MAX_LEADING: usize = 48 << 10;
/// Of the lines behind its first header, one in so many holds one: a line is broken into a dozen at most, documents quote few.
const LINES_PER_HEADER: usize = 16;

/// Whether a text that begins with `head` is a log, in whatever envelope.
pub(crate) fn is_log(head: &[u8]) -> bool {
    let (mut headers, mut behind, mut usual, mut has_whole) = (0, 0, 0, false);
    for line in lines(head) {
        let at = line.as_ptr().addr() - head.as_ptr().addr();
        if headers == 0 && at > MAX_LEADING {
            return false;
        }
        // Strings of JSON: tools that read crash dumps print those, and quote what is in them.
        let is_string = line.trim_ascii_start().starts_with(b"\"");
        // .. or all of it in one.
        let is_json = is_string || memchr::memmem::find_iter(line, b"\\n0").nth(1).is_some();
        match prefix::header_start(line, usual) {
            Some(start) if !is_json => {
                usual = start;
                headers += 1;
                has_whole = has_whole || header_len(&line[start..]).is_some();
            }
            _ if headers > 0 && !line.trim_ascii().is_empty() => behind += 1,
            _ => {}
        }
    }
    // Something that begins as headers do, and is none, may stand at each line: one record at least must be there.
    let has_record = || {
        let mut has_any = false;
        repaired(head, 0, |_| has_any = true);
        has_any
    };
    headers > 0 && headers * LINES_PER_HEADER >= behind && (has_whole || has_record())
}

/// Lines at the beginning of a text that may be the rest of a record whose beginning was cut off.
const MAX_REST: usize = 2;

/// Whether what stands before the first record of a text is what somebody wrote there: no part of the log is missing.
pub(crate) fn are_remarks(leading: &[u8]) -> bool {
    let is_text = |byte: &u8| !byte.is_ascii_control() || matches!(byte, b'\n' | b'\r' | b'\t' | 0x1b);
    // `{noformat}`, `<pre>`, `[code]`: nothing else is in these lines.
    let is_tag = |line: &[u8]| {
        let line = line.trim_ascii();
        let ends = [(b'{', b'}'), (b'<', b'>'), (b'[', b']')];
        ends.iter().any(|(first, last)| line.first() == Some(first) && line.last() == Some(last))
            && !line.contains(&b' ')
    };
    let remarks = || lines(leading).filter(|line| !line.trim_ascii().is_empty());
    leading.iter().all(is_text)
        && (remarks().count() > MAX_REST || remarks().all(|line| is_tag(line) || is_remark(line)))
}

/// Whether `line` holds the header of a record, whole or broken.
pub(crate) fn holds_header(data: &[u8]) -> bool {
    lines(data).any(|line| prefix::header_start(line, 0).is_some())
}
