//! Why something happened, in short.

use std::fmt;

use crate::Opcode;

/// Longest text of a sentence that is shown, bytes.
const LONGEST: usize = 200;

/// Why something happened, or what else a sentence says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason<'a> {
    /// The client did not give back a lock within so many seconds after it was asked to.
    CallbackTimer {
        /// Seconds since then.
        seconds: i64,
    },
    /// The client did not answer a lock callback, or answered with an error.
    AstFailed {
        /// `blocking`, `completion` or `glimpse`.
        ast: &'a [u8],
        /// It answered.
        replied: bool,
        /// Error of the RPC.
        rc: Option<i64>,
    },
    /// A lock callback timed out.
    LockCallback {
        /// `blocking`, `completion` or `glimpse`.
        ast: &'a [u8],
        /// Error.
        rc: Option<i64>,
    },
    /// The pinger: nothing was heard from the client.
    Silent {
        /// Seconds since the last request.
        seconds: i64,
    },
    /// An administrator wanted it.
    ByHand,
    /// Words about a request.
    Request {
        /// Operation; `None` if the sentence was cut before it.
        opcode: Option<Opcode>,
        /// NID to which it was sent; `None` if it was received, or is a lock callback.
        to: Option<&'a [u8]>,
        /// What happened to it.
        words: &'a [u8],
    },
    /// The sentence itself.
    Text(&'a [u8]),
}

/// Text as it is shown: one line, at most [`LONGEST`] bytes.
struct Shown<'a>(&'a [u8]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.0.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii();
        let cut = line.get(..LONGEST).unwrap_or(line);
        for byte in cut {
            match byte {
                b'\'' | b'"' | b'\\' | b' '..=b'~' => fmt::Write::write_char(f, char::from(*byte))?,
                other => write!(f, "{}", other.escape_ascii())?,
            }
        }
        if cut.len() < line.len() { f.write_str("..") } else { Ok(()) }
    }
}

/// ` (rc -110)`, if there is one.
struct Rc(Option<i64>);

impl fmt::Display for Rc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |rc| write!(f, " (rc {rc})"))
    }
}

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::CallbackTimer { seconds } => {
                write!(f, "did not give a lock back in time: lock callback timer expired after {seconds} s")
            }
            Self::AstFailed { ast, replied: false, rc } => {
                write!(f, "did not answer a {} callback for a lock{}", Shown(ast), Rc(rc))
            }
            Self::AstFailed { ast, replied: true, rc } => {
                write!(f, "answered a {} callback for a lock with an error{}", Shown(ast), Rc(rc))
            }
            Self::LockCallback { ast, rc } => write!(f, "a {} callback for a lock timed out{}", Shown(ast), Rc(rc)),
            Self::Silent { seconds } => write!(f, "not heard from for {seconds} s (pinger)"),
            Self::ByHand => f.write_str("by administrative request"),
            Self::Request { opcode, to, words } => {
                if let Some(opcode) = opcode {
                    write!(f, "{opcode}")?;
                    if let Some(to) = to {
                        write!(f, " to {}", Shown(to))?;
                    }
                    f.write_str(": ")?;
                }
                write!(f, "{}", Shown(words))
            }
            Self::Text(text) => write!(f, "{}", Shown(text)),
        }
    }
}
