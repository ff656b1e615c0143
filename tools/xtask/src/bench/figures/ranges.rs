//! What is asked of bloomRF.

use super::{Figure, Measured};
use crate::bench::tables::Rows;

pub(super) const FIGURES: &[Figure] = &[
    Figure {
        work: "bloomRF insert, 64K and 1M keys, 16 bits/key",
        floor: "1.7 x our scalar",
        aim: "3 x",
        measure: |rows| {
            let ratios = [
                ratio(rows, "64K keys uniform", "insert")?,
                ratio(rows, "1M keys uniform", "insert")?,
            ];
            Some(ratios_of(rows, &["64K", "1M"], &ratios, [1.7, 1.7], [3.0, 3.0]))
        },
    },
    Figure {
        work: "bloomRF point lookup, 1M keys, 16 bits/key",
        floor: "hit 2 x, miss 1.2 x our scalar",
        aim: "3.5 x, 2 x",
        measure: |rows| {
            let ratios =
                [ratio(rows, "1M keys uniform", "hit")?, ratio(rows, "1M keys uniform", "miss")?];
            Some(ratios_of(rows, &["hit", "miss"], &ratios, [2.0, 1.2], [3.5, 2.0]))
        },
    },
    Figure {
        work: "bloomRF range lookup, widths 16..1M",
        floor: "1.3 x our scalar",
        aim: "2 x",
        measure: |rows| {
            let ask = |width| ratio(rows, &format!("1M keys uniform {width}"), "range");
            let ratios = [ask("16")?, ask("1k")?, ask("1M")?];
            Some(ratios_of(rows, &["16", "1k", "1M"], &ratios, [1.3; 3], [2.0; 3]))
        },
    },
    Figure {
        work: "bloomRF FPR, uniform keys and questions, every width",
        floor: "within 5 % of the model",
        aim: "below the model",
        measure: bloomrf_fpr,
    },
];

/// How many times faster than scalar the best kernel is.
fn ratio(rows: &Rows, case: &str, measure: &str) -> Option<f64> {
    let best = rows.quiet("bloomrf", case, rows.best_kernel()?, measure)?;
    Some(rows.quiet("bloomrf", case, "scalar", measure)? / best)
}

fn ratios_of<const N: usize>(
    rows: &Rows,
    names: &[&str; N],
    ratios: &[f64; N],
    floors: [f64; N],
    aims: [f64; N],
) -> Measured {
    let shown: Vec<_> = names.iter().zip(ratios).map(|(n, r)| format!("{n}: {r:.2} x")).collect();
    let met = |wanted: [f64; N]| ratios.iter().zip(wanted).all(|(ratio, wanted)| *ratio >= wanted);
    Measured {
        text: format!("{} ({})", shown.join(", "), rows.best_kernel().unwrap_or("scalar")),
        floor: met(floors),
        aim: met(aims),
    }
}

fn bloomrf_fpr(rows: &Rows) -> Option<Measured> {
    let mut ratios = Vec::new();
    for row in rows.section("bloomrf").filter(|row| row.measure == "fpr model") {
        let rate = rows.quiet("bloomrf", &row.case, "ours", "fpr")?;
        ratios.push((rate / row.quiet, row.case.as_str()));
    }
    let lowest = ratios.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let highest = ratios.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(Measured {
        text: format!(
            "{:.3} ({}) to {:.3} ({}) of the model over {} cases; 0 false negatives in the run",
            lowest.0,
            lowest.1,
            highest.0,
            highest.1,
            ratios.len()
        ),
        floor: lowest.0 >= 0.95 && highest.0 <= 1.05,
        aim: highest.0 < 1.0,
    })
}
