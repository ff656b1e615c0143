//! A handful of points of each row, as the program runs them.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::process::Command;

/// Runs the program; its last line, or `None` where it cannot run here.
fn campaign(arguments: &[&str]) -> Option<String> {
    let run = Command::new(env!("CARGO_BIN_EXE_bloomrf-crash")).args(arguments).output().unwrap();
    let text = String::from_utf8(run.stdout).unwrap();
    println!("{text}");
    let line = text.lines().last().unwrap().to_owned();
    if line.contains("note=missing") {
        println!("skipped: {line}");
        return None;
    }
    assert!(run.status.success(), "{text}");
    Some(line)
}

fn count(line: &str) -> u64 {
    let count = line.split("count=").nth(1).unwrap().split(' ').next().unwrap();
    count.parse().unwrap()
}

#[test]
fn what_a_kill_leaves_is_whole_or_absent() {
    let Some(line) = campaign(&["kill", "--points", "6", "--seed", "2"]) else { return };
    assert!(line.starts_with("campaign row=2 "), "{line}");
    assert!(count(&line) >= 3 && line.contains("failures=0"), "{line}");
}

#[test]
fn a_kill_within_recovery_leaves_it_so() {
    let arguments = ["kill", "--points", "1", "--deep", "1", "--seed", "3"];
    let Some(line) = campaign(&arguments) else { return };
    assert!(count(&line) >= 20 && line.contains("failures=0"), "{line}");
}

#[test]
fn errors_of_the_disk_are_borne_counted_and_made_good() {
    let Some(line) = campaign(&["errors", "--calls", "3", "--seed", "2"]) else { return };
    assert!(line.starts_with("campaign row=4 "), "{line}");
    assert!(count(&line) >= 6 && line.contains("failures=0"), "{line}");
}
