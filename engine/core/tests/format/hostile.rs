//! Files that somebody forged: every checksum is right, anything else may be wrong. Reading one
//! neither panics nor takes memory that it does not warrant, and what was read can be asked.

use std::sync::Arc;

use bloomrf_engine::format::{EntryFault, FileRefusal, PageSize, Part, SectionRefusal};
use bloomrf_engine::format::{Stored, decode, encode};

use crate::ask::ask;
use crate::damage::Whole;
use crate::reseal::reseal;
use crate::world::{Splitmix, batch, schema};

struct Forge {
    whole: Whole,
    schema: Arc<bloomrf_engine::schema::Schema>,
    read: u64,
    refused: u64,
    forged: Vec<Stored>,
}

impl Forge {
    fn new() -> Self {
        let batch = batch(3, 40, &mut Splitmix::new(9));
        let whole = Whole::new(schema(), batch, 1, PageSize::Kib4);
        let schema = Arc::new(schema());
        Forge { whole, schema, read: 0, refused: 0, forged: Vec::new() }
    }

    /// The file with some bytes changed and all checksums right.
    fn forge(&self, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut bytes = self.whole.bytes.clone();
        change(&mut bytes);
        reseal(&mut bytes);
        bytes
    }

    fn decode(&self, bytes: &[u8]) -> Result<Stored, FileRefusal> {
        decode(bytes, &self.whole.name, &self.whole.origin, &self.whole.schema)
    }

    /// Reads a forged file, and asks what was read.
    fn try_one(&mut self, bytes: &[u8]) {
        let Ok(stored) = self.decode(bytes) else {
            self.refused += 1;
            return;
        };
        self.read += 1;
        assert!(stored.batch.filter_bytes() <= 2 * bytes.len(), "no more than the file warrants");
        let has_features = bytes[20..28].iter().any(|&byte| byte != 0);
        if stored.lost.is_empty() && !has_features {
            let again = encode(&stored.batch, &self.whole.origin, &stored.stamp);
            assert_eq!(again.as_deref(), Ok(bytes), "one encoding of what was read");
        }
        let ours = self.whole.stored.batch.columns.iter();
        let pairs = ours.zip(&stored.batch.columns).enumerate();
        let changed: Vec<usize> =
            pairs.filter(|(_, (ours, theirs))| ours != theirs).map(|(at, _)| at).collect();
        ask(&self.schema, std::slice::from_ref(&stored.batch), &changed);
        if !changed.is_empty() && self.read.is_multiple_of(29) {
            self.forged.push(stored);
        }
    }
}

/// Where the payload of section `index` lies.
fn payload(bytes: &[u8], index: usize) -> usize {
    let at = TABLE + index * 128 + 56;
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
}

#[test]
fn any_field_may_hold_anything() {
    let mut forge = Forge::new();
    let whole = forge.whole.bytes.clone();
    let table_end = TABLE + 23 * 128;
    // Every byte of the tables, and the first and last of every payload.
    let mut places: Vec<usize> = (0..table_end).collect();
    places.extend(payload(&whole, 0)..payload(&whole, 0) + 22 * 48);
    for index in 1..23 {
        let from = payload(&whole, index);
        if from > 0 {
            places.extend((from..from + 24).chain(from + 4_088..from + 4_096));
        }
    }
    for at in places {
        for change in [1, 0x80, 0xff] {
            let bytes = forge.forge(|bytes| bytes[at] ^= change);
            forge.try_one(&bytes);
        }
    }
    for at in (0..table_end).step_by(8) {
        for value in [0, 1, 1 << 26, 1 << 32, 1 << 61, u64::MAX - 4_095, u64::MAX] {
            let bytes = forge.forge(|bytes| {
                bytes[at..at + 8].copy_from_slice(&u64::to_le_bytes(value));
            });
            forge.try_one(&bytes);
        }
    }
    println!("{} read, {} refused", forge.read, forge.refused);
    assert!(forge.read > 1_000 && forge.refused > 5_000);
    // A chunk of forged batches, sliced.
    let batches: Vec<_> = forge.forged.iter().map(|stored| stored.batch.clone()).take(64).collect();
    assert!(batches.len() >= 32, "{}", batches.len());
    let columns: Vec<usize> = (0..22).collect();
    ask(&forge.schema, &batches, &columns);
}

#[test]
fn a_forged_payload_costs_its_section() {
    let forge = Forge::new();
    let lost = |index: usize, change: &dyn Fn(&mut [u8])| {
        let bytes = forge.forge(|bytes| {
            let from = payload(bytes, index);
            change(&mut bytes[from..from + 4_096]);
        });
        let stored = forge.decode(&bytes).unwrap();
        assert_eq!(stored.lost.len(), 1, "section {index}");
        assert_eq!(stored.lost[0].ordinal, index - 1);
        stored.lost[0].reason
    };
    // b16 and near_list: sorted 16-bit values. few: sorted keys.
    for index in [5, 9] {
        assert_eq!(lost(index, &|page| page[..4].rotate_left(2)), SectionRefusal::Order);
    }
    assert_eq!(lost(10, &|page| page[..8].fill(0xff)), SectionRefusal::Order);
    assert_eq!(lost(10, &|page| page[60] = 1), SectionRefusal::Domain);
    // i64 by Elias-Fano, ts as a bitmap from its first key.
    assert_eq!(lost(14, &|page| page[..64].fill(0xff)), SectionRefusal::Bits);
    assert_eq!(lost(16, &|page| page[0] &= !1), SectionRefusal::Bits);
    // Something behind the end of a payload.
    assert_eq!(lost(1, &|page| page[32] = 1), SectionRefusal::Padding);
    assert_eq!(lost(14, &|page| page[4_095] = 1), SectionRefusal::Padding);
}

#[test]
fn a_forged_zone_map_or_table_refuses_the_file() {
    let forge = Forge::new();
    let refused = |change: &dyn Fn(&mut Vec<u8>)| {
        forge.decode(&forge.forge(|bytes| change(bytes))).map(|_| ()).unwrap_err()
    };
    let zone = payload(&forge.whole.bytes, 0);
    let domain = FileRefusal::ZoneMap { reason: SectionRefusal::Domain };
    // has_null of a column that is not nullable; has_nan of an integer; the class of another.
    assert_eq!(refused(&|bytes| bytes[zone + 48 + 1] |= 2), domain);
    assert_eq!(refused(&|bytes| bytes[zone + 1] |= 4), domain);
    assert_eq!(refused(&|bytes| bytes[zone] = 2), domain);
    // min past max; a bound that a bool has not.
    assert_eq!(refused(&|bytes| bytes[zone + 16] = 0xff), domain);
    assert_eq!(refused(&|bytes| bytes[zone + 2 * 48 + 32] = 2), domain);
    let bits = FileRefusal::ZoneMap { reason: SectionRefusal::Bits };
    assert_eq!(refused(&|bytes| bytes[zone + 3] = 1), bits);
    assert_eq!(refused(&|bytes| bytes[zone + 1] |= 8), bits);
    assert_eq!(refused(&|bytes| bytes[zone + 1] &= !1), bits, "bounds without a value");

    let entry = |section: usize, fault| FileRefusal::Entry { section, fault };
    let field = |section: usize, at: usize| TABLE + section * 128 + at;
    let kind = entry(4, EntryFault::Kind { found: 1 });
    assert_eq!(refused(&|bytes| bytes[field(4, 0)] = 1), kind);
    // A list of keys for a wide column; a bitmap of 2-byte keys for a 1-byte column.
    let wide = entry(19, EntryFault::Column);
    assert_eq!(refused(&|bytes| bytes.copy_within(field(10, 0)..field(11, 0), field(19, 0))), wide);
    assert_eq!(refused(&|bytes| bytes[field(1, 16)] = 16), entry(1, EntryFault::Column));
    // Too many words; no layers; half a block; Elias-Fano of 2^40 keys.
    let parameters = |section| entry(section, EntryFault::Parameters);
    assert_eq!(refused(&|bytes| bytes[field(13, 40) + 3] = 4), parameters(13));
    assert_eq!(refused(&|bytes| bytes[field(13, 17)] = 0), parameters(13));
    assert_eq!(refused(&|bytes| bytes[field(12, 40)] = 60), parameters(12));
    assert_eq!(refused(&|bytes| bytes[field(14, 40) + 5] = 1), parameters(14));
    // Another place, length, column, or a byte that no field has.
    for at in [2, 57, 64, 72, 127] {
        let place = entry(13, EntryFault::Place);
        assert_eq!(refused(&|bytes| bytes[field(13, at)] ^= 4), place, "{at}");
    }
    // The gap behind the table, which no checksum covers.
    let gap = FileRefusal::Reserved { part: Part::Sections };
    assert_eq!(refused(&|bytes| bytes[4_095] = 1), gap);
}

/// Header and metadata.
const TABLE: usize = 256 + 48;
