//! Headings of blocks: which host the lines below come from.
//!
//! | made by | heading |
//! |---|---|
//! | `clush -b`, `dshbak` | the host between two lines of dashes |
//! | `head`, `tail` of several files | `==> oss01.txt <==` |
//! | ansible | `oss01 \| CHANGED \| rc=0 >>`, `ok: [oss01] => ..` |
//! | people, shells | `### oss01 ###`, `oss01:`, `[root@oss01 ~]# lctl dk`, `ssh oss01 lctl dk` |

use lustre_debuglog::TargetName;

use super::prefix::{Sender, is_host, named};

/// Words before a number that are headings of notes, not hosts.
const NO_STEMS: [&str; 57] = [
    "run",
    "test",
    "step",
    "case",
    "part",
    "phase",
    "try",
    "attempt",
    "before",
    "after",
    "job",
    "iter",
    "iteration",
    "v",
    "rc",
    "lu",
    "day",
    "time",
    "dump",
    "log",
    "chapter",
    "section",
    "read",
    "write",
    "exp",
    "experiment",
    "q",
    "t",
    "scenario",
    "page",
    "sr",
    "ddn",
    "ticket",
    "bug",
    "issue",
    "inc",
    "fig",
    "figure",
    "table",
    "example",
    "item",
    "round",
    "sample",
    "set",
    "trial",
    "el",
    "rhel",
    "sles",
    "ubuntu",
    "ior",
    "fio",
    "mdtest",
    "md",
    "ib",
    "eth",
    "bond",
    "sd",
];

/// Commands that show a file, whoever's it is: the prompt before them is of the machine where somebody looked at it.
const SHOW_FILES: [&str; 17] = [
    "awk", "bzcat", "cat", "cut", "egrep", "fgrep", "grep", "head", "less", "lioprof", "more", "sed", "sort", "tail",
    "xzcat", "zcat", "zstdcat",
];

/// What a line is that does not begin a record.
pub(crate) enum Between<'a> {
    /// It says who the lines below come from.
    Heading(Sender<&'a str>),
    /// A row of dashes or other signs. No message has one, so it is no rest of the record above.
    Rule,
    /// The rest of the record above, or nothing of the log.
    Other,
}

/// Follows the lines that are no part of a log.
#[derive(Debug, Default)]
pub(crate) struct Headings {
    /// The line before was a rule, `-----`.
    below_rule: bool,
}

impl Headings {
    /// A line of the log came.
    pub(crate) fn record(&mut self) {
        self.below_rule = false;
    }

    /// Whether the line before was a rule.
    pub(crate) fn is_below_rule(&self) -> bool {
        self.below_rule
    }

    /// What `line` is; `may_go_on`: the record above is not whole yet, so a line may be its rest, whatever it looks like. Not below a rule.
    pub(crate) fn between<'a>(&mut self, line: &'a [u8], may_go_on: impl FnOnce() -> bool) -> Between<'a> {
        let below_rule = self.below_rule;
        match self.line(line) {
            Some(sender) if below_rule || !may_go_on() => Between::Heading(sender),
            _ if self.below_rule => Between::Rule,
            _ => Between::Other,
        }
    }

    /// The host or file that the lines below come from, if `line` says so.
    pub(crate) fn line<'a>(&mut self, line: &'a [u8]) -> Option<Sender<&'a str>> {
        let below_rule = std::mem::take(&mut self.below_rule);
        let line = std::str::from_utf8(line).ok()?.trim();
        if line.is_empty() || line.len() > 512 {
            return None;
        }
        if is_rule(line) {
            self.below_rule = line.len() >= 5;
            return None;
        }
        if below_rule {
            // `oss01 (1)` in some versions; a set of hosts with the same output is not one server.
            let host = line.strip_suffix(" (1)").unwrap_or(line);
            return is_host(host).then_some(Sender::Host(host));
        }
        heading(line)
    }
}

/// Whether a line is a sign, repeated.
pub(crate) fn is_rule(line: &str) -> bool {
    line.len() >= 3 && ['-', '=', '*', '#', '_', '~'].iter().any(|sign| line.chars().all(|c| c == *sign))
}

fn heading(line: &str) -> Option<Sender<&str>> {
    let host = |name| is_host(name).then_some(Sender::Host(name));
    if let Some(name) = line.strip_prefix("==> ").and_then(|rest| rest.strip_suffix(" <==")) {
        return named(name);
    }
    // ansible: ad hoc, and tasks.
    if let Some((name, rest)) = line.split_once(" | ")
        && ["CHANGED", "SUCCESS", "success", "FAILED", "UNREACHABLE"].iter().any(|word| rest.starts_with(word))
    {
        return host(name);
    }
    for state in ["ok: [", "changed: [", "fatal: ["] {
        if let Some((name, _)) = line.strip_prefix(state).and_then(|rest| rest.split_once(']')) {
            return host(name);
        }
    }
    // A prompt: `[root@oss01 ~]# `, `root@oss01:~# `.
    let prompt = line.strip_prefix('[').unwrap_or(line);
    if let Some((user, rest)) = prompt.split_once('@')
        && is_host(user)
        && let Some(end) = rest.find([' ', ':', ']', '#', '$'])
        && let Some((_, command)) = rest.split_once(['#', '$'])
    {
        let command = command.trim_start().trim_start_matches("sudo ");
        let first = command.split_ascii_whitespace().next().unwrap_or_default();
        return match remote(command) {
            Some(name) => host(name),
            None if SHOW_FILES.contains(&first) => None,
            // Several hosts: each line says whose it is.
            None if matches!(first, "pdsh" | "clush" | "ansible" | "salt") => None,
            None => host(&rest[..end]),
        };
    }
    let command = line.trim_start_matches(['#', '$', '%', '>', ' ']);
    if let Some(name) = remote(command) {
        return host(name);
    }
    // `### oss01 ###`, `--- oss01 ---`, `# oss01`, `[oss01]`, `oss01:`, `Host: oss01`: a single word, which must look like a host, because
    // remarks look like this, too.
    if line.starts_with('<') {
        return None;
    }
    let signs = ['#', '=', '*', '-', '_', '~', '[', ']', '>', ':', ' '];
    let word = line.trim_matches(signs);
    let word = ["host ", "host:", "hostname:", "node ", "node:", "server ", "server:"]
        .iter()
        .find_map(|label| {
            word.get(..label.len()).filter(|start| start.eq_ignore_ascii_case(label)).map(|_| &word[label.len()..])
        })
        .map_or(word, str::trim);
    // A quoted word is none: some editors put `> ` before the rest of a line that they broke.
    let is_set_off = word.len() < line.trim_start_matches(['>', ' ']).len();
    let stem = word.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default().to_ascii_lowercase();
    let is_name_of_target = TargetName::parse_bytes(word.as_bytes()).is_some();
    // `obdfilter.lustre-OST0000.stats=`: a parameter, and its value below.
    let is_parameter = line.ends_with('=') && !line.starts_with('=');
    // An id of a request.
    let is_xid = word.strip_prefix('x').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let looks_like_one = word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.contains(|c: char| c.is_ascii_digit())
        && !is_name_of_target
        && !is_parameter
        && !is_xid
        && !NO_STEMS.iter().any(|no| stem == *no || no.len() > 2 && stem.strip_suffix('s') == Some(no));
    if !is_set_off || word.contains(' ') || !(looks_like_one || word.starts_with('/') && named(word).is_some()) {
        return None;
    }
    named(word)
}

/// The host on which a command runs others.
fn remote(command: &str) -> Option<&str> {
    let rest = command.strip_prefix("ssh ")?;
    let name = rest.split_ascii_whitespace().find(|word| !word.starts_with('-'))?;
    Some(name.rsplit('@').next().unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[&str]) -> Option<Sender> {
        let mut headings = Headings::default();
        lines.iter().filter_map(|line| headings.line(line.as_bytes()).map(|sender| sender.owned())).last()
    }

    #[test]
    fn each_tools_headings() {
        for lines in [
            &["---------------", "oss01", "---------------"][..],
            &["----------------", "oss01 (1)", "----------------"],
            &["==> oss01 <=="],
            &["oss01 | CHANGED | rc=0 >>"],
            &["oss01 | SUCCESS => {"],
            &["changed: [oss01] => {"],
            &["[root@oss01 ~]# lctl dk"],
            &["root@oss01:~# lctl dk"],
            &["$ ssh -q root@oss01 lctl dk"],
            &["[alice@login1 ~]$ ssh oss01 lctl dk"],
            &["[root@oss01 ~]# sudo lctl dk > /tmp/dk"],
            &["### oss01 ###"],
            &["=== oss01 ==="],
            &["# oss01"],
            &["[oss01]"],
            &["### oss01 ###"],
            &["oss01:"],
            &["Host: oss01"],
        ] {
            assert_eq!(of(lines), Some(Sender::Host("oss01".to_owned())), "{lines:?}");
        }
        assert_eq!(of(&["==> logs/oss01.txt <=="]), Some(Sender::File("logs/oss01.txt".to_owned())));
    }

    #[test]
    fn remarks_are_no_headings() {
        for line in [
            "",
            "---",
            "-----",
            "## Notes",
            "Here the client writes:",
            "```",
            "oss01",
            "</pre>",
            "Text:",
            "# what happened",
            "> see below",
            "> n3.0",
            "at 09:46:40 it hung",
            "-----BEGIN LOG-----",
            "### run7 ###",
            "### write4m ###",
            "## exp1",
            "Q1:",
            "## SR12345",
            "## DDN-4711",
            "### ior.1017 ###",
            "[x1882459186719936]",
            "lustre-OST0001:",
            "obdfilter.lustre-OST0000.stats=",
            "md127:",
            "__schedule+0x34d/0xa00",
            "[alice@laptop7 case]$ cat dk.txt",
            "[alice@login1 ~]$ pdsh -w oss[01-04] lctl dk",
            "10.014:",
            "[1.1s]",
            "# step 2",
            "tests3:",
            "2.15.3:",
            "v2:",
        ] {
            assert_eq!(of(&[line]), None, "{line}");
        }
    }
}
