//! Whole files of every format.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn what_the_writer_writes_is_read_back() {
    assert_eq!(read(&pcap().0), (samples(), None));
    let empty = PcapWriter::new(Vec::new(), 1).unwrap().finish().unwrap();
    assert_eq!(read(&empty), (vec![], None));
    let mut writer = PcapWriter::new(Vec::new(), 1).unwrap();
    assert!(writer.write(-1, &[], 0).is_err());
    assert!(writer.write(i64::MAX, &[], 0).is_err());
    assert!(writer.write(0, &vec![0; 262_145], 0).is_err());
}

#[test]
fn pcap_is_read_in_every_unit_and_byte_order() {
    for (magic, tick_ns, long) in
        [(0xa1b2_c3d4_u32, 1_000, false), (0xa1b2_3c4d, 1, false), (0xa1b2_cd34, 1_000, true)]
    {
        for big_endian in [false, true] {
            if long && big_endian {
                continue;
            }
            let word = |n: u32| if big_endian { n.to_be_bytes() } else { n.to_le_bytes() };
            let mut file = word(magic).to_vec();
            file.extend(if big_endian { [0, 2, 0, 4] } else { [2, 0, 4, 0] });
            // The upper bits of the link type tell of a frame check sequence of 4 bytes.
            for n in [0, 0, 65_535, 0x4400_0000 | 276] {
                file.extend(word(n));
            }
            for n in [1_000_000_000, 999_999, 3, 1_514] {
                file.extend(word(n));
            }
            file.extend(vec![0; if long { 8 } else { 0 }]);
            file.extend(b"abc");
            let ts_ns = 1_000_000_000_000_000_000 + 999_999 * tick_ns;
            assert_eq!(read(&file), (vec![packet(ts_ns, 276, b"abc", 1_514)], None));
        }
    }
}

#[test]
fn pcapng_keeps_byte_order_and_interfaces_apart_by_section() {
    let mut file = Blocks::new();
    file.section(false);
    file.interface(1, 0, 6, 0);
    file.interface(101, 4, 0x80 | 10, 100);
    file.enhanced(1, 1_536, b"first");
    file.enhanced(0, 7, b"second");
    file.block(0x0bad, &[0; 16]);
    file.section(true);
    file.interface(276, 3, 9, -2);
    file.interface(113, 0, 3, 0);
    file.enhanced(1, 1, b"third");
    // The older Packet Block: interface and drop count share a word.
    file.packet(2, [0, 1, 0xff, 0xff], 5, b"fourth");
    file.packet(2, [0, 0, 0, 9], 5, b"fifth");
    file.block(3, &[&1_000_u32.to_be_bytes()[..], b"sixth"].concat());
    file.section(false);
    file.interface(9, 0, 9, 0);
    file.block(3, &[&2_u32.to_le_bytes()[..], b"se"].concat());
    file.packet(2, [0, 0, 9, 0], 5, b"eighth");
    let second = 1_000_000_000;
    let expected = vec![
        packet(101 * second + second / 2, 101, b"first", 1_000),
        packet(7_000, 1, b"second", 1_000),
        packet(1_000_000, 113, b"third", 1_000),
        packet(5_000_000, 113, b"fourth", 1_000),
        packet(5 - 2 * second, 276, b"fifth", 1_000),
        packet(0, 276, b"six", 1_000),
        packet(0, 9, b"se", 2),
        packet(5, 9, b"eighth", 1_000),
    ];
    assert_eq!(read(&file.bytes), (expected, None));
}

#[test]
fn blocks_without_packets_are_skipped_at_any_length() {
    let mut file = pcapng();
    file.block(0x8000_1234, &vec![7; 3_000_000]);
    file.enhanced(0, 5, b"behind");
    let mut capture = open(&file.bytes).unwrap();
    assert_eq!(capture.by_ref().count(), samples().len() + 1);
    assert_eq!(capture.cut(), None);
    let Format::Pcapng(pcapng) = &capture.format else { panic!("pcapng") };
    assert!(pcapng.memory_bytes() <= 128 << 10);
}

#[test]
fn gzip_is_told_by_its_first_bytes_and_may_have_several_members() {
    let (plain, starts) = pcap();
    assert_eq!(read(&gzip(&plain)), (samples(), None));
    let (front, back) = plain.split_at(starts[2] + 5);
    assert_eq!(read(&[gzip(front), gzip(back)].concat()), (samples(), None));
    assert_eq!(read(&gzip(&pcapng().bytes)), (samples(), None));
}

#[test]
fn what_is_no_capture_is_named() {
    let text = |bytes: &[u8]| open(bytes).unwrap_err().to_string();
    let expected = "bytes: not a capture file (expected pcap or pcapng, plain or gzip): ";
    assert_eq!(text(b""), format!("{expected}it is empty"));
    assert_eq!(text(b"GIF89a"), format!("{expected}it begins with bytes 47 49 46 38 39 61"));
    assert_eq!(text(&gzip(b"text")), format!("{expected}gzip: it begins with bytes 74 65 78 74"));
    assert!(text(&[0x1f, 0x8b, 1, 2, 3]).contains("gzip: it cannot be read: "));
    assert!(
        text(&pcap().0[..23]).ends_with("a pcap header of 24 bytes, of which the file holds 23")
    );
    assert!(
        text(&pcapng().bytes[..20]).contains("a block of 28 bytes, of which the file holds 20")
    );
}

#[test]
fn a_file_that_cannot_be_opened_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.pcap");
    let error = Capture::open(&missing).unwrap_err();
    assert!(error.to_string().contains("missing.pcap"), "{error}");
    assert!(matches!(error, CaptureError::Open { .. }));
    assert!(matches!(Capture::open(folder.path()), Err(CaptureError::Open { .. })));
}

#[test]
fn progress_ends_at_the_size_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    for bytes in [pcap().0, gzip(&pcap().0)] {
        let path = folder.path().join("x.pcap");
        std::fs::write(&path, &bytes).unwrap();
        let mut capture = Capture::open(&path).unwrap();
        assert_eq!(capture.by_ref().count(), samples().len());
        assert_eq!(capture.progress(), (bytes.len() as u64, bytes.len() as u64));
    }
}
