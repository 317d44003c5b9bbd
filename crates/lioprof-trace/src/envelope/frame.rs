//! The same around every line: quotes of JSON, or words behind the text.
//!
//! What stands before a line is found at each one ([`super::prefix`]). What stands behind it looks like the end of its text; that all lines
//! have it, and that messages fit only without it, tells.
//!
//! | made by | line |
//! |---|---|
//! | containers, log shippers, `journalctl -o json` | `{"log":"LINE\n","stream":"stdout"}`, `{"MESSAGE":"LINE","_HOSTNAME":"oss01"}` |
//! | exports of log stores | `{"result":{"_raw":"LINE"}}`, `{"_source":{"message":"LINE"}}` |
//! | `cat -A`, CSV, tables of HTML | `LINE$`, `"LINE",`, `<td>LINE</td></tr>` |
//! | Outlook, Slack, Markdown | `10.0.0.1@tcp<mailto:10.0.0.1@tcp>`, `ll\_ost` |
//! | terminals, tables | blanks up to the width |
//! | mail | quoted-printable: `=` where a line was broken, `=3D` for a sign |
//! | two loggers into one file, `tee` beside a recorded terminal | each line twice |

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

use lustre_debuglog::frame::text::LineHeaders;
use lustre_debuglog::{Message, Record};
use memchr::memmem;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::repair::lines;
use super::wrap::{Fit, MAX_QUOTED, fit};
use super::{characters, prefix};

/// Lines with a header whose ends are compared first; a clean log is known by these.
const FIRST: usize = 8;
/// Lines with a header that are looked at then: some of them must have messages that end with something known.
const LOOKED_AT: usize = 200;
/// So many lines are many; half as many may be others, around the log.
const MANY: usize = 8;
/// Longest line that may be JSON.
const MAX_LINE: u64 = 1 << 20;
/// Keys that log shippers put the host's name behind.
const HOST_KEYS: [&str; 7] = ["_HOSTNAME", "hostname", "host", "node", "nodename", "source_host", "instance"];

/// What stands around every line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// Each line is an object of JSON that holds a line of the log as a string, behind this key.
    Json(String),
    /// The same behind these keys, each in the object of the one before.
    NestedJson(Vec<String>),
    /// Addresses are links, signs are escaped as in Markdown, headers are coloured, or lines are filled up with blanks.
    Embellished,
    /// Lines end with a carriage return and nothing else.
    OldEnds,
    /// Lines are broken and signs written as quoted-printable has it.
    Quoted,
    /// Each line stands there twice.
    Twice,
    /// Each line ends with these bytes.
    Ending(Vec<u8>),
}

impl Frame {
    /// Of a text that begins like this.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        // What a container or a log store said first may be something else.
        let mut objects = lines(head).filter(|line| line.starts_with(b"{")).take(LOOKED_AT);
        if let Some(keys) = objects.find_map(keys_in_json) {
            return Some(match <[String; 1]>::try_from(keys) {
                Ok([key]) => Self::Json(key),
                Err(keys) => Self::NestedJson(keys),
            });
        }
        if is_embellished(head) || is_coloured(head) {
            return Some(Self::Embellished);
        }
        if has_old_ends(head) {
            return Some(Self::OldEnds);
        }
        if is_quoted(head) {
            return Some(Self::Quoted);
        }
        if is_twice(head) {
            return Some(Self::Twice);
        }
        let texts: Vec<&[u8]> = lines(head)
            .filter_map(|line| prefix::header_start(line, 0).map(|start| &line[start..]))
            .take(FIRST)
            .collect();
        let ending = common_ending(&texts)?;
        is_no_part(head, ending).then(|| Self::Ending(ending.to_vec()))
    }

    /// The lines that are in it.
    pub(crate) fn unframed(&self, stream: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        let stream: Box<dyn Read + Send> = match self {
            Self::OldEnds => return Box::new(NewEnds(stream)),
            _ => stream,
        };
        let (line, before) = (Vec::new(), Vec::new());
        Box::new(Unframed { frame: self.clone(), stream: BufReader::new(stream), line, before, at: 0 })
    }

    /// Takes it from a line, which the other one came before.
    fn take_from(&self, line: &mut Vec<u8>, before: &mut Vec<u8>) {
        let text = line.trim_ascii_end().len();
        match self {
            Self::Json(key) => {
                if let Some(inside) = out_of_json(line, key) {
                    *line = inside;
                }
            }
            Self::NestedJson(keys) => {
                if let Some(inside) = out_of_nested_json(line, keys) {
                    *line = inside;
                }
            }
            Self::Embellished => *line = [plain(&line[..text]), b"\n".to_vec()].concat(),
            Self::OldEnds => {}
            Self::Quoted => *line = unquoted(line),
            Self::Twice if line == before => {
                line.clear();
                before.clear();
            }
            Self::Twice => before.clone_from(line),
            Self::Ending(ending) if line[..text].ends_with(ending) => {
                line.drain(text - ending.len()..text);
            }
            Self::Ending(_) => {}
        }
    }
}

/// What all of these end with, from its first sign on: letters and digits at the beginning are the text's.
fn common_ending<'a>(texts: &[&'a [u8]]) -> Option<&'a [u8]> {
    let (first, others) = texts.split_first()?;
    let same = |other: &&[u8]| first.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    let len = others.iter().map(same).min()?;
    let ending = &first[first.len() - len..];
    let sign = ending.iter().position(|byte| !byte.is_ascii_alphanumeric())?;
    let ending = ending[sign..].trim_ascii_end();
    (!ending.trim_ascii_start().is_empty()).then_some(ending)
}

/// Whether messages fit better without this ending, or all lines have it though it looks like no message's, and none fits worse.
fn is_no_part(head: &[u8], ending: &[u8]) -> bool {
    let mut headers = LineHeaders::default();
    let mut is_better = false;
    let starts = lines(head).filter_map(|line| prefix::header_start(line, 0).map(|start| &line[start..]));
    for line in starts.take(LOOKED_AT) {
        let Some(as_it_is) = headers.record_in(line) else { continue };
        let Some(text) = as_it_is.text.strip_suffix(ending) else { continue };
        let cut = Record { text, ..as_it_is };
        let [as_it_is, cut] = [as_it_is, cut].map(|record| match Message::parse(&record) {
            // Any words may end these.
            Message::Handling(_) | Message::Sending(_) | Message::Completed(_) => Fit::Not,
            message => fit(&message),
        });
        if cut < as_it_is {
            return false;
        }
        is_better |= as_it_is < cut;
    }
    is_better || is_odd(ending) && ends_all(head, ending)
}

/// Whether no name may end so: jobs have dots and numbers at their ends.
fn is_odd(ending: &[u8]) -> bool {
    matches!(ending[0], b'<' | b'\\' | b'"') || !ending.iter().any(u8::is_ascii_alphanumeric)
}

/// Whether all of many lines end so. The last one may be cut off.
fn ends_all(head: &[u8], ending: &[u8]) -> bool {
    let whole = &head[..memchr::memrchr(b'\n', head).unwrap_or(0)];
    let all = || lines(whole).filter(|line| !line.trim_ascii().is_empty());
    all().nth(MANY).is_some() && all().filter(|line| !line.trim_ascii_end().ends_with(ending)).count() <= MANY / 2
}

/// Objects in each other that are looked at.
const MAX_NESTED: usize = 4;

/// The keys behind which an object holds a line of a log that has a header, from the outer one on.
fn keys_in_json(line: &[u8]) -> Option<Vec<String>> {
    fn keys(value: &Value, depth: usize) -> Option<Vec<String>> {
        let Value::Object(object) = value else { return None };
        // A whole log in one string is none of its lines.
        let is_line =
            |text: &str| !text.trim_end().contains('\n') && prefix::header_start(text.as_bytes(), 0).is_some();
        let own =
            object.iter().find(|(_, value)| value.as_str().is_some_and(is_line)).map(|(key, _)| vec![key.clone()]);
        let inner = || {
            let below = |(key, value): (&String, &Value)| Some([vec![key.clone()], keys(value, depth + 1)?].concat());
            object.iter().find_map(below)
        };
        own.or_else(|| if depth < MAX_NESTED { inner() } else { None })
    }
    keys(&serde_json::from_slice(line).ok()?, 1)
}

/// The same of the line behind these keys; the host may be beside any of them.
fn out_of_nested_json(line: &[u8], keys: &[String]) -> Option<Vec<u8>> {
    let whole: Value = serde_json::from_slice(line).ok()?;
    let (mut value, mut host) = (&whole, None);
    for key in keys {
        host = HOST_KEYS.iter().find_map(|it| host_in(value.get(it)?)).or(host);
        value = value.get(key)?;
    }
    Some(behind_host(host, value.as_str()?))
}

/// The name of a host, where a key for one leads.
fn host_in(value: &Value) -> Option<&str> {
    let name = match value {
        Value::Object(host) => host.get("name")?.as_str(),
        host => host.as_str(),
    };
    name.filter(|name| prefix::is_host(name))
}

fn behind_host(host: Option<&str>, text: &str) -> Vec<u8> {
    let host = host.map(|host| format!("{host}: ")).unwrap_or_default();
    [host.as_bytes(), text.trim_end().as_bytes(), b"\n"].concat()
}

/// A line without what [`Frame::Embellished`] stands for.
fn plain(line: &[u8]) -> Vec<u8> {
    without_escapes(&without_links(&characters::without_colours(line)))
}

/// Whether colours hide headers: half of the lines with any, or more, hold one without these.
fn is_coloured(head: &[u8]) -> bool {
    if memchr::memchr(0x1b, head).is_none() {
        return false;
    }
    let is_header = |line: &[u8]| prefix::header_start(line, 0).is_some();
    let hidden = lines(head).filter(|line| memchr::memchr(0x1b, line).is_some() && !is_header(line)).take(LOOKED_AT);
    let (all, headers) = hidden.fold((0, 0), |(all, headers), line| {
        (all + 1, headers + usize::from(is_header(&characters::without_colours(line))))
    });
    headers > 0 && 2 * headers >= all
}

/// Whether there are several lines, and all end as they did on old computers.
fn has_old_ends(head: &[u8]) -> bool {
    memchr::memchr(b'\n', head).is_none() && memchr::memchr_iter(b'\r', head).count() > 1
}

/// Whether many lines end with `=`, as quoted-printable breaks them, and nothing was put before each line since, as in the answer to a mail: then
/// that has to be taken off first.
fn is_quoted(head: &[u8]) -> bool {
    let is_broken = |line: &[u8]| line.len() <= MAX_QUOTED && line.ends_with(b"=");
    let all = || lines(head).take(LOOKED_AT);
    let broken = all().filter(|line| is_broken(line)).count();
    if broken <= MANY {
        return false;
    }
    let prefix = all().find_map(|line| prefix::header_start(line, 0).map(|start| without_digits(&line[..start])));
    let prefix = prefix.filter(|prefix| !prefix.is_empty());
    let is_prefixed = |line: &[u8]| prefix.as_ref().is_some_and(|prefix| without_digits(line).starts_with(prefix));
    let prefixed = all().zip(all().skip(1)).filter(|(before, line)| is_broken(before) && is_prefixed(line)).count();
    2 * prefixed < broken && all().all(|line| line.len() <= MAX_QUOTED)
}

/// The text without numbers: what counts lines stands before each, with another one.
fn without_digits(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|byte| !byte.is_ascii_digit()).collect()
}

/// A line of quoted-printable, without its end if it goes on in the next.
fn unquoted(line: &[u8]) -> Vec<u8> {
    let text = line.trim_ascii_end();
    match text.strip_suffix(b"=") {
        Some(before) => characters::unquoted(before),
        None => [&characters::unquoted(text), &line[text.len()..]].concat(),
    }
}

/// Whether each line stands there twice, but for the first, which may be cut. A kernel log may say the same many times within a second, so most
/// must have headers.
fn is_twice(head: &[u8]) -> bool {
    let whole = &head[..memchr::memrchr(b'\n', head).unwrap_or(0)];
    let pairs = |from: usize| {
        let mut lines = lines(whole).filter(|line| !line.is_empty()).skip(from);
        std::iter::from_fn(move || Some([lines.next()?, lines.next()?]))
    };
    // A clean log is known by its first lines.
    [0, 1].into_iter().any(|from| {
        let is_header = |[line, _]: &[&[u8]; 2]| prefix::header_start(line, 0).is_some();
        pairs(from).take(FIRST).filter(|[one, other]| one == other).count() == FIRST
            && pairs(from).take(LOOKED_AT).all(|[one, other]| one == other)
            && 2 * pairs(from).take(LOOKED_AT).filter(is_header).count() > pairs(from).take(LOOKED_AT).count()
    })
}

/// A text with line feeds for carriage returns.
struct NewEnds(Box<dyn Read + Send>);

impl Read for NewEnds {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let len = self.0.read(into)?;
        into[..len].iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        Ok(len)
    }
}

/// Whether lines with a header are as [`Frame::Embellished`] says: some have links, which no message has, a quarter escapes, or half end with a blank, which no line of a log does.
fn is_embellished(head: &[u8]) -> bool {
    // A clean log has none of these anywhere, and no line of it is looked into.
    let is_filled = |end: usize| head[..end].strip_suffix(b"\r").unwrap_or(&head[..end]).ends_with(b" ");
    if memchr::memchr(b'\\', head).is_none()
        && !memchr::memchr_iter(b'\n', head).any(is_filled)
        && memmem::find(head, b"mailto:").is_none()
    {
        return false;
    }
    let (mut all, mut linked, mut escaped, mut filled) = (0, 0, 0, 0);
    for line in lines(head).filter(|line| prefix::header_start(line, 0).is_some()).take(LOOKED_AT) {
        let has = |text: &[u8]| memmem::find(line, text).is_some();
        all += 1;
        linked += usize::from(has(b"mailto:"));
        escaped += usize::from(has(b"\\_"));
        filled += usize::from(line.ends_with(b" "));
    }
    linked > 0 || 4 * escaped > all || 2 * filled > all
}

/// The line without links to addresses of mail, which are none: `x<mailto:x>`, `<mailto:x>`, `<mailto:x|x>`, `[x](mailto:x)`.
fn without_links(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = memmem::find(rest, b"mailto:") {
        let (before, link) = rest.split_at(at);
        let link = &link[b"mailto:".len()..];
        let Some(end) = link.iter().position(|byte| matches!(byte, b'>' | b')')) else { break };
        let (inside, behind) = (&link[..end], &link[end + 1..]);
        // Slack shows what stands behind the bar.
        let shown = inside.rsplit(|byte| *byte == b'|').next().unwrap_or(inside);
        if let Some(text) = before.strip_suffix(b"](")
            && let Some(open) = memchr::memrchr(b'[', text)
        {
            out.extend_from_slice(&text[..open]);
            out.extend_from_slice(&text[open + 1..]);
        } else if let Some(text) = before.strip_suffix(b"<") {
            out.extend_from_slice(text);
            let blank = text.last() == Some(&b' ');
            if out.trim_ascii_end().ends_with(shown) {
                out.truncate(out.len() - usize::from(blank));
            } else if !behind.starts_with(shown) {
                out.extend_from_slice(shown);
            }
        } else {
            out.extend_from_slice(&rest[..at + b"mailto:".len()]);
            rest = link;
            continue;
        }
        rest = behind;
    }
    out.extend_from_slice(rest);
    out
}

/// The line without backslashes before signs.
fn without_escapes(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut bytes = line.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        let is_escape = byte == b'\\' && bytes.peek().is_some_and(|next| next.is_ascii_punctuation());
        out.push(if is_escape { bytes.next().unwrap_or(byte) } else { byte });
    }
    out
}

/// The line of a log that an object holds as a string, behind the name of its host if it has that, too.
fn out_of_json(line: &[u8], key: &str) -> Option<Vec<u8>> {
    let mut json = serde_json::Deserializer::from_slice(line);
    let Held { text, hosts } = Holding(key).deserialize(&mut json).ok()?;
    json.end().ok()?;
    Some(behind_host(hosts.iter().find_map(host_in), text.as_str()?))
}

/// What is wanted of an object; the rest is not kept, as there are many.
#[derive(Default)]
struct Held {
    text: Value,
    /// Behind each of [`HOST_KEYS`].
    hosts: [Value; HOST_KEYS.len()],
}

/// Reads an object that holds a text behind this key.
struct Holding<'a>(&'a str);

#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> DeserializeSeed<'de> for Holding<'_> {
    type Value = Held;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Held, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Holding<'_> {
    type Value = Held;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Held, A::Error> {
        let mut held = Held::default();
        while let Some(Key(key)) = map.next_key()? {
            if key == self.0 {
                held.text = map.next_value()?;
            } else if let Some(at) = HOST_KEYS.iter().position(|host| key == *host) {
                held.hosts[at] = map.next_value()?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(held)
    }
}

struct Unframed {
    frame: Frame,
    stream: BufReader<Box<dyn Read + Send>>,
    /// A line without its frame, of which the first bytes have been read.
    line: Vec<u8>,
    /// The one before it, where that counts.
    before: Vec<u8>,
    at: usize,
}

impl Read for Unframed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // Of some lines nothing is left.
        while self.at == self.line.len() {
            self.at = 0;
            self.line.clear();
            if self.stream.by_ref().take(MAX_LINE).read_until(b'\n', &mut self.line)? == 0 {
                return Ok(0);
            }
            self.frame.take_from(&mut self.line, &mut self.before);
        }
        let rest = &self.line[self.at..];
        let len = rest.len().min(into.len());
        into[..len].copy_from_slice(&rest[..len]);
        self.at += len;
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: [&str; 3] = [
        "00000100:00100000:1.0:1795253577.968289:0:464:0:(service.c:2152:f()) got req x1882459186719936",
        "00000100:00100000:1.0:1795253577.968290:0:464:0:(service.c:2250:f()) Handling RPC pname:cluuid+ref:pid:xid:nid:opc:job \
         ll_ost00_000:c0de0000-0000-4000-8000-001ff2e4eba2+6:381:x17:12345-10.10.0.11@tcp:4:dd.0",
        "00000100:00100000:1.0:1795253577.968291:0:464:0:(service.c:2300:f()) Handled RPC pname:cluuid+ref:pid:xid:nid:opc:job \
         ll_ost00_000:c0de0000-0000-4000-8000-001ff2e4eba2+6:381:x17:12345-10.10.0.11@tcp:4:dd.0 Request processed in 10us \
         (20us total) trans 0 rc 0/0",
    ];

    fn around(frame: impl Fn(&str) -> String) -> String {
        LOG.iter().map(|line| frame(line) + "\n").collect()
    }

    #[test]
    fn what_stands_behind_all_lines_is_no_part_of_them() {
        for ending in
            ["$", "\"}", "</td></tr>", "\\par", "`", ",", ";", ".", ")", "\u{b6}", "^M$", " |", "\",\"oss01\""]
        {
            let text = around(|line| format!("{line}{ending}"));
            let frame = Frame::of(text.as_bytes()).unwrap_or_else(|| panic!("{ending}"));
            let mut read = String::new();
            frame.unframed(Box::new(io::Cursor::new(text.into_bytes()))).read_to_string(&mut read).unwrap();
            assert_eq!(read, around(str::to_owned), "{ending}");
        }
    }

    #[test]
    fn json_holds_lines_as_strings() {
        for (frame, host) in [
            (r#"{"log":LINE,"stream":"stdout","time":"2026-11-25T09:46:40Z"}"#, ""),
            (r#"{"_PID":"1","MESSAGE":LINE,"_HOSTNAME":"oss01"}"#, "oss01: "),
            (r#"{"host":{"name":"oss01"},"message":LINE}"#, "oss01: "),
        ] {
            let text = around(|line| frame.replace("LINE", &serde_json::to_string(&format!("{line}\n")).unwrap()));
            let frame = Frame::of(text.as_bytes()).unwrap();
            let mut read = String::new();
            frame.unframed(Box::new(io::Cursor::new(text.into_bytes()))).read_to_string(&mut read).unwrap();
            assert_eq!(read, around(|line| format!("{host}{line}")));
        }
    }

    #[test]
    fn json_may_hold_objects_and_begin_with_another() {
        for (first, frame, host) in [
            ("", r#"{"preview":false,"result":{"_raw":LINE,"host":"oss01"}}"#, "oss01: "),
            ("", r#"{"_index":"x","_source":{"message":LINE,"host":{"name":"oss01"}}}"#, "oss01: "),
            ("{\"log\":\"starting\\n\"}\n", r#"{"log":LINE,"stream":"stdout"}"#, ""),
        ] {
            let text = around(|line| frame.replace("LINE", &serde_json::to_string(&format!("{line}\n")).unwrap()));
            let text = format!("{first}{text}");
            let frame = Frame::of(text.as_bytes()).unwrap();
            let mut read = String::new();
            frame.unframed(Box::new(io::Cursor::new(text.into_bytes()))).read_to_string(&mut read).unwrap();
            assert!(read.ends_with(&around(|line| format!("{host}{line}"))), "{read}");
        }
    }

    #[test]
    fn links_escapes_and_padding_go() {
        const NID: &str = "10.10.0.11@tcp";
        for embellish in [
            &(|line: &str| line.replace(NID, "10.10.0.11@tcp<mailto:10.10.0.11@tcp>")) as &dyn Fn(&str) -> String,
            &|line| line.replace(NID, "<mailto:10.10.0.11@tcp>"),
            &|line| line.replace(NID, "10.10.0.11@tcp <mailto:10.10.0.11@tcp>"),
            &|line| line.replace(NID, "<mailto:10.10.0.11@tcp>10.10.0.11@tcp"),
            &|line| line.replace(NID, "<mailto:10.10.0.11@tcp|10.10.0.11@tcp>"),
            &|line| line.replace(NID, "[10.10.0.11@tcp](mailto:10.10.0.11@tcp)"),
            &|line| line.replace('_', "\\_").replace('-', "\\-"),
            &|line| format!("{line:400}"),
            &|line| line.replacen("00000100:", "\x1b[01;31m\x1b[K00000100:\x1b[m\x1b[K", 1),
        ] {
            let text = around(embellish);
            let frame = Frame::of(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(frame, Frame::Embellished);
            let mut read = String::new();
            frame.unframed(Box::new(io::Cursor::new(text.into_bytes()))).read_to_string(&mut read).unwrap();
            assert_eq!(read, around(str::to_owned));
        }
    }

    #[test]
    fn old_ends_of_lines_are_ends() {
        let text = around(str::to_owned).replace('\n', "\r");
        let frame = Frame::of(text.as_bytes()).unwrap();
        let mut read = String::new();
        frame.unframed(Box::new(io::Cursor::new(text.into_bytes()))).read_to_string(&mut read).unwrap();
        assert_eq!((frame, read), (Frame::OldEnds, around(str::to_owned)));
    }

    #[test]
    fn what_mail_and_two_loggers_did_is_undone() {
        let quoted = |text: &str, end: &str| -> String {
            let sign = |c: char| {
                if c == ' ' {
                    "=C2=A0".to_owned()
                } else if c == '=' {
                    "=3D".to_owned()
                } else {
                    c.to_string()
                }
            };
            let mut out = String::new();
            for line in text.lines() {
                let mut width = 0;
                for sign in line.chars().map(sign) {
                    if width + sign.len() > 75 {
                        out.push('=');
                        out.push_str(end);
                        width = 0;
                    }
                    width += sign.len();
                    out.push_str(&sign);
                }
                out.push_str(end);
            }
            out
        };
        let log = around(str::to_owned).repeat(4);
        let no_break = log.replace(' ', "\u{a0}");
        for (text, frame, want) in [
            (quoted(&log, "\n"), Frame::Quoted, no_break.clone()),
            (quoted(&log, "\r\n"), Frame::Quoted, no_break.replace('\n', "\r\n")),
            (log.lines().map(|line| format!("{line}\n{line}\n")).collect(), Frame::Twice, log.clone()),
        ] {
            assert_eq!(Frame::of(text.as_bytes()), Some(frame.clone()));
            let mut read = String::new();
            frame.unframed(Box::new(io::Cursor::new(text.into_bytes()))).read_to_string(&mut read).unwrap();
            assert_eq!(read, want);
        }
        let answered: String = quoted(&log, "\n").lines().map(|line| format!("> {line}\n")).collect();
        assert_eq!(Frame::of(answered.as_bytes()), None);
    }

    #[test]
    fn a_log_has_none() {
        assert_eq!(Frame::of(around(str::to_owned).as_bytes()), None);
        assert_eq!(Frame::of(around(|line| format!("oss01: {line}")).as_bytes()), None);
        // The ends of jobs may be the same.
        let handling = LOG[1];
        assert_eq!(Frame::of(format!("{handling}$\n{handling}$\n").as_bytes()), None);
        assert_eq!(Frame::of(b"{}\n"), None);
        assert_eq!(Frame::of(b""), None);
    }
}
