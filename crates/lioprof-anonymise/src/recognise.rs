//! Finds names in any text, by their form.
//!
//! Whatever is neither a number nor a word of Lustre's own nor has the form of a name is [`Piece::Unknown`]: it is never passed on as
//! it is.

use std::net::{Ipv4Addr, Ipv6Addr};

use lustre_debuglog::vocab::KernelJob;

use crate::kind::Kind;
use crate::names::spelled_name;
use crate::piece::{Piece, Pieces};
use crate::vocabulary;

/// Network drivers of LNet (`lnet/include/uapi/linux/lnet/nidstr.h`, 2.5 to 2.17), in front of a number.
const DRIVERS: [&str; 11] = ["tcp", "o2ib", "lo", "gni", "gip", "kfi", "ptlf", "efa", "bxi3f", "ptl", "ra"];
/// Words behind which an owner's number stands.
const UIDS: [&[u8]; 4] = [b"uid", b"fsuid", b"suid", b"euid"];
const GIDS: [&[u8]; 4] = [b"gid", b"fsgid", b"sgid", b"egid"];
const PROJIDS: [&[u8]; 3] = [b"projid", b"proj", b"prjid"];
/// What may follow the name of a file system besides the name of a target.
const OF_FILE_SYSTEM: [&str; 9] =
    ["clilov", "client", "params", "sptlrpc", "cliir", "mdtir", "ostir", "mdtlov", "barrier"];
/// Units behind numbers.
const UNITS: [&str; 22] = [
    "s", "ms", "us", "ns", "sec", "b", "k", "kb", "kib", "m", "mb", "mib", "g", "gb", "gib", "t", "tb", "tib", "x",
    "th", "nd", "pages",
];

/// Splits a text.
pub(crate) fn split<'a>(text: &'a [u8], out: &mut Pieces<'a>) {
    let mut splitter = Splitter { out, owner: None };
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if let Some(len) = job_in_quotes(rest) {
            splitter.push(Piece::Plain(&rest[..5]));
            job(&rest[5..5 + len], splitter.out);
            at += 5 + len;
            continue;
        }
        let is_part = is_part_of_chunk(rest[0]);
        let len = rest.iter().position(|&byte| is_part_of_chunk(byte) != is_part).unwrap_or(rest.len());
        // A job may begin behind other punctuation, never in the middle of a word.
        if is_part {
            splitter.chunk(&rest[..len]);
        } else {
            splitter.punctuation(&rest[..len]);
        }
        at += len;
    }
}

/// The pieces of a text; `None` if a word of it may be a name that nobody knows.
pub(crate) fn known(text: &[u8]) -> Option<Pieces<'_>> {
    let mut pieces = Pieces::new();
    split(text, &mut pieces);
    let is_known = !pieces.iter().any(|piece| matches!(piece, Piece::Unknown(_)));
    is_known.then_some(pieces)
}

/// Length of the job in `job:'JOB'`: up to the quote that a blank or the end follows.
fn job_in_quotes(text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(b"job:'")?;
    let mut quotes = memchr::memchr_iter(b'\'', rest);
    quotes.find(|&at| matches!(rest.get(at + 1), None | Some(b' ' | b'\n')))
}

/// A job: `NAME.UID`, a number, or anything else. Threads of the kernel keep their names: they are the same everywhere, and tell what a request
/// was for.
pub(crate) fn job<'a>(job: &'a [u8], out: &mut Pieces<'a>) {
    if job.is_empty() {
        return;
    }
    if let Some(KernelJob { rest, .. }) = KernelJob::of(job)
        && (rest.is_empty() || rest.strip_prefix(b".").is_some_and(is_u32))
    {
        let (thread, user) = job.split_at(job.len() - rest.len());
        out.push(Piece::Plain(thread));
        if let Some((_, uid)) = user.split_first() {
            out.push(Piece::Plain(&user[..1]));
            out.push(Piece::Name(Kind::Uid, uid));
        }
        return;
    }
    if job.iter().all(u8::is_ascii_digit) {
        out.push(Piece::Name(Kind::JobNumber, job));
        return;
    }
    if let Some(dot) = memchr::memrchr(b'.', job)
        && dot > 0
        && is_u32(&job[dot + 1..])
    {
        out.push(Piece::Name(Kind::Program, &job[..dot]));
        out.push(Piece::Plain(&job[dot..=dot]));
        out.push(Piece::Name(Kind::Uid, &job[dot + 1..]));
        return;
    }
    out.push(Piece::Name(Kind::Program, job));
}

/// A name that is made of others (`lustre-MDT0000-lwp-OST0003_UUID`), or stands for itself.
pub(crate) fn device<'a>(name: &'a [u8], out: &mut Pieces<'a>) {
    whole(name, Kind::Word, out);
}

/// A host's name, which may be its address.
pub(crate) fn host<'a>(name: &'a [u8], out: &mut Pieces<'a>) {
    let mut pieces = Pieces::new();
    Splitter { out: &mut pieces, owner: None }.chunk(name);
    let is_address = |piece: &Piece<'_>| match piece {
        Piece::Name(kind, _) => matches!(kind, Kind::V4 | Kind::V6 | Kind::NidNumber),
        Piece::Plain(text) | Piece::KnownWord(text) => text.first() == Some(&b'@'),
        Piece::Spelled(_) | Piece::Unknown(_) => false,
    };
    if pieces.iter().all(is_address) { out.append(&mut pieces) } else { out.push(Piece::Name(Kind::Host, name)) }
}

/// A NID as Lustre prints it.
pub(crate) fn nid<'a>(nid: &'a [u8], out: &mut Pieces<'a>) {
    if matches!(nid, b"local" | b"<?>" | b"<unknown>" | b"LNET_NID_ANY" | b"") {
        out.push(Piece::Plain(nid));
    } else {
        whole(nid, Kind::Word, out);
    }
}

/// All of a text, or one name if something in it is unknown.
fn whole<'a>(name: &'a [u8], kind: Kind, out: &mut Pieces<'a>) {
    let before = out.len();
    split(name, out);
    if out[before..].iter().any(|piece| matches!(piece, Piece::Unknown(_))) {
        out.truncate(before);
        out.push(Piece::Name(kind, name));
    }
}

fn is_part_of_chunk(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'.' | b':' | b'@' | b'-' | b'+' | b'%' | b'~')
        || !byte.is_ascii()
}

/// Whether this is the number of a user or a group.
fn is_u32(text: &[u8]) -> bool {
    !text.is_empty() && text.len() <= 10 && text.iter().all(u8::is_ascii_digit)
}

struct Splitter<'a, 'b> {
    out: &'b mut Pieces<'a>,
    /// Whose number comes next, if one does.
    owner: Option<Kind>,
}

impl<'a> Splitter<'a, '_> {
    fn push(&mut self, piece: Piece<'a>) {
        if !piece.bytes().is_empty() {
            self.out.push(piece);
        }
    }

    fn punctuation(&mut self, text: &'a [u8]) {
        // Control characters are no part of a message; what hides behind them is not known.
        let is_plain = text.iter().all(|&byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t' | b'\r'));
        if text.iter().any(|byte| matches!(byte, b',' | b';' | b'\n')) {
            self.owner = None;
        }
        self.push(if is_plain { Piece::Plain(text) } else { Piece::Unknown(text) });
    }

    /// A stretch without blanks.
    fn chunk(&mut self, chunk: &'a [u8]) {
        if let Some(at) = uuid_at(chunk) {
            self.chunk(&chunk[..at]);
            self.push(Piece::Name(Kind::Uuid, &chunk[at..at + UUID_LEN]));
            self.chunk(&chunk[at + UUID_LEN..]);
        } else if let Some((address, at, end)) = nid_at(chunk) {
            self.chunk(&chunk[..address]);
            self.push(match &chunk[address..at] {
                b"0" if &chunk[at..end] == b"@lo" => Piece::Plain(b"0"),
                number if number.iter().all(u8::is_ascii_digit) => Piece::Name(Kind::NidNumber, number),
                v4 if is_v4(v4) => Piece::Name(Kind::V4, v4),
                v6 => Piece::Name(Kind::V6, v6),
            });
            self.push(Piece::Plain(&chunk[at..end]));
            self.chunk(&chunk[end..]);
        } else if let Some(at) = memchr::memchr(b'@', chunk) {
            self.chunk(&chunk[..at]);
            self.push(Piece::Plain(&chunk[at..=at]));
            self.chunk(&chunk[at + 1..]);
        } else if let Some((start, len)) = file_system_at(chunk) {
            self.chunk(&chunk[..start]);
            self.push(Piece::Name(Kind::FsName, &chunk[start..start + len]));
            self.chunk(&chunk[start + len..]);
        } else if let Some((start, end)) = v4_at(chunk) {
            self.chunk(&chunk[..start]);
            self.push(Piece::Name(Kind::V4, &chunk[start..end]));
            self.chunk(&chunk[end..]);
        } else if is_v6(chunk) {
            self.push(Piece::Name(Kind::V6, chunk));
        } else {
            self.words(chunk);
        }
    }

    /// A stretch without addresses.
    fn words(&mut self, chunk: &'a [u8]) {
        for part in chunk.split_inclusive(|byte| matches!(byte, b':' | b'+' | b'%' | b'~')) {
            let before = self.out.len();
            let mut at = 0;
            while at < part.len() {
                let rest = &part[at..];
                let joint = is_joint(rest[0]);
                let len = rest.iter().position(|&byte| is_joint(byte) != joint).unwrap_or(rest.len());
                if joint {
                    self.push(Piece::Plain(&rest[..len]));
                } else {
                    self.word(&rest[..len]);
                }
                at += len;
            }
            // What hangs together by dots and dashes is one name: `oss-03`, `mds.example.com`.
            let is_unknown = self.out[before..].iter().any(|piece| matches!(piece, Piece::Unknown(_)));
            if is_unknown || joins_words_and_numbers(part) {
                self.out.truncate(before);
                let end = part.iter().rposition(|&byte| !is_joint(byte)).map_or(part.len(), |at| at + 1);
                self.owner = None;
                self.push(Piece::Unknown(&part[..end]));
                self.push(Piece::Plain(&part[end..]));
            }
        }
    }

    fn word(&mut self, word: &'a [u8]) {
        // `mdtlov_UUID`, and `_0` behind a NID.
        let word = match word.strip_suffix(b"_UUID") {
            Some(name) if !is_numbered(word) => {
                self.word_alone(name);
                self.push(Piece::Plain(&word[name.len()..]));
                return;
            }
            _ => word,
        };
        self.word_alone(word);
    }

    fn word_alone(&mut self, word: &'a [u8]) {
        if word.is_empty() {
            return;
        }
        let is_number = word.strip_prefix(b"_").unwrap_or(word).iter().all(u8::is_ascii_digit);
        if let Some(kind) = self.owner.take_if(|_| is_number && word.len() <= 10) {
            self.push(Piece::Name(kind, word));
            return;
        }
        self.owner = owner_behind(word);
        if spelled_number(word).is_some() {
            self.push(Piece::Spelled(word));
            return;
        }
        self.push(if is_number || is_hexadecimal(word) || has_unit(word) || is_numbered(word) {
            Piece::Plain(word)
        } else if vocabulary::is_known(word) {
            Piece::KnownWord(word)
        } else if vocabulary::is_thread(word) {
            Piece::Plain(word)
        } else {
            Piece::Unknown(word)
        });
    }
}

fn is_joint(byte: u8) -> bool {
    matches!(byte, b'.' | b':' | b'-' | b'+' | b'%' | b'~')
}

/// Whether numbers and words hang together by dashes or dots, as in the names of hosts.
fn joins_words_and_numbers(chunk: &[u8]) -> bool {
    let trimmed = chunk.trim_ascii();
    let mut kinds = trimmed.split(|byte| *byte == b':').map(|part| {
        let words = part.split(|byte| matches!(byte, b'-' | b'.')).filter(|word| !word.is_empty());
        let (mut letters, mut digits) = (false, 0);
        for word in words {
            if !word.iter().any(u8::is_ascii_alphanumeric) && word.is_ascii() {
                continue;
            }
            // `OST0003` and `ffff9b4c8d5b8000` are parts of devices' names.
            if word.iter().all(u8::is_ascii_digit) {
                digits += 1;
            } else if !is_hexadecimal(word) && !is_numbered(word) && !has_unit(word) {
                letters = true;
            }
        }
        letters && digits > 0
    });
    kinds.any(|joined| joined)
}

/// Whose number stands behind this word.
fn owner_behind(word: &[u8]) -> Option<Kind> {
    let lower = word.to_ascii_lowercase();
    let is = |words: &[&[u8]]| words.contains(&lower.as_slice());
    if is(&UIDS) {
        Some(Kind::Uid)
    } else if is(&GIDS) {
        Some(Kind::Gid)
    } else if is(&PROJIDS) {
        Some(Kind::Projid)
    } else {
        None
    }
}

/// A number written as `0x..` that spells a name.
pub(crate) fn spelled_number(word: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(word.strip_prefix(b"0x")?).ok()?;
    let number = u64::from_str_radix(digits, 16).ok()?;
    spelled_name(number).map(|_| number)
}

/// `0x..`, or digits of which at least one is no letter: pointers and cookies have eight or more.
fn is_hexadecimal(word: &[u8]) -> bool {
    let is_hex = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_hexdigit);
    if let Some(digits) = word.strip_prefix(b"0x").or_else(|| word.strip_prefix(b"0X")) {
        return is_hex(digits);
    }
    let any_digit = word.iter().any(u8::is_ascii_digit);
    is_hex(word)
        && word.len() <= 16
        && (word == b"ffffffff" || any_digit && (word.len() >= 8 || word[0].is_ascii_digit()))
}

/// `30s`, `4096us`.
fn has_unit(word: &[u8]) -> bool {
    let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && UNITS.iter().any(|unit| unit.as_bytes().eq_ignore_ascii_case(&word[digits..]))
}

/// `x1882455793623808`, `t0`, `o4`, `OST0003_UUID`, `MDT0000`, `MDT0`.
fn is_numbered(word: &[u8]) -> bool {
    if let [b'x' | b't' | b'o', digits @ ..] = word
        && !digits.is_empty()
        && digits.iter().all(u8::is_ascii_digit)
    {
        return true;
    }
    let word = word.strip_suffix(b"_UUID").unwrap_or(word);
    match word {
        [b'O', b'S', b'T', index @ ..] | [b'M', b'D', b'T', index @ ..] => {
            is_index(index) || !index.is_empty() && index.len() < 4 && index.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    }
}

fn is_index(text: &[u8]) -> bool {
    text.len() == 4 && text.iter().all(u8::is_ascii_hexdigit)
}

const UUID_LEN: usize = 36;

/// Where eight, four, four, four and twelve hexadecimal digits stand.
fn uuid_at(chunk: &[u8]) -> Option<usize> {
    if chunk.len() < UUID_LEN {
        return None;
    }
    (0..=chunk.len() - UUID_LEN).find(|&at| is_uuid(&chunk[at..at + UUID_LEN]))
}

fn is_uuid(text: &[u8]) -> bool {
    // The first test ends it for nearly all.
    text[8] == b'-'
        && text.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// The first NID: where its address begins, where its `@` stands, and where its network ends.
fn nid_at(chunk: &[u8]) -> Option<(usize, usize, usize)> {
    memchr::memchr_iter(b'@', chunk).find_map(|at| {
        let end = at + 1 + network_len(&chunk[at + 1..])?;
        Some((address_before(&chunk[..at])?, at, end))
    })
}

/// Length of the network at the start of a text.
fn network_len(text: &[u8]) -> Option<usize> {
    let driver = DRIVERS.iter().find(|driver| text.starts_with(driver.as_bytes()))?.len();
    let digits = text[driver..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let len = driver + digits;
    // `_UUID`, `_0` and `:portal` may follow, no other letter.
    (!text.get(len).is_some_and(u8::is_ascii_alphabetic)).then_some(len)
}

/// Where the address at the end of a text begins.
fn address_before(text: &[u8]) -> Option<usize> {
    let start_of = |is_part: fn(u8) -> bool| text.iter().rposition(|&byte| !is_part(byte)).map_or(0, |at| at + 1);
    let v6 = start_of(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.'));
    // Behind a pid or an xid, colons belong to what stands in front.
    let mut colons = memchr::memchr_iter(b':', &text[v6..]).map(|at| v6 + at + 1);
    if let Some(start) = std::iter::once(v6).chain(&mut colons).find(|&start| is_v6(&text[start..])) {
        return Some(start);
    }
    let v4 = start_of(|byte| byte.is_ascii_digit() || byte == b'.');
    // `exports.10.9.8.7@o2ib`: the last four numbers.
    let dots = memchr::memchr_iter(b'.', &text[v4..]).map(|at| v4 + at + 1);
    if let Some(start) = std::iter::once(v4).chain(dots).find(|&start| is_v4(&text[start..])) {
        return Some(start);
    }
    let number = start_of(|byte| byte.is_ascii_digit());
    let before = number.checked_sub(1).map(|at| text[at]);
    // Behind a letter or a dot, digits are a part of something else.
    let behind_word = before == Some(b'.') && number.checked_sub(2).is_some_and(|at| text[at].is_ascii_alphabetic());
    let alone = behind_word || before.is_none_or(|byte| matches!(byte, b'-' | b':' | b'@' | b'+' | b'C'));
    (number < text.len() && alone && is_u32(&text[number..])).then_some(number)
}

fn is_v4(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| text.parse::<Ipv4Addr>().is_ok())
}

fn is_v6(text: &[u8]) -> bool {
    memchr::memchr_iter(b':', text).count() >= 2
        && std::str::from_utf8(text).is_ok_and(|text| text.parse::<Ipv6Addr>().is_ok())
}

/// The first dotted IPv4 address between other things.
fn v4_at(chunk: &[u8]) -> Option<(usize, usize)> {
    let is_part = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let mut at = 0;
    while at < chunk.len() {
        let start = at + chunk[at..].iter().position(is_part)?;
        let end = start + chunk[start..].iter().position(|byte| !is_part(byte)).unwrap_or(chunk.len() - start);
        let start = start + chunk[start..end].iter().take_while(|byte| **byte == b'.').count();
        let dots_behind = chunk[start..end].iter().rev().take_while(|byte| **byte == b'.').count();
        if is_v4(&chunk[start..end - dots_behind]) {
            return Some((start, end - dots_behind));
        }
        at = end;
    }
    None
}

/// The first name of a file system: in front of a target's name, or of what else a file system has.
fn file_system_at(chunk: &[u8]) -> Option<(usize, usize)> {
    memchr::memchr_iter(b'-', chunk).find_map(|dash| {
        let rest = &chunk[dash + 1..];
        let is_target = (rest.starts_with(b"OST") || rest.starts_with(b"MDT"))
            && rest.get(3..7).is_some_and(is_index)
            && !rest.get(7).is_some_and(u8::is_ascii_alphanumeric);
        let is_other = || {
            OF_FILE_SYSTEM.iter().any(|word| {
                rest.strip_prefix(word.as_bytes())
                    .is_some_and(|end| !end.first().is_some_and(u8::is_ascii_alphanumeric))
            })
        };
        if !is_target && !is_other() {
            return None;
        }
        // A name has letters, digits, `_` and `-`; `filter-` and `mdt-` are namespaces.
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let mut start = chunk[..dash].iter().rposition(|&byte| !is_part(byte)).map_or(0, |at| at + 1);
        for namespace in [&b"filter-"[..], b"mdt-"] {
            if chunk[start..dash].starts_with(namespace) {
                start += namespace.len();
            }
        }
        let name = &chunk[start..dash];
        // `osp-syn-lustre-OST0003`: the name is the last part, if the whole is too long for one.
        let long = if name.len() > MAX_FS_NAME { memchr::memrchr(b'-', name).map_or(0, |at| at + 1) } else { 0 };
        let name = &name[long..];
        let starts_well = name.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let is_word = !is_target && vocabulary::is_known(name);
        // `lustre-OST0000-osc-MDT0000`: `osc` is no file system, and neither is the target in front of it.
        let is_part_of_device = matches!(name, b"osc" | b"lwp" | b"osp" | b"mdc")
            || name.ends_with(b"-osc")
            || name.ends_with(b"-lwp")
            || name.ends_with(b"-osp");
        let fits = starts_well && !is_word && !is_part_of_device && !is_numbered(name);
        fits.then_some((start + long, name.len()))
    })
}

/// `LUSTRE_MAXFSNAME`.
pub(crate) const MAX_FS_NAME: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    /// Names in angle brackets, unknown words in curly ones.
    fn shown(text: &str) -> String {
        let mut pieces = Pieces::new();
        split(text.as_bytes(), &mut pieces);
        let joined: Vec<u8> = pieces.iter().flat_map(|piece| piece.bytes()).copied().collect();
        assert_eq!(joined, text.as_bytes(), "every byte is in a piece");
        let show = |piece: &Piece<'_>| {
            let text = String::from_utf8_lossy(piece.bytes());
            match piece {
                Piece::Name(kind, _) => format!("<{}|{text}>", kind.as_str()),
                Piece::Unknown(_) => format!("{{{text}}}"),
                _ => text.into_owned(),
            }
        };
        pieces.iter().map(show).collect()
    }

    #[test]
    fn nids_in_all_their_surroundings() {
        for (text, want) in [
            ("12345-10.10.0.11@tcp", "12345-<IPv4 address|10.10.0.11>@tcp"),
            ("x17:12345-10.10.0.11@o2ib12:4:", "x17:12345-<IPv4 address|10.10.0.11>@o2ib12:4:"),
            ("27@gni", "<NID number|27>@gni"),
            ("0@lo", "0@lo"),
            ("12345-fe80::1@tcp", "12345-<IPv6 address|fe80::1>@tcp"),
            ("MGC10.10.0.1@tcp_0", "MGC<IPv4 address|10.10.0.1>@tcp_0"),
            ("(10.1.2.3)", "(<IPv4 address|10.1.2.3>)"),
            ("10.1.2.3:988.", "<IPv4 address|10.1.2.3>:988."),
            ("req@00000000d5e09f76", "req@00000000d5e09f76"),
            ("exports.10.9.8.7@o2ib.stats", "exports.<IPv4 address|10.9.8.7>@o2ib.stats"),
            ("exports.27@gni.stats", "exports.<NID number|27>@gni.stats"),
        ] {
            assert_eq!(shown(text), want);
        }
    }

    #[test]
    fn devices() {
        for (text, want) in [
            ("lustre-OST0003_UUID", "<file system|lustre>-OST0003_UUID"),
            ("filter-a-b_c-OST0003_UUID:", "filter-<file system|a-b_c>-OST0003_UUID:"),
            ("lustre-MDT0000-lwp-OST0003_UUID", "<file system|lustre>-MDT0000-lwp-OST0003_UUID"),
            ("lustre-OST0001-osc-MDT0000", "<file system|lustre>-OST0001-osc-MDT0000"),
            ("lustre-OST0001-osc-ffff9b4c8d5b8000", "<file system|lustre>-OST0001-osc-ffff9b4c8d5b8000"),
            ("lustre-MDT0000-mdtlov_UUID", "<file system|lustre>-MDT0000-mdtlov_UUID"),
            ("work1-client", "<file system|work1>-client"),
            ("server-client", "server-client"),
        ] {
            assert_eq!(shown(text), want);
        }
    }

    #[test]
    fn owners_and_jobs() {
        for (text, want) in [
            ("job:'a b'c.1000' uid:1000 gid:100", "job:'<program|a b'c>.<uid|1000>' uid:<uid|1000> gid:<gid|100>"),
            ("job:'4242'", "job:'<job number|4242>'"),
            ("job:'' uid:0", "job:'' uid:<uid|0>"),
            ("uid = 500, 7", "uid = <uid|500>, 7"),
        ] {
            assert_eq!(shown(text), want);
        }
    }

    #[test]
    fn what_may_be_a_name_is_unknown() {
        for (text, want) in [
            ("oss-03", "{oss-03}"),
            ("oss03 is dead", "{oss03} is dead"),
            ("alice", "{alice}"),
            ("to mds.example.com.", "to {mds.example.com}."),
            ("größe", "{größe}"),
            ("f001", "{f001}"),
            ("a\u{7}b", "a{\u{7}}b"),
        ] {
            assert_eq!(shown(text), want);
        }
    }

    #[test]
    fn numbers_and_words_are_plain() {
        let text = "evicting client after 30s: rc -110 [0x280000400:0x4:0x0] ffff88003c5e6450 4096/0, ll_ost_io00_002";
        assert_eq!(shown(text), text);
    }

    #[test]
    fn hosts_may_be_addresses() {
        let show = |name: &'static str| {
            let mut pieces = Pieces::new();
            host(name.as_bytes(), &mut pieces);
            pieces.into_iter().map(|piece| matches!(piece, Piece::Name(Kind::Host, _))).collect::<Vec<_>>()
        };
        assert_eq!(show("10.0.0.1"), [false]);
        assert_eq!(show("10.0.0.1@tcp"), [false, false]);
        assert_eq!(show("oss1"), [true]);
        assert_eq!(show("client"), [true]);
    }
}
