//! [`Presence`](crate::Presence) of an enum of filters: that of the filter in it.

/// Implements `Presence` for an enum whose variants hold a filter each.
macro_rules! forward_presence {
    ($any:ident: $($kind:ident),*) => {
        impl Presence for $any {
            fn insert(&mut self, item: Hash128) -> Inserted {
                match self { $(Self::$kind(filter) => filter.insert(item)),* }
            }

            fn contains(&self, item: Hash128) -> bool {
                match self { $(Self::$kind(filter) => filter.contains(item)),* }
            }

            fn insert_many(&mut self, items: &[Hash128]) -> usize {
                match self { $(Self::$kind(filter) => filter.insert_many(items)),* }
            }

            fn contains_many(&self, items: &[Hash128], found: &mut [u64]) {
                match self { $(Self::$kind(filter) => filter.contains_many(items, found)),* }
            }

            fn capacity(&self) -> u64 {
                match self { $(Self::$kind(filter) => filter.capacity()),* }
            }

            fn inserted(&self) -> u64 {
                match self { $(Self::$kind(filter) => filter.inserted()),* }
            }

            fn is_over_capacity(&self) -> bool {
                match self { $(Self::$kind(filter) => filter.is_over_capacity()),* }
            }

            fn fill(&self) -> f64 {
                match self { $(Self::$kind(filter) => filter.fill()),* }
            }

            fn fpr(&self) -> f64 {
                match self { $(Self::$kind(filter) => filter.fpr()),* }
            }

            fn estimate(&self) -> f64 {
                match self { $(Self::$kind(filter) => filter.estimate()),* }
            }

            fn bytes(&self) -> u64 {
                match self { $(Self::$kind(filter) => filter.bytes()),* }
            }
        }
    };
}
pub(super) use forward_presence;
