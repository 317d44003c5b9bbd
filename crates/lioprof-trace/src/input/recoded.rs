//! How all of a file differs from the log that it holds: text of two bytes per character, lines in a frame.

use std::io::{Cursor, Read};

use encoding_rs::Encoding;

use super::utf16::{encoding_of, utf8};
use crate::envelope::frame::Frame;
use crate::envelope::kinds::Repair;

/// What is undone before anything else looks at a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recoded {
    utf16: Option<&'static Encoding>,
    frame: Option<Frame>,
}

impl Recoded {
    /// Of a file that begins with `head`.
    pub(super) fn of(head: &[u8]) -> Self {
        let Some(encoding) = encoding_of(head) else { return Self { utf16: None, frame: Frame::of(head) } };
        let mut text = Vec::new();
        // What cannot be decoded is replaced.
        utf8(Box::new(Cursor::new(head.to_vec())), encoding).read_to_end(&mut text).unwrap_or_default();
        Self { utf16: Some(encoding), frame: Frame::of(&text) }
    }

    /// Whether the file is the log.
    pub(crate) fn is_none(&self) -> bool {
        self.utf16.is_none() && self.frame.is_none()
    }

    /// The log that a file's bytes hold.
    pub(super) fn undone(&self, stream: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        let stream = match self.utf16 {
            Some(encoding) => utf8(stream, encoding),
            None => stream,
        };
        match &self.frame {
            Some(frame) => frame.unframed(stream),
            None => stream,
        }
    }

    /// What that repairs at each line.
    pub(crate) fn repairs(&self) -> impl Iterator<Item = Repair> {
        self.utf16.map(|_| Repair::Utf16).into_iter().chain(self.frame.as_ref().map(|_| Repair::Frame))
    }
}
