//! The receivers. Each takes what there is, naps where there is nothing, and looks at no packet.

use std::hint::black_box;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use bloomrf_lab::Side;
use bloomrf_netio::link::{PortOptions, open};
use bloomrf_netio::{BURST_MAX, Burst, Link};
use rustix::net::sockopt::set_socket_recv_buffer_size_force;

use crate::cores::thread_ns;
use crate::frames::{PORT, address};
use crate::turn::{Count, DROPPED_EARLY};

/// Somebody who receives.
pub(crate) enum Receiver {
    /// One `recv` a packet.
    Plain(UdpSocket, Box<[u8]>),
    /// A link of ours.
    Link(Box<dyn Link>),
    /// Nobody.
    Nobody,
}

impl Receiver {
    /// By the names of the records.
    pub(crate) const VARIANTS: [&str; 5] =
        [DROPPED_EARLY, "recv", "udp recvmmsg", "af_packet", "af_packet host_stack=0"];

    /// Sockets hear what is sent to an address of theirs.
    pub(crate) fn needs_address(variant: &str) -> bool {
        !variant.starts_with("af_packet") && variant != DROPPED_EARLY
    }

    /// To be called inside the namespace.
    pub(crate) fn open(variant: &str) -> Result<Self, String> {
        if variant == DROPPED_EARLY {
            return Ok(Receiver::Nobody);
        }
        let listen = SocketAddr::from((address(Side::A), PORT));
        if variant == "recv" {
            let socket = UdpSocket::bind(listen).and_then(|socket| {
                socket.set_nonblocking(true)?;
                set_socket_recv_buffer_size_force(&socket, RECEIVE_BUFFER)?;
                Ok(socket)
            });
            let socket = socket.map_err(|why| format!("recv on {listen}: {why}"))?;
            return Ok(Receiver::Plain(socket, vec![0; 2_048].into()));
        }
        let text = match variant {
            "af_packet" => format!("af_packet:{}", Side::A.interface()),
            "af_packet host_stack=0" => format!("af_packet:{},host_stack=0", Side::A.interface()),
            _ => "udp".to_owned(),
        };
        let options = PortOptions {
            queues: 1,
            listen,
            groups: Vec::new(),
            receive_buffer: RECEIVE_BUFFER,
            busy_poll_us: 0,
            sends: false,
            dpdk_args: Vec::new(),
        };
        let spec = text.parse().map_err(|why| format!("{text}: {why}"))?;
        let mut port = open(&spec, &options).map_err(|why| why.to_string())?;
        port.links.pop().map(Receiver::Link).ok_or_else(|| format!("{text}: no queue"))
    }

    /// Takes what has come until nothing does for so long.
    pub(crate) fn take_all(&mut self, quiet: Duration) -> Result<Count, String> {
        self.take_until(|| true, quiet)
    }

    /// Takes packets until `is_done`, and from then on until none came for so long.
    pub(crate) fn take_until(
        &mut self,
        is_done: impl Fn() -> bool,
        quiet: Duration,
    ) -> Result<Count, String> {
        let (begin_ns, mut packets) = (thread_ns(), 0);
        let mut last = Instant::now();
        loop {
            let taken = self.take()?;
            packets += taken;
            if taken > 0 {
                continue;
            }
            if !is_done() {
                last = Instant::now();
            } else if last.elapsed() > quiet {
                break;
            }
            std::thread::sleep(NAP);
            // A packet that came late counts as the last one.
            let late = self.take()?;
            packets += late;
            if late > 0 {
                last = Instant::now();
            }
        }
        Ok(Count { packets, thread_ns: thread_ns() - begin_ns, ..Count::default() })
    }

    /// What there is, a burst at most.
    fn take(&mut self) -> Result<u64, String> {
        match self {
            Receiver::Nobody => Ok(0),
            Receiver::Link(link) => {
                let mut burst = Burst::new();
                link.rx_burst(&mut burst).map_err(|why| why.to_string())?;
                black_box(&burst);
                Ok(burst.len() as u64)
            }
            Receiver::Plain(socket, buffer) => {
                for taken in 0..BURST_MAX as u64 {
                    match socket.recv(buffer) {
                        Ok(length) => drop(black_box(&buffer[..length])),
                        Err(why) if why.kind() == ErrorKind::WouldBlock => return Ok(taken),
                        Err(why) => return Err(format!("recv: {why}")),
                    }
                }
                Ok(BURST_MAX as u64)
            }
        }
    }
}

/// What a socket may hold, bytes: a tenth of a second of full frames at the rate sent.
const RECEIVE_BUFFER: usize = 64 << 20;
/// How long an empty receiver naps.
const NAP: Duration = Duration::from_millis(1);
