//! `bloomrf doctor` on the machine that the tests run on.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::binary::{code, run, stderr, stdout};

#[test]
fn this_machine_is_examined_and_nothing_fails() {
    let output = run(&["doctor", "--json"]);
    assert_eq!(code(&output), 0, "{}{}", stdout(&output), stderr(&output));
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(object["fail"], 0);
    assert!(object["checks"].as_array().unwrap().len() > 20);
    let text = stdout(&run(&["doctor"]));
    assert!(text.starts_with("cpu\n") && text.contains("kernel_set"), "{text}");
}

#[test]
fn settings_that_this_machine_cannot_serve_are_failures_and_bad_files_are_misuse() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("node.toml");
    let path = file.to_str().unwrap();
    fs::write(&file, "link = \"af_packet:no-such-port\"\ncores = [1000]\n").unwrap();
    let output = run(&["doctor", "--config", path]);
    let text = stdout(&output);
    assert_eq!(code(&output), 1, "{text}{}", stderr(&output));
    assert!(text.contains("fail  interface no-such-port"), "{text}");
    assert!(text.contains("fail  cores: cores names 1000"), "{text}");
    fs::write(&file, "no_such_key = 1\n").unwrap();
    assert_eq!(code(&run(&["doctor", "--config", path])), 2);
    assert_eq!(code(&run(&["doctor", "--no-such-flag"])), 2);
}
