//! What is replaced.

/// What a name names. Names of different kinds have different pseudonyms, also if they are spelled alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A file system: the part of `work1-OST0003` before the dash.
    FsName,
    /// A server, or another machine.
    Host,
    /// `8-4-4-4-12` hexadecimal digits.
    Uuid,
    /// An IPv4 address, in a NID or alone.
    V4,
    /// An IPv6 address.
    V6,
    /// The number of a NID such as `27@gni`.
    NidNumber,
    /// A program: the part of a job `name.uid` before the dot, or a process that is no thread of Lustre's.
    Program,
    /// A job that is a number, as schedulers count them.
    JobNumber,
    /// A user's number.
    Uid,
    /// A group's number.
    Gid,
    /// A project's number.
    Projid,
    /// A file or directory.
    File,
    /// The text of `lctl mark`.
    Mark,
    /// A word that may be anything.
    Word,
}

impl Kind {
    /// As the table of names calls it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FsName => "file system",
            Self::Host => "host",
            Self::Uuid => "uuid",
            Self::V4 => "IPv4 address",
            Self::V6 => "IPv6 address",
            Self::NidNumber => "NID number",
            Self::Program => "program",
            Self::JobNumber => "job number",
            Self::Uid => "uid",
            Self::Gid => "gid",
            Self::Projid => "projid",
            Self::File => "file",
            Self::Mark => "mark",
            Self::Word => "word",
        }
    }
}
