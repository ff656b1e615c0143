//! Parquet files: any bytes as a file, as its metadata, and as one filter.

use std::io::Cursor;

use bloomrf_filter::foreign::Foreign;
use bloomrf_filter::foreign::parquet::{Footer, Sbbf, file};

use super::{LIMITS, ask, key};

/// Any bytes.
pub fn run(bytes: &[u8]) {
    if let Ok(footer) = Footer::parse(bytes) {
        assert!(footer.places().len() <= bytes.len());
    }
    if let Ok(mut filter) = Sbbf::parse(bytes, LIMITS) {
        ask(&filter, bytes.len());
        // Headers may have more fields than ours.
        let again = filter.write();
        assert_eq!(Sbbf::parse(&again, LIMITS).as_ref(), Ok(&filter));
        assert!(bytes.ends_with(&again[again.len() - filter.bytes() as usize..]));
        filter.insert(bytes);
        assert!(filter.contains(bytes));
    }
    let mut source = Cursor::new(bytes);
    let Ok(footer) = file::footer(&mut source, LIMITS) else { return };
    for place in footer.places().iter().take(PLACES_MAX) {
        assert!(place.offset > 0);
        if let Ok(filter) = file::filter(&mut source, place, LIMITS) {
            ask(&filter, bytes.len());
        }
    }
}

/// Files and filters to start from.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let Ok(mut filter) = Sbbf::build(2, LIMITS) else { return Vec::new() };
    (0..9).for_each(|i| filter.insert(&key(i)));
    let blob = filter.write();
    let mut file = b"PAR1".to_vec();
    file.extend(&blob);
    // Two row groups of one column `c` of type 2, filter at 4; the second one has none.
    let metadata = [
        &[0x15, 2, 0x39, 0x2c][..],
        &[0x19, 0x1c, 0x3c, 0x15, 4, 0x29, 0x18, 1, b'c', 0xb6, 8, 0, 0, 0],
        &[0x19, 0x1c, 0x3c, 0x15, 4, 0x29, 0x18, 1, b'd', 0xb6, 0, 0, 0, 0],
        &[0],
    ];
    let metadata = metadata.concat();
    file.extend(&metadata);
    file.extend((metadata.len() as u32).to_le_bytes());
    file.extend(b"PAR1");
    vec![blob, metadata, file]
}

/// A file of a megabyte can name one filter a hundred thousand times.
const PLACES_MAX: usize = 100;
