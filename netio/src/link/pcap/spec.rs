//! `pcap:FILE[,loop][,speed=original|max|NUMBER]`: the argument of the link.
//!
//! Hot path: not on it.

use std::path::PathBuf;
use std::str::FromStr;

/// How fast a capture is played.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Speed {
    /// As its times say.
    #[default]
    Original,
    /// As fast as it is taken.
    Max,
    /// Packets per second of the whole file, above 0; its own times do not matter.
    Rate(f64),
}

impl FromStr for Speed {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "original" => Ok(Speed::Original),
            "max" => Ok(Speed::Max),
            number => match number.parse() {
                Ok(rate) if rate > 0.0 && f64::is_finite(rate) => Ok(Speed::Rate(rate)),
                _ => Err(()),
            },
        }
    }
}

/// What to play, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct PcapConfig {
    /// pcap or pcapng, plain or gzip.
    pub path: PathBuf,
    /// Starts again at the end, for ever.
    pub looped: bool,
    /// How fast.
    pub speed: Speed,
    /// Queues, `1..=QUEUES_MAX`.
    pub queues: usize,
}

impl PcapConfig {
    /// Reads the argument of a link. The file's name ends at the first comma.
    ///
    /// # Errors
    /// A text that says what would be right.
    pub fn parse(argument: &str, queues: usize) -> Result<Self, String> {
        let mut parts = argument.split(',');
        let path = parts.next().unwrap_or_default();
        if path.is_empty() {
            return Err("a capture file is needed, like pcap:day.pcap,loop".to_owned());
        }
        let mut config =
            PcapConfig { path: path.into(), looped: false, speed: Speed::default(), queues };
        for option in parts {
            let speed = option.strip_prefix("speed=").map(Speed::from_str);
            match (option, speed) {
                ("loop", _) => config.looped = true,
                (_, Some(Ok(speed))) => config.speed = speed,
                _ => {
                    return Err(format!(
                        "option `{option}` is not known: expected loop, speed=original, speed=max \
                         or speed=NUMBER (packets per second); a file's name cannot hold a comma"
                    ));
                }
            }
        }
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_is_read_and_others_are_named() {
        let config =
            |looped, speed| PcapConfig { path: "a:b.pcap".into(), looped, speed, queues: 3 };
        for (argument, expected) in [
            ("a:b.pcap", config(false, Speed::Original)),
            ("a:b.pcap,loop", config(true, Speed::Original)),
            ("a:b.pcap,speed=max,loop", config(true, Speed::Max)),
            ("a:b.pcap,speed=original", config(false, Speed::Original)),
            ("a:b.pcap,speed=2.5", config(false, Speed::Rate(2.5))),
        ] {
            assert_eq!(PcapConfig::parse(argument, 3), Ok(expected), "{argument}");
        }
        for wrong in ["a,lop", "a,", "a,speed=", "a,speed=0", "a,speed=-1", "a,speed=inf", "a,max"]
        {
            let error = PcapConfig::parse(wrong, 1).unwrap_err();
            let option = wrong.trim_start_matches("a,");
            assert!(error.starts_with(&format!("option `{option}` is not known")), "{error}");
        }
        assert!(PcapConfig::parse(",loop", 1).unwrap_err().contains("a capture file"));
    }
}
