//! Other messages: client connections and evictions by the pinger.

use super::malformed::parsed;
use super::number::{Res, all_of, complete, field, int, nid, split_peer, stop, until, word};

/// `TARGET: haven't heard from client UUID (at NID) in N seconds. I think it's dead, and I am evicting it. ...`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PingEviction<'a> {
    /// Name of the target that evicts the client, as printed.
    pub target: &'a [u8],
    /// Client uuid.
    pub client_uuid: &'a [u8],
    /// Client NID.
    pub nid: &'a [u8],
    /// Seconds since the client was last heard from.
    pub silent_s: i64,
}

/// `TARGET: connection from UUID@NID ...` (mask ha).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection<'a> {
    /// Name of the target that the client connects to, as printed.
    pub target: &'a [u8],
    /// Client uuid.
    pub client_uuid: &'a [u8],
    /// Client NID.
    pub nid: &'a [u8],
}

parsed! {
    /// Parses `TARGET: haven't heard from client ...`.
    PingEviction<'a> = |text| complete("ping eviction", text, ping_eviction(text));
    /// Parses `TARGET: connection from ...`.
    Connection<'a> = |text| complete("connection", text, connection(text));
}

/// `%s: haven't heard from client %s (at %s) in %lld seconds. I think ...` (`pinger.c`,
/// `ping_evictor_main`). What follows names times that `in` already says.
fn ping_eviction(i: &[u8]) -> Res<'_, PingEviction<'_>> {
    let (i, target) = field(i, b"", until::<b':', b' '>, b": haven't heard from client ")?;
    let (i, client_uuid) = word(i)?;
    let (i, nid) = field(i, b" (at ", nid, b") in ")?;
    let (i, silent_s) = field(i, b"", int, b" seconds.")?;
    all_of(i, PingEviction { target, client_uuid, nid, silent_s })
}

/// `%s: connection from %s@%s %st%llu exp %p cur %lld last %lld` (`ldlm_lib.c`, `target_handle_connect`).
fn connection(i: &[u8]) -> Res<'_, Connection<'_>> {
    let (i, target) = field(i, b"", until::<b':', b' '>, b": connection from ")?;
    let (rest, peer) = word(i)?;
    let Some((client_uuid, nid)) = split_peer(peer) else { return stop(i) };
    all_of(rest, Connection { target, client_uuid, nid })
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &[u8] = b"915124bc-2271-4006-a628-2d0ce9f3e6fb";

    #[test]
    fn ping_eviction_2_17() {
        let text =
            b"lustre-OST0000: haven't heard from client 915124bc-2271-4006-a628-2d0ce9f3e6fb (at 10.10.0.13@tcp) \
            in 102 seconds. I think it's dead, and I am evicting it. exp 000000007a1c73ca, cur 1 deadline 2 last 3";
        let want = PingEviction { target: b"lustre-OST0000", client_uuid: UUID, nid: b"10.10.0.13@tcp", silent_s: 102 };
        assert_eq!(PingEviction::parse(text), Ok(want));
    }

    #[test]
    fn ping_eviction_near_misses() {
        for text in [
            "lustre-OST0000: haven't heard from client u (at 10.10.0.13@tcp) in",
            "lustre-OST0000: haven't heard from client u at 10.10.0.13@tcp in 1 seconds.",
            "lustre-OST0000: haven't heard from client  (at 10.10.0.13@tcp) in 1 seconds.",
        ] {
            assert_eq!(PingEviction::parse(text.as_bytes()).unwrap_err().kind, "ping eviction", "{text}");
        }
    }

    #[test]
    fn connection_of_a_client_and_of_a_server() {
        let text = b"lustre-MDT0000: connection from 915124bc-2271-4006-a628-2d0ce9f3e6fb@10.10.0.13@tcp t0 exp 0000000000000000 cur 3177 last 0";
        let want = Connection { target: b"lustre-MDT0000", client_uuid: UUID, nid: b"10.10.0.13@tcp" };
        assert_eq!(Connection::parse(text), Ok(want));
        let text = b"MGS: connection from MGC10.0.0.1@tcp_UUID@fe80::1@o2ib3 recovering/t17 exp 0 cur 1 last 0";
        let want = Connection { target: b"MGS", client_uuid: b"MGC10.0.0.1@tcp_UUID", nid: b"fe80::1@o2ib3" };
        assert_eq!(Connection::parse(text), Ok(want));
    }

    #[test]
    fn connection_near_misses() {
        for text in ["a: connection from ", "a: connection from u t0", "a: connection from u@tcp t0"] {
            assert_eq!(Connection::parse(text.as_bytes()).unwrap_err().kind, "connection", "{text}");
        }
    }
}
