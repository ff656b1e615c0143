//! Bad input: a clear message, the right exit code, nothing lost.

use std::io::{Read, Write};
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::binary::{bloomrf, code, demo_json, number, run, stderr, stdout};

#[test]
fn a_missing_file_is_named() {
    for command in [["demo", "--pcap", "no/such.pcap"].as_slice(), &REPLAY_MISSING] {
        let output = run(command);
        assert_eq!(code(&output), 2, "{command:?}");
        assert!(stderr(&output).contains("no/such.pcap"), "{}", stderr(&output));
        assert!(output.stdout.is_empty());
    }
}

const REPLAY_MISSING: [&str; 4] = ["replay", "no/such.pcap", "--to", "127.0.0.1:9"];

#[test]
fn a_file_that_is_no_capture_is_refused() {
    let file = scratch("no_capture.txt", b"This is a text, and no capture at all.\n");
    for arguments in
        [["demo", "--pcap", text(&file)].as_slice(), &["demo", "--json", "--pcap", text(&file)]]
    {
        let output = run(arguments);
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains("not a capture"), "{}", stderr(&output));
    }
}

#[test]
fn a_capture_without_packets_is_no_failure() {
    let file = scratch("empty.pcap", &pcap_header());
    let output = run(&["demo", "--pcap", text(&file)]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("no packets"), "{}", stdout(&output));
    let (code, report) = demo_json(&["--pcap", text(&file)]);
    assert_eq!((code, number(&report, &["totals", "records"])), (0, 0.0));
}

#[test]
fn of_a_truncated_capture_the_readable_part_is_used() {
    let mut bytes = pcap_header();
    for i in 0..50u8 {
        bytes.extend(packet(i));
    }
    bytes.truncate(bytes.len() - 7);
    let file = scratch("cut.pcap", &bytes);
    let (code, report) = demo_json(&["--pcap", text(&file), "--batch-records", "10"]);
    assert_eq!(code, 0);
    assert_eq!(number(&report, &["totals", "records"]), 49.0);
    assert_eq!(number(&report, &["totals", "false_negatives"]), 0.0);
    assert!(report["capture"]["cut"].is_string(), "{}", report["capture"]);
    let output = run(&["demo", "--pcap", text(&file)]);
    assert!(stdout(&output).contains("capture cut at byte"), "{}", stdout(&output));
}

#[test]
fn a_capture_cut_before_its_first_packet_says_so() {
    let mut bytes = pcap_header();
    bytes.extend([0; 8]);
    bytes.extend(0x7fff_fff0_u32.to_le_bytes().repeat(2));
    let file = scratch("cut_early.pcap", &bytes);
    let output = run(&["demo", "--pcap", text(&file)]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("capture cut at byte 24"), "{}", stdout(&output));
    let (code, report) = demo_json(&["--pcap", text(&file)]);
    assert_eq!(code, 0);
    assert!(report["capture"]["cut"].is_string(), "{}", report["capture"]);
}

#[test]
fn a_replay_that_runs_out_of_batch_ids_says_so() {
    let mut bytes = pcap_header();
    (0..3).for_each(|i| bytes.extend(packet(i)));
    let file = scratch("three.pcap", &bytes);
    let held = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let to = held.local_addr().expect("bound").to_string();
    let last = u64::MAX.to_string();
    for (records, expected) in [("3", 0), ("1", 1)] {
        let ids = ["--batch-records", records, "--first-batch", &last];
        let output = run(&[["replay", text(&file), "--to", &to].as_slice(), &ids].concat());
        assert_eq!(code(&output), expected, "{}", stderr(&output));
        assert_eq!(stderr(&output).contains("batch id"), expected == 1, "{}", stderr(&output));
    }
}

#[test]
fn batches_of_more_frames_than_a_batch_has_are_refused() {
    let mut bytes = pcap_header();
    (0..3).for_each(|i| bytes.extend(packet(i)));
    let file = scratch("few.pcap", &bytes);
    let output = run(&["replay", text(&file), "--to", "127.0.0.1:9", "--batch-records", "5000000"]);
    assert_eq!(code(&output), 2, "{}", stdout(&output));
    assert!(stderr(&output).contains("at most 2228224"), "{}", stderr(&output));
    // All of a capture in one batch, where that is possible.
    let (code, report) = demo_json(&["--pcap", text(&file), "--batch-records", "5000000"]);
    assert_eq!((code, number(&report, &["totals", "batches"])), (0, 1.0));
}

#[test]
fn a_page_that_is_no_list_of_batches_is_not_taken_for_none() {
    for page in [r#"{"batches":3}"#, "{}", "[]", r#"{"batches":[{"id":-1}],"next":null}"#] {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let http = listener.local_addr().expect("bound").to_string();
        let serving = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            let asked = stream.read(&mut [0; 4_096]).expect("a request");
            assert!(asked > 0);
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", page.len());
            stream.write_all(&[head.as_bytes(), page.as_bytes()].concat()).expect("sent");
        });
        let question = ["lookup", "--node", "127.0.0.1:1", "--where", "dst_port = 1", "--http"];
        let output = run(&[question.as_slice(), &[&http]].concat());
        serving.join().expect("served");
        assert_eq!(code(&output), 1, "{page}: {}", stdout(&output));
        assert!(stderr(&output).contains("every batch has to be read"), "{}", stderr(&output));
    }
}

#[test]
fn packets_that_cannot_be_decoded_are_records_and_are_counted() {
    let mut bytes = pcap_header();
    for i in 0..20u8 {
        let mut damaged = packet(i);
        // The header length of IPv4: shorter than any header.
        damaged[16 + 14] = 0x41;
        bytes.extend(damaged);
    }
    let file = scratch("undecodable.pcap", &bytes);
    let (code, report) = demo_json(&["--pcap", text(&file)]);
    assert_eq!((code, number(&report, &["totals", "records"])), (0, 20.0));
    assert_eq!(number(&report, &["capture", "undecoded", "ip_header"]), 20.0);
}

#[test]
fn wrong_questions_name_the_part() {
    for (question, part) in [
        ("dst_prot = 445", "dst_port"),
        ("dst_port = 'https'", "dst_port"),
        ("src_ip4 = 7", "src_ip4"),
        ("dst_port LIKE '4%'", "LIKE"),
        ("dst_port =", "WHERE text"),
        ("", "empty"),
    ] {
        let output =
            run(&["lookup", "--node", "127.0.0.1:1", "--batches", "1", "--where", question]);
        assert_eq!(code(&output), 2, "{question}");
        assert!(stderr(&output).contains(part), "{question}: {}", stderr(&output));
    }
}

#[test]
fn an_unreachable_node_means_that_everything_is_read() {
    let free = UdpSocket::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound");
    for extra in [["--batches", "1-9"].as_slice(), &["--batches", "1-9", "--tcp"], &["--explain"]] {
        let mut command = bloomrf();
        command.args(["lookup", "--node", &free.to_string(), "--timeout-ms", "200"]);
        command.args(["--http", "127.0.0.1:1", "--where", "dst_port = 445"]).args(extra);
        let output = command.output().expect("it runs");
        assert_eq!(code(&output), 1, "{extra:?}");
        assert!(stderr(&output).contains("every batch has to be read"), "{}", stderr(&output));
    }
}

#[test]
fn misuse_of_the_command_line_is_code_2() {
    for arguments in [
        [].as_slice(),
        &["dance"],
        &["demo", "--lanes", "0"],
        &["demo", "--lanes", "65"],
        &["demo", "--batch-records", "0"],
        &["lookup", "--node", "127.0.0.1", "--where", "dst_port = 1", "--batches", "9-1"],
        &["replay", "x.pcap"],
        &["replay", "x.pcap", "--to", "127.0.0.1", "--rate", "fast"],
    ] {
        assert_eq!(code(&run(arguments)), 2, "{arguments:?}");
    }
    for arguments in [["--help"].as_slice(), &["demo", "--help"], &["node", "run", "--help"]] {
        let output = run(arguments);
        assert_eq!(code(&output), 0);
        assert!(stdout(&output).contains("Examples:"), "{arguments:?}");
    }
}

#[test]
fn a_port_in_use_is_named_with_the_setting() {
    let held = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let port = held.local_addr().expect("bound").port().to_string();
    let output = node(&tempfile::tempdir().expect("a folder").path().join("data"))
        .env("FERMIHDI_PRODUCTION_PORT", &port)
        .output()
        .expect("it runs");
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert!(stderr(&output).contains(&port), "{}", stderr(&output));
    assert!(stderr(&output).contains("in use"), "{}", stderr(&output));
}

#[test]
fn an_unusable_data_folder_is_named() {
    // A file where a folder should be: not even root can write into it.
    let file = scratch("a_file", b"x");
    let output = node(&file.join("data")).output().expect("it runs");
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert!(stderr(&output).contains("a_file"), "{}", stderr(&output));
}

#[test]
fn a_wrong_configuration_is_code_2_and_names_the_key() {
    let file = scratch("node.toml", b"retain_batchez = 5\n");
    for command in ["run", "check-config"] {
        let output = run(&["node", command, "--config", text(&file)]);
        assert_eq!(code(&output), 2, "{}", stderr(&output));
        assert!(stderr(&output).contains("retain_batchez"), "{}", stderr(&output));
    }
    let output =
        bloomrf().args(["node", "check-config"]).env("FERMIHDI_BLOOMRF_LEVELS", "99").output();
    assert_eq!(code(&output.expect("it runs")), 2);
    let output = run(&["node", "check-config", "--json"]);
    assert_eq!(code(&output), 0);
    let page: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert!(page["settings"].is_array());
}

fn node(data_dir: &Path) -> Command {
    let mut command = bloomrf();
    command.args(["node", "run"]).env("FERMIHDI_BLOOMRF_DATA_DIR", data_dir);
    command.env("BLOOMRF_LISTEN", "127.0.0.1").env("FERMIHDI_OBSERVABILITY_PORT", "0");
    command.env("FERMIHDI_PRODUCTION_PORT", "0");
    command
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of text")
}

/// A file of this test run.
fn scratch(name: &str, bytes: &[u8]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!(
        "{}-{:?}-{name}",
        std::process::id(),
        std::thread::current().id()
    ));
    std::fs::write(&path, bytes).expect("written");
    path
}

/// Classic pcap, little-endian, microseconds, Ethernet.
fn pcap_header() -> Vec<u8> {
    let mut header = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0];
    header.extend([0; 8]);
    header.extend(65_535u32.to_le_bytes());
    header.extend(1u32.to_le_bytes());
    header
}

/// One UDP packet from 10.0.0.i to 10.0.1.i, with its record header.
fn packet(i: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    let length = 14u32 + 20 + 8;
    for word in [1_700_000_000 + u32::from(i), 0, length, length] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]);
    bytes.extend([0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, i, 10, 0, 1, i]);
    bytes.extend([0x9c, i, 0, 53, 0, 8, 0, 0]);
    bytes
}
