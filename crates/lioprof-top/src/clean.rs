//! Texts that a terminal can be given.

/// The text without anything that a terminal would obey: names come from logs, and whoever runs a job names it.
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(|c| if is_plain(c) { c } else { '\u{fffd}' }).collect()
}

/// Neither a control character nor one that changes the direction or the place of others.
fn is_plain(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_replaced() {
        assert_eq!(clean("a\x1b[31mb\r\n\u{9b}c\u{202e}d"), "a\u{fffd}[31mb\u{fffd}\u{fffd}\u{fffd}c\u{fffd}d");
        assert_eq!(clean("10.0.0.1@o2ib"), "10.0.0.1@o2ib");
    }
}
