//! Frames made by hand, and what a row of each must hold: nothing of the node reads or writes here.

use bloomrf_oracle::{FieldType, Unit, Value};

/// A seeded stream of numbers (xorshift).
pub(super) struct Chance(u64);

impl Chance {
    /// `SEED` of the environment, or `seed`.
    pub(super) fn new(seed: u64) -> Self {
        let seed = std::env::var("SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(seed);
        println!("SEED={seed}");
        Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.below(256) as u8)
    }
}

/// Columns of the schema `packet`, in its order.
pub(super) const COLUMNS: [&str; 14] = [
    "ts",
    "src_mac",
    "dst_mac",
    "ethertype",
    "vlan",
    "src_ip4",
    "dst_ip4",
    "src_ip6",
    "dst_ip6",
    "proto",
    "src_port",
    "dst_port",
    "tcp_flags",
    "length",
];

/// A frame with its row.
pub(super) struct Sample {
    pub(super) frame: Vec<u8>,
    pub(super) row: Vec<Value>,
}

/// A frame of some kind: IPv4 or IPv6 with TCP or UDP, perhaps with a VLAN tag, ARP, or garbage.
pub(super) fn sample(chance: &mut Chance) -> Sample {
    let mut row = vec![Value::Null; COLUMNS.len()];
    let kind = chance.below(10);
    if kind == 9 {
        // Too short for an Ethernet header.
        let frame: Vec<u8> = (0..chance.below(14)).map(|_| chance.below(256) as u8).collect();
        set(&mut row, "length", int(frame.len() as u64));
        return Sample { frame, row };
    }
    let mut frame = Vec::new();
    let macs = [chance.bytes::<6>(), [2, 0, 0, 0, 0, chance.below(5) as u8]];
    for (name, mac) in ["dst_mac", "src_mac"].into_iter().zip(macs) {
        frame.extend_from_slice(&mac);
        set(&mut row, name, Value::Octets(FieldType::Mac, mac.to_vec()));
    }
    if chance.below(3) == 0 {
        let vlan = chance.below(200) as u16;
        frame.extend_from_slice(&[0x81, 0]);
        frame.extend_from_slice(&vlan.to_be_bytes());
        set(&mut row, "vlan", int(vlan.into()));
    }
    match kind {
        8 => {
            frame.extend_from_slice(&[8, 6]);
            frame.extend_from_slice(&[0; 28]);
            set(&mut row, "ethertype", int(0x806));
        }
        5..=7 => ip6(chance, &mut frame, &mut row),
        _ => ip4(chance, &mut frame, &mut row),
    }
    set(&mut row, "length", int(frame.len() as u64));
    Sample { frame, row }
}

fn ip4(chance: &mut Chance, frame: &mut Vec<u8>, row: &mut [Value]) {
    let mut payload = Vec::new();
    let proto = transport(chance, &mut payload, row);
    frame.extend_from_slice(&[8, 0, 0x45, 0]);
    frame.extend_from_slice(&(20 + payload.len() as u16).to_be_bytes());
    frame.extend_from_slice(&[0, 0, 0, 0, 64, proto, 0, 0]);
    set(row, "ethertype", int(0x800));
    for name in ["src_ip4", "dst_ip4"] {
        let ip = [10, chance.below(3) as u8, chance.below(256) as u8, chance.below(256) as u8];
        frame.extend_from_slice(&ip);
        set(row, name, Value::Octets(FieldType::Ipv4, ip.to_vec()));
    }
    frame.extend_from_slice(&payload);
}

fn ip6(chance: &mut Chance, frame: &mut Vec<u8>, row: &mut [Value]) {
    let mut payload = Vec::new();
    let proto = transport(chance, &mut payload, row);
    frame.extend_from_slice(&[0x86, 0xdd, 0x60, 0, 0, 0]);
    frame.extend_from_slice(&(payload.len() as u16).to_be_bytes());
    frame.extend_from_slice(&[proto, 64]);
    set(row, "ethertype", int(0x86dd));
    for name in ["src_ip6", "dst_ip6"] {
        let mut ip = chance.bytes::<16>();
        ip[..2].copy_from_slice(&[0x20, 1]);
        frame.extend_from_slice(&ip);
        set(row, name, Value::Octets(FieldType::Ipv6, ip.to_vec()));
    }
    frame.extend_from_slice(&payload);
}

/// A TCP or UDP header with some payload; the protocol.
fn transport(chance: &mut Chance, out: &mut Vec<u8>, row: &mut [Value]) -> u8 {
    let ports = [1_024 + chance.below(60_000) as u16, [53, 80, 443, 445][chance.below(4) as usize]];
    for (name, port) in ["src_port", "dst_port"].into_iter().zip(ports) {
        out.extend_from_slice(&port.to_be_bytes());
        set(row, name, int(port.into()));
    }
    let is_tcp = chance.below(2) == 0;
    if is_tcp {
        let flags = [2, 0x10, 0x18, 0x11][chance.below(4) as usize];
        out.extend_from_slice(&[0, 0, 0, 1, 0, 0, 0, 2, 0x50, flags, 1, 0, 0, 0, 0, 0]);
        set(row, "tcp_flags", int(flags.into()));
    }
    let payload = vec![0xab; chance.below(400) as usize];
    if !is_tcp {
        out.extend_from_slice(&(8 + payload.len() as u16).to_be_bytes());
        out.extend_from_slice(&[0, 0]);
    }
    out.extend_from_slice(&payload);
    let proto = if is_tcp { 6 } else { 17 };
    set(row, "proto", int(proto.into()));
    proto
}

fn set(row: &mut [Value], name: &str, value: Value) {
    let at = COLUMNS.iter().position(|column| *column == name).unwrap();
    row[at] = value;
}

pub(super) fn int(value: u64) -> Value {
    Value::Int(value.into())
}

pub(super) fn time(ns: i64) -> Value {
    Value::Time(ns, Unit::Ns)
}
