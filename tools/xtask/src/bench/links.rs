//! The record of `cargo xtask bench netio` as tables: a packet's cost on every link, a record's
//! cost in the whole node.

use std::fmt::Write as _;

use super::figures::RECORD_NS;
use super::tables::{Rows, distinct, number};

/// DPDK's device that makes frames of nothing.
pub(crate) const NET_NULL: [&str; 2] = ["dpdk net_null 64 B", "dpdk net_null full frames"];
/// The pair of interfaces.
pub(crate) const VETH: [&str; 2] = ["veth 64 B", "veth full frames"];
/// The ring, with the host's stack and without.
pub(crate) const AF_PACKET: [&str; 2] = ["af_packet", "af_packet host_stack=0"];
/// The whole node.
pub(crate) const PIPELINE: &str = "pipeline";

const PACKETS: &str = "\
A packet's cost is CPU time: of the receiving thread (*thread*) and, over the veth pair, of the
kernel that receives (*kernel*). There the kernel receives in the sender's time, so its part is the
sender's time for a packet less that for one of a protocol that nobody speaks, which is dropped as
soon as it has arrived; *sender* is the whole of it. Cycles are ticks of the time stamp counter.

| case | who | ns a packet | median | M/CPU-s | cycles | thread | kernel | sender | lost % |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
";

const RECORDS: &str = "\
A record's cost is CPU time of the node's poll thread; its stages are what the poll loop counts by
itself, in ns of the time stamp counter. *Room* is what is left of 51.2 ns.

| frames from | ns a record | median | M records/s | cycles | receive | sort | ingest | room ns |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
";

/// Both tables.
pub(crate) fn tables(rows: &Rows) -> String {
    let mut text = String::new();
    let costs = || rows.section("netio").filter(|row| row.measure == "cost");
    let cases = distinct(costs().map(|row| row.case.as_str()));
    for case in cases.iter().filter(|case| **case != PIPELINE) {
        if text.is_empty() {
            text.push_str(PACKETS);
        }
        for row in costs().filter(|row| row.case == **case) {
            let of = |measure| rows.quiet("netio", case, &row.variant, measure);
            let _ = writeln!(
                text,
                "| {case} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                row.variant,
                number(Some(row.quiet), 2),
                number(Some(row.median), 2),
                number(of("rate").map(|rate| rate / 1e6), 2),
                number(of("cycles"), 1),
                number(of("thread"), 1),
                number(of("kernel"), 1),
                number(of("sender"), 1),
                number(of("lost").map(|share| share * 100.0), 3),
            );
        }
    }
    if !cases.contains(&PIPELINE) {
        return text;
    }
    let _ = write!(text, "\n{RECORDS}");
    for row in costs().filter(|row| row.case == PIPELINE) {
        let of = |measure| rows.quiet("netio", PIPELINE, &row.variant, measure);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            row.variant,
            number(Some(row.quiet), 2),
            number(Some(row.median), 2),
            number(of("rate").map(|rate| rate / 1e6), 1),
            number(of("cycles"), 1),
            number(of("stage receive"), 2),
            number(of("stage sort"), 2),
            number(of("stage ingest"), 2),
            number(Some(RECORD_NS - row.quiet), 1),
        );
    }
    text
}
