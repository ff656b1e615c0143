//! The frame digest, on every kernel set, against the library's.

use bloomrf_kernels::{Kernel, digest};
use xxhash_rust::xxh3::xxh3_128;

use crate::seeded::Splitmix;

#[test]
fn digest_equals_the_library_at_every_length() {
    let mut random = Splitmix::of("digest_equals_the_library_at_every_length");
    let bytes: Vec<u8> = (0..(64 << 10) + 3).map(|_| random.next() as u8).collect();
    for length in (0..=5_000).chain([65_535, 65_536]) {
        let at = length % 4; // at any alignment
        let input = bytes[at..at + length].to_vec().into_boxed_slice();
        let expected = xxh3_128(&input);
        for kernel in Kernel::all() {
            assert_eq!(digest::xxh3_128(kernel, &input), expected, "{kernel}, {length} bytes");
            assert_eq!(digest::xxh3_128(kernel, &bytes[at..at + length]), expected);
        }
    }
}

#[test]
fn digest_of_equal_bytes_is_the_published_one() {
    for kernel in Kernel::all() {
        for length in [0, 240, 241, 1_024, 1_025, 2_048, 2_049] {
            for fill in [0, 0xFF] {
                let input = vec![fill; length];
                assert_eq!(
                    digest::xxh3_128(kernel, &input),
                    xxh3_128(&input),
                    "{kernel}, {length}"
                );
            }
        }
    }
}
