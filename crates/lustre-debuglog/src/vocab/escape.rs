use std::fmt::{self, Write};

/// Writes bytes as text: what is not UTF-8, and the characters that `odd` says, become `\xHH`.
///
/// # Errors
/// Those of `out`.
pub fn escape(out: &mut impl Write, bytes: &[u8], odd: impl Fn(char) -> bool) -> fmt::Result {
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if odd(c) { hex(out, c.encode_utf8(&mut [0; 4]).as_bytes())? } else { out.write_char(c)? }
        }
        hex(out, chunk.invalid())?;
    }
    Ok(())
}

fn hex(out: &mut impl Write, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(out, "\\x{byte:02x}"))
}
