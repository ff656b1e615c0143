//! What is asked of the links, and of the whole node on one ingest core.

use super::{Figure, Measured};
use crate::bench::links::{AF_PACKET, NET_NULL, PIPELINE, VETH};
use crate::bench::tables::Rows;

pub(super) const FIGURES: &[Figure] = &[
    Figure {
        work: "`dpdk` link, no-op consumer, against `dpdk-testpmd rxonly`, packets per CPU-second",
        floor: ">= 0.75 of it",
        aim: ">= 0.9",
        measure: against_testpmd,
    },
    Figure {
        work: "`af_packet` on an interface without an address against `recvmmsg`, CPU time of \
               kernel and receiver for a packet (the better of host_stack=1 and 0 counts)",
        floor: ">= 4 x cheaper",
        aim: ">= 6 x",
        measure: against_recvmmsg,
    },
    Figure {
        work: "the whole node on one ingest core, receive and parsing included, all columns of the \
               64-byte bench schema filtered",
        floor: "10 Gb/s of records: 19.5 M/s, <= 51.2 ns; or which stage holds it back",
        aim: "<= 51.2 ns from every link",
        measure: whole_node,
    },
];

/// Nanoseconds for a record at 10 Gb/s of 64-byte records.
pub(crate) const RECORD_NS: f64 = 51.2;

fn against_testpmd(rows: &Rows) -> Option<Measured> {
    let (mut least, mut shown) = (f64::INFINITY, Vec::new());
    for case in NET_NULL {
        let rate = |variant| rows.quiet("netio", case, variant, "rate");
        let Some((ours, theirs)) = rate("dpdk link").zip(rate("dpdk-testpmd rxonly")) else {
            continue;
        };
        let share = ours / theirs;
        least = least.min(share);
        shown.push(format!("{case}: {share:.2} ({:.0} M of {:.0} M)", ours / 1e6, theirs / 1e6));
    }
    let text = shown.join("; ");
    least.is_finite().then_some(Measured { text, floor: least >= 0.75, aim: least >= 0.9 })
}

fn against_recvmmsg(rows: &Rows) -> Option<Measured> {
    let (mut least, mut shown) = (f64::INFINITY, Vec::new());
    for case in VETH {
        let cost = |variant| rows.quiet("netio", case, variant, "cost");
        let Some(theirs) = cost("udp recvmmsg") else { continue };
        let times: Vec<f64> =
            AF_PACKET.iter().filter_map(|variant| Some(theirs / cost(variant)?)).collect();
        let Some(best) = times.iter().copied().reduce(f64::max) else { continue };
        least = least.min(best);
        let times: Vec<String> = times.iter().map(|times| format!("{times:.1} x")).collect();
        shown.push(format!("{case}: {} of {theirs:.0} ns", times.join(" and ")));
    }
    let text = shown.join("; ");
    least.is_finite().then_some(Measured { text, floor: least >= 4.0, aim: least >= 6.0 })
}

fn whole_node(rows: &Rows) -> Option<Measured> {
    let costs: Vec<_> =
        rows.section("netio").filter(|row| row.case == PIPELINE && row.measure == "cost").collect();
    let best = costs.iter().min_by(|a, b| a.quiet.total_cmp(&b.quiet))?;
    let worst = costs.iter().map(|row| row.quiet).fold(0.0, f64::max);
    let mut shown = Vec::new();
    for cost in &costs {
        let stages = ["receive", "sort", "ingest"].map(|stage| {
            let ns = rows.quiet("netio", PIPELINE, &cost.variant, &format!("stage {stage}"));
            ns.map(|ns| (stage, ns))
        });
        let slowest = stages.into_iter().flatten().max_by(|a, b| a.1.total_cmp(&b.1));
        let slowest = slowest.map(|(stage, ns)| format!(", of it {stage} {ns:.1}"));
        let slowest = slowest.unwrap_or_default();
        shown.push(format!("{} {:.1} ns{slowest}", cost.variant, cost.quiet));
    }
    let text = shown.join("; ");
    Some(Measured { text, floor: best.quiet <= RECORD_NS, aim: worst <= RECORD_NS })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::records::Row;

    fn row(case: &str, variant: &str, measure: &str, quiet: f64) -> Row {
        Row {
            section: "netio".to_owned(),
            case: case.to_owned(),
            variant: variant.to_owned(),
            measure: measure.to_owned(),
            unit: String::new(),
            quiet,
            median: quiet,
        }
    }

    #[test]
    fn the_worst_length_of_packets_decides() {
        let rows = Rows(vec![
            row(NET_NULL[0], "dpdk link", "rate", 95e6),
            row(NET_NULL[0], "dpdk-testpmd rxonly", "rate", 100e6),
            row(NET_NULL[1], "dpdk link", "rate", 80e6),
            row(NET_NULL[1], "dpdk-testpmd rxonly", "rate", 100e6),
        ]);
        let measured = against_testpmd(&rows).expect("both are there");
        assert_eq!((measured.floor, measured.aim), (true, false));
        assert!(measured.text.contains("full frames: 0.80 (80 M of 100 M)"), "{}", measured.text);
    }

    #[test]
    fn the_better_way_of_af_packet_counts() {
        let rows = Rows(vec![
            row(VETH[0], "udp recvmmsg", "cost", 1_000.0),
            row(VETH[0], AF_PACKET[0], "cost", 400.0),
            row(VETH[0], AF_PACKET[1], "cost", 200.0),
        ]);
        let measured = against_recvmmsg(&rows).expect("they are there");
        assert_eq!((measured.floor, measured.aim), (true, false));
        assert!(measured.text.contains("2.5 x and 5.0 x of 1000 ns"), "{}", measured.text);
    }

    #[test]
    fn a_node_that_is_too_slow_is_told_with_its_slowest_stage() {
        let rows = Rows(vec![
            row(PIPELINE, "pcap", "cost", 60.0),
            row(PIPELINE, "pcap", "stage receive", 10.0),
            row(PIPELINE, "pcap", "stage ingest", 45.0),
        ]);
        let measured = whole_node(&rows).expect("it is there");
        assert_eq!((measured.floor, measured.aim), (false, false));
        assert_eq!(measured.text, "pcap 60.0 ns, of it ingest 45.0");
    }
}
