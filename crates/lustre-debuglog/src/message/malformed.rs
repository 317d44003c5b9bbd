//! Lines that begin like a message and go on differently.

/// Where and as what a text failed to parse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Malformed {
    /// The kind that its first words announced, for example `Handled RPC`.
    pub kind: &'static str,
    /// Offset in the message at which the parser gave up.
    pub offset: usize,
}

/// Strips the process-id prefix of a peer id: `12345-10.0.0.1@tcp` gives `10.0.0.1@tcp`
/// (also `U123-` of user-space peers and `LNET_PID_ANY-`).
#[must_use]
pub fn strip_process_id(peer: &[u8]) -> &[u8] {
    if let Some(rest) = peer.strip_prefix(b"LNET_PID_ANY-") {
        return rest;
    }
    let digits = peer.strip_prefix(b"U").unwrap_or(peer);
    let len = digits.iter().take_while(|b| b.is_ascii_digit()).count();
    match digits.get(len) {
        Some(b'-') if len > 0 => digits.get(len + 1..).unwrap_or(peer),
        _ => peer,
    }
}

/// `rest` is a part of `text`, not always its end, so lengths do not tell where it begins.
#[cold]
pub(super) fn malformed(kind: &'static str, text: &[u8], rest: &[u8]) -> Malformed {
    let offset = rest.as_ptr().addr().wrapping_sub(text.as_ptr().addr()).min(text.len());
    Malformed { kind, offset }
}
