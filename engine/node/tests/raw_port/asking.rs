//! An asker with ordinary sockets.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use bloomrf_engine::predicate::{FloatOrder, Predicate};
use bloomrf_engine::wire::lookup::{Candidates, LookupReply, LookupRequest};
use bloomrf_node::Config;
use etherparse::{IcmpEchoHeader, Icmpv4Header, Icmpv4Type};
use socket2::{Domain, Protocol, Socket, Type};

/// A question about `candidates` batches, padded or not.
pub(crate) fn question(candidates: u32, pad: bool) -> Vec<u8> {
    encode(Candidates::Range { first: 1, count: candidates }, pad)
}

/// One with a list of ids, each several bytes long.
pub(crate) fn long_question(ids: u64) -> Vec<u8> {
    encode(Candidates::List((0..ids).map(|id| id << 40).collect()), false)
}

fn encode(candidates: Candidates, pad: bool) -> Vec<u8> {
    let config = Config::default();
    let request = LookupRequest {
        query_id: 7,
        cluster: config.cluster,
        fingerprint: config.schema.fingerprint(),
        budget_us: 0,
        float_order: FloatOrder::Unstated,
        candidates,
        predicate: Predicate::Unknown,
    };
    let mut bytes = Vec::new();
    request.encode(&mut bytes, pad);
    bytes
}

/// Asks over UDP, a few times where the port or the way to it is not awake yet.
pub(crate) fn ask_udp(target: SocketAddr, message: &[u8]) -> LookupReply {
    let any = if target.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = UdpSocket::bind(any).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    let mut reply = [0; 2_048];
    for _ in 0..10 {
        socket.send_to(message, target).unwrap();
        if let Ok((length, source)) = socket.recv_from(&mut reply) {
            assert_eq!(source, target);
            assert!(length <= message.len());
            return LookupReply::parse(&reply[..length]).unwrap();
        }
    }
    panic!("{target} does not answer over UDP");
}

/// Asks over a connection of its own.
pub(crate) fn ask_tcp(target: SocketAddr, message: &[u8]) -> LookupReply {
    let mut stream = TcpStream::connect_timeout(&target, Duration::from_secs(10)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    ask_over(&mut stream, message)
}

pub(crate) fn ask_over(stream: &mut TcpStream, message: &[u8]) -> LookupReply {
    stream.write_all(&(message.len() as u32).to_le_bytes()).unwrap();
    stream.write_all(message).unwrap();
    let mut prefix = [0; 4];
    stream.read_exact(&mut prefix).unwrap();
    let mut reply = vec![0; u32::from_le_bytes(prefix) as usize];
    stream.read_exact(&mut reply).unwrap();
    LookupReply::parse(&reply).unwrap()
}

/// Whether one of three echo requests is answered with its own bytes.
pub(crate) fn ping(target: IpAddr) -> bool {
    let echo = IcmpEchoHeader { id: 0x5a5a, seq: 3 };
    let payload = b"an echo's payload";
    let (domain, protocol, request) = match target {
        IpAddr::V4(_) => {
            let header = Icmpv4Header::with_checksum(Icmpv4Type::EchoRequest(echo), payload);
            (Domain::IPV4, Protocol::ICMPV4, header.to_bytes().to_vec())
        }
        // The kernel adds the sum.
        IpAddr::V6(_) => {
            let header = vec![128, 0, 0, 0, 0x5a, 0x5a, 0, 3];
            (Domain::IPV6, Protocol::ICMPV6, header)
        }
    };
    let request = [request.as_slice(), payload].concat();
    let mut socket = Socket::new(domain, Type::RAW, Some(protocol)).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    (0..3).any(|_| {
        socket.send_to(&request, &SocketAddr::new(target, 0).into()).unwrap();
        let mut reply = [0; 256];
        // Others' words come in, too: of neighbours, and that nobody is there.
        while let Ok(length) = socket.read(&mut reply) {
            let reply = reply.get(..length).unwrap();
            let body = if target.is_ipv4() { reply.get(20..).unwrap() } else { reply };
            let is_reply = body[0] == if target.is_ipv4() { 0 } else { 129 };
            if is_reply && body[4..8] == request[4..8] {
                assert_eq!(&body[8..], payload);
                return true;
            }
        }
        false
    })
}
