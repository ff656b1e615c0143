//! Where the lanes of a replay go: source ports, and the queues that these lead to.

use std::net::SocketAddr;

use bloomrf_netio::rss::Rss;
use bloomrf_refcluster::{LanesError, UdpLanes};
use serde_json::{Value, json};

use crate::args::ReplayArgs;
use crate::outcome::CommandError;

/// What is predicted of one receiver.
pub(super) struct Prediction {
    target: SocketAddr,
    /// Lanes of each queue, with their source ports.
    queues: Vec<Vec<(usize, u16)>>,
}

/// Opens the lanes; with `--balance` also says where they go at each of `--to`.
pub(super) fn open(
    args: &ReplayArgs,
    targets: &[SocketAddr],
) -> Result<(UdpLanes, Vec<Prediction>), CommandError> {
    let Some(queues) = args.balance.map(usize::from) else {
        let lanes = UdpLanes::connect(args.lanes, targets).map_err(CommandError::failed)?;
        return Ok((lanes, Vec::new()));
    };
    let rss = Rss::symmetric(queues);
    let lanes = UdpLanes::balanced(args.lanes, targets, &rss).map_err(|error| match error {
        LanesError::NoTarget => CommandError::misused(error),
        _ => CommandError::failed(error),
    })?;
    let predict = |&target| {
        let mut queues = vec![Vec::new(); queues];
        let lanes = lanes.predict(&rss, target).map_err(CommandError::failed)?;
        for (lane, (port, queue)) in lanes.into_iter().enumerate() {
            queues[queue].push((lane, port));
        }
        Ok(Prediction { target, queues })
    };
    let predictions = args.to.iter().map(predict).collect::<Result<_, CommandError>>()?;
    Ok((lanes, predictions))
}

impl Prediction {
    /// A line per queue.
    pub(super) fn text(&self) -> String {
        let mut text = format!("lanes at {}, as a raw port spreads them:\n", self.target);
        for (queue, lanes) in self.queues.iter().enumerate() {
            let lanes: Vec<_> =
                lanes.iter().map(|(lane, port)| format!("{lane} (port {port})")).collect();
            let lanes = if lanes.is_empty() { "none".to_owned() } else { lanes.join(", ") };
            text.push_str(&format!("  queue {queue}: {lanes}\n"));
        }
        text
    }

    pub(super) fn json(&self) -> Value {
        let lane = |&(lane, port): &(usize, u16)| json!({ "lane": lane, "source_port": port });
        let queues = self.queues.iter().map(|lanes| lanes.iter().map(lane).collect::<Vec<_>>());
        json!({ "target": self.target.to_string(), "queues": queues.collect::<Vec<_>>() })
    }
}
