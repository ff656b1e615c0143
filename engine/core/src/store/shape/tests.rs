//! Which filters share a group.
