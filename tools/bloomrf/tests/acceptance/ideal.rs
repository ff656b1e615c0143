//! What is reached against the ideal, per column, and what it costs in bytes.

use serde_json::Value;

use crate::binary::{Kept, data, demo_json, number};

#[test]
fn gnutella_in_batches_of_200_is_within_3_points_of_the_ideal() {
    reached("nDPI__gnutella.pcap", "200");
}

#[test]
fn kxun_in_batches_of_100_is_within_3_points_of_the_ideal() {
    reached("nDPI__1kxun.pcap", "100");
}

#[test]
fn gnutella_filters_stay_within_their_default_cost() {
    cost("nDPI__gnutella.pcap", "200");
}

#[test]
fn kxun_filters_stay_within_their_default_cost() {
    cost("nDPI__1kxun.pcap", "100");
}

fn reached(file: &str, batch_records: &str) {
    let Some(folder) = data() else { return };
    let path = folder.join("packets").join(file);
    let path = path.to_str().expect("a path of text");
    let arguments = ["--pcap", path, "--batch-records", batch_records, "--questions", "1500"];
    let (code, report) = demo_json(&arguments);
    assert_eq!(code, 0);
    let mut far = Vec::new();
    let mut seen = 0;
    for class in report["columns"].as_array().expect("a list") {
        let pairs = number(class, &["pairs"]);
        let reached = 100.0 * number(class, &["excluded"]) / pairs;
        let ideal = 100.0 * number(class, &["ideal_excluded"]) / pairs;
        let line = format!("{} {}: {reached:.1} of {ideal:.1} %", class["column"], class["shape"]);
        println!("{line}");
        seen += 1;
        if reached < ideal - 3.0 {
            far.push(line);
        }
    }
    assert!(far.is_empty(), "{far:#?}");
    assert!(seen >= 15, "only {seen} kinds of questions");
}

fn cost(file: &str, batch_records: &str) {
    let Some(folder) = data() else { return };
    let path = folder.join("packets").join(file);
    let path = path.to_str().expect("a path of text");
    let kept = Kept::start(&["--pcap", path, "--batch-records", batch_records, "--questions", "0"]);
    let page = kept.page("/batches?limit=1024");
    let batches = page["batches"].as_array().expect("a list");
    assert!(batches.len() >= 17);
    for batch in batches {
        let records = batch["records"].as_u64().expect("a number");
        for column in batch["columns"].as_array().expect("a list") {
            let bytes = column["bytes"].as_u64().expect("a number");
            let most = bytes_max(column, records);
            assert!(bytes <= most, "{records} records, at most {most} bytes: {column}");
        }
    }
    assert_eq!(kept.interrupt(), 0);
}

/// DESIGN's default cost, rounded up to a size class.
fn bytes_max(column: &Value, records: u64) -> u64 {
    let hashed = up_to_class(records * 4);
    match column["name"].as_str().expect("a name") {
        "proto" | "tcp_flags" => 32,
        "ethertype" | "vlan" | "src_port" | "dst_port" => 8_192,
        "src_ip4" | "dst_ip4" | "length" => hashed + 8_192,
        "src_ip6" | "dst_ip6" => up_to_class(records).next_multiple_of(64),
        "ts" | "src_mac" | "dst_mac" => hashed,
        name => panic!("a column without a cost: {name}"),
    }
}

/// The next size class, by its definition: 122,880 words over products of 2, 3 and 5.
fn up_to_class(bytes: u64) -> u64 {
    let words = bytes.div_ceil(8).max(1);
    let classes = (1..=122_880).filter(|f| 122_880 % f == 0).map(|f| 122_880 / f);
    8 * classes.filter(|&class| class >= words).min().expect("small batches")
}
