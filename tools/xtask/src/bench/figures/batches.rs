//! What is asked of questions to many batches.

use super::{Figure, Measured};
use crate::bench::tables::{KERNELS, Rows};

pub(super) const FIGURES: &[Figure] = &[
    Figure {
        work: "lookup over 512 batches of 64K records, sliced against hash-once plain",
        floor: "12 x",
        aim: "25 x",
        measure: many_batches,
    },
    Figure {
        work: "AND of three predicates, worst case, 512 batches of 64K records",
        floor: "<= 6 us",
        aim: "<= 3 us",
        measure: |rows| {
            let case = "512 x 65536 at 32 bits";
            let (ns, kernel) = sliced(rows, "and of three", case, "worst case")?;
            Some(us(&[("", ns)], kernel, [6.0], [3.0]))
        },
    },
    Figure {
        work: "filter stage, one point predicate, 512 and 100,352 candidates",
        floor: "<= 2 us, <= 500 us",
        aim: "<= 0.8 us, <= 200 us",
        measure: |rows| {
            let ask = |case| sliced(rows, "lookup", case, "point miss");
            let (few, kernel) = ask("512 x 65536 at 32 bits")?;
            let (many, _) = ask("100352 x 4096 at 16 bits")?;
            let cases = [("512: ", few), ("100,352: ", many)];
            Some(us(&cases, kernel, [2.0, 500.0], [0.8, 200.0]))
        },
    },
    Figure {
        work: "the whole question in process, 512 and 100,000 candidates by range",
        floor: "<= 6 us, <= 1,000 us",
        aim: "<= 3 us, <= 500 us",
        measure: |rows| {
            let question = "point; uniform column";
            let ask = |case| rows.quiet("pipeline", case, "engine", question);
            let few = ask("lookup of 512; whole question")?;
            let many = ask("lookup of 100000; whole question")?;
            let cases = [("512: ", few), ("100,000: ", many)];
            Some(us(&cases, "engine", [6.0, 1_000.0], [3.0, 500.0]))
        },
    },
    Figure {
        work: "group build against memcpy of the same bytes",
        floor: "<= 2 x",
        aim: "1 x",
        measure: group_build,
    },
];

/// The best sliced kernel's time, ns, and its name.
fn sliced(rows: &Rows, section: &str, case: &str, measure: &str) -> Option<(f64, &'static str)> {
    let ns = |kernel: &str| rows.quiet(section, case, &format!("sliced {kernel}"), measure);
    KERNELS.iter().rev().find_map(|kernel| Some((ns(kernel)?, *kernel)))
}

/// Times of named cases against limits in us.
fn us<const N: usize>(
    cases: &[(&str, f64); N],
    kernel: &str,
    floors: [f64; N],
    aims: [f64; N],
) -> Measured {
    let shown: Vec<_> =
        cases.iter().map(|(name, ns)| format!("{name}{:.2} us", ns / 1e3)).collect();
    let met = |wanted: [f64; N]| cases.iter().zip(wanted).all(|((_, ns), us)| *ns <= 1e3 * us);
    Measured {
        text: format!("{} ({kernel})", shown.join(", ")),
        floor: met(floors),
        aim: met(aims),
    }
}

fn many_batches(rows: &Rows) -> Option<Measured> {
    let case = "512 x 65536 at 32 bits";
    let (_, kernel) = sliced(rows, "lookup", case, "point miss")?;
    let mut ratios = Vec::new();
    let of_case = rows.section("lookup").filter(|row| row.case == case);
    for plain in of_case.filter(|row| row.variant.starts_with("plain;")) {
        let ns = rows.quiet("lookup", case, &format!("sliced {kernel}"), &plain.measure)?;
        ratios.push((plain.measure.as_str(), plain.quiet / ns, ns));
    }
    let (_, point, _) = *ratios.iter().find(|(question, ..)| *question == "point miss")?;
    let shown: Vec<_> = ratios
        .iter()
        .map(|(question, ratio, ns)| format!("{question}: {ratio:.1} x ({:.2} us)", ns / 1e3))
        .collect();
    let text = format!("{} ({kernel}); judged by the point miss", shown.join(", "));
    Some(Measured { text, floor: point >= 12.0, aim: point >= 25.0 })
}

fn group_build(rows: &Rows) -> Option<Measured> {
    let case = "64 filters of 32768 words";
    let build = |kernel: &&&str| {
        let variant = format!("build {kernel}");
        rows.section("build").any(|row| row.case == case && row.variant == variant)
    };
    let kernel = KERNELS.iter().rfind(build)?;
    let of = |variant: &str| rows.quiet("build", case, variant, "one word");
    let (copy, build) = (of("memcpy")?, of(&format!("build {kernel}"))?);
    let ratio = build / copy;
    Some(Measured {
        text: format!("{ratio:.2} x: {build:.3} against {copy:.3} ns a word ({kernel})"),
        floor: ratio <= 2.0,
        aim: ratio <= 1.0,
    })
}
