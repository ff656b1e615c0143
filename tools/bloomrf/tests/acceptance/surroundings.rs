//! Odd surroundings: readers that leave, full disks, variables that are no text, pipes.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;
use std::time::Duration;

use crate::binary::{Kept, bloomrf, code, run, stderr, stdout};

/// No text in UTF-8.
const NO_TEXT: &[u8] = b"\xff\xfe";

#[test]
fn variables_that_are_no_text_are_no_panic() {
    for command in ["check-config", "run"] {
        let mut ours = bloomrf();
        ours.args(["node", command]).env("FERMIHDI_BLOOMRF_DATA_DIR", OsStr::from_bytes(NO_TEXT));
        let output = ours.output().expect("it runs");
        assert_eq!(code(&output), 2, "{}", stderr(&output));
        assert!(stderr(&output).contains("FERMIHDI_BLOOMRF_DATA_DIR"), "{}", stderr(&output));
    }
    let mut foreign = bloomrf();
    foreign.args(["node", "check-config"]).env("FOREIGN", OsStr::from_bytes(NO_TEXT));
    foreign.env(OsStr::from_bytes(NO_TEXT), "x");
    let output = foreign.output().expect("it runs");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
}

#[test]
fn settings_of_the_demo_that_are_no_text_are_not_passed_over() {
    for name in ["FERMIHDI_BLOOMRF_MODE", "FERMIHDI_BLOOMRF_TIMEOUT_MS"] {
        let mut demo = bloomrf();
        demo.args(["demo", "--packets", "10"]).env(name, OsStr::from_bytes(NO_TEXT));
        let output = demo.output().expect("it runs");
        assert_eq!(code(&output), 2, "{name}: {}", stdout(&output));
        assert!(stderr(&output).contains(name), "{}", stderr(&output));
    }
}

#[test]
fn a_reader_that_has_left_is_no_failure_and_a_full_disk_is_a_clear_one() {
    let node = Kept::start(&["--packets", "1000", "--questions", "1"]);
    let lookup = ["lookup", "--node", &node.lookup, "--http", &node.http, "--cluster"];
    let question = [&node.cluster, "--where", "dst_port = 443"];
    let mut variants: Vec<Vec<&str>> = vec![vec!["node", "check-config"]];
    for more in [[].as_slice(), &["--json"], &["--explain"], &["--explain", "--json"]] {
        variants.push([lookup.as_slice(), &question, more].concat());
    }
    for arguments in variants {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = bloomrf().args(&arguments).stdout(writer).output().expect("it runs");
        assert_eq!((code(&output), stderr(&output)), (0, String::new()), "{arguments:?}");
        let Ok(full) = std::fs::File::options().write(true).open("/dev/full") else { continue };
        let output = bloomrf().args(&arguments).stdout(full).output().expect("it runs");
        assert_eq!(code(&output), 1, "{arguments:?}");
        assert!(stderr(&output).starts_with("error: standard output"), "{}", stderr(&output));
    }
    // Killed, it would leave its folder behind.
    assert_eq!(node.interrupt(), 0);
}

#[test]
fn errors_that_nobody_reads_keep_their_code() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = bloomrf();
    let status = command.args(["demo", "--pcap", "no/such.pcap"]).stderr(writer).status();
    assert_eq!(status.expect("it runs").code(), Some(2));
}

#[test]
fn a_demo_of_a_pipe_is_refused_and_does_not_wait() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe.pcap");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|status| status.success()) {
        return println!("skipped: no mkfifo here");
    }
    let mut demo = bloomrf();
    demo.args(["demo", "--pcap"]).arg(&pipe).stderr(Stdio::null());
    let mut child = demo.spawn().expect("it runs");
    for _ in 0..100 {
        if let Some(status) = child.try_wait().expect("our child") {
            return assert_eq!(status.code(), Some(2));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let _ = child.kill();
    let _ = child.wait();
    panic!("it waits for a writer that never comes");
}

#[test]
fn an_interrupt_ends_a_long_synthesis_and_leaves_no_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let in_it = || folder.path().read_dir().expect("readable").count();
    let mut demo = bloomrf();
    demo.args(["demo", "--packets", "20000000"]).env("TMPDIR", folder.path());
    let mut child = demo.stderr(Stdio::null()).spawn().expect("it runs");
    while in_it() == 0 {
        assert_eq!(child.try_wait().expect("our child"), None);
        std::thread::sleep(Duration::from_millis(10));
    }
    let pid = child.id().to_string();
    assert!(
        std::process::Command::new("kill").args(["-INT", &pid]).status().expect("kill").success()
    );
    for _ in 0..100 {
        if let Some(status) = child.try_wait().expect("our child") {
            return assert_eq!((status.code(), in_it()), (Some(1), 0));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let _ = child.kill();
    let _ = child.wait();
    panic!("it goes on");
}

#[test]
fn a_device_is_no_capture() {
    let output = run(&["demo", "--pcap", "/dev/zero"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("not a capture"), "{}", stderr(&output));
}
