//! Raw frames: a datagram that lies wholly inside the frame and is the one that an independent
//! reading finds, or a refusal. The same for frames by recipe, and with right checksums.

mod oracle;
mod recipe;

use bloomrf_netio::Received;
use bloomrf_netio::frame::{reply_path, write_udp};
use bloomrf_netio::parse::{Checksums, UdpDatagram, headers, udp};

use oracle::Found;
pub use recipe::{Cooked, LINK_TYPES, cook};

/// The first byte says what the others are: a frame of some link type, or a recipe for one.
pub fn run(input: &[u8]) {
    let Some((first, rest)) = input.split_first() else { return };
    let mut frame = match first {
        choice @ 0..128 => {
            let link_type = LINK_TYPES[usize::from(*choice) % LINK_TYPES.len()];
            Cooked { link_type, wire_bytes: u32::from(*choice) * 20, bytes: rest.to_vec() }
        }
        _ => cook(rest),
    };
    check(&frame);
    seal(&mut frame);
    check(&frame);
}

/// Makes the sums of a frame right, where it has a datagram.
pub fn seal(frame: &mut Cooked) {
    oracle::seal(frame.link_type, &mut frame.bytes);
}

/// One frame by all readers.
///
/// # Panics
/// Where they disagree.
pub fn check(frame: &Cooked) {
    let Cooked { link_type, wire_bytes, ref bytes } = *frame;
    let received = Received { bytes, link_type, wire_bytes, ..Received::default() };
    let found = oracle::read(link_type, bytes);
    let trusted = udp(&received, Checksums::Trust);
    assert_eq!(trusted.is_ok(), found.is_some(), "{trusted:?}, {found:?}: {frame:02x?}");
    let verified = udp(&received, Checksums::Verify);
    let is_right = found.as_ref().is_some_and(|found| found.sums_are_right);
    assert_eq!(verified.is_ok(), is_right, "{verified:?}, {found:?}: {frame:02x?}");
    assert!(verified.is_err() || verified == trusted, "{verified:?}, {trusted:?}");
    let (seen, trouble) = headers(link_type.into(), bytes);
    if let (Ok(datagram), Some(found)) = (trusted, found) {
        check_datagram(bytes, &datagram, &found);
        if trouble.is_none() {
            assert_eq!((seen.proto, seen.ports), (Some(17), Some(found.ports)), "{frame:02x?}");
        }
    }
    if let Some(path) = reply_path(bytes) {
        let mut reply = Vec::new();
        write_udp(&mut reply, &path.from, &path.to, path.vlan, b"reply");
        let reply = Received::ethernet(&reply, 0);
        let answer = udp(&reply, Checksums::Verify).expect("what we write, we read");
        assert_eq!(answer.payload, b"reply");
        assert_eq!(
            reply_path(reply.bytes).map(|back| (back.to, back.from)),
            Some((path.from, path.to))
        );
    }
}

fn check_datagram(frame: &[u8], datagram: &UdpDatagram, found: &Found) {
    let UdpDatagram { payload, source, target, source_port, target_port } = *datagram;
    let (whole, part) = (frame.as_ptr_range(), payload.as_ptr_range());
    assert!(whole.start <= part.start && part.end <= whole.end, "outside of the frame");
    let at = part.start.addr() - whole.start.addr();
    assert_eq!((at, payload.len()), (found.udp_at + 8, found.payload_bytes));
    assert_eq!((source, target), (found.source, found.target));
    assert_eq!((source_port, target_port), found.ports);
}

/// Recipes with each thing in them, and frames to damage as they are.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for link in 0..LINK_TYPES.len() as u8 {
        for (tags, v6, extensions) in [
            (0, 0, 0),
            (1, 0, 3),
            (2, 0, 0),
            (8, 0, 10),
            (0, 1, 0),
            (1, 1, 0),
            (2, 1, 3),
            (8, 1, 16),
        ] {
            let mut recipe =
                vec![link, tags, v6, 20, 0, 0, 6, 0, extensions, 0x1b, 0x4b, 0x1b, 0x55];
            recipe.extend([0, 0]);
            recipe.extend(0..extensions);
            let frame = cook(&recipe);
            all.push([&[0x80][..], &recipe].concat());
            all.push([&[link][..], &frame.bytes].concat());
        }
    }
    all
}
