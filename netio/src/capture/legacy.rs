//! Classic pcap: a 24-byte header, then records of one link type. Micro- and nanoseconds, both
//! byte orders, and Kuznetzov's longer records, by `pcap-parser`.

use pcap_parser::PcapError;
use pcap_parser::nom;
use pcap_parser::pcap::{
    LegacyPcapBlock, PcapHeader, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified,
    parse_pcap_header,
};

use super::window::Window;
use super::{BLOCK_BYTES_MAX, Cut, Packet, SECOND_NS, SNAPLEN_USUAL_MAX};

const FILE_HEADER_BYTES: usize = 24;

pub(super) struct Legacy {
    window: Window,
    parse: ParseRecord,
    record_header_bytes: usize,
    record_bytes_max: usize,
    big_endian: bool,
    link_type: u32,
    tick_ns: i64,
}

type ParseRecord =
    for<'a> fn(&'a [u8]) -> nom::IResult<&'a [u8], LegacyPcapBlock<'a>, PcapError<&'a [u8]>>;

impl Legacy {
    pub(super) fn open(mut window: Window) -> Result<Self, String> {
        let bytes = window.peek(FILE_HEADER_BYTES);
        let header = match parse_pcap_header(bytes) {
            Ok((_, header)) => header,
            Err(nom::Err::Incomplete(_)) if starts_like_pcap(bytes) => {
                let have = bytes.len() as u64;
                return Err(window.short("a pcap header of 24 bytes", have));
            }
            Err(_) => return Err(describe(&mut window)),
        };
        window.consume(FILE_HEADER_BYTES);
        Ok(Self::with_header(window, &header))
    }

    fn with_header(window: Window, header: &PcapHeader) -> Self {
        let (parse, record_header_bytes): (ParseRecord, usize) = if header.is_modified_format() {
            (parse_pcap_frame_modified, 24)
        } else if header.is_bigendian() {
            (parse_pcap_frame_be, 16)
        } else {
            (parse_pcap_frame, 16)
        };
        Legacy {
            window,
            parse,
            record_header_bytes,
            // A longer record is damage, unless the file's header announces it.
            record_bytes_max: (header.snaplen as usize).clamp(SNAPLEN_USUAL_MAX, BLOCK_BYTES_MAX),
            big_endian: header.is_bigendian(),
            // The upper bits tell of a frame check sequence.
            link_type: header.network.0.cast_unsigned() & 0x03ff_ffff,
            tick_ns: if header.is_nanosecond_precision() { 1 } else { 1_000 },
        }
    }

    pub(super) fn next_into(&mut self, packet: &mut Packet) -> Result<bool, Cut> {
        if self.window.at_end()? {
            return Ok(false);
        }
        let head = self.window.need(self.record_header_bytes, "a record header")?;
        let captured = captured_bytes(head, self.big_endian);
        if captured > self.record_bytes_max {
            let most = self.record_bytes_max;
            return Err(self.window.cut(format!(
                "a record that claims {captured} bytes, where {most} are possible: damaged"
            )));
        }
        let record_bytes = self.record_header_bytes + captured;
        let record = self.window.need(record_bytes, "a record")?;
        let Ok((_, block)) = (self.parse)(record) else {
            return Err(self.window.cut("a record that is malformed".to_owned()));
        };
        // 2^32 seconds and 2^32 ticks of a microsecond fit.
        let ts_ns = i64::from(block.ts_sec) * SECOND_NS + i64::from(block.ts_usec) * self.tick_ns;
        packet.set(ts_ns, self.link_type, block.data, block.origlen);
        self.window.consume(record_bytes);
        Ok(true)
    }

    #[cfg(test)]
    pub(super) fn memory_bytes(&self) -> usize {
        self.window.memory_bytes()
    }
}

/// The third word of a record header.
fn captured_bytes(head: &[u8], big_endian: bool) -> usize {
    let word = head.get(8..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0xff; 4]);
    (if big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }) as usize
}

/// The magic numbers that `parse_pcap_header` knows.
fn starts_like_pcap(bytes: &[u8]) -> bool {
    const LITTLE: [u32; 3] = [0xa1b2_c3d4, 0xa1b2_3c4d, 0xa1b2_cd34];
    const BIG: [u32; 2] = [0xa1b2_c3d4, 0xa1b2_3c4d];
    LITTLE.iter().any(|magic| bytes.starts_with(&magic.to_le_bytes()))
        || BIG.iter().any(|magic| bytes.starts_with(&magic.to_be_bytes()))
}

/// What a file begins with that is no capture.
fn describe(window: &mut Window) -> String {
    let bytes = window.peek(8).to_vec();
    if let Some(reason) = window.failure() {
        return format!("it cannot be read: {reason}");
    }
    if bytes.is_empty() {
        return "it is empty".to_owned();
    }
    let hex: Vec<_> = bytes.iter().map(|b| format!("{b:02x}")).collect();
    format!("it begins with bytes {}", hex.join(" "))
}
