//! The frame of a page: head, security policy, styles, scripts, data. Any kind of page fits in.

use std::io::{self, Write};

use lioprof_model::units::RULES;
use serde::Serialize;

/// Notices that the page carries, of what it was made of.
pub const NOTICE: &str = include_str!("../web/NOTICE.txt");

const FRAME: &str = include_str!("../web/page.html");
const STYLES: &str = include_str!(concat!(env!("OUT_DIR"), "/app.css"));
const ECHARTS: &str = include_str!(concat!(env!("OUT_DIR"), "/echarts.js"));

/// The scripts of a kind of page, and their hash.
#[derive(Clone, Copy)]
pub(crate) struct App {
    script: &'static str,
    sha256: &'static str,
}

/// Shows an analysis.
pub(crate) const REPORT: App =
    App { script: include_str!(concat!(env!("OUT_DIR"), "/report.js")), sha256: env!("LIOPROF_REPORT_SHA256") };
/// Shows a comparison.
pub(crate) const COMPARISON: App =
    App { script: include_str!(concat!(env!("OUT_DIR"), "/comparison.js")), sha256: env!("LIOPROF_COMPARISON_SHA256") };

/// Shows clients' operations.
pub(crate) const OPERATIONS: App =
    App { script: include_str!(concat!(env!("OUT_DIR"), "/operations.js")), sha256: env!("LIOPROF_OPERATIONS_SHA256") };

/// A page to be.
pub(crate) struct Page<'a, T> {
    /// Title of the window.
    pub(crate) title: &'a str,
    /// What it says, in a sentence.
    pub(crate) description: &'a str,
    /// What makes it of the data.
    pub(crate) app: App,
    /// What it shows.
    pub(crate) data: &'a T,
}

impl<T: Serialize> Page<'_, T> {
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let data = inert(&serde_json::to_string(self.data)?);
        let rules = inert(&serde_json::to_string(&RULES)?);
        let (title, description) = (escaped(self.title), escaped(self.description));
        let policy = policy(self.app);
        let mut rest = FRAME;
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, after) = after.split_once("}}").expect("the frame closes what it opens");
            out.write_all(before.as_bytes())?;
            out.write_all(match name {
                "policy" => policy.as_bytes(),
                "title" => title.as_bytes(),
                "description" => description.as_bytes(),
                "styles" => STYLES.as_bytes(),
                "notice" => NOTICE.as_bytes(),
                "rules" => rules.as_bytes(),
                "data" => data.as_bytes(),
                "echarts" => ECHARTS.as_bytes(),
                "app" => self.app.script.as_bytes(),
                other => unreachable!("the frame asks for {other}"),
            })?;
            rest = after;
        }
        out.write_all(rest.as_bytes())
    }
}

/// Nothing is fetched, and nothing runs but the two scripts that were built in. Styles cannot be held to hashes: the
/// charting library sets some on its elements.
fn policy(app: App) -> String {
    format!(
        "default-src 'none'; script-src 'sha256-{}' 'sha256-{}'; style-src 'unsafe-inline'; img-src data:; \
         base-uri 'none'; form-action 'none'",
        env!("LIOPROF_ECHARTS_SHA256"),
        app.sha256,
    )
}

/// JSON that cannot end its element: `<` only occurs within strings.
fn inert(json: &str) -> String {
    json.replace('<', "\\u003c")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(data: &str) -> String {
        let mut out = Vec::new();
        Page { title: "a <b> & \"c\"", description: "d", app: REPORT, data: &data }.write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn data_cannot_leave_their_element() {
        let page = page("</script><script>alert(1)</script><!-- \u{2028}");
        let json = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
        assert_eq!(serde_json::from_str::<String>(json).unwrap(), "</script><script>alert(1)</script><!-- \u{2028}");
        assert!(page.contains("<title>a &lt;b&gt; &amp; &quot;c&quot;</title>"));
    }

    #[test]
    fn scripts_are_as_the_policy_has_them() {
        // A script that holds the end of its own element would be cut off, and its hash would not match.
        for script in [ECHARTS, REPORT.script, COMPARISON.script, OPERATIONS.script] {
            assert!(!script.to_ascii_lowercase().contains("</script"));
        }
        let page = page("");
        assert_eq!(page.matches("<script").count(), 4, "how numbers are written, the data, the library, our own");
        assert!(!page.contains("{{"), "everything is filled in");
    }

    #[test]
    fn the_library_is_of_the_version_that_is_told() {
        assert!(ECHARTS.contains(&format!("version=\"{}\"", crate::ECHARTS_VERSION)));
    }

    #[test]
    fn the_page_names_nothing_to_fetch() {
        let frame = FRAME.to_ascii_lowercase();
        for word in ["src=", "href=\"http", "url(", "@import"] {
            assert!(!frame.contains(word) && !STYLES.to_ascii_lowercase().contains(word), "{word}");
        }
    }
}
