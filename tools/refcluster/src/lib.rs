//! A small real cluster to run the filter node against: a controller (SCC) that judges hashes and
//! asks lookups, a storage node that writes batches to a folder, and the broadcaster.
#![forbid(unsafe_code)]
