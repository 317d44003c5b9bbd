//! Parts of sentences.

use memchr::memmem;

use super::super::number;
use crate::TargetName;

/// Whether the words occur.
pub(super) fn has(text: &[u8], words: &[u8]) -> bool {
    memmem::find(text, words).is_some()
}

/// What follows the words.
pub(super) fn after<'a>(text: &'a [u8], words: &[u8]) -> Option<&'a [u8]> {
    memmem::find(text, words).and_then(|at| text.get(at + words.len()..))
}

/// What stands before the words.
pub(super) fn before<'a>(text: &'a [u8], words: &[u8]) -> Option<&'a [u8]> {
    memmem::find(text, words).and_then(|at| text.get(..at))
}

/// The word at the beginning.
pub(super) fn first_word(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|byte| byte.is_ascii_whitespace() || matches!(byte, b',' | b';' | b')'));
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

/// The number at the beginning, without a unit.
pub(super) fn leading_number(text: &[u8]) -> Option<i64> {
    number::int(text).ok().map(|(_, value)| value)
}

/// The NID at the beginning, in plain form.
pub(super) fn leading_nid(text: &[u8]) -> Option<&[u8]> {
    number::nid(text).ok().map(|(_, nid)| nid).filter(|nid| *nid != b"<?>")
}

/// The NID in `(at NID)`.
pub(super) fn nid_at(text: &[u8]) -> Option<&[u8]> {
    after(text, b"(at ").and_then(leading_nid)
}

/// The first word that is a NID.
pub(super) fn any_nid(text: &[u8]) -> Option<&[u8]> {
    let words =
        text.split(|byte| byte.is_ascii_whitespace() || matches!(byte, b'(' | b')' | b',' | b'[' | b']' | b'>'));
    words
        .filter(|word| word.first().is_some_and(u8::is_ascii_alphanumeric) && word.contains(&b'@'))
        .find_map(leading_nid)
}

/// `NAME: rest` with a name of one word.
pub(super) fn named(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memmem::find(text, b": ")?;
    let (name, rest) = text.split_at_checked(at)?;
    let is_word = !name.is_empty() && !name.iter().any(u8::is_ascii_whitespace);
    is_word.then(|| (name, rest.get(2..).unwrap_or_default()))
}

/// The target that a text begins with, as `NAME: `.
pub(super) fn device(text: &[u8]) -> Option<&[u8]> {
    named(text).and_then(|(name, _)| target(name))
}

/// The target in the name of a device: of `lustre-OST0002-osc-ffff888005bd1000` that is `lustre-OST0002`, of `MGC10.0.0.1@tcp` the MGS.
pub(super) fn target(name: &[u8]) -> Option<&[u8]> {
    let name = name.trim_ascii().strip_suffix(b"_UUID").unwrap_or(name);
    if name.starts_with(b"MGC") || name == b"MGS" {
        return Some(b"MGS");
    }
    // A file system's name has eight characters at most, and may have a `-`.
    let ends = memchr::memchr2_iter(b'-', b'_', name).chain([name.len()]);
    ends.filter_map(|end| name.get(..end)).find(|name| TargetName::parse_bytes(name).is_some())
}

/// Whether a device is a target itself, not somebody's connection to it.
pub(super) fn is_target(name: &[u8]) -> bool {
    target(name) == Some(name)
}

/// A text without the number that `LCONSOLE_ERROR_MSG` puts in front, `138-a: ` (to 2.15; `libcfs_debug.h`).
pub(super) fn without_number(text: &[u8]) -> &[u8] {
    let number = || {
        let (number, rest) = named(text)?;
        let dash = number.iter().position(|byte| *byte == b'-')?;
        let hex = |part: Option<&[u8]>| part.is_some_and(|it| !it.is_empty() && it.iter().all(u8::is_ascii_hexdigit));
        // The check sum behind the dash has one digit.
        (hex(number.get(..dash)) && hex(number.get(dash + 1..)) && number.len() == dash + 2).then_some(rest)
    };
    number().unwrap_or(text)
}

/// The words of a request's message, before its description.
pub(super) fn request_words(text: &[u8]) -> Option<&[u8]> {
    let text = text.strip_prefix(b"@@@ ")?;
    let words = before(text, b" req@").unwrap_or(text);
    Some(words.trim_ascii_end())
}

/// Whether an error is `-ENOSPC` (28), as `rc = -28`, `rc -28` or `failed: -28`.
pub(super) fn is_no_space(text: &[u8]) -> bool {
    memmem::find_iter(text, b" -28").any(|at| !text.get(at + 4).is_some_and(u8::is_ascii_digit))
}
