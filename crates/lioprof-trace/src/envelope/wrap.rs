//! Lines that were broken: put together again.
//!
//! Mail clients break at blanks (and drop them), terminals and editors after so many columns, in mid-word. What fits the grammar of a
//! message counts. Of what can be longer in several ways, because it ends in a free text (a job, a mark), the shortest fits: remarks
//! stand between the lines of a log, too.

use std::ops::RangeInclusive;

use lustre_debuglog::Message;
use lustre_debuglog::message::{Handled, LdlmEvent, RefreshRwLocks, ReqEvent, ReqMessage};
use smallvec::SmallVec;

use super::characters;
use super::kinds::Repair;

/// Longest text put together: `lctl` prints no longer ones (`debug.c`, a buffer of 4097 bytes).
const MAX_TEXT: usize = 8192;

/// Most lines that a text is put together of: the longest text in columns of 64.
const MAX_BREAKS: usize = 64;

/// Takes a text that is a whole message of a known kind, and the message.
pub(crate) type Take<'t> = dyn FnMut(&[u8], &Message<'_>) + 't;

/// A text that fits the grammar, made of the first `lines`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Whole {
    /// `None`: it was taken.
    pub(crate) text: Option<Vec<u8>>,
    /// Lines behind the first one that it is made of.
    pub(crate) breaks: usize,
    /// .. whose breaks are its own.
    pub(crate) own_breaks: usize,
    /// What else was done to it.
    pub(crate) repair: Option<Repair>,
    /// It is a whole message of a known kind.
    pub(crate) fits: bool,
}

/// What stood where a line was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Between {
    /// A line break: the message has one.
    Line,
    Nothing,
    Blank,
    /// Nothing, where the word would be longer than a line; else a blank: whoever breaks at blanks has no other reason to break a word.
    Word,
    /// The same, and nothing behind a hyphen or a slash, where browsers and word processors break, too.
    Hyphen,
    /// As `Word`, and nothing behind a hyphen: what is longer than a line is broken behind its last hyphen there, or where the line ends.
    Cut,
}

/// What stood behind lines as long as the longest, and behind shorter ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Break(Between, Between);

impl Break {
    /// Nothing was broken.
    const LINES: Self = Self(Between::Line, Between::Line);
    /// Broken after so many columns, whatever stood there.
    const NOTHING: Self = Self(Between::Nothing, Between::Nothing);
    /// Broken at blanks.
    const BLANKS: Self = Self(Between::Blank, Between::Blank);
    /// Broken at blanks, and within words that are longer than a line.
    const WORDS: Self = Self(Between::Word, Between::Blank);
    /// The same, and characters in them were changed since, so that no line is known to be full.
    const CHANGED_WORDS: Self = Self(Between::Word, Between::Word);
    /// Broken at blanks and behind hyphens.
    const HYPHENS: Self = Self(Between::Hyphen, Between::Hyphen);
    /// The same, and words that are longer than a line without hyphens.
    const CUT_HYPHENS: Self = Self(Between::Cut, Between::Hyphen);
    /// Broken after so many columns; the message has line breaks of its own.
    const UNWRAPPED: Self = Self(Between::Nothing, Between::Line);
}

/// How long lines were as they arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Widths<'a> {
    /// Those that the text is made of.
    pub(crate) lines: &'a [usize],
    /// The longest of the record's.
    pub(crate) widest: usize,
    /// .. and of those that hold nothing but its header: no characters in these stand for others.
    pub(crate) widest_of_header: usize,
}

impl<'a> Widths<'a> {
    /// No line is full.
    const NONE: Self = Self { lines: &[], widest: 0, widest_of_header: 0 };

    /// Of a record, of which the first `header` lines hold nothing but its header.
    pub(crate) fn of(widths: &'a [usize], header: usize) -> Self {
        let (header, lines) = widths.split_at(header);
        Self::behind(header.iter().copied().max().unwrap_or(0), lines)
    }

    /// The same; somewhere else in the text a line is as long as `widest`.
    pub(crate) fn among(self, widest: usize) -> Self {
        Self { widest: self.widest.max(widest), ..self }
    }

    fn behind(widest_of_header: usize, lines: &'a [usize]) -> Self {
        Self { lines, widest: lines.iter().copied().fold(widest_of_header, usize::max), widest_of_header }
    }

    /// How long lines were before `lines` were made of the `changed` ones.
    fn before(&self, lines: &[&[u8]], changed: &[&[u8]]) -> SmallVec<[usize; 8]> {
        let lens = lines.iter().zip(changed).map(|(line, changed)| (line.len(), changed.len()));
        self.lines.iter().zip(lens).map(|(width, (now, before))| (width + before).saturating_sub(now)).collect()
    }

    /// How many characters of text a line has room for, behind what stood before it.
    fn room(&self, line: usize, text: &[u8]) -> usize {
        let before = self.lines.get(line).map_or(0, |width| width.saturating_sub(text.len()));
        self.widest.saturating_sub(before)
    }

    /// How many lines are full.
    pub(super) fn full_lines(&self) -> usize {
        (0..self.lines.len()).filter(|&line| self.is_full(line)).count()
    }

    /// What stood behind line `i` if it was broken in this way.
    fn between(&self, lines: &[&[u8]], i: usize, way: Break) -> Option<u8> {
        let is_too_long =
            |ends: fn(u8) -> bool| word_len_over(lines[i], lines[i + 1], ends) > self.room(i + 1, lines[i + 1]);
        // Behind a hyphen at its end the word goes on once more.
        let may_go_on = || ends_with_hyphen(lines[i + 1]) && !lines[i + 1].contains(&b' ') && lines.len() > i + 2;
        match if self.is_full(i) { way.0 } else { way.1 } {
            Between::Line => Some(b'\n'),
            Between::Hyphen if ends_with_hyphen(lines[i]) || is_too_long(|it| is_blank(it) || is_hyphen(it)) => None,
            Between::Cut if ends_with_hyphen(lines[i]) || may_go_on() => None,
            Between::Word | Between::Cut if is_too_long(is_blank) => None,
            Between::Word | Between::Hyphen | Between::Cut | Between::Blank => Some(b' '),
            Between::Nothing => None,
        }
    }

    /// Whether the longest are words that nobody broke, not lines of full width: a line before one of them had room for the word behind it.
    /// (One behind them may be followed by a remark.)
    fn are_of_whole_words(&self, lines: &[&[u8]]) -> bool {
        let first_word = |line: &[u8]| line.iter().take_while(|byte| !is_blank(**byte)).count();
        let had_room = |i: usize| {
            let word = first_word(lines[i + 1]);
            word > 0 && self.lines.get(i).is_some_and(|width| width + " ".len() + word <= self.widest)
        };
        let last_full = (1..lines.len() - 1).rfind(|&i| self.is_full(i)).unwrap_or(0);
        self.widest_of_header < self.widest && (0..last_full).any(had_room)
    }

    /// Whether a line is as long as the longest.
    pub(super) fn is_full(&self, line: usize) -> bool {
        self.lines.get(line) == Some(&self.widest)
    }
}

/// Shows the text that so many of the lines make, for each number of breaks, broken in each way that breaks nothing else: the likelier ones
/// first. They were `is_cut` after so many columns, not at blanks, if that is known. Behind the lines for which `is_own` tells it the text has
/// a break of its own. For texts of which no grammar says whether they are whole.
pub(crate) fn each_way(
    lines: &[&[u8]],
    widths: Widths<'_>,
    is_cut: Option<bool>,
    is_own: &dyn Fn(usize) -> bool,
    look: &mut dyn FnMut(&[u8], usize),
) {
    let is_full = || lines.len() > 1 && (0..lines.len() - 1).all(|i| is_own(i) || widths.is_full(i));
    let ways = if is_cut.unwrap_or_else(is_full) {
        [Break::NOTHING, Break::WORDS, Break::BLANKS]
    } else {
        [Break::WORDS, Break::BLANKS, Break::NOTHING]
    };
    for way in ways {
        let joined = Joined::of(lines, |i| if is_own(i) { Some(b'\n') } else { widths.between(lines, i, way) });
        for (breaks, (end, _)) in joined.ends.iter().enumerate() {
            look(&joined.text[..*end], breaks);
        }
    }
    if let Some(text) = quoted_printable(lines) {
        look(&text, lines.len() - 1);
    }
}

/// Most lines of full width of which it is tried whether they end with a word.
const MAX_UNSURE: usize = 5;

/// Puts the text of a record together. `lines` are its pieces, the first one behind the header; `widths` those of the
/// lines as they arrived. A whole message of a known kind is given to `take` once, unless it may hold characters that stand for others. `None`: nothing
/// that fits the grammar can be made of them.
pub(crate) fn whole(lines: &[&[u8]], widths: Widths<'_>, take: &mut Take<'_>) -> Option<Whole> {
    let lines = lines.get(..=MAX_BREAKS).unwrap_or(lines);
    if let Some(text) = quoted_printable(lines)
        && let Some(found) = by_lines(&[&text], Widths::NONE, take).filter(|found| found.fits)
    {
        let repair = found.repair.or(Some(Repair::Characters));
        return Some(Whole { breaks: lines.len() - 1, repair, ..found });
    }
    let found = by_lines(lines, widths, take);
    // A break after so many columns may go through what stands for a character.
    let is_within_sign = |i: usize| widths.is_full(i) && characters::may_break_sign(lines[i], lines[i + 1]);
    if found.as_ref().is_some_and(|found| found.fits) || !(0..lines.len() - 1).any(is_within_sign) {
        return found;
    }
    let (joined, ends) = full_lines_joined(lines, widths);
    let joined: Vec<&[u8]> = joined.iter().map(Vec::as_slice).collect();
    match by_lines(&joined, Widths::NONE, take).filter(|found| found.fits) {
        Some(fits) => Some(Whole { breaks: ends[fits.breaks], ..fits }),
        None => found,
    }
}

/// Lines of full width with those that they go on in, and which line each ends with.
fn full_lines_joined(lines: &[&[u8]], widths: Widths<'_>) -> (Vec<Vec<u8>>, Vec<usize>) {
    let (mut joined, mut ends): (Vec<Vec<u8>>, Vec<usize>) = (Vec::new(), Vec::new());
    for (i, line) in lines.iter().enumerate() {
        match joined.last_mut().zip(ends.last_mut()) {
            Some((before, end)) if widths.is_full(i - 1) => {
                before.extend_from_slice(line);
                *end = i;
            }
            _ => {
                joined.push(line.to_vec());
                ends.push(i);
            }
        }
    }
    (joined, ends)
}

/// The same of a text that was not broken and that was parsed as `message`.
pub(crate) fn one_line(text: &[u8], message: &Message<'_>, take: &mut Take<'_>) -> Option<Whole> {
    match fit(message) {
        Fit::Not => with_changes(&[text], Widths::NONE, None, take),
        Fit::Partly | Fit::Wholly => by_lines(&[text], Widths::NONE, take),
    }
}

/// Gives a text to `take` if it is a whole message of a known kind, without characters that stand for others; whether it was.
pub(crate) fn take_whole(text: &[u8], take: &mut Take<'_>) -> bool {
    let message = Message::parse_text(text);
    fit(&message) == Fit::Wholly && take_undisguised(text, &message, take)
}

/// The same of a whole message. Names may hold entities, and fit with them.
fn take_undisguised(text: &[u8], message: &Message<'_>, take: &mut Take<'_>) -> bool {
    let is_disguised = characters::is_disguised(text);
    if !is_disguised {
        take(text, message);
    }
    !is_disguised
}

/// The same of lines that are whole but for what was broken at blanks or after so many columns.
fn by_lines(lines: &[&[u8]], widths: Widths<'_>, take: &mut Take<'_>) -> Option<Whole> {
    let as_they_are = put_together(lines, widths, None, take);
    if as_they_are.as_ref().is_some_and(|found| found.text.is_none()) {
        return as_they_are;
    }
    with_changes(lines, widths, as_they_are, take)
}

/// The same of lines whose characters may stand for others; as they are they make what was `found`, if that is anything.
fn with_changes(lines: &[&[u8]], widths: Widths<'_>, mut found: Option<Whole>, take: &mut Take<'_>) -> Option<Whole> {
    let may_be_changed = |line: &&[u8]| characters::may_be_changed(line) || characters::has_wide_blanks(line);
    if is_of_no_kind(lines) || !lines.iter().any(may_be_changed) {
        return found;
    }
    let mut is_taken = |found: &mut Option<Whole>, lines: &[&[u8]], widths: Widths<'_>, repair: Repair| {
        let best = put_together(lines, widths, Some(repair), take);
        let is_taken = best.as_ref().is_some_and(|best| best.text.is_none());
        if found.is_none() || best.as_ref().is_some_and(|best| best.fits) {
            *found = best;
        }
        is_taken
    };
    let plain: SmallVec<[Vec<u8>; 4]> = lines.iter().map(|line| characters::plain(line)).collect();
    let mut plain: SmallVec<[&[u8]; 4]> = plain.iter().map(Vec::as_slice).collect();
    // They may have been changed before they were broken, or after.
    let before = widths.before(lines, &plain);
    let before = Widths::behind(widths.widest_of_header, &before);
    for line in &mut plain {
        *line = characters::without_break(line);
    }
    // The blank at the end of the header may have been one of the characters.
    plain[0] = plain[0].trim_ascii_start();
    let mut is_any_taken = |found: &mut Option<Whole>, changed: &[&[u8]], before: Widths<'_>, repair: Repair| {
        if changed.len() == 1 {
            return is_taken(found, changed, widths, repair);
        }
        let likelier_first =
            if before.full_lines() > widths.full_lines() { [before, widths] } else { [widths, before] };
        likelier_first.iter().any(|widths| is_taken(found, changed, *widths, repair))
    };
    if is_any_taken(&mut found, &plain, before, Repair::Characters) {
        return found;
    }
    // A blank and a no-break space beside it were one blank.
    let single: Vec<Vec<u8>> = plain.iter().map(|line| characters::with_single_blanks(line)).collect();
    let mut single: Vec<&[u8]> = single.iter().map(Vec::as_slice).collect();
    // A break may stand between the two.
    for i in 1..single.len() {
        if single[i - 1].ends_with(b" ") && before.is_full(i - 1) {
            single[i] = single[i].strip_prefix(b" ").unwrap_or(single[i]);
        }
    }
    if is_any_taken(&mut found, &single, before, Repair::Characters) {
        return found;
    }
    for without_signs in [&plain[..], &single] {
        let signs = characters::with_at_signs_in(without_signs);
        let signs: Vec<&[u8]> = signs.iter().map(Vec::as_slice).collect();
        let before = before.before(without_signs, &signs);
        let before = Widths::behind(widths.widest_of_header, &before);
        if is_any_taken(&mut found, &signs, before, Repair::AtSign) {
            break;
        }
    }
    found
}

/// Quoted-printable breaks lines after 75 characters or one less, with `=`; an archive may have made them longer since, a sign or two.
pub(super) const MAX_QUOTED: usize = 76 + 2 * (" at ".len() - "@".len());

/// What quoted-printable made lines of. `None`: it is not that.
fn quoted_printable(lines: &[&[u8]]) -> Option<Vec<u8>> {
    let (last, before) = lines.split_last()?;
    if !before.iter().any(|line| line.ends_with(b"=")) || before.iter().any(|line| line.len() > MAX_QUOTED) {
        return None;
    }
    let mut text = Vec::new();
    for line in before {
        match line.strip_suffix(b"=") {
            Some(line) => text.extend_from_slice(line),
            None => {
                text.extend_from_slice(line);
                text.push(b'\n');
            }
        }
    }
    text.extend_from_slice(last);
    Some(characters::unquoted(&text))
}

/// A text whose end can be any words: more of them fit, too.
fn ends_freely(text: &[u8]) -> bool {
    [&b"Handling RPC "[..], b"Sending RPC ", b"Completed RPC ", b"DEBUG MARKER: "]
        .iter()
        .any(|words| text.starts_with(words))
}

/// How well a text fits the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    /// It is of no known kind, or broken.
    Not,
    /// A message that may be longer, or that is known by its end only.
    Partly,
    /// A whole message of a known kind.
    Wholly,
}

/// How well the message that a text was parsed as fits.
#[inline]
pub(crate) fn fit(message: &Message<'_>) -> Fit {
    match message {
        Message::Malformed(_) | Message::Other => Fit::Not,
        Message::RefreshRwLocks(RefreshRwLocks { req: Some(req), .. }) | Message::Req(ReqMessage { req, .. })
            if [req.phase, req.letters].iter().any(|name| name.iter().any(u8::is_ascii_whitespace)) =>
        {
            Fit::Not
        }
        // The grammar lets names be long and odd; no name of these has a blank, unless a break put it there.
        Message::Handling(rpc) | Message::Handled(Handled { rpc, .. })
            if rpc.client_uuid.contains(&b' ') || rpc.thread.contains(&b' ') =>
        {
            Fit::Not
        }
        Message::Sending(rpc) | Message::Completed(rpc) if rpc.device_uuid.contains(&b' ') => Fit::Not,
        _ if may_be_longer(message) => Fit::Partly,
        _ => Fit::Wholly,
    }
}

/// Whether a message may be the beginning of a longer one, or is known by its end only.
#[inline]
pub(crate) fn may_be_longer(message: &Message<'_>) -> bool {
    match message {
        Message::RefreshRwLocks(refresh) => refresh.req.is_none(),
        Message::ProlongLocks(prolong) => prolong.extent.is_none(),
        Message::Req(req) => matches!(req.event, ReqEvent::Other(_)),
        Message::Ldlm(line) if line.lock.is_none() => !matches!(
            line.event,
            LdlmEvent::EnqueueStart
                | LdlmEvent::EnqueueEnd { .. }
                | LdlmEvent::CancelStart { .. }
                | LdlmEvent::CancelEnd
        ),
        _ => false,
    }
}

/// Whether a text begins like messages of a kind that has line breaks of its own in some versions.
pub(crate) fn may_begin_with_breaks(text: &[u8]) -> bool {
    [&b"@@@ "[..], b"### ", b"Prolong "].iter().any(|words| text.starts_with(words))
}

/// Whether a line may stand behind a line break of the message's own: all of these have a blank there.
pub(crate) fn is_behind_own_break(line: &[u8]) -> bool {
    line.starts_with(b" ")
}

/// Signs that editors put before the rest of a line that they broke, with a blank behind.
const REST_SIGNS: [&str; 6] = [">", "+", "|", "\u{21aa}", "\u{21b3}", "\u{2026}"];

/// Lines without what editors put behind a line that they broke: `\`, with which no message ends.
pub(crate) fn without_end_marks<'a>(lines: &[&'a [u8]]) -> Option<SmallVec<[&'a [u8]; 8]>> {
    let (last, before) = lines.split_last()?;
    let is_marked = |line: &&[u8]| line.ends_with(b"\\");
    // A line behind which the message has a break of its own has none.
    let unmarked = before.iter().map(|line| line.strip_suffix(b"\\").unwrap_or(line)).chain([*last]);
    before.iter().any(is_marked).then(|| unmarked.collect())
}

/// Marks that are tried.
const MAX_MARKS: usize = 3;

/// Lines without what editors put before the rest of a line that they broke: blanks, `> `; each that it may be. A line behind a message's own
/// break has another beginning, and a line may begin with a blank of its own.
pub(crate) fn unmarked<'a>(lines: &[&'a [u8]]) -> impl Iterator<Item = SmallVec<[&'a [u8]; 8]>> {
    let (first, rest) = lines.split_at(lines.len().min(1));
    let mut marks: SmallVec<[&[u8]; 8]> =
        rest.iter().map(|line| &line[..mark_len(line)]).filter(|mark| !mark.is_empty()).collect();
    marks.sort_unstable_by_key(|mark| (mark.iter().all(u8::is_ascii_whitespace), mark.len()));
    marks.dedup();
    marks.into_iter().take(MAX_MARKS).map(|mark| {
        let rest = rest.iter().map(|line| line.strip_prefix(mark).unwrap_or(line));
        first.iter().copied().chain(rest).collect()
    })
}

/// The same of signs alone, with which no line of a message begins.
pub(crate) fn without_signs<'a>(lines: &[&'a [u8]]) -> Option<SmallVec<[&'a [u8]; 8]>> {
    let (first, rest) = lines.split_first()?;
    // Of most broken logs no line begins so.
    if !rest.iter().any(|line| line.first().is_some_and(|byte| !byte.is_ascii_alphanumeric())) {
        return None;
    }
    let has_sign = |mark: &&[u8]| mark.iter().any(|byte| !byte.is_ascii_whitespace());
    // A line may begin with a blank of its own behind it.
    let mark = rest.iter().map(|line| &line[..mark_len(line)]).filter(has_sign).min_by_key(|mark| mark.len())?;
    let line = |line: &&'a [u8]| line.strip_prefix(mark).or_else(|| is_behind_own_break(line).then_some(*line));
    let rest = rest.iter().map(line).collect::<Option<SmallVec<[&[u8]; 8]>>>()?;
    Some(std::iter::once(*first).chain(rest).collect())
}

/// How many bytes of blanks, and of a sign among them, a line begins with.
fn mark_len(line: &[u8]) -> usize {
    let blanks = |line: &[u8]| line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let indent = blanks(line);
    let behind = &line[indent..];
    let sign = REST_SIGNS.iter().find(|sign| behind.starts_with(sign.as_bytes()) && blanks(&behind[sign.len()..]) > 0);
    indent + sign.map_or(0, |sign| sign.len() + blanks(&behind[sign.len()..]))
}

/// Whether a text of several lines may have a line break of its own.
pub(crate) fn may_have_own_breaks(text: &[u8]) -> bool {
    text.split(|byte| *byte == b'\n').skip(1).any(is_behind_own_break)
}

/// Whether a text of several lines was parsed as a whole message of a kind that has line breaks of its own in some versions.
pub(crate) fn has_own_breaks(message: &Message<'_>) -> bool {
    may_have_breaks(message) && fit(message) == Fit::Wholly
}

/// Whether messages of this kind have line breaks of their own in some versions.
#[inline]
pub(crate) fn may_have_breaks(message: &Message<'_>) -> bool {
    matches!(message, Message::Req(_) | Message::RefreshRwLocks(_) | Message::Ldlm(_) | Message::ProlongLocks(_))
}

/// How a text begins: the blank at the end of its header may be the only thing in its first line.
fn beginning<'a>(lines: &[&'a [u8]]) -> &'a [u8] {
    match lines {
        [[], next, ..] => next.trim_ascii_start(),
        [first, ..] => first,
        [] => b"",
    }
}

/// Whether a text that begins like this is of no known kind, whatever follows and whatever its characters stand for.
pub(crate) fn is_of_no_kind(lines: &[&[u8]]) -> bool {
    beginning(lines)
        .first_chunk()
        .is_some_and(|beginning| !characters::may_stand_for_others(beginning) && !Message::may_become_known(beginning))
}

/// Whether a text begins like a message of a known kind.
pub(crate) fn begins_known(text: &[u8]) -> bool {
    text.is_empty() || !matches!(Message::parse_text(text), Message::Other)
}

/// What is looked for, and the best that was found, the first of its kind.
struct Search<'s, 't> {
    take: &'s mut Take<'t>,
    repair: Option<Repair>,
    best: Option<Whole>,
}

impl Search<'_, '_> {
    /// Looks at a text of so many breaks, of which some are its own; whether it fits wholly.
    fn try_one(&mut self, text: &[u8], breaks: usize, own_breaks: usize) -> bool {
        let message = Message::parse_text(text);
        let fit = fit(&message);
        let fits = fit == Fit::Wholly;
        if fits || fit == Fit::Partly && self.best.is_none() {
            let is_taken = fits && take_undisguised(text, &message, self.take);
            self.best =
                Some(Whole { text: (!is_taken).then(|| text.to_vec()), breaks, own_breaks, repair: self.repair, fits });
        }
        fits
    }
}

/// The text that fits best, of so many breaks.
fn put_together(lines: &[&[u8]], widths: Widths<'_>, repair: Option<Repair>, take: &mut Take<'_>) -> Option<Whole> {
    let mut search = Search { take, repair, best: None };
    try_all(lines, widths, &mut search);
    search.best
}

/// Tries what lines can be made of, the likeliest first, until something fits wholly.
fn try_all(lines: &[&[u8]], widths: Widths<'_>, best: &mut Search<'_, '_>) -> bool {
    let Some((first, rest)) = lines.split_first() else { return false };
    if rest.is_empty() {
        return best.try_one(first, 0, 0);
    }
    // The break took the place of the blank behind the header.
    if let ([], [text]) = (first, rest) {
        return best.try_one(text.trim_ascii_start(), 1, 0);
    }
    let last = rest.len();
    let full = |i: usize| widths.is_full(i);
    // At least two lines of full width: then it is the width.
    let is_by_width = full(0) && full(1) && last > 1;
    let is_cut = is_by_width || (full(0) || ends_with_hyphen(first)) && goes_on_as_name(rest[0]);
    if !is_cut && ends_freely(first) && best.try_one(first, 0, 0) {
        return true;
    }
    let join = |way: Break| Joined::of(lines, |i| widths.between(lines, i, way));
    // `DEBUG_REQ` of Lustre to 2.12: the description stands on a line of its own, behind a blank.
    if rest[0].starts_with(b" ") && join(Break::LINES).search(1..=last.min(3), best) {
        return true;
    }
    let natural_end = (0..=last).find(|&i| !full(i)).unwrap_or(last);
    // What follows need not be joined for that.
    let as_cut = || Joined::of(&lines[..=natural_end], |_| None);
    if natural_end > 0 && as_cut().search(natural_end..=natural_end, best) {
        return true;
    }
    // A blank at a line's beginning was no place to break.
    if rest.iter().any(|line| is_behind_own_break(line)) && join(Break::UNWRAPPED).search(1..=last, best) {
        return true;
    }
    // Behind a hyphen at the width of the lines a longer word may have been cut as well.
    let hyphens = || (0..last).filter(|&i| ends_with_hyphen(lines[i]));
    let words: &[Break] = if hyphens().any(|i| !full(i)) {
        &[Break::HYPHENS, Break::WORDS, Break::CUT_HYPHENS]
    } else if hyphens().next().is_some() {
        &[Break::WORDS, Break::HYPHENS, Break::CUT_HYPHENS]
    } else if widths.are_of_whole_words(lines) {
        &[Break::BLANKS, Break::WORDS]
    } else {
        &[Break::WORDS]
    };
    if words.iter().any(|way| join(*way).search(1..=last, best)) {
        return true;
    }
    // In a log with many masks most texts are of no known kind.
    if !Message::may_become_known(beginning(lines)) {
        return false;
    }
    for way in [Break::BLANKS, Break::NOTHING, Break::UNWRAPPED, Break::LINES, Break::CHANGED_WORDS] {
        if !words.contains(&way) && join(way).search(1..=last, best) {
            return true;
        }
    }
    // Lines of full width that end with a word, among others that were cut within one: each may be either.
    let unsure: Vec<usize> = (0..last).filter(|&i| full(i)).take(MAX_UNSURE).collect();
    for choice in 1..(1_u32 << unsure.len()) - 1 {
        let joined = Joined::of(lines, |i| match unsure.iter().position(|at| *at == i) {
            Some(bit) if choice & (1 << bit) == 0 => None,
            _ => Some(b' '),
        });
        if joined.search(1..=last, best) {
            return true;
        }
    }
    best.try_one(first, 0, 0)
}

/// Whether a line may be the rest of a name or number that the line before ends with: jobs end with the user's id. Remarks are of other words.
fn goes_on_as_name(line: &[u8]) -> bool {
    line.last().is_some_and(u8::is_ascii_digit)
        && line.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

fn is_blank(byte: u8) -> bool {
    byte == b' '
}

/// Signs behind which words are broken.
fn is_hyphen(byte: u8) -> bool {
    matches!(byte, b'-' | b'/')
}

fn ends_with_hyphen(line: &[u8]) -> bool {
    line.last().is_some_and(|byte| is_hyphen(*byte))
}

/// How long a word is that goes on in the next line, up to what `ends` it.
fn word_len_over(line: &[u8], next: &[u8], ends: fn(u8) -> bool) -> usize {
    let end = line.iter().rev().take_while(|byte| !ends(**byte)).count();
    end + next.iter().take_while(|byte| !ends(**byte)).count()
}

/// Lines put together in one way, and where each ends in it, behind how many breaks of its own.
struct Joined {
    text: Vec<u8>,
    ends: SmallVec<[(usize, usize); 8]>,
}

impl Joined {
    /// `between` says which blank or line break stood behind a line, if any.
    fn of(lines: &[&[u8]], between: impl Fn(usize) -> Option<u8>) -> Self {
        let len: usize = lines.iter().map(|line| line.len() + 1).sum();
        let mut joined = Self { text: Vec::with_capacity(len.min(MAX_TEXT)), ends: SmallVec::new() };
        let mut own_breaks = 0;
        for (i, line) in lines.iter().enumerate() {
            if joined.text.len() + line.len() > MAX_TEXT {
                break;
            }
            if i > 0 {
                match between(i - 1) {
                    Some(b'\n') => {
                        joined.text.push(b'\n');
                        own_breaks += 1;
                    }
                    Some(_) => joined.blank(line),
                    None => {}
                }
            }
            // The blank at the end of a header may stand in the next line.
            let is_begun = i == 0 || !joined.text.is_empty();
            joined.text.extend_from_slice(if is_begun { line } else { line.trim_ascii_start() });
            joined.ends.push((joined.text.len(), own_breaks));
        }
        joined
    }

    /// A blank, unless there is one. Not at the beginning: headers end in one.
    fn blank(&mut self, next: &[u8]) {
        // Nor beside a sign that two words stood for; three of them are a word.
        let ends = match self.text.last() {
            Some(b'@') => !self.text.ends_with(b"@@@"),
            last => matches!(last, None | Some(b' ')),
        };
        let is_there = ends
            || match next.first() {
                Some(b'@') => !next.starts_with(b"@@@"),
                first => first == Some(&b' '),
            };
        if !is_there {
            self.text.push(b' ');
        }
    }

    /// Looks for the longest text that fits, of those with so many breaks; of one with a free end for the shortest.
    fn search(&self, breaks: RangeInclusive<usize>, best: &mut Search<'_, '_>) -> bool {
        let mut try_one = |breaks: usize| {
            let Some((end, own_breaks)) = self.ends.get(breaks) else { return false };
            self.text.get(..*end).is_some_and(|text| best.try_one(text, breaks, *own_breaks))
        };
        if ends_freely(&self.text) { breaks.into_iter().any(&mut try_one) } else { breaks.rev().any(try_one) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HANDLED: &str = "Handled RPC pname:cluuid+ref:pid:xid:nid:opc t:u+6:381:x17:12345-10.10.0.11@tcp:4 \
        Request processed in 1us (2us total) trans 0 rc 0/-122";
    const REFRESH: &str = "@@@ work1-OST0004 ll_ost_io00_000: refresh rw locks: [0x100000000:0x10:0x0] (0->1048575)\n  \
        req@000000005c100040 x1880000000000000/t0(0) o3->c0de0000-0000-4000-8000-001ff2e4eba2@10.9.8.11@o2ib:219/0 lens 488/0 \
        e 0 to 0 dl 1795600026 ref 1 fl New:/0/ffffffff rc 0/-1";

    fn put(lines: &[&str]) -> Option<(String, usize)> {
        let bytes: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
        let widths: Vec<usize> = lines.iter().map(|line| line.len()).collect();
        let mut taken = None;
        let whole = whole(&bytes, Widths::of(&widths, 0), &mut |text, _| taken = Some(text.to_vec()))?;
        Some((String::from_utf8(whole.text.or(taken)?).unwrap(), whole.breaks))
    }

    /// Broken at every column, in mid-word.
    #[test]
    fn lines_of_any_width_become_whole() {
        for text in [HANDLED, REFRESH] {
            for width in 30..text.len() {
                let lines: Vec<&str> = text
                    .split('\n')
                    .flat_map(|line| {
                        (0..line.len()).step_by(width).map(move |at| &line[at..line.len().min(at + width)])
                    })
                    .collect();
                let (got, breaks) = put(&lines).unwrap();
                let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
                assert_eq!(squeezed(&got), squeezed(text), "{lines:?}");
                assert_eq!(breaks, lines.len() - 1);
            }
        }
    }

    /// A no-break space before each blank, and in place of each.
    #[test]
    fn no_break_spaces_become_blanks() {
        for text in [HANDLED.to_owned(), REFRESH.replace('\n', ""), REFRESH.replace("\n  ", "  ")] {
            for blank in ["\u{a0} ", "\u{a0}", " \u{a0}"] {
                let got = put(&[&format!("{blank}{}", text.replace(' ', blank))]);
                assert_eq!(
                    got.map(|(text, _)| text.replace("  ", " ")),
                    Some(text.replace("  ", " ")),
                    "{text} {blank:?}"
                );
            }
        }
    }

    /// Of a job and what stands behind it nothing but the lines' widths says where one ends.
    #[test]
    fn words_longer_than_a_line_are_broken_or_not() {
        let rpc = "Handled RPC pname:cluuid+ref:pid:xid:nid:opc:job";
        let word =
            "ll_ost_io00_000:f795f7df-71b6-4f54-84da-3386afad5ab1+6:5437:x1882455968755840:12345-10.10.0.12@tcp:4:dd.0";
        let end = "Request processed in 2152us (2879us total) trans 0 rc 0/0";
        let whole = format!("{rpc} {word} {end}");
        // Nobody broke the word: the line before it had room for the next.
        let lines = ["", "Handled RPC", &rpc["Handled RPC ".len()..], word, end];
        assert_eq!(put(&lines), Some((whole.clone(), 4)));
        // It was broken, and the rest of it stands alone.
        let (head, rest) = word.split_at(word.len() - 2);
        assert_eq!(put(&[rpc, head, rest, end]), Some((whole, 3)));
    }

    /// Python's textwrap breaks a word that is longer than a line behind its last hyphen there, and where the line ends if it has none.
    #[test]
    fn words_longer_than_a_line_are_broken_in_two_ways() {
        let lines = [
            "Handling RPC",
            "req@00000000dd34e618 pname:cluuid+ref:pid:xid:nid:opc:job ll_ost",
            "00_003:0+-99:387:x1882625422647552:12345-",
            "10.10.0.11@tcp:8:python3.0",
        ];
        let whole = "Handling RPC req@00000000dd34e618 pname:cluuid+ref:pid:xid:nid:opc:job \
            ll_ost00_003:0+-99:387:x1882625422647552:12345-10.10.0.11@tcp:8:python3.0";
        assert_eq!(put(&lines), Some((whole.to_owned(), 3)));
    }

    #[test]
    fn remarks_stay_outside() {
        for text in
            [HANDLED.to_owned(), HANDLED.replace("Handled", "Handling").split(" Request").next().unwrap().to_owned()]
        {
            let got = put(&[&text, "```", "Here it hangs."]).unwrap();
            assert!(got.0.starts_with(&text));
            assert!(fit(&Message::parse_text(got.0.as_bytes())) == Fit::Wholly);
        }
        assert_eq!(put(&["of no known kind", "of none"]), None);
    }
}
