//! A synthetic capture: one hour of a small site, seeded, with the traits that matter to filters.
//!
//! A few popular servers and a long tail (Zipf), clients that come and go, DNS, TLS, HTTP, SSH,
//! SMB and NTP flows, some IPv6, some VLANs, a few scans, ARP. Only headers are kept (96 bytes a
//! packet, as a capture with a snap length has); lengths on the wire are those of whole packets.

mod packets;
mod site;

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use bloomrf_netio::capture::writer::PcapWriter;

use super::chance::Chance;
use packets::{Carries, Endpoint, PacketPlan};
use site::Site;

/// Writes `packets` packets to `path` as pcap; leaves off where `stopped` says so.
pub(crate) fn write(
    path: &Path,
    packets: u64,
    seed: u64,
    stopped: &dyn Fn() -> bool,
) -> io::Result<()> {
    let plans = plan(packets, seed, stopped);
    let mut writer = PcapWriter::new(BufWriter::new(File::create(path)?), LINKTYPE_ETHERNET)?;
    let mut bytes = Vec::with_capacity(1_600);
    for plan in plans.iter().take_while(|_| !stopped()) {
        bytes.clear();
        plan.write(&mut bytes).map_err(io::Error::other)?;
        let captured = &bytes[..bytes.len().min(SNAP_BYTES)];
        writer.write(plan.ts_ns, captured, bytes.len() as u32)?;
    }
    writer.finish()?;
    Ok(())
}

/// The packets in order of time.
fn plan(packets: u64, seed: u64, stopped: &dyn Fn() -> bool) -> Vec<PacketPlan> {
    let mut chance = Chance::new(seed);
    let site = Site::new(&mut chance);
    let mut plans = Vec::with_capacity(packets as usize + 1_024);
    let scans = (packets / PACKETS_PER_SCAN).clamp(u64::from(packets > 2_000), 8);
    for _ in 0..scans {
        scan(&site, packets / 100, &mut chance, &mut plans);
    }
    while (plans.len() as u64) < packets && !stopped() {
        if chance.percent(4) {
            arp(&site, &mut chance, &mut plans);
        } else {
            flow(&site, &mut chance, &mut plans);
        }
    }
    plans.truncate(packets as usize);
    plans.sort_by_key(|p| p.ts_ns);
    plans
}

/// A conversation of a client with a server.
fn flow(site: &Site, chance: &mut Chance, plans: &mut Vec<PacketPlan>) {
    let client = site.client(chance);
    let (service, server) = site.server(chance);
    let v6 = service.may_be_v6() && chance.percent(14);
    let Some(started) = client.active_at(chance) else { return };
    let from = client.endpoint(v6, chance.between(32_768, 60_999) as u16);
    let to = server.endpoint(v6, service.port());
    let vlan = client.vlan;
    let mut ts_ns = START_NS + started;
    let mut push = |ts_ns: i64, out: bool, carries: Carries, payload_bytes: u16| {
        let (from, to) = if out { (from, to) } else { (to, from) };
        plans.push(PacketPlan { ts_ns, vlan, from, to, carries, payload_bytes });
    };
    if service.is_udp() {
        for _ in 0..service.exchanges(chance) {
            push(ts_ns, true, Carries::Udp, chance.between(28, 60) as u16);
            ts_ns += chance.between(200_000, 40_000_000) as i64;
            push(ts_ns, false, Carries::Udp, chance.between(44, 420) as u16);
            ts_ns += chance.between(1_000_000, 2_000_000_000) as i64;
        }
        return;
    }
    let round_trip_ns = chance.between(150_000, 60_000_000) as i64;
    push(ts_ns, true, Carries::Tcp(SYN), 0);
    push(ts_ns + round_trip_ns, false, Carries::Tcp(SYN | ACK), 0);
    ts_ns += round_trip_ns + 40_000;
    push(ts_ns, true, Carries::Tcp(ACK), 0);
    for _ in 0..service.exchanges(chance) {
        push(ts_ns, true, Carries::Tcp(PSH | ACK), chance.between(20, 600) as u16);
        ts_ns += round_trip_ns;
        for _ in 0..chance.between(1, 4) {
            push(ts_ns, false, Carries::Tcp(ACK), service.segment(chance));
            ts_ns += chance.between(10_000, 400_000) as i64;
        }
        push(ts_ns, true, Carries::Tcp(ACK), 0);
        ts_ns += chance.between(1_000_000, service.think_ns()) as i64;
    }
    push(ts_ns, true, Carries::Tcp(FIN | ACK), 0);
    push(ts_ns + round_trip_ns, false, Carries::Tcp(FIN | ACK), 0);
}

/// One stranger that tries one port on many hosts, or many ports on one host.
fn scan(site: &Site, probes: u64, chance: &mut Chance, plans: &mut Vec<PacketPlan>) {
    let stranger = site.stranger(chance);
    let from = stranger.endpoint(false, chance.between(40_000, 60_000) as u16);
    let victim = site.client(chance);
    let many_hosts = chance.percent(60);
    let port = *chance.pick(&SCANNED_PORTS).unwrap_or(&22);
    let mut ts_ns = START_NS + chance.below(HOUR_NS * 9 / 10) as i64;
    for i in 0..probes.min(1_024) {
        let mut to = victim.endpoint(false, port);
        if many_hosts {
            to.ip = site.neighbour(victim, i as u8);
        } else {
            to.port = chance.between(1, 10_000) as u16;
        }
        let syn = PacketPlan {
            ts_ns,
            vlan: victim.vlan,
            from,
            to,
            carries: Carries::Tcp(SYN),
            payload_bytes: 0,
        };
        plans.push(syn);
        if chance.percent(20) {
            let refused = Carries::Tcp(RST | ACK);
            let (from, to) = (syn.to, syn.from);
            plans.push(PacketPlan { ts_ns: ts_ns + 90_000, from, to, carries: refused, ..syn });
        }
        ts_ns += chance.between(2_000_000, 60_000_000) as i64;
    }
}

fn arp(site: &Site, chance: &mut Chance, plans: &mut Vec<PacketPlan>) {
    let client = site.client(chance);
    let Some(started) = client.active_at(chance) else { return };
    let from = client.endpoint(false, 0);
    let ip = site.neighbour(client, chance.below(256) as u8);
    plans.push(PacketPlan {
        ts_ns: START_NS + started,
        vlan: None,
        from,
        to: Endpoint { mac: [0xff; 6], ip, port: 0 },
        carries: Carries::Arp,
        payload_bytes: 0,
    });
}

const LINKTYPE_ETHERNET: u16 = 1;
/// Bytes kept of a packet.
const SNAP_BYTES: usize = 96;
/// 2026-03-02 08:00:00 UTC.
const START_NS: i64 = 1_772_438_400_000_000_000;
const HOUR_NS: u64 = 3_600_000_000_000;
const PACKETS_PER_SCAN: u64 = 40_000;
const SCANNED_PORTS: [u16; 6] = [22, 23, 445, 3_389, 5_060, 8_080];
const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const PSH: u8 = 8;
const ACK: u8 = 16;

#[cfg(test)]
mod tests {
    use bloomrf_netio::capture::Capture;

    use super::*;

    #[test]
    fn the_same_seed_writes_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = |name: &str, seed| {
            let path = folder.path().join(name);
            write(&path, 3_000, seed, &|| false).unwrap();
            std::fs::read(path).unwrap()
        };
        assert_eq!(bytes("a", 5), bytes("b", 5));
        assert_ne!(bytes("a", 5), bytes("c", 6));
    }

    #[test]
    fn the_capture_reads_back_whole_and_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("synthetic.pcap");
        write(&path, 5_000, 1, &|| false).unwrap();
        let mut capture = Capture::open(&path).unwrap();
        let (mut count, mut last) = (0, 0);
        let (mut v6, mut vlan, mut arp) = (0, 0, 0);
        while let Some(packet) = capture.next_packet() {
            assert!(packet.ts_ns >= last);
            last = packet.ts_ns;
            count += 1;
            let (headers, _) = bloomrf_netio::parse::headers(packet.link_type, &packet.bytes);
            v6 += u32::from(headers.ip6.is_some());
            vlan += u32::from(headers.vlan.is_some());
            arp += u32::from(headers.ethertype == Some(0x0806));
        }
        assert_eq!((count, capture.cut()), (5_000, None));
        assert!(v6 > 100 && vlan > 100 && arp > 10, "{v6} {vlan} {arp}");
    }
}
