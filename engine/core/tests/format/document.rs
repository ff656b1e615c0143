//! The file that `docs/FORMAT.md` shows, and one of every kind that was written long ago: both are
//! what this crate writes and reads to this day.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bloomrf_engine::filter::{ColumnFlags, ColumnZone, Filter, SealedColumn, Top16};
use bloomrf_engine::format::{FileName, Stamp, decode, encode};
use bloomrf_engine::schema::Schema;
use bloomrf_engine::seal::SealedBatch;
use bloomrf_engine::verify::{BatchHash, HashAlgorithm};
use bloomrf_kernels::{Kernel, Layers, Zone, bloomrf};

use crate::world::{Splitmix, batch, name, origin, schema, stamp};

fn at(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The file of the document: lines of an offset and bytes; all others are zero.
fn shown() -> Vec<u8> {
    let text = std::fs::read_to_string(at("../../docs/FORMAT.md")).expect("docs/FORMAT.md");
    let (_, block) = text.split_once("```hex file\n").expect("a block `hex file`");
    let (block, _) = block.split_once("```").expect("its end");
    let mut file = Vec::new();
    for line in block.lines() {
        let hex = line.split('#').next().unwrap_or_default();
        let (offset, bytes) = hex.split_once(':').expect("offset: bytes");
        let offset: usize = offset.trim().parse().expect("a decimal offset");
        let bytes = bytes.split_whitespace().map(|b| u8::from_str_radix(b, 16).expect("hex"));
        assert!(offset >= file.len(), "offset {offset} lies behind the bytes before");
        file.resize(offset, 0);
        file.extend(bytes);
    }
    file
}

/// Lines of the file for the document.
fn lines(file: &[u8]) -> String {
    let line = |(index, bytes): (usize, &[u8])| {
        let last = (index + 1) * 16 >= file.len();
        let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let is_shown = last || bytes.iter().any(|&byte| byte != 0);
        is_shown.then(|| format!("{:>5}: {}", index * 16, hex.join(" ")))
    };
    file.chunks(16).enumerate().filter_map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_file_of_the_document_is_what_we_write() {
    let text = "name = \"one\"\nversion = 1\n[[columns]]\nname = \"src\"\ntype = \"ipv4\"\n";
    let schema = Schema::from_toml(text).unwrap();
    let layers = Layers::new(32, &[6, 3, 3, 2, 2], true, 7).unwrap();
    let keys = [0x0A01_0203, 0xC0A8_0001];
    let (mut hashed, mut top) = (vec![0; 2], vec![0; 1_024]);
    bloomrf::insert_many(Kernel::Scalar, &layers, &mut hashed, &mut top, &keys);
    let mut zone = Zone::default();
    keys.iter().for_each(|&key| zone.insert(key));
    let column = SealedColumn {
        flags: ColumnFlags { has_value: true, has_null: false, has_nan: false },
        zone: ColumnZone::Narrow(zone),
        filter: Filter::BloomRf {
            layers,
            hashed: hashed.into(),
            top: Top16::List([0x0A01, 0xC0A8].into()),
        },
    };
    let mut digest = [0; 32];
    (0..16).for_each(|i| digest[usize::from(i)] = 0x80 | i);
    let hash = BatchHash { algorithm: HashAlgorithm::Xxh3, digest };
    let batch = SealedBatch { batch: 42, records: 3, hash, columns: vec![Arc::new(column)] };
    let stamp = Stamp {
        uuid: 0x2f2e_2d2c_2b2a_2928_2726_2524_2322_2120,
        generation: 1,
        built_at_us: 1_700_000_000_000_000,
        seed: 7,
    };
    let origin = origin(&schema);
    let bytes = encode(&batch, &origin, &stamp).unwrap();
    assert!(bytes == shown(), "the document should show\n{}", lines(&bytes));
    let name: FileName = "batch-000000000000002a-0000000000000001.blmf".parse().unwrap();
    let stored = decode(&bytes, &name, &origin, &schema).unwrap();
    assert_eq!((stored.batch, stored.stamp), (batch, stamp));
}

#[test]
fn a_file_with_every_kind_of_filter_reads_as_it_did_when_it_was_written() {
    let (schema, stamp) = (schema(), stamp(1));
    let batch = batch(2, 60, &mut Splitmix::new(12));
    let bytes = encode(&batch, &origin(&schema), &stamp).unwrap();
    let path = at("tests/golden/every-kind.blmf");
    if std::env::var_os("GOLDEN_WRITE").is_some() {
        std::fs::write(&path, &bytes).unwrap();
    }
    let golden = std::fs::read(&path).expect("tests/golden/every-kind.blmf");
    assert!(bytes == golden, "the layout changed: that is another format version");
    let stored = decode(&golden, &name(&batch, &stamp), &origin(&schema), &schema).unwrap();
    assert_eq!((stored.batch, stored.lost.len()), (batch, 0));
}
