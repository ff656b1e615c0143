//! The sender: the same frames at one rate, from a core of its own.

use std::time::{Duration, Instant};

use bloomrf_lab::Side;
use bloomrf_netio::FrameSender;
use bloomrf_netio::link::af_packet::AfPacketSender;

use crate::cores::{Pinned, thread_ns};
use crate::frames::{Size, frame};

/// Of side B.
pub(crate) struct Sender {
    link: AfPacketSender,
    frames: Vec<Vec<u8>>,
}

/// What was sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    pub(crate) packets: u64,
    pub(crate) thread_ns: u64,
}

impl Sender {
    /// To be called inside the namespace. Frames may be of a protocol that nobody speaks.
    pub(crate) fn open(size: Size, unspoken: bool) -> Result<Self, String> {
        let link =
            AfPacketSender::open(Side::B.interface()).map_err(|why| format!("sender: {why}"))?;
        let mut frames: Vec<Vec<u8>> = (0..FRAMES).map(|n| frame(n, size)).collect();
        if unspoken {
            frames.iter_mut().for_each(|frame| frame[12..14].copy_from_slice(&EXPERIMENTAL));
        }
        Ok(Sender { link, frames })
    }

    /// Sends for so long, `rate` packets a second in bursts, and says how many found room.
    pub(crate) fn send(
        &mut self,
        length: Duration,
        rate: u64,
        core: usize,
    ) -> Result<Sent, String> {
        let _pinned = Pinned::to(core)?;
        let (begin, mut sent, mut tried) = (Instant::now(), Sent::default(), 0_u64);
        while begin.elapsed() < length {
            let due = (begin.elapsed().as_secs_f64() * rate as f64) as u64;
            if tried + BURST > due {
                std::hint::spin_loop();
                continue;
            }
            // Only the time of sending counts, not that of waiting.
            let begin_ns = thread_ns();
            for _ in 0..BURST {
                let frame = &self.frames[(tried % u64::from(FRAMES)) as usize];
                let found_room = self.link.send(frame).map_err(|why| format!("sender: {why}"))?;
                sent.packets += u64::from(found_room);
                tried += 1;
            }
            sent.thread_ns += thread_ns() - begin_ns;
        }
        Ok(sent)
    }
}

/// The type of frames of local experiments (IEEE 802).
const EXPERIMENTAL: [u8; 2] = [0x88, 0xb5];
const FRAMES: u32 = 1_024;
/// Packets in a row.
const BURST: u64 = 32;
