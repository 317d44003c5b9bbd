//! Errors on one line.

use std::error::Error;

/// An error and its causes, with colons in between; a cause that the text has already is not repeated.
///
/// ```
/// let error = std::io::Error::other("the disk is full");
/// assert_eq!(lioprof_model::with_causes(&error), "the disk is full");
/// ```
#[must_use]
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text.push_str(": ");
            text.push_str(&next);
        }
        cause = error.source();
    }
    text
}
