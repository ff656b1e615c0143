//! Files that somebody forged: every checksum is right, anything else may be wrong. Reading one
//! neither panics nor takes memory that it does not warrant, and what was read can be asked and
//! encodes to the same bytes.

use bloomrf_filter::Presence;
use bloomrf_filter::file::{Asked, Info, decode, encode};

use crate::reseal::reseal;
use crate::world::{item, small};

struct Forge {
    whole: Vec<u8>,
    read: u64,
    refused: u64,
}

impl Forge {
    /// Reads the file with some bytes changed and all checksums right.
    fn try_one(&mut self, at: usize, change: impl FnOnce(&mut [u8])) {
        let mut bytes = self.whole.clone();
        change(&mut bytes[at..]);
        reseal(&mut bytes);
        let info = Info::read(&bytes, bytes.len() as u64);
        let Ok(stored) = decode(&bytes, &Asked::default()) else {
            self.refused += 1;
            return;
        };
        self.read += 1;
        let info = info.unwrap();
        assert_eq!((info.rule, &info.labels), (stored.rule, &stored.labels));
        assert!(stored.filter.bytes() <= bytes.len() as u64, "no more than the file warrants");
        let is_newer = bytes[20..28].iter().any(|&byte| byte != 0);
        let has_unknown_tag = info.source.is_none() || info.labels.is_empty();
        if !is_newer && !has_unknown_tag {
            let again = encode(&stored).unwrap();
            assert!(again == bytes, "one encoding of what was read, byte {at}");
        }
        (0..64).for_each(|i| _ = stored.contains(&item(i)));
        assert!(stored.filter.fpr() >= 0.0 && stored.filter.estimate() >= 0.0);
    }
}

#[test]
fn any_field_may_hold_anything() {
    for (kind, stored) in small() {
        let whole = encode(&stored).unwrap();
        let table = u64::from_le_bytes(whole[160..168].try_into().unwrap()) as usize;
        let payload = u64::from_le_bytes(whole[200..208].try_into().unwrap()) as usize;
        let length = u64::from_le_bytes(whole[table + 64..table + 72].try_into().unwrap()) as usize;
        let end = whole.len();
        let mut forge = Forge { whole, read: 0, refused: 0 };
        let payload_end = payload + length;
        let places =
            (0..table + 136).chain(payload..payload + 16).chain(payload_end..payload_end + 8);
        for at in places.chain(payload + 4_088..end) {
            for change in [1, 0x80, 0xff] {
                forge.try_one(at, |bytes| bytes[0] ^= change);
            }
        }
        for at in (0..table + 264).step_by(8) {
            let values = [0, 1, 63, 1 << 20, 1 << 32, 1 << 40, 1 << 61, u64::MAX - 4_095, u64::MAX];
            for value in values {
                forge.try_one(at, |bytes| bytes[..8].copy_from_slice(&u64::to_le_bytes(value)));
            }
        }
        println!("{kind}: {} read, {} refused", forge.read, forge.refused);
        assert!(forge.read > 50 && forge.refused > 500, "{kind}");
    }
}
