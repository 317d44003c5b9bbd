//! The kernel's own count of lock conflicts (`ldlm_extent.c`).

use super::super::Malformed;
use super::super::number::{Res, complete, dec_u32, field, int, resource};
use crate::ResourceId;

/// The kernel's own count of conflicts on a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contention {
    /// `contended locks = N` (to 2.17.54): conflicting locks counted for the current enqueue.
    Count(u32),
    /// `add N to RES since=Ns v=(A B)` (2.17.55 and later): sliding window per resource.
    Window {
        /// Conflicts added now.
        added: u32,
        /// Resource on which the conflicts were counted.
        resource: ResourceId,
        /// Seconds since the window was last shifted.
        since_s: i64,
        /// The two halves of the window.
        window: (u32, u32),
    },
}

impl Contention {
    /// Parses `contended locks = N` and `add N to RES since=Ns v=(A B)`.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, Malformed> {
        complete("contention", text, if text.starts_with(b"add ") { window(text) } else { count(text) })
    }
}

/// `contended locks = %d`.
fn count(i: &[u8]) -> Res<'_, Contention> {
    field(i, b"contended locks = ", dec_u32, b"").map(|(rest, locks)| (rest, Contention::Count(locks)))
}

/// `add %d to [res] since=%us v=(%u %u)`.
fn window(i: &[u8]) -> Res<'_, Contention> {
    let (i, added) = field(i, b"add ", dec_u32, b" to ")?;
    let (i, resource) = field(i, b"", resource, b" since=")?;
    let (i, since_s) = field(i, b"", int, b"s v=(")?;
    let (i, first) = field(i, b"", dec_u32, b" ")?;
    let (i, second) = field(i, b"", dec_u32, b")")?;
    Ok((i, Contention::Window { added, resource, since_s, window: (first, second) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn count_to_2_17_54() {
        assert_eq!(Contention::parse(b"contended locks = 17"), Ok(Contention::Count(17)));
        assert!(Contention::parse(b"contended locks = -1").is_err());
        assert!(Contention::parse(b"contended locks = ").is_err());
    }

    #[test]
    fn window_2_17_55_and_later() {
        let want = Contention::Window {
            added: 3,
            resource: ResourceId([0x2_8000_0400, 3, 0, 0]),
            since_s: 919,
            window: (5, 8),
        };
        assert_eq!(Contention::parse(b"add 3 to [0x280000400:0x3:0x0].0x0 since=919s v=(5 8)"), Ok(want));
        for text in [
            "add 3 to [0x280000400:0x3:0x0].0x0 since=919s v=(5 8",
            "add 3 to [0x280000400:0x3:0x0] since=919s v=(5 8)",
            "add x to [0x280000400:0x3:0x0].0x0 since=919s v=(5 8)",
        ] {
            assert_eq!(Contention::parse(text.as_bytes()).unwrap_err().kind, "contention", "{text}");
        }
    }
}
