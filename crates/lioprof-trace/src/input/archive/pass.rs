//! One way through an archive that can only be read from its beginning. A thread reads ahead; whoever wants a member that lies ahead has
//! what is passed over, and is still wanted, set aside.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{self, Read};
use std::panic;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use super::walk::{CompressedTar, Flow, Leaf, Visit, walk};
use crate::input::damage::{Damage, Layer, SharedDamage};
use crate::kept::Store;
use crate::kept::{Packed, PackedReader, Packer};
use crate::progress::BytesRead;

/// Bytes handed over at once.
const PIECE_BYTES: usize = 256 << 10;
/// Pieces that wait, at most.
const PIECES: usize = 4;
/// What is set aside is kept in memory up to this size, packed, then in a temporary file.
const SET_ASIDE_BYTES: usize = 64 << 20;

/// What the thread says.
enum Said {
    /// A member that is wanted begins.
    Begin(usize),
    Bytes(Vec<u8>),
    /// It ends, because of this damage if there is some.
    End(Option<Damage>),
}

/// A member that was set aside, or what was left of it.
#[derive(Clone)]
struct SetAside {
    packed: Arc<Packed>,
    damage: Option<Damage>,
}

impl SetAside {
    fn read(self) -> From {
        From::Aside(PackedReader::new(self.packed), self.damage)
    }
}

/// One way through an archive.
pub(super) struct Pass {
    said: Receiver<Said>,
    thread: Option<JoinHandle<()>>,
    /// The member that the thread is at.
    current: Option<usize>,
    /// Somebody reads it.
    is_read: bool,
    /// Wanted and still ahead.
    ahead: BTreeSet<usize>,
    /// Passed over, and whole.
    aside: BTreeMap<usize, SetAside>,
    /// What is left of members that somebody has begun to read.
    rests: BTreeMap<usize, SetAside>,
    store: Arc<Store>,
}

impl Pass {
    /// Starts a thread that reads the members of these numbers and names. What is read of the file is counted.
    pub(super) fn start(tar: CompressedTar, wanted: BTreeMap<usize, String>, consumed: BytesRead) -> io::Result<Self> {
        let ahead = wanted.keys().copied().collect();
        let (say, said) = sync_channel(PIECES);
        let reader = Reader { wanted: wanted.into_iter().collect(), say, damage: None };
        let thread = thread::Builder::new().name("unpack".to_owned()).spawn(move || reader.read(&tar, &consumed))?;
        let store = Arc::new(Store::new(SET_ASIDE_BYTES));
        let (aside, rests) = (BTreeMap::new(), BTreeMap::new());
        Ok(Self { said, thread: Some(thread), current: None, is_read: false, ahead, aside, rests, store })
    }

    /// Whether a member can be had from here: it is still ahead, or set aside.
    pub(super) fn has(&self, number: usize) -> bool {
        self.ahead.contains(&number) || self.aside.contains_key(&number)
    }

    /// Whether nothing more can be had from here than what is being read.
    pub(super) fn is_over(&self) -> bool {
        self.ahead.is_empty() && self.aside.is_empty()
    }

    /// Goes to a member. If it is to be kept, it can be had once more.
    fn go_to(&mut self, number: usize, keep: bool) -> From {
        if self.ahead.contains(&number) {
            self.leave_current();
            while self.ahead.contains(&number) {
                match self.next() {
                    Some(Said::Begin(at)) => {
                        self.ahead.remove(&at);
                        self.current = Some(at);
                        if at != number || keep {
                            let whole = self.set_aside();
                            self.aside.insert(at, whole);
                        }
                    }
                    Some(Said::Bytes(_) | Said::End(_)) => {}
                    None => {
                        self.ahead.clear();
                        return From::Nowhere(Some(changed()));
                    }
                }
            }
        }
        if self.current == Some(number) {
            self.is_read = true;
            return From::Cursor(Vec::new(), 0);
        }
        let Some(aside) = self.aside.remove(&number) else { return From::Nowhere(Some(changed())) };
        if keep {
            self.aside.insert(number, aside.clone());
        }
        aside.read()
    }

    /// More of a member that somebody has begun to read.
    fn more(&mut self, number: usize) -> From {
        if self.current != Some(number) {
            return self.rests.remove(&number).map_or_else(|| From::Nowhere(Some(changed())), SetAside::read);
        }
        loop {
            match self.next() {
                Some(Said::Bytes(piece)) => return From::Cursor(piece, 0),
                Some(Said::End(damage)) => {
                    self.current = None;
                    return From::Nowhere(damage);
                }
                Some(Said::Begin(_)) => {}
                None => return From::Nowhere(Some(changed())),
            }
        }
    }

    /// The rest of the member at hand makes way for another one.
    fn leave_current(&mut self) {
        if let Some(number) = self.current.filter(|_| self.is_read) {
            let rest = self.set_aside();
            self.rests.insert(number, rest);
        }
        self.is_read = false;
        // Of one that nobody reads the rest is passed over.
        self.current = None;
    }

    /// Keeps what is left of the member at hand.
    fn set_aside(&mut self) -> SetAside {
        self.current = None;
        let mut packer = Packer::new(Arc::clone(&self.store));
        let mut failed = None;
        let damage = loop {
            match self.next() {
                Some(Said::Bytes(piece)) => {
                    if failed.is_none() {
                        failed = packer.add(&piece).err();
                    }
                }
                Some(Said::End(damage)) => break damage,
                Some(Said::Begin(_)) => {}
                None => break Some(changed()),
            }
        };
        let packed = packer.finish();
        let failed = failed.map(|err| not_kept(&err));
        match packed {
            Ok(packed) => SetAside { packed: Arc::new(packed), damage: failed.or(damage) },
            Err(err) => SetAside { packed: Arc::default(), damage: Some(failed.unwrap_or_else(|| not_kept(&err))) },
        }
    }

    /// What the thread says next; `None` if it has ended. A panic of the thread is not an end: it goes on here.
    fn next(&mut self) -> Option<Said> {
        if let Ok(said) = self.said.recv() {
            return Some(said);
        }
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
            panic::resume_unwind(panic);
        }
        None
    }

    /// Nobody reads a member any more.
    fn let_go(&mut self, number: usize) {
        if self.current == Some(number) {
            self.is_read = false;
        } else {
            self.rests.remove(&number);
        }
    }
}

fn not_kept(err: &io::Error) -> Damage {
    Damage { layer: Layer::File, file_offset: 0, offset: 0, why: err.to_string(), truncated: false }
}

fn changed() -> Damage {
    let why = "the archive has changed since it was looked at".to_owned();
    Damage { layer: Layer::File, file_offset: 0, offset: 0, why, truncated: false }
}

/// The thread's side.
struct Reader {
    /// Numbers and names of what is still to be read.
    wanted: VecDeque<(usize, String)>,
    say: SyncSender<Said>,
    /// What ended the archive.
    damage: Option<Damage>,
}

impl Reader {
    fn read(mut self, tar: &CompressedTar, consumed: &BytesRead) {
        if let Err(err) = walk(tar, consumed, &mut self) {
            let why = err.to_string();
            let file_offset = consumed.get();
            self.damage = Some(Damage { layer: tar.origin.layer(), file_offset, offset: 0, why, truncated: false });
        }
        let damage = self.damage.take().map_or_else(changed, |damage| Damage { offset: 0, ..damage });
        for (number, _) in std::mem::take(&mut self.wanted) {
            if self.say(Said::Begin(number)).is_break() || self.say(Said::End(Some(damage.clone()))).is_break() {
                return;
            }
        }
    }

    /// Nobody may want to hear it any more.
    fn say(&self, said: Said) -> Flow {
        match self.say.send(said) {
            Ok(()) => Flow::Continue(()),
            Err(_) => Flow::Break(()),
        }
    }
}

impl Visit for Reader {
    fn member(&mut self) -> Flow {
        Flow::Continue(())
    }

    fn leaf(&mut self, leaf: Leaf<'_>) -> Flow {
        if !self.wanted.front().is_some_and(|(number, path)| *number == leaf.number && path == leaf.path) {
            return Flow::Continue(());
        }
        self.wanted.pop_front();
        self.say(Said::Begin(leaf.number))?;
        let mut delivered = 0;
        loop {
            let mut piece = Vec::with_capacity(PIECE_BYTES);
            // The stream never fails.
            let n = leaf.stream.take(PIECE_BYTES as u64).read_to_end(&mut piece).unwrap_or(0);
            if n == 0 {
                break;
            }
            delivered += n as u64;
            self.say(Said::Bytes(piece))?;
        }
        self.say(Said::End(leaf.damage(delivered)))?;
        if self.wanted.is_empty() { Flow::Break(()) } else { Flow::Continue(()) }
    }

    fn zip(&mut self, _: &str, _: usize, _: &mut dyn Read) -> Flow {
        Flow::Continue(())
    }

    fn special(&mut self, _: &str, _: &'static str) -> Flow {
        Flow::Continue(())
    }

    fn damaged(&mut self, _: Option<&str>, damage: Damage) -> Flow {
        self.damage.get_or_insert(damage);
        Flow::Continue(())
    }
}

/// Where a member's next bytes are.
enum From {
    /// Where the thread is: a piece, and how much of it has been read.
    Cursor(Vec<u8>, usize),
    Aside(PackedReader, Option<Damage>),
    /// At its end, because of this damage if there is some.
    Nowhere(Option<Damage>),
}

/// A member as a stream. It never fails: damage ends it.
pub(super) struct MemberStream {
    pass: Arc<Mutex<Pass>>,
    number: usize,
    from: From,
    delivered: u64,
    damage: SharedDamage,
}

impl MemberStream {
    /// Of a member that the pass has.
    pub(super) fn new(pass: &Arc<Mutex<Pass>>, number: usize, keep: bool, damage: SharedDamage) -> Self {
        let from = locked(pass).go_to(number, keep);
        Self { pass: Arc::clone(pass), number, from, delivered: 0, damage }
    }
}

/// A pass whose thread has panicked is at its end.
pub(super) fn locked(pass: &Mutex<Pass>) -> MutexGuard<'_, Pass> {
    pass.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Read for MemberStream {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        loop {
            match &mut self.from {
                From::Cursor(piece, used) if *used < piece.len() => {
                    let n = buf.len().min(piece.len() - *used);
                    buf[..n].copy_from_slice(&piece[*used..*used + n]);
                    *used += n;
                    self.delivered += n as u64;
                    return Ok(n);
                }
                From::Cursor(..) => self.from = locked(&self.pass).more(self.number),
                From::Aside(reader, damage) => match reader.read(buf) {
                    Ok(0) => self.from = From::Nowhere(damage.take()),
                    Ok(n) => {
                        self.delivered += n as u64;
                        return Ok(n);
                    }
                    Err(err) => self.from = From::Nowhere(Some(not_kept(&err))),
                },
                From::Nowhere(damage) => {
                    if let Some(damage) = damage.take() {
                        self.damage.set(Damage { offset: self.delivered, ..damage });
                    }
                    return Ok(0);
                }
            }
        }
    }
}

impl Drop for MemberStream {
    fn drop(&mut self) {
        if let From::Cursor(..) = self.from {
            locked(&self.pass).let_go(self.number);
        }
    }
}
