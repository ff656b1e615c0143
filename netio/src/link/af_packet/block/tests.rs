use super::*;
use crate::seeded::Seeded;

/// A block as the kernel writes it: frames a header apart, eight bytes aligned, the last one
/// without a next.
struct Built {
    bytes: Vec<u8>,
    head: BlockHead,
    /// Where each frame's header is in `bytes`.
    places: Vec<usize>,
}

const START: usize = 86;

fn put(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_ne_bytes());
}

fn build(frames: &[Vec<u8>]) -> Built {
    let mut bytes = vec![0_u8; HEAD_BYTES];
    let mut places = Vec::new();
    for (index, frame) in frames.iter().enumerate() {
        let at = bytes.len();
        places.push(at);
        bytes.resize(at + START, 0xee);
        bytes.extend(frame);
        bytes.resize(bytes.len().next_multiple_of(8), 0xee);
        let next = if index + 1 == frames.len() { 0 } else { bytes.len() - at };
        put(&mut bytes, at, next as u32);
        put(&mut bytes, at + 4, 1_700_000_000);
        put(&mut bytes, at + 8, index as u32);
        put(&mut bytes, at + 12, frame.len() as u32);
        put(&mut bytes, at + 16, frame.len() as u32);
        put(&mut bytes, at + 20, 1);
        bytes[at + 24..at + 26].copy_from_slice(&(START as u16).to_ne_bytes());
    }
    let head = BlockHead {
        frames: frames.len() as u32,
        first: HEAD_BYTES as u32,
        bytes: bytes.len() as u32,
    };
    Built { bytes, head, places }
}

/// All frames of a block, burst by burst, and how many were given up.
fn walk(block: &mut Built) -> (Vec<Vec<u8>>, u32) {
    let (mut walk, mut seen, mut damaged, mut steps) = (Walk::new(block.head), vec![], 0, 0);
    let bytes = block.bytes.len();
    while !walk.is_done() {
        let mut burst = Burst::new();
        let step = walk.step(&mut block.bytes[HEAD_BYTES..], &mut burst);
        assert_eq!(step.bytes, burst.iter().map(|frame| frame.bytes.len() as u64).sum::<u64>());
        seen.extend(burst.iter().map(|frame| frame.bytes.to_vec()));
        damaged += step.damaged;
        steps += 1;
        assert!(steps <= 2 + bytes / FRAME_HEADER_BYTES, "work without bound");
    }
    (seen, damaged)
}

fn frames(count: usize, seeded: &mut Seeded) -> Vec<Vec<u8>> {
    (0..count)
        .map(|_| (0..14 + seeded.below(200)).map(|_| seeded.below(256) as u8).collect())
        .collect()
}

#[test]
fn a_block_gives_its_frames_over_any_number_of_bursts() {
    let mut seeded = Seeded::new("a_block_gives_its_frames");
    for count in [1, 2, 63, 64, 65, 500] {
        let sent = frames(count, &mut seeded);
        let mut block = build(&sent);
        assert_eq!(walk(&mut block), (sent, 0));
    }
    let mut block = build(&frames(2, &mut seeded));
    let mut burst = Burst::new();
    Walk::new(block.head).step(&mut block.bytes[HEAD_BYTES..], &mut burst);
    let times: Vec<i64> = burst.iter().map(|frame| frame.ts_ns).collect();
    assert_eq!(times, [1_700_000_000_000_000_000, 1_700_000_000_000_000_001]);
}

#[test]
fn an_empty_or_absent_block_gives_nothing() {
    let head = BlockHead { frames: 0, first: 48, bytes: 48 };
    let mut block = Built { bytes: vec![0; HEAD_BYTES], head, places: vec![] };
    assert_eq!(walk(&mut block), (vec![], 0));
    block.head.frames = 3;
    assert_eq!(walk(&mut block), (vec![], 3));
}

#[test]
fn a_tag_that_was_taken_is_put_back() {
    let plain: Vec<u8> = (0..60).collect();
    for (known, kind) in [(false, [0x81, 0x00]), (true, [0x88, 0xa8])] {
        let mut block = build(&[plain.clone(), plain.clone()]);
        let at = block.places[0];
        put(&mut block.bytes, at + 20, 1 | TAG_TAKEN | if known { TAG_KIND_KNOWN } else { 0 });
        put(&mut block.bytes, at + 32, 0xa123);
        block.bytes[at + 36..at + 38].copy_from_slice(&0x88a8_u16.to_ne_bytes());
        let expected = [&plain[..12], &kind, &[0xa1, 0x23], &plain[12..]].concat();
        assert_eq!(walk(&mut block), (vec![expected, plain.clone()], 0));
    }
}

#[test]
fn a_tag_without_room_or_addresses_stays_away() {
    for (start, length) in [(FRAME_HEADER_BYTES, 60), (START, 11)] {
        let mut block = build(&[vec![7; 60]]);
        put(&mut block.bytes, HEAD_BYTES + 20, 1 | TAG_TAKEN);
        put(&mut block.bytes, HEAD_BYTES + 12, length);
        let at = HEAD_BYTES + 24;
        block.bytes[at..at + 2].copy_from_slice(&(start as u16).to_ne_bytes());
        let (seen, damaged) = walk(&mut block);
        assert_eq!((seen[0].len(), damaged), (length as usize, 0));
    }
}

#[test]
fn a_longer_frame_is_seen_as_cut() {
    let mut block = build(&[vec![1; 20_000]]);
    let mut burst = Burst::new();
    Walk::new(block.head).step(&mut block.bytes[HEAD_BYTES..], &mut burst);
    let frame = *burst.iter().next().unwrap();
    assert_eq!((frame.bytes.len(), frame.wire_bytes), (BUFFER_BYTES, 20_000));
}

#[test]
fn a_block_that_contradicts_itself_is_given_up_from_there() {
    let sent = frames(5, &mut Seeded::new("a_block_that_contradicts_itself"));
    let third = build(&sent).places[2];
    // A place in the third frame's header, and what is written there.
    for (field, value, whole) in [
        (0, 0, 2),               // no next, and two are to come
        (0, 1, 2),               // a step inside the header
        (0, 67, 2),              // one byte less than the header
        (0, u32::MAX, 2),        // past everything
        (0, i32::MIN as u32, 2), // backwards
        (0, 0x7fff_fff8, 2),     // past the block
        (12, u32::MAX, 2),       // longer than the block
        (12, 0x7fff_ffff, 2),    // longer than the block
        (16, 1, 2),              // fewer bytes on the wire than here
        (24, 0, 2),              // begins in its own header
        (24, 67, 2),             // begins in its own header
        (24, 0xffff, 2),         // begins behind its slot
    ] {
        let mut block = build(&sent);
        match field {
            24 => {
                let at = third + field;
                block.bytes[at..at + 2].copy_from_slice(&(value as u16).to_ne_bytes());
            }
            _ => put(&mut block.bytes, third + field, value),
        }
        let (seen, damaged) = walk(&mut block);
        assert_eq!((seen.len(), damaged), (whole, 3), "{field} {value:#x}");
        assert_eq!(seen[..], sent[..whole]);
    }
    for first in [0, 47, u32::MAX] {
        let mut block = build(&sent);
        block.head.first = first;
        assert_eq!(walk(&mut block), (vec![], 5), "first at {first}");
    }
    let mut block = build(&sent);
    block.head.frames = u32::MAX;
    let (seen, damaged) = walk(&mut block);
    // The last frame has no next.
    assert_eq!((seen.len(), damaged), (4, u32::MAX - 4));
}

/// Whatever bytes a block is made of: no panic, bounded work (`walk` asserts it), and, by the
/// types, nothing outside of it.
#[test]
fn random_damage_never_leads_out_of_the_block() {
    let mut seeded = Seeded::new("random_damage");
    for _ in 0..20_000 {
        let count = 1 + seeded.below(6);
        let mut block = build(&frames(count, &mut seeded));
        for _ in 0..1 + seeded.below(4) {
            let place = seeded.below(block.places.len());
            let at = block.places[place] + seeded.below(40);
            let values = [0, 1, 4, 0x7f, 0x80, 0xff, seeded.below(256) as u8];
            block.bytes[at] = values[seeded.below(values.len())];
        }
        if seeded.below(4) == 0 {
            block.head.frames = seeded.below(1 << 20) as u32;
        }
        let cut = HEAD_BYTES + seeded.below(block.bytes.len() - HEAD_BYTES + 1);
        block.bytes.truncate(cut);
        let total = block.head.frames;
        let (seen, damaged) = walk(&mut block);
        assert_eq!(seen.len() as u32 + damaged, total);
        assert!(seen.iter().map(Vec::len).sum::<usize>() <= block.bytes.len());
    }
}
