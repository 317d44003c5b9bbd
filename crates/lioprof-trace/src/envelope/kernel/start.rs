//! Where a line of the kernel starts in a line.

use lustre_debuglog::kernel_log::KernelLine;

use crate::envelope::prefix;

/// Longest prefix: a path, and the number of the line.
const MAX_PREFIX: usize = 512;

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// A line of the kernel starts here.
    Kernel(usize),
    /// A line with a time, of another program.
    Other,
    /// No line starts in it.
    None,
}

/// Where a line of the kernel starts; `usual`: where it did in the line before.
pub(crate) fn start(line: &[u8], usual: usize) -> Start {
    let usual = (usual > 0).then_some(usual).filter(|at| line.get(..*at).is_some());
    for at in [0].into_iter().chain(usual).chain(behind_signs(line)) {
        let rest = &line[at..];
        match KernelLine::parse(rest) {
            Some(KernelLine { stamp: None, .. }) if !is_of_program(&line[..at]) => continue,
            Some(_) => return Start::Kernel(at),
            None => {}
        }
        // What another program says may hold anything.
        if KernelLine::is_stamped(rest) {
            return Start::Other;
        }
    }
    Start::None
}

/// Whether a program has put this before a line: words of people may stand before words of Lustre.
fn is_of_program(prefix: &[u8]) -> bool {
    let is_sign = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_whitespace() || b">|:-*+\"`".contains(byte);
    prefix.iter().all(is_sign) || prefix.ends_with(b"kernel: ") || prefix::sender(prefix).is_some()
}

/// Places in a line where what programs put before lines may end, and a line may begin.
fn behind_signs(line: &[u8]) -> impl Iterator<Item = usize> {
    let head = &line[..line.len().min(MAX_PREFIX)];
    head.windows(2).enumerate().filter_map(|(at, two)| {
        let [before, first] = two else { return None };
        let is_sign = matches!(before, b':' | b' ' | b'\t' | b'>' | b'|' | b'-' | b']' | b'"' | b'`');
        let may_begin = matches!(first, b'[' | b'<' | b'0'..=b'9' | b'A'..=b'Z' | b'k');
        (is_sign && may_begin).then_some(at + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_behind_whatever_stands_before_it() {
        for line in [
            "[    1.000001] Lustre: x",
            "[Wed Nov 25 07:00:01 2026] Lustre: x",
            "Nov 25 07:00:01 oss07 kernel: Lustre: x",
            "2026-11-25T07:00:01.000000+01:00 oss07 kernel: Lustre: x",
            "<3>[    1.000001] Lustre: x",
            "kern  :err   : [    1.000001] Lustre: x",
            "3,1,1000001,-;Lustre: x",
            "1795590001.000000 oss07 kernel: Lustre: x",
            "Lustre: x",
        ] {
            for prefix in [
                "",
                "oss07: ",
                "oss07.site.org: ",
                "> ",
                ">> ",
                "    ",
                "\t",
                "17:",
                "   17\t",
                "logs/oss07.txt:",
                "/var/log/messages-20261122:17:",
                "kernel: ",
                "[oss07] ",
                "oss07 | ",
                "* ",
                "oss07 login: ",
            ] {
                // Without a stamp that is words of people.
                if prefix == "oss07 login: " && line.starts_with("Lustre") {
                    continue;
                }
                assert_eq!(
                    start(format!("{prefix}{line}").as_bytes(), 0),
                    Start::Kernel(prefix.len()),
                    "{prefix}{line}"
                );
            }
        }
    }

    #[test]
    fn what_other_programs_say_is_theirs() {
        for (line, want) in [
            ("Nov 25 07:00:01 oss07 systemd[1]: [    1.000001] Lustre: x", Start::Other),
            ("oss07: Nov 25 07:00:01 oss07 systemd[1]: x", Start::Other),
            ("1.000001] x", Start::None),
            ("we see this: it hangs", Start::None),
            ("then came Lustre: x", Start::None),
            ("see [1] and [2]", Start::None),
            ("", Start::None),
        ] {
            assert_eq!(start(line.as_bytes(), 0), want, "{line}");
        }
    }
}
