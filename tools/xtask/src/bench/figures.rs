//! The figures that the kernels are held to: floor, aim, what was measured, and whether it is met.
//!
//! Ratios are between rows of one run. A figure without its rows is "not measured", never met.

use std::fmt::Write as _;

use super::tables::{KERNELS, Rows, number};

/// One line of the table.
struct Figure {
    work: &'static str,
    floor: &'static str,
    aim: &'static str,
    measure: fn(&Rows) -> Option<Measured>,
}

/// What became of a figure.
struct Measured {
    text: String,
    floor: bool,
    aim: bool,
}

/// Pages and sizes of the point figures.
const L2: &str = "1 MiB huge";
const LARGE: &str = "256 MiB huge";
/// A filter in the L1: what computing alone costs.
const TINY: &str = "16 KiB huge";

const FIGURES: &[Figure] = &[
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
    Figure {
        work: "lookup over 512 batches of 64K records, sliced against hash-once plain",
        floor: "12 x",
        aim: "25 x",
        measure: many_batches,
    },
    Figure {
        work: "group build against memcpy of the same bytes",
        floor: "<= 2 x",
        aim: "1 x",
        measure: group_build,
    },
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

/// The table, and how many floors are missed.
pub(crate) fn table(rows: &Rows) -> String {
    let mut text = "| work | floor | aim | measured | floor met | aim met |\n\
                    | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    for figure in FIGURES {
        let (measured, floor, aim) = match (figure.measure)(rows) {
            Some(found) => (found.text, word(found.floor), word(found.aim)),
            None => ("not measured".to_owned(), "-", "-"),
        };
        let Figure { work, floor: floor_text, aim: aim_text, .. } = figure;
        let _ =
            writeln!(text, "| {work} | {floor_text} | {aim_text} | {measured} | {floor} | {aim} |");
    }
    text
}

fn word(met: bool) -> &'static str {
    if met { "met" } else { "**missed**" }
}

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

/// The best kernel set with rows in a case.
fn best<'a>(rows: &'a Rows, section: &'a str, case: &str) -> Option<&'static str> {
    let in_case = |kernel: &&&str| {
        rows.section(section).any(|row| row.case == case && row.variant == **kernel)
    };
    KERNELS.iter().rfind(in_case).copied()
}

fn many_batches(rows: &Rows) -> Option<Measured> {
    let case = "512 x 65536 at 32 bits";
    let of_case = || rows.section("lookup").filter(|row| row.case == case);
    let kernel = KERNELS.iter().rev().find(|kernel| {
        of_case().any(|row| row.variant.strip_prefix("sliced ") == Some(**kernel))
    })?;
    let mut ratios = Vec::new();
    for plain in of_case().filter(|row| row.variant.starts_with("plain")) {
        let sliced = rows.quiet("lookup", case, &format!("sliced {kernel}"), &plain.measure)?;
        ratios.push((plain.measure.as_str(), plain.quiet / sliced, sliced));
    }
    let worst = ratios.iter().map(|(_, ratio, _)| *ratio).min_by(f64::total_cmp)?;
    let shown: Vec<_> = ratios
        .iter()
        .map(|(question, ratio, ns)| format!("{question}: {ratio:.1} x ({:.2} us)", ns / 1e3))
        .collect();
    let text = format!("{} ({kernel}); judged by the worst", shown.join(", "));
    Some(Measured { text, floor: worst >= 12.0, aim: worst >= 25.0 })
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
    fn a_figure_without_rows_is_not_measured_and_never_met() {
        let table = table(&Rows(Vec::new()));
        assert_eq!(table.matches("not measured").count(), FIGURES.len());
        assert!(!table.contains("| met"));
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
