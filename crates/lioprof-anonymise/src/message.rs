//! A record's text as pieces: what the parser says of it first, the rest by its form.

use std::ops::Range;

use lustre_debuglog::message::{DebugReq, LdlmEvent, LockTail, ReqEvent};
use lustre_debuglog::record::mask;
use lustre_debuglog::{Message, Record};

use crate::kind::Kind;
use crate::piece::{Piece, Pieces};
use crate::recognise;
use crate::vocabulary;

/// Subsystems whose messages print names of files: mdc, mds, llite, lov, osd, lfsck, lmv.
const PRINT_FILE_NAMES: u32 = 0x2 | 0x4 | 0x80 | 0x2_0000 | 0x8_0000 | 0x10_0000 | 0x80_0000;
/// vfstrace, dentry, inode, iotrace.
const OF_FILES: u32 = 0x20_0000 | 0x2000 | 0x2 | 0x8;

/// What a text is made of, and what must become of it.
#[derive(Debug)]
pub(crate) struct Split<'a> {
    pub(crate) pieces: Pieces<'a>,
    pub(crate) fate: Fate,
}

/// What becomes of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is kept, with other names; words that are not known become pseudonyms.
    Kept,
    /// lioprof reads it as a message of a known kind, but not all of it: only its beginning is kept.
    Malformed,
    /// It is dropped.
    Dropped,
}

/// Splits a record's text.
pub(crate) fn split<'a>(record: &Record<'a>) -> Split<'a> {
    let text = record.text;
    let mut fields = Fields { text, fields: Vec::new() };
    match Message::parse(record) {
        Message::Malformed(_) => return Split { pieces: Pieces::new(), fate: Fate::Malformed },
        message if !fields.of(&message, record) => return other(record),
        _ => {}
    }
    Split { pieces: fields.pieces(), fate: Fate::Kept }
}

/// A text that lioprof does not interpret: kept if nothing in it is unknown.
fn other<'a>(record: &Record<'a>) -> Split<'a> {
    let is_console = record.mask & (mask::CONSOLE | mask::ERROR | mask::WARNING) != 0;
    let of_files = record.subsystem & PRINT_FILE_NAMES != 0 || record.mask & OF_FILES != 0;
    // Names may be broken at the ends of lines, so neither half is known. Of messages that are read the lines are put together before.
    let is_broken = record.text.trim_ascii_end().contains(&b'\n');
    let may_be_kept = !is_broken && (is_console || !of_files);
    match may_be_kept.then(|| recognise::known(record.text)).flatten() {
        Some(pieces) => Split { pieces, fate: Fate::Kept },
        None => Split { pieces: Pieces::new(), fate: Fate::Dropped },
    }
}

/// What a field of a message holds.
#[derive(Clone, Copy)]
enum Field {
    Job,
    Nid,
    Device,
    Thread,
    File,
    Mark,
    /// Numbers and letters that are no words.
    Plain,
    /// Words that may be anything: dropped if they are not known.
    Text,
    Owner(Kind),
}

/// Where the fields of a text are.
struct Fields<'a> {
    text: &'a [u8],
    fields: Vec<(Range<usize>, Field)>,
}

impl<'a> Fields<'a> {
    /// Notes the fields of a message; `false`: it is of no kind that is known here.
    fn of(&mut self, message: &Message<'a>, record: &Record<'a>) -> bool {
        match *message {
            Message::Handling(handling) => self.handling(&handling),
            Message::Handled(handled) => self.handling(&handled.rpc),
            Message::Sending(rpc) | Message::Completed(rpc) => {
                self.add(rpc.thread, Field::Thread);
                self.add(rpc.device_uuid, Field::Device);
                self.add(rpc.nid, Field::Nid);
                self.add_some(rpc.job, Field::Job);
            }
            Message::Peer(peer) => {
                self.add(peer.nid, Field::Nid);
                self.add_some(peer.source, Field::Nid);
            }
            Message::Nrs(nrs) => self.add_some(nrs.nid, Field::Nid),
            Message::Transferring(transferring) => self.add(transferring.nid, Field::Nid),
            Message::RefreshRwLocks(refresh) => {
                self.add(refresh.thread, Field::Thread);
                refresh.req.iter().for_each(|req| self.request(req));
            }
            Message::RefreshedLocks(refreshed) => self.add(refreshed.target, Field::Device),
            Message::Req(req) => {
                match req.event {
                    ReqEvent::DroppedTimedOut { nid, .. } => self.add(nid, Field::Nid),
                    ReqEvent::Other(text) => self.add(text, Field::Text),
                    _ => {}
                }
                self.request(&req.req);
            }
            Message::Ldlm(ldlm) => {
                match ldlm.event {
                    LdlmEvent::CallbackTimerExpired { nid, .. } | LdlmEvent::AstFailedEvicting { nid, .. } => {
                        self.add(nid, Field::Nid);
                    }
                    LdlmEvent::Other(text) => self.add(text, Field::Text),
                    _ => {}
                }
                if let Some(lock) = &ldlm.lock {
                    self.add(lock.namespace, Field::Device);
                    if let LockTail::Export { nid, .. } = lock.tail {
                        self.add(nid, Field::Nid);
                    }
                }
            }
            Message::PingEviction(eviction) => {
                self.add(eviction.target, Field::Device);
                self.add(eviction.client_uuid, Field::Device);
                self.add(eviction.nid, Field::Nid);
            }
            Message::Connection(connection) => {
                self.add(connection.target, Field::Device);
                self.add(connection.client_uuid, Field::Device);
                self.add(connection.nid, Field::Nid);
            }
            Message::Operation(line) => self.add_some(line.name, Field::File),
            Message::Vfs(line) => {
                self.add_some(line.name, Field::File);
                self.other_names(line.name);
            }
            Message::Marker(mark) => self.add(mark, Field::Mark),
            Message::UnwrapReq(_)
            | Message::GotReq(_)
            | Message::GotReqNet(_)
            | Message::FinishReq(_)
            | Message::BulkEvent(_)
            | Message::SendingBytes(_)
            | Message::ProlongLocks(_)
            | Message::Contention(_)
            | Message::BulkBuilt(_)
            | Message::BrwRpc(_) => {}
            // `Other`, and kinds that this crate does not know yet.
            _ => return false,
        }
        debug_assert!(record.text == self.text);
        true
    }

    fn handling(&mut self, rpc: &lustre_debuglog::message::Handling<'a>) {
        self.add(rpc.thread, Field::Thread);
        self.add(rpc.client_uuid, Field::Device);
        self.add(rpc.nid, Field::Nid);
        self.add_some(rpc.job, Field::Job);
    }

    fn request(&mut self, req: &DebugReq<'a>) {
        self.add(req.peer, Field::Device);
        self.add(req.nid, Field::Nid);
        // `PHASE:LETTERS/%x/%x`: letters of flags and hexadecimal numbers are no words.
        let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'-';
        if let (Some(phase), Some(letters)) = (self.range(req.phase), self.range(req.letters))
            && self.text[phase.clone()].iter().chain(&self.text[letters.clone()]).all(is_letter)
        {
            let hex =
                self.text[letters.end..].iter().take_while(|byte| byte.is_ascii_hexdigit() || **byte == b'/').count();
            self.fields.push((phase.start..letters.end + hex, Field::Plain));
        }
        let Some(job) = req.job.and_then(|job| self.range(job)) else { return };
        self.fields.push((job.clone(), Field::Job));
        self.owners(job.end);
    }

    /// `' uid:%u gid:%u projid:%u`.
    fn owners(&mut self, mut at: usize) {
        let words: [(&[u8], Kind); 3] = [(b"' uid:", Kind::Uid), (b" gid:", Kind::Gid), (b" projid:", Kind::Projid)];
        for (word, kind) in words {
            if !self.text[at..].starts_with(word) {
                return;
            }
            let start = at + word.len();
            at = start + self.text[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            self.fields.push((start..at, Field::Owner(kind)));
        }
    }

    /// The names of files that `VFS Op` lines print besides the first one: `newname=`, `target=`, `xattr`, `name .. foreign`, `value`.
    /// They are the last thing or stand before ` tgt_dir=`; all of the rest is taken.
    fn other_names(&mut self, first: Option<&'a [u8]>) {
        let from = first.and_then(|name| self.range(name)).map_or(0, |range| range.end);
        let rest = &self.text[from..];
        let words: [&[u8]; 7] =
            [b", newname=", b",newname=", b", target=", b",target=", b", xattr ", b" name ", b"cfg_instance "];
        let Some(start) = words.iter().filter_map(|word| Some(memchr::memmem::find(rest, word)? + word.len())).min()
        else {
            return;
        };
        let end = memchr::memmem::rfind(rest, b"tgt_dir=").filter(|&end| end > start);
        let end = end.map_or(rest.trim_ascii_end().len(), |end| rest[..end].trim_ascii_end().len());
        let name = rest[start..end.max(start)].strip_suffix(b",").unwrap_or(&rest[start..end.max(start)]);
        if !name.is_empty() {
            self.fields.push((from + start..from + start + name.len(), Field::File));
        }
    }

    fn add_some(&mut self, part: Option<&'a [u8]>, field: Field) {
        part.into_iter().for_each(|part| self.add(part, field));
    }

    fn add(&mut self, part: &'a [u8], field: Field) {
        if let Some(range) = self.range(part) {
            self.fields.push((range, field));
        }
    }

    /// Where a part of the text stands in it; `None` if it is empty, or a constant of the parser's.
    fn range(&self, part: &[u8]) -> Option<Range<usize>> {
        let start = (part.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize)?;
        let end = start.checked_add(part.len())?;
        (!part.is_empty() && end <= self.text.len()).then_some(start..end)
    }

    fn pieces(mut self) -> Pieces<'a> {
        self.fields.sort_by_key(|(range, _)| (range.start, range.end));
        let text = self.text;
        let mut pieces = Pieces::new();
        let mut at = 0;
        for (range, field) in self.fields {
            if range.start < at {
                continue;
            }
            recognise::split(&text[at..range.start], &mut pieces);
            at = range.end;
            let part = &text[range];
            match field {
                Field::Job => recognise::job(part, &mut pieces),
                Field::Nid => recognise::nid(part, &mut pieces),
                Field::Device => recognise::device(part, &mut pieces),
                Field::Thread if vocabulary::is_thread(part) => pieces.push(Piece::Plain(part)),
                Field::Thread => pieces.push(Piece::Name(Kind::Program, part)),
                Field::File if matches!(part, b"/" | b"." | b"..") => pieces.push(Piece::Plain(part)),
                Field::File => pieces.push(Piece::Name(Kind::File, part)),
                Field::Mark => pieces.push(Piece::Name(Kind::Mark, part)),
                Field::Plain => pieces.push(Piece::Plain(part)),
                Field::Owner(kind) => pieces.push(Piece::Name(kind, part)),
                Field::Text => {
                    let before = pieces.len();
                    recognise::split(part, &mut pieces);
                    if pieces[before..].iter().any(|piece| matches!(piece, Piece::Unknown(_))) {
                        pieces.truncate(before);
                        pieces.push(Piece::Unknown(part));
                    }
                }
            }
        }
        recognise::split(&text[at..], &mut pieces);
        pieces
    }
}
