//! The first look at an archive: which of its members are logs.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::holdings::{FOREIGN, Holdings};
use super::member::{Access, Member, MemberContent};
use super::name::place;
use super::origin::Origin;
use super::sequence::Sequence;
use super::tar::{Kind, TarReader};
use super::walk::{CompressedTar, Flow, HEAD_BYTES, Leaf, MAX_DEPTH, TOO_DEEP, Visit, walk};
use super::zip;
use crate::input::compression::Compression;
use crate::input::content::{Content, PROBE_BYTES};
use crate::input::damage::{Damage, Layer, SharedDamage, Tolerant};
use crate::input::error::{InputError, InputProblem};
use crate::input::magic::{is_tar, is_zip};
use crate::input::mail::{MAX_MAIL, as_tar};
use crate::input::node;
use crate::input::recoded::Recoded;
use crate::kept::Store;
use crate::kept::Stretch;
use crate::progress::BytesRead;

/// Members that are looked at.
pub(crate) const MAX_MEMBERS: usize = 100_000;
/// Of the members' first bytes so many are kept in all; then [`SHORT_HEAD`] of each.
const MAX_HEADS: usize = 64 << 20;
/// Enough for the first records.
const SHORT_HEAD: usize = 1 << 10;
/// Zip archives in a compressed tar are kept, as they are, in memory up to this size, then in a temporary file.
const KEPT_BYTES: usize = 64 << 20;

/// What an archive holds.
pub(crate) struct Listed {
    /// The logs, in the order of their places.
    pub(crate) members: Vec<Member>,
    /// What is not read, and what is wrong.
    pub(crate) problems: Vec<InputProblem>,
}

/// Looks at each member of the archive that lies in `stretch`, up to `limit` of them. `archive` is its path.
///
/// # Errors
/// If there is no log in it, and no damage either that could be the reason.
pub(crate) fn list(archive: &Path, stretch: Stretch, limit: usize) -> Result<Listed, InputError> {
    let mut listing = Listing {
        archive,
        members: Vec::new(),
        holdings: Holdings::default(),
        damages: Vec::new(),
        damaged_logs: Vec::new(),
        left: limit,
        is_full: false,
        heads_left: MAX_HEADS,
        store: None,
    };
    listing.look_into(Origin::Stretch(stretch, Layer::File), None, 1, None).map_err(|source| InputError::Io {
        action: "read",
        path: archive.to_owned(),
        source,
    })?;
    listing.finish(limit)
}

struct Listing<'a> {
    archive: &'a Path,
    members: Vec<Member>,
    holdings: Holdings,
    /// Of which archive, and what.
    damages: Vec<(Option<String>, Damage)>,
    /// Members that say they are logs, but nothing of them can be read.
    damaged_logs: Vec<(String, Damage)>,
    /// Members that may still be looked at.
    left: usize,
    /// There are more.
    is_full: bool,
    heads_left: usize,
    /// For zip archives in a compressed tar.
    store: Option<Arc<Store>>,
}

impl Listing<'_> {
    /// Looks at the archive itself (no path), or at a member of one whose members can be opened one by one. An archive found there has
    /// this depth.
    fn look_into(
        &mut self,
        origin: Origin,
        path: Option<&str>,
        depth: usize,
        changed_us: Option<i64>,
    ) -> io::Result<()> {
        if let Origin::Stretch(stretch, _) = &origin {
            let mut head = Vec::new();
            read_head(&mut stretch.open()?, HEAD_BYTES, &mut head);
            if is_tar(&head) || is_zip(&head) {
                return match path {
                    Some(path) if depth > MAX_DEPTH => {
                        self.holdings.add(TOO_DEEP, path);
                        Ok(())
                    }
                    _ if is_zip(&head) => self.zip(stretch, path, depth),
                    _ => self.tar(stretch, path, depth),
                };
            }
        }
        let (damage, within) = (SharedDamage::default(), SharedDamage::default());
        let consumed = BytesRead::default();
        let raw = origin.open(&consumed)?;
        let mut stream =
            Tolerant::new(raw, origin.layer(), consumed.clone(), damage.clone()).starting_at(origin.start());
        let mut head = Vec::new();
        read_head(&mut stream, PROBE_BYTES, &mut head);
        let compression = Compression::detect(&head);
        let mut stream: Box<dyn Read + Send> = Box::new(io::Cursor::new(head).chain(stream));
        if let Some(kind) = compression {
            let decoder = kind.decoder(io::BufReader::new(stream))?;
            stream = Box::new(Tolerant::new(decoder, Layer::Compression(kind), consumed, within.clone()));
        }
        let mut head = Vec::new();
        read_head(&mut stream, PROBE_BYTES, &mut head);
        let content = Content::of(&head);
        match (content, path) {
            (Some(Content::Tar | Content::Zip | Content::Mail), Some(path)) if depth > MAX_DEPTH => {
                self.holdings.add(TOO_DEEP, path)
            }
            (Some(Content::Tar), _) => {
                drop(stream);
                self.sequence(CompressedTar { origin, path: path.map(str::to_owned), depth })?;
            }
            (Some(Content::Zip), _) => {
                let mut whole = io::Cursor::new(head).chain(stream);
                let kept = self.keep(&mut whole)?;
                self.zip(&kept, path, depth)?;
            }
            (Some(Content::Mail), _) => {
                let mut mail = Vec::new();
                io::Cursor::new(head).chain(stream).take(MAX_MAIL + 1).read_to_end(&mut mail)?;
                let is_all = mail.len() as u64 <= MAX_MAIL;
                match is_all.then(|| as_tar(&mail)).flatten() {
                    Some(tar) => {
                        let kept = self.keep(&mut tar.as_slice())?;
                        self.tar(&kept, path, depth)?;
                    }
                    None => self.holdings.add("mails that are too large or broken", path.unwrap_or("the mail")),
                }
            }
            (_, Some(path)) => {
                let damage = damage.get().or(within.get());
                self.leaf(path, Access::Alone(origin), Seen { compression, head, damage, changed_us });
            }
            // Whoever gave it saw an archive; it is none any more.
            (_, None) => {}
        }
        Ok(())
    }

    fn tar(&mut self, stretch: &Stretch, path: Option<&str>, depth: usize) -> io::Result<()> {
        let mut tar = TarReader::new(stretch.open()?);
        loop {
            let member = match tar.next() {
                Ok(Some(member)) => member,
                Ok(None) => return Ok(()),
                Err(damage) => {
                    self.damaged_archive(path, damage);
                    return Ok(());
                }
            };
            if self.count().is_break() {
                return Ok(());
            }
            let origin = Origin::Stretch(stretch.part(member.start, member.len), Layer::Tar);
            self.member(&inside(path, &member.name), member.kind, origin, depth, member.changed_us)?;
        }
    }

    fn zip(&mut self, stretch: &Stretch, path: Option<&str>, depth: usize) -> io::Result<()> {
        let found = zip::members(stretch, self.left)?;
        if let Some(damage) = found.damage {
            self.damaged_archive(path, damage);
        }
        for member in found.members {
            if self.count().is_break() {
                return Ok(());
            }
            self.member(&inside(path, &member.name), member.kind, member.origin, depth, None)?;
        }
        self.is_full |= found.has_more;
        Ok(())
    }

    /// A member of an archive at `depth`: a file is looked into, what is neither file nor folder is named.
    fn member(
        &mut self,
        name: &str,
        kind: Kind,
        origin: Origin,
        depth: usize,
        changed_us: Option<i64>,
    ) -> io::Result<()> {
        match kind {
            Kind::Folder => {}
            Kind::Special(what) => self.holdings.add(what, name),
            Kind::File => self.look_into(origin, Some(name), depth + 1, changed_us)?,
        }
        Ok(())
    }

    fn sequence(&mut self, tar: CompressedTar) -> io::Result<()> {
        let sequence = Arc::new(Sequence::new(tar));
        let mut in_sequence = InSequence { listing: self, sequence: Arc::clone(&sequence), failed: None };
        walk(sequence.tar(), &BytesRead::default(), &mut in_sequence)?;
        in_sequence.failed.map_or(Ok(()), Err)
    }

    /// One more member comes up.
    fn count(&mut self) -> Flow {
        if self.left == 0 {
            self.is_full = true;
            return Flow::Break(());
        }
        self.left -= 1;
        Flow::Continue(())
    }

    /// Keeps an archive that lies where it cannot be read from its end, or not as it is.
    fn keep(&mut self, stream: &mut dyn Read) -> io::Result<Stretch> {
        let store = self.store.get_or_insert_with(|| Arc::new(Store::new(KEPT_BYTES)));
        let (start, len) = store.append_all(stream)?;
        Ok(Stretch::of_store(Arc::clone(store), start, len))
    }

    fn leaf(&mut self, path: &str, access: Access, seen: Seen) {
        let Seen { compression, mut head, damage, changed_us } = seen;
        // As in a directory.
        if path.split('/').any(|name| name.starts_with('.') && !matches!(name, "." | "..")) {
            return self.holdings.add("hidden files", path);
        }
        let recoded = Recoded::of(&head);
        if !recoded.is_none() {
            let packed = Box::new(io::Cursor::new(std::mem::take(&mut head)));
            read_head(&mut recoded.undone(packed), PROBE_BYTES, &mut head);
        }
        let content = match Content::of(&head) {
            Some(Content::Log(form)) => Some(MemberContent::Log(form)),
            Some(Content::KernelLog(form)) => Some(MemberContent::KernelLog(form)),
            Some(Content::Tar | Content::Zip | Content::Mail) | None => None,
        };
        let Some(content) = content else {
            return match damage {
                Some(damage) if node::claims_to_be_a_log(path.rsplit(['/', '!']).next().unwrap_or(path)) => {
                    self.damaged_logs.push((path.to_owned(), damage));
                }
                Some(_) => self.holdings.add("files that cannot be decompressed", path),
                None => self.holdings.add(FOREIGN, path),
            };
        };
        if head.len() > self.heads_left {
            head.truncate(SHORT_HEAD);
        }
        self.heads_left = self.heads_left.saturating_sub(head.len());
        let place = path.split('!').fold(self.archive.to_owned(), |at, name| place(&at, name));
        self.members.push(Member {
            path: path.to_owned(),
            place,
            compression,
            content,
            recoded,
            head: head.into(),
            changed_us,
            access,
        });
    }

    fn damaged_archive(&mut self, path: Option<&str>, damage: Damage) {
        // What cuts the outer archive cuts the inner one, too.
        if !self.damages.iter().any(|(_, known)| *known == damage) {
            self.damages.push((path.map(str::to_owned), damage));
        }
    }

    fn finish(mut self, limit: usize) -> Result<Listed, InputError> {
        let shown = |path: Option<&str>| match path {
            Some(path) => format!("{}!{path}", self.archive.display()),
            None => self.archive.display().to_string(),
        };
        let mut problems = Vec::new();
        if self.is_full {
            let message = format!(
                "`{}` has more than {limit} members, and what lies behind them was not looked at; unpack it and give the folders with logs",
                self.archive.display()
            );
            problems.push(InputProblem::error(self.archive, message));
        }
        for (path, damage) in &self.damages {
            let message =
                format!("`{}`: {damage}: what lies behind is missing; {}", shown(path.as_deref()), damage.hint());
            problems.push(InputProblem::error(self.archive, message));
        }
        for (path, damage) in &self.damaged_logs {
            let path = PathBuf::from(shown(Some(path)));
            problems.push((&InputError::Damaged { path, damage: damage.clone() }).into());
        }
        if self.members.is_empty() && problems.is_empty() {
            let holds = self.holdings.to_string();
            return Err(InputError::NothingInArchive { path: self.archive.to_owned(), holds });
        }
        let (members, replaced) = last_of_each(std::mem::take(&mut self.members));
        for member in replaced {
            let path = member.shown(self.archive);
            let why = "the archive has a later member of this name, which is read";
            problems.push(InputProblem::note(&path, format!("`{}` skipped: {why}", path.display())));
        }
        if !self.holdings.is_empty() {
            let message = format!("`{}`: skipped {}", self.archive.display(), self.holdings);
            problems.push(InputProblem::note(self.archive, message));
        }
        Ok(Listed { members, problems })
    }
}

/// What was seen of a file.
struct Seen {
    compression: Option<Compression>,
    /// Its first decompressed bytes.
    head: Vec<u8>,
    damage: Option<Damage>,
    changed_us: Option<i64>,
}

/// Names of a member and the archives that it is in, but for the outermost one.
fn inside(archive: Option<&str>, name: &str) -> String {
    archive.map_or_else(|| name.to_owned(), |archive| format!("{archive}!{name}"))
}

/// In the order of their places; of those of one place the last one, as if they had been unpacked. And those that it replaces.
fn last_of_each(members: Vec<Member>) -> (Vec<Member>, Vec<Member>) {
    let (mut last, mut replaced) = (BTreeMap::new(), Vec::new());
    for member in members {
        replaced.extend(last.insert(member.place.clone(), member));
    }
    (last.into_values().collect(), replaced)
}

/// Reads up to `limit` bytes; what cannot be read is not there.
fn read_head(stream: &mut dyn Read, limit: usize, head: &mut Vec<u8>) {
    stream.take(limit as u64).read_to_end(head).unwrap_or(0);
}

/// Sees the members of a compressed tar.
struct InSequence<'l, 'a> {
    listing: &'l mut Listing<'a>,
    sequence: Arc<Sequence>,
    failed: Option<io::Error>,
}

impl Visit for InSequence<'_, '_> {
    fn member(&mut self) -> Flow {
        self.listing.count()
    }

    fn leaf(&mut self, mut leaf: Leaf<'_>) -> Flow {
        let mut head = Vec::new();
        read_head(&mut leaf.stream, PROBE_BYTES, &mut head);
        let damage = leaf.damage(head.len() as u64);
        let access = Access::Shared(Arc::clone(&self.sequence), leaf.number);
        let seen = Seen { compression: leaf.compression, head, damage, changed_us: leaf.changed_us };
        self.listing.leaf(leaf.path, access, seen);
        Flow::Continue(())
    }

    fn zip(&mut self, path: &str, depth: usize, stream: &mut dyn Read) -> Flow {
        let found = self.listing.keep(stream).and_then(|kept| self.listing.zip(&kept, Some(path), depth));
        match found {
            Ok(()) => Flow::Continue(()),
            Err(err) => {
                self.failed = Some(err);
                Flow::Break(())
            }
        }
    }

    fn special(&mut self, path: &str, what: &'static str) -> Flow {
        self.listing.holdings.add(what, path);
        Flow::Continue(())
    }

    fn damaged(&mut self, path: Option<&str>, damage: Damage) -> Flow {
        self.listing.damaged_archive(path, damage);
        Flow::Continue(())
    }
}
