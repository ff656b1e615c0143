//! The seeded world: senders, links, an SCC, a node with its disk, and lookups, in one thread and
//! virtual time. The oracle is a plain set of records.
#![forbid(unsafe_code)]
