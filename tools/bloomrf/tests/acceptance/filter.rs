//! `bloomrf filter`: files that are built, asked, combined, converted, and refused.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::binary::{code, number, run, stderr, stdout};

/// Runs in JSON; the object.
fn json(arguments: &[&str]) -> Value {
    let output = run(&[&["filter"], arguments, &["--json"]].concat());
    assert_eq!(code(&output), 0, "{arguments:?}: {}", stderr(&output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Runs to an exit code, and what was said on standard error.
fn refused(arguments: &[&str]) -> (i32, String) {
    let output = run(&[&["filter"], arguments].concat());
    (code(&output), stderr(&output))
}

fn lines(items: std::ops::Range<u32>) -> String {
    items.fold(String::new(), |mut text, item| {
        let _ = writeln!(text, "member-{item}");
        text
    })
}

fn at(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().expect("UTF-8").to_owned()
}

fn write(folder: &TempDir, name: &str, text: &str) -> String {
    fs::write(folder.path().join(name), text).expect("a file");
    at(folder, name)
}

#[test]
fn a_filter_of_any_kind_is_built_asked_and_within_its_rate() {
    let folder = TempDir::new().unwrap();
    let members = write(&folder, "members.txt", &lines(0..20_000));
    let others = write(&folder, "others.txt", &lines(20_000..40_000));
    for kind in ["classic", "blocked", "split-block", "scaling", "guava", "parquet"] {
        let file = at(&folder, &format!("{kind}.blmf"));
        let built = json(&[
            "build", "--items", "20e3", "--fpr", "1%", "--kind", kind, &members, "-o", &file,
        ]);
        assert_eq!(built["items_read"], 20_000, "{kind}");
        let asked = json(&["query", &file, &members]);
        assert_eq!((&asked["maybe"], &asked["no"]), (&20_000.into(), &0.into()), "{kind}");
        let asked = json(&["query", &file, &others]);
        assert!(number(&asked, &["maybe"]) < 300.0, "{kind}: {asked}");
        let checked = json(&["verify", &file, "--probes", "100000"]);
        let measured = number(&checked, &["measured_fpr"]);
        assert!(measured > 0.002 && measured < 0.012, "{kind}: {measured}");
        assert_eq!(json(&["info", &file])["sections"].as_array().unwrap().len(), 1, "{kind}");
    }
}

#[test]
fn a_filter_that_expires_keeps_its_rate_and_says_when_it_is_over() {
    let folder = TempDir::new().unwrap();
    let members = write(&folder, "members.txt", &lines(0..300_000));
    let file = at(&folder, "members.blmf");
    let built = json(&[
        "build",
        "--items",
        "300e3",
        "--fpr",
        "0.01",
        "--kind",
        "classic",
        "--expires-in",
        "6d",
        &members,
        "-o",
        &file,
    ]);
    assert_eq!(number(&built, &["filter_bytes"]), (2_875_518_f64 / 64.0).ceil() * 8.0);
    let measured = number(&json(&["verify", &file]), &["measured_fpr"]);
    assert!((measured / 0.01 - 1.0).abs() < 0.05, "{measured}");
    let info = json(&["info", &file]);
    let built_at = number(&info, &["built_at_us"]) / 1e6;
    let left = number(&info, &["expires_at_s"]) - built_at;
    assert!((left - 6.0 * 86_400.0).abs() < 2.0, "{left}");
    assert_eq!(json(&["query", &file, "--item", "member-7"])["maybe"], 1);
    let over = at(&folder, "over.blmf");
    json(&["build", "--label", "a=b", "--expires-in", "1s", &members, "-o", &over]);
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let (code, said) = refused(&["query", &over, "--item", "member-7"]);
    assert_eq!(code, 1);
    assert!(said.contains("expired") && said.contains("--expired"), "{said}");
    assert_eq!(json(&["query", &over, "--expired", "--item", "member-7"])["maybe"], 1);
}

#[test]
fn items_come_from_csv_columns_and_as_numbers() {
    let folder = TempDir::new().unwrap();
    let csv = write(&folder, "people.csv", "id,name\n1,\"Doe, Jo\"\n2,Ann\n3,\n");
    let (names, ids) = (at(&folder, "names.blmf"), at(&folder, "ids.blmf"));
    let built = json(&["build", "--csv-column", "name", &csv, "-o", &names]);
    assert_eq!((&built["items_read"], &built["capacity"]), (&2.into(), &2.into()));
    let answers = run(&["filter", "query", &names, "--item", "Doe, Jo", "--item", "Doe"]);
    assert_eq!(stdout(&answers), "maybe\tDoe, Jo\nno\tDoe\n");
    json(&["build", "--csv-column", "1", "--encoding", "u64", &csv, "-o", &ids]);
    assert_eq!(json(&["query", &ids, "--item", "3"])["maybe"], 1);
    let (code, said) = refused(&["build", "--csv-column", "mail", &csv, "-o", &ids]);
    assert_eq!(code, 2);
    assert!(said.contains("line 1") && said.contains("id, name"), "{said}");
    let broken = write(&folder, "broken.csv", "id,name\n1,a\n2\n");
    let (code, said) = refused(&["build", "--csv-column", "id", &broken, "-o", &ids]);
    assert!(code == 2 && said.contains("line: 3"), "{said}");
    let (code, said) =
        refused(&["build", "--csv-column", "name", "--encoding", "u64", &csv, "-o", &ids]);
    assert!(code == 2 && said.contains("line 2") && said.contains("--encoding"), "{said}");
    assert_eq!(json(&["query", &ids, "--item", "2"])["maybe"], 1, "a failed build changes nothing");
}

#[test]
fn merged_and_folded_filters_hold_all_items_and_unlike_ones_are_refused() {
    let folder = TempDir::new().unwrap();
    let (a, b) = (lines(0..1_000), lines(1_000..2_000));
    let (a, b) = (write(&folder, "a.txt", &a), write(&folder, "b.txt", &b));
    let both = write(&folder, "both.txt", &lines(0..2_000));
    for kind in ["classic", "blocked", "split-block", "guava"] {
        let files = ["a", "b", "both", "merged"].map(|f| at(&folder, &format!("{f}-{kind}.blmf")));
        for (items, file) in [&a, &b, &both].into_iter().zip(&files) {
            json(&["build", "--items", "2000", "--kind", kind, items, "-o", file]);
        }
        let output = run(&["filter", "merge", &files[0], &files[1], "-o", &files[3]]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert_eq!(json(&["diff", &files[2], &files[3]])["same"], true, "{kind}");
        let (code, _) = refused(&["diff", &files[0], &files[3]]);
        assert_eq!(code, 1);
    }
    let (left, right) = (at(&folder, "a-classic.blmf"), at(&folder, "a-blocked.blmf"));
    let out = at(&folder, "out.blmf");
    let (code, said) = refused(&["merge", &left, &right, "-o", &out]);
    assert!(code == 2 && said.contains("classic here, blocked there"), "{said}");
    assert!(!Path::new(&out).exists());
    let seeded = at(&folder, "seeded.blmf");
    json(&["build", "--items", "2000", "--seed", "9", &a, "-o", &seeded]);
    let (code, said) = refused(&["merge", &left, &seeded, "-o", &out]);
    assert!(code == 2 && said.contains("seed: 9"), "{said}");
    let wide = at(&folder, "wide.blmf");
    json(&["build", "--items", "100000", "--kind", "blocked", &a, "-o", &wide]);
    let blocks = number(&json(&["info", &wide])["sections"][0], &["bits"]) as u64 / 512;
    let by = (2..50).find(|by| blocks.is_multiple_of(*by)).expect("a small factor").to_string();
    let output = run(&["filter", "fold", &wide, "--by", &by, "-o", &out]);
    assert_eq!(crate::binary::code(&output), 0, "{}", stderr(&output));
    assert_eq!(json(&["query", &out, &a])["no"], 0);
    assert_eq!(
        number(&json(&["info", &out])["sections"][0], &["bits"]) as u64,
        blocks * 512 / by.parse::<u64>().unwrap()
    );
    let (code, said) = refused(&["fold", &left, "--by", "2", "-o", &out]);
    assert!(code == 2 && said.contains("cannot be folded"), "{said}");
}

#[test]
fn filters_travel_to_guava_and_parquet_and_back() {
    let folder = TempDir::new().unwrap();
    let members = write(&folder, "members.txt", &lines(0..500));
    for kind in ["guava", "parquet"] {
        let names = ["ours.blmf", "theirs.bin", "back.blmf"];
        let [ours, theirs, back] = names.map(|name| at(&folder, &format!("{kind}-{name}")));
        json(&["build", "--kind", kind, "--encoding", "utf8", &members, "-o", &ours]);
        let convert = |arguments: &[&str]| {
            let output = run(&[&["filter", "convert"], arguments].concat());
            (code(&output), stderr(&output))
        };
        assert_eq!(convert(&[&ours, "--from", "blmf", "--to", kind, "-o", &theirs]).0, 0);
        let known = ["--encoding", "utf8", "--sample", "member-3"];
        let home = [&theirs, "--from", kind, "--to", "blmf", "-o", &back];
        assert_eq!(convert(&[&home[..], &known].concat()).0, 0);
        assert_eq!(json(&["diff", &ours, &back])["same"], true, "{kind}");
        let (code, said) = convert(&home);
        assert!(code == 2 && said.contains("--encoding"), "{said}");
        let wrong = ["--encoding", "utf16", "--sample", "member-3"];
        let (code, said) = convert(&[&home[..], &wrong].concat());
        assert!(code == 1 && said.contains("known member"), "{said}");
        fs::write(&theirs, &fs::read(&theirs).unwrap()[1..]).unwrap();
        let (code, said) = convert(&[&home[..], &known].concat());
        assert!(code == 1 && said.contains(&theirs), "{said}");
    }
    let classic = at(&folder, "classic.blmf");
    json(&["build", &members, "-o", &classic]);
    let (code, said) =
        refused(&["convert", &classic, "--from", "blmf", "--to", "guava", "-o", &at(&folder, "x")]);
    assert!(code == 2 && said.contains("--kind guava"), "{said}");
}

#[test]
fn damaged_and_missing_files_are_refused_with_their_names() {
    let folder = TempDir::new().unwrap();
    let members = write(&folder, "members.txt", &lines(0..500));
    let file = at(&folder, "members.blmf");
    json(&["build", &members, "-o", &file]);
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, &bytes).unwrap();
    for command in
        [&["verify", &file][..], &["query", &file, "--item", "a"], &["diff", &file, &file]]
    {
        let (code, said) = refused(command);
        assert!(code == 1 && said.contains("members.blmf"), "{command:?}: {code} {said}");
    }
    let (code, said) = refused(&["query", &at(&folder, "none.blmf"), "--item", "a"]);
    assert!(code == 2 && said.contains("none.blmf"), "{said}");
    let (code, said) = refused(&["build", "-o", &file]);
    assert!(code == 2 && said.contains("--items"), "{said}");
    let empty = write(&folder, "empty.txt", "\n\n");
    let (code, said) = refused(&["build", &empty, "-o", &file]);
    assert!(code == 2 && said.contains("no items"), "{said}");
    for arguments in
        [&["build", "--fpr", "2", &members, "-o", &file][..], &["merge", &file, "-o", &file]]
    {
        assert_eq!(refused(arguments).0, 2, "{arguments:?}");
    }
}
