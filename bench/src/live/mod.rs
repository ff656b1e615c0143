//! A whole node in this process, on loopback: made-up traffic whose every key is known by batch
//! and row, a sender that does not outrun the node, somebody who asks and checks.

mod asker;
mod cluster;
mod sender;
pub mod traffic;

pub use asker::{Answer, Asker};
pub use cluster::{Cluster, ClusterOptions};
pub use sender::{Odd, Sender, Sent, Window};
