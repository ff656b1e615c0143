//! Settings of a DPDK port: what is ours of the arguments, and what the device's text says.
//!
//! Hot path: not on it; runs once at start.

use super::LinkError;

/// MiB of DPDK's memory, unless told otherwise: two pools of ordinary size with their rings.
const MEMORY_MIB: u64 = 256;
const DESCRIPTORS: u16 = 1_024;

/// What arguments set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) memory_mib: u64,
    pub(super) pool_mbufs: Option<u32>,
    pub(super) descriptors: u16,
    /// For EAL.
    pub(super) eal: Vec<String>,
}

impl Settings {
    /// Takes what is ours; the rest is EAL's.
    pub(super) fn parse(arguments: &[String]) -> Result<Self, LinkError> {
        let mut settings = Settings {
            memory_mib: MEMORY_MIB,
            pool_mbufs: None,
            descriptors: DESCRIPTORS,
            eal: Vec::new(),
        };
        for argument in arguments {
            let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
            let error = |expected| LinkError::Option { option: argument.clone(), expected };
            let number = value.parse::<u32>().ok();
            let between = |low, high| number.filter(|n| (low..=high).contains(n));
            match name {
                "memory_mib" => {
                    let mib = between(16, 1 << 20).ok_or_else(|| error("16..=1048576 MiB"))?;
                    settings.memory_mib = mib.into();
                }
                "pool_mbufs" => {
                    let mbufs = between(1, 1 << 26).ok_or_else(|| error("1..=67108864 mbufs"))?;
                    settings.pool_mbufs = Some(mbufs);
                }
                "descriptors" => {
                    let count = between(64, 32_768).and_then(|count| u16::try_from(count).ok());
                    settings.descriptors = count.ok_or_else(|| error("64..=32768 descriptors"))?;
                }
                _ => settings.eal.push(argument.clone()),
            }
        }
        Ok(settings)
    }
}

/// Whether the device is on the PCI bus: an address has colons before any option.
pub(super) fn is_pci(devargs: &str) -> bool {
    devargs.split(',').next().is_some_and(|device| device.contains(':'))
}

/// Whether the device plays files once: then an empty burst is the end.
pub(super) fn is_finite(devargs: &str) -> bool {
    let mut parts = devargs.split(',');
    let plays = parts.next().is_some_and(|device| device.starts_with("net_pcap"));
    let options: Vec<_> = parts.collect();
    let any = |names: &[&str]| {
        options.iter().any(|o| names.contains(&o.split('=').next().unwrap_or_default()))
    };
    let endless = options.iter().any(|o| o.strip_prefix("infinite_rx=").is_some_and(|v| v != "0"));
    plays && any(&["rx_pcap"]) && !any(&["iface", "rx_iface", "rx_iface_in"]) && !endless
}

/// The system's interface that a virtual device receives from.
pub(super) fn interface(devargs: &str) -> Option<&str> {
    let value = |option: &'static str| devargs.split(',').find_map(|o| o.strip_prefix(option));
    ["iface=", "rx_iface=", "rx_iface_in="].into_iter().find_map(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_ours_are_taken_and_the_rest_is_left_to_eal() {
        let text = "--log-level=8 pool_mbufs=9000 -m 64 descriptors=256 memory_mib=512";
        let arguments: Vec<_> = text.split(' ').map(str::to_owned).collect();
        let settings = Settings::parse(&arguments).unwrap();
        assert_eq!(settings.eal, ["--log-level=8", "-m", "64"]);
        let Settings { memory_mib, pool_mbufs, descriptors, .. } = settings;
        assert_eq!((memory_mib, pool_mbufs, descriptors), (512, Some(9_000), 256));
        for wrong in ["pool_mbufs=0", "descriptors=x", "memory_mib=", "descriptors"] {
            let error = Settings::parse(&[wrong.to_owned()]).unwrap_err().to_string();
            assert!(error.starts_with(wrong), "{error}");
        }
    }

    #[test]
    fn devices_are_told_apart_by_their_text() {
        assert!(is_pci("0000:03:00.0"));
        assert!(is_pci("03:00.0,rxq_comp_en=1"));
        assert!(!is_pci("net_pcap0,rx_pcap=a:b"));
        assert!(is_finite("net_pcap0,rx_pcap=a,rx_pcap=b"));
        assert!(is_finite("net_pcap0,rx_pcap=a,infinite_rx=0"));
        assert!(!is_finite("net_pcap0,rx_pcap=a,infinite_rx=1"));
        assert!(!is_finite("net_pcap0,rx_pcap=a,rx_iface=eth1"));
        assert!(!is_finite("net_null0"));
        assert_eq!(interface("net_af_packet0,qpairs=2,iface=veth0"), Some("veth0"));
        assert_eq!(interface("net_null0,size=64"), None);
    }
}
