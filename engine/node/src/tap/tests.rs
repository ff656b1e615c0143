//! Claims about a tap.
