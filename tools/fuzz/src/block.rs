//! A block of an af_packet ring: frames that lie inside the block, in order and apart, all told or
//! counted, in bounded work; whatever the block says of itself.

use bloomrf_netio::link::af_packet::{BlockHead, HEAD_BYTES, Walk};
use bloomrf_netio::parse::{Checksums, udp};
use bloomrf_netio::{BURST_MAX, Burst};

use crate::frames::cook;

/// The first byte says what the others are: a block's head and body, or frames to build one of.
pub fn run(input: &[u8]) {
    let Some((&first, rest)) = input.split_first() else { return };
    let (head, mut body) = if first < 128 { raw(rest) } else { built(rest) };
    walk(head, &mut body);
}

fn walk(head: BlockHead, body: &mut [u8]) {
    let whole = body.as_ptr_range();
    let (whole, mut before) = (whole.start.addr()..whole.end.addr(), whole.start.addr());
    let mut walk = Walk::new(head);
    let (mut frames, mut damaged, mut steps) = (0, 0, 0);
    while !walk.is_done() {
        let mut burst = Burst::new();
        let step = walk.step(body, &mut burst);
        let mut bytes = 0;
        for frame in burst.iter() {
            let place = frame.bytes.as_ptr_range();
            let (start, end) = (place.start.addr(), place.end.addr());
            assert!(before <= start && end <= whole.end, "frames apart, and inside of the block");
            before = end;
            bytes += frame.bytes.len() as u64;
            if let Ok(datagram) = udp(frame, Checksums::Trust) {
                let payload = datagram.payload.as_ptr_range();
                assert!(start <= payload.start.addr() && payload.end.addr() <= end);
            }
        }
        assert_eq!(step.bytes, bytes);
        frames += burst.len() as u64;
        damaged += u64::from(step.damaged);
        steps += 1;
        assert!(steps <= 2 + whole.len() / BURST_MAX, "work without bound");
    }
    assert_eq!(frames + damaged, u64::from(head.frames), "every frame told or counted");
}

/// Any bytes as a block.
fn raw(bytes: &[u8]) -> (BlockHead, Vec<u8>) {
    let word = |at: usize| {
        let word = bytes.get(at..at + 4).and_then(<[u8]>::first_chunk).copied();
        u32::from_ne_bytes(word.unwrap_or_default())
    };
    let body = bytes.get(8..).unwrap_or_default().to_vec();
    let bytes = u32::try_from(HEAD_BYTES + body.len()).unwrap_or(u32::MAX);
    (BlockHead { frames: word(0), first: word(4), bytes }, body)
}

/// A block as the kernel writes it, of frames by recipe, one field of some of them a lie.
fn built(mut script: &[u8]) -> (BlockHead, Vec<u8>) {
    let mut body = Vec::new();
    let (mut frames, mut last) = (0_u32, 0);
    while let Some((&[length, status, room, lie_at, lie], rest)) = script.split_first_chunk::<5>() {
        let (recipe, rest) = rest.split_at(rest.len().min(usize::from(length % 32)));
        script = rest;
        let frame = cook(recipe).bytes;
        last = body.len();
        let start = FRAME_HEADER_BYTES + usize::from(room % 20);
        body.resize(last + start, 0xee);
        body.extend(&frame);
        body.resize(body.len().next_multiple_of(8), 0xee);
        let put = |body: &mut [u8], at: usize, word: u32| {
            body[last + at..last + at + 4].copy_from_slice(&word.to_ne_bytes());
        };
        let next = body.len() - last;
        put(&mut body, 0, next as u32);
        put(&mut body, 12, frame.len() as u32);
        put(&mut body, 16, frame.len() as u32);
        put(&mut body, 20, status.into());
        put(&mut body, 24, start as u32);
        if lie_at >= 192 {
            body[last + usize::from(lie_at % 40)] = lie;
        }
        frames += 1;
        if frames == FRAMES_MAX {
            break;
        }
    }
    if let Some(next) = body.get_mut(last..last + 4) {
        next.fill(0);
    }
    let bytes = (HEAD_BYTES + body.len()) as u32;
    // Leftovers of the script make the count a lie.
    frames = frames.saturating_add(script.len() as u32);
    (BlockHead { frames, first: HEAD_BYTES as u32, bytes }, body)
}

/// Blocks to start from: honest ones of one, a few and more frames than a burst holds.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let frame =
        |kind: u8| [13, kind, 18, 0, 0, 0, kind % 3, kind & 1, 9, 0, 0, 6, 0, 0, 4, 5, 6, 7];
    let script = |frames: u8| (0..frames).flat_map(|at| frame(at % 32)).collect::<Vec<u8>>();
    let honest = [1, 5, 100].map(|frames| [&[0x80][..], &script(frames)].concat());
    let mut all = honest.to_vec();
    for frames in [1, 5] {
        let (head, body) = built(&script(frames));
        let words = [head.frames.to_ne_bytes(), head.first.to_ne_bytes()];
        all.push([&[0][..], &words.concat(), &body].concat());
    }
    all
}

/// A frame's header and the address behind it.
const FRAME_HEADER_BYTES: usize = 68;
/// Frames of a block that is built.
const FRAMES_MAX: u32 = 300;
