//! Frames of a raw link: records go to ingest, what asks the port goes to its thread, and the rest
//! is counted by reason.
//!
//! Hot path: no allocation, no lock, no syscall but one wake of the port's thread for a burst
//! that holds something for it; work bounded by BURST_MAX.

use arrayvec::ArrayVec;
use bloomrf_engine::ingest::{Queue, RefuseReason};
use bloomrf_netio::burst::ETHERNET;
use bloomrf_netio::parse::{Checksums, FrameRefusal, UdpDatagram, udp};
use bloomrf_netio::{BURST_MAX, Burst, Received};

use crate::config;
use crate::networks::Networks;
use crate::port::ToPort;

/// One queue's sorter.
pub(crate) struct Sorter {
    /// Of the ingest broadcast.
    production_port: u16,
    checksums: Checksums,
    /// Where the port owns addresses.
    to_port: Option<ToPort>,
    numbers: SortNumbers,
}

/// What became of frames, beside those that ingest was given: of it, the frames of a link are the
/// sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SortNumbers {
    /// No datagram for us, by reason.
    pub(crate) refused: [u64; FrameRefusal::ALL.len()],
    /// Handed over to the port's thread.
    pub(crate) handed_over: u64,
    /// Its ring was full.
    pub(crate) ring_full: u64,
    /// Datagrams to a port or an address where nobody here listens.
    pub(crate) ignored: u64,
}

impl SortNumbers {
    /// Adds the numbers of another queue.
    pub(super) fn add(&mut self, other: &SortNumbers) {
        for (total, part) in self.refused.iter_mut().zip(other.refused) {
            *total += part;
        }
        self.ignored += other.ignored;
        self.handed_over += other.handed_over;
        self.ring_full += other.ring_full;
    }
}

impl Sorter {
    /// A sorter that has seen nothing.
    pub(crate) fn new(config: &config::Config, to_port: Option<ToPort>) -> Self {
        let checksums = match config.link.checksums {
            config::Checksums::Verify => Checksums::Verify,
            config::Checksums::Trust => Checksums::Trust,
        };
        let numbers = SortNumbers::default();
        Sorter { production_port: config.production_port, checksums, to_port, numbers }
    }

    /// Appends the payloads for ingest to `records`, in order, and hands the others over.
    pub(super) fn sort<'a>(
        &mut self,
        burst: &Burst<'a>,
        allow: &Networks,
        queue: &mut Queue,
        records: &mut ArrayVec<&'a [u8], BURST_MAX>,
    ) {
        for received in burst.iter() {
            match udp(received, self.checksums) {
                Ok(datagram) if datagram.target_port == self.production_port => {
                    if allow.allow(datagram.source) {
                        records.push(datagram.payload);
                    } else {
                        queue.refuse(RefuseReason::Source);
                    }
                }
                parsed => self.take_other(received, &parsed),
            }
        }
        if let Some(to_port) = &mut self.to_port {
            to_port.wake();
        }
    }

    /// No frame of records: for the port, or for nobody.
    fn take_other(
        &mut self,
        received: &Received<'_>,
        parsed: &Result<UdpDatagram<'_>, FrameRefusal>,
    ) {
        let is_ethernet = received.link_type == ETHERNET;
        if let Some(to_port) = self.to_port.as_mut().filter(|_| is_ethernet)
            && to_port.wants(received.bytes, parsed)
        {
            if to_port.push(received.bytes) {
                self.numbers.handed_over += 1;
            } else {
                self.numbers.ring_full += 1;
            }
            return;
        }
        let count = match parsed {
            Err(reason) => self.numbers.refused.get_mut(reason.index()),
            Ok(_) => Some(&mut self.numbers.ignored),
        };
        if let Some(count) = count {
            *count += 1;
        }
    }

    /// What became of frames.
    pub(super) fn numbers(&self) -> &SortNumbers {
        &self.numbers
    }
}

#[cfg(test)]
mod tests;
