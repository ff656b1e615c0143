//! Reply bytes against request bytes, of every reply to random requests.

use std::collections::HashMap;
use std::net::UdpSocket;
use std::time::Duration;

use bloomrf_engine::wire::lookup::LookupReply;

use super::requests;
use crate::chance::Chance;
use crate::cluster::Cluster;

/// What the replies came to.
#[derive(Debug, Default)]
pub(super) struct Ratio {
    /// Requests sent, legal ones and others.
    pub(super) sent: u64,
    /// Answered.
    pub(super) answered: u64,
    /// Largest reply bytes / request bytes, per thousand, rounded up.
    pub(super) per_thousand_max: u64,
    /// Replies that should not have come.
    pub(super) wrong: Vec<String>,
}

/// Sends `count` requests, a few at a time.
pub(super) fn run(cluster: &Cluster, count: u64, seed: u64) -> Result<Ratio, String> {
    let text = |error: std::io::Error| error.to_string();
    let socket = UdpSocket::bind(("127.0.0.1", 0)).map_err(text)?;
    socket.connect(cluster.node.ports().lookup).map_err(text)?;
    let mut chance = Chance::new(seed);
    let (mut ratio, mut waiting) = (Ratio::default(), HashMap::new());
    while ratio.sent < count {
        waiting.clear();
        for _ in 0..WINDOW.min(count - ratio.sent) {
            let (query_id, may) = (ratio.sent, chance.below(3) > 0);
            let bytes = match may {
                true => requests::legal(&cluster.schema, query_id, &mut chance),
                false => requests::illegal(&cluster.schema, query_id, &mut chance),
            };
            socket.send(&bytes).map_err(text)?;
            if may {
                waiting.insert(query_id, bytes.len() as u64);
            }
            ratio.sent += 1;
        }
        collect(&socket, &mut waiting, &mut ratio)?;
        if ratio.answered * 4 < ratio.sent {
            return Err(format!("only {} of {} answered", ratio.answered, ratio.sent));
        }
    }
    Ok(ratio)
}

/// Takes the replies to what waits.
fn collect(
    socket: &UdpSocket,
    waiting: &mut HashMap<u64, u64>,
    ratio: &mut Ratio,
) -> Result<(), String> {
    socket.set_read_timeout(Some(PATIENCE)).map_err(|e| e.to_string())?;
    let mut buffer = [0; 65_535];
    while !waiting.is_empty() {
        // Some legal ones stay unanswered where the machine is busy and a buffer ran over.
        let Ok(length) = socket.recv(&mut buffer) else { break };
        let Ok(reply) = LookupReply::parse(buffer.get(..length).unwrap_or_default()) else {
            ratio.wrong.push(format!("a datagram of {length} bytes that is no reply"));
            continue;
        };
        let Some(asked) = waiting.remove(&reply.query_id) else {
            // Late ones of an earlier window were legal, and are not answered twice.
            if reply.query_id + 2 * WINDOW < ratio.sent {
                ratio.wrong.push(format!("an answer to {} that may not be", reply.query_id));
            }
            continue;
        };
        ratio.answered += 1;
        let per_thousand = (length as u64 * 1_000).div_ceil(asked.max(1));
        ratio.per_thousand_max = ratio.per_thousand_max.max(per_thousand);
        if length as u64 > asked {
            let id = reply.query_id;
            ratio.wrong.push(format!("{length} bytes to {asked} of request {id}"));
        }
    }
    Ok(())
}

/// Requests on their way at a time: what a socket's buffer holds.
const WINDOW: u64 = 64;
/// For the replies of a window.
const PATIENCE: Duration = Duration::from_millis(200);
