//! One line: stamp, host and the kernel's text.

use super::stamp::{self, Stamp, clock, date, is_weekday, month, zone};

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
            return Some(Self::behind(Some(stamp), without_caller(rest)));
        }
        if let Some((stamp, rest)) = dated(line) {
            // Behind the time of `dmesg --time-format iso` comes the text itself.
            return if is_of_lustre(rest) {
                Some(Self { stamp: Some(stamp), host: None, text: rest })
            } else {
                Self::of_syslog(stamp, rest)
            };
        }
        if let Some((stamp, rest)) = bsd(line) {
            return Self::of_syslog(stamp, rest);
        }
        is_of_lustre(line).then_some(Self { stamp: None, host: None, text: line })
    }

    /// Whether a line begins with a time, as lines of other programs do in a syslog, too.
    pub(super) fn is_stamped(line: &[u8]) -> bool {
        let line = without_priority(line);
        dated(line).is_some() || bsd(line).is_some()
    }

    /// `HOST kernel: text`, with `FACILITY.LEVEL` between; the stamp of the kernel may stand before the text, too.
    fn of_syslog(stamp: Stamp, rest: &'a [u8]) -> Option<Self> {
        let (host, rest) = word(rest)?;
        let (mut tag, mut rest) = word(rest)?;
        let is_facility = !tag.ends_with(b":")
            && tag.contains(&b'.')
            && tag.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'.');
        if is_facility {
            (tag, rest) = word(rest)?;
        }
        let name = tag.strip_suffix(b":")?;
        if name != b"kernel" && !name.starts_with(b"kernel[") {
            return None;
        }
        let text = bracketed(rest)
            .filter(|(stamp, _)| matches!(stamp, Stamp::Boot(_)))
            .map_or(rest, |(_, text)| without_caller(text));
        Some(Self { stamp: Some(stamp), host: Some(host), text })
    }

    /// Behind the kernel's own stamp; `journalctl -o short-monotonic` writes `HOST kernel: ` there.
    fn behind(stamp: Option<Stamp>, rest: &'a [u8]) -> Self {
        if let (Some(stamp), Some((host, tag))) = (stamp, word(rest))
            && tag.starts_with(b"kernel: ")
            && !host.ends_with(b":")
            && let Some(line) = Self::of_syslog(stamp, rest)
        {
            return line;
        }
        Self { stamp, host: None, text: rest }
    }
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

/// `[ 3933.759450] ` (`dmesg`), `[Wed Nov 25 09:46:40 2026] ` (`dmesg -T`).
fn bracketed(line: &[u8]) -> Option<(Stamp, &[u8])> {
    let inside = line.strip_prefix(b"[")?;
    let end = inside.get(..40).unwrap_or(inside).iter().position(|byte| *byte == b']')?;
    let (inside, rest) = inside.split_at_checked(end)?;
    let rest = rest.strip_prefix(b"]")?;
    let stamp = stamp::seconds(inside.trim_ascii()).filter(|_| inside.contains(&b'.')).map(Stamp::Boot);
    Some((stamp.or_else(|| ctime(inside))?, rest.strip_prefix(b" ").unwrap_or(rest)))
}

/// `Wed Nov 25 09:46:40 2026`.
fn ctime(text: &[u8]) -> Option<Stamp> {
    let mut words = text.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    is_weekday(words.next()?).then_some(())?;
    let (month, day) = (month(words.next()?)?, stamp::number(words.next()?)?);
    let (us, year) = (clock(words.next()?)?, stamp::number(words.next()?)?);
    Some(Stamp::Local { year: Some(year), month, day, us })
}

/// Without `[T1234]`, `[ C3]`: thread or CPU that logged (`CONFIG_PRINTK_CALLER`).
fn without_caller(rest: &[u8]) -> &[u8] {
    let caller = || {
        let inside = rest.strip_prefix(b"[")?;
        let end = inside.get(..12).unwrap_or(inside).iter().position(|byte| *byte == b']')?;
        let [b'T' | b'C', digits @ ..] = inside.get(..end)?.trim_ascii() else { return None };
        let _: u32 = stamp::number(digits)?;
        let rest = inside.get(end + 1..)?;
        Some(rest.strip_prefix(b" ").unwrap_or(rest))
    };
    caller().unwrap_or(rest)
}

/// A date and a time.
fn dated(line: &[u8]) -> Option<(Stamp, &[u8])> {
    iso(line).or_else(|| unix(line)).or_else(|| with_weekday(line))
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
    let (month_name, rest) = word(line)?;
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
