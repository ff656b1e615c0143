//! Addresses on the command line: `host`, `host:port`, `[v6]:port`, each with its usual port.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use bloomrf_node::config::{LOOKUP_PORT_OFFSET, OBSERVABILITY_PORT, PRODUCTION_PORT};

pub(crate) fn ingest(text: &str) -> Result<SocketAddr, String> {
    resolve(text, PRODUCTION_PORT)
}

pub(crate) fn lookup(text: &str) -> Result<SocketAddr, String> {
    resolve(text, PRODUCTION_PORT + LOOKUP_PORT_OFFSET)
}

pub(crate) fn http(text: &str) -> Result<SocketAddr, String> {
    resolve(text, OBSERVABILITY_PORT)
}

fn resolve(text: &str, port: u16) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok(address);
    }
    if let Ok(ip) = text.trim_matches(['[', ']']).parse::<IpAddr>() {
        return Ok((ip, port).into());
    }
    let with_port = if text.contains(':') { text.to_owned() } else { format!("{text}:{port}") };
    let wrong = |reason: &str| {
        format!("{reason}; expected host, host:port or [IPv6]:port (port {port} if none is given)")
    };
    let mut found = with_port.to_socket_addrs().map_err(|e| wrong(&e.to_string()))?;
    found.next().ok_or_else(|| wrong("the name has no address"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_port_is_the_usual_one() {
        assert_eq!(lookup("127.0.0.1"), Ok(([127, 0, 0, 1], 6_997).into()));
        assert_eq!(ingest("127.0.0.1:5"), Ok(([127, 0, 0, 1], 5).into()));
        assert_eq!(http("[::1]").unwrap().port(), 8_080);
        assert_eq!(http("[::1]:9").unwrap().port(), 9);
        assert!(lookup("no such host:x").unwrap_err().contains("expected host"));
    }
}
