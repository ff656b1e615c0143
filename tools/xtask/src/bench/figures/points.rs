//! What is asked of the point filters.

use super::{Figure, Measured};
use crate::bench::tables::{Rows, number};

pub(super) const FIGURES: &[Figure] = &[
    Figure {
        work: "blocked Bloom lookup, 1 MiB",
        floor: "1.4 x sbbf-rs, 8 x fastbloom default",
        aim: "within 1.2 x of the compute floor (the same kernel on 16 KiB)",
        measure: lookup_l2,
    },
    Figure {
        work: "blocked Bloom lookup, 256 MiB, huge pages for all",
        floor: "2 x sbbf-rs, 10 x fastbloom default",
        aim: "within 1.1 x of the random-line limit of the same run",
        measure: lookup_large,
    },
    Figure {
        work: "blocked Bloom insert, 1 MiB",
        floor: "1.3 x sbbf-rs",
        aim: "1.6 x",
        measure: |rows| insert(rows, L2, 1.3, 1.6),
    },
    Figure {
        work: "blocked Bloom insert, 256 MiB",
        floor: "2 x sbbf-rs",
        aim: "2.4 x",
        measure: |rows| insert(rows, LARGE, 2.0, 2.4),
    },
    Figure {
        work: "blocked Bloom FPR at 10 bits/key",
        floor: "<= 1.06 % (512-bit form, k = 6), <= 1.28 % (split-block)",
        aim: "lower at equal speed (k = 6 against k = 8)",
        measure: blocked_fpr,
    },
];

/// Pages and sizes that the figures name.
const L2: &str = "1 MiB huge";
const LARGE: &str = "256 MiB huge";
/// A filter in the L1: what computing alone costs.
const TINY: &str = "16 KiB huge";

/// Ours with the best kernel.
fn ours(rows: &Rows, form: &str) -> Option<String> {
    Some(format!("ours {form} {}", rows.best_kernel()?))
}

/// Mean of hit and miss.
fn lookup(rows: &Rows, case: &str, variant: &str) -> Option<f64> {
    let ask = |measure| rows.quiet("blocked", case, variant, measure);
    Some((ask("hit")? + ask("miss")?) / 2.0)
}

fn lookup_l2(rows: &Rows) -> Option<Measured> {
    let ours = ours(rows, "blocked k=6")?;
    let ns = lookup(rows, L2, &ours)?;
    let over = |name| lookup(rows, L2, name).map(|theirs| theirs / ns);
    let (split, fast) = (over("sbbf-rs")?, over("fastbloom (SipHash)")?);
    let floor = lookup(rows, TINY, &ours);
    Some(Measured {
        text: format!(
            "{ns:.2} ns: {split:.2} x sbbf-rs, {fast:.1} x fastbloom; {} x the compute floor of \
             {} ns",
            number(floor.map(|floor| ns / floor), 2),
            number(floor, 2)
        ),
        floor: split >= 1.4 && fast >= 8.0,
        aim: floor.is_some_and(|floor| ns <= 1.2 * floor),
    })
}

fn lookup_large(rows: &Rows) -> Option<Measured> {
    let ours = ours(rows, "blocked k=6")?;
    let ns = lookup(rows, LARGE, &ours)?;
    let over = |name| lookup(rows, LARGE, name).map(|theirs| theirs / ns);
    let (split, fast) = (over("sbbf-rs")?, over("fastbloom (SipHash)")?);
    let limit = rows.quiet("limit", LARGE, "best", "read")?;
    Some(Measured {
        text: format!(
            "{ns:.2} ns: {split:.2} x sbbf-rs, {fast:.1} x fastbloom; {:.2} x the limit of \
             {limit:.2} ns",
            ns / limit
        ),
        floor: split >= 2.0 && fast >= 10.0,
        aim: ns <= 1.1 * limit,
    })
}

fn insert(rows: &Rows, case: &str, floor: f64, aim: f64) -> Option<Measured> {
    let ns = rows.quiet("blocked", case, &ours(rows, "blocked k=6")?, "insert")?;
    let ratio = rows.quiet("blocked", case, "sbbf-rs", "insert")? / ns;
    let limit = rows.quiet("limit", case, "best", "write");
    Some(Measured {
        text: format!(
            "{ns:.2} ns: {ratio:.2} x; changing a random line takes {} ns",
            number(limit, 2)
        ),
        floor: ratio >= floor,
        aim: ratio >= aim,
    })
}

/// The rate of a form over all sizes from 1 MiB on: a tiny filter has few keys to err with.
fn rate(rows: &Rows, form: &str) -> Option<f64> {
    let variant = ours(rows, form)?;
    let rates: Vec<f64> = rows
        .section("blocked")
        .filter(|row| row.variant == variant && row.measure == "fpr" && !row.case.contains("KiB"))
        .map(|row| row.quiet)
        .collect();
    (!rates.is_empty()).then(|| 100.0 * rates.iter().sum::<f64>() / rates.len() as f64)
}

fn blocked_fpr(rows: &Rows) -> Option<Measured> {
    let (six, eight) = (rate(rows, "blocked k=6")?, rate(rows, "blocked k=8")?);
    let split = rate(rows, "split-block")?;
    let speed = |form| lookup(rows, L2, &ours(rows, form)?);
    let (fast, other) = (speed("blocked k=6")?, speed("blocked k=8")?);
    Some(Measured {
        text: format!(
            "k = 6: {six:.3} %, k = 8: {eight:.3} % ({fast:.2} and {other:.2} ns at 1 MiB); \
             split-block: {split:.3} %"
        ),
        floor: six <= 1.06 && split <= 1.28,
        aim: six < eight && fast <= 1.05 * other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::records::Row;

    fn row(section: &str, case: &str, variant: &str, measure: &str, quiet: f64) -> Row {
        Row {
            section: section.to_owned(),
            case: case.to_owned(),
            variant: variant.to_owned(),
            measure: measure.to_owned(),
            unit: "ns".to_owned(),
            quiet,
            median: quiet,
        }
    }

    #[test]
    fn floors_and_aims_are_judged_by_the_best_kernel() {
        let insert = |theirs| {
            Rows(vec![
                row("blocked", L2, "ours blocked k=6 scalar", "insert", 9.0),
                row("blocked", L2, "ours blocked k=6 avx512", "insert", 2.0),
                row("blocked", L2, "sbbf-rs", "insert", theirs),
            ])
        };
        for (theirs, floor, aim) in [(2.5, false, false), (2.8, true, false), (3.3, true, true)] {
            let found = super::insert(&insert(theirs), L2, 1.3, 1.6).expect("measured");
            assert_eq!((found.floor, found.aim), (floor, aim), "{theirs}");
        }
    }
}
