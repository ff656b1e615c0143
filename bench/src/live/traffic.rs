//! Records by construction: row `row` of batch `batch` is a function of the two, so that whoever
//! asks knows what is there without keeping it. 64 bytes, twelve columns of every width.

use bloomrf_engine::identity::{BatchId, ClusterId};
use bloomrf_engine::predicate::{CompareOp, Literal, Predicate};
use bloomrf_engine::schema::{Schema, TimeUnit};

/// The cluster.
pub const CLUSTER: ClusterId = ClusterId(0x50A4);
/// Bytes of a record.
pub const RECORD_BYTES: usize = 64;
/// Records of a frame: what fits one datagram.
pub const FRAME_RECORDS: usize = 22;
/// Columns.
pub const COLUMNS: u16 = 12;

/// The schema.
///
/// # Panics
/// Never: it is a constant.
#[must_use]
pub fn schema() -> Schema {
    let text = r#"{"name": "live", "version": 1, "record_bytes": 64, "columns": [
        {"name": "ts", "type": "timestamp(ns)"},
        {"name": "flow", "type": "u64"},
        {"name": "src", "type": "ipv4"},
        {"name": "dst", "type": "ipv4"},
        {"name": "length", "type": "u32"},
        {"name": "src_port", "type": "u16"},
        {"name": "dst_port", "type": "u16"},
        {"name": "mac", "type": "mac"},
        {"name": "proto", "type": "u8"},
        {"name": "flags", "type": "u8"},
        {"name": "host", "type": "uuid"},
        {"name": "user", "type": "u32"}]}"#;
    Schema::from_json(text).expect("the schema of live traffic is valid")
}

/// The cells of one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cells {
    ts: i64,
    flow: u64,
    src: u32,
    dst: u32,
    length: u32,
    src_port: u16,
    dst_port: u16,
    mac: u64,
    proto: u8,
    flags: u8,
    host: u128,
    user: u32,
}

impl Cells {
    /// Of row `row` of batch `batch`.
    #[must_use]
    pub fn of(batch: BatchId, row: u64) -> Self {
        let draw = mix(batch << 24 | row);
        // Of a batch: some thousand targets, some hundred hosts.
        let target = mix(batch << 13 | draw & 0xFFF);
        let host = mix(batch << 9 | draw >> 12 & 0xFF);
        Cells {
            ts: START_NS + ((batch << 16 | row & 0xFFFF) * 1_000 + draw % 900) as i64,
            flow: draw,
            src: 0x0A00_0000
                | (batch as u32 & 0xF) << 16
                | (draw >> 20 & draw >> 36) as u32 & 0xFFFF,
            dst: target as u32,
            length: 64 + (draw >> 8) as u32 % 1_437,
            src_port: 1_024 + (draw >> 16) as u16 % 64_000,
            dst_port: [53, 80, 443, 445, 8_080, 22, 123, (draw >> 30) as u16][draw as usize & 7],
            mac: target >> 16,
            proto: [6, 17, 6, 1][draw as usize >> 3 & 3],
            flags: (draw >> 5) as u8 & 0x1F,
            host: u128::from(host) << 64 | u128::from(mix(host)),
            user: (batch as u32) * 10 + (draw >> 40) as u32 % 100_000,
        }
    }

    /// Cells that no record has, whatever the batch: of a row that is never sent.
    #[must_use]
    pub fn absent(draw: u64) -> Self {
        let mut cells = Cells::of(1 << 38 | draw >> 40, 1 << 23 | draw & 0xFFFF);
        // The narrow columns take every value sooner or later, but not these.
        cells.src |= 0xC000_0000;
        cells.length = 2_000 + draw as u32 % 1_000;
        cells.src_port = (draw % 1_000) as u16;
        cells.proto = 200;
        cells.flags = 0x80 | draw as u8;
        cells.user |= 1 << 31;
        cells
    }

    /// Writes the record.
    pub fn encode(&self, record: &mut [u8; RECORD_BYTES]) {
        record[..8].copy_from_slice(&self.ts.to_le_bytes());
        record[8..16].copy_from_slice(&self.flow.to_le_bytes());
        record[16..20].copy_from_slice(&self.src.to_be_bytes());
        record[20..24].copy_from_slice(&self.dst.to_be_bytes());
        record[24..28].copy_from_slice(&self.length.to_le_bytes());
        record[28..30].copy_from_slice(&self.src_port.to_le_bytes());
        record[30..32].copy_from_slice(&self.dst_port.to_le_bytes());
        record[32..38].copy_from_slice(&self.mac.to_be_bytes()[2..]);
        record[38] = self.proto;
        record[39] = self.flags;
        record[40..56].copy_from_slice(&self.host.to_be_bytes());
        record[56..60].copy_from_slice(&self.user.to_le_bytes());
        record[60..].fill(0);
    }

    /// The cell of column `column`, as an asker writes it.
    #[must_use]
    pub fn literal(&self, column: u16) -> Literal {
        let [_, _, mac @ ..] = self.mac.to_be_bytes();
        match column {
            0 => Literal::Timestamp(self.ts, TimeUnit::Ns),
            1 => Literal::Unsigned(self.flow),
            2 => Literal::Ipv4(self.src.to_be_bytes()),
            3 => Literal::Ipv4(self.dst.to_be_bytes()),
            4 => Literal::Unsigned(self.length.into()),
            5 => Literal::Unsigned(self.src_port.into()),
            6 => Literal::Unsigned(self.dst_port.into()),
            7 => Literal::Mac(mac),
            8 => Literal::Unsigned(self.proto.into()),
            9 => Literal::Unsigned(self.flags.into()),
            10 => Literal::Uuid(self.host.to_be_bytes()),
            _ => Literal::Unsigned(self.user.into()),
        }
    }

    /// `column = cell`.
    #[must_use]
    pub fn equals(&self, column: u16) -> Predicate {
        Predicate::Compare { column, op: CompareOp::Eq, literal: self.literal(column) }
    }

    /// `column = cell` for every column.
    #[must_use]
    pub fn leaves(&self) -> Vec<Predicate> {
        (0..COLUMNS).map(|column| self.equals(column)).collect()
    }
}

/// Two multiplications: every bit of the result depends on every bit of `x`.
fn mix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Of batch 0, row 0.
const START_NS: i64 = 1_790_000_000_000_000_000;

#[cfg(test)]
mod tests {
    use bloomrf_engine::schema::CellKey;

    use super::*;

    #[test]
    fn a_record_holds_the_cells_that_its_literals_name() {
        let schema = schema();
        assert_eq!(schema.record_bytes(), RECORD_BYTES);
        assert_eq!(schema.columns().len(), usize::from(COLUMNS));
        let cells = Cells::of(7, 11);
        let mut record = [0xFF; RECORD_BYTES];
        cells.encode(&mut record);
        assert_eq!(schema.columns()[1].key(&record), CellKey::Narrow(cells.flow));
        assert_eq!(schema.columns()[7].key(&record), CellKey::Narrow(cells.mac));
        assert_eq!(schema.columns()[11].key(&record), CellKey::Narrow(cells.user.into()));
        assert_eq!(cells.leaves().len(), schema.columns().len());
    }
}
