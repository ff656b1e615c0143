//! From a capture file to records of the schema `packet`, with a count of what was not read.

use std::path::Path;

use bloomrf_engine::schema::Schema;
use bloomrf_netio::capture::{Capture, CaptureError};
use bloomrf_netio::parse::Trouble;
use bloomrf_node::packet::{self, PacketCounts};

use crate::signals::Stop;

/// A capture being read.
pub(crate) struct Intake {
    capture: Capture,
    record: Vec<u8>,
    counts: IntakeCounts,
}

/// What was read, and what could not be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct IntakeCounts {
    /// Packets read; each becomes a record.
    pub(crate) packets: PacketCounts,
    /// Where reading was cut short.
    pub(crate) cut: Option<String>,
}

impl Intake {
    pub(crate) fn open(path: &Path, schema: &Schema) -> Result<Self, CaptureError> {
        Ok(Intake {
            capture: Capture::open(path)?,
            record: vec![0; schema.record_bytes()],
            counts: IntakeCounts::default(),
        })
    }

    /// The next packet as a record.
    pub(crate) fn next_record(&mut self) -> Option<&[u8]> {
        self.next_timed().map(|(_, record)| record)
    }

    /// The next packet as a record, and its time.
    pub(crate) fn next_timed(&mut self) -> Option<(i64, &[u8])> {
        let Some(packet) = self.capture.next_packet() else {
            self.counts.cut = place_of_cut(&self.capture);
            return None;
        };
        packet::encode(&packet, &mut self.record, &mut self.counts.packets);
        Some((packet.ts_ns, &self.record))
    }

    /// Bytes of the file: read so far, and in all.
    pub(crate) fn progress(&self) -> (u64, u64) {
        self.capture.progress()
    }

    pub(crate) fn counts(&self) -> &IntakeCounts {
        &self.counts
    }
}

impl IntakeCounts {
    /// Packets whose headers are known only in part, by reason. ARP and others that are not IP
    /// have nothing more to read: they are no trouble.
    pub(crate) fn undecoded(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let not_ip = Trouble::NotIp.label();
        self.packets.by_reason().filter(move |&(label, count)| count > 0 && label != not_ip)
    }

    /// Lines for people; none where all went well.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(cut) = &self.cut {
            let packets = self.packets.packets();
            lines.push(format!("capture cut {cut}; the {packets} packets before it are used"));
        }
        let total: u64 = self.undecoded().map(|(_, count)| count).sum();
        if total > 0 {
            let parts: Vec<String> =
                self.undecoded().map(|(reason, count)| format!("{reason} {count}")).collect();
            lines.push(format!(
                "{total} packets decoded in part, unknown columns are null: {}",
                parts.join(", ")
            ));
        }
        lines
    }
}

/// Counts packets without looking into them, until a signal comes; says too where the capture is
/// cut. The error is that of a file that is no capture.
pub(crate) fn count_packets(
    path: &Path,
    stop: &Stop,
) -> Result<(u64, Option<String>), CaptureError> {
    let mut capture = Capture::open(path)?;
    let mut packets = 0;
    while !stop.is_set() && capture.next_packet().is_some() {
        packets += 1;
    }
    Ok((packets, place_of_cut(&capture)))
}

fn place_of_cut(capture: &Capture) -> Option<String> {
    capture.cut().map(|cut| format!("at byte {}: {}", cut.offset, cut.reason))
}
