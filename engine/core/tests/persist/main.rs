//! The data folder as the engine sees it: what is written, loaded, removed and looked at, on a
//! disk that fails where it is told to.
#![allow(clippy::unwrap_used, reason = "a test may panic; its support code, too")]

mod disk;
mod faults;
mod recovery;
mod retention;
mod scrub;
mod world;
