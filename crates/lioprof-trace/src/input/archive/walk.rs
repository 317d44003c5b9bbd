//! A way through an archive that can only be read from its beginning: a compressed tar, with the archives in it.

use std::io::{self, BufReader, Chain, Cursor, Read};
use std::ops::ControlFlow;

use super::origin::Origin;
use super::tar::{Kind, Skip, Streamed, TarReader};
use crate::input::compression::Compression;
use crate::input::damage::{Counted, Damage, Layer, SharedDamage, Tolerant};
use crate::input::magic::{is_tar, is_zip};
use crate::progress::BytesRead;

/// An archive in an archive is read, one in that is not.
pub(super) const MAX_DEPTH: usize = 2;

const BUFFER: usize = 64 << 10;

/// Enough to see whether something is an archive.
pub(super) const HEAD_BYTES: usize = 512;

/// Says whether the walk goes on.
pub(super) type Flow = ControlFlow<()>;

/// A tar archive that can only be read from its beginning.
#[derive(Clone, Debug)]
pub(super) struct CompressedTar {
    pub(super) origin: Origin,
    /// Its name, if it is in another archive.
    pub(super) path: Option<String>,
    /// 1, or 2 if it is in another archive.
    pub(super) depth: usize,
}

/// A file that is no archive.
pub(super) struct Leaf<'a> {
    /// Its number among the files of the whole walk.
    pub(super) number: usize,
    /// Its name; in an archive in an archive, the names of both with `!` between them.
    pub(super) path: &'a str,
    /// How it is compressed.
    pub(super) compression: Option<Compression>,
    /// When it was last changed, microseconds since the epoch.
    pub(super) changed_us: Option<i64>,
    /// Its decompressed bytes. It never fails: damage ends it.
    pub(super) stream: &'a mut dyn Read,
    /// What ended the stream, innermost layer last.
    damage: &'a [SharedDamage],
}

impl Leaf<'_> {
    /// What ended the stream so far, after so many bytes of it.
    pub(super) fn damage(&self, delivered: u64) -> Option<Damage> {
        first(self.damage).map(|damage| Damage { offset: delivered, ..damage })
    }
}

/// The outermost damage: what is wrong within follows from it.
fn first(layers: &[SharedDamage]) -> Option<Damage> {
    layers.iter().find_map(SharedDamage::get)
}

/// Sees what a walk passes.
pub(super) trait Visit {
    /// A member of any kind comes up.
    fn member(&mut self) -> Flow;
    /// A file.
    fn leaf(&mut self, leaf: Leaf<'_>) -> Flow;
    /// A zip archive, which has to be read from its end.
    fn zip(&mut self, path: &str, depth: usize, stream: &mut dyn Read) -> Flow;
    /// Something that is not read, and what such things are called.
    fn special(&mut self, path: &str, what: &'static str) -> Flow;
    /// An archive ends before its time: the outermost one (no path), or one in it.
    fn damaged(&mut self, path: Option<&str>, damage: Damage) -> Flow;
}

/// Walks through a tar archive. What is read of the file is counted.
pub(super) fn walk(tar: &CompressedTar, consumed: &BytesRead, visit: &mut dyn Visit) -> io::Result<()> {
    let CompressedTar { origin, path, depth } = tar;
    let damage = SharedDamage::default();
    let raw = origin.open(consumed)?;
    let mut stream = Tolerant::new(raw, origin.layer(), consumed.clone(), damage.clone()).starting_at(origin.start());
    let mut walk = Walk { visit, next: 0 };
    let mut layers = vec![damage];
    let Peeled { stream, .. } = peel(&mut stream, Some((consumed, origin.start())), &mut layers)?;
    // Whoever sees enough ends it.
    let (ControlFlow::Continue(()) | ControlFlow::Break(())) = walk.tar(stream, path.as_deref(), *depth, &layers);
    Ok(())
}

struct Walk<'v> {
    visit: &'v mut dyn Visit,
    next: usize,
}

/// A stream without its compression.
struct Peeled<'a> {
    compression: Option<Compression>,
    head: Vec<u8>,
    /// All of it, with the head.
    stream: Box<dyn Read + Send + 'a>,
}

/// Takes the compression off a stream that never fails. What then damages it is a new layer. `of_file` counts what is read of the file,
/// which begins there, if the stream is the file itself.
fn peel<'a>(
    stream: &'a mut (dyn Read + Send),
    of_file: Option<(&BytesRead, u64)>,
    layers: &mut Vec<SharedDamage>,
) -> io::Result<Peeled<'a>> {
    let mut head = head_of(stream)?;
    let compression = Compression::detect(&head);
    let whole: Chain<Cursor<Vec<u8>>, _> = Cursor::new(head.clone()).chain(stream);
    let Some(kind) = compression else {
        return Ok(Peeled { compression, head, stream: Box::new(whole) });
    };
    let (counted, start) = match of_file {
        Some((consumed, start)) => (consumed.clone(), start),
        None => (BytesRead::default(), 0),
    };
    let buffered = BufReader::with_capacity(BUFFER, whole);
    let decoded = match of_file {
        Some(_) => kind.decoder(buffered)?,
        None => kind.decoder(Counted::new(buffered, counted.clone()))?,
    };
    let damage = SharedDamage::default();
    layers.push(damage.clone());
    let mut stream = Tolerant::new(decoded, Layer::Compression(kind), counted, damage).starting_at(start);
    head = head_of(&mut stream)?;
    let stream = Box::new(Cursor::new(head.clone()).chain(stream));
    Ok(Peeled { compression, head, stream })
}

fn head_of(stream: &mut (impl Read + ?Sized)) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(HEAD_BYTES);
    stream.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    Ok(head)
}

impl Walk<'_> {
    fn tar(
        &mut self,
        stream: Box<dyn Read + Send + '_>,
        path: Option<&str>,
        depth: usize,
        layers: &[SharedDamage],
    ) -> Flow {
        let mut tar = TarReader::new(Streamed(stream));
        loop {
            let member = match tar.next() {
                Ok(Some(member)) => member,
                Ok(None) => break,
                Err(damage) => return self.visit.damaged(path, first(layers).unwrap_or(damage)),
            };
            self.visit.member()?;
            let name = match path {
                Some(path) => format!("{path}!{}", member.name),
                None => member.name,
            };
            match member.kind {
                Kind::Folder => {}
                Kind::Special(what) => self.visit.special(&name, what)?,
                Kind::File => {
                    let mut layers = layers.to_vec();
                    self.file(&mut tar.data(), (&name, member.changed_us), depth, &mut layers)?;
                }
            }
        }
        // What comes behind the end tells whether the compressed data are whole.
        let mut rest = tar.into_inner();
        if rest.skip(u64::MAX).is_ok()
            && let Some(damage) = first(layers)
        {
            self.visit.damaged(path, damage)?;
        }
        Flow::Continue(())
    }

    fn file(
        &mut self,
        data: &mut (dyn Read + Send),
        (path, changed_us): (&str, Option<i64>),
        depth: usize,
        layers: &mut Vec<SharedDamage>,
    ) -> Flow {
        let cut = SharedDamage::default();
        layers.push(cut.clone());
        let mut data = Tolerant::new(data, Layer::Tar, BytesRead::default(), cut);
        let Ok(Peeled { compression, head, mut stream }) = peel(&mut data, None, layers) else {
            return Flow::Continue(());
        };
        if is_tar(&head) || is_zip(&head) {
            return match depth {
                MAX_DEPTH => self.visit.special(path, TOO_DEEP),
                _ if is_zip(&head) => self.visit.zip(path, depth + 1, &mut stream),
                _ => self.tar(stream, Some(path), depth + 1, layers),
            };
        }
        let number = self.next;
        self.next += 1;
        self.visit.leaf(Leaf { number, path, compression, changed_us, stream: &mut stream, damage: layers })
    }
}

/// What archives are called that lie too deep.
pub(super) const TOO_DEEP: &str = "archives in an archive in an archive, which lioprof does not look into";
