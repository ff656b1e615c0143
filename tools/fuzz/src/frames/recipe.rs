//! Frames by recipe: a few bytes choose link layer, tags, IP version, options, extension headers,
//! fragments, and by how much each length lies. Damage to a recipe is damage that still parses a
//! long way, which damage to bytes seldom is.

/// A frame as a link would deliver it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cooked {
    /// LINKTYPE_* number.
    pub link_type: u16,
    /// What it claims to have been on the wire.
    pub wire_bytes: u32,
    /// The frame.
    pub bytes: Vec<u8>,
}

/// Link types that are read, and one that is not.
pub const LINK_TYPES: [u16; 9] = [1, 1, 1, 101, 12, 113, 276, 228, 147];

/// Builds a frame from any bytes; all zeros are an honest, empty datagram over IPv4.
pub fn cook(recipe: &[u8]) -> Cooked {
    let mut next = Steps(recipe.iter());
    let link_type = LINK_TYPES[usize::from(next.byte()) % LINK_TYPES.len()];
    let tags = next.byte() % 10;
    let v6 = next.byte() & 1 == 1;
    let payload_bytes = usize::from(next.byte());
    let (udp_lie, ip_lie) = (next.lie(), next.lie());
    let padding = usize::from(next.byte() % 64);
    let cut = usize::from(next.byte());
    let extensions = next.byte() % 18;
    let ports = [next.byte(), next.byte(), next.byte(), next.byte()];
    let mut datagram = ports.to_vec();
    let length = ((8 + payload_bytes) as u16).wrapping_add_signed(udp_lie);
    datagram.extend(length.to_be_bytes());
    datagram.extend([next.byte(), next.byte()]);
    datagram.extend((0..payload_bytes).map(|at| at as u8));
    let packet = if v6 {
        packet_v6(&mut next, extensions, &datagram, ip_lie)
    } else {
        packet_v4(&mut next, extensions, &datagram, ip_lie)
    };
    let mut bytes = link_header(link_type, tags, v6, next.byte());
    bytes.extend(packet);
    bytes.resize(bytes.len() + padding, 0x50);
    let wire_bytes = bytes.len() as u32;
    // Most recipes cut nothing.
    bytes.truncate(bytes.len().saturating_sub(cut.saturating_sub(128)));
    let wire_bytes = if next.byte() & 1 == 0 { wire_bytes } else { bytes.len() as u32 };
    Cooked { link_type, wire_bytes, bytes }
}

fn link_header(link_type: u16, tags: u8, v6: bool, kind: u8) -> Vec<u8> {
    let ethertype: [u8; 2] = if v6 { [0x86, 0xdd] } else { [8, 0] };
    let tag = [[0x81, 0], [0x88, 0xa8], [0x91, 0], [0x92, 0]][usize::from(kind % 4)];
    // Each tag's number comes before it, the packet's behind the last.
    let chain = |first: &mut Vec<u8>| {
        for place in 0..tags {
            first.extend(tag);
            first.extend([0x20, place]);
        }
        first.extend(ethertype);
    };
    let mut bytes = Vec::new();
    match link_type {
        1 => {
            bytes.extend([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2]);
            chain(&mut bytes);
        }
        113 => {
            bytes.extend([0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0]);
            chain(&mut bytes);
        }
        276 => {
            let mut types = Vec::new();
            chain(&mut types);
            bytes.extend(&types[..2]);
            bytes.extend([0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0]);
            bytes.extend(&types[2..]);
        }
        _ => {}
    }
    bytes
}

fn packet_v4(next: &mut Steps, extensions: u8, datagram: &[u8], lie: i16) -> Vec<u8> {
    let words = extensions.min(10);
    let header_bytes = 20 + usize::from(words) * 4;
    let (protocol, between) = match next.byte() % 8 {
        7 => (51, authentication(17, next.byte())),
        6 => (next.byte(), Vec::new()),
        _ => (17, Vec::new()),
    };
    let fragment = match next.byte() {
        odd @ 200.. => [odd, next.byte()],
        even => [(even & 1) << 6, 0],
    };
    let total = ((header_bytes + between.len() + datagram.len()) as u16).wrapping_add_signed(lie);
    let mut bytes = vec![0x45 + words, 0];
    bytes.extend(total.to_be_bytes());
    bytes.extend([0, 0, fragment[0], fragment[1], 64, protocol, next.byte(), next.byte()]);
    bytes.extend([10, 1, 2, 3, 10, 1, 2, next.byte()]);
    bytes.resize(header_bytes, 1);
    bytes.extend(between);
    bytes.extend(datagram);
    bytes
}

fn packet_v6(next: &mut Steps, extensions: u8, datagram: &[u8], lie: i16) -> Vec<u8> {
    let kinds: Vec<u8> = (0..extensions)
        .map(|_| match next.byte() {
            any @ 250.. => any,
            known => [60, 43, 51, 44, 60, 0][usize::from(known % 6)],
        })
        .collect();
    let mut chain = Vec::new();
    for (place, kind) in kinds.iter().enumerate() {
        let after = kinds.get(place + 1).copied().unwrap_or(17);
        chain.extend(match kind {
            51 => authentication(after, next.byte()),
            44 => {
                let place = if next.byte() < 200 { [0, 0] } else { [next.byte(), next.byte()] };
                vec![after, 0, place[0], place[1], 0, 0, 0, 1]
            }
            _ => by_eights(after, next),
        });
    }
    let length = ((chain.len() + datagram.len()) as u16).wrapping_add_signed(lie);
    let mut bytes = vec![0x60, 0, 0, 0];
    bytes.extend(length.to_be_bytes());
    bytes.extend([kinds.first().copied().unwrap_or(17), 64]);
    bytes.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    let mapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 2];
    let native = [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, next.byte()];
    bytes.extend(if next.byte() < 250 { native } else { mapped });
    bytes.extend(chain);
    bytes.extend(datagram);
    bytes
}

/// Options or routing: of routing the second byte is how many places are left.
fn by_eights(after: u8, next: &mut Steps) -> Vec<u8> {
    let units = next.byte() % 3;
    let left = if next.byte() < 220 { 0 } else { next.byte() };
    let option = if next.byte() < 220 { 0 } else { 0xc2 };
    let mut bytes = vec![after, units, option, left, 0, 0, 0, 0];
    bytes.resize(8 + usize::from(units) * 8, 0);
    bytes
}

fn authentication(after: u8, choice: u8) -> Vec<u8> {
    let length = choice % 6;
    let mut bytes = vec![after, length];
    bytes.resize((usize::from(length) + 2) * 4, 7);
    bytes
}

/// The bytes of a recipe, and zeros behind its end.
struct Steps<'a>(std::slice::Iter<'a, u8>);

impl Steps<'_> {
    fn byte(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    /// By how much a length lies: mostly by nothing, often by a little.
    fn lie(&mut self) -> i16 {
        match self.byte() {
            0..160 => 0,
            little @ 160..240 => i16::from(little) - 200,
            _ => i16::from_be_bytes([self.byte(), self.byte()]),
        }
    }
}
