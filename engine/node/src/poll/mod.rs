//! Ingest poll loops: one pinned thread per queue.
