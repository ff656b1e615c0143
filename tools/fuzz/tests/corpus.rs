//! What once failed never fails again, on stable Rust, in every run of the tests.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::time::Duration;

use bloomrf_fuzz::drive::{corpus, corpus_folder, mutate, replay};
use bloomrf_fuzz::target::{TARGETS, Target};

#[test]
fn every_seed_and_every_kept_input_passes() {
    for target in TARGETS {
        let inputs: Vec<_> = (target.seeds)().into_iter().chain(corpus(target).unwrap()).collect();
        assert!(!inputs.is_empty(), "{} has nothing to start from", target.name);
        let findings = replay(target, &inputs);
        assert_eq!(findings.executions as usize, inputs.len());
        assert!(findings.failures.is_empty(), "{}: {:?}", target.name, findings.failures);
    }
}

#[test]
fn a_moment_of_damage_finds_nothing() {
    for target in TARGETS {
        let findings = mutate(target, &(target.seeds)(), 7, Duration::from_millis(500));
        assert!(findings.executions > 0);
        assert!(findings.failures.is_empty(), "{}: {:?}", target.name, findings.failures);
    }
}

#[test]
fn every_folder_of_the_corpus_is_that_of_a_target() {
    for entry in std::fs::read_dir(corpus_folder()).into_iter().flatten() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(TARGETS.iter().any(|target| target.name == name), "{name}");
    }
}

#[test]
fn every_target_has_a_libfuzzer_driver() {
    let manifest = include_str!("../libfuzzer/Cargo.toml");
    for target in TARGETS {
        let line = format!("path = \"fuzz_targets/{}.rs\"", target.name);
        assert!(manifest.contains(&line), "{}", target.name);
    }
}

#[test]
fn a_panic_is_found() {
    let bad =
        Target { name: "bad", row: 7, run: |bytes| assert!(bytes.len() < 9), seeds: Vec::new };
    let findings = mutate(&bad, &[vec![0; 8]], 1, Duration::from_secs(5));
    assert!(!findings.failures.is_empty());
}
