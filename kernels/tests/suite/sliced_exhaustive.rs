//! All (lo, hi) pairs of a 1,024-key window at the bottom, the middle and the top of the domain, in
//! 64 slots at once: no key is lost in any of them, and every kernel set says the same.

use bloomrf_kernels::params::layers_for;
use bloomrf_kernels::sliced;
use bloomrf_kernels::{Kernel, Layers, RangePlan};

use crate::seeded::Splitmix;
use crate::sliced_built::SlicedGroup;

/// Keys of a window.
const WINDOW: u64 = 1_024;

/// Pairs of ends between two that are also asked of the plain filters.
const PLAIN_STEP: usize = 97;

/// Every pair of ends in every window; `groups` of three W, so that they are walked side by side.
fn all_pairs(layers: &Layers, random: &mut Splitmix) {
    let max = layers.key_max();
    let kernels = Kernel::all();
    let mut plan = RangePlan::default();
    let mut count = 0;
    for base in [0, (max / 2).saturating_sub(WINDOW / 2), max - (WINDOW - 1)] {
        let keys: Vec<Vec<u64>> = (0..64)
            .map(|slot| match slot {
                0 => vec![base, base + (WINDOW - 1)],
                _ => (0..slot % 7).map(|_| base + random.below(WINDOW)).collect(),
            })
            .collect();
        // Which slots hold the key at each place of the window.
        let mut at = vec![0u64; WINDOW as usize];
        for (slot, keys) in keys.iter().enumerate() {
            keys.iter().for_each(|key| at[(key - base) as usize] |= 1 << slot);
        }
        let groups: Vec<SlicedGroup> = [1, 24, 60]
            .map(|words| SlicedGroup::new(layers, words, true, |slot| Some(keys[slot].clone())))
            .into();
        let views: Vec<_> = groups.iter().map(|group| Some(group.group())).collect();
        let ask = [u64::MAX, u64::MAX, u64::MAX, 0, 0, 0, 0, 0];
        for a in 0..WINDOW {
            // Grows with b: the keys from `a` on.
            let mut truth = 0;
            for b in a..WINDOW {
                truth |= at[b as usize];
                plan.build(layers, base + a, base + b, u32::MAX);
                let found = sliced::run_plan(kernels[0], &plan, &views, &ask);
                for (g, found) in found.iter().take(3).enumerate() {
                    assert_eq!(truth & !found, 0, "lost in {a}..={b} from {base:#x}, group {g}");
                }
                // The sets share the walk; they are compared on a part that moves on.
                count += 1;
                if count % 5 == 0 {
                    for &kernel in &kernels[1..] {
                        let again = sliced::run_plan(kernel, &plan, &views, &ask);
                        assert_eq!(again, found, "{kernel}: {a}..={b} from {base:#x}");
                    }
                }
                if count % PLAIN_STEP == 0 {
                    for (group, found) in groups.iter().zip(found) {
                        assert_eq!(group.plain(&plan, u64::MAX), found, "{a}..={b}");
                    }
                }
            }
        }
    }
}

fn all_pairs_of(name: &str, domain_bits: u8, widths: &[u8], exact_top: bool) {
    let mut random = Splitmix::of(name);
    let layers = Layers::new(domain_bits, widths, exact_top, random.next()).expect("valid widths");
    all_pairs(&layers, &mut random);
}

#[test]
fn no_slot_loses_a_key_in_narrowing_layers() {
    all_pairs_of("no_slot_loses_a_key_in_narrowing_layers", 64, &[7, 4, 2, 2], false);
}

#[test]
fn no_slot_loses_a_key_in_wide_layers() {
    all_pairs_of("no_slot_loses_a_key_in_wide_layers", 64, &[7, 7, 7], false);
}

#[test]
fn no_slot_loses_a_key_in_the_sets_of_the_column_types() {
    let mut random = Splitmix::of("no_slot_loses_a_key_in_the_sets_of_the_column_types");
    for domain_bits in [32, 64] {
        let layers = layers_for(domain_bits, random.next());
        all_pairs(&layers, &mut random);
    }
}
