//! The lines of several hosts in one text, each host's for itself, as they came: whoever reads them repairs them.

use std::collections::HashSet;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::heading::{Between, Headings};
use super::prefix::{self, Sender};
use super::repair::{Group, lines};
use crate::kept::{BLOCK, PackedReader, Packer, Store};

/// Bytes read at once.
const READ_BYTES: usize = 256 << 10;
/// A longer line is cut: it is none of a log.
const MAX_LINE: usize = 1 << 20;
/// One header of so many must have a host or file before it: programs put one before each line.
const SENDERS: usize = 4;
/// More than so many, most of them at one line only, are no hosts.
const MIN_NUMBERS: usize = 8;
/// Hosts told apart; what others say goes with the lines that name nobody.
const MAX_PARTS: usize = 1024;

/// What one host said.
pub(crate) struct Part {
    /// Who: `None` for lines that name nobody.
    pub(crate) sender: Option<Sender>,
    /// Its lines.
    pub(crate) text: Box<dyn Read + Send>,
}

/// Whether the lines of `head` say who they come from: a heading does, or what stands before many of the headers. Before one it may be what
/// damage left.
pub(crate) fn names_senders(head: &[u8]) -> bool {
    let mut headings = Headings::default();
    let mut group = Group::default();
    let (mut usual, mut headers, mut senders) = (0, 0, 0);
    let mut once: HashSet<Sender<&str>> = HashSet::new();
    for line in lines(head) {
        let at = line.as_ptr().addr() - head.as_ptr().addr();
        let place = at..at + line.len();
        match prefix::header_start(line, usual) {
            Some(start) => {
                usual = start;
                headings.record();
                group.begin(head, place, start, b"");
                headers += 1;
                if let Some(sender) = prefix::sender(&line[..start]).filter(|_| start > 0) {
                    senders += 1;
                    once.insert(sender);
                }
            }
            None => match headings.between(line, || group.may_go_on(head)) {
                Between::Heading(_) => return true,
                Between::Rule => {}
                Between::Other => group.go_on(head, place),
            },
        }
    }
    // What numbers lines is another one at each (`L12: `).
    let are_numbers = once.len() > MIN_NUMBERS && 2 * once.len() > senders;
    senders > 0 && senders * SENDERS >= headers && !are_numbers
}

/// Reads a text to its end and tells its hosts apart. All of them together may keep `limit` bytes in memory, the rest goes packed to a
/// temporary file. Parts come in the order in which they begin; those without a record are left out.
///
/// # Errors
/// If a temporary file cannot be written; `stream` does not fail.
pub(crate) fn split(mut stream: impl Read, limit: usize) -> io::Result<Vec<Part>> {
    let mut splitter = Splitter::new(limit);
    let mut buffer = Vec::new();
    loop {
        let got = stream.by_ref().take(READ_BYTES as u64).read_to_end(&mut buffer)?;
        let whole = match memchr::memrchr(b'\n', &buffer) {
            _ if got == 0 => buffer.len(),
            Some(at) => at + 1,
            None if buffer.len() > MAX_LINE => buffer.len(),
            None => 0,
        };
        for line in lines(&buffer[..whole]) {
            splitter.line(line)?;
        }
        buffer.drain(..whole);
        if got == 0 {
            return splitter.finish();
        }
    }
}

struct Writing {
    sender: Option<Sender>,
    group: Group,
    /// Lines of its, from before those of the group on.
    text: Vec<u8>,
    kept: Packer,
    has_records: bool,
}

impl Writing {
    /// Begins a record, `previous` being the line before; `is_missing`: another part has it.
    fn begin(&mut self, line: &[u8], start: usize, previous: &[u8], is_missing: bool) -> io::Result<()> {
        self.end_record();
        let whole = self.text.len() / BLOCK * BLOCK;
        if whole > 0 {
            self.kept.add(&self.text[..whole])?;
            self.text.drain(..whole);
        }
        if is_missing {
            self.add(previous);
        }
        let place = self.add(line);
        self.group.begin(&self.text, place, start, previous);
        Ok(())
    }

    fn go_on(&mut self, line: &[u8]) {
        let place = self.add(line);
        self.group.go_on(&self.text, place);
    }

    fn add(&mut self, line: &[u8]) -> Range<usize> {
        let start = self.text.len();
        self.text.extend_from_slice(line);
        self.text.push(b'\n');
        start..start + line.len()
    }

    fn end_record(&mut self) {
        self.has_records = self.has_records || self.group.has_header(&self.text);
    }
}

struct Splitter {
    parts: Vec<Writing>,
    /// The parts of those that have a name.
    of_name: FxHashMap<String, usize>,
    headings: Headings,
    /// The part that the lines below the last heading belong to.
    block: usize,
    /// The part of the last line.
    current: usize,
    usual: usize,
    last_prefix: Vec<u8>,
    /// Where the name is in it.
    last_name: Range<usize>,
    /// The line before, if it is none of the log.
    previous: Vec<u8>,
    /// The part that it went to.
    previous_part: Option<usize>,
    store: Arc<Store>,
}

impl Splitter {
    fn new(limit: usize) -> Self {
        let mut splitter = Self {
            parts: Vec::new(),
            of_name: FxHashMap::default(),
            headings: Headings::default(),
            block: 0,
            current: 0,
            usual: 0,
            last_prefix: Vec::new(),
            last_name: 0..0,
            previous: Vec::new(),
            previous_part: None,
            store: Arc::new(Store::new(limit)),
        };
        splitter.add_part(None);
        splitter
    }

    fn add_part(&mut self, sender: Option<Sender>) -> usize {
        self.parts.push(Writing {
            sender,
            group: Group::default(),
            text: Vec::new(),
            kept: Packer::for_once(Arc::clone(&self.store)),
            has_records: false,
        });
        self.parts.len() - 1
    }

    fn part_of(&mut self, sender: &Sender<&str>) -> usize {
        if let Some(&part) = self.of_name.get(sender.name()) {
            return part;
        }
        if self.parts.len() == MAX_PARTS {
            return 0;
        }
        let part = self.add_part(Some(sender.owned()));
        self.of_name.insert(sender.name().to_owned(), part);
        part
    }

    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        if let Some(start) = prefix::header_start(line, self.usual) {
            self.usual = start;
            self.headings.record();
            let before = prefix::standing_before(line, start, &self.previous);
            if start == 0 || !prefix::differ_in_numbers_only(&before, &self.last_prefix, &self.last_name) {
                self.last_prefix.clear();
                self.last_prefix.extend_from_slice(&before);
                self.last_name = 0..0;
                self.current = match prefix::sender(&before) {
                    Some(sender) => {
                        let at = sender.name().as_ptr().addr() - before.as_ptr().addr();
                        self.last_name = at..at + sender.name().len();
                        self.part_of(&sender)
                    }
                    None => self.block,
                };
            }
            // A break may have left there what stands before the line.
            let is_missing = before.len() > start && self.previous_part != Some(self.current);
            self.parts[self.current].begin(line, start, &self.previous, is_missing)?;
            self.previous.clear();
            return Ok(());
        }
        self.previous.clear();
        self.previous.extend_from_slice(&line[..line.len().min(512)]);
        self.previous_part = None;
        let Writing { group, text, .. } = &mut self.parts[self.current];
        match self.headings.between(line, || group.may_go_on(text)) {
            Between::Heading(sender) => {
                self.block = self.part_of(&sender);
                self.current = self.block;
                // The next line is looked at anew.
                self.last_prefix.clear();
                self.usual = 0;
                return Ok(());
            }
            Between::Rule => return Ok(()),
            Between::Other => {}
        }
        // It goes on with the record of whoever sent it: with several at once, its prefix tells.
        let goes_on = |part: &Writing| part.group.is_prefixed(line);
        let part = if goes_on(&self.parts[self.current]) {
            self.current
        } else {
            self.parts.iter().position(goes_on).unwrap_or(self.current)
        };
        if self.parts[part].group.is_open() {
            self.parts[part].go_on(line);
            self.previous_part = Some(part);
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<Vec<Part>> {
        let mut parts = Vec::new();
        for part in &mut self.parts {
            part.end_record();
        }
        for mut part in self.parts {
            if part.has_records {
                part.kept.add(&part.text)?;
                let text = PackedReader::new(Arc::new(part.kept.finish()?));
                parts.push(Part { sender: part.sender, text: Box::new(text) });
            }
        }
        Ok(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last record of a block is often of a kind that takes any text: `lctl mark`.
    #[test]
    fn a_rule_ends_a_record_of_any_kind() {
        for text in
            ["DEBUG MARKER: stop", "Handled RPC req@00000000e33453a3 pname:cluuid+ref:pid:xid:nid", "what nobody knows"]
        {
            let block = |host: &str, n: u32| {
                format!(
                    "---------------\n{host}\n---------------\n00000001:02000400:0.0F:{n}.499810:0:2920:0:(debug.c:702:f()) {text}\n"
                )
            };
            let all = block("oss5", 1) + &block("oss6", 2);
            assert!(names_senders(all.as_bytes()));
            let hosts: Vec<Option<Sender>> =
                split(all.as_bytes(), 1 << 20).unwrap().into_iter().map(|part| part.sender).collect();
            assert_eq!(hosts, ["oss5", "oss6"].map(|host| Some(Sender::Host(host.to_owned()))), "{text}");
        }
    }

    #[test]
    fn each_line_goes_to_its_host_whatever_else_changes() {
        let record =
            |host: u32, n: u32| format!("00000100:00100000:1.0:{n}.968289:0:464:0:(service.c:2152:f()) {host}\n");
        for prefix in [
            |host, _| format!("oss{host:02}: "),
            |host, n| format!("2026-11-25T09:46:{:02}.{n:06}+00:00 oss{host:02} lctl[{n:05}]: ", n % 60),
            |host, n| format!("logs/oss{host:02}.txt:{n}:"),
        ] {
            let hosts = [1_u32, 2, 3];
            // In turn, and with more of one than are kept before they are written on.
            let lines = (0..9_000_u32).flat_map(|n| hosts.map(|host| (host, n)));
            let lines = lines.chain((9_000..12_000).map(|n| (2, n)));
            let text: String = lines.map(|(host, n)| prefix(host, n) + &record(host, n)).collect();
            let parts = split(text.as_bytes(), 1 << 20).unwrap();
            assert_eq!(parts.len(), hosts.len());
            for (mut part, host) in parts.into_iter().zip(hosts) {
                let mut got = String::new();
                part.text.read_to_string(&mut got).unwrap();
                let count = if host == 2 { 12_000 } else { 9_000 };
                let want: String = (0..count).map(|n| prefix(host, n) + &record(host, n)).collect();
                assert!(got == want, "{host} {}", prefix(host, 0));
            }
        }
    }
}
