//! The argument of an `af_packet` link: `INTERFACE[,key=value]...`
//!
//! Hot path: not on it.

use super::error::AfPacketError;

/// What a port is opened with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AfPacketOptions {
    /// Its interface, which must be Ethernet.
    pub interface: String,
    /// KiB of a block: what the kernel fills before it hands it over. A power of two,
    /// 64..=16,384.
    pub block_kib: usize,
    /// Blocks of each queue's ring, 2..=4,096.
    pub blocks: usize,
    /// After how many milliseconds a block that is not full is handed over, 1..=1,000: the
    /// longest that a frame waits, beside the poll loop's own sleep.
    pub timeout_ms: u32,
    /// Whether frames for other stations are wanted, too.
    pub promiscuous: bool,
    /// Whether the host's own stack sees the frames, too. Without it a frame costs the kernel half
    /// as much; an interface that the host itself uses is then dead to it. Needs Linux 6.6.
    pub host_stack: bool,
    /// Bytes of a frame that are kept, without a tag that the kernel takes out; 64..=9,216.
    /// Longer frames are seen as cut, with their length on the wire.
    pub snap_bytes: u32,
}

/// Most bytes of all rings of a port.
pub const RING_BYTES_MAX: usize = 4 << 30;

impl AfPacketOptions {
    /// Defaults: 64 blocks of 1 MiB per queue, 1 ms, promiscuous, beside the host's stack, whole
    /// frames.
    #[must_use]
    pub fn of(interface: &str) -> Self {
        AfPacketOptions {
            interface: interface.to_owned(),
            block_kib: 1_024,
            blocks: 64,
            timeout_ms: 1,
            promiscuous: true,
            host_stack: true,
            snap_bytes: crate::burst::BUFFER_BYTES as u32,
        }
    }

    /// Reads the argument.
    ///
    /// # Errors
    /// A key that there is not, a value outside its limits: with those that are allowed.
    pub fn parse(argument: &str) -> Result<Self, AfPacketError> {
        let mut words = argument.split(',');
        let interface = words.next().unwrap_or_default().trim();
        let wrong = |word: &str, expected: &'static str| AfPacketError::Argument {
            word: word.to_owned(),
            expected,
        };
        // As the kernel takes them.
        let is_name = |name: &str| {
            (1..=15).contains(&name.len())
                && !name.contains(|c: char| c == '/' || c.is_whitespace())
        };
        if !is_name(interface) {
            return Err(wrong(interface, "the name of an interface, at most 15 characters"));
        }
        let mut options = AfPacketOptions::of(interface);
        for word in words {
            let (key, value) = word.trim().split_once('=').unwrap_or((word.trim(), ""));
            let number = |from: u32, to: u32, expected: &'static str| {
                let number = value.parse::<u32>().ok().filter(|n| (from..=to).contains(n));
                number.ok_or_else(|| wrong(word, expected))
            };
            match key {
                "block_kib" => {
                    let expected = "block_kib=64 to 16384, a power of two";
                    let kib = number(64, 16_384, expected)?;
                    if !kib.is_power_of_two() {
                        return Err(wrong(word, expected));
                    }
                    options.block_kib = kib as usize;
                }
                "blocks" => options.blocks = number(2, 4_096, "blocks=2 to 4096")? as usize,
                "timeout_ms" => options.timeout_ms = number(1, 1_000, "timeout_ms=1 to 1000")?,
                "snap_bytes" => options.snap_bytes = number(64, 9_216, "snap_bytes=64 to 9216")?,
                "promiscuous" => {
                    options.promiscuous = number(0, 1, "promiscuous=0 or promiscuous=1")? == 1;
                }
                "host_stack" => {
                    options.host_stack = number(0, 1, "host_stack=0 or host_stack=1")? == 1;
                }
                _ => {
                    let keys = "block_kib, blocks, timeout_ms, promiscuous, host_stack or \
                        snap_bytes, with =";
                    return Err(wrong(word, keys));
                }
            }
        }
        Ok(options)
    }

    /// Bytes of one queue's ring.
    #[must_use]
    pub fn ring_bytes(&self) -> usize {
        self.block_kib * 1_024 * self.blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_sets_what_it_names_and_leaves_the_rest() {
        let plain = AfPacketOptions::parse("eth1").unwrap();
        assert_eq!(plain, AfPacketOptions::of("eth1"));
        let text =
            "eth1, block_kib=256,blocks=8,timeout_ms=10,promiscuous=0,host_stack=0,snap_bytes=128";
        let expected = AfPacketOptions {
            interface: "eth1".into(),
            block_kib: 256,
            blocks: 8,
            timeout_ms: 10,
            promiscuous: false,
            host_stack: false,
            snap_bytes: 128,
        };
        assert_eq!(AfPacketOptions::parse(text).unwrap(), expected);
        assert_eq!(expected.ring_bytes(), 2 << 20);
    }

    #[test]
    fn what_is_wrong_is_named_with_what_is_allowed() {
        for (text, expected) in [
            ("", "the name of an interface"),
            ("a-name-of-16-char", "at most 15 characters"),
            ("../eth1", "the name of an interface"),
            ("eth1,block_kib=100", "a power of two"),
            ("eth1,block_kib=32", "block_kib=64 to 16384"),
            ("eth1,blocks=1", "blocks=2 to 4096"),
            ("eth1,blocks=", "blocks=2 to 4096"),
            ("eth1,timeout_ms=0", "timeout_ms=1 to 1000"),
            ("eth1,snap_bytes=9217", "snap_bytes=64 to 9216"),
            ("eth1,promiscuous=yes", "promiscuous=0 or promiscuous=1"),
            ("eth1,host_stack=2", "host_stack=0 or host_stack=1"),
            ("eth1,ring=4", "block_kib, blocks, timeout_ms"),
            ("eth1,", "block_kib, blocks, timeout_ms"),
        ] {
            let said = AfPacketOptions::parse(text).unwrap_err().to_string();
            assert!(said.contains(expected), "{text}: {said}");
        }
    }
}
