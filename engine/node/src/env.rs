//! The real clock, disk and chance.
