//! Two network namespaces joined by a veth pair, for tests and benches that run as root.
//!
//! Nothing that is sent in them leaves them. Their names carry the number of the process, so tests
//! run in parallel; they are removed on drop, also when a test panics. A process that is killed
//! leaves them behind, idle: `ip netns del` removes them.
//!
//! ```
//! use bloomrf_lab::{Lab, Side};
//! match Lab::new() {
//!     Ok(lab) => assert!(lab.inside(Side::A, || lab.is_up(Side::A))),
//!     Err(reason) => println!("skipped: {reason}"),
//! }
//! ```
#![forbid(unsafe_code)]

mod offload;

use std::io;
use std::panic;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// One of the two namespaces, with its end of the pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Where by custom the receiver runs.
    A,
    /// Where by custom the sender runs.
    B,
}

impl Side {
    /// Both.
    pub const BOTH: [Side; 2] = [Side::A, Side::B];

    /// The opposite one.
    #[must_use]
    pub fn other(self) -> Side {
        match self {
            Side::A => Side::B,
            Side::B => Side::A,
        }
    }

    /// Name of its interface.
    #[must_use]
    pub fn interface(self) -> &'static str {
        match self {
            Side::A => "veth-a",
            Side::B => "veth-b",
        }
    }

    /// Hardware address of its interface.
    #[must_use]
    pub fn mac(self) -> [u8; 6] {
        [2, 0, 0, 0, 0, if self == Side::A { 0x0a } else { 0x0b }]
    }
}

/// What a lab looks like.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Receive and send queues of each end.
    pub queues: usize,
    /// Longest IP packet, bytes.
    pub mtu: u32,
    /// Addresses with their prefix lengths, like `10.99.0.1/24`. None: the kernel's stack takes
    /// nothing of what arrives, as on a raw port.
    pub a: Vec<String>,
    /// The same of the other side.
    pub b: Vec<String>,
    /// Whether IPv6 is on: it sends frames by itself, which spoil exact counts.
    pub ipv6: bool,
    /// Whether sockets may leave checksums and segmentation to the interface, which for a veth
    /// pair means: they are never done.
    pub offloads: bool,
}

impl Default for Layout {
    fn default() -> Self {
        let (a, b) = (Vec::new(), Vec::new());
        Layout { queues: 1, mtu: 1_500, a, b, ipv6: false, offloads: false }
    }
}

/// Why there is no lab: for a test to print behind `skipped: `.
#[derive(Debug, thiserror::Error)]
#[error("no network namespaces here: {0}")]
pub struct NoLab(String);

/// Two namespaces and the pair between them, both ends up.
#[derive(Debug)]
pub struct Lab {
    /// Names of the namespaces that exist.
    names: Vec<String>,
}

impl Lab {
    /// One queue, no addresses, no IPv6, no offloads.
    ///
    /// # Errors
    /// This process is not root, there is no `ip`, or the kernel refuses.
    pub fn new() -> Result<Lab, NoLab> {
        Lab::with(&Layout::default())
    }

    /// A lab of this layout. Neighbours are set by hand: nobody needs to ask for them.
    ///
    /// # Errors
    /// As [`Lab::new`].
    pub fn with(layout: &Layout) -> Result<Lab, NoLab> {
        if !rustix::process::geteuid().is_root() {
            return Err(NoLab("it takes root".into()));
        }
        static LABS: AtomicU32 = AtomicU32::new(0);
        let number = LABS.fetch_add(1, Ordering::Relaxed);
        let mut lab = Lab { names: Vec::new() };
        for side in ["a", "b"] {
            let name = format!("bloomrf-{}-{number}-{side}", std::process::id());
            // One of this name is left from a process of our number, which is dead then.
            let _ = ip(&["netns", "del", &name]);
            ip(&["netns", "add", &name])?;
            lab.names.push(name);
        }
        lab.join(layout)?;
        for (side, addresses) in [(Side::A, &layout.a), (Side::B, &layout.b)] {
            for address in addresses {
                lab.ip(side, &["addr", "add", address, "dev", side.interface(), "nodad"])?;
            }
        }
        for side in Side::BOTH {
            lab.set_up(side, true)?;
        }
        for (side, addresses) in [(Side::A, &layout.a), (Side::B, &layout.b)] {
            for address in addresses {
                let ip = address.split('/').next().unwrap_or(address);
                lab.neighbour(side.other(), ip)?;
            }
        }
        Ok(lab)
    }

    fn join(&self, layout: &Layout) -> Result<(), NoLab> {
        let queues = layout.queues.to_string();
        let mut words = vec!["link", "add", "name", Side::A.interface()];
        let shape = ["numtxqueues", &queues, "numrxqueues", &queues];
        words.extend(shape);
        words.extend(["type", "veth", "peer", "name", Side::B.interface()]);
        words.extend(shape);
        words.extend(["netns", self.name(Side::B)]);
        // In one step from inside: the pair never exists in the host's own namespace.
        self.ip(Side::A, &words)?;
        for side in Side::BOTH {
            let mac = side.mac().map(|byte| format!("{byte:02x}")).join(":");
            let mtu = layout.mtu.to_string();
            let device = side.interface();
            self.ip(side, &["link", "set", device, "address", &mac, "mtu", &mtu])?;
            self.inside(side, || -> io::Result<()> {
                if !layout.ipv6 {
                    // Absent where the kernel has no IPv6.
                    for scope in ["all", "default", device] {
                        let key = format!("/proc/sys/net/ipv6/conf/{scope}/disable_ipv6");
                        let _ = std::fs::write(key, "1");
                    }
                }
                if !layout.offloads {
                    offload::turn_off(device)?;
                }
                Ok(())
            })
            .map_err(|error| NoLab(format!("{device}: offloads stay on: {error}")))?;
            self.ip(side, &["link", "set", "lo", "up"])?;
        }
        Ok(())
    }

    /// Tells `side` that the other side's interface has this address.
    ///
    /// # Errors
    /// `ip` refuses.
    pub fn neighbour(&self, side: Side, address: &str) -> Result<(), NoLab> {
        let mac = side.other().mac().map(|byte| format!("{byte:02x}")).join(":");
        let device = side.interface();
        self.ip(
            side,
            &["neigh", "replace", address, "lladdr", &mac, "dev", device, "nud", "permanent"],
        )
    }

    /// Takes an interface up or down. Where both are up then, it returns when the pair carries:
    /// what is sent before that may be lost.
    ///
    /// # Errors
    /// `ip` refuses, or the pair does not carry after five seconds.
    pub fn set_up(&self, side: Side, up: bool) -> Result<(), NoLab> {
        self.ip(side, &["link", "set", side.interface(), if up { "up" } else { "down" }])?;
        if !(up && Side::BOTH.into_iter().all(|side| self.is_up(side))) {
            return Ok(());
        }
        for _ in 0..500 {
            if Side::BOTH.into_iter().all(|side| self.shown(side, &[]).contains("state UP")) {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(10));
        }
        Err(NoLab("the pair does not carry".into()))
    }

    /// Whether an interface is up, as the kernel says.
    #[must_use]
    pub fn is_up(&self, side: Side) -> bool {
        self.shown(side, &["up"]).contains(side.interface())
    }

    /// What `ip link show` says of an interface, with these words behind its name.
    fn shown(&self, side: Side, words: &[&str]) -> String {
        let command = ["-n", self.name(side), "link", "show", "dev", side.interface()];
        let shown = Command::new("ip").args(command).args(words).output();
        shown.map(|shown| String::from_utf8_lossy(&shown.stdout).into_owned()).unwrap_or_default()
    }

    /// Runs `ip` with these words in a namespace.
    ///
    /// # Errors
    /// `ip` refuses: its own words.
    pub fn ip(&self, side: Side, words: &[&str]) -> Result<(), NoLab> {
        let mut all = vec!["-n", self.name(side)];
        all.extend(words);
        ip(&all)
    }

    /// A program that will run in the namespace.
    #[must_use]
    pub fn command(&self, side: Side, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", self.name(side)]).arg(program);
        command
    }

    /// Runs `work` on a thread of its own that has entered the namespace; so do threads and
    /// sockets that it makes. Only the network is another: `/sys` still shows the host's
    /// interfaces, and so does `/proc/net`; `/proc/thread-self/net` is right.
    ///
    /// # Panics
    /// As `work` does, and where the namespace is gone.
    pub fn inside<T: Send>(&self, side: Side, work: impl FnOnce() -> T + Send) -> T {
        let entered = || {
            let path = format!("/run/netns/{}", self.name(side));
            std::fs::File::open(&path)
                .and_then(|space| {
                    let network = Some(LinkNameSpaceType::Network);
                    Ok(move_into_link_name_space(std::os::fd::AsFd::as_fd(&space), network)?)
                })
                .unwrap_or_else(|error| panic!("{path} is not entered: {error}"));
            work()
        };
        match thread::scope(|scope| scope.spawn(entered).join()) {
            Ok(result) => result,
            Err(panicked) => panic::resume_unwind(panicked),
        }
    }

    /// Name of a namespace, as `ip netns` lists it.
    #[must_use]
    pub fn name(&self, side: Side) -> &str {
        &self.names[side as usize]
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        for name in &self.names {
            let _ = ip(&["netns", "del", name]);
        }
    }
}

fn ip(words: &[&str]) -> Result<(), NoLab> {
    let shown = words.join(" ");
    let output = Command::new("ip").args(words).output();
    let output = output.map_err(|error| NoLab(format!("`ip {shown}`: {error}")))?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(NoLab(format!("`ip {shown}` says: {}", said.trim())))
        }
    }
}
