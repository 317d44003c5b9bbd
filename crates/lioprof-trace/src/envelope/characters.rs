//! Characters that a mail client, a web page or a terminal has put in place of others.

use memchr::{memchr2, memchr2_iter, memchr3};

/// Whether `text` has characters that no message of Lustre has.
#[inline]
pub(crate) fn is_changed(text: &[u8]) -> bool {
    !text.is_ascii() || memchr2(0x1b, b'&', text).is_some()
}

/// Whether `text` has characters or words that may stand for others: it is worth looking whether it fits better without.
pub(crate) fn may_be_changed(text: &[u8]) -> bool {
    let may_be_sign = |at: usize| match &text[at..] {
        [b'=', _, _, ..] => quoted_byte(&text[at..]).is_some(),
        [b'=', ..] => true,
        tag => tag_len(tag) > 1,
    };
    is_changed(text)
        || memchr2_iter(b'<', b'=', text).any(may_be_sign)
        || with_at_signs(text).is_some()
        || text.ends_with(b" at")
        || text.starts_with(b"at ")
}

/// Whether `text` has several blanks or a tab for one blank. Some messages have two of their own.
pub(crate) fn has_wide_blanks(text: &[u8]) -> bool {
    text.contains(&b'\t') || text.windows(2).any(|pair| pair == b"  ")
}

/// Whether a text begins with a tab, with doubled blanks, or with words for signs. One blank may be its own.
#[inline]
pub(crate) fn begins_changed(text: &[u8]) -> bool {
    match text.first() {
        Some(b'\t') => true,
        Some(b' ') => {
            let beginning = &text[..text.len().min(BEGINNING)];
            has_wide_blanks(beginning) || behind_three_signs(text).is_some()
        }
        _ => false,
    }
}

/// Whether a text begins with a blank, or a no-break space for one.
pub(crate) fn begins_with_blank(text: &[u8]) -> bool {
    match text {
        [b' ' | 0xa0, ..] => true,
        [0xc2 | b'=' | b'&', ..] => {
            [&b"\xc2\xa0"[..], b"=C2=A0", b"=20", b"&nbsp;"].iter().any(|blank| text.starts_with(blank))
        }
        _ => false,
    }
}

/// Whether `text` has entities or tags of HTML.
pub(crate) fn has_markup(text: &[u8]) -> bool {
    memchr2_iter(b'&', b'<', text).any(|at| match &text[at..] {
        sign @ [b'&', ..] => entity(sign).0 > 1,
        sign => tag_len(sign) > 1,
    })
}

/// Whether `text` has signs of HTML, or dashes, blanks and invisible characters that word processors and web pages put in: names fit with all
/// of these.
pub(crate) fn is_disguised(text: &[u8]) -> bool {
    let may_be_other = |at: usize| {
        matches!(
            &text[at..],
            [0xe2, 0x80, 0x8b..=0x95, ..] | [0xe2, 0x81, 0xa0, ..] | [0xe2, 0x88, 0x92, ..] | [0xc2, 0xa0 | 0xad, ..]
        )
    };
    has_markup(text) || !text.is_ascii() && memchr2_iter(0xe2, 0xc2, text).any(may_be_other)
}

/// The text with one blank for several, and for tabs.
pub(crate) fn with_single_blanks(text: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = text.iter().map(|byte| if *byte == b'\t' { b' ' } else { *byte }).collect();
    out.dedup_by(|a, b| *a == b' ' && *b == b' ');
    out
}

/// How much of a text is looked at.
pub(crate) const BEGINNING: usize = 32;

/// Whether any of these may stand for others, or for fewer.
pub(crate) fn may_stand_for_others(text: &[u8; BEGINNING]) -> bool {
    // No way out of it, so that the compiler compares many bytes at once.
    let any = |text: &[u8], is: fn(u8) -> bool| text.iter().fold(false, |any, byte| any | is(*byte));
    if any(text, |byte| !matches!(byte, b' '..=b'~') | (byte == b'&')) || text[0] == b' ' {
        return true;
    }
    let (first, second, third) = (&text[..BEGINNING - 2], &text[1..BEGINNING - 1], &text[2..]);
    let mut has_words = false;
    for ((a, b), c) in first.iter().zip(second).zip(third) {
        let is_blank = *a == b' ';
        has_words |= is_blank & (*b == b' ');
        has_words |=
            (is_blank | (*a == b'[') | (*a == b'(') | (*a == b'_')) & (*b | 0x20 == b'a') & (*c | 0x20 == b't');
    }
    has_words || any(text, |byte| (byte == b'<') | (byte == b'=')) && may_be_sign_or_tag(text)
}

/// Whether a tag or what quoted-printable makes of a character may begin in `text`.
fn may_be_sign_or_tag(text: &[u8]) -> bool {
    memchr2_iter(b'<', b'=', text).any(|at| match &text[at..] {
        [b'<', next, ..] => next.is_ascii_alphabetic() || *next == b'/',
        [b'=', high, ..] => hex(*high).is_some(),
        _ => true,
    })
}

/// Bytes that what is made plain begins with.
const STANDS_FOR_OTHERS: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0x80;
    while byte < 256 {
        table[byte] = true;
        byte += 1;
    }
    let mut at = 0;
    while at < SIGNS.len() {
        table[SIGNS[at] as usize] = true;
        at += 1;
    }
    table
};

/// Those of them that are ASCII: entities, tags and quoted-printable, escapes and backspaces.
const SIGNS: [u8; 5] = *b"&<=\x1b\x08";

/// Whether `text` has any of these.
fn has_signs(text: &[u8]) -> bool {
    let [entity, tag, quoted, escape, backspace] = SIGNS;
    memchr3(entity, tag, quoted, text).is_some() || memchr2(escape, backspace, text).is_some()
}

/// The bits of eight bytes that those have that are not ASCII.
const NOT_ASCII: u64 = 0x8080_8080_8080_8080;

/// How many bytes `text` begins with that are ASCII, looked at eight at a time.
fn ascii_len(text: &[u8]) -> usize {
    let (eights, rest) = text.as_chunks::<8>();
    for (i, eight) in eights.iter().enumerate() {
        let others = u64::from_le_bytes(*eight) & NOT_ASCII;
        if others != 0 {
            return 8 * i + others.trailing_zeros() as usize / 8;
        }
    }
    let tail = rest.iter().position(|byte| !byte.is_ascii());
    tail.map_or(text.len(), |at| text.len() - rest.len() + at)
}

/// The text with plain characters: without colours, tags and invisible characters, with blanks, quotes and dashes for what stands in
/// their place, and with entities and quoted-printable bytes decoded; twice, if a page was escaped twice.
pub(crate) fn plain(text: &[u8]) -> Vec<u8> {
    // Most texts have one or the other.
    let has_signs = has_signs(text);
    let once = with_plain(text, has_signs);
    if has_signs && has_markup(&once) { with_plain(&once, true) } else { once }
}

/// The same once.
fn with_plain(text: &[u8], has_signs: bool) -> Vec<u8> {
    let (mut out, mut at) = if has_signs { (Vec::with_capacity(text.len()), 0) } else { with_blanks(text) };
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let run = if has_signs {
            rest.iter().position(|byte| STANDS_FOR_OTHERS[usize::from(*byte)]).unwrap_or(rest.len())
        } else {
            ascii_len(rest)
        };
        out.extend_from_slice(&rest[..run]);
        at += run;
        let rest = &rest[run..];
        let (skip, put): (usize, &[u8]) = match rest {
            [0x1b, b'[', ..] => (escape_len(rest), b""),
            [0x1b, b']', ..] => (title_len(rest), b""),
            [0x1b | b'\x08', ..] => (1, b""),
            [b'&', ..] => entity(rest),
            [b'<', ..] => (tag_len(rest), if tag_len(rest) == 1 { b"<" } else { b"" }),
            // Quoted-printable writes them in capitals; `=2f` might be a text's own.
            [b'=', b'3', b'D', ..] => (3, b"="),
            [b'=', b'2', b'0', ..] => (3, b" "),
            [b'=', ..] => {
                let chunks = rest.as_chunks::<3>().0;
                let run = chunks.iter().take_while(|chunk| quoted_byte(*chunk).is_some_and(|byte| !byte.is_ascii()));
                let len = 3 * run.count();
                if len > 0 {
                    out.extend_from_slice(&with_plain(&unquoted(&rest[..len]), true));
                    at += len;
                    continue;
                }
                (1, b"=")
            }
            [0xc2, 0xa0, ..] | [0xe2, 0x80, 0xaf, ..] | [0xe3, 0x80, 0x80, ..] => {
                (if rest[0] == 0xc2 { 2 } else { 3 }, b" ")
            }
            // A no-break space taken for Latin-1 and encoded once more.
            [0xc3, 0x82, 0xc2, 0xa0, ..] => (4, b" "),
            [0xe2, 0x80, 0x80..=0x8a, ..] => (3, b" "),
            // Zero width, directions, soft hyphens, byte order marks.
            [0xe2, 0x80, 0x8b..=0x8f | 0xaa..=0xae, ..] | [0xe2, 0x81, 0xa0, ..] | [0xef, 0xbb, 0xbf, ..] => (3, b""),
            [0xc2, 0xad, ..] => (2, b""),
            [0xe2, 0x80, 0x90..=0x95, ..] | [0xe2, 0x88, 0x92, ..] => (3, b"-"),
            [0xe2, 0x80, 0x98..=0x9b, ..] => (3, b"'"),
            [0xe2, 0x80, 0x9c..=0x9f, ..] => (3, b"\""),
            [0xe2, 0x80, 0xa6, ..] => (3, b"..."),
            [0xe2, 0x86, 0x92, ..] => (3, b"->"),
            // Quotes and dashes of Windows: no part of a longer character.
            [0x91 | 0x92, ..] if is_alone(&out) => (1, b"'"),
            [0x93 | 0x94, ..] if is_alone(&out) => (1, b"\""),
            [0x96 | 0x97, ..] if is_alone(&out) => (1, b"-"),
            // A no-break space in Latin-1: no part of a longer character.
            [0xa0, ..] => (1, b" "),
            [byte, ..] => {
                out.push(*byte);
                at += 1;
                continue;
            }
            [] => break,
        };
        out.extend_from_slice(put);
        at += skip;
    }
    out
}

/// The beginning of a text without [`SIGNS`], with blanks for no-break spaces, and how much of the text it is made of: up to another
/// character that is changed, or the last bytes.
fn with_blanks(text: &[u8]) -> (Vec<u8>, usize) {
    let mut out = vec![0; text.len()];
    let (mut at, mut end) = (0, 0);
    // Eight bytes at a time; those that are none of the text any more are overwritten.
    while let Some((eight, to)) = text[at..].first_chunk::<8>().zip(out[end..].first_chunk_mut()) {
        *to = *eight;
        let others = u64::from_le_bytes(*eight) & NOT_ASCII;
        let run = others.trailing_zeros() as usize / 8;
        (at, end) = (at + run, end + run);
        if others != 0 {
            if !text[at..].starts_with("\u{a0}".as_bytes()) {
                break;
            }
            out[end] = b' ';
            (at, end) = (at + 2, end + 1);
        }
    }
    out.truncate(end);
    (out, at)
}

/// Whether what comes next begins a character.
fn is_alone(before: &[u8]) -> bool {
    before.last().is_none_or(u8::is_ascii)
}

/// The byte that quoted-printable writes as `text` begins, if it does: `=A0`.
fn quoted_byte(text: &[u8]) -> Option<u8> {
    let [b'=', high, low, ..] = text else { return None };
    Some(hex(*high)? << 4 | hex(*low)?)
}

/// The text with the bytes that quoted-printable wrote as `=A0`. (Line breaks are joined already.)
pub(crate) fn unquoted(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let byte = quoted_byte(rest);
        out.push(byte.unwrap_or(rest[0]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    out
}

/// Whether a break between `line` and `next` may go through what stands for a character.
pub(crate) fn may_break_sign(line: &[u8], next: &[u8]) -> bool {
    // Longest of those that are looked for: `&#x2019;`.
    let end = &line[line.len().saturating_sub(8)..];
    memchr3(b'&', b'<', b'=', end).is_some()
        || [&b" "[..], b" a", b" at", b"["].iter().any(|part| end.ends_with(part))
        || [&b"at "[..], b"t ", b"[at]"].iter().any(|part| next.starts_with(part))
        // The word before it tells that it stands for a sign (`re`, `q at 0000..`).
        || memchr::memmem::find(&next[..next.len().min(48)], b" at ").is_some()
}

/// A line without the sign that breaks it: `=` of quoted-printable, `<br>` of HTML.
pub(crate) fn without_break(line: &[u8]) -> &[u8] {
    match line {
        [before @ .., b'='] => before,
        [.., b'>'] => {
            [&b"<br>"[..], b"<br/>", b"<br />"].iter().find_map(|tag| line.strip_suffix(*tag)).unwrap_or(line)
        }
        _ => line,
    }
}

/// Words that list archives put in place of `@`.
const AT_WORDS: [&[u8]; 6] = [b" at ", b" AT ", b" [at] ", b"[at]", b"(at)", b"_at_"];

/// The text with `@` for what list archives put in its place. `None`: there is nothing of the kind. Messages have `at` of their own
/// (`evicting client at 10.0.0.1@tcp`): what stands before a sign is an address, an id, or one of a few words.
pub(crate) fn with_at_signs(text: &[u8]) -> Option<Vec<u8>> {
    let may_be_word =
        |t: usize| t >= 2 && matches!(text[t - 1], b'a' | b'A') && matches!(text[t - 2], b' ' | b'[' | b'(' | b'_');
    if !memchr2_iter(b't', b'T', text).any(may_be_word) {
        return None;
    }
    let mut out = Vec::new();
    let mut from = 0;
    for at in 0..text.len() {
        // A blank at the beginning may have been taken for the header's.
        if at < from || at > 0 && !matches!(text[at], b' ' | b'[' | b'(' | b'_') {
            continue;
        }
        // What descriptions of requests begin with. One of the blanks before it is the word's.
        if let Some(rest) = behind_three_signs(&text[at..]) {
            let blanks = text[at..].iter().take_while(|byte| **byte == b' ').count();
            out.extend_from_slice(&text[from..at + blanks.saturating_sub(1)]);
            out.extend_from_slice(b"@@@ ");
            from = text.len() - rest.len();
            continue;
        }
        let Some(word) = AT_WORDS.iter().find(|word| text[at..].starts_with(word)) else { continue };
        if may_precede_at(&text[..at]) {
            out.extend_from_slice(&text[from..at]);
            out.push(b'@');
            from = at + word.len();
        }
    }
    if from == 0 {
        return None;
    }
    out.extend_from_slice(&text[from..]);
    Some(out)
}

/// What stands behind three words for `@`: `@@@ ` begins messages on requests.
fn behind_three_signs(text: &[u8]) -> Option<&[u8]> {
    let mut rest = text;
    for _ in 0..3 {
        let word = rest.trim_ascii_start();
        rest = AT_WORDS.iter().find_map(|sign| word.strip_prefix(sign.trim_ascii()))?;
    }
    (rest.len() < text.len() - 6 && rest.starts_with(b" ")).then(|| rest.trim_ascii_start())
}

/// Whether the last word of `text` is of those that stand before an `@`.
fn may_precede_at(text: &[u8]) -> bool {
    let word = text.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    word.iter().any(u8::is_ascii_digit)
        || [&b"req"[..], b"rule", b"class", b"<?>", b"MGS"].iter().any(|end| word.ends_with(end))
}

/// The same of a text in lines: the words may have been broken off, `at` at the end of a line or at the beginning of the next.
pub(crate) fn with_at_signs_in(lines: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut out: Vec<Vec<u8>> = Vec::with_capacity(lines.len());
    for line in lines {
        let mut line = line.to_vec();
        if let Some(rest) = line.strip_prefix(b"at ")
            && let Some(before) = out.last_mut()
            && may_precede_at(before.trim_ascii_end())
        {
            before.truncate(before.trim_ascii_end().len());
            line = [b"@", rest].concat();
        }
        if line.trim_ascii_end().ends_with(b" at") {
            line.truncate(line.trim_ascii_end().len());
            line.push(b' ');
        }
        out.push(with_at_signs(&line).unwrap_or(line));
    }
    out
}

/// The text without the escape sequences of terminals.
pub(crate) fn without_colours(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(0x1b, rest) {
        out.extend_from_slice(&rest[..at]);
        let len = match &rest[at..] {
            [_, b'[', ..] => escape_len(&rest[at..]),
            [_, b']', ..] => title_len(&rest[at..]),
            _ => 1,
        };
        rest = &rest[at + len..];
    }
    out.extend_from_slice(rest);
    out
}

/// Whether a text ends with an escape sequence of a terminal: colours, or that the rest of the line is cleared.
pub(crate) fn ends_with_escape(text: &[u8]) -> bool {
    const LONGEST: usize = 16;
    let end = &text[text.len().saturating_sub(LONGEST)..];
    memchr::memrchr(0x1b, end)
        .is_some_and(|at| end[at..].starts_with(b"\x1b[") && escape_len(&end[at..]) == end.len() - at)
}

/// `ESC [ parameters letter`.
fn escape_len(text: &[u8]) -> usize {
    let end = text.iter().skip(2).position(|byte| (0x40..=0x7e).contains(byte));
    end.map_or(text.len(), |end| end + 3)
}

/// `ESC ] .. BEL`, as terminals set titles and links, or up to `ESC \`.
fn title_len(text: &[u8]) -> usize {
    let end = text.iter().skip(2).position(|byte| matches!(byte, 0x07 | 0x1b));
    end.map_or(text.len(), |end| end + 3 + usize::from(text.get(end + 2) == Some(&0x1b)))
}

/// Tags of the kind that web pages put around and into lines; anything else that begins with `<` is text (`<?>`, `<unknown>`).
fn tag_len(text: &[u8]) -> usize {
    const TAGS: [&[u8]; 17] = [
        b"wbr", b"span", b"pre", b"code", b"br", b"b", b"i", b"p", b"div", b"a", b"em", b"strong", b"mark", b"tt",
        b"font", b"li", b"td",
    ];
    let Some(end) = text.iter().take(256).position(|byte| *byte == b'>') else { return 1 };
    let inside = text.get(1..end).unwrap_or_default();
    let inside = inside.strip_prefix(b"/").unwrap_or(inside);
    let name = inside.split(|byte| matches!(byte, b' ' | b'/')).next().unwrap_or_default();
    if TAGS.iter().any(|tag| name.eq_ignore_ascii_case(tag)) { end + 1 } else { 1 }
}

/// Length of the entity at the start of `text` and what it stands for; of anything else, one byte and itself.
fn entity(text: &[u8]) -> (usize, &'static [u8]) {
    const NAMED: [(&[u8], &[u8]); 12] = [
        (b"gt", b">"),
        (b"lt", b"<"),
        (b"amp", b"&"),
        (b"quot", b"\""),
        (b"apos", b"'"),
        (b"nbsp", b" "),
        (b"commat", b"@"),
        (b"colon", b":"),
        (b"lpar", b"("),
        (b"rpar", b")"),
        (b"rsquo", b"'"),
        (b"lsquo", b"'"),
    ];
    // Of numbers only ASCII: nothing else is in a message.
    const ASCII: [u8; 128] = {
        let mut all = [0; 128];
        let mut i = 0;
        while i < 128 {
            all[i as usize] = i;
            i += 1;
        }
        all
    };
    let Some(end) = text.iter().take(10).position(|byte| *byte == b';') else { return (1, b"&") };
    let name = text.get(1..end).unwrap_or_default();
    if let Some((_, to)) = NAMED.iter().find(|(named, _)| *named == name) {
        return (end + 1, to);
    }
    let number = name.strip_prefix(b"#").and_then(|number| std::str::from_utf8(number).ok()).and_then(|number| {
        match number.strip_prefix(['x', 'X']) {
            Some(digits) => usize::from_str_radix(digits, 16).ok(),
            None => number.parse().ok(),
        }
    });
    match number {
        Some(160 | 0x202f) => (end + 1, b" "),
        Some(number) if (32..127).contains(&number) => (end + 1, &ASCII[number..=number]),
        _ => (1, b"&"),
    }
}

/// The value of a digit; in capitals.
fn hex(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_become_what_they_stand_for() {
        for (from, want) in [
            ("Handling\u{a0}RPC", "Handling RPC"),
            ("\x1b[01;31m\x1b[KHandling RPC\x1b[m\x1b[K x", "Handling RPC x"),
            ("\x1b]8;;http://x\x07a\x1b]8;;\x1b\\b", "ab"),
            ("(0-&gt;1) job:&#39;a&#x27; &amp;&quot;", "(0->1) job:'a' &\""),
            ("a\u{200b}b\u{feff}\u{ad}", "ab"),
            ("\u{2018}a\u{2019} \u{2013} \u{2192}", "'a' - ->"),
            ("<span class=\"x\">rc</span> <?> <unknown> <b>0</b><br/>", "rc <?> <unknown> 0"),
            ("a=3Db=20c=2f", "a=b c=2f"),
            ("a=C2=A0b=A0c=E2=80=99d", "a b c'd"),
            ("&nothing; & &#7;", "&nothing; & &#7;"),
        ] {
            assert_eq!(String::from_utf8_lossy(&plain(from.as_bytes())), want, "{from}");
        }
        assert_eq!(plain(b"a\xa0b"), b"a b");
        assert_eq!(plain(b"haven\x92t \x93x\x94 \x96"), b"haven't \"x\" -");
        assert_eq!(plain("\u{5d2}".as_bytes()), "\u{5d2}".as_bytes());
        assert_eq!(plain(b"\x1b["), b"");
        assert_eq!(plain(b"\x1b]"), b"");
    }

    #[test]
    fn at_signs_come_back() {
        assert_eq!(with_at_signs(b"10.0.0.1 at tcp req at 00ab").as_deref(), Some(&b"10.0.0.1@tcp req@00ab"[..]));
        assert_eq!(with_at_signs(b"10.0.0.1[at]tcp").as_deref(), Some(&b"10.0.0.1@tcp"[..]));
        assert_eq!(with_at_signs(b"10.0.0.1@tcp"), None);
        assert_eq!(with_at_signs(b"f())  at  at  at  Request").as_deref(), Some(&b"f()) @@@ Request"[..]));
        assert_eq!(with_at_signs(b"at  at  at  Request").as_deref(), Some(&b"@@@ Request"[..]));
        assert_eq!(
            with_at_signs(b"evicting client at 10.0.0.1 at tcp  ns: x").as_deref(),
            Some(&b"evicting client at 10.0.0.1@tcp  ns: x"[..])
        );
    }
}
