//! Damage by chance refuses the file: a filter that lost a bit would say *no* to what it holds.

use bloomrf_engine::format::PageSize;
use bloomrf_engine::format::container::ContainerRefusal;
use bloomrf_filter::file::{Asked, FileRefusal, Info, decode, encode, encode_paged};

use crate::world::{KINDS, small, stored};

#[test]
fn every_flipped_bit_of_a_file_is_refused() {
    for (kind, stored) in small() {
        // The time is in the many bits; large pages are the same for all.
        let sizes = if kind == "classic" { &PageSize::ALL[..] } else { &[PageSize::Kib4] };
        for &size in sizes {
            let mut bytes = encode_paged(&stored, size).unwrap();
            for bit in 0..bytes.len() * 8 {
                bytes[bit / 8] ^= 1 << (bit % 8);
                assert!(decode(&bytes, &Asked::default()).is_err(), "{kind}, bit {bit}, {size:?}");
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
            assert!(decode(&bytes, &Asked::default()).is_ok());
        }
    }
}

#[test]
fn every_truncation_and_extension_is_refused() {
    for (kind, stored) in small() {
        let bytes = encode(&stored).unwrap();
        for length in 0..bytes.len() {
            let refusal = decode(&bytes[..length], &Asked::default()).map(|_| ()).unwrap_err();
            let is_short =
                matches!(refusal, FileRefusal::Container(ContainerRefusal::TooShort { .. }));
            assert!(is_short, "{kind}, {length} bytes: {refusal}");
            assert!(Info::read(&bytes[..length], length as u64).is_err(), "{kind}, {length}");
        }
        for more in [1, 4_096, bytes.len()] {
            let longer = [&bytes[..], &bytes[..more]].concat();
            let refusal = decode(&longer, &Asked::default()).map(|_| ()).unwrap_err();
            let is_long =
                matches!(refusal, FileRefusal::Container(ContainerRefusal::TooLong { .. }));
            assert!(is_long, "{kind}, {more} more: {refusal}");
        }
    }
}

#[test]
fn swapped_zeroed_and_foreign_blocks_are_refused() {
    const BLOCK: usize = 4_096;
    for kind in KINDS {
        let bytes = encode(&stored(kind, 20_000)).unwrap();
        let mut other = stored(kind, 20_000);
        other.stamp.uuid += 1;
        let other = encode(&other).unwrap();
        let blocks = bytes.len() / BLOCK;
        let mut cases = 0;
        let mut refused = |damaged: &[u8], what: &str| {
            if damaged != bytes {
                cases += 1;
                assert!(decode(damaged, &Asked::default()).is_err(), "{kind}: {what}");
            }
        };
        for first in 0..blocks {
            let from = first * BLOCK;
            let mut damaged = bytes.clone();
            damaged[from..from + BLOCK].fill(0);
            refused(&damaged, "zeroed");
            damaged[from..from + BLOCK].copy_from_slice(&other[from..from + BLOCK]);
            // Pages of the same filter written twice are equal: it is their checksums that differ.
            refused(&damaged, "of another file");
            for second in 0..first {
                let mut damaged = bytes.clone();
                damaged.copy_within(second * BLOCK..(second + 1) * BLOCK, from);
                damaged[second * BLOCK..][..BLOCK].copy_from_slice(&bytes[from..from + BLOCK]);
                refused(&damaged, "swapped");
            }
        }
        let end = bytes.len() - 8;
        let mixed = [&bytes[..end], &other[end..]].concat();
        refused(&mixed, "end of another file");
        assert!(cases > blocks, "{kind}: {cases} cases");
    }
}
