//! One line: stamp, host and the kernel's text.

use super::stamp::{self, Stamp, clock, date, is_weekday, month, month_in_any_language, zone};

/// A line of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelLine<'a> {
    /// When it was logged; `None` if the line has no stamp (`dmesg -t`, or its continuation).
    pub stamp: Option<Stamp>,
    /// Name of the node, if the line has it.
    pub host: Option<&'a [u8]>,
    /// What the kernel said.
    pub text: &'a [u8],
}

impl<'a> KernelLine<'a> {
    /// Reads a line without its line break; `None` if another program than the kernel logged it.
    #[must_use]
    pub fn parse(line: &'a [u8]) -> Option<Self> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = without_priority(line);
        if let Some((us, text)) = kmsg(line) {
            return Some(Self { stamp: Some(Stamp::Boot(us)), host: None, text });
        }
        let line = without_level_names(line);
        if let Some((stamp, rest)) = bracketed(line) {
            return Some(Self::behind(stamp, rest));
        }
        if let Some((stamp, rest)) = dated(line) {
            return Self::of_console(stamp, rest).or_else(|| Self::of_syslog(stamp, rest));
        }
        is_of_lustre(line).then_some(Self { stamp: None, host: None, text: line })
    }

    /// The time that a line begins with, as lines of other programs do in a syslog, too.
    #[must_use]
    pub fn time_of(line: &[u8]) -> Option<Stamp> {
        dated(without_priority(line)).map(|(stamp, _)| stamp)
    }

    /// Whether there is one.
    #[must_use]
    pub fn is_stamped(line: &[u8]) -> bool {
        Self::time_of(line).is_some()
    }

    /// Whether the text is of Lustre or LNet.
    #[must_use]
    pub fn is_of_lustre(&self) -> bool {
        is_of_lustre(self.text)
    }

    /// Behind a date that no syslog daemon wrote: `dmesg --time-format iso` has the text there, recorders of consoles and containers the
    /// kernel's own line (conman, `kubectl logs --timestamps`), Cray's the node, and the text as the kernel said it.
    fn of_console(stamp: Stamp, rest: &'a [u8]) -> Option<Self> {
        if is_of_lustre(rest) {
            return Some(Self { stamp: Some(stamp), host: None, text: rest });
        }
        let text = behind_boot_time(rest);
        if text.len() < rest.len() {
            return Some(Self { stamp: Some(stamp), host: None, text: without_caller(text) });
        }
        let (host, rest) = word(rest)?;
        let is_console = is_node_of_cray(host) || is_of_lustre(rest) && !host.ends_with(b":");
        is_console.then_some(Self { stamp: Some(stamp), host: Some(host), text: rest })
    }

    /// `HOST kernel: text`, with `FACILITY.LEVEL` between; the stamp of the kernel may stand before the text, too. RFC 5424 has three more
    /// words in place of the colon.
    fn of_syslog(stamp: Stamp, rest: &'a [u8]) -> Option<Self> {
        let (host, rest) = word(rest)?;
        let (mut tag, mut rest) = word(rest)?;
        let is_facility = !tag.ends_with(b":")
            && tag.contains(&b'.')
            && tag.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'.');
        if is_facility {
            (tag, rest) = word(rest)?;
        }
        let name = match tag.strip_suffix(b":") {
            Some(name) => name,
            None => {
                rest = behind_structured_data(rest)?;
                tag
            }
        };
        if name != b"kernel" && !name.starts_with(b"kernel[") {
            return None;
        }
        Some(Self { stamp: Some(stamp), host: Some(host), text: without_caller(behind_boot_time(rest)) })
    }

    /// Behind a stamp in brackets; `journalctl -o short-monotonic` writes `HOST kernel: ` there, consoles of Cray `[HOST]`, and recorders of
    /// consoles the kernel's own stamp.
    fn behind(stamp: Stamp, rest: &'a [u8]) -> Self {
        let rest = without_caller(behind_boot_time(rest));
        if let Some((host, tag)) = word(rest)
            && tag.starts_with(b"kernel: ")
            && !host.ends_with(b":")
            && let Some(line) = Self::of_syslog(stamp, rest)
        {
            return line;
        }
        let named = || {
            let inside = rest.strip_prefix(b"[")?;
            let end = inside.get(..40).unwrap_or(inside).iter().position(|byte| *byte == b']')?;
            let (host, text) = inside.split_at_checked(end)?;
            is_node_of_cray(host).then_some(())?;
            let text = text.get(1..)?;
            Some(Self { stamp: Some(stamp), host: Some(host), text: text.strip_prefix(b" ").unwrap_or(text) })
        };
        named().unwrap_or(Self { stamp: Some(stamp), host: None, text: rest })
    }
}

/// `c0-0c0s1n1`, `x1000c0s1b0n0`: where a node of a Cray sits.
fn is_node_of_cray(name: &[u8]) -> bool {
    let letters = name.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    matches!(name.first(), Some(b'c' | b'x'))
        && letters >= 4
        && name.last().is_some_and(u8::is_ascii_digit)
        && name.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'c' | b's' | b'n' | b'b' | b'x'))
}

/// Behind `PROCID MSGID SD` of RFC 5424: each is `-` if there is none, and what is structured stands in brackets.
fn behind_structured_data(rest: &[u8]) -> Option<&[u8]> {
    let (_, rest) = word(rest)?;
    let (_, rest) = word(rest)?;
    let rest = match rest {
        [b'-', b' ', rest @ ..] => rest,
        [b'[', ..] => rest.get(memchr::memmem::find(rest, b"] ")? + 2..)?,
        _ => return None,
    };
    Some(rest.strip_prefix("\u{feff}".as_bytes()).unwrap_or(rest))
}

/// Whether a text begins as those of Lustre and LNet do.
pub(super) fn is_of_lustre(text: &[u8]) -> bool {
    [&b"Lustre: "[..], b"LustreError: ", b"LNet: ", b"LNetError: "].iter().any(|prefix| text.starts_with(prefix))
}

/// The word at the beginning, and what follows the blank behind it.
fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|byte| *byte == b' ')?;
    let (word, rest) = text.split_at_checked(at)?;
    (!word.is_empty()).then_some((word, rest.get(1..).unwrap_or_default()))
}

/// Without `<3>`, a priority in front.
fn without_priority(line: &[u8]) -> &[u8] {
    let digits =
        line.strip_prefix(b"<").map_or(0, |rest| rest.iter().take(4).take_while(|byte| byte.is_ascii_digit()).count());
    match line.get(digits + 1..) {
        Some([b'>', rest @ ..]) if digits > 0 => rest,
        _ => line,
    }
}

/// `4,1234,56789,-;text` of `/dev/kmsg`: priority, sequence, microseconds since boot, flags.
fn kmsg(line: &[u8]) -> Option<(i64, &[u8])> {
    let end = line.get(..80).unwrap_or(line).iter().position(|byte| *byte == b';')?;
    let (head, text) = line.split_at_checked(end)?;
    let mut fields = head.split(|byte| *byte == b',');
    let (_, _): (u32, u64) = (stamp::number(fields.next()?)?, stamp::number(fields.next()?)?);
    Some((stamp::number(fields.next()?)?, text.get(1..)?))
}

/// Without `kern  :warn  : ` of `dmesg -x`.
fn without_level_names(line: &[u8]) -> &[u8] {
    let names = || {
        let rest = line.strip_prefix(b"kern")?.trim_ascii_start().strip_prefix(b":")?;
        let level = rest.iter().position(|byte| *byte == b':').filter(|at| *at <= 8)?;
        Some(rest.get(level + 1..)?.trim_ascii_start())
    };
    names().unwrap_or(line)
}

/// `[ 3933.759450] ` (`dmesg`), `[Wed Nov 25 09:46:40 2026] ` (`dmesg -T`), `[ 3933.759450 <    0.000012>] ` (`dmesg -d`),
/// `[Nov25 09:46] ` and `[  +0.000012] ` (`dmesg -e`), `[2026-11-25 09:46:40]` (consoles).
fn bracketed(line: &[u8]) -> Option<(Stamp, &[u8])> {
    let inside = line.strip_prefix(b"[")?;
    let end = inside.get(..48).unwrap_or(inside).iter().position(|byte| *byte == b']')?;
    let (inside, rest) = inside.split_at_checked(end)?;
    let rest = rest.strip_prefix(b"]")?;
    // How long it is since the line before adds nothing.
    let without_delta = |text: &'static [u8]| memchr::memmem::find(inside, text).and_then(|at| inside.get(..at));
    let inside = without_delta(b"<").filter(|_| inside.ends_with(b">")).unwrap_or(inside).trim_ascii();
    let boot = || stamp::seconds(inside).filter(|_| inside.contains(&b'.')).map(Stamp::Boot);
    let stamp = boot().or_else(|| ctime(inside)).or_else(|| short(inside)).or_else(|| whole_date(inside))?;
    Some((stamp, rest.strip_prefix(b" ").unwrap_or(rest)))
}

/// Without the kernel's own stamp, where another one stands before it.
fn behind_boot_time(rest: &[u8]) -> &[u8] {
    match bracketed(rest) {
        Some((Stamp::Boot(_), text)) => text,
        _ => rest,
    }
}

/// `Nov25 09:46`, `+0.000012`; with both, as some versions print it, the first counts.
fn short(text: &[u8]) -> Option<Stamp> {
    if let Some(since) = text.strip_prefix(b"+") {
        let since = since.trim_ascii_start();
        return stamp::seconds(since).filter(|_| since.contains(&b'.')).map(Stamp::Since);
    }
    let (month, rest) = (month(text.get(..3)?)?, text.get(3..)?.trim_ascii_start());
    let (day, rest) = word(rest)?;
    let day = stamp::number(day).filter(|day| (1..=31).contains(day))?;
    let (time, behind) = rest.split_at_checked(5)?;
    let us = clock(&[time, b":00"].concat())?;
    let behind = behind.trim_ascii();
    (behind.is_empty() || behind.starts_with(b"+")).then_some(Stamp::Local { year: None, month, day, us })
}

/// `2026-11-25 09:46:40`, and nothing behind it.
fn whole_date(text: &[u8]) -> Option<Stamp> {
    let (stamp, rest) = iso(&[text, b" "].concat()).map(|(stamp, rest)| (stamp, rest.is_empty()))?;
    rest.then_some(stamp)
}

/// `Wed Nov 25 09:46:40 2026`. `dmesg` prints the names of its reader's locale.
fn ctime(text: &[u8]) -> Option<Stamp> {
    let mut words = text.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || !byte.is_ascii() || *byte == b'.';
    words.next().filter(|weekday| weekday.iter().all(is_letter))?;
    let (month, day) = (month_in_any_language(words.next()?)?, stamp::number(words.next()?)?);
    let (us, year) = (clock(words.next()?)?, stamp::number(words.next()?)?);
    Some(Stamp::Local { year: Some(year), month, day, us })
}

/// Without `[T1234]`, `[ C3]`: thread or CPU that logged (`CONFIG_PRINTK_CALLER`).
fn without_caller(rest: &[u8]) -> &[u8] {
    let caller = || {
        let inside = rest.strip_prefix(b"[")?;
        let end = inside.get(..12).unwrap_or(inside).iter().position(|byte| *byte == b']')?;
        let [b'T' | b'C', digits @ ..] = inside.get(..end)?.trim_ascii() else { return None };
        // Some programs fill the number up with blanks.
        let _: u32 = stamp::number(digits.trim_ascii_start())?;
        let rest = inside.get(end + 1..)?;
        Some(rest.strip_prefix(b" ").unwrap_or(rest))
    };
    caller().unwrap_or(rest)
}

/// A date and a time. RFC 5424 has its version before them.
fn dated(line: &[u8]) -> Option<(Stamp, &[u8])> {
    let line = line.strip_prefix(b"1 ").unwrap_or(line);
    iso(line).or_else(|| unix(line)).or_else(|| with_weekday(line)).or_else(|| bsd(line))
}

/// `2026-11-25T09:46:40.123456+01:00 `, `2026-11-25 09:46:40,123456 `; without zone if there is none.
fn iso(line: &[u8]) -> Option<(Stamp, &[u8])> {
    let date = date(line.get(..10)?)?;
    let [b'T' | b' ', rest @ ..] = line.get(10..)? else { return None };
    let (time, rest) = word(rest)?;
    let zone_at = time.iter().position(|byte| matches!(byte, b'+' | b'-' | b'Z')).unwrap_or(time.len());
    let (time, zone_text) = time.split_at_checked(zone_at)?;
    let zone_us = if zone_text.is_empty() { None } else { Some(zone(zone_text)?) };
    Some((Stamp::of_date(date, clock(time)?, zone_us), rest))
}

/// `1795600000.123456 ` (`journalctl -o short-unix`).
fn unix(line: &[u8]) -> Option<(Stamp, &[u8])> {
    let (time, rest) = word(line)?;
    let is_one = time.contains(&b'.') && time.iter().position(|byte| *byte == b'.').is_some_and(|at| at >= 9);
    Some((Stamp::Unix(stamp::seconds(time).filter(|_| is_one)?), rest))
}

/// `Wed 2026-11-25 09:46:40 CET ` (`journalctl -o short-full`). Of zones' short names only UTC is unambiguous.
fn with_weekday(line: &[u8]) -> Option<(Stamp, &[u8])> {
    let (_, rest) = word(line).filter(|(day, _)| is_weekday(day))?;
    let (on, rest) = word(rest)?;
    let (time, rest) = word(rest)?;
    let (zone_name, rest) = word(rest)?;
    Some((Stamp::of_date(date(on)?, clock(time)?, zone(zone_name)), rest))
}

/// `Nov 25 09:46:40 ` (RFC 3164), with a year or decimals as some daemons write them.
fn bsd(line: &[u8]) -> Option<(Stamp, &[u8])> {
    let (first, behind) = word(line)?;
    if let Some(year) = stamp::number(first).filter(|_| first.len() == 4)
        && let Some((Stamp::Local { year: None, month, day, us }, rest)) = bsd(behind)
    {
        return Some((Stamp::Local { year: Some(year), month, day, us }, rest));
    }
    let (month_name, rest) = (first, behind);
    let month = month(month_name)?;
    // Days of one digit have a blank more.
    let (day, rest) = word(rest.trim_ascii_start())?;
    let day = stamp::number(day).filter(|day| (1..=31).contains(day))?;
    let (next, after) = word(rest)?;
    let (year, time, rest) = match stamp::number::<i32>(next).filter(|_| next.len() == 4) {
        Some(year) => word(after).map(|(time, rest)| (Some(year), time, rest))?,
        None => (None, next, after),
    };
    Some((Stamp::Local { year, month, day, us: clock(time)? }, rest))
}
