//! The lookup responder: UDP and TCP.
