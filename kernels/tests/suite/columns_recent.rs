//! Recent-key caches, on every kernel set: no key is lost, whatever came before.

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;

use bloomrf_kernels::Kernel;
use bloomrf_kernels::columns::{RecentKeys, RecentWideKeys};

use crate::seeded::Splitmix;

/// What both caches do.
trait Cache {
    type Key: Copy + Eq + Hash + Debug + Default;
    fn new(bits: u32) -> Self;
    fn reset(&mut self);
    fn keep_new(&mut self, kernel: Kernel, keys: &[Self::Key]) -> Vec<Self::Key>;
    fn key(number: u64) -> Self::Key;
}

macro_rules! cache {
    ($cache:ty, $key:ty) => {
        impl Cache for $cache {
            type Key = $key;
            fn new(bits: u32) -> Self {
                <$cache>::new(bits)
            }
            fn reset(&mut self) {
                <$cache>::reset(self);
            }
            fn keep_new(&mut self, kernel: Kernel, keys: &[$key]) -> Vec<$key> {
                let mut out = vec![0; keys.len()];
                let kept = <$cache>::keep_new(self, kernel, keys, &mut out);
                out.truncate(kept);
                out
            }
            fn key(number: u64) -> $key {
                number as $key
            }
        }
    };
}

cache!(RecentKeys, u32);
cache!(RecentWideKeys, u64);

/// Every key is there, each occurrence left out came before, and the order is kept.
fn assert_sound<C: Cache>(kept: &[C::Key], keys: &[C::Key]) {
    let mut seen = HashSet::new();
    let mut rest = kept.iter();
    for key in keys {
        if rest.as_slice().first() == Some(key) {
            rest.next();
            seen.insert(key);
        } else {
            assert!(seen.contains(key), "{key:?} was left out at first sight");
        }
    }
    assert_eq!(rest.len(), 0);
}

fn keys_of_two_batches_are_both_kept<C: Cache>() {
    let mut random = Splitmix::of("every_batch_keeps_its_keys");
    for kernel in Kernel::all() {
        let mut cache = C::new(12);
        for count in [0, 1, 5, 100, 4_097, 20_000] {
            // Skewed: many repeats at any distance, and the keys of empty slots.
            let keys: Vec<C::Key> = (0..count)
                .map(|_| C::key(random.next() >> random.below(64)))
                .chain([C::key(0), C::key(0), C::key(u64::MAX)])
                .collect();
            for _partial in 0..2 {
                cache.reset();
                assert_sound::<C>(&cache.keep_new(kernel, &keys), &keys);
            }
            // The same chunk again, in the same batch: still sound, and mostly left out.
            let again = cache.keep_new(kernel, &keys[count..]);
            assert!(again.len() <= 2);
        }
    }
}

#[test]
fn every_batch_keeps_its_keys() {
    keys_of_two_batches_are_both_kept::<RecentKeys>();
    keys_of_two_batches_are_both_kept::<RecentWideKeys>();
}

fn first_key_is_never_taken_for_an_empty_slot<C: Cache>() {
    for kernel in Kernel::all() {
        for bits in 1..=12 {
            let mut cache = C::new(bits);
            for key in (0..50_000).map(C::key) {
                cache.reset_if(bits, key);
                assert_eq!(cache.keep_new(kernel, &[key, key, key]), [key], "{bits} bits");
            }
        }
    }
}

/// A fresh cache for each key, where that is cheap.
trait ResetIf: Cache {
    fn reset_if(&mut self, bits: u32, key: Self::Key);
}

impl<C: Cache> ResetIf for C {
    fn reset_if(&mut self, bits: u32, key: Self::Key) {
        if bits <= 4 || key == C::key(0) {
            self.reset();
        }
    }
}

#[test]
fn no_key_lives_in_an_empty_slot() {
    first_key_is_never_taken_for_an_empty_slot::<RecentKeys>();
    first_key_is_never_taken_for_an_empty_slot::<RecentWideKeys>();
    // After a reset every slot is empty: each key of one per slot is new.
    for bits in [1, 10, 12, 14] {
        let mut cache = RecentKeys::new(bits);
        let keys: Vec<u32> = (0..1 << 16).collect();
        let mut kept = vec![0; keys.len()];
        for _ in 0..2 {
            cache.reset();
            assert_eq!(cache.keep_new(Kernel::best(), &keys, &mut kept), keys.len(), "{bits}");
        }
    }
}

#[test]
fn repeated_keys_are_left_out() {
    for kernel in Kernel::all() {
        let mut cache = RecentKeys::default();
        let keys = [[1, 2, 3, 4]; 1_000];
        let mut out = [0; 4_000];
        assert_eq!(cache.keep_new(kernel, keys.as_flattened(), &mut out), 4);
        assert_eq!(out[..4], [1, 2, 3, 4]);
    }
}
