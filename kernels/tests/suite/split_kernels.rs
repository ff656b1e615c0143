//! Split-block filters on every kernel set, and against filters that others wrote.

use std::path::PathBuf;

use bloomrf_kernels::{Kernel, hash, split_block};

use crate::seeded::Splitmix;

/// The specification once more, on bytes, by another's reading.
fn naive(blocks: usize, hashes: &[u64]) -> Vec<u8> {
    const SALTS: [u32; 8] = [
        1_203_114_875,
        1_150_766_481,
        2_284_105_051,
        2_729_912_477, //
        1_884_591_559,
        770_785_867,
        2_667_333_959,
        1_550_580_529,
    ];
    let mut bytes = vec![0; blocks * 32];
    for &hash in hashes {
        let block = ((u128::from(hash >> 32) * blocks as u128) >> 32) as usize;
        for (lane, salt) in SALTS.iter().enumerate() {
            let bit = (u64::from(*salt) * (hash & 0xFFFF_FFFF) % (1 << 32)) >> 27;
            bytes[block * 32 + lane * 4 + bit as usize / 8] |= 1 << (bit % 8);
        }
    }
    bytes
}

fn bytes_of(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn words_of(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

fn bit(found: &[u64], i: usize) -> bool {
    found[i / 64] >> (i % 64) & 1 != 0
}

#[test]
fn every_kernel_writes_and_reads_the_bytes_of_the_specification() {
    let mut random = Splitmix::of("every_kernel_writes_and_reads_the_bytes_of_the_specification");
    for len in (0..300).chain((300..4_090).step_by(61)).chain(4_090..=4_097) {
        let blocks = if len % 512 == 4 { 33_000 } else { 1 + len / 5 };
        let mut values: Vec<u64> = (0..len + 1).map(|_| random.next()).collect();
        for (value, extreme) in values.iter_mut().skip(1).zip([0, u64::MAX, 1 << 63, 1 << 31]) {
            *value = extreme;
        }
        let hash_of = |value: &u64| hash::parquet(&value.to_le_bytes());
        let hashes: Vec<u64> = values[1..].iter().map(hash_of).collect();
        let asked: Vec<u64> =
            (0..len).map(|i| if i % 3 == 0 { values[i] } else { random.next() }).collect();
        let asked_hashes: Vec<u64> = asked.iter().map(hash_of).collect();
        let expected = naive(blocks, &hashes);
        for kernel in Kernel::all() {
            let mut words = vec![0; blocks * 4 + 1];
            split_block::insert_many(kernel, &mut words[1..], &values[1..]);
            assert!(bytes_of(&words[1..]) == expected, "{kernel}, {len} values");
            let mut by_hash = vec![0; blocks * 4];
            split_block::insert_hashes_many(kernel, &mut by_hash, &hashes);
            assert!(by_hash == words[1..], "{kernel}, {len} hashes");

            let mut found = vec![u64::MAX; len.div_ceil(64) + 1];
            split_block::contains_many(kernel, &words[1..], &asked, &mut found);
            for (i, &hash) in asked_hashes.iter().enumerate() {
                assert_eq!(bit(&found, i), split_block::contains(&by_hash, hash), "{kernel}");
            }
            assert!((len..found.len() * 64).all(|i| !bit(&found, i)), "{kernel}, {len} values");
            let mut again = vec![u64::MAX; len.div_ceil(64) + 1];
            split_block::contains_hashes_many(kernel, &by_hash, &asked_hashes, &mut again);
            assert_eq!(again, found, "{kernel}, {len} hashes");
        }
    }
}

#[test]
fn a_folded_filter_equals_a_fresh_one_and_a_merged_one_holds_both() {
    let mut random = Splitmix::of("a_folded_filter_equals_a_fresh_one_and_a_merged_one_holds_both");
    let hashes: Vec<u64> = (0..2_000).map(|_| random.next()).collect();
    let of = |blocks: usize, hashes: &[u64]| {
        let mut words = vec![0; blocks * 4];
        split_block::insert_hashes_many(Kernel::best(), &mut words, hashes);
        words
    };
    for factor in [1, 2, 3, 4, 5, 6, 10, 15, 120] {
        let mut folded = of(120, &hashes);
        split_block::fold(&mut folded, factor);
        assert_eq!(folded, of(120 / factor, &hashes), "factor {factor}");
    }
    let (some, others) = hashes.split_at(700);
    let mut merged = of(120, some);
    bloomrf_kernels::words::merge(Kernel::best(), &mut merged, &of(120, others));
    assert_eq!(merged, of(120, &hashes));
}

/// The columns of the files: 1,000 values each, made as their generator makes them.
fn column(name: &str) -> Vec<Vec<u8>> {
    let of = |make: &dyn Fn(i64) -> Vec<u8>| (0..1_000).map(make).collect();
    match name {
        "s" => of(&|i| format!("key-{i}").into_bytes()),
        "i64" => of(&|i| (i * 1_000_003 - 500).to_le_bytes().to_vec()),
        "i32" => of(&|i| ((i * 7_919 - 500) as i32).to_le_bytes().to_vec()),
        "f64" => of(&|i| (i as f64 * 0.5 - 7.0).to_le_bytes().to_vec()),
        _ => of(&|i| (0..i % 40).map(|j| (i * 31 + j * 7 + (i >> 3)) as u8).collect()),
    }
}

#[test]
fn filters_of_parquet_writers_are_written_and_read_bit_for_bit() {
    let base = match std::env::var_os("BLOOMRF_DATA") {
        Some(path) => PathBuf::from(path),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"),
    };
    let Ok(entries) = base.join("../golden/parquet").read_dir() else {
        println!("skipped: no data");
        return;
    };
    let mut seen = 0;
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(column_name) = name.strip_suffix(".sbbf").and_then(|n| n.rsplit('.').next())
        else {
            continue;
        };
        let file = std::fs::read(&path).unwrap();
        // The bitset is what follows the header: the greatest power of two that fits.
        let size = 1 << file.len().ilog2();
        let bitset = &file[file.len() - size..];
        let plain = column(column_name);
        let hashes: Vec<u64> = plain.iter().map(|value| hash::parquet(value)).collect();
        for kernel in Kernel::all() {
            let mut words = vec![0; size / 8];
            split_block::insert_hashes_many(kernel, &mut words, &hashes);
            assert!(bytes_of(&words) == bitset, "{kernel}: {name}");
            if column_name == "i64" {
                let values: Vec<u64> =
                    (0..1_000i64).map(|i| (i * 1_000_003 - 500) as u64).collect();
                let mut by_value = vec![0; size / 8];
                split_block::insert_many(kernel, &mut by_value, &values);
                assert_eq!(by_value, words, "{kernel}: {name}");
            }
            let mut found = [0; 16];
            split_block::contains_hashes_many(kernel, &words_of(bitset), &hashes, &mut found);
            assert_eq!(found.iter().map(|word| word.count_ones()).sum::<u32>(), 1_000);
        }
        seen += 1;
    }
    assert!(seen > 0, "the folder holds filters");
    println!("{seen} filters of other writers");
}
