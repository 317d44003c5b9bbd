//! IPv4 addresses: who is in one /24 stays in one.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use rustc_hash::FxHashSet;

use super::table::Table;
use crate::key::Key;
use crate::kind::Kind;

/// Gives each address another one of the same /24 that none of `names` has. Where a /24 has more of them than free ones, all of it
/// moves to another /24 of the same /16 that holds none, or, if there is none, to any.
pub(super) fn assign(key: &Key, names: &BTreeSet<Box<[u8]>>) -> Table {
    let mut table = Table::default();
    let mut subnets: BTreeMap<[u8; 3], BTreeSet<u8>> = BTreeMap::new();
    for name in names {
        let address: Option<Ipv4Addr> = std::str::from_utf8(name).ok().and_then(|name| name.parse().ok());
        match address {
            Some(address) if !stays(address) => {
                let [a, b, c, host] = address.octets();
                subnets.entry([a, b, c]).or_default().insert(host);
            }
            _ => {
                table.insert(name.clone(), name.clone());
            }
        }
    }
    let mut taken: FxHashSet<[u8; 3]> = subnets.keys().copied().collect();
    for (subnet, hosts) in &subnets {
        let free = free_hosts(hosts);
        let (to, pool) = if free.len() >= hosts.len() {
            (*subnet, free)
        } else {
            (another_subnet(key, *subnet, &mut taken), (0..=255).collect())
        };
        permute(key, *subnet, hosts, to, pool, &mut table);
    }
    table
}

/// Addresses that are nobody's: this host, none, all.
fn stays(address: Ipv4Addr) -> bool {
    address.is_loopback() || address.is_unspecified() || address.is_broadcast()
}

/// Hosts that are in no address, not even as its beginning (`10.0.0.1` is in `10.0.0.17`), if there are enough of them.
fn free_hosts(hosts: &BTreeSet<u8>) -> Vec<u8> {
    let all = || (1..=254).filter(|host| !hosts.contains(host));
    let texts: Vec<String> = hosts.iter().map(u8::to_string).collect();
    let clean: Vec<u8> = all().filter(|host| !texts.iter().any(|text| host.to_string().starts_with(text))).collect();
    if clean.len() >= hosts.len() { clean } else { all().collect() }
}

fn another_subnet(key: &Key, [a, b, c]: [u8; 3], taken: &mut FxHashSet<[u8; 3]>) -> [u8; 3] {
    let attempts = (0..100_000).map(|attempt: u32| {
        let digest = key.digest(Kind::V4, attempt, &[a, b, c]);
        // Near ones first.
        match attempt {
            0..4096 => [a, b, digest[0]],
            4096..65_536 => [a, digest[1], digest[0]],
            _ => [digest[2] % 223 + 1, digest[1], digest[0]],
        }
    });
    let mut free = attempts.filter(|subnet| !taken.contains(subnet) && subnet[0] != 127);
    // Millions of subnets would have to be in one log.
    let subnet = free.next().unwrap_or([a, b, c]);
    taken.insert(subnet);
    subnet
}

/// Gives each host of a subnet one of `pool` in the subnet `to`.
fn permute(key: &Key, subnet: [u8; 3], hosts: &BTreeSet<u8>, to: [u8; 3], mut pool: Vec<u8>, table: &mut Table) {
    let text = |[a, b, c]: [u8; 3], host: u8| Ipv4Addr::new(a, b, c, host).to_string().into_bytes().into_boxed_slice();
    for &host in hosts {
        let name = text(subnet, host);
        // The same key gives the same host in another set of names, too, unless it is not free there.
        let wished = (0..64).map(|attempt| key.digest(Kind::V4, attempt, &name)[0]);
        let place = wished.filter_map(|wish| pool.iter().position(|free| *free == wish)).next();
        let place = place.unwrap_or_else(|| usize::from(key.digest(Kind::V4, 0, &name)[1]) % pool.len().max(1));
        // There are at least as many free hosts as hosts.
        let new = if place < pool.len() { pool.remove(place) } else { host };
        table.insert(name, text(to, new));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assigned(names: impl Iterator<Item = String>) -> (BTreeSet<Box<[u8]>>, Table) {
        let names: BTreeSet<Box<[u8]>> = names.map(|name| name.into_bytes().into()).collect();
        let table = assign(&Key::random().unwrap(), &names);
        (names, table)
    }

    fn subnet(address: &[u8]) -> &[u8] {
        &address[..memchr::memrchr(b'.', address).unwrap()]
    }

    #[test]
    fn few_addresses_stay_in_their_subnet_and_none_contains_an_original() {
        let (names, table) = assigned([1, 2, 11, 12].into_iter().map(|host| format!("10.10.0.{host}")));
        let new: BTreeSet<&Box<[u8]>> = table.values().collect();
        assert_eq!(new.len(), names.len());
        for (old, new) in &table {
            assert_eq!(subnet(old), subnet(new));
            assert!(!names.iter().any(|name| new.starts_with(name)), "{}", String::from_utf8_lossy(new));
        }
    }

    #[test]
    fn a_full_subnet_moves_as_a_whole() {
        let (names, table) = assigned((0..=255).map(|host| format!("10.1.2.{host}")));
        let new: BTreeSet<&Box<[u8]>> = table.values().collect();
        assert_eq!(new.len(), names.len());
        let subnets: BTreeSet<&[u8]> = new.iter().map(|address| subnet(address)).collect();
        assert_eq!(subnets.len(), 1);
        let moved = subnets.first().unwrap();
        assert!(moved.starts_with(b"10.1.") && *moved != b"10.1.2", "{}", String::from_utf8_lossy(moved));
    }

    #[test]
    fn a_full_network_of_65536_addresses_moves_too() {
        let (names, table) = assigned((0..=255).flat_map(|c| (0..=255).map(move |host| format!("10.1.{c}.{host}"))));
        let new: BTreeSet<&Box<[u8]>> = table.values().collect();
        assert_eq!(new.len(), names.len());
        assert!(new.iter().all(|address| !names.contains(*address)));
    }

    #[test]
    fn addresses_of_nobody_stay() {
        let (_, table) = assigned(["127.0.0.1", "0.0.0.0", "255.255.255.255"].map(str::to_owned).into_iter());
        assert!(table.iter().all(|(old, new)| old == new));
    }
}
