//! A mail, as programs save it (`.eml`): its texts and what is attached to it are members, as those of an archive.

use std::collections::BTreeMap;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use mailparse::body::Body;
use mailparse::{DispositionType, ParsedMail};
use memchr::memmem;

/// Largest mail that is read: it has to lie in memory as a whole. Most mail servers take a quarter of that.
pub(super) const MAX_MAIL: u64 = 128 << 20;
/// Mails that were sent on as attachments are looked into up to here.
const MAX_DEPTH: usize = 4;

/// Whether what begins so may be a mail: by its first line.
pub(super) fn may_be_mail(head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    line.starts_with(b"From ") || header_name(line).is_some()
}

/// Whether what begins so is a mail that cannot be read as it is: it has several parts, or its text is encoded.
pub(super) fn is_mail(head: &[u8]) -> bool {
    if !may_be_mail(head) {
        return false;
    }
    let lines = head.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let headers: Vec<&[u8]> = lines.take_while(|line| !line.is_empty()).collect();
    let is_header = |line: &&[u8]| matches!(line[0], b' ' | b'\t') || header_name(line).is_some();
    let starts = |line: &[u8], name: &[u8]| header_name(line).is_some_and(|own| own.eq_ignore_ascii_case(name));
    // A mailbox has its own line first.
    headers.iter().skip(usize::from(headers[0].starts_with(b"From "))).all(is_header)
        && headers.iter().any(|line| {
            let value = line.to_ascii_lowercase();
            starts(line, b"content-type") && memmem::find(&value, b"multipart/").is_some()
                || starts(line, b"content-transfer-encoding")
                    && [&b"base64"[..], b"quoted-printable"].iter().any(|it| memmem::find(&value, it).is_some())
        })
}

/// The name of a header field, which a line begins with.
fn header_name(line: &[u8]) -> Option<&[u8]> {
    let name = &line[..memchr::memchr(b':', line)?];
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    // Hexadecimal numbers and times have a colon behind them, too; no field is called like one.
    (name.first()?.is_ascii_alphabetic()
        && name.iter().all(is_part)
        && matches!(line.get(name.len() + 1), Some(b' ' | b'\t') | None))
    .then_some(name)
}

/// The texts and attachments of a mail as a tar archive: as such they can be opened one by one. `None` of one that is broken.
pub(super) fn as_tar(mail: &[u8]) -> Option<Vec<u8>> {
    let mail = match mail.strip_prefix(b"From ") {
        Some(rest) => &rest[memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1)..],
        None => mail,
    };
    let mail = mailparse::parse_mail(mail).ok()?;
    let mut parts = Parts { tar: tar::Builder::new(Vec::new()), names: BTreeMap::new() };
    parts.add(&mail, "", 0)?;
    parts.tar.into_inner().ok()
}

struct Parts {
    tar: tar::Builder<Vec<u8>>,
    /// Those that are taken, and how often each was wanted.
    names: BTreeMap<String, usize>,
}

impl Parts {
    /// Adds what a part holds, to the folder.
    fn add(&mut self, part: &ParsedMail<'_>, folder: &str, depth: usize) -> Option<()> {
        let kind = part.ctype.mimetype.as_str();
        if kind == "multipart/alternative" {
            // The same text several times, the plain one first.
            let plain = part.subparts.iter().find(|it| it.ctype.mimetype == "text/plain");
            return plain.or(part.subparts.last()).map_or(Some(()), |part| self.add(part, folder, depth));
        }
        if !part.subparts.is_empty() {
            return part.subparts.iter().try_for_each(|part| self.add(part, folder, depth));
        }
        let disposition = part.get_content_disposition();
        let named = disposition.params.get("filename").or_else(|| part.ctype.params.get("name"));
        let own =
            named.and_then(|name| name.rsplit(['/', '\\']).next()).filter(|name| !name.trim_matches('.').is_empty());
        if kind == "message/rfc822" && depth < MAX_DEPTH {
            let inner = bytes_of(part);
            let inner = mailparse::parse_mail(&inner).ok()?;
            let folder = format!("{folder}{}/", self.unused(folder, own.unwrap_or("forwarded")));
            return self.add(&inner, &folder, depth + 1);
        }
        let is_body = kind.starts_with("text/") && disposition.disposition != DispositionType::Attachment;
        // A log that somebody attached comes as it is: what its characters are is found out later.
        let text = || part.get_body().ok().filter(|_| is_body && own.is_none());
        let bytes = text().map_or_else(|| bytes_of(part), String::into_bytes);
        let name = self.unused(folder, own.unwrap_or(if is_body { "message.txt" } else { "attachment" }));
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o600);
        self.tar.append_data(&mut header, format!("{folder}{name}"), bytes.as_slice()).ok()
    }

    /// The name, or with a number if another part of the folder has it.
    fn unused(&mut self, folder: &str, name: &str) -> String {
        let name: String = name.chars().map(|c| if c.is_control() { '_' } else { c }).collect();
        let wanted = self.names.entry(format!("{folder}{name}")).or_default();
        *wanted += 1;
        let numbered = match (*wanted, name.split_once('.')) {
            (1, _) => return name,
            (number, Some((stem, ending))) => format!("{stem}-{number}.{ending}"),
            (number, None) => format!("{name}-{number}"),
        };
        // Somebody may have called another one so.
        self.unused(folder, &numbered)
    }
}

/// What a part holds, decoded; of one that is damaged or was cut what can be.
fn bytes_of(part: &ParsedMail<'_>) -> Vec<u8> {
    if let Ok(bytes) = part.get_body_raw() {
        return bytes;
    }
    match part.get_body_encoded() {
        Body::Base64(body) => {
            let is_sign = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
            let mut signs: Vec<u8> = body.get_raw().iter().copied().filter(is_sign).collect();
            // One sign alone is less than a byte.
            signs.truncate(signs.len() - usize::from(signs.len() % 4 == 1));
            let lenient = GeneralPurposeConfig::new()
                .with_decode_padding_mode(DecodePaddingMode::Indifferent)
                .with_decode_allow_trailing_bits(true);
            GeneralPurpose::new(&STANDARD, lenient).decode(signs).unwrap_or_default()
        }
        Body::QuotedPrintable(body) => body.get_raw().to_vec(),
        // As they are, which cannot fail.
        Body::SevenBit(_) | Body::EightBit(_) | Body::Binary(_) => Vec::new(),
    }
}
