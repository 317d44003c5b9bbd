//! How all of a file differs from the log that it holds: text of two bytes per character, lines in a frame.

use std::borrow::Cow;
use std::io::{Cursor, Read};

use encoding_rs::Encoding;

use super::utf16::{encoding_of, utf8};
use crate::envelope::frame::Frame;
use crate::envelope::kinds::Repair;

/// What is undone before anything else looks at a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recoded {
    utf16: Option<&'static Encoding>,
    /// From the outer one on.
    frames: Vec<Frame>,
}

/// Frames around each other that are undone.
const MAX_FRAMES: usize = 3;

impl Recoded {
    /// Of a file that begins with `head`.
    pub(super) fn of(head: &[u8]) -> Self {
        let utf16 = encoding_of(head);
        let mut text = Cow::Borrowed(head);
        if let Some(encoding) = utf16 {
            text = all(utf8(Box::new(Cursor::new(head.to_vec())), encoding)).into();
        }
        let mut frames = Vec::new();
        while frames.len() < MAX_FRAMES
            && let Some(frame) = Frame::of(&text).filter(|frame| !frames.contains(frame))
        {
            text = all(frame.unframed(Box::new(Cursor::new(text.into_owned())))).into();
            frames.push(frame);
        }
        Self { utf16, frames }
    }

    /// Whether the file is the log.
    pub(crate) fn is_none(&self) -> bool {
        self.utf16.is_none() && self.frames.is_empty()
    }

    /// The log that a file's bytes hold.
    pub(super) fn undone(&self, stream: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        let stream = match self.utf16 {
            Some(encoding) => utf8(stream, encoding),
            None => stream,
        };
        self.frames.iter().fold(stream, |stream, frame| frame.unframed(stream))
    }

    /// What that repairs at each line.
    pub(crate) fn repairs(&self) -> impl Iterator<Item = Repair> {
        self.utf16.map(|_| Repair::Utf16).into_iter().chain(self.frames.first().map(|_| Repair::Frame))
    }
}

/// What is in a stream that does not fail.
fn all(mut stream: Box<dyn Read + Send>) -> Vec<u8> {
    let mut text = Vec::new();
    stream.read_to_end(&mut text).unwrap_or_default();
    text
}
