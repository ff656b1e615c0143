//! Settings of ingest: the link, its queues, the tap, batches.

use bloomrf_engine::limits::RECORDS_PER_BATCH_MAX;

use super::Key;
use crate::config::link::{Checksums, Idle, LinkUse};
use crate::config::read::link::{
    choice, dpdk_args, gateways, link, name_of, none_or_list, port_addresses,
};
use crate::config::read::{QUEUES_MAX, cores, groups, join, set};
use crate::config::value;
use crate::tap::RECORDS_MAX as TAP_RECORDS_MAX;

/// In the order in which they are shown, after all others.
pub(super) const KEYS: &[Key] = &[
    Key {
        name: "link",
        env: "BLOOMRF_LINK",
        unit: "link",
        limit: "udp, af_packet:INTERFACE, dpdk:DEVICE or pcap:FILE, with options behind commas",
        apply: |c, v, base| set(&mut c.link.spec, link(v, base)),
        show: |c| c.link.spec.to_string(),
    },
    Key {
        name: "link_use",
        env: "BLOOMRF_LINK_USE",
        unit: "what becomes of what arrives",
        limit: "ingest (frames of records), or tap (each packet is a record of schema packet)",
        apply: |c, v, _| set(&mut c.link.link_use, choice(v, &LinkUse::NAMES)),
        show: |c| name_of(c.link.link_use, &LinkUse::NAMES).to_owned(),
    },
    Key {
        name: "idle",
        env: "BLOOMRF_IDLE",
        unit: "what a queue does while nothing arrives",
        limit: "sleep (until woken), pause (some polls, then 50 us at most) or busy (a core each)",
        apply: |c, v, _| set(&mut c.link.idle, choice(v, &Idle::NAMES)),
        show: |c| name_of(c.link.idle, &Idle::NAMES).to_owned(),
    },
    Key {
        name: "checksums",
        env: "BLOOMRF_CHECKSUMS",
        unit: "IP and UDP checksums of raw frames",
        limit: "verify (a wrong one is refused), or trust (they are not looked at)",
        apply: |c, v, _| set(&mut c.link.checksums, choice(v, &Checksums::NAMES)),
        show: |c| name_of(c.link.checksums, &Checksums::NAMES).to_owned(),
    },
    Key {
        name: "port_addresses",
        env: "BLOOMRF_PORT_ADDRESSES",
        unit: "IP addresses with prefix length",
        limit: "at most 8, such as 10.0.0.5/24, that a raw port owns; empty: it answers nothing",
        apply: |c, v, _| set(&mut c.link.addresses, port_addresses(v)),
        show: |c| join(&c.link.addresses),
    },
    Key {
        name: "port_gateway",
        env: "BLOOMRF_PORT_GATEWAY",
        unit: "IP addresses",
        limit: "none, or at most one IPv4 and one IPv6 address within port_addresses",
        apply: |c, v, _| set(&mut c.link.gateways, gateways(v)),
        show: |c| none_or_list(&c.link.gateways),
    },
    Key {
        name: "busy_poll_us",
        env: "BLOOMRF_BUSY_POLL_US",
        unit: "microseconds",
        limit: "0..=1000; how long a receive of link udp may poll the device; 0: never",
        apply: |c, v, _| set(&mut c.link.busy_poll_us, value::number(v, 0..=1_000)),
        show: |c| c.link.busy_poll_us.to_string(),
    },
    Key {
        name: "tap_batch_records",
        env: "BLOOMRF_TAP_BATCH_RECORDS",
        unit: "records",
        limit: "1..=14548992; of one queue of a tap: its batch ends with the burst of this one",
        apply: |c, v, _| set(&mut c.link.tap_batch_records, value::number(v, 1..=TAP_RECORDS_MAX)),
        show: |c| c.link.tap_batch_records.to_string(),
    },
    Key {
        name: "tap_batch_ms",
        env: "BLOOMRF_TAP_BATCH_MS",
        unit: "milliseconds",
        limit: "10..=3600000; of one queue of a tap: how long its batch lasts",
        apply: |c, v, _| set(&mut c.link.tap_batch_ms, value::number(v, 10..=3_600_000)),
        show: |c| c.link.tap_batch_ms.to_string(),
    },
    Key {
        name: "dpdk_args",
        env: "BLOOMRF_DPDK_ARGS",
        unit: "arguments of DPDK's EAL",
        limit: "at most 1024 bytes, blanks between; memory_mib=, descriptors=, pool_mbufs=, EAL's",
        apply: |c, v, _| set(&mut c.link.dpdk_args, dpdk_args(v)),
        show: |c| c.link.dpdk_args.join(" "),
    },
    Key {
        name: "groups",
        env: "BLOOMRF_GROUPS",
        unit: "multicast addresses",
        limit: "at most 16 multicast addresses of the family of `listen`; empty: none",
        apply: |c, v, _| set(&mut c.groups, groups(v)),
        show: |c| join(&c.groups),
    },
    Key {
        name: "cores",
        env: "BLOOMRF_CORES",
        unit: "core numbers",
        limit: "at most 64 different cores, one ingest queue each; empty: not pinned",
        apply: |c, v, _| set(&mut c.cores, cores(v)),
        show: |c| join(&c.cores),
    },
    Key {
        name: "queues",
        env: "BLOOMRF_QUEUES",
        unit: "ingest queues",
        limit: "1..=64; only where `cores` is empty",
        apply: |c, v, _| set(&mut c.queues, value::number(v, 1..=QUEUES_MAX)),
        show: |c| c.queues.to_string(),
    },
    Key {
        name: "receive_buffer",
        env: "BLOOMRF_RECEIVE_BUFFER",
        unit: "bytes, with K, M or G",
        limit: "64K..=1G; wanted of the system for each ingest socket",
        apply: |c, v, _| set(&mut c.receive_buffer_bytes, value::size(v, 64 << 10..=1 << 30)),
        show: |c| value::show_size(c.receive_buffer_bytes),
    },
    Key {
        name: "expected_records",
        env: "BLOOMRF_EXPECTED_RECORDS",
        unit: "records",
        limit: "1..=67108864; sizes the filters of the first batch, later ones adapt",
        apply: |c, v, _| set(&mut c.expected_records, value::number(v, 1..=RECORDS_PER_BATCH_MAX)),
        show: |c| c.expected_records.to_string(),
    },
    Key {
        name: "batch_idle_ms",
        env: "BLOOMRF_BATCH_IDLE_MS",
        unit: "milliseconds",
        limit: "10..=3600000; an open batch without a frame for this long is given up",
        apply: |c, v, _| set(&mut c.batch_idle_ms, value::number(v, 10..=3_600_000)),
        show: |c| c.batch_idle_ms.to_string(),
    },
    Key {
        name: "close_grace_ms",
        env: "BLOOMRF_CLOSE_GRACE_MS",
        unit: "milliseconds",
        limit: "1..=600000; how long frames may arrive after CLOSE",
        apply: |c, v, _| set(&mut c.close_grace_ms, value::number(v, 1..=600_000)),
        show: |c| c.close_grace_ms.to_string(),
    },
    Key {
        name: "repair_ms",
        env: "BLOOMRF_REPAIR_MS",
        unit: "milliseconds",
        limit: "0..=600000; how long to wait for frames asked of the SCC again; 0: never asked",
        apply: |c, v, _| set(&mut c.repair_ms, value::number(v, 0..=600_000)),
        show: |c| c.repair_ms.to_string(),
    },
];
