//! Rows of the records as Markdown tables: point filters by size and pages, bloomRF by case, and a
//! plain form for everything else.

use std::fmt::Write as _;

use super::records::{Record, Row};

/// Rows of all benches of one CPU.
pub(crate) struct Rows(pub(crate) Vec<Row>);

impl Rows {
    /// The quietest quarter of what was measured, or the one value.
    pub(crate) fn quiet(
        &self,
        section: &str,
        case: &str,
        variant: &str,
        measure: &str,
    ) -> Option<f64> {
        let row = self.0.iter().find(|row| {
            row.section == section
                && row.case == case
                && row.variant == variant
                && row.measure == measure
        })?;
        row.quiet.is_finite().then_some(row.quiet)
    }

    /// Rows of one section.
    pub(crate) fn section<'a>(&'a self, section: &'a str) -> impl Iterator<Item = &'a Row> {
        self.0.iter().filter(move |row| row.section == section)
    }

    /// The best kernel set that was measured: they are recorded worst first.
    pub(crate) fn best_kernel(&self) -> Option<&str> {
        let prefix = "ours blocked k=6 ";
        let kernels = self.section("blocked").filter_map(|row| row.variant.strip_prefix(prefix));
        let rank = |name: &&str| KERNELS.iter().position(|kernel| kernel == name);
        kernels.max_by_key(rank)
    }
}

/// Kernel sets, worst first.
pub(crate) const KERNELS: [&str; 4] = ["scalar", "avx2", "avx512-no-vbmi", "avx512"];

/// Different values in the order in which they first come.
pub(crate) fn distinct<'a>(values: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

/// Point filters: one table for each size and page mode.
pub(crate) fn points(rows: &Rows) -> String {
    let mut text = String::new();
    let ours = format!("ours blocked k=6 {}", rows.best_kernel().unwrap_or("scalar"));
    for case in distinct(rows.section("blocked").map(|row| row.case.as_str())) {
        let _ = writeln!(text, "\n#### {case} pages\n");
        let limit = |measure| number(rows.quiet("limit", case, "best", measure), 2);
        let huge = rows.quiet("memory", case, "process", "huge pages");
        let _ = writeln!(
            text,
            "A random line costs {} ns to read (a word of it; {} ns all of it) and {} ns to change \
             here. Of the process's memory, {} % lay on huge pages.\n",
            limit("read"),
            limit("read whole"),
            limit("write"),
            number(huge.map(|share| 100.0 * share), 0),
        );
        text.push_str(
            "| filter | bits/key | insert | hit | miss | mixed | FPR % | miss / ours |\n\
             | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        );
        let in_case = rows.section("blocked").filter(|row| row.case == case);
        for variant in distinct(in_case.map(|row| row.variant.as_str())) {
            let cell = |measure| rows.quiet("blocked", case, variant, measure);
            let fpr = cell("fpr").map(|share| 100.0 * share);
            let base = rows.quiet("blocked", case, &ours, "miss");
            let ratio = cell("miss").zip(base).map(|(theirs, ours)| theirs / ours);
            let lost = cell("false negatives").filter(|keys| *keys > 0.0);
            let refused = cell("refused").filter(|keys| *keys > 0.0);
            let mut name = variant.to_owned();
            if lost.is_some() || refused.is_some() {
                name.push_str(&format!(
                    " (refused {} keys and lost {} of those asked)",
                    number(refused.or(Some(0.0)), 0),
                    number(lost.or(Some(0.0)), 0)
                ));
            }
            let _ = writeln!(
                text,
                "| {name} | {} | {} | {} | {} | {} | {} | {} |",
                number(cell("bits per key"), 2),
                number(cell("insert"), 2),
                number(cell("hit"), 2),
                number(cell("miss"), 2),
                number(cell("mixed"), 2),
                number(fpr, 4),
                number(ratio, 2),
            );
        }
    }
    text
}

/// The random-line limit: every variant at every size.
pub(crate) fn limits(rows: &Rows) -> String {
    let mut text = String::new();
    let cases = distinct(rows.section("limit").map(|row| row.case.as_str()));
    for measure in ["read", "read whole", "write"] {
        let of_measure = || rows.section("limit").filter(|row| row.measure == measure);
        let variants = distinct(of_measure().map(|row| row.variant.as_str()));
        let _ = writeln!(text, "\n| {measure}, ns a line | {} |", variants.join(" | "));
        let _ = writeln!(text, "| --- |{}", " ---: |".repeat(variants.len()));
        for case in &cases {
            let cells: Vec<_> = variants
                .iter()
                .map(|variant| number(rows.quiet("limit", case, variant, measure), 2))
                .collect();
            let _ = writeln!(text, "| {case} | {} |", cells.join(" | "));
        }
    }
    text
}

/// bloomRF: inserts and points of every kernel set.
pub(crate) fn bloomrf_points(rows: &Rows) -> String {
    let kernels = kernels(rows);
    let mut text = heading("keys, work", &kernels, "");
    for row in rows.section("bloomrf").filter(|row| row.variant == "scalar") {
        if row.measure != "range" {
            let name = format!("{}, {}", row.case, row.measure);
            let _ = writeln!(text, "| {name} |{}", times(rows, row, &kernels));
        }
    }
    text
}

/// bloomRF: ranges of every kernel set, with rate and model.
pub(crate) fn bloomrf_ranges(rows: &Rows) -> String {
    let kernels = kernels(rows);
    let mut text =
        heading("keys, questions, width", &kernels, " FPR | model | FPR / model | exact |");
    for row in rows.section("bloomrf").filter(|row| row.variant == "scalar") {
        if row.measure == "range" {
            let of_case = |measure| rows.quiet("bloomrf", &row.case, "ours", measure);
            let (rate, model) = (of_case("fpr"), of_case("fpr model"));
            let ratio = rate.zip(model).map(|(rate, model)| rate / model);
            let _ = writeln!(
                text,
                "| {} |{} {} | {} | {} | {} |",
                row.case,
                times(rows, row, &kernels),
                small(rate),
                small(model),
                number(ratio, 3),
                exact(rows, &row.case)
            );
        }
    }
    text
}

/// What the same keys cost as an exact kind.
fn exact(rows: &Rows, case: &str) -> String {
    let row = rows
        .section("bloomrf")
        .find(|row| row.case == case && row.measure == "range" && row.variant.starts_with("exact"));
    let Some(row) = row else { return "-".to_owned() };
    let bits = rows.quiet("bloomrf", case, &row.variant, "bits per key");
    let form = row.variant.trim_start_matches("exact ");
    format!("{:.2} ({form}; {} bits/key)", row.quiet, number(bits, 1))
}

fn kernels(rows: &Rows) -> Vec<&str> {
    let measured = |kernel: &&str| rows.section("bloomrf").any(|row| row.variant == **kernel);
    KERNELS.into_iter().filter(measured).collect()
}

fn heading(first: &str, kernels: &[&str], more: &str) -> String {
    let columns = more.matches('|').count();
    let numbers = " ---: |".repeat(kernels.len() + columns);
    format!("| {first} | {} |{more}\n| --- |{numbers}\n", kernels.join(" | "))
}

/// Times of one case and measure, with the ratio to scalar.
fn times(rows: &Rows, row: &Row, kernels: &[&str]) -> String {
    let mut text = String::new();
    for kernel in kernels {
        let ns = rows.quiet("bloomrf", &row.case, kernel, &row.measure);
        let ratio = ns.map(|ns| row.quiet / ns);
        let _ = match *kernel {
            "scalar" => write!(text, " {} |", number(ns, 2)),
            _ => write!(text, " {} ({} x) |", number(ns, 2), number(ratio, 2)),
        };
    }
    text
}

/// Any record, as it is.
pub(crate) fn plain(record: &Record) -> String {
    let rows = record.rows();
    if rows.is_empty() {
        let mut text = format!("| {} |\n", record.header.join(" | "));
        let _ = writeln!(text, "|{}", " --- |".repeat(record.header.len()));
        for row in &record.rows {
            let _ = writeln!(text, "| {} |", row.join(" | "));
        }
        return text;
    }
    let mut text = "| what | case | variant | measure | quiet | median | first / this |\n\
                    | --- | --- | --- | --- | ---: | ---: | ---: |\n"
        .to_owned();
    for row in &rows {
        let first = rows.iter().find(|first| {
            (&first.section, &first.case, &first.measure) == (&row.section, &row.case, &row.measure)
        });
        let ratio = first.filter(|_| row.unit == "ns").map(|first| first.quiet / row.quiet);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {}, {} | {} | {} | {} |",
            row.section,
            row.case,
            row.variant,
            row.measure,
            row.unit,
            figures(row.quiet),
            figures(row.median),
            number(ratio, 2)
        );
    }
    text
}

/// A value with some four significant figures.
fn figures(value: f64) -> String {
    match value.abs() {
        v if v >= 1_000.0 => format!("{value:.0}"),
        v if v >= 1.0 => format!("{value:.2}"),
        v if v >= 0.001 || v == 0.0 => format!("{value:.4}"),
        _ => format!("{value:.2e}"),
    }
}

/// A value with so many decimals; a hyphen where there is none.
pub(crate) fn number(value: Option<f64>, decimals: usize) -> String {
    match value {
        Some(value) if value.is_finite() => format!("{value:.decimals$}"),
        _ => "-".to_owned(),
    }
}

/// A rate.
fn small(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2e}"))
}
