//! A member of an archive that is an input.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lustre_debuglog::frame::Form;
use lustre_debuglog::kernel_log::KernelLogForm;

use super::origin::Origin;
use super::sequence::Sequence;
use crate::input::compression::Compression;
use crate::input::damage::{Layer, SharedDamage};
use crate::input::recoded::Recoded;
use crate::kept::Spooled;
use crate::progress::BytesRead;

/// A debug log or kernel log in an archive.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its name in the archive; in an archive in that, both names with `!` between them.
    pub(crate) path: String,
    /// Where it would lie if each archive were a folder of its name.
    pub(crate) place: PathBuf,
    pub(crate) compression: Option<Compression>,
    pub(crate) content: MemberContent,
    /// What of it is undone when it is read.
    pub(crate) recoded: Recoded,
    pub(super) head: Arc<[u8]>,
    pub(super) changed_us: Option<i64>,
    pub(super) access: Access,
}

/// What a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemberContent {
    Log(Form),
    KernelLog(KernelLogForm),
}

/// How to read a member.
#[derive(Clone, Debug)]
pub(super) enum Access {
    /// By itself.
    Alone(Origin),
    /// With others of its archive; its number in it.
    Shared(Arc<Sequence>, usize),
}

/// Members of one archive are the same if their names are.
impl PartialEq for Member {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place && self.path == other.path
    }
}

impl Eq for Member {}

/// A member's bytes.
pub(crate) enum OpenMember {
    /// As they are in the archive, maybe compressed.
    Raw {
        stream: Box<dyn Read + Send>,
        consumed: BytesRead,
        layer: Layer,
        /// Where they begin in the file.
        start: u64,
        /// The same for random access, if they lie in a file as they are.
        in_place: Option<Spooled>,
    },
    /// Decompressed. They never fail.
    Stream {
        stream: Box<dyn Read + Send>,
        damage: SharedDamage,
        /// A way through the archive that began with this: bytes read, and of how many.
        pass: Option<(BytesRead, u64)>,
    },
}

impl Member {
    /// `ARCHIVE!member`.
    pub(crate) fn shown(&self, archive: &Path) -> PathBuf {
        let mut shown = archive.as_os_str().to_owned();
        shown.push("!");
        shown.push(&self.path);
        shown.into()
    }

    /// Its first decompressed bytes, as UTF-8: 64 KiB of them, fewer if there are very many members.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// It has been looked at.
    pub(crate) fn forget_head(&mut self) {
        self.head = Arc::default();
    }

    /// How it is compressed, in the archive.
    pub(crate) fn compression(&self) -> Option<Compression> {
        self.compression
    }

    /// What of it is undone when it is read.
    pub(crate) fn recoded(&self) -> &Recoded {
        &self.recoded
    }

    /// Text or binary; `None`: it is a kernel log.
    pub(crate) fn form(&self) -> Option<Form> {
        match self.content {
            MemberContent::Log(form) => Some(form),
            MemberContent::KernelLog(_) => None,
        }
    }

    /// When it was last changed, microseconds since the epoch, if the archive says so.
    pub(crate) fn changed_us(&self) -> Option<i64> {
        self.changed_us
    }

    /// Its last bytes, up to so many, if it lies in a file as it is.
    pub(crate) fn tail(&self, bytes: usize) -> Vec<u8> {
        let Access::Alone(Origin::Stretch(stretch, _)) = &self.access else { return Vec::new() };
        if self.compression.is_some() || !self.recoded.is_none() {
            return Vec::new();
        }
        let mut tail = Vec::new();
        let from = stretch.len().saturating_sub(bytes as u64);
        match stretch.part(from, bytes as u64).open().and_then(|mut reader| reader.read_to_end(&mut tail)) {
            Ok(_) => tail,
            Err(_) => Vec::new(),
        }
    }

    /// It is an input and will be read.
    pub(crate) fn want(&self) {
        if let Access::Shared(sequence, number) = &self.access {
            sequence.want(*number, &self.path);
        }
    }

    /// It is about to be read, maybe once more.
    pub(crate) fn announce(&self) {
        if let Access::Shared(sequence, number) = &self.access {
            sequence.announce(*number);
        }
    }

    /// Bytes of the file that reading it stands for.
    pub(crate) fn file_bytes(&self) -> u64 {
        match &self.access {
            Access::Alone(origin) => origin.packed_bytes(),
            Access::Shared(sequence, number) => sequence.share(*number),
        }
    }

    /// The same, if it will be read once more.
    pub(crate) fn expect_again(&self) -> u64 {
        match &self.access {
            Access::Alone(origin) => origin.packed_bytes(),
            Access::Shared(sequence, number) => sequence.expect_again(*number),
        }
    }

    /// Opens it at its beginning.
    pub(crate) fn open(&self) -> io::Result<OpenMember> {
        match &self.access {
            Access::Alone(origin) => {
                let consumed = BytesRead::default();
                let stream = origin.open(&consumed)?;
                let in_place = match origin {
                    Origin::Stretch(stretch, _) if !stretch.is_cut() => Some(Spooled::stretch(stretch.open()?)),
                    _ => None,
                };
                Ok(OpenMember::Raw { stream, consumed, layer: origin.layer(), start: origin.start(), in_place })
            }
            Access::Shared(sequence, number) => {
                let opened = sequence.open(*number)?;
                Ok(OpenMember::Stream { stream: Box::new(opened.stream), damage: opened.damage, pass: opened.pass })
            }
        }
    }
}
