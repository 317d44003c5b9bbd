//! Texts in CSV files.

/// A text as a cell.
pub(crate) fn quote(text: &str, out: &mut Vec<u8>) {
    let plain = !text.is_empty()
        && !text.bytes().any(|byte| matches!(byte, b'"' | b',' | b'\n' | b'\r'))
        && !text.starts_with(' ')
        && !text.ends_with(' ');
    if plain {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    out.push(b'"');
    for byte in text.bytes() {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}
