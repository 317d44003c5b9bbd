//! The manual page of a configuration file, made of the sample that documents it.

use clap_mangen::roff::{Inline, Roff, bold, roman};

use crate::man::MANUAL;

/// A configuration file with a manual page. In the sample, comments stand in front of the keys that they explain; those in front of an
/// empty line are about the whole section, or the whole file.
#[derive(Debug, Clone, Copy)]
pub struct ConfigPage<'a> {
    /// Of the page and the file: `lioprof.toml`.
    pub name: &'a str,
    /// In a few words.
    pub about: &'a str,
    /// Where the file lies.
    pub path: &'a str,
    /// The sample, TOML.
    pub sample: &'a str,
    /// What to read next: `lioprof-daemon(1)`.
    pub see_also: &'a [&'a str],
}

impl ConfigPage<'_> {
    /// The page, in the language of man.
    pub(crate) fn render(&self, source: &str) -> String {
        let mut roff = Roff::new();
        roff.control("TH", [self.name, "5", "", source, MANUAL]);
        roff.control("SH", ["NAME"]);
        roff.text([roman(format!("{} - {}", self.name, self.about))]);
        roff.control("SH", ["SYNOPSIS"]);
        roff.text([bold(self.path)]);
        roff.control("SH", ["DESCRIPTION"]);
        let mut comment = Vec::new();
        let mut keys = Vec::new();
        for line in self.sample.lines().map(str::trim).chain([""]) {
            if !keys.is_empty() && !is_key(line) {
                entry(&mut roff, &mut keys, &mut comment);
            }
            if let Some(text) = line.strip_prefix('#') {
                comment.push(text.trim());
            } else if let Some(section) = line.strip_prefix('[') {
                paragraph(&mut roff, &mut comment);
                roff.control("SH", [format!("[{section}").as_str()]);
            } else if is_key(line) {
                keys.push(line);
            } else {
                paragraph(&mut roff, &mut comment);
            }
        }
        roff.control("SH", ["SEE ALSO"]);
        roff.text([roman(self.see_also.join(", "))]);
        roff.to_roff()
    }
}

/// `key = value`
fn is_key(line: &str) -> bool {
    !line.starts_with(['#', '[']) && line.contains('=')
}

/// Text about all that follows.
fn paragraph(roff: &mut Roff, comment: &mut Vec<&str>) {
    if !comment.is_empty() {
        roff.control("PP", []);
        roff.text(text(comment));
    }
}

/// Keys, and what stood in front of them.
fn entry(roff: &mut Roff, keys: &mut Vec<&str>, comment: &mut Vec<&str>) {
    for (at, key) in keys.drain(..).enumerate() {
        roff.control(if at == 0 { "TP" } else { "TQ" }, []);
        roff.text([bold(key)]);
    }
    roff.text(text(comment));
}

fn text(comment: &mut Vec<&str>) -> Vec<Inline> {
    vec![roman(std::mem::take(comment).join("\n"))]
}

#[cfg(test)]
mod tests {
    use super::ConfigPage;

    const SAMPLE: &str = "\
# About the file.
# More of it.

[first]
# What one is:
# 'quoted'.
one = \"a\"

[second]
# About the section.

# Both.
two = 2
.three = 3
";

    #[test]
    fn every_key_with_what_is_said_of_it() {
        let page =
            ConfigPage { name: "x.toml", about: "a file", path: "/etc/x.toml", sample: SAMPLE, see_also: &["x(1)"] };
        let text = page.render("x 1");
        let body = text.split_once(".SH DESCRIPTION\n").unwrap().1;
        let expected = "\
.PP
About the file.
More of it.
.SH [first]
.TP
\\fBone = \"a\"\\fR
What one is:
\\&'quoted'.
.SH [second]
.PP
About the section.
.TP
\\fBtwo = 2\\fR
.TQ
\\fB.three = 3\\fR
Both.
.SH \"SEE ALSO\"
x(1)
";
        assert_eq!(body, expected);
    }
}
