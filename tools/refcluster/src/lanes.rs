//! Lanes: a UDP flow each, so that a batch spreads over the queues of whoever receives it.
//!
//! A lane is a source port. Left to chance, the flows of few lanes crowd on some queues; balanced,
//! ports are chosen by the hash that a card will take of them ([`bloomrf_netio::rss`]).

use std::net::SocketAddr;

use bloomrf_netio::LinkError;
use bloomrf_netio::link::udp::{SenderStats, UdpSender, source_towards};
use bloomrf_netio::rss::Rss;

use crate::FrameSink;

/// One socket (own source port) per lane, each sending to all targets.
#[derive(Debug)]
pub struct UdpLanes {
    lanes: Vec<UdpSender>,
    targets: Vec<SocketAddr>,
}

/// Why lanes could not be balanced.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LanesError {
    /// Too few source ports are free.
    #[error(
        "{lanes} lanes over {queues} queues: only {found} fitting source ports from {PORT_MIN} on \
         are free; ask for fewer lanes, or let the system choose ports"
    )]
    Ports {
        /// Asked for.
        lanes: u8,
        /// To spread over.
        queues: usize,
        /// Had.
        found: usize,
    },
    /// No target to balance for.
    #[error("no target to balance lanes for")]
    NoTarget,
    /// The network.
    #[error(transparent)]
    Link(#[from] LinkError),
}

impl UdpLanes {
    /// Opens a socket per lane; the system chooses source ports.
    pub fn connect(lanes: u8, targets: &[SocketAddr]) -> Result<Self, LinkError> {
        let lanes = (0..lanes).map(|_| UdpSender::connect(targets)).collect::<Result<_, _>>()?;
        Ok(UdpLanes { lanes, targets: targets.to_vec() })
    }

    /// Opens a socket per lane, source ports chosen so that lanes spread evenly over the queues of
    /// the first target; with a power of two of queues, over those of every target.
    ///
    /// # Errors
    /// Too few free ports, no route.
    pub fn balanced(lanes: u8, targets: &[SocketAddr], rss: &Rss) -> Result<Self, LanesError> {
        let first = *targets.first().ok_or(LanesError::NoTarget)?;
        let source = source_towards(first)?;
        let mut open = Vec::with_capacity(usize::from(lanes));
        let take = |port| match UdpSender::connect_from(targets, port) {
            Ok(sender) => {
                open.push(sender);
                true
            }
            // Somebody has it.
            Err(_) => false,
        };
        let candidates = PORT_MIN..=u16::MAX;
        let found = rss.balance(source, first, usize::from(lanes), candidates, take).len();
        if found < usize::from(lanes) {
            return Err(LanesError::Ports { lanes, queues: rss.queues(), found });
        }
        Ok(UdpLanes { lanes: open, targets: targets.to_vec() })
    }

    /// Number of lanes.
    #[must_use]
    pub fn count(&self) -> u8 {
        u8::try_from(self.lanes.len()).unwrap_or(u8::MAX)
    }

    /// Where they all send to.
    #[must_use]
    pub fn targets(&self) -> &[SocketAddr] {
        &self.targets
    }

    /// Source port and queue of each lane at `target`, where a port spreads flows by `rss`.
    ///
    /// # Errors
    /// No route.
    pub fn predict(&self, rss: &Rss, target: SocketAddr) -> Result<Vec<(u16, usize)>, LinkError> {
        let source = source_towards(target)?;
        let ports: Vec<u16> = self.lanes.iter().filter_map(|lane| lane.port_to(target)).collect();
        let queues = rss.predict(source, target, &ports);
        Ok(ports.iter().copied().zip(queues).collect())
    }
}

impl FrameSink for UdpLanes {
    fn send(&mut self, lane: u8, frame: &[u8]) -> Result<(), LinkError> {
        let lanes = self.lanes.len();
        self.lanes[usize::from(lane) % lanes].send(frame)
    }

    fn stats(&self) -> SenderStats {
        let mut sum = SenderStats::default();
        for SenderStats { sent, waits, refused } in self.lanes.iter().map(UdpSender::stats) {
            sum.sent += sent;
            sum.waits += waits;
            sum.refused += refused;
        }
        sum
    }
}

/// From here on ports are for everybody to take (RFC 6335).
const PORT_MIN: u16 = 49_152;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balanced_lanes_have_ports_of_their_own_and_spread_evenly_at_every_target() {
        let targets = ["127.0.0.1:6987", "127.0.0.9:7000"].map(|t| t.parse().unwrap());
        for queues in [1, 2, 4, 8] {
            let rss = Rss::symmetric(queues);
            let lanes = UdpLanes::balanced(8, &targets, &rss).unwrap();
            assert_eq!((lanes.count(), lanes.targets()), (8, &targets[..]));
            for target in targets {
                let predicted = lanes.predict(&rss, target).unwrap();
                let mut ports: Vec<_> = predicted.iter().map(|(port, _)| *port).collect();
                ports.dedup();
                assert!(ports.len() == 8 && ports.iter().all(|&port| port >= PORT_MIN));
                for queue in 0..queues {
                    let lanes = predicted.iter().filter(|(_, q)| *q == queue).count();
                    assert_eq!(lanes, 8 / queues, "queue {queue} of {queues}: {predicted:?}");
                }
            }
        }
        assert!(matches!(
            UdpLanes::balanced(1, &[], &Rss::symmetric(2)),
            Err(LanesError::NoTarget)
        ));
    }

    #[test]
    fn lanes_send_from_the_ports_that_were_predicted() {
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let target = socket.local_addr().unwrap();
        let rss = Rss::symmetric(4);
        let mut lanes = UdpLanes::balanced(6, &[target], &rss).unwrap();
        let predicted = lanes.predict(&rss, target).unwrap();
        for lane in 0..6 {
            lanes.send(lane, &[lane]).unwrap();
        }
        for (lane, (port, queue)) in predicted.into_iter().enumerate() {
            let mut frame = [0; 8];
            let (_, from) = socket.recv_from(&mut frame).unwrap();
            assert_eq!((usize::from(frame[0]), from.port()), (lane, port));
            let flow = bloomrf_netio::rss::Flow::between(from, target).unwrap();
            assert_eq!(rss.queue(&flow), queue);
        }
        assert_eq!(lanes.stats().sent, 6);
    }
}
