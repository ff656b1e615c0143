//! The whole promise over real sockets, on a small synthetic capture.

use crate::binary::{code, demo_json, number, run, stdout};

#[test]
fn the_demo_loses_nothing_and_excludes_a_good_share() {
    let (code, report) =
        demo_json(&["--packets", "20000", "--batch-records", "500", "--questions", "1500"]);
    assert_eq!(code, 0);
    assert_eq!(number(&report, &["totals", "false_negatives"]), 0.0);
    assert_eq!(number(&report, &["totals", "records"]), 20_000.0);
    assert_eq!(number(&report, &["totals", "batches"]), 40.0);
    assert_eq!(number(&report, &["verified"]), 40.0);
    let excluded = number(&report, &["totals", "excluded"]);
    let ideal = number(&report, &["totals", "ideal_excluded"]);
    assert!(excluded <= ideal && excluded > 0.9 * ideal, "{excluded} of {ideal}");
    assert!(ideal > 0.3 * number(&report, &["totals", "pairs"]));
    // An OR of source and destination excludes as well.
    let hosts =
        report["questions"].as_array().expect("a list").iter().filter(|question| {
            question["where"].as_str().is_some_and(|text| text.starts_with("host"))
        });
    let by_filter: f64 = hosts.map(|question| number(question, &["excluded_filter"])).sum();
    assert!(by_filter > 40.0, "{by_filter}");
}

#[test]
fn lanes_and_queues_change_no_answer() {
    let arguments = ["--packets", "6000", "--seed", "3", "--questions", "40"];
    let spread: Vec<&str> =
        arguments.iter().copied().chain(["--lanes", "3", "--queues", "2"]).collect();
    let (one_code, one) = demo_json(&arguments);
    let (two_code, two) = demo_json(&spread);
    assert_eq!((one_code, two_code), (0, 0));
    for report in [&one, &two] {
        assert_eq!(number(report, &["totals", "false_negatives"]), 0.0);
        assert_eq!(number(report, &["verified"]), number(report, &["totals", "batches"]));
    }
    // The same records in the same batches: what is true does not depend on the way.
    let truth = |report: &serde_json::Value| number(report, &["totals", "records"]);
    assert_eq!(truth(&one), truth(&two));
}

#[test]
fn the_json_report_has_the_keys_that_are_promised() {
    let (_, report) = demo_json(&["--packets", "3000", "--questions", "25"]);
    let totals = [
        "records",
        "batches",
        "questions",
        "false_negatives",
        "false_positives",
        "excluded",
        "ideal_excluded",
        "records_per_second",
        "filter_bytes_per_record",
    ];
    for key in totals {
        number(&report, &["totals", key]);
    }
    let questions = report["questions"].as_array().expect("a list");
    assert_eq!(questions.len(), 25);
    let numbers = [
        "candidates",
        "matching",
        "excluded_zone_map",
        "excluded_filter",
        "false_positives",
        "false_negatives",
        "micros",
    ];
    for question in questions {
        assert!(question["where"].is_string());
        for key in numbers {
            number(question, &[key]);
        }
        let sum = number(question, &["matching"])
            + number(question, &["excluded_zone_map"])
            + number(question, &["excluded_filter"])
            + number(question, &["false_positives"]);
        assert_eq!(sum, number(question, &["candidates"]), "{question}");
    }
}

#[test]
fn the_table_fits_120_columns_and_has_no_colour_in_a_pipe() {
    let output = run(&["demo", "--packets", "3000"]);
    assert_eq!(code(&output), 0);
    let text = stdout(&output);
    assert!(output.stderr.is_empty(), "{}", crate::binary::stderr(&output));
    assert!(!text.contains('\x1b'));
    for line in text.lines().filter(|line| !line.starts_with("Capture:")) {
        assert!(line.chars().count() <= 120, "{line}");
    }
    assert!(text.contains("0 false negatives"), "{text}");
}
