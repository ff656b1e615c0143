//! Nodes as processes of their own: killed ones need no clean-up by hand, two run side by side, and
//! a port that does not open says what to do. What takes root or DPDK says so and passes.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;

use bloomrf_lab::{Lab, Side};
use bloomrf_netio::FrameSender;
use bloomrf_netio::capture::writer::PcapWriter;
use bloomrf_netio::frame::{Endpoint, write_udp};
use bloomrf_netio::link::af_packet::AfPacketSender;
use bloomrf_node::{Config, Node};

/// What a child gets its frames from, and its folder; set for children only.
const LINK: &str = "BLOOMRF_NODE_TEST_LINK";
const FOLDER: &str = "BLOOMRF_NODE_TEST_FOLDER";
const QUEUES: &str = "BLOOMRF_NODE_TEST_QUEUES";
const FRAMES: u64 = 500;

/// What a child does; alone, this test looks at nothing but the end of links that nobody opened.
#[test]
fn child() {
    let Ok(link) = std::env::var(LINK) else { return bloomrf_node::shutdown().unwrap() };
    let writer = || std::io::stdout();
    tracing_subscriber::fmt().with_ansi(false).with_writer(writer).init();
    let mut config = Config {
        listen: [127, 0, 0, 1].into(),
        lookup_port: Some(0),
        observability_port: 0,
        data_dir: std::env::var_os(FOLDER).unwrap().into(),
        arena_bytes: 8 << 20,
        max_kib_per_column: 64,
        queues: std::env::var(QUEUES).unwrap().parse().unwrap(),
        ..Config::default()
    };
    config.link.spec = link.parse().unwrap();
    match Node::start(config) {
        Err(error) => println!("refused: {error}"),
        Ok(node) => {
            println!("runs");
            while node.status().frames.arrived < FRAMES {
                thread::sleep(Duration::from_millis(5));
            }
            let frames = node.status().frames;
            assert_eq!((frames.accounted(), frames.dropped), (frames.arrived, 0));
            println!("arrived {}", frames.arrived);
            // Until the parent says so.
            std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
            node.stop();
        }
    }
    // Fails where an mbuf is still out.
    bloomrf_node::shutdown().unwrap();
    println!("closed");
}

/// A node, in a process of its own.
struct Running {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Running {
    fn start(mut command: Command, link: &str, queues: usize, folder: &Path, data: &str) -> Self {
        command.args(["--exact", "child", "--nocapture", "--test-threads=1"]);
        command.env(LINK, link).env(QUEUES, queues.to_string());
        command.env(FOLDER, folder.join(data)).env("RUNTIME_DIRECTORY", folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Running { child, lines }
    }

    fn expect(&mut self, text: &str) {
        let mut said = Vec::new();
        let mut lines = self.lines.by_ref().map(|line| line.unwrap());
        let found = lines.any(|line| {
            said.push(line);
            said.last().is_some_and(|line| line.contains(text))
        });
        assert!(found, "the child ended without saying `{text}`, but: {said:#?}");
    }

    fn finish(mut self) {
        drop(self.child.stdin.take());
        self.expect("closed");
        assert!(self.child.wait().unwrap().success());
    }
}

/// Killed, also where a test panics.
impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn program() -> PathBuf {
    std::env::current_exe().unwrap()
}

/// Where a link's frames come from.
enum Source {
    /// The device plays a file.
    File,
    /// The other end of a cable.
    Cable(Lab),
}

/// A link with its source.
struct Way {
    link: String,
    source: Source,
    folder: tempfile::TempDir,
}

impl Way {
    /// All that this machine has.
    fn all() -> Vec<Way> {
        let folder = || tempfile::tempdir().unwrap();
        let mut ways = Vec::new();
        let devices = ["af_packet:veth-a,block_kib=256,blocks=32", NET_AF_PACKET];
        for link in devices.into_iter().filter(|link| is_built(link)) {
            match Lab::new() {
                Ok(lab) => {
                    let (link, source) = (link.to_owned(), Source::Cable(lab));
                    ways.push(Way { link, source, folder: folder() });
                }
                Err(reason) => println!("skipped: {link}: {reason}"),
            }
        }
        if is_built("dpdk:net_pcap0") {
            let folder = folder();
            let path = folder.path().join("capture");
            let mut writer = PcapWriter::new(File::create(&path).unwrap(), 1).unwrap();
            frames().for_each(|f| writer.write(1, &f, f.len() as u32).unwrap());
            writer.finish().unwrap();
            let link = format!("dpdk:net_pcap0,rx_pcap={}", path.display());
            ways.push(Way { link, source: Source::File, folder });
        }
        ways
    }

    fn start(&self, data: &str) -> Running {
        let command = match &self.source {
            Source::File => Command::new(program()),
            Source::Cable(lab) => lab.command(Side::A, program()),
        };
        let mut running = Running::start(command, &self.link, 1, self.folder.path(), data);
        running.expect("runs");
        running
    }

    fn send(&self) {
        let Source::Cable(lab) = &self.source else { return };
        lab.inside(Side::B, || {
            let mut sender = AfPacketSender::open(Side::B.interface()).unwrap();
            for frame in frames() {
                while !sender.send(&frame).unwrap() {
                    thread::sleep(Duration::from_millis(1));
                }
            }
        });
    }

    /// What processes have left where DPDK keeps its files.
    fn left(&self) -> Vec<PathBuf> {
        let folders = fs::read_dir(self.folder.path().join("dpdk"));
        folders.into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
    }
}

fn is_built(link: &str) -> bool {
    let is = cfg!(feature = "dpdk") || !link.starts_with("dpdk:");
    if !is {
        println!("skipped: {link}: these tests were built without `--features dpdk`");
    }
    is
}

fn frames() -> impl Iterator<Item = Vec<u8>> {
    let end = |last| Endpoint { mac: [2, 0, 0, 0, 0, last], ip: [10, 9, 0, last].into(), port: 9 };
    (0..FRAMES).map(move |n| {
        let mut frame = Vec::new();
        write_udp(&mut frame, &end(1), &end(2), None, &n.to_be_bytes());
        frame
    })
}

#[test]
fn two_nodes_run_side_by_side_and_leave_nothing() {
    for way in Way::all() {
        let mut nodes = ["first", "second"].map(|data| way.start(data));
        way.send();
        nodes.iter_mut().for_each(|node| node.expect(&format!("arrived {FRAMES}")));
        nodes.into_iter().for_each(Running::finish);
        assert_eq!(way.left(), Vec::<PathBuf>::new(), "{}", way.link);
    }
}

#[test]
fn a_killed_node_starts_again_on_its_folder_without_a_clean_up() {
    for way in Way::all() {
        for _ in 0..2 {
            let mut node = way.start("data");
            way.send();
            node.expect(&format!("arrived {FRAMES}"));
            // Killed by its drop.
        }
        for folder in way.left() {
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "{}", folder.display());
        }
        let mut node = way.start("data");
        way.send();
        node.expect(&format!("arrived {FRAMES}"));
        node.finish();
        assert_eq!(way.left(), Vec::<PathBuf>::new(), "{}", way.link);
    }
}

#[test]
fn a_port_that_is_missing_down_or_too_narrow_says_what_to_do() {
    let lab = match Lab::new() {
        Ok(lab) => lab,
        Err(reason) => return println!("skipped: {reason}"),
    };
    lab.set_up(Side::A, false).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let check = |link: &str, queues: usize, expected: &str| {
        if is_built(link) {
            let command = lab.command(Side::A, program());
            Running::start(command, link, queues, folder.path(), "data").expect(expected);
        }
    };
    let up = "interface `veth-a` is down";
    check(
        "af_packet:veth-x",
        1,
        "refused: link = \"af_packet:veth-x\": af_packet:veth-x: there is no interface `veth-x`",
    );
    check("af_packet:veth-a", 1, up);
    check("dpdk:net_af_packet0,iface=veth-x", 1, "cannot be had");
    check("dpdk:net_af_packet0,iface=veth-a,qpairs=1", 2, "1 receive queues and 2 are asked for");
    check("dpdk:0000:ff:1f.7", 1, "vfio-pci");
    // DPDK opens it all the same: a cable may be plugged in later.
    check(NET_AF_PACKET, 1, "nothing will arrive: `ip link set veth-a up`");
}

const NET_AF_PACKET: &str =
    "dpdk:net_af_packet0,iface=veth-a,blocksz=1048576,framesz=2048,framecnt=4096";
