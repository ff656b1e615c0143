//! Captures built in memory: `formats` reads them whole, `damage` cut and damaged.

mod damage;
mod formats;

use std::io::Cursor;

use super::writer::PcapWriter;
use super::*;

/// Opens bytes as a file would be.
fn open(bytes: &[u8]) -> Result<Capture, CaptureError> {
    Capture::from_reader(Cursor::new(bytes.to_vec()), bytes.len() as u64, "bytes")
}

/// All packets, and where reading was cut.
fn read(bytes: &[u8]) -> (Vec<Packet>, Option<Cut>) {
    let mut capture = open(bytes).unwrap();
    let packets: Vec<_> = capture.by_ref().collect();
    assert_eq!(capture.next_packet(), None);
    (packets, capture.cut().cloned())
}

fn packet(ts_ns: i64, link_type: u32, bytes: &[u8], wire_bytes: u32) -> Packet {
    Packet { ts_ns, link_type, bytes: bytes.to_vec(), wire_bytes }
}

/// Five packets of several lengths, one of them empty.
fn samples() -> Vec<Packet> {
    [0_usize, 1, 60, 7, 300]
        .into_iter()
        .enumerate()
        .map(|(i, n)| packet(1_700_000_000_123_456_000 + i as i64, 1, &vec![i as u8; n], 1_000))
        .collect()
}

/// The samples as pcap, and the offsets at which its records begin, with the end.
fn pcap() -> (Vec<u8>, Vec<usize>) {
    let mut writer = PcapWriter::new(Vec::new(), 1).unwrap();
    for p in samples() {
        writer.write(p.ts_ns, &p.bytes, p.wire_bytes).unwrap();
    }
    let mut starts = vec![24];
    for p in samples() {
        starts.push(starts.last().unwrap() + 16 + p.bytes.len());
    }
    (writer.finish().unwrap(), starts)
}

/// Builds pcapng files block by block.
struct Blocks {
    big_endian: bool,
    bytes: Vec<u8>,
    /// Where each block begins.
    starts: Vec<usize>,
}

impl Blocks {
    fn new() -> Self {
        Blocks { big_endian: false, bytes: vec![], starts: vec![] }
    }

    fn u16(&self, n: u16) -> [u8; 2] {
        if self.big_endian { n.to_be_bytes() } else { n.to_le_bytes() }
    }

    fn u32(&self, n: u32) -> [u8; 4] {
        if self.big_endian { n.to_be_bytes() } else { n.to_le_bytes() }
    }

    fn block(&mut self, kind: u32, body: &[u8]) {
        self.starts.push(self.bytes.len());
        let padding = vec![0; body.len().next_multiple_of(4) - body.len()];
        let length = self.u32((12 + body.len() + padding.len()) as u32);
        let kind = self.u32(kind);
        for part in [&kind[..], &length, body, &padding, &length] {
            self.bytes.extend(part);
        }
    }

    fn section(&mut self, big_endian: bool) {
        self.big_endian = big_endian;
        let mut body = self.u32(0x1a2b_3c4d).to_vec();
        body.extend([self.u16(1), self.u16(0)].concat());
        body.extend([0xff; 8]);
        self.block(0x0a0d_0d0a, &body);
    }

    fn interface(&mut self, link_type: u16, snaplen: u32, resolution: u8, offset_s: i64) {
        let mut body = [self.u16(link_type), [0, 0]].concat();
        body.extend(self.u32(snaplen));
        body.extend([self.u16(9), self.u16(1)].concat());
        body.extend([resolution, 0, 0, 0]);
        body.extend([self.u16(14), self.u16(8)].concat());
        let offset = offset_s.to_le_bytes();
        body.extend(if self.big_endian { offset_s.to_be_bytes() } else { offset });
        body.extend([0; 4]);
        self.block(1, &body);
    }

    /// The body of both kinds of packet block; `number` is the first word of the body.
    fn packet(&mut self, kind: u32, number: [u8; 4], ticks: u64, bytes: &[u8]) {
        let mut body = number.to_vec();
        for word in [(ticks >> 32) as u32, ticks as u32, bytes.len() as u32, 1_000] {
            body.extend(self.u32(word));
        }
        body.extend(bytes);
        self.block(kind, &body);
    }

    fn enhanced(&mut self, interface: u32, ticks: u64, bytes: &[u8]) {
        self.packet(6, self.u32(interface), ticks, bytes);
    }
}

/// A section with the samples, and blocks of other kinds between them.
fn pcapng() -> Blocks {
    let mut file = Blocks::new();
    file.section(false);
    file.interface(1, 0, 9, 0);
    for p in samples() {
        file.enhanced(0, p.ts_ns as u64, &p.bytes);
        file.block(4, b"names that nobody needs");
    }
    file
}
