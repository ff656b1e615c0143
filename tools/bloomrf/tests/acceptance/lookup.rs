//! `bloomrf lookup` against a running cluster, and its tidy end.

use serde_json::Value;

use crate::binary::{Kept, bloomrf, code, stderr, stdout};

#[test]
fn lookup_answers_alike_over_udp_tcp_and_http() {
    let kept = Kept::start(&["--packets", "4000", "--batch-records", "200", "--questions", "5"]);
    let ask = |extra: &[&str]| {
        let mut command = bloomrf();
        command.args(["lookup", "--node", &kept.lookup, "--http", &kept.http]);
        command.args(["--cluster", &kept.cluster, "--timeout-ms", "10000"]);
        let output = command
            .args(["--where", "ts < '2000-01-01' OR dst_port = 445"])
            .args(extra)
            .output()
            .expect("it runs");
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        stdout(&output)
    };
    let json = |extra: &[&str]| -> Value { serde_json::from_str(&ask(extra)).expect("JSON") };
    let udp = json(&["--batches", "1-20", "--json"]);
    let tcp = json(&["--batches", "1-20", "--json", "--tcp"]);
    let all = json(&["--batches", "all", "--json"]);
    for answer in [&tcp, &all] {
        for key in ["candidates", "excluded", "kept", "no_filter"] {
            assert_eq!(udp[key], answer[key], "{key}");
        }
    }
    assert_eq!(udp["candidates"], 20);
    assert_eq!(udp["no_filter"], 0);
    // Ids that nobody holds are never excluded.
    let unknown = json(&["--batches", "7,900,901", "--json"]);
    assert_eq!(unknown["no_filter"], 2);
    let explained = ask(&["--batches", "1-3", "--explain"]);
    assert_eq!(explained.matches("batch ").count(), 3, "{explained}");
    assert!(ask(&["--batches", "1-20"]).contains("of 20 batches excluded"));
    assert_eq!(kept.interrupt(), 0);
}

#[test]
fn another_cluster_is_told_that_the_node_cannot_help() {
    let kept = Kept::start(&["--packets", "500", "--questions", "0"]);
    let output = bloomrf()
        .args(["lookup", "--node", &kept.lookup, "--cluster", "77", "--timeout-ms", "10000"])
        .args(["--where", "dst_port = 445", "--batches", "1-5"])
        .output()
        .expect("it runs");
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains("every batch has to be read"), "{}", stderr(&output));
    assert_eq!(kept.interrupt(), 0);
}
