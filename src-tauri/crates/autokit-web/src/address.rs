//! Which addresses belong to the public internet, and which keep what is sent to them from others.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// Whether nobody on the network can read what is sent to a URL: it is encrypted or stays on this machine.
pub fn is_confidential(url: &Url) -> bool {
    let this_machine = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    url.scheme() == "https" || url.scheme() == "http" && this_machine
}

/// Whether an address is publicly reachable: not this machine, and not a private, shared, documentation,
/// benchmark or multicast network (IANA's special-purpose registries, RFC 6890), including IPv4 addresses
/// embedded in IPv6 ones in any form.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => public_v4(v4),
        IpAddr::V6(v6) => public_v6(v6),
    }
}

fn public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(a == 0
        || a == 10
        || a == 127
        || a >= 224
        || (a == 100 && (64..128).contains(&b))
        || (a == 169 && b == 254)
        || (a == 172 && (16..32).contains(&b))
        || (a == 192 && b == 168)
        || (a == 192 && b == 0 && (c == 0 || c == 2))
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (18..20).contains(&b))
        || (a == 198 && b == 51 && c == 100)
        || (a == 203 && b == 0 && c == 113))
}

fn public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let last_v4 = || {
        let [a, b] = parts[6].to_be_bytes();
        let [c, d] = parts[7].to_be_bytes();
        Ipv4Addr::new(a, b, c, d)
    };
    match parts {
        // Mapped and translated addresses are judged by the IPv4 address they contain.
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => public_v4(last_v4()),
        // 6to4 has the IPv4 address in front.
        [0x2002, high, low, ..] => {
            let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
            public_v4(Ipv4Addr::new(a, b, c, d))
        }
        // Teredo and documentation; everything else outside 2000::/3 is special.
        [0x2001, 0 | 0xdb8, ..] => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_recognized_in_every_form() {
        for closed in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "0.0.0.0",
            "100.64.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "198.18.0.1",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2002:c0a8:101::",
            "2001:db8::1",
            "::127.0.0.1",
        ] {
            assert!(!is_public(closed.parse().unwrap()), "{closed}");
        }
        for open in ["1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8"] {
            assert!(is_public(open.parse().unwrap()), "{open}");
        }
    }
}
