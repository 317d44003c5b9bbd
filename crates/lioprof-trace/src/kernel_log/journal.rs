//! Entries of the journal as JSON (`journalctl -o json`, `systemd.journal-fields(7)`).

use lustre_debuglog::kernel_log::{Sentence, Stamp};
use serde::Deserialize;

/// The fields that are used. Numbers are strings there.
#[derive(Deserialize)]
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

/// Reads an entry; `None` if it is none, or of another program.
pub(super) fn parse(line: &[u8]) -> Option<JournalLine> {
    // With `-o json-seq` each entry has this byte in front.
    let line = line.strip_prefix(b"\x1e").unwrap_or(line);
    let entry: Entry = serde_json::from_slice(line).ok()?;
    let text = match entry.message? {
        Message::Text(text) => text.into_bytes(),
        Message::Bytes(bytes) => bytes,
    };
    let told = entry.transport.is_some() || entry.identifier.is_some();
    let is_kernel = [entry.transport, entry.identifier].into_iter().flatten().any(|name| name == "kernel");
    if !is_kernel && (told || Sentence::of(&text).voice.is_none()) {
        return None;
    }
    let stamp = entry.time_us.and_then(|us| us.parse().ok()).map(Stamp::Unix);
    Some(JournalLine { stamp, host: entry.host, text })
}
