//! Called when a batch opens or closes, not per record.
//!
//! Memory of filters: huge pages where they can be had, in size classes, under a ceiling.
