//! `tools/blmf.py`, which was written from the document alone, reads our files as we do.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use bloomrf_filter::file::{StoredFilter, encode};
use bloomrf_filter::{AnyFilter, Encoding, Presence, Spec};

use crate::world::{self, INDEPENDENT, chain, rule, shards, stored};

/// What the reader says; `None` where there is no Python.
fn ask(file: &Path, flags: &[&str], lines: &str) -> Option<Output> {
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/blmf.py");
    let mut command = Command::new("python3");
    command.arg("-I").arg(tool).arg(file).args(flags);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        println!("skipped: no python3");
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(lines.as_bytes()).unwrap();
    drop(stdin);
    Some(child.wait_with_output().unwrap())
}

fn saved(folder: &tempfile::TempDir, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join("asked.blmf");
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Item number `i`: of every length up to some 400 bytes, and a few longer.
fn item(i: usize) -> Vec<u8> {
    let length = if i.is_multiple_of(100) { 1_000 + i * 3 } else { i * 7 % 401 };
    let number = (i as u64).to_le_bytes();
    let bytes = (0..length).map(|at| number[at % 8] ^ (at as u8).wrapping_mul(31));
    bytes.chain(number).collect()
}

#[test]
fn the_independent_reader_gives_the_same_answers_for_a_thousand_items() {
    let folder = tempfile::tempdir().unwrap();
    for kind in INDEPENDENT {
        // A high rate, so that many of the answers for what is not there are *maybe*.
        let mut filter = AnyFilter::build(kind, &Spec { items: 500, fpr: 0.2 }).unwrap().unwrap();
        (0..500).for_each(|i| _ = filter.insert(rule(kind).hash(&item(i))));
        let stored = StoredFilter::new(filter, rule(kind), Encoding::Raw);
        let path = saved(&folder, &encode(&stored).unwrap());
        let hex = |i| item(i).iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n";
        let Some(said) = ask(&path, &["--hex"], &(0..1_000).map(hex).collect::<String>()) else {
            return;
        };
        let answers: String = (0..1_000)
            .map(|i| if stored.contains(&item(i)) { "maybe\n" } else { "no\n" })
            .collect();
        let (maybe, no) = (answers.matches("maybe").count(), answers.matches("no").count());
        assert!(maybe > 530 && no > 300, "{kind}: {maybe} maybe, {no} no");
        let told = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.success(), "{kind}: {told}");
        assert!(said.stdout == answers.as_bytes(), "{kind}: other answers");
    }
}

#[test]
fn the_independent_reader_asks_links_of_chains_and_shards() {
    let folder = tempfile::tempdir().unwrap();
    let chains = INDEPENDENT.map(|kind| (kind, AnyFilter::from(chain(kind, 300))));
    let sharded = INDEPENDENT.map(|kind| (kind, AnyFilter::from(shards(kind, 5, 300))));
    for (kind, filter) in chains.into_iter().chain(sharded) {
        let stored = StoredFilter::new(filter, rule(kind), Encoding::Utf8);
        let path = saved(&folder, &encode(&stored).unwrap());
        let hex = |i| world::item(i).iter().map(|b| format!("{b:02x}")).collect::<String>() + "\n";
        let Some(said) = ask(&path, &["--hex"], &(0..600).map(hex).collect::<String>()) else {
            return;
        };
        let answer = |i| if stored.contains(&world::item(i)) { "maybe\n" } else { "no\n" };
        let answers: String = (0..600).map(answer).collect();
        assert!(said.stdout == answers.as_bytes(), "{}", String::from_utf8_lossy(&said.stderr));
    }
}

#[test]
fn the_independent_reader_tells_what_the_file_says_and_refuses_damage() {
    let folder = tempfile::tempdir().unwrap();
    for kind in INDEPENDENT {
        let mut bytes = encode(&stored(kind, 100)).unwrap();
        let Some(said) = ask(&saved(&folder, &bytes), &[], "") else { return };
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        let expected = [
            format!("kind       {kind}, k "),
            "items      utf8; xx".to_owned(),
            "made for   100 items at a rate of 0.01;".to_owned(),
            "{'kafka': {'orders': {0: 1234, 1: 99}}}".to_owned(),
            "'team': 'search'".to_owned(),
        ];
        for line in expected {
            assert!(text.contains(&line), "{line} is not in\n{text}");
        }
        for at in [70, 260, 340, 4_000, 8_000] {
            bytes[at] ^= 4;
            let said = ask(&saved(&folder, &bytes), &[], "").unwrap();
            let told = String::from_utf8_lossy(&said.stderr);
            assert!(!said.status.success() && told.contains("refused"), "byte {at}: {told}");
            bytes[at] ^= 4;
        }
    }
}
