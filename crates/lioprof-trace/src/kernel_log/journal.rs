//! Entries of the journal: as JSON (`journalctl -o json`, `json-pretty`, `json-sse`, `json-seq`) and as fields (`-o export`, `verbose`;
//! `systemd.journal-fields(7)`, `JOURNAL_EXPORT_FORMATS`).

use lustre_debuglog::kernel_log::{KernelLine, KernelLogForm, Sentence, Stamp};
use serde::Deserialize;

/// Longest entry that is kept: a message of the kernel has 8 KiB at most, and its fields some more.
const MAX_ENTRY: usize = 256 << 10;
/// Bytes that the length of a field has before its bytes, if these are not text.
const LENGTH_BYTES: usize = 8;

/// The fields that are used. Numbers are strings there.
#[derive(Default, Deserialize)]
struct Entry {
    #[serde(rename = "MESSAGE")]
    message: Option<Message>,
    #[serde(rename = "__REALTIME_TIMESTAMP")]
    time_us: Option<String>,
    #[serde(rename = "_HOSTNAME")]
    host: Option<String>,
    #[serde(rename = "_TRANSPORT")]
    transport: Option<String>,
    #[serde(rename = "SYSLOG_IDENTIFIER")]
    identifier: Option<String>,
}

/// Text, or bytes where it is not UTF-8.
#[derive(Deserialize)]
#[serde(untagged)]
enum Message {
    Text(String),
    Bytes(Vec<u8>),
}

/// A message of the kernel.
pub(super) struct JournalLine {
    pub(super) stamp: Option<Stamp>,
    pub(super) host: Option<String>,
    pub(super) text: Vec<u8>,
}

impl Entry {
    /// `None`: it is of another program. `stamp`: what its heading says.
    fn of_kernel(self, stamp: Option<Stamp>) -> Option<JournalLine> {
        let text = match self.message? {
            Message::Text(text) => text.into_bytes(),
            Message::Bytes(bytes) => bytes,
        };
        let told = self.transport.is_some() || self.identifier.is_some();
        let is_kernel = [self.transport, self.identifier].into_iter().flatten().any(|name| name == "kernel");
        if !is_kernel && (told || Sentence::of(&text).voice.is_none()) {
            return None;
        }
        let stamp = self.time_us.and_then(|us| us.parse().ok()).map(Stamp::Unix).or(stamp);
        Some(JournalLine { stamp, host: self.host, text })
    }
}

/// Follows the lines of a journal.
pub(super) enum Journal {
    /// The object so far; empty between two.
    Objects(Vec<u8>),
    /// The fields so far.
    Fields(Box<Fields>),
}

impl Journal {
    /// `None`: a log of this form has lines.
    pub(super) fn new(form: KernelLogForm) -> Option<Self> {
        match form {
            KernelLogForm::Json => Some(Self::Objects(Vec::new())),
            KernelLogForm::Fields => Some(Self::Fields(Box::default())),
            KernelLogForm::Dmesg | KernelLogForm::Syslog => None,
        }
    }

    /// Takes a line; an empty one behind the last.
    pub(super) fn line(&mut self, line: &[u8]) -> Option<JournalLine> {
        match self {
            Self::Objects(object) => next_object(object, line),
            Self::Fields(fields) => fields.line(line),
        }
    }
}

/// An object of one line, whatever stands before it, or of several of which the last has nothing but its end.
fn next_object(object: &mut Vec<u8>, line: &[u8]) -> Option<JournalLine> {
    let parsed = |object: &[u8]| serde_json::from_slice::<Entry>(object).ok()?.of_kernel(None);
    let line = line.trim_ascii();
    if object.is_empty() {
        let begun = &line[memchr::memchr(b'{', line)?..];
        // In an array a comma separates them.
        let whole = begun.trim_ascii_end();
        let whole = whole.strip_suffix(b",").unwrap_or(whole);
        if whole.len() > 1 && whole.ends_with(b"}") {
            return parsed(whole);
        }
        object.extend_from_slice(begun);
        return None;
    }
    let is_end = matches!(line, b"}" | b"}," | b"}]");
    if object.len() + line.len() < MAX_ENTRY {
        object.extend_from_slice(if is_end { b"}" } else { line });
        object.push(b'\n');
    }
    is_end.then(|| parsed(&std::mem::take(object))).flatten()
}

/// An entry field by field.
#[derive(Default)]
pub(super) struct Fields {
    entry: Entry,
    stamp: Option<Stamp>,
    /// The next line is the message, which is no text, behind its length.
    is_message_next: bool,
}

impl Fields {
    fn line(&mut self, line: &[u8]) -> Option<JournalLine> {
        if std::mem::take(&mut self.is_message_next) {
            self.entry.message = Some(Message::Bytes(line.get(LENGTH_BYTES..).unwrap_or_default().to_vec()));
            return None;
        }
        let is_indented = line.starts_with(b" ");
        let field = line.trim_ascii();
        // `verbose` begins an entry with its time, `export` ends one with an empty line.
        let heading = if is_indented || !field.ends_with(b"]") { None } else { KernelLine::time_of(field) };
        if field.is_empty() || heading.is_some() {
            let entry = std::mem::take(&mut self.entry);
            return entry.of_kernel(std::mem::replace(&mut self.stamp, heading));
        }
        if field == b"MESSAGE" {
            self.is_message_next = true;
            return None;
        }
        let (name, value) = field.split_at_checked(memchr::memchr(b'=', field)?)?;
        let value = &value[1..];
        let text = || Some(String::from_utf8_lossy(value).into_owned());
        match name {
            b"MESSAGE" => self.entry.message = Some(Message::Bytes(value.to_vec())),
            b"__REALTIME_TIMESTAMP" => self.entry.time_us = text(),
            b"_HOSTNAME" => self.entry.host = text(),
            b"_TRANSPORT" => self.entry.transport = text(),
            b"SYSLOG_IDENTIFIER" => self.entry.identifier = text(),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(form: KernelLogForm, text: &[u8]) -> Vec<(Option<Stamp>, Option<String>, String)> {
        let mut journal = Journal::new(form).unwrap();
        let lines = text.split(|byte| *byte == b'\n').chain([&b""[..]]);
        let lines = lines.filter_map(|line| journal.line(line));
        lines.map(|line| (line.stamp, line.host, String::from_utf8(line.text).unwrap())).collect()
    }

    #[test]
    fn entries_of_all_forms_are_the_same() {
        let object = r#"{"_HOSTNAME":"oss07","__REALTIME_TIMESTAMP":"1","_TRANSPORT":"kernel","MESSAGE":"a {b}"}"#;
        let pretty = object.replace(['{', ','], "$0").replace("$0", "\n\t").replace("a \n\tb}", "a {b}");
        let pretty = format!("{{{}\n}}", pretty.trim_end_matches('}'));
        let want = [1, 1].map(|us| (Some(Stamp::Unix(us)), Some("oss07".to_owned()), "a {b}".to_owned()));
        let other = object.replace("kernel", "syslog");
        for text in [
            format!("{object}\n{other}\n{object}\n"),
            format!("\x1e{object}\n\x1e{object}\n"),
            format!("data: {object}\n\ndata: {object}\n\n"),
            format!("oss07: {object}\noss07: {object}\n"),
            format!("[{object},\n{object}]").replace('[', "[\n").replace(']', "\n]"),
        ] {
            assert_eq!(read(KernelLogForm::Json, text.as_bytes()), want, "{text}");
        }
        let pretty = pretty.replace("\t", "").replace("\"\n\"", "\",\n\"");
        assert_eq!(read(KernelLogForm::Json, format!("{pretty}\n{pretty}\n").as_bytes()), want, "{pretty}");
        let export = "__CURSOR=s=1\n__REALTIME_TIMESTAMP=1\n_HOSTNAME=oss07\n_TRANSPORT=kernel\nMESSAGE=a {b}\n\n";
        assert_eq!(read(KernelLogForm::Fields, format!("{export}{export}").as_bytes()), want);
        let binary = export.replace("MESSAGE=", "MESSAGE\n\x05\0\0\0\0\0\0\0");
        assert_eq!(read(KernelLogForm::Fields, format!("{binary}{binary}").as_bytes()), want);
        let verbose = "Wed 1970-01-01 00:00:00.000001 UTC [s=1;i=1]\n    _HOSTNAME=oss07\n    _TRANSPORT=kernel\n    MESSAGE=a {b}\n";
        assert_eq!(read(KernelLogForm::Fields, format!("{verbose}{verbose}").as_bytes()), want);
    }
}
