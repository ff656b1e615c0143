//! The binary as its users meet it: real sockets, real files, exit codes.
//!
//! Tests on captures that are not part of the repository look for them in `BLOOMRF_DATA`, or in
//! `../shared/data` beside the workspace, and say "skipped: no data" where there are none.

mod bad_input;
mod binary;
mod captures;
mod demo;
mod doctor;
mod filter;
mod ideal;
mod lookup;
mod node;
mod plan;
mod replay;
mod surroundings;
