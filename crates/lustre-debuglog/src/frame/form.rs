//! In which form a log is, told by its beginning.

use super::binary;
use super::binary::HeaderLayout;
use super::text;

/// The form of a debug log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// As `lctl` prints it.
    Text,
    /// As the kernel writes it.
    Binary(HeaderLayout),
}

/// A text is a log if its first header stands within so many bytes.
pub(super) const MAX_LEADING_GARBAGE: usize = 8 * 1024;

/// Tells the form of a log from its beginning (64 KiB are plenty); `None`: not a debug log.
///
/// `complete` says that `prefix` is the whole input.
#[must_use]
pub fn detect(prefix: &[u8], complete: bool) -> Option<Form> {
    // Documents about logs quote lines further down; a log has at most the rest of a cut record in front.
    let text = text::find_header(prefix).filter(|&at| at <= MAX_LEADING_GARBAGE);
    if text == Some(0) {
        return Some(Form::Text);
    }
    // Names in binary records end in NULs, texts have none: to look for those takes a hundredth of the time.
    let binary = memchr::memchr(0, prefix).and_then(|_| binary::detect(prefix, complete));
    match (text, binary) {
        (Some(text), Some((binary, layout))) if binary < text => Some(Form::Binary(layout)),
        (Some(_), _) => Some(Form::Text),
        (None, Some((_, layout))) => Some(Form::Binary(layout)),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "00000100:00100000:1.0:1700000000.000001:0:7:0:(events.c:1:f()) peer\n";

    #[test]
    fn a_text_may_begin_with_some_garbage_but_not_with_a_document() {
        assert_eq!(detect(LINE.as_bytes(), true), Some(Form::Text));
        assert_eq!(detect(format!("half a line\n{LINE}").as_bytes(), true), Some(Form::Text));
        let document = format!("{}\n{LINE}", "How to read a log.\n".repeat(1000));
        assert_eq!(detect(document.as_bytes(), true), None);
    }
}
