//! `bloomrf plan`: figures, advice, pictures, and what it refuses.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::binary::{code, number, run, stderr, stdout};

fn plan(arguments: &[&str]) -> (i32, Value) {
    let output = run(&[&["plan", "--json"], arguments].concat());
    let value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{arguments:?}: {e}: {}", stderr(&output)));
    (code(&output), value)
}

fn row<'a>(object: &'a Value, kind: &str) -> &'a Value {
    let mut rows = object["rows"].as_array().expect("rows").iter();
    rows.find(|row| row["kind"] == kind).expect("a row of every kind")
}

#[test]
fn plan_prints_the_published_figures() {
    for items in ["1e8", "100M", "100_000_000"] {
        let (code, object) = plan(&["--items", items, "--fpr", "1%"]);
        let classic = row(&object, "classic");
        assert_eq!((code, &classic["bits"], &classic["k"]), (0, &958_505_838.into(), &7.into()));
        assert_eq!(classic["words"], 14_976_654);
        assert_eq!(row(&object, "counting")["bits"], 4 * 958_505_838_u64);
        let shared = object["shared"].as_array().unwrap();
        let guava = shared.iter().find(|shared| shared["system"] == "guava").unwrap();
        assert_eq!(
            (&guava["bits_asked"], &guava["words"]),
            (&958_505_837.into(), &14_976_654.into())
        );
    }
    let text = stdout(&run(&["plan", "--items", "1e8", "--fpr", "0.01"]));
    for figure in ["958,505,838", "958,505,837", "14,976,654"] {
        assert!(text.contains(figure), "{figure} in {text}");
    }
    let (_, object) = plan(&["--items", "1e6", "--bits", "1e7"]);
    let classic = row(&object, "classic");
    assert_eq!(classic["k"], 7);
    assert!((number(classic, &["fpr"]) - 0.00819).abs() < 5e-6, "{classic}");
    // About 35 MB at 1 %, 52 at 0.1 %, 70 at 0.01 %: as people say it, of 2^20 and of 10^6 alike.
    for (fpr, mb) in [("0.01", 35.0), ("0.001", 52.0), ("0.0001", 70.0)] {
        let (_, object) = plan(&["--items", "3e7", "--fpr", fpr]);
        let bytes = number(row(&object, "classic"), &["bytes"]);
        assert!(
            (bytes / 1_048_576.0 - mb).abs() < 2.0 && (bytes / 1e6 - mb).abs() < 2.5,
            "{bytes}"
        );
    }
}

#[test]
fn plan_recommends_what_does_what_is_needed_and_says_when_nothing_does() {
    let size = ["--items", "1e7", "--fpr", "1%"];
    for (need, take) in [
        (&[][..], "blocked"),
        (&["--delete"], "cuckoo"),
        (&["--range", "64"], "bloomrf-ranges"),
        (&["--grow"], "scaling"),
        (&["--share", "parquet"], "split-block"),
        (&["--share", "guava"], "classic"),
    ] {
        let (code, object) = plan(&[&size[..], need].concat());
        assert_eq!((code, &object["advice"]["take"]), (0, &take.into()), "{need:?}");
        assert!(object["advice"]["why"].as_str().unwrap().len() > 20);
    }
    let (code, object) = plan(&[&size[..], &["--share", "guava", "--delete"]].concat());
    assert_eq!((code, &object["advice"]["take"]), (1, &Value::Null));
    let (code, object) = plan(&["--items", "1e9", "--fpr", "1%", "--memory", "1MiB"]);
    assert_eq!(code, 1, "{object}");
    assert!(row(&object, "classic")["why_not"].as_str().unwrap().contains("bytes"));
}

#[test]
fn plan_measures_here_when_asked_to() {
    let (code, object) = plan(&["--items", "20000", "--fpr", "1%", "--measure"]);
    assert_eq!(code, 0);
    for kind in ["classic", "blocked", "split-block", "bloomrf", "bloomrf-ranges", "hash-set"] {
        for time in ["insert_ns", "lookup_ns"] {
            let ns = number(row(&object, kind), &[time]);
            assert!(ns > 0.0 && ns < 1e6, "{kind} {time}: {ns}");
        }
    }
}

#[test]
fn plan_draws_svg_and_png() {
    let folder = TempDir::new().unwrap();
    for (name, magic) in [("load.svg", &b"<svg"[..]), ("load.png", b"\x89PNG\r\n\x1a\n")] {
        let path = folder.path().join(name);
        let path = path.to_str().unwrap();
        let output = run(&["plan", "--items", "1e6", "--fpr", "1%", "--plot", path]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let picture = fs::read(path).unwrap();
        assert!(picture.starts_with(magic) && picture.len() > 2_000, "{name}");
    }
    let svg = fs::read_to_string(folder.path().join("load.svg")).unwrap();
    assert!(svg.contains("split-block") && svg.contains("200 %"), "labels");
    let nowhere = folder.path().join("no/such/folder.svg");
    let output = run(&["plan", "-n", "1e6", "-p", "1%", "--plot", nowhere.to_str().unwrap()]);
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains("folder.svg"), "{}", stderr(&output));
}

#[test]
fn plan_refuses_too_little_and_nonsense_as_misuse() {
    for (arguments, expected) in [
        (&["--items", "1e6"][..], "too little"),
        (&["--fpr", "1%"], "too little"),
        (&["--items", "many", "--fpr", "1%"], "whole number"),
        (&["--items", "0", "--fpr", "1%"], "0 items"),
        (&["--items", "1e6", "--fpr", "2"], "less than 1"),
        (&["--items", "1e6", "--memory", "64M"], "MiB"),
        (&["--items", "1e6", "--memory", "1MiB", "--bits", "5"], "cannot be used with"),
        (&["--items", "1e6", "--fpr", "1%", "--plot", "load.gif"], ".svg or .png"),
        (&["--items", "1e6", "--fpr", "1%", "--probes", "65"], "1 to 64"),
        (&["--items", "1e6", "--fpr", "1%", "--key-bits", "65"], "65"),
    ] {
        let output = run(&[&["plan"], arguments].concat());
        let said = stderr(&output);
        assert_eq!(code(&output), 2, "{arguments:?}: {said}");
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
}
