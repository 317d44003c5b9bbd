//! Decompression on a thread of its own, ahead of whoever decodes what it yields.

use std::io::{self, Read};
use std::panic;
use std::sync::mpsc::{Receiver, SendError, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

/// Read without a thread: short inputs, and the beginning of those that are only looked at, need none.
const DIRECT_BYTES: usize = 1 << 20;
/// Bytes handed over at once.
const PIECE_BYTES: usize = 256 << 10;
/// Pieces that wait, at most.
const PIECES: usize = 4;

/// A stream that is read ahead once it turns out to be long.
pub(super) struct ReadAhead<R> {
    read_by: ReadBy<R>,
}

enum ReadBy<R> {
    /// Read by whoever asks; so many bytes are left to be read so.
    Caller { inner: R, left: usize },
    /// Read by a thread.
    Thread(Ahead),
    /// At its end.
    Nobody,
}

impl<R: Read + Send + 'static> ReadAhead<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { read_by: ReadBy::Caller { inner, left: DIRECT_BYTES } }
    }

    /// Gives the stream to a thread; goes on without, if there can be none.
    fn start(&mut self) {
        let ReadBy::Caller { inner, .. } = std::mem::replace(&mut self.read_by, ReadBy::Nobody) else { return };
        self.read_by = match Ahead::start(inner) {
            Ok(ahead) => ReadBy::Thread(ahead),
            Err(inner) => ReadBy::Caller { inner, left: usize::MAX },
        };
    }
}

impl<R: Read + Send + 'static> Read for ReadAhead<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if let ReadBy::Caller { left: 0, .. } = self.read_by {
            self.start();
        }
        let n = match &mut self.read_by {
            ReadBy::Caller { inner, left } => {
                let wanted = buf.len().min(*left);
                let n = inner.read(&mut buf[..wanted])?;
                *left -= n;
                return Ok(n);
            }
            ReadBy::Thread(ahead) => ahead.read(buf)?,
            ReadBy::Nobody => 0,
        };
        if n == 0 && !buf.is_empty() {
            self.read_by = ReadBy::Nobody;
        }
        Ok(n)
    }
}

/// A buffer and how much of it is filled.
type Piece = (Vec<u8>, usize);

/// The reading end of a thread that reads ahead.
struct Ahead {
    thread: Option<JoinHandle<()>>,
    pieces: Receiver<io::Result<Piece>>,
    /// Takes buffers back.
    spent: Sender<Vec<u8>>,
    piece: Piece,
    /// Bytes of the piece that have been read.
    used: usize,
}

impl Ahead {
    /// Starts the thread, or returns the stream.
    fn start<R: Read + Send + 'static>(inner: R) -> Result<Self, R> {
        let (sender, pieces) = sync_channel(PIECES);
        let (spent, buffers) = channel();
        // What a thread is given that cannot be started is lost, so it gets the stream once it runs.
        let (give, given) = sync_channel(1);
        let started = thread::Builder::new().name("decompress".to_owned()).spawn(move || {
            if let Ok(inner) = given.recv() {
                read_all(inner, &sender, &buffers);
            }
        });
        let Ok(thread) = started else { return Err(inner) };
        give.send(inner).map_err(|SendError(inner)| inner)?;
        Ok(Self { thread: Some(thread), pieces, spent, piece: (Vec::new(), 0), used: 0 })
    }

    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.used == self.piece.1 {
            let Ok(next) = self.pieces.recv() else { return self.join() };
            let (old, _) = std::mem::replace(&mut self.piece, next?);
            self.used = 0;
            // At its end the thread wants no more buffers.
            drop(self.spent.send(old));
        }
        let rest = &self.piece.0[self.used..self.piece.1];
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        self.used += n;
        Ok(n)
    }

    /// The end of the stream. A panic of the thread is not one: it goes on here.
    fn join(&mut self) -> io::Result<usize> {
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(panic)) => panic::resume_unwind(panic),
            _ => Ok(0),
        }
    }
}

/// Reads a stream to its end, or until nobody wants more of it.
fn read_all(mut inner: impl Read, pieces: &SyncSender<io::Result<Piece>>, buffers: &Receiver<Vec<u8>>) {
    loop {
        let mut buffer = buffers.try_recv().unwrap_or_default();
        buffer.resize(PIECE_BYTES, 0);
        let piece = match inner.read(&mut buffer) {
            Ok(0) => return,
            Ok(n) => Ok((buffer, n)),
            Err(err) if err.kind() == io::ErrorKind::Interrupted => continue,
            Err(err) => Err(err),
        };
        let failed = piece.is_err();
        if pieces.send(piece).is_err() || failed {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// So many bytes that can be told apart, in uneven pieces, then an end as given.
    struct Counting {
        at: usize,
        len: usize,
        end: fn() -> io::Result<usize>,
        alive: Arc<()>,
    }

    impl Counting {
        fn new(len: usize, end: fn() -> io::Result<usize>) -> Self {
            Self { at: 0, len, end, alive: Arc::default() }
        }
    }

    fn byte(at: usize) -> u8 {
        (at * 31 + at / 251).to_le_bytes()[0]
    }

    impl Read for Counting {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            if self.at == self.len {
                return (self.end)();
            }
            let n = buf.len().min(self.len - self.at).min(1 + self.at % 70_001);
            for (to, at) in buf[..n].iter_mut().zip(self.at..) {
                *to = byte(at);
            }
            self.at += n;
            Ok(n)
        }
    }

    #[test]
    fn all_bytes_come_in_their_order() {
        for len in [0, 1, DIRECT_BYTES - 1, DIRECT_BYTES, DIRECT_BYTES + 1, 3 * DIRECT_BYTES + 12_345] {
            let mut stream = ReadAhead::new(Counting::new(len, || Ok(0)));
            let mut got = Vec::new();
            assert_eq!(stream.read_to_end(&mut got).unwrap(), len);
            assert!(got.iter().enumerate().all(|(at, got)| *got == byte(at)), "{len}");
            assert_eq!(stream.read(&mut [0; 8]).unwrap(), 0);
        }
    }

    #[test]
    fn an_error_comes_behind_the_bytes_before_it() {
        let mut stream = ReadAhead::new(Counting::new(2 * DIRECT_BYTES, || Err(io::Error::other("bad block"))));
        let mut got = Vec::new();
        assert_eq!(stream.read_to_end(&mut got).unwrap_err().to_string(), "bad block");
        assert_eq!(got.len(), 2 * DIRECT_BYTES);
    }

    #[test]
    #[should_panic(expected = "in the decoder")]
    fn a_panic_is_not_taken_for_the_end() {
        let mut stream = ReadAhead::new(Counting::new(2 * DIRECT_BYTES, || panic!("in the decoder")));
        stream.read_to_end(&mut Vec::new()).unwrap();
    }

    #[test]
    fn the_thread_ends_when_nobody_reads_on() {
        let inner = Counting::new(usize::MAX, || Ok(0));
        let alive = Arc::downgrade(&inner.alive);
        let mut stream = ReadAhead::new(inner);
        stream.by_ref().take(2 * DIRECT_BYTES as u64).read_to_end(&mut Vec::new()).unwrap();
        assert!(alive.upgrade().is_some());
        drop(stream);
        lioprof_testkit::eventually("the thread to let go of the stream", || alive.upgrade().is_none());
    }
}
