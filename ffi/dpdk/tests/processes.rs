//! Several processes, processes that are killed, and one without rights: no clean-up by hand.
#![cfg(feature = "dpdk")]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use bloomrf_dpdk::{DpdkError, Eal, PortConfig, leaked_mbufs, version};
use common::{frame, options, pcap, pcap_of};

/// Where a child finds its capture; set for children only.
const CAPTURE: &str = "BLOOMRF_DPDK_TEST_CAPTURE";
const FRAMES: usize = 3_000;

/// What a child does; alone, this test looks at nothing but the version.
#[test]
fn child() {
    assert!(version().contains("DPDK"));
    let Ok(path) = std::env::var(CAPTURE) else { return };
    let eal = Eal::start(&options()).unwrap();
    let device = eal.probe(&pcap_of("net_pcap0", &[path.into()])).unwrap();
    let mut port = device.open(&PortConfig::default()).unwrap();
    let mut received = 0;
    while received < FRAMES {
        received += port.queues[0].burst().len();
    }
    println!("received {received}");
    // Until the parent says so.
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    let handle = port.handle.clone();
    drop(port);
    assert_eq!(handle.mbufs_in_use(), 0);
    drop((handle, eal));
    assert_eq!(leaked_mbufs(), 0);
    assert!(matches!(Eal::start(&options()), Err(DpdkError::Ended)));
    println!("closed");
}

/// A folder for a capture and for what DPDK leaves.
struct World {
    folder: tempfile::TempDir,
}

struct Running {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        pcap(
            &folder.path().join("capture"),
            &(0..FRAMES).map(|i| frame(i, 64)).collect::<Vec<_>>(),
        );
        World { folder }
    }

    /// Starts a child and waits until it has received all there is.
    fn start(&self, mut command: Command) -> Running {
        command.args(["--exact", "child", "--nocapture", "--test-threads=1"]);
        command.env(CAPTURE, self.folder.path().join("capture"));
        command.env("RUNTIME_DIRECTORY", self.folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut running = Running { child, lines };
        running.expect(&format!("received {FRAMES}"));
        running
    }

    /// Folders that processes have left.
    fn left(&self) -> Vec<PathBuf> {
        let folders = fs::read_dir(self.folder.path().join("dpdk")).unwrap();
        folders.map(|entry| entry.unwrap().path()).collect()
    }
}

impl Running {
    fn expect(&mut self, text: &str) {
        let found = self.lines.by_ref().any(|line| line.unwrap().contains(text));
        assert!(found, "the child ended without saying `{text}`");
    }

    fn finish(mut self) {
        drop(self.child.stdin.take());
        self.expect("closed");
        assert!(self.child.wait().unwrap().success());
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn this_program() -> Command {
    Command::new(std::env::current_exe().unwrap())
}

#[test]
fn two_run_side_by_side_and_leave_nothing() {
    let world = World::new();
    let (first, second) = (world.start(this_program()), world.start(this_program()));
    assert_eq!(world.left().len(), 2);
    first.finish();
    second.finish();
    assert_eq!(world.left(), Vec::<PathBuf>::new());
}

#[test]
fn one_that_was_killed_is_in_nobodys_way_and_swept_up() {
    let world = World::new();
    for _ in 0..2 {
        world.start(this_program()).kill();
    }
    let left = world.left();
    assert_eq!(left.len(), 1, "each start sweeps up what was killed before it: {left:?}");
    assert_eq!(fs::read_dir(&left[0]).unwrap().count(), 0, "files are left behind");
    world.start(this_program()).finish();
    assert_eq!(world.left(), Vec::<PathBuf>::new());
}

#[test]
fn a_replay_needs_no_rights() {
    const NOBODY: &str = "65534";
    let is_root = fs::metadata("/proc/self").is_ok_and(|m| {
        use std::os::unix::fs::MetadataExt;
        m.uid() == 0
    });
    if !is_root || !Path::new("/usr/bin/setpriv").exists() {
        println!("skipped: not root, or no setpriv");
        return;
    }
    let world = World::new();
    let program = world.folder.path().join("program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    for path in [world.folder.path(), &program] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    }
    let mut command = Command::new("/usr/bin/setpriv");
    command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--no-new-privs"]);
    command.arg(program);
    world.start(command).finish();
}
