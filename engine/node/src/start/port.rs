//! The thread of a raw port that owns addresses, and every queue's way to it.

use std::sync::Arc;

use bloomrf_netio::FrameSender;

use super::{QueueEnds, StartError, Threads};
use crate::port::{Addresses, PortLoop, TO_PORT_MAX, ToPort};

impl Threads {
    /// Starts the thread, where the port can send and owns an address; otherwise nothing.
    pub(super) fn spawn_port(
        &mut self,
        sender: Option<Box<dyn FrameSender>>,
        lookup_port: u16,
        ends: &mut [QueueEnds],
    ) -> Result<(), StartError> {
        let shared = Arc::clone(&self.shared);
        let configured = &shared.config.link.addresses;
        let Some(sender) = sender.filter(|_| !configured.is_empty()) else { return Ok(()) };
        let own = Addresses::new(configured, sender.mac());
        let list: Vec<String> = own.iter().map(|address| address.to_string()).collect();
        tracing::info!(addresses = list.join(", "), lookup_port, "lookups answered over the port");
        let rings = || rtrb::RingBuffer::new(TO_PORT_MAX);
        let (producers, consumers): (Vec<_>, Vec<_>) = ends.iter().map(|_| rings()).unzip();
        let port = PortLoop::new(consumers, sender, own.clone(), lookup_port, Arc::clone(&shared));
        let thread = self.spawn("bloomrf-port".to_owned(), move |pulse| port.run(pulse))?;
        for (end, ring) in ends.iter_mut().zip(producers) {
            end.to_port = Some(ToPort::new(ring, thread.clone(), own.clone(), lookup_port));
        }
        Ok(())
    }
}
