use bloomrf_engine::schema::Schema;
use bloomrf_engine::wire::frame::{encode_close, encode_data};

use super::*;

fn origin() -> Origin {
    let schema = Schema::packet();
    Origin {
        cluster: ClusterId(1),
        fingerprint: schema.fingerprint(),
        record_bytes: schema.record_bytes(),
    }
}

fn header(batch: BatchId, lane: u8, sequence: u32) -> FrameHeader {
    let Origin { cluster, fingerprint, .. } = origin();
    let hash = HashAlgorithm::Xxh3;
    FrameHeader { cluster, fingerprint, batch, hash, lane, lanes: 2, sequence }
}

fn data(batch: BatchId, lane: u8, sequence: u32, fill: u8) -> Vec<u8> {
    let mut out = Vec::new();
    let bytes = origin().record_bytes;
    encode_data(&mut out, &header(batch, lane, sequence), bytes, &vec![fill; bytes * 2]);
    out
}

fn close(batch: BatchId, frames: [u32; 2]) -> Vec<u8> {
    let mut out = Vec::new();
    let totals = frames.map(|frames| LaneTotal { frames, records: u64::from(frames) * 2 });
    encode_close(&mut out, &header(batch, 0, 0), &totals);
    out
}

fn run(frames: &[Vec<u8>]) -> (Vec<Ended>, AssembleStats) {
    let mut assembler = Assembler::new(origin());
    let mut ended = Vec::new();
    for frame in frames {
        assembler.on_datagram(frame, 0, &mut ended);
    }
    assembler.on_tick(10, 5, &mut ended);
    (ended, assembler.stats())
}

fn whole(ended: &[Ended]) -> Option<&StoredBatch> {
    match ended {
        [Ended::Whole(stored)] => Some(stored),
        _ => None,
    }
}

#[test]
fn any_order_and_copies_give_the_same_batch() {
    let frames = [data(7, 0, 0, 1), data(7, 1, 0, 2), data(7, 0, 1, 3), close(7, [2, 1])];
    let (in_order, _) = run(&frames);
    let mut shuffled: Vec<_> = frames.iter().rev().cloned().collect();
    shuffled.insert(2, data(7, 1, 0, 2));
    let (out_of_order, stats) = run(&shuffled);
    let stored = whole(&in_order).unwrap();
    assert_eq!(Some(stored), whole(&out_of_order));
    assert_eq!(stored.len(), 6);
    let firsts: Vec<u8> = stored.iter().step_by(2).map(|r| r[0]).collect();
    assert_eq!(firsts, [1, 3, 2]);
    assert_eq!(stats.duplicate, 1);
}

#[test]
fn a_missing_frame_or_close_is_a_gap() {
    let all = [data(7, 0, 0, 1), data(7, 1, 0, 2), data(7, 0, 1, 3), close(7, [2, 1])];
    for lost in 0..all.len() {
        let mut some = all.to_vec();
        some.remove(lost);
        let (ended, stats) = run(&some);
        assert!(matches!(ended[..], [Ended::Gap(7)]), "lost {lost}: {ended:?}");
        assert_eq!(stats.gaps, 1);
    }
}

#[test]
fn contradicting_copies_are_a_gap() {
    let (ended, _) = run(&[data(7, 0, 0, 1), data(7, 0, 0, 2), close(7, [1, 0])]);
    assert!(matches!(ended[..], [Ended::Gap(7)]), "{ended:?}");
    let (ended, _) = run(&[close(7, [1, 0]), close(7, [2, 0]), data(7, 0, 0, 1)]);
    assert!(matches!(ended[..], [Ended::Gap(7)]), "{ended:?}");
}

#[test]
fn open_batches_are_bounded() {
    let frames: Vec<_> = (0..20).map(|batch| data(batch, 0, 0, 1)).collect();
    let mut assembler = Assembler::new(origin());
    let mut ended = Vec::new();
    for frame in &frames {
        assembler.on_datagram(frame, 0, &mut ended);
        assert!(assembler.open.len() <= OPEN_MAX);
    }
    assert_eq!(ended.len(), 20 - OPEN_MAX);
}

#[test]
fn noise_is_counted_and_ignored() {
    let mut foreign = data(7, 0, 0, 1);
    foreign[20] ^= 1;
    let (ended, stats) = run(&[foreign, vec![], vec![0; 64], data(7, 0, 0, 1), close(7, [1, 0])]);
    assert!(whole(&ended).is_some());
    assert_eq!((stats.frames, stats.refused), (5, 3));
}
