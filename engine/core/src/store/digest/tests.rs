//! Digests: the same by every kernel set, another one for every bit that flips.

use super::*;
use bloomrf_kernels::arena::Words;
use bloomrf_kernels::exact::Exact;
use bloomrf_kernels::params::layers_for;

fn words(count: usize) -> Box<[u64]> {
    (0..count as u64).map(|i| i.wrapping_mul(ODD) ^ i >> 3).collect()
}

/// Keys far apart, so that the exact kind is packed.
fn apart() -> Vec<u64> {
    (0..300_u64).map(|i| i * i * 1_000_003).collect()
}

fn filters() -> Vec<Filter> {
    let bitmap: Box<[u64]> = words(WORDS_16);
    let list: Box<[u16]> = (0..900).map(|i| i * 71).collect();
    vec![
        Filter::None,
        Filter::Bitmap8([1, 2, 3, 4]),
        Filter::Bitmap16(bitmap.clone()),
        Filter::List16(list.clone()),
        Filter::Near16 { base: 5, offsets: Top16::List(list.clone()) },
        Filter::Exact(Exact::smallest(&apart(), usize::MAX).unwrap()),
        Filter::Exact(Exact::smallest(&[3, 9], usize::MAX).unwrap()),
        Filter::BloomRf { layers: layers_for(64, 7), hashed: words(97), top: Top16::None },
        Filter::BloomRf { layers: layers_for(32, 7), hashed: words(60), top: Top16::List(list) },
        Filter::BloomRf {
            layers: layers_for(32, 7),
            hashed: words(60),
            top: Top16::Bitmap(bitmap),
        },
        Filter::Blocked { seed: 9, blocks: words(4_104) },
    ]
}

#[test]
fn every_kernel_set_makes_the_same_digest_and_different_filters_have_different_ones() {
    let mut seen = std::collections::BTreeSet::new();
    for plain in filters() {
        let expected = filter(Kernel::Scalar, &plain);
        for kernel in Kernel::all() {
            assert_eq!(filter(kernel, &plain), expected, "{kernel:?} {:?}", plain.kind());
        }
        assert!(seen.insert(expected), "{:?}", plain.kind());
    }
}

#[test]
fn every_flipped_bit_changes_the_digest() {
    let kernel = Kernel::best();
    for plain in filters() {
        let whole = filter(kernel, &plain);
        let mut flipped = plain.clone();
        let (hashed, top) = match &mut flipped {
            Filter::BloomRf { hashed, top: Top16::Bitmap(top), .. } => {
                (&mut hashed[..], &mut top[..])
            }
            Filter::BloomRf { hashed, .. } => (&mut hashed[..], &mut [][..]),
            Filter::Blocked { blocks, .. } => (&mut blocks[..99], &mut [][..]),
            Filter::Bitmap16(words) => (&mut words[..], &mut [][..]),
            Filter::Bitmap8(words) => (&mut words[..], &mut [][..]),
            _ => continue,
        };
        let places: Vec<(usize, bool)> = (0..hashed.len().min(100))
            .map(|at| (at, false))
            .chain((0..top.len().min(100)).map(|at| (at, true)))
            .collect();
        for (at, is_top) in places {
            for bit in 0..64 {
                flip(&mut flipped, at, is_top, bit);
                assert_ne!(filter(kernel, &flipped), whole, "word {at} bit {bit}");
                flip(&mut flipped, at, is_top, bit);
            }
        }
        assert_eq!(filter(kernel, &flipped), whole);
    }
}

fn flip(filter: &mut Filter, at: usize, is_top: bool, bit: u32) {
    let words = match filter {
        Filter::BloomRf { top: Top16::Bitmap(top), .. } if is_top => &mut top[..],
        Filter::BloomRf { hashed: words, .. }
        | Filter::Blocked { blocks: words, .. }
        | Filter::Bitmap16(words) => &mut words[..],
        Filter::Bitmap8(words) => &mut words[..],
        _ => unreachable!("has words"),
    };
    words[at] ^= 1 << bit;
}

#[test]
fn a_set_has_one_digest_as_a_list_and_as_a_bitmap() {
    for keys in [0_u16, 1, 100, 4_095, 4_096, 4_097, 30_000] {
        let list: Box<[u16]> = (0..keys).map(|i| i * 2).collect();
        let mut words = vec![0; WORDS_16];
        list.iter().for_each(|&key| bitmap::insert(&mut words, key));
        let of = |top| filter(Kernel::best(), &Filter::Near16 { base: 1, offsets: top });
        assert_eq!(of(Top16::List(list)), of(Top16::Bitmap(words.into())), "{keys} keys");
    }
}

#[test]
fn a_groups_digest_is_of_every_row_of_both_parts() {
    for (main, top) in [(64, 0), (PIECE_ROWS, 0), (PIECE_ROWS + 64, 66_560), (640, 66_560)] {
        let rows = |len: usize, flip: usize| {
            let mut rows = Words::heap(len);
            rows.copy_from_slice(&words(len));
            if let Some(row) = rows.get_mut(flip) {
                *row ^= 1 << (flip % 64);
            }
            rows
        };
        let digest = |flip: usize| {
            let form = GroupForm::BloomRf {
                layers: layers_for(32, 7),
                hashed: rows(main, flip),
                top: rows(top, flip.wrapping_sub(main)),
            };
            let mut digest = RowsDigest::begin(Kernel::best());
            let mut seen = 0;
            loop {
                match digest.step(form.rows()) {
                    0 => break,
                    rows => seen += rows,
                }
            }
            assert_eq!(seen, main + top);
            digest.finish(&form)
        };
        let whole = digest(usize::MAX);
        for at in [0, 1, main / 2, main - 1, main, main + top / 2, (main + top) - 1] {
            assert_eq!(digest(at) == whole, at >= main + top, "row {at} of {main} + {top}");
        }
    }
}
