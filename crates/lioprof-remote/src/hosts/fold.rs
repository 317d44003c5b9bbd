//! Writing names as a list again.

/// Neighbours that differ in their last number alone and count upwards are written as a range.
pub(super) fn fold<S: AsRef<str>>(names: &[S]) -> String {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for name in names {
        let name = name.as_ref();
        let joined = groups.last_mut().is_some_and(|group| group.take(name));
        if !joined {
            groups.push(Group::of(name));
        }
    }
    let texts: Vec<String> = groups.iter().map(Group::text).collect();
    texts.join(",")
}

/// Names with the same text before and after the last number.
struct Group<'a> {
    before: &'a str,
    after: &'a str,
    /// First and last number of each range; empty if there is no number.
    ranges: Vec<(u64, u64)>,
    /// Digits, filled up with zeros; 1 if numbers have none before them.
    digits: usize,
}

impl<'a> Group<'a> {
    fn of(name: &'a str) -> Self {
        match last_number(name) {
            Some((before, digits, after)) => {
                let width = if digits.starts_with('0') { digits.len() } else { 1 };
                match digits.parse() {
                    Ok(number) => Self { before, after, ranges: vec![(number, number)], digits: width },
                    Err(_) => Self { before: name, after: "", ranges: Vec::new(), digits: 1 },
                }
            }
            None => Self { before: name, after: "", ranges: Vec::new(), digits: 1 },
        }
    }

    /// Adds a name, if it belongs here.
    fn take(&mut self, name: &str) -> bool {
        let Some((before, digits, after)) = last_number(name) else { return false };
        let Ok(number) = digits.parse::<u64>() else { return false };
        let width = self.digits;
        let Some((_, last)) = self.ranges.last_mut() else { return false };
        // The number would be written as it stands here.
        if (before, after) != (self.before, self.after) || format!("{number:0width$}") != digits || number <= *last {
            return false;
        }
        if number == *last + 1 {
            *last = number;
        } else {
            self.ranges.push((number, number));
        }
        true
    }

    fn text(&self) -> String {
        let Self { before, after, ranges, digits } = self;
        let width = *digits;
        let range = |&(first, last): &(u64, u64)| {
            if first == last { format!("{first:0width$}") } else { format!("{first:0width$}-{last:0width$}") }
        };
        match ranges.as_slice() {
            [] => (*before).to_owned(),
            [(first, last)] if first == last => format!("{before}{first:0width$}{after}"),
            _ => {
                let ranges: Vec<String> = ranges.iter().map(range).collect();
                format!("{before}[{}]{after}", ranges.join(","))
            }
        }
    }
}

/// The text before the last number of a name's first label, the number, and the rest.
fn last_number(name: &str) -> Option<(&str, &str, &str)> {
    // The number of a host, not one of its domain; in an address it is the last one.
    let label = match name.split_once('.') {
        Some((label, _)) if label.contains(|c: char| c.is_ascii_alphabetic()) => label.len(),
        _ => name.len(),
    };
    let end = name[..label].rfind(|c: char| c.is_ascii_digit())? + 1;
    let begin = name[..end].trim_end_matches(|c: char| c.is_ascii_digit()).len();
    // Longer numbers are refused in brackets.
    (end - begin <= 18).then(|| (&name[..begin], &name[begin..end], &name[end..]))
}
