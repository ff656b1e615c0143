//! Hot path: no allocation, no lock, no syscall.
//!
//! Doors of bloomRF: many keys or ranges at once, on any kernel set.
