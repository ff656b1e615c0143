//! The verification stream: bytes in order, in pieces, until the connection is gone.

use std::collections::VecDeque;

use bloomrf_engine::wire::stream::{Missing, StreamMessage, Verdict};

use super::threads::{CONTROL, FOLDER, SEAL};
use super::{Event, World};
use crate::node::Learned;
use crate::records::SentFrame;
use crate::settings::SLOT_NS;

/// The connection between node and SCC.
#[derive(Debug, Default)]
pub(super) struct Connection {
    /// Its number; events of others are void.
    number: u64,
    is_up: bool,
    /// A bit was flipped on it: a length that is too large may make the node wait for bytes that
    /// never come.
    pub(super) is_spoiled: bool,
    /// No attempt before.
    retry_at_ns: u64,
    to_scc: VecDeque<u8>,
    to_node: VecDeque<u8>,
}

impl World {
    /// A turn of the node's control thread.
    pub(super) fn control_turn(&mut self) {
        let now_ns = self.agenda.now_ns();
        let Some(node) = &mut self.node else { return };
        node.take_offers();
        if !self.connection.is_up && now_ns >= self.connection.retry_at_ns {
            self.connection.is_up = true;
            node.on_connected();
            self.scc.on_connected();
            let number = self.connection.number;
            self.note("connected", number, 0);
        }
        self.apply();
        self.flush_node();
        let sleep = 20 + self.rng.below(40);
        self.turn_in(CONTROL, sleep);
    }

    /// The connection is gone, and what was on it.
    pub(super) fn disconnect(&mut self) {
        let pause = SLOT_NS * (1 + self.rng.below(if self.is_calm { 5 } else { 300 }));
        self.connection = Connection {
            number: self.connection.number + 1,
            is_up: false,
            retry_at_ns: self.agenda.now_ns() + pause,
            ..Connection::default()
        };
        if let Some(node) = &mut self.node {
            node.on_disconnected();
        }
        self.apply();
    }

    /// What the node has to send goes on its way.
    pub(super) fn flush_node(&mut self) {
        let Some(node) = &mut self.node else { return };
        if !self.connection.is_up {
            return;
        }
        let output = node.session.take_output();
        if !output.is_empty() {
            self.connection.to_scc.extend(output);
            let delay = SLOT_NS * (1 + self.rng.below(3));
            self.agenda.after(delay, Event::ToScc(self.connection.number));
        }
    }

    /// What the SCC has to say is said in its time.
    pub(super) fn flush_scc(&mut self) {
        for (slots, message) in std::mem::take(&mut self.scc.out) {
            let connection = self.connection.number;
            self.agenda.after(slots * SLOT_NS, Event::Say { connection, message });
        }
    }

    pub(super) fn say(&mut self, connection: u64, message: &StreamMessage) {
        if connection != self.connection.number || !self.connection.is_up {
            return;
        }
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        self.connection.to_node.extend(bytes);
        self.agenda.after(SLOT_NS, Event::ToNode(connection));
    }

    pub(super) fn reach_scc(&mut self, connection: u64) {
        if connection != self.connection.number {
            return;
        }
        let (bytes, more) = piece(&mut self.connection.to_scc, &mut self.rng);
        if more {
            self.agenda.after(SLOT_NS, Event::ToScc(connection));
        }
        let expected = self.epoch().1.schema.fingerprint();
        let is_sound = self.scc.on_bytes(&bytes, expected, &mut self.rng);
        assert!(is_sound, "the node's stream broke");
        for missing in std::mem::take(&mut self.scc.wanted) {
            self.send_again(&missing);
        }
        self.flush_scc();
    }

    pub(super) fn reach_node(&mut self, connection: u64) {
        if connection != self.connection.number {
            return;
        }
        let (mut bytes, more) = piece(&mut self.connection.to_node, &mut self.rng);
        if more {
            self.agenda.after(SLOT_NS, Event::ToNode(connection));
        }
        if !self.is_calm && self.rng.one_in(2_000) && !bytes.is_empty() {
            let at = self.rng.below(bytes.len() as u64) as usize;
            bytes[at] ^= 1 << self.rng.below(8);
            self.connection.is_spoiled = true;
        }
        let Some(node) = &mut self.node else { return };
        let mut learned = Vec::new();
        let is_sound = node.on_bytes(&bytes, &mut learned);
        let is_refused = self.learned(&learned);
        if !is_sound || is_refused {
            self.note("closed", connection, u64::from(is_refused));
            self.disconnect();
        } else {
            self.wake(SEAL);
            self.flush_node();
        }
    }

    /// The SCC sends frames again, as it has them: all, some or none.
    fn send_again(&mut self, missing: &Missing) {
        let batch = missing.batch;
        let keeps = self.is_calm || !self.rng.one_in(6);
        let Some(sent) = self.records.get(&batch).filter(|_| keeps) else {
            return self.scc.out.push((1, StreamMessage::NotKept { batch }));
        };
        let is_wanted = |frame: &&SentFrame| {
            missing.ranges.iter().any(|range| {
                range.lane == frame.lane
                    && frame.sequence.checked_sub(range.first).is_some_and(|at| at < range.count)
            })
        };
        let mut frames: Vec<Vec<u8>> =
            sent.frames.iter().filter(is_wanted).map(|frame| frame.bytes.to_vec()).collect();
        frames.extend(missing.close.then(|| sent.close.to_vec()));
        self.tally.add("frames sent again", frames.len() as u64);
        for bytes in frames {
            let delay = 1 + self.rng.below(3);
            self.scc.out.push((delay, StreamMessage::Frame { bytes }));
        }
    }

    /// Applies what the session has learned without new bytes.
    fn apply(&mut self) {
        let Some(node) = &mut self.node else { return };
        let mut learned = Vec::new();
        node.apply(&mut learned);
        self.learned(&learned);
    }

    /// Notes and checks what the node did with what it learned; true where it was refused.
    fn learned(&mut self, learned: &[Learned]) -> bool {
        let mut is_refused = false;
        if !learned.is_empty() {
            self.wake(FOLDER);
        }
        for learned in learned {
            match learned {
                Learned::Judged(batch, verdict, is_held) => {
                    self.note("judged", *batch, *verdict as u64);
                    self.tally.one(match verdict {
                        Verdict::Verified => "verified",
                        Verdict::Mismatch => "mismatch",
                        Verdict::Unknown => "unknown",
                    });
                    let stays = *verdict == Verdict::Verified;
                    assert_eq!(*is_held, stays, "batch {batch} after {verdict:?}");
                }
                Learned::Deleted(batches) => {
                    self.note("deleted", batches.len() as u64, 0);
                    self.tally.add("deleted", batches.len() as u64);
                    self.check_deleted(batches);
                }
                Learned::Refused => is_refused = true,
            }
        }
        is_refused
    }
}

/// Some of the bytes in front, and whether more are left.
fn piece(bytes: &mut VecDeque<u8>, rng: &mut crate::shared::Splitmix) -> (Vec<u8>, bool) {
    let length =
        if rng.one_in(4) { rng.below(bytes.len() as u64 + 1) as usize } else { bytes.len() };
    let piece = bytes.drain(..length).collect();
    (piece, !bytes.is_empty())
}
