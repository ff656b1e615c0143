//! What a section says of one interface: link type, snap length, unit and origin of time.

use pcap_parser::pcapng::InterfaceDescriptionBlock;

use crate::capture::SECOND_NS;

pub(super) struct Interface {
    pub(super) link_type: u32,
    pub(super) snaplen: u32,
    /// Seconds that times are counted from.
    offset_s: i64,
    /// `if_tsresol`: a negative power of 10, or of 2 where the top bit is set.
    resolution: u8,
}

impl Interface {
    pub(super) fn new(block: &InterfaceDescriptionBlock<'_>, big_endian: bool) -> Self {
        // `pcap-parser` reads the offset as little-endian in either case.
        let offset_s = block.if_tsoffset;
        Interface {
            // A negative one is only an unsigned half, sign-extended.
            link_type: block.linktype.0.cast_unsigned() & 0xffff,
            snaplen: block.snaplen,
            offset_s: if big_endian { offset_s.swap_bytes() } else { offset_s },
            resolution: block.if_tsresol,
        }
    }

    /// Nanoseconds since 1970 of a time of `ticks`; at the ends of the range for impossible ones.
    pub(super) fn ts_ns(&self, ticks: u64) -> i64 {
        let scaled = u128::from(ticks) * SECOND_NS as u128; // < 2^94
        let exponent = u32::from(self.resolution & 0x7f);
        let ns = if self.resolution & 0x80 != 0 {
            scaled.checked_shr(exponent).unwrap_or(0)
        } else {
            10_u128.checked_pow(exponent).map_or(0, |unit| scaled / unit)
        };
        let origin = i128::from(self.offset_s) * i128::from(SECOND_NS);
        let total = origin + ns as i128;
        total.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(resolution: u8, offset_s: i64) -> Interface {
        Interface { link_type: 1, snaplen: 0, offset_s, resolution }
    }

    #[test]
    fn every_resolution_gives_nanoseconds() {
        let second = 1_000_000_000;
        assert_eq!(interface(6, 0).ts_ns(1_500_000), 3 * second / 2);
        assert_eq!(interface(9, 0).ts_ns(7), 7);
        assert_eq!(interface(0, 100).ts_ns(2), 102 * second);
        assert_eq!(interface(12, -1).ts_ns(5_000), -second + 5);
        assert_eq!(interface(0x80 | 10, 0).ts_ns(1_536), 3 * second / 2);
        assert_eq!(interface(0x80 | 127, 0).ts_ns(u64::MAX), 0);
        assert_eq!(interface(127, 5).ts_ns(u64::MAX), 5 * second);
        assert_eq!(interface(0, i64::MAX).ts_ns(u64::MAX), i64::MAX);
        assert_eq!(interface(0, i64::MIN).ts_ns(0), i64::MIN);
    }
}
