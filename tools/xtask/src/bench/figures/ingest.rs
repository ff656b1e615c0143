//! What is asked of ingest and of the seal.

use super::{Figure, Measured};
use crate::bench::tables::{KERNELS, Rows};

pub(super) const FIGURES: &[Figure] = &[
    Figure {
        work: "whole ingest of the 64-byte bench schema against the naive row-at-a-time build",
        floor: "3.5 x AVX-512, 2.6 x AVX2, 2.1 x portable; <= 51 ns (10 Gb/s of records)",
        aim: "5 x, 3.5 x, 2.9 x; <= 30 ns (17 Gb/s)",
        measure: whole_ingest,
    },
    Figure {
        work: "merge + fold + zero, off the ingest core, per record",
        floor: "<= 4 ns",
        aim: "<= 2 ns",
        measure: |rows| {
            let case = "seal of two shares";
            let kernel = best(rows, "ingest", case)?;
            let ns = rows.quiet("ingest", case, kernel, "merge fold zero")?;
            let text = format!("{ns:.2} ns ({kernel})");
            Some(Measured { text, floor: ns <= 4.0, aim: ns <= 2.0 })
        },
    },
];

/// The best kernel set with rows in a case.
fn best<'a>(rows: &'a Rows, section: &'a str, case: &str) -> Option<&'static str> {
    let in_case = |kernel: &&&str| {
        rows.section(section).any(|row| row.case == case && row.variant == **kernel)
    };
    KERNELS.iter().rfind(in_case).copied()
}

/// Kernel set, floor and aim against the naive build.
const INGEST: [(&str, f64, f64); 4] =
    [("avx512", 3.5, 5.0), ("avx512-no-vbmi", 3.5, 5.0), ("avx2", 2.6, 3.5), ("scalar", 2.1, 2.9)];

fn whole_ingest(rows: &Rows) -> Option<Measured> {
    let ns = |variant| rows.quiet("ingest", "rows", variant, "whole");
    let naive = ns("naive")?;
    let (mut floor, mut aim) = (true, true);
    let mut shown = vec![format!("naive {naive:.1} ns")];
    for (kernel, floor_ratio, aim_ratio) in INGEST {
        let Some(ours) = ns(kernel) else { continue };
        let ratio = naive / ours;
        shown.push(format!("{kernel} {ours:.1} ns ({ratio:.2} x)"));
        floor &= ratio >= floor_ratio;
        aim &= ratio >= aim_ratio;
    }
    let best = ns(best(rows, "ingest", "rows")?)?;
    let text = shown.join(", ");
    Some(Measured { text, floor: floor && best <= 51.0, aim: aim && best <= 30.0 })
}
