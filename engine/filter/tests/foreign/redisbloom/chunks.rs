//! Chunks: only the whole filter, in order, is ever one.

use bloomrf_filter::foreign::redisbloom::chunks::Loading;
use bloomrf_filter::foreign::{Foreign, Limits, Refusal};

use super::{dumps, hand_out, load, small};
use crate::damage;

#[test]
fn no_prefix_and_no_other_order_of_chunks_is_a_filter() {
    let Some(dumps) = dumps("bf_") else { return };
    for (name, _, chunks) in &dumps {
        for end in 0..chunks.len() {
            assert!(load(&chunks[..end], Limits::default()).is_err(), "{name}: {end} chunks");
        }
        for one in 0..chunks.len() {
            for other in 0..one {
                let mut swapped = chunks.clone();
                swapped.swap(one, other);
                assert!(load(&swapped, Limits::default()).is_err(), "{name}: {one}, {other}");
                let mut doubled = chunks.clone();
                doubled.insert(one, chunks[other].clone());
                assert!(load(&doubled, Limits::default()).is_err(), "{name}: {one}, {other}");
            }
        }
    }
}

#[test]
fn dragonfly_8104_a_head_alone_or_of_no_links_is_no_filter() {
    let chunks = hand_out(&small(2));
    let loading = Loading::begin(1, &chunks[0].1, Limits::default()).unwrap();
    assert!(!loading.is_complete());
    assert!(matches!(loading.finish(), Err(Refusal::Short { have: 0, .. })));
    let mut none = vec![0; 20];
    assert!(Loading::begin(1, &none, Limits::default()).is_err());
    none[12] = 5;
    none[16] = 2;
    let why = Loading::begin(1, &none, Limits::default()).unwrap_err();
    assert!(why.to_string().starts_with("the number of links is 0"), "{why}");
}

#[test]
fn redisbloom_py_4_a_wrong_iterator_says_which_one_was_expected() {
    let chunks = hand_out(&small(1));
    let why = Loading::begin(0, &chunks[0].1, Limits::default()).unwrap_err();
    assert!(why.to_string().contains("the iterator of the head is 0, and must be 1"), "{why}");
    let mut loading = Loading::begin(1, &chunks[0].1, Limits::default()).unwrap();
    for wrong in [0, 1, chunks[1].0 - 1, chunks[1].0 + 1, u64::MAX] {
        let why = loading.load(wrong, &chunks[1].1).unwrap_err();
        assert!(why.to_string().contains(&format!("must be {}", chunks[1].0)), "{why}");
    }
    assert!(!loading.is_complete());
    loading.load(chunks[1].0, &chunks[1].1).unwrap();
    assert!(loading.is_complete());
    assert!(loading.load(chunks[1].0, &chunks[1].1).is_err());
    loading.finish().unwrap();
}

#[test]
fn redisbloom_107_chunks_that_went_through_text_are_refused() {
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned().into_bytes();
    let chunks = hand_out(&small(3));
    let mut texts = chunks.clone();
    texts[0].1 = lossy(&chunks[0].1);
    assert_ne!(texts, chunks);
    assert!(load(&texts, Limits::default()).is_err());
    for at in 1..chunks.len() {
        let mut texts = chunks.clone();
        texts[at].1 = lossy(&chunks[at].1);
        if texts != chunks {
            assert!(load(&texts, Limits::default()).is_err(), "{at}");
        }
    }
}

#[test]
fn redisbloom_1014_chunks_at_the_edge_of_numbers_are_refused() {
    let chunks = hand_out(&small(2));
    let mut loading = Loading::begin(1, &chunks[0].1, Limits::default()).unwrap();
    for iterator in [u64::MAX, u64::MAX - 7, 1 << 63, 0] {
        for length in [0, 1, 8, 9, 1_000] {
            assert!(loading.load(iterator, &vec![0xff; length]).is_err());
        }
    }
    // A chunk that is as long as both links crosses from one into the other.
    let both = [&chunks[1].1[..], &chunks[2].1].concat();
    let why = loading.load(1 + both.len() as u64, &both).unwrap_err();
    assert!(why.to_string().contains("never crosses"), "{why}");
}

#[test]
fn a_head_that_announces_more_than_the_limit_is_refused_and_takes_no_memory() {
    let head = |entries: u64| {
        let mut chain = small(1);
        chain = load(&hand_out(&chain), Limits::default()).unwrap();
        let mut head = chain.head_chunk();
        head.truncate(20);
        head[..8].fill(0);
        // One link of a rate of 1/2^20 and so many entries, every field right.
        let link = bloomrf_filter::foreign::redisbloom::LinkHead::sized_for(entries, 1e-6).unwrap();
        head.extend(link.bytes.to_le_bytes());
        head.extend(link.bits().to_le_bytes());
        head.extend(0_u64.to_le_bytes());
        head.extend(link.error.to_le_bytes());
        head.extend(link.bpe.to_le_bytes());
        head.extend(link.hashes.to_le_bytes());
        head.extend(entries.to_le_bytes());
        head.push(0);
        Loading::begin(1, &head, Limits::default())
    };
    assert!(head(1_000_000_000).is_ok(), "announced, and nothing allocated for it");
    assert!(matches!(head(1 << 40), Err(Refusal::TooLarge { .. })));
}

#[test]
fn any_damage_to_a_head_is_refused_but_for_what_cannot_be_known() {
    let chunks = hand_out(&small(2));
    let mut kept = 0;
    damage::each(&chunks[0].1, |head| {
        let mut damaged = chunks.clone();
        damaged[0].1 = head.to_vec();
        if let Ok(chain) = load(&damaged, Limits::default()) {
            // The last digits of a rate or of its bits per entry.
            let error: f64 = chain.links().map(|link| link.error).sum();
            assert!((error - 0.075).abs() < 1e-9, "{error}");
            assert_eq!(chain.card(), small(2).card());
            kept += 1;
        }
    });
    assert!(kept < 2 * 64, "{kept}");
}

#[test]
fn damage_to_bits_is_refused_where_the_counts_show_it_and_never_more_than_was_there() {
    let chunks = hand_out(&small(2));
    for at in 1..chunks.len() {
        damage::each(&chunks[at].1, |bytes| {
            let mut damaged = chunks.clone();
            damaged[at].1 = bytes.to_vec();
            if let Ok(chain) = load(&damaged, Limits::default()) {
                assert_eq!(bytes.len(), chunks[at].1.len());
                assert_eq!(chain.bytes(), small(2).bytes());
            }
        });
        for zeros in [0, 0xff] {
            let mut damaged = chunks.clone();
            damaged[at].1.fill(zeros);
            assert!(load(&damaged, Limits::default()).is_err(), "all {zeros}");
        }
    }
}
