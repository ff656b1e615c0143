//! One synthetic packet as bytes: Ethernet, maybe VLAN, IPv4 or IPv6, TCP, UDP or ARP.

use std::net::IpAddr;

use etherparse::{
    ArpHardwareId, ArpOperation, ArpPacket, EtherType, IpHeaders, Ipv4Header, Ipv6Header,
    PacketBuilder, PacketBuilderStep, TcpHeader, VlanId, ip_number,
};

/// One side of a conversation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Endpoint {
    pub(super) mac: [u8; 6],
    pub(super) ip: IpAddr,
    pub(super) port: u16,
}

/// What a packet carries above IP, or instead of it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Carries {
    /// Flags: FIN 1, SYN 2, RST 4, PSH 8, ACK 16.
    Tcp(u8),
    Udp,
    Arp,
}

/// A packet to be written.
#[derive(Clone, Copy, Debug)]
pub(super) struct PacketPlan {
    pub(super) ts_ns: i64,
    pub(super) vlan: Option<u16>,
    pub(super) from: Endpoint,
    pub(super) to: Endpoint,
    pub(super) carries: Carries,
    pub(super) payload_bytes: u16,
}

impl PacketPlan {
    /// Appends the packet's bytes to `out`.
    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), String> {
        let payload = &PAYLOAD[..usize::from(self.payload_bytes).min(PAYLOAD.len())];
        let ethernet = PacketBuilder::ethernet2(self.from.mac, self.to.mac);
        if matches!(self.carries, Carries::Arp) {
            return arp(&self.from, &self.to)
                .and_then(|packet| ethernet.arp(packet).write(out).map_err(|e| e.to_string()));
        }
        let headers = ip_headers(&self.from, &self.to)?;
        let step = match self.vlan.map(VlanId::try_new).transpose().map_err(|e| e.to_string())? {
            Some(vlan) => ethernet.single_vlan(vlan).ip(headers),
            None => ethernet.ip(headers),
        };
        self.write_transport(step, payload, out)
    }

    fn write_transport(
        &self,
        step: PacketBuilderStep<IpHeaders>,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let (from, to) = (self.from.port, self.to.port);
        match self.carries {
            Carries::Tcp(flags) => {
                let mut tcp = TcpHeader::new(from, to, self.ts_ns as u32, 64_240);
                tcp.fin = flags & 1 != 0;
                tcp.syn = flags & 2 != 0;
                tcp.rst = flags & 4 != 0;
                tcp.psh = flags & 8 != 0;
                tcp.ack = flags & 16 != 0;
                step.tcp_header(tcp).write(out, payload)
            }
            Carries::Udp | Carries::Arp => step.udp(from, to).write(out, payload),
        }
        .map_err(|e| e.to_string())
    }
}

fn ip_headers(from: &Endpoint, to: &Endpoint) -> Result<IpHeaders, String> {
    match (from.ip, to.ip) {
        (IpAddr::V4(source), IpAddr::V4(target)) => {
            let (source, target) = (source.octets(), target.octets());
            let header = Ipv4Header::new(0, 64, ip_number::TCP, source, target)
                .map_err(|e| e.to_string())?;
            Ok(IpHeaders::Ipv4(header, Default::default()))
        }
        (IpAddr::V6(source), IpAddr::V6(target)) => {
            let header = Ipv6Header {
                hop_limit: 64,
                source: source.octets(),
                destination: target.octets(),
                ..Default::default()
            };
            Ok(IpHeaders::Ipv6(header, Default::default()))
        }
        _ => Err("a packet between IPv4 and IPv6".to_owned()),
    }
}

fn arp(from: &Endpoint, to: &Endpoint) -> Result<ArpPacket, String> {
    let (IpAddr::V4(source), IpAddr::V4(target)) = (from.ip, to.ip) else {
        return Err("ARP is for IPv4".to_owned());
    };
    let (source, target) = (source.octets(), target.octets());
    let (ethernet, ipv4) = (ArpHardwareId::ETHERNET, EtherType::IPV4);
    let request = ArpOperation::REQUEST;
    ArpPacket::new(ethernet, ipv4, request, &from.mac, &source, &[0; 6], &target)
        .map_err(|e| e.to_string())
}

/// Payload bytes mean nothing: only their number is seen.
static PAYLOAD: [u8; 1_460] = [0x2e; 1_460];
