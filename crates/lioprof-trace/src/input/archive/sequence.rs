//! A compressed tar whose members share the way through it.
//!
//! The first way is the look at what it holds, the second one brings all members that are read. Where nodes have to be read again, a
//! third one does, and keeps what may be asked for once more.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::pass::{MemberStream, Pass, locked};
use super::walk::CompressedTar;
use crate::input::damage::SharedDamage;
use crate::progress::BytesRead;

/// A compressed tar.
pub(super) struct Sequence {
    tar: CompressedTar,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Members that are inputs, by number.
    members: BTreeMap<usize, Wanted>,
    pass: Option<Arc<Mutex<Pass>>>,
    /// Ways begun, but for the first look.
    passes: u32,
    /// Another way is expected.
    is_expected_again: bool,
}

struct Wanted {
    path: String,
    /// It was opened before.
    was_read: bool,
    /// It will be read once more.
    again: bool,
}

/// A member that was opened.
pub(super) struct OpenMember {
    pub(super) stream: MemberStream,
    pub(super) damage: SharedDamage,
    /// The way through the archive that began with it: how much of the file has been read, and of how much.
    pub(super) pass: Option<(BytesRead, u64)>,
}

impl std::fmt::Debug for Sequence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sequence").field("tar", &self.tar).finish_non_exhaustive()
    }
}

impl Sequence {
    pub(super) fn new(tar: CompressedTar) -> Self {
        Self { tar, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The archive.
    pub(super) fn tar(&self) -> &CompressedTar {
        &self.tar
    }

    /// The member is an input and will be read.
    pub(super) fn want(&self, number: usize, path: &str) {
        self.state().members.insert(number, Wanted { path: path.to_owned(), was_read: false, again: false });
    }

    /// Bytes of the file that reading this member stands for: all for the first one, so that they count once.
    pub(super) fn share(&self, number: usize) -> u64 {
        let first = self.state().members.keys().next().copied();
        if first == Some(number) { self.tar.origin.packed_bytes() } else { 0 }
    }

    /// The member is about to be read, maybe once more. Those that are announced come in one way through the archive.
    pub(super) fn announce(&self, number: usize) {
        if let Some(wanted) = self.state().members.get_mut(&number) {
            wanted.again = wanted.was_read;
        }
    }

    /// The same; bytes of the file that will be read for it and were not expected so far.
    pub(super) fn expect_again(&self, number: usize) -> u64 {
        self.announce(number);
        let was_expected = std::mem::replace(&mut self.state().is_expected_again, true);
        if was_expected { 0 } else { self.tar.origin.packed_bytes() }
    }

    /// Opens a member. Fails if no thread can be started.
    pub(super) fn open(&self, number: usize) -> io::Result<OpenMember> {
        let mut state = self.state();
        let running = state.pass.clone().filter(|pass| locked(pass).has(number));
        let (pass, begun) = match running {
            Some(pass) => (pass, None),
            None => {
                let (pass, read) = self.start(&mut state, number)?;
                (pass, Some(read))
            }
        };
        let was_read = state.members.get_mut(&number).is_some_and(|it| std::mem::replace(&mut it.was_read, true));
        // Where one node was read again, the next one may be, too.
        let keep = state.passes > 1 && !was_read;
        let damage = SharedDamage::default();
        let stream = MemberStream::new(&pass, number, keep, damage.clone());
        state.pass = Some(pass).filter(|pass| !locked(pass).is_over());
        Ok(OpenMember { stream, damage, pass: begun.map(|read| (read, self.tar.origin.packed_bytes())) })
    }

    fn start(&self, state: &mut State, number: usize) -> io::Result<(Arc<Mutex<Pass>>, BytesRead)> {
        let mut wanted = BTreeMap::new();
        for (&at, member) in &mut state.members {
            let again = std::mem::take(&mut member.again);
            if at == number || !member.was_read || again {
                wanted.insert(at, member.path.clone());
            }
        }
        state.passes += 1;
        state.is_expected_again = false;
        let read = BytesRead::default();
        let pass = Pass::start(self.tar.clone(), wanted, read.clone())?;
        Ok((Arc::new(Mutex::new(pass)), read))
    }
}
