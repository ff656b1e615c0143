//! The cluster's side, for the SCC, the proxy and the SDK: modes, and the consult call that turns
//! a reply into "read these", trusting nothing that it cannot check.

mod consult;

pub use consult::{Consultation, Mode, Unusable, check_reply};
