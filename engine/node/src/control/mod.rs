//! The control thread: seals, talks to the SCC, serves HTTP.
