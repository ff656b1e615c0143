//! A filter that expires as a whole: its members are members until a moment, and nobody is after.
//!
//! From that moment on it is *empty by contract* and says *no*, which is certain: what was true of
//! its items is true no more. It is not a doubt, and so not a *maybe*.
//!
//! Time is what the caller says it is, in milliseconds since 1970, and only the time of the
//! question counts: nothing is remembered and nothing is dropped by asking. A clock that runs ahead
//! makes the filter empty while it does; when it goes back, the items are found again. Only
//! [`Expiring::renew`] drops them.

use bloomrf_kernels::hash::Hash128;

use crate::{Build, Inserted, Presence, SizeRefusal, Spec};

/// The filter has expired; what was asked for was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the filter expired at {expired_ms} and it is {now_ms} (ms since 1970): renew it")]
pub struct Expired {
    /// When it expired.
    pub expired_ms: u64,
    /// The caller's time.
    pub now_ms: u64,
}

/// A filter with a moment of expiry.
#[derive(Clone, Debug)]
pub struct Expiring<F> {
    filter: F,
    expires_ms: u64,
}

impl<F: Presence> Expiring<F> {
    /// A filter that is empty from `expires_ms` on.
    #[must_use]
    pub fn new(filter: F, expires_ms: u64) -> Self {
        Expiring { filter, expires_ms }
    }

    /// When it expires.
    #[must_use]
    pub fn expires_ms(&self) -> u64 {
        self.expires_ms
    }

    /// Whether it has expired at `now_ms`.
    #[must_use]
    pub fn is_expired(&self, now_ms: u64) -> bool {
        now_ms >= self.expires_ms
    }

    /// Moves its expiry, both ways; the items stay.
    pub fn expire_at(&mut self, expires_ms: u64) {
        self.expires_ms = expires_ms;
    }

    /// Inserts one item.
    ///
    /// # Errors
    /// After expiry: the item would never be found.
    pub fn insert(&mut self, item: Hash128, now_ms: u64) -> Result<Inserted, Expired> {
        self.assert_live(now_ms)?;
        Ok(self.filter.insert(item))
    }

    /// Inserts many; returns how many there was no room for.
    ///
    /// # Errors
    /// After expiry: none is inserted.
    pub fn insert_many(&mut self, items: &[Hash128], now_ms: u64) -> Result<usize, Expired> {
        self.assert_live(now_ms)?;
        Ok(self.filter.insert_many(items))
    }

    /// Whether the item may be there at `now_ms`; after expiry nothing is.
    #[must_use]
    pub fn contains(&self, item: Hash128, now_ms: u64) -> bool {
        !self.is_expired(now_ms) && self.filter.contains(item)
    }

    /// Asks for many, as [`Presence::contains_many`].
    ///
    /// # Panics
    /// Unless `found` has a bit for every item.
    pub fn contains_many(&self, items: &[Hash128], now_ms: u64, found: &mut [u64]) {
        if self.is_expired(now_ms) {
            assert!(found.len() >= items.len().div_ceil(64), "one bit for every item");
            found.fill(0);
        } else {
            self.filter.contains_many(items, found);
        }
    }

    /// The filter, expired or not.
    #[must_use]
    pub fn filter(&self) -> &F {
        &self.filter
    }

    fn assert_live(&self, now_ms: u64) -> Result<(), Expired> {
        if self.is_expired(now_ms) {
            return Err(Expired { expired_ms: self.expires_ms, now_ms });
        }
        Ok(())
    }
}

impl<F: Build> Expiring<F> {
    /// Drops all items; an empty filter takes their place until `expires_ms`.
    ///
    /// # Errors
    /// Where there can be no such filter; this one is as it was.
    pub fn renew(&mut self, spec: &Spec, expires_ms: u64) -> Result<(), SizeRefusal> {
        self.filter = F::build(spec)?;
        self.expires_ms = expires_ms;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Classic;
    use crate::double::{items, seed};

    const SPEC: Spec = Spec { items: 100, fpr: 0.01 };

    fn full(expires_ms: u64) -> (Expiring<Classic>, Vec<Hash128>) {
        let all = items(seed(), 0..100);
        let mut filter = Expiring::new(Classic::build(&SPEC).unwrap(), expires_ms);
        assert_eq!(filter.insert_many(&all, 0), Ok(0));
        (filter, all)
    }

    fn found(filter: &Expiring<Classic>, items: &[Hash128], now_ms: u64) -> u32 {
        let mut found = [u64::MAX; 2];
        filter.contains_many(items, now_ms, &mut found);
        let each = items.iter().filter(|item| filter.contains(**item, now_ms)).count();
        let many = found.iter().map(|word| word.count_ones()).sum();
        assert_eq!(each, many as usize);
        many
    }

    #[test]
    fn filter_holds_its_items_until_it_expires_and_none_after() {
        let (filter, all) = full(5_000);
        assert_eq!(found(&filter, &all, 4_999), 100);
        assert_eq!(found(&filter, &all, 5_000), 0);
        assert_eq!(found(&filter, &all, u64::MAX), 0);
    }

    #[test]
    fn clock_that_went_ahead_and_came_back_loses_nothing() {
        let (filter, all) = full(5_000);
        assert_eq!(found(&filter, &all, 1 << 60), 0);
        assert_eq!(found(&filter, &all, 4_000), 100);
        assert_eq!(found(&filter, &all, 0), 100);
    }

    #[test]
    fn expired_filter_takes_no_items_until_it_is_renewed() {
        let (mut filter, all) = full(5_000);
        let expired = Expired { expired_ms: 5_000, now_ms: 5_001 };
        assert_eq!(filter.insert(all[0], 5_001), Err(expired));
        assert_eq!(filter.insert_many(&all, 5_001), Err(expired));
        filter.renew(&SPEC, 9_000).unwrap();
        assert_eq!(found(&filter, &all, 5_001), 0);
        assert_eq!(filter.insert(all[0], 5_001), Ok(Inserted::New));
        assert_eq!(found(&filter, &all[..1], 8_999), 1);
        filter.expire_at(8_000);
        assert_eq!(found(&filter, &all[..1], 8_000), 0);
    }
}
