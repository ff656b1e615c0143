//! Turns off what an interface does in the stack's stead, over the kernel's ethtool netlink.
//!
//! A veth pair claims checksums and segmentation for itself and then does nothing: what arrives at
//! the other end has half a checksum, and may be longer than any frame. The program `ethtool`
//! would do as well, but few systems have it.

use std::io;

use rustix::fd::OwnedFd;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};

/// Names of features as the kernel knows them.
const FEATURES: [&str; 7] = [
    "tx-checksum-ip-generic",
    "tx-generic-segmentation",
    "tx-tcp-segmentation",
    "tx-tcp6-segmentation",
    "tx-udp-segmentation",
    "rx-gro",
    "rx-gro-list",
];

const CONTROL: u16 = 0x10;
const CONTROL_FAMILY: u8 = 3;
const CONTROL_FAMILY_ID: u16 = 1;
const CONTROL_FAMILY_NAME: u16 = 2;
const FEATURES_SET: u8 = 12;
const NESTED: u16 = 0x8000;
const ERROR: u16 = 2;
const REQUEST: u16 = 1;
const ACKNOWLEDGE: u16 = 4;
const HEADER_BYTES: usize = 16;

/// Turns them off at an interface of the calling thread's namespace.
pub(crate) fn turn_off(interface: &str) -> io::Result<()> {
    let flags = SocketFlags::CLOEXEC;
    let family = AddressFamily::NETLINK;
    let socket = socket_with(family, SocketType::RAW, flags, Some(netlink::GENERIC))?;
    let asked = attribute(CONTROL_FAMILY_NAME, b"ethtool\0");
    let reply = ask(&socket, CONTROL, CONTROL_FAMILY, &asked)?;
    let ethtool = family_number(&reply).ok_or_else(|| io::Error::other("no ethtool netlink"))?;
    let device = attribute(2, &terminated(interface));
    let bits: Vec<u8> = FEATURES
        .iter()
        .flat_map(|name| attribute(1 | NESTED, &attribute(2, &terminated(name))))
        .collect();
    // Bits without a value are turned off; those not listed stay as they are.
    let wanted = attribute(3 | NESTED, &bits);
    let mut body = attribute(1 | NESTED, &device);
    body.extend(attribute(3 | NESTED, &wanted));
    ask(&socket, ethtool, FEATURES_SET, &body).map(drop)
}

fn terminated(text: &str) -> Vec<u8> {
    [text.as_bytes(), &[0]].concat()
}

/// Length, kind, value, padded to four bytes.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::from(((value.len() + 4) as u16).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// Sends one request and waits for what comes back: its reply or the acknowledgement.
fn ask(socket: &OwnedFd, family: u16, command: u8, body: &[u8]) -> io::Result<Vec<u8>> {
    let mut message = Vec::from(((HEADER_BYTES + 4 + body.len()) as u32).to_ne_bytes());
    message.extend(family.to_ne_bytes());
    message.extend((REQUEST | ACKNOWLEDGE).to_ne_bytes());
    message.extend([0; 8]);
    message.extend([command, 1, 0, 0]);
    message.extend(body);
    send(socket, &message, SendFlags::empty())?;
    let mut reply = Vec::new();
    loop {
        let mut buffer = [0u8; 8_192];
        let (_, length) = recv(socket, &mut buffer, RecvFlags::empty())?;
        let kind = u16::from_ne_bytes([buffer[4], buffer[5]]);
        if kind != ERROR {
            reply = buffer[..length].to_vec();
            continue;
        }
        let code = i32::from_ne_bytes([buffer[16], buffer[17], buffer[18], buffer[19]]);
        return match code {
            0 => Ok(reply),
            code => Err(io::Error::from_raw_os_error(-code)),
        };
    }
}

fn family_number(reply: &[u8]) -> Option<u16> {
    let mut rest = reply.get(HEADER_BYTES + 4..)?;
    loop {
        let length = usize::from(u16::from_ne_bytes([*rest.first()?, *rest.get(1)?]));
        let kind = u16::from_ne_bytes([*rest.get(2)?, *rest.get(3)?]);
        if kind == CONTROL_FAMILY_ID {
            return Some(u16::from_ne_bytes([*rest.get(4)?, *rest.get(5)?]));
        }
        rest = rest.get(length.max(4).next_multiple_of(4)..)?;
    }
}
