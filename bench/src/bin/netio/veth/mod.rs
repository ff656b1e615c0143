//! Real packets over a veth pair between two namespaces of the run, made by a sender on the other
//! core at one rate for all: `recv`, `recvmmsg` (the `udp` link), and the ring of `af_packet`, with
//! the host's stack and without.
//!
//! A veth pair has no wire: the kernel receives a packet in the time of whoever sends it. So its
//! receive work is the sender's CPU time for a packet less that for one which the kernel drops as
//! soon as it has arrived (of a protocol that nobody speaks; `dropped early`), and the cost of
//! a packet is that and the receiving thread's own time. The whole time of both threads is recorded
//! beside it, and what the receiving core worked.
//!
//! A receiver that finds nothing naps for a millisecond, so that every call finds many and no
//! packet wakes anybody: what is best for each of them.

mod receive;
mod send;

use std::time::Duration;

use bloomrf_lab::{Lab, Layout, Side};

use crate::cores::{CoreMoment, Cores};
use crate::frames::{Size, address};
use crate::turn::{Count, DROPPED_EARLY, Turn};
use receive::Receiver;
use send::Sender;

/// A receiver on its pair.
struct Veth {
    case: String,
    variant: &'static str,
    receiver: Receiver,
    sender: Sender,
    cores: (usize, usize),
    rate: u64,
    // Goes last: the others are inside.
    _lab: Lab,
}

/// All receivers at both lengths; `rate` packets a second for each. What the kernel is too old for
/// is said in `skipped`.
pub(crate) fn turns(
    cores: Cores,
    rate: u64,
    skipped: &mut Vec<String>,
) -> Result<Vec<Box<dyn Turn>>, String> {
    let two = cores.two()?;
    let mut turns: Vec<Box<dyn Turn>> = Vec::new();
    for variant in Receiver::VARIANTS {
        for size in Size::BOTH {
            let lab = lab(variant)?;
            match veth(lab, variant, size, two, rate) {
                Ok(veth) => turns.push(Box::new(veth)),
                Err(why) => skipped.push(format!("veth {}, {variant}: {why}", size.name())),
            }
        }
    }
    Ok(turns)
}

fn lab(variant: &str) -> Result<Lab, String> {
    let mut layout = Layout::default();
    if Receiver::needs_address(variant) {
        let [a, b] = Side::BOTH.map(|side| address(side).map(|byte| byte.to_string()).join("."));
        layout.a.push(format!("{a}/24"));
        layout.b.push(format!("{b}/24"));
    }
    Lab::with(&layout).map_err(|why| why.to_string())
}

fn veth(
    lab: Lab,
    variant: &'static str,
    size: Size,
    cores: (usize, usize),
    rate: u64,
) -> Result<Veth, String> {
    let receiver = lab.inside(Side::A, || Receiver::open(variant))?;
    let sender = lab.inside(Side::B, || Sender::open(size, variant == DROPPED_EARLY))?;
    let case = format!("veth {}", size.name());
    Ok(Veth { case, variant, receiver, sender, cores, rate, _lab: lab })
}

impl Turn for Veth {
    fn name(&self) -> (&str, &str) {
        (&self.case, self.variant)
    }

    fn turn(&mut self, length: Duration) -> Result<Count, String> {
        let Veth { receiver, sender, cores: (core, sender_core), rate, .. } = self;
        // What came to this interface while others had their turns.
        receiver.take_all(QUIET)?;
        let before = CoreMoment::of(*core)?;
        let (mut count, sent) = std::thread::scope(|scope| {
            let sending = scope.spawn(|| sender.send(length, *rate, *sender_core));
            let received = receiver.take_until(|| sending.is_finished(), QUIET);
            let sent = sending.join().map_err(|_| "the sender panicked".to_owned());
            Ok::<_, String>((received?, sent??))
        })?;
        count.core_ns = Some(before.busy_ns(&CoreMoment::of(*core)?));
        (count.sent, count.sender_ns) = (sent.packets, Some(sent.thread_ns));
        if self.variant == DROPPED_EARLY {
            // Nobody hears of them; one that did not find room is not sent.
            count.packets = sent.packets;
        }
        if count.packets == 0 {
            return Err(format!("none of {} packets came", sent.packets));
        }
        Ok(count)
    }
}

/// So long after the last packet nothing more is on its way: a block of a ring is handed over
/// after a few milliseconds.
const QUIET: Duration = Duration::from_millis(30);
