//! The filter system without I/O: what a node computes between a datagram in and an answer out.
//!
//! A record's way: [`wire::frame`] → [`ingest`] → [`filter`] → [`seal`] → [`verify`] → [`store`].
//! A question's way: [`wire::lookup`] → [`lookup`] over a [`store`] snapshot → reply bitmap.
//! Time, disk and chance come in through the traits of [`mod@env`], so that the whole node also
//! runs in a seeded simulation. Nothing here opens a socket, a file or a thread.
#![forbid(unsafe_code)]

pub mod controller;
pub mod env;
pub mod filter;
pub mod format;
pub mod handshake;
pub mod identity;
pub mod ingest;
pub mod limits;
pub mod lookup;
pub mod persist;
pub mod predicate;
pub mod query;
pub mod schema;
pub mod seal;
pub mod store;
mod sync;
pub mod verify;
pub mod wire;
