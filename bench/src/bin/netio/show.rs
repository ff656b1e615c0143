//! The rows as a table for people, case by case.

use bloomrf_bench::rounds::Row;

/// Prints what a packet or a record costs everybody.
pub(crate) fn print(rows: &[Row]) {
    let mut case = "";
    for cost in rows.iter().filter(|row| row.measure == "cost") {
        if cost.case != case {
            case = &cost.case;
            let unit = if case == "pipeline" { "record" } else { "packet" };
            println!("\n{case}");
            println!(
                "  {:24} {:>10} {:>10} {:>13} {:>9} {:>9}",
                "",
                format!("ns/{unit}"),
                "median",
                "1/CPU-second",
                "cycles",
                "lost %"
            );
        }
        let of = |measure: &str| {
            let is_it = |row: &&Row| {
                row.case == cost.case && row.variant == cost.variant && row.measure == measure
            };
            rows.iter().find(is_it).map(|row| row.quiet)
        };
        let shown = |value: Option<f64>, scale: f64, decimals: usize| {
            value.map_or_else(|| "-".to_owned(), |value| format!("{:.decimals$}", value * scale))
        };
        println!(
            "  {:24} {:>10} {:>10} {:>13} {:>9} {:>9}",
            cost.variant,
            shown(Some(cost.quiet), 1.0, 2),
            shown(Some(cost.median), 1.0, 2),
            shown(of("rate"), 1.0, 0),
            shown(of("cycles"), 1.0, 1),
            shown(of("lost"), 100.0, 2),
        );
        let beside = |row: &&Row| {
            let measure = row.measure.as_str();
            let counts = measure.starts_with("stage ") || of("kernel").is_some();
            counts && !["cost", "cycles", "rate", "lost"].contains(&measure)
        };
        let own = |row: &&Row| row.case == cost.case && row.variant == cost.variant;
        for row in rows.iter().filter(own).filter(beside) {
            println!("    {:22} {:>10.2} {:>10.2}", row.measure, row.quiet, row.median);
        }
    }
}
