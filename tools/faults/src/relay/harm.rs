//! What a relay does to one batch's datagrams: loses, repeats, reorders, corrupts, truncates,
//! pads, tampers, and brings old ones back. Every batch has its own mix, every other one a mild.

use std::collections::VecDeque;

use bloomrf_engine::identity::BatchId;
use bloomrf_engine::wire::frame::{Frame, FrameHeader, encode_data};

use crate::chance::Chance;

/// Chances of one batch, per thousand.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mix {
    lose: u64,
    repeat: u64,
    hold: u64,
    corrupt: u64,
    truncate: u64,
    pad: u64,
    tamper: u64,
    old: u64,
}

impl Mix {
    /// No harm to one batch in four, little to one, up to half of everything to the others.
    pub(crate) fn draw(chance: &mut Chance) -> Self {
        let most = match chance.below(4) {
            0 => return Mix::default(),
            1 => 5,
            _ => 500,
        };
        let rare = |chance: &mut Chance| if chance.below(3) == 0 { chance.below(most) } else { 0 };
        Mix {
            lose: rare(chance),
            repeat: rare(chance),
            hold: rare(chance),
            corrupt: rare(chance),
            truncate: rare(chance),
            pad: rare(chance),
            tamper: if chance.below(20) == 0 { 3 } else { 0 },
            old: if chance.below(10) == 0 { 2 } else { 0 },
        }
    }

    /// Whether every datagram is passed on as it is, once.
    pub(crate) fn is_harmless(&self) -> bool {
        let Mix { lose, repeat, hold, corrupt, truncate, pad, tamper, old } = self;
        [lose, repeat, hold, corrupt, truncate, pad, tamper, old].into_iter().all(|n| *n == 0)
    }
}

/// What became of a batch's datagrams on their way.
#[derive(Debug)]
pub(crate) struct Passed {
    /// In the order in which they reach the node.
    pub(crate) datagrams: Vec<Vec<u8>>,
    /// Of every DATA frame at least one true copy is among them.
    pub(crate) is_whole: bool,
}

/// The relay's memory between batches.
#[derive(Debug, Default)]
pub(crate) struct Relay {
    old: VecDeque<Vec<u8>>,
}

impl Relay {
    /// Passes a batch on. `record_bytes` are those of the schema.
    pub(crate) fn pass(
        &mut self,
        datagrams: &[Vec<u8>],
        record_bytes: usize,
        mix: Mix,
        chance: &mut Chance,
    ) -> Passed {
        let mut on_time: Vec<Vec<u8>> = Vec::with_capacity(datagrams.len());
        let mut held: Vec<(u64, Vec<u8>)> = Vec::new();
        let mut is_whole = true;
        for datagram in datagrams {
            let is_data = matches!(Frame::parse(datagram, record_bytes), Ok(Frame::Data { .. }));
            held.iter_mut().for_each(|(pass, _)| *pass -= 1);
            on_time.extend(held.extract_if(.., |(pass, _)| *pass == 0).map(|(_, d)| d));
            let mut is = |per_thousand: u64| chance.below(1_000) < per_thousand;
            if is(mix.lose) {
                is_whole &= !is_data;
                continue;
            }
            let copies = 1 + u64::from(is(mix.repeat)) + u64::from(is(mix.repeat / 4));
            let mut true_copies = 0;
            for _ in 0..copies {
                let mut copy = datagram.clone();
                harm(&mut copy, mix, chance);
                // Cut and padded, it may be what it was.
                true_copies += u64::from(copy == *datagram);
                match chance.below(1_000) < mix.hold {
                    true => held.push((1 + chance.below(40), copy)),
                    false => on_time.push(copy),
                }
            }
            is_whole &= !is_data || true_copies > 0;
            if is_data && chance.below(1_000) < mix.tamper {
                on_time.push(tampered(datagram, record_bytes, chance));
            }
            if chance.below(1_000) < mix.old && !self.old.is_empty() {
                let at = chance.below(self.old.len() as u64) as usize;
                on_time.extend(self.old.get(at).cloned());
            }
        }
        on_time.extend(held.into_iter().map(|(_, datagram)| datagram));
        // Kept beyond every retention, to come back late.
        if let Some(some) = datagrams.get(chance.below(datagrams.len() as u64) as usize) {
            self.old.push_back(some.clone());
        }
        if self.old.len() > OLD_MAX {
            self.old.pop_front();
        }
        Passed { datagrams: on_time, is_whole }
    }
}

/// Damages a copy by chance, such that a checksum or a length shows it.
fn harm(datagram: &mut Vec<u8>, mix: Mix, chance: &mut Chance) {
    if chance.below(1_000) < mix.corrupt {
        // Up to three bits: CRC32C shows any three of a frame of this length.
        for bit in 0..1 + chance.below(3) {
            let at = chance.below(datagram.len() as u64) as usize;
            if let Some(byte) = datagram.get_mut(at) {
                // Never the same bit twice.
                *byte ^= 1 << (bit + chance.below(2) * 4);
            }
        }
    }
    if chance.below(1_000) < mix.truncate {
        datagram.truncate(chance.below(datagram.len() as u64) as usize);
    }
    if chance.below(1_000) < mix.pad {
        let more = 1 + chance.below(64) as usize;
        datagram.resize(datagram.len() + more, 0);
    }
}

/// The same frame with other records and a right checksum: what only the chain hash can tell.
fn tampered(datagram: &[u8], record_bytes: usize, chance: &mut Chance) -> Vec<u8> {
    let mut out = Vec::new();
    if let Ok(Frame::Data { header, payload, .. }) = Frame::parse(datagram, record_bytes) {
        let mut payload = payload.to_vec();
        let at = chance.below(payload.len() as u64) as usize;
        payload.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 0x10);
        encode_data(&mut out, &header, record_bytes, &payload);
    }
    out
}

/// A DATA frame of one record of a batch that nobody closes.
pub(crate) fn stranger(like: &[u8], record_bytes: usize, batch: BatchId) -> Vec<u8> {
    let mut out = Vec::new();
    if let Ok(frame) = Frame::parse(like, record_bytes) {
        let header = FrameHeader { batch, sequence: 0, ..*frame.header() };
        encode_data(&mut out, &header, record_bytes, &vec![0x55; record_bytes]);
    }
    out
}

/// Old datagrams remembered: one a batch, so past every memory of late ones.
const OLD_MAX: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Frames;
    use bloomrf_engine::schema::Schema;

    #[test]
    fn a_harmless_mix_changes_nothing_and_the_others_together_do_everything() {
        let schema = Schema::packet();
        let size = schema.record_bytes();
        let mut chance = Chance::new(7);
        let mut relay = Relay::default();
        let frames = Frames::of(&schema, 9, 200);
        let passed = relay.pass(&frames.datagrams, size, Mix::default(), &mut chance);
        assert!(passed.is_whole && passed.datagrams == frames.datagrams);
        let (mut lost, mut more, mut broken, mut harmless) = (0, 0, 0, 0);
        for _ in 0..200 {
            let mix = Mix::draw(&mut chance);
            harmless += u32::from(mix.is_harmless());
            let passed = relay.pass(&frames.datagrams, size, mix, &mut chance);
            let count = |of: &[u8]| passed.datagrams.iter().filter(|d| d[..] == *of).count();
            let missing = |d: &&Vec<u8>| count(d) == 0;
            let data = &frames.datagrams[..frames.datagrams.len() - 2];
            assert_eq!(passed.is_whole, data.iter().all(|d| !missing(&d)));
            lost += u32::from(!passed.is_whole);
            more += u32::from(frames.datagrams.iter().any(|d| count(d) > 1));
            broken += u32::from(passed.datagrams.iter().any(|d| Frame::parse(d, size).is_err()));
        }
        assert!(lost > 20 && more > 20 && broken > 20 && harmless > 20);
    }
}
