//! The taps of a node, at its start: one per queue.

use std::sync::Arc;

use bloomrf_engine::env::{Clock, Disk};
use bloomrf_engine::limits::FRAMES_PER_BATCH_MAX;
use bloomrf_engine::schema::{PACKET_RECORD_BYTES, Schema};
use bloomrf_netio::link::LinkKind;

use super::ids::{BatchIds, reserve_ids};
use super::{PAYLOAD_BYTES, Tap, TapConfig, TapVerdict};
use crate::StartError;
use crate::config::{Config, LinkUse};

/// Taps in the order of their queues, and the rings of their verdicts; none of a node that
/// ingests.
#[derive(Default)]
pub(crate) struct Taps {
    pub(crate) taps: Vec<Tap>,
    pub(crate) verdicts: Vec<rtrb::Consumer<TapVerdict>>,
}

impl Taps {
    /// One per queue, of which each has its link's mark as it was when the port was opened.
    pub(crate) fn make(
        config: &Config,
        clock: &Arc<dyn Clock>,
        disk: &dyn Disk,
        loss_marks: &[u64],
    ) -> Result<Self, StartError> {
        if config.link.link_use != LinkUse::Tap {
            return Ok(Self::default());
        }
        let refuse = |what, reason: &str| StartError::Setup { what, reason: reason.to_owned() };
        let packet = Schema::packet();
        if config.scc.is_some() || config.schema.fingerprint() != packet.fingerprint() {
            let reason = "needs schema packet, and no scc: nobody else knows its batches";
            return Err(refuse("link_use = \"tap\"", reason));
        }
        let first = reserve_ids(disk, clock.unix_us()).ok_or_else(|| {
            refuse("batch ids of the tap", "the stored batches leave none; set another data_dir")
        })?;
        // A replay loses nothing, and tells at once what it cannot read.
        let is_replay = config.link.spec.kind == LinkKind::Pcap;
        let tap_config = TapConfig {
            cluster: config.cluster,
            fingerprint: packet.fingerprint(),
            hash: config.chain_hash,
            batch_records: config.link.tap_batch_records.min(RECORDS_MAX),
            batch_ns: config.link.tap_batch_ms.saturating_mul(1_000_000),
            settle_ns: if is_replay { 0 } else { SETTLE_NS },
            is_patient: is_replay,
        };
        let make = |(queue, &mark)| {
            let ids = BatchIds::of_queue(first, queue, loss_marks.len());
            Tap::new(tap_config.clone(), Arc::clone(clock), ids, mark)
        };
        let (taps, verdicts) = loss_marks.iter().enumerate().map(make).unzip();
        Ok(Taps { taps, verdicts })
    }
}

/// Records of as many full frames as one batch may have.
pub(crate) const RECORDS_MAX: u64 =
    (FRAMES_PER_BATCH_MAX * (PAYLOAD_BYTES / PACKET_RECORD_BYTES)) as u64;
/// Drivers refresh the counters of a port every two seconds, and some tell them a moment later.
const SETTLE_NS: u64 = 3_000_000_000;
