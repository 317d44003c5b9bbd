//! Operations of a client's programs: `llite` lines of masks iotrace (0x8, since 2.15) and vfstrace.
//!
//! Which operation a line is about, its text does not say: the C function does
//! ([`OperationKind::of_traced_function`](crate::vocab::OperationKind::of_traced_function)).

use memchr::memmem;

use crate::Fid;

/// Whether an operation begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationEdge {
    /// It begins.
    Start,
    /// It has ended.
    Completed,
}

/// `START file ..` or `COMPLETED file ..`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationLine<'a> {
    /// Whether the operation begins or ends.
    pub edge: OperationEdge,
    /// The file's name: personal data. `None` if the line prints none.
    pub name: Option<&'a [u8]>,
    /// The file's FID.
    pub fid: Fid,
    /// What the operation returned; `None` at its start, and where the version or the line prints none.
    pub rc: Option<i64>,
}

impl<'a> OperationLine<'a> {
    /// Whether a text begins as these lines do. Server logs have none that do.
    pub(super) fn is_one(text: &[u8]) -> bool {
        head(text).is_some()
    }

    /// Parses a line with a file in it; `None` if there is none: other lines may begin with the same words.
    #[must_use]
    pub fn parse(text: &'a [u8]) -> Option<Self> {
        let text = text.trim_ascii_end();
        let (edge, rest) = head(text)?;
        // fsync: `: name=NAME, fid=FID, start=..`.
        let (name, fid_at) = match rest.strip_prefix(b": name=") {
            Some(rest) => {
                let end = memmem::rfind(rest, b", fid=[")?;
                (rest.get(..end)?, rest.get(end + 6..)?)
            }
            None => {
                let rest = rest.strip_prefix(b":").unwrap_or(rest).trim_ascii_start();
                let rest = rest.strip_prefix(b"file ").unwrap_or(rest);
                match memmem::rfind(rest, b":[0x") {
                    Some(end) => (rest.get(..end)?, rest.get(end + 1..)?),
                    // `COMPLETED: FID: vma=..`.
                    None => (&rest[..0], rest),
                }
            }
        };
        let (fid, tail) = Fid::take(fid_at)?;
        let name = Some(name).filter(|name| !name.is_empty());
        Some(Self { edge, name, fid, rc: if edge == OperationEdge::Completed { rc(tail) } else { None } })
    }

    /// Parses the line with which 2.15 begins a fault: `FID: vma=.. idx=..`.
    #[must_use]
    pub fn parse_fault(text: &'a [u8]) -> Option<Self> {
        let (fid, rest) = Fid::take(text)?;
        rest.starts_with(b": vma=").then_some(Self { edge: OperationEdge::Start, name: None, fid, rc: None })
    }
}

/// The first words, and what follows `START file` or `COMPLETED`.
fn head(text: &[u8]) -> Option<(OperationEdge, &[u8])> {
    if let Some(rest) = text.strip_prefix(b"START file") {
        return Some((OperationEdge::Start, rest));
    }
    if let Some(rest) = text.strip_prefix(b"COMPLETED") {
        let rest = rest.strip_prefix(b" file").unwrap_or(rest);
        return Some((OperationEdge::Completed, rest));
    }
    // 2.15: `file NAME:FID, ppos: P, count: N`.
    let rest = text.strip_prefix(b"file")?;
    (rest.starts_with(b" ") && memmem::find(rest, b", ppos: ").is_some()).then_some((OperationEdge::Start, rest))
}

/// `rc = R`, `rc=R`, `rc R` at the end. Reads and writes print it without a sign (`%zu`): an error is a number near 2^64.
fn rc(tail: &[u8]) -> Option<i64> {
    let at = memmem::rfind(tail, b"rc")?;
    let number = tail.get(at + 2..)?.trim_ascii_start();
    let number = std::str::from_utf8(number.strip_prefix(b"=").unwrap_or(number).trim_ascii()).ok()?;
    number.parse().ok().or_else(|| Some(number.parse::<u64>().ok()?.cast_signed()))
}

/// `VFS Op:..`: a step of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VfsLine<'a> {
    /// Name of the file or directory: personal data. `None` if the line prints none.
    pub name: Option<&'a [u8]>,
    /// FID of the inode, or of the directory that the name is in.
    pub fid: Option<Fid>,
    /// `ll_inode_permission`: the access that is asked for (`MAY_EXEC` 1, `MAY_WRITE` 2, .., `MAY_OPEN` 0o40).
    pub access: Option<u32>,
    /// `ll_lookup_it`: the lookup is part of an open (`intent=open`, `intent=open|creat`).
    pub is_open: bool,
}

impl<'a> VfsLine<'a> {
    /// Parses a line that begins with `VFS Op:`. What it does not find stays `None`.
    #[must_use]
    pub fn parse(text: &'a [u8]) -> Self {
        let text = text.trim_ascii_end();
        let Some(rest) = text.strip_prefix(b"VFS Op:") else { return Self::default() };
        // ll_rename: `oldname=NAME, src_dir=FID(PTR), newname=.., tgt_dir=..`, also with names that hold the same words.
        if let Some(renamed) = rest.strip_prefix(b"oldname=") {
            let Some(end) = memmem::find(renamed, b", src_dir=[") else { return Self::default() };
            let fid = renamed.get(end + 10..).and_then(Fid::take).map(|(fid, _)| fid);
            return Self { name: renamed.get(..end), fid, ..Self::default() };
        }
        // ll_link has a space in front.
        if let Some(inode) = rest.trim_ascii_start().strip_prefix(b"inode=") {
            let Some((fid, tail)) = Fid::take(inode) else { return Self::default() };
            let name = memmem::find(tail, b",name=").and_then(|at| tail.get(at + 6..));
            let access = memmem::rfind(tail, b" mask ").and_then(|at| tail.get(at + 6..)).and_then(octal);
            return Self { name, fid: Some(fid), access, is_open: false };
        }
        let Some(named) = rest.strip_prefix(b"name=") else { return Self::default() };
        if let Some(end) = memmem::rfind(named, b", dir=[") {
            let (fid, tail) = named.get(end + 6..).and_then(Fid::take).unzip();
            let intent = tail.and_then(|tail| tail.get(memmem::find(tail, b"intent=")? + 7..));
            let is_open = intent.is_some_and(|intent| intent.starts_with(b"open"));
            return Self { name: named.get(..end), fid, access: None, is_open };
        }
        let name = memmem::rfind(named, b", flags=").and_then(|end| named.get(..end));
        Self { name, ..Self::default() }
    }
}

fn octal(text: &[u8]) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(text).ok()?, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;

    const FID: Fid = Fid { seq: 0x2_0000_0bd1, oid: 0xa, ver: 0 };

    fn line(text: &str) -> OperationLine<'_> {
        match Message::parse_text(text.as_bytes()) {
            Message::Operation(line) => line,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn first_and_last_lines_of_2_17() {
        let name = Some(&b"f001"[..]);
        for (text, edge, rc) in [
            ("START file f001:[0x200000bd1:0xa:0x0](000000003ed75ccf), flags 100302\n", OperationEdge::Start, None),
            ("START file f001:[0x200000bd1:0xa:0x0], ppos: 0, count: 1048576", OperationEdge::Start, None),
            (
                "START file: name=f001, fid=[0x200000bd1:0xa:0x0], start=0, end=9, datasync=0, need_sync 1/1",
                OperationEdge::Start,
                None,
            ),
            (
                "START file f001:[0x200000bd1:0xa:0x0](000000003ed75ccf), request_mask 2047, flags 0, foreign 0",
                OperationEdge::Start,
                None,
            ),
            (
                "START file f001:[0x200000bd1:0xa:0x0](00000000841deb74) current size 0, valid attrs 41, hsm_import 0",
                OperationEdge::Start,
                None,
            ),
            (
                "COMPLETED file f001:[0x200000bd1:0xa:0x0](000000003ed75ccf), flags 100302, rc = -13",
                OperationEdge::Completed,
                Some(-13),
            ),
            (
                "COMPLETED: file f001:[0x200000bd1:0xa:0x0], ppos: 1048576, count: 0, rc = 1048576\n",
                OperationEdge::Completed,
                Some(1_048_576),
            ),
            (
                "COMPLETED file: name=f001, fid=[0x200000bd1:0xa:0x0], start=0, end=9, datasync=0, rc=0",
                OperationEdge::Completed,
                Some(0),
            ),
            (
                "COMPLETED file f001:[0x200000bd1:0xa:0x0](000000003ed75ccf), request_mask 2047, flags 0, foreign 0",
                OperationEdge::Completed,
                None,
            ),
        ] {
            assert_eq!(line(text), OperationLine { edge, name, fid: FID, rc }, "{text}");
        }
    }

    /// Formats of `llite/file.c`, `llite_mmap.c`, `llite_lib.c` at 2.16.1 and 2.17.0, which are alike but for how names are printed.
    #[test]
    fn first_and_last_lines_of_2_16() {
        let name = Some(&b"f001"[..]);
        let attributes = "current size 7, valid attrs 1041, mode 81a4, uid 0, gid 0, new size 0, atime 1.000000000, \
            mtime 1.500000000, ctime 2.000000001";
        for (text, edge, rc) in [
            ("START file f001:[0x200000bd1:0xa:0x0](000000003ed75ccf), flags 100101".to_owned(), OperationEdge::Start, None),
            (
                "COMPLETED file f001:[0x200000bd1:0xa:0x0](000000003ed75ccf), flags 100101, rc = 0".to_owned(),
                OperationEdge::Completed,
                Some(0),
            ),
            ("START file f001:[0x200000bd1:0xa:0x0], offset: 4096, type: SEEK_DATA".to_owned(), OperationEdge::Start, None),
            (
                "COMPLETED file f001:[0x200000bd1:0xa:0x0], offset: 4096, type: SEEK_DATA, rc = -6".to_owned(),
                OperationEdge::Completed,
                Some(-6),
            ),
            (
                "START file f001:[0x200000bd1:0xa:0x0], vma=00000000f0d8a1b2 start=0x7f0 end=0x7f1 vm_flags=0xfb idx=3 \
                 vmf_flags=0x254"
                    .to_owned(),
                OperationEdge::Start,
                None,
            ),
            (
                format!("START file f001:[0x200000bd1:0xa:0x0](000000003ed75ccf) {attributes}"),
                OperationEdge::Start,
                None,
            ),
            (
                format!("COMPLETED file f001:[0x200000bd1:0xa:0x0](000000003ed75ccf) {attributes}, rc -13"),
                OperationEdge::Completed,
                Some(-13),
            ),
            // %zu.
            (
                "COMPLETED: file f001:[0x200000bd1:0xa:0x0], ppos: 0, count: 4096, rc = 18446744073709551612".to_owned(),
                OperationEdge::Completed,
                Some(-4),
            ),
        ] {
            assert_eq!(line(&text), OperationLine { edge, name, fid: FID, rc }, "{text}");
        }
        for (text, rc) in [
            (
                "COMPLETED: [0x200000bd1:0xa:0x0]: vma=00 start=0x7f0 end=0x7f1 vm_flags=0xfb idx=3 vmf_flags=0x254: rc=512",
                512,
            ),
            ("COMPLETED: [0x200000bd1:0xa:0x0]: vma=00 start=0x7f0 end=0x7f1 vm_flags=0xfb idx=3, rc 512", 512),
        ] {
            let found = line(text);
            assert_eq!((found.edge, found.name, found.rc), (OperationEdge::Completed, None, Some(rc)), "{text}");
        }
    }

    #[test]
    fn lines_of_2_15() {
        let start = line("file f001:[0x200000bd1:0xa:0x0], ppos: 0, count: 1048576");
        assert_eq!((start.edge, start.name, start.fid), (OperationEdge::Start, Some(&b"f001"[..]), FID));
        let end = line("COMPLETED: file f001:[0x200000bd1:0xa:0x0], ppos: 1048576, count: 0");
        assert_eq!((end.edge, end.rc), (OperationEdge::Completed, None));
        let fault = line("[0x200000bd1:0xa:0x0]: vma=00000000f0d8a1b2 start=0x7f0 end=0x7f1 vm_flags=0xfb idx=3");
        assert_eq!((fault.edge, fault.name), (OperationEdge::Start, None));
        let done =
            line("COMPLETED: [0x200000bd1:0xa:0x0]: vma=00000000f0d8a1b2 start=0x7f0 end=0x7f1 vm_flags=0xfb idx=3");
        assert_eq!((done.edge, done.name, done.rc), (OperationEdge::Completed, None, None));
    }

    #[test]
    fn names_may_hold_anything() {
        for name in ["a b", "x:[0x1:0x2:0x3]", "rc = 7", ", fid=[0x1:0x2:0x3]", "COMPLETED file"] {
            let text = format!("COMPLETED file {name}:[0x200000bd1:0xa:0x0](00), flags 0, rc = 1");
            let found = line(&text);
            assert_eq!((found.name, found.fid, found.rc), (Some(name.as_bytes()), FID, Some(1)), "{text}");
        }
    }

    #[test]
    fn steps() {
        let step = |text: &'static str| VfsLine::parse(text.as_bytes());
        let root = step("VFS Op:inode=[0x200000bd1:0xa:0x0](000000009bf90b80),name=/\n");
        let line = |name, fid, access| VfsLine { name, fid, access, is_open: false };
        assert_eq!(root, line(Some(b"/"), Some(FID), None));
        let permission = step("VFS Op:inode=[0x200000bd1:0xa:0x0](000000003ed75ccf), inode mode 81a4 mask 44");
        assert_eq!(permission, line(None, Some(FID), Some(0o44)));
        let lookup = step("VFS Op:name=f001, dir=[0x200000bd1:0xa:0x0](000000008edf8beb), intent=open|creat");
        assert_eq!(lookup, VfsLine { is_open: true, ..line(Some(b"f001"), Some(FID), None) });
        let lookup = step("VFS Op:name=intent=open, dir=[0x200000bd1:0xa:0x0](000000008edf8beb), intent=0");
        assert_eq!(lookup, line(Some(b"intent=open"), Some(FID), None));
        let dentry = step("VFS Op:name=op, flags=17");
        assert_eq!(dentry, line(Some(b"op"), None, None));
        assert_eq!(step("VFS Op:statfs"), VfsLine::default());
        let link = step("VFS Op: inode=[0x200000bd1:0xa:0x0](00), dir=[0x200000007:0x1:0x0](00), target=f2");
        assert_eq!(link, line(None, Some(FID), None));
        let rename =
            step("VFS Op:oldname=a, b, src_dir=[0x200000bd1:0xa:0x0](00), newname=c, tgt_dir=[0x7:0x1:0x0](00)");
        assert_eq!(rename, line(Some(b"a, b"), Some(FID), None));
        assert!(matches!(Message::parse_text(b"VFS Op:name=op, flags=17"), Message::Vfs(_)));
    }

    #[test]
    fn other_lines_stay_other() {
        for text in
            ["START", "START file", "COMPLETED", "file not found", "file x, ppos: 3", "[0x200000bd1:0xa:0x0] io 1"]
        {
            assert_eq!(Message::parse_text(text.as_bytes()), Message::Other, "{text}");
        }
    }
}
