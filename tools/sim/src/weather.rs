//! What a link does to datagrams, and the count of it, exact to the unit.

use std::sync::Arc;

use bloomrf_engine::wire::frame::HEADER_BYTES;

use crate::shared::Splitmix;

/// Shares in percent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Weather {
    /// Never arrives.
    pub(crate) loss: u64,
    /// Arrives once more.
    pub(crate) repeat: u64,
    /// Arrives after others.
    pub(crate) reorder: u64,
    /// Bits flipped on the way.
    pub(crate) corrupt: u64,
    /// Bits flipped before the checksum was made.
    pub(crate) forge: u64,
    /// Cut off.
    pub(crate) truncate: u64,
    /// Bytes behind its end.
    pub(crate) pad: u64,
    /// On another queue than its lane's.
    pub(crate) stray: u64,
    /// Later than its batch is retained.
    pub(crate) late: u64,
}

impl Weather {
    /// Calm, rough or something between.
    pub(crate) fn draw(rng: &mut Splitmix) -> Self {
        let most = *rng.pick(&[0, 0, 1, 2, 5, 12, 50]);
        let forges = rng.one_in(2);
        // Most faults are absent: only so can one be seen to do harm by itself.
        let mut share = |one_in: u64| if rng.one_in(one_in) { rng.below(most + 1) } else { 0 };
        let mut weather = Weather {
            loss: share(2),
            repeat: share(2),
            reorder: share(2),
            corrupt: share(3),
            forge: share(3),
            truncate: share(4),
            pad: share(4),
            stray: share(2),
            late: share(3),
        };
        if !forges {
            weather.forge = 0;
        }
        weather
    }
}

/// What a link did. `offered + repeated = lost + carried`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LinkTally {
    /// By senders.
    pub(crate) offered: u64,
    pub(crate) repeated: u64,
    pub(crate) lost: u64,
    /// On their way or arrived.
    pub(crate) carried: u64,
    /// Carried so that no checksum or length can be right.
    pub(crate) damaged: u64,
    /// Carried with other content and a right checksum.
    pub(crate) forged: u64,
    pub(crate) late: u64,
}

/// A datagram on its way.
#[derive(Clone, Debug)]
pub(crate) struct Carried {
    pub(crate) delay_ns: u64,
    pub(crate) is_stray: bool,
    pub(crate) bytes: Arc<[u8]>,
    pub(crate) state: State,
}

/// What a datagram is after the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// As it was sent.
    Intact,
    /// To be refused as malformed.
    Damaged,
    /// Something else with a right checksum.
    Forged,
}

/// A link with its weather.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) weather: Weather,
    pub(crate) tally: LinkTally,
    /// One datagram's time on the wire.
    slot_ns: u64,
}

impl Link {
    pub(crate) fn new(slot_ns: u64) -> Self {
        Link { weather: Weather::default(), tally: LinkTally::default(), slot_ns }
    }

    /// What arrives of a datagram.
    pub(crate) fn carry(&mut self, bytes: &Arc<[u8]>, rng: &mut Splitmix) -> Vec<Carried> {
        self.tally.offered += 1;
        let again = rng.percent(self.weather.repeat);
        self.tally.repeated += u64::from(again);
        let mut arrive = Vec::with_capacity(2);
        for _ in 0..=u64::from(again) {
            if rng.percent(self.weather.loss) {
                self.tally.lost += 1;
            } else {
                arrive.push(self.carry_one(bytes, rng));
            }
        }
        arrive
    }

    fn carry_one(&mut self, bytes: &Arc<[u8]>, rng: &mut Splitmix) -> Carried {
        let Weather { reorder, corrupt, forge, truncate, pad, stray, late, .. } = self.weather;
        self.tally.carried += 1;
        let mut delay_ns = self.slot_ns;
        if rng.percent(reorder) {
            delay_ns += rng.below(60) * self.slot_ns;
        }
        if rng.percent(late) {
            self.tally.late += 1;
            delay_ns += rng.below(20_000) * self.slot_ns;
        }
        let damage: Option<fn(&mut Vec<u8>, &mut Splitmix)> = match () {
            () if rng.percent(corrupt) => Some(|bytes, rng| flip(bytes, rng)),
            () if rng.percent(truncate) => Some(cut),
            () if rng.percent(pad) => Some(lengthen),
            () => None,
        };
        let (state, bytes) = if let Some(damage) = damage {
            self.tally.damaged += 1;
            let mut bytes = bytes.to_vec();
            damage(&mut bytes, rng);
            (State::Damaged, bytes.into())
        } else if rng.percent(forge) {
            self.tally.forged += 1;
            (State::Forged, falsified(bytes, rng).into())
        } else {
            (State::Intact, Arc::clone(bytes))
        };
        Carried { delay_ns, is_stray: rng.percent(stray), bytes, state }
    }
}

/// Up to three bits of any datagram of ours: every one of them is found by CRC32C.
fn flip(bytes: &mut [u8], rng: &mut Splitmix) {
    let mut bits = [usize::MAX; 3];
    for at in 0..1 + rng.below(3) as usize {
        let bit = rng.below(8 * bytes.len() as u64) as usize;
        if !bits.contains(&bit) {
            bytes[bit / 8] ^= 1 << (bit % 8);
            bits[at] = bit;
        }
    }
}

fn cut(bytes: &mut Vec<u8>, rng: &mut Splitmix) {
    bytes.truncate(rng.below(bytes.len() as u64) as usize);
}

fn lengthen(bytes: &mut Vec<u8>, rng: &mut Splitmix) {
    let more = 1 + rng.below(20) as usize;
    bytes.extend(rng.bytes(more));
}

/// Some bits of header or payload flipped, and the checksum made right again.
fn falsified(bytes: &[u8], rng: &mut Splitmix) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let from = if rng.one_in(3) || bytes.len() == HEADER_BYTES { 0 } else { HEADER_BYTES };
    let bit = 8 * from + rng.below(8 * (bytes.len() - from) as u64) as usize;
    bytes[bit / 8] ^= 1 << (bit % 8);
    if (8 * CRC_AT..8 * HEADER_BYTES).contains(&bit) {
        bytes[4] ^= 1;
    }
    let crc = crc32c::crc32c(&bytes[..CRC_AT]);
    let crc = crc32c::crc32c_append(crc32c::crc32c_append(crc, &[0; 4]), &bytes[HEADER_BYTES..]);
    bytes[CRC_AT..HEADER_BYTES].copy_from_slice(&crc.to_le_bytes());
    bytes
}

/// Where a frame's checksum lies (docs/WIRE.md).
const CRC_AT: usize = 60;
