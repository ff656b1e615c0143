//! The cluster's side, for the SCC, the proxy and the SDK: modes, the question as bytes, and the
//! check that turns a reply into "read these", trusting nothing that it cannot check.

mod consult;
mod mode;
mod question;

pub use consult::{Consultation, Unusable, check_keyed_reply, check_reply};
pub use mode::{Mode, ModeError};
pub use question::{Question, Transport, keyed_question, question};

#[cfg(test)]
mod tests;
