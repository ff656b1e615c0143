//! Filters of other systems: any bytes as one of their files. Refused, or read within what is
//! there, asked without a miss of what is added, and written back as they came.

pub mod bits;
pub mod dablooms;
pub mod guava;
pub mod parquet;
pub mod redis_dump;
pub mod redisbloom;
pub mod redisson;

use bloomrf_filter::foreign::{Foreign, Limits};

/// As much as an input is long, and no more.
const LIMITS: Limits = Limits { bytes_max: 1 << 20 };

/// Asks what every filter can be asked; it takes no more than `most` bytes.
fn ask(filter: &impl Foreign, most: usize) {
    assert!(filter.bytes() <= most as u64, "{} bytes of {most}", filter.bytes());
    let item = b"key-1";
    assert_eq!(filter.contains(item), filter.contains_hash(filter.hash(item)));
    let rate = filter.fpr();
    assert!((0.0..=1.0).contains(&rate), "a rate of {rate}");
    assert!(!filter.estimate().is_nan());
    assert_eq!(filter.contains(item), filter.check_samples(&[item]).is_ok());
}

/// The `i`-th item of what seeds hold.
fn key(i: u64) -> Vec<u8> {
    format!("key-{i}").into_bytes()
}
