//! Every setting at its limits and one past, and what no setting may be. The bounds are read from
//! what `check-config` prints, so that a new setting is tried without a line here.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use bloomrf_netio::link::udp::UdpSender;
use bloomrf_node::Config;
use bloomrf_node::Surroundings;
use bloomrf_node::config::Setting;
use bloomrf_report::Report;

use super::case;
use crate::cluster::{CLUSTER, Cluster};

/// Settings that are no numbers: what they take, and what they refuse.
const WORDS: &[(&str, &[&str], &[&str])] = &[
    ("lookup_port", &["auto"], &["none", "Auto"]),
    ("listen", &["127.0.0.1", "::1"], &["localhost", "127.0.0.1:80", "256.0.0.1"]),
    ("pages", &["auto", "transparent", "small"], &["huge", "2M"]),
    ("numa_node", &["none"], &["auto"]),
    ("columns", &["all", "dst_port"], &["dst_prt", "dst_port,,", ","]),
    ("data_dir", &["/tmp/x"], &[]),
    ("sandbox", &["off", "try", "require"], &["on", "yes"]),
    ("user", &["none", "65534:65534"], &[]),
    ("kernel", &["auto", "scalar"], &["sse2", "best"]),
    ("scc", &["none", "127.0.0.1:1"], &["127.0.0.1", "127.0.0.1:0", "host:1"]),
    (
        "cluster",
        &["0", "ffffffffffffffffffffffffffffffff"],
        &["fffffffffffffffffffffffffffffffff", "xyz"],
    ),
    ("node_name", &["a", NAME_64], &["", NAME_65, "a\nb"]),
    ("schema", &["packet"], &["/no/such/file.toml", "/"]),
    ("chain_hash", &["xxh3", "blake3", "sha256"], &["md5", ""]),
    ("link", &["udp"], &["dpdk", ""]),
    ("groups", &["", "239.1.2.3"], &["10.0.0.1", SEVENTEEN_GROUPS]),
    ("lookup_keys", &["none"], &[""]),
    ("ingest_keys", &["none"], &[""]),
    ("lookup_allow", &["any", "10.0.0.0/8,::1/128"], NO_NETWORKS),
    ("ingest_allow", &["any", "10.0.0.0/8,::1/128"], NO_NETWORKS),
    // A tap needs a raw link beside it.
    ("link_use", &["ingest"], &["mirror", ""]),
    ("idle", &["sleep", "pause", "busy"], &["spin", ""]),
    ("checksums", &["verify", "trust"], &["off", ""]),
    // What is owned, and what is left to DPDK, goes with a raw link.
    ("port_addresses", &[""], NO_ADDRESSES),
    ("port_gateway", &["none"], &["host", "10.0.0.1,10.0.0.2"]),
    ("dpdk_args", &[""], &[]),
    ("cores", &["", "0"], &["0,0", "-1", "x"]),
];

/// What no list of networks is.
const NO_NETWORKS: &[&str] = &["10.0.0.0/33", "::/129", "10.0.0.0/8,,::/0", "host", "10.0.0.0/-1"];

/// What no number is.
const NO_NUMBERS: [&str; 7] = ["", " ", "x", "1.5", "0x10", "99999999999999999999999", "1e3"];

const NAME_64: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const NAME_65: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const SEVENTEEN_GROUPS: &str = "239.1.1.1,239.1.1.2,239.1.1.3,239.1.1.4,239.1.1.5,239.1.1.6,\
                                239.1.1.7,239.1.1.8,239.1.1.9,239.1.1.10,239.1.1.11,239.1.1.12,\
                                239.1.1.13,239.1.1.14,239.1.1.15,239.1.1.16,239.1.1.17";

const NO_ADDRESSES: &[&str] = &[
    "10.0.0.5/33",
    "224.0.0.1/24",
    "10.0.0.0/24",
    "10.0.0.255/24",
    "127.0.0.1/8",
    "240.0.0.1/4",
    "host/24",
    NINE_ADDRESSES,
];
const NINE_ADDRESSES: &str = "10.0.0.1/24,10.0.0.2/24,10.0.0.3/24,10.0.0.4/24,10.0.0.5/24,\
                              10.0.0.6/24,10.0.0.7/24,10.0.0.8/24,10.0.0.9/24";

pub(super) fn run(report: &mut Report) {
    let settings = match Config::load(None, []) {
        Ok((_, provenance)) => provenance.settings,
        Err(error) => return case(report, "the defaults", Err(error.to_string())),
    };
    for setting in &settings {
        // The bounds of a text are of its length.
        let bounds = bounds(setting.limit).filter(|_| setting.unit != "text");
        let words = WORDS.iter().find(|(key, _, _)| *key == setting.key);
        if bounds.is_none() && words.is_none() {
            let reason = format!("no bounds in {:?}, and no words in this row", setting.limit);
            case(report, setting.key, Err(reason));
        }
        if let Some((low, high)) = bounds {
            number(report, setting, low, high);
        }
        for word in words.iter().flat_map(|(_, taken, _)| *taken) {
            case(report, &named(setting, word), taken(setting, word));
        }
        for word in words.iter().flat_map(|(_, _, refused)| *refused) {
            case(report, &named(setting, word), refused(setting, word));
        }
    }
}

fn number(report: &mut Report, setting: &Setting, low: u64, high: u64) {
    for bound in [low, high] {
        let text = bound.to_string();
        case(report, &named(setting, &text), taken(setting, &text));
        case(report, &format!("a node with {}", named(setting, &text)), alive(setting, &text));
    }
    let past = [low.checked_sub(1), high.checked_add(1)];
    let texts = past.iter().flatten().map(u64::to_string);
    for text in texts.chain(["-1".to_owned()]).chain(NO_NUMBERS.map(str::to_owned)) {
        case(report, &named(setting, &text), refused(setting, &text));
    }
}

fn named(setting: &Setting, value: &str) -> String {
    format!("{} = {value:?}", setting.key)
}

/// `LOW..=HIGH` in a limit, both with K, M, G or T.
fn bounds(limit: &str) -> Option<(u64, u64)> {
    let word = limit.split([' ', ';', ',']).find(|word| word.contains("..="))?;
    let (low, high) = word.split_once("..=")?;
    Some((size(low)?, size(high)?))
}

fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['K', 'M', 'G', 'T']);
    let shift = match &text[digits.len()..] {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_shl(shift)
}

fn load(variables: &[(&str, &str)]) -> Result<(Config, Vec<Setting>), String> {
    let variables =
        variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let loaded = Config::load(None, variables.collect::<Vec<_>>());
    loaded.map(|(config, provenance)| (config, provenance.settings)).map_err(|e| e.to_string())
}

/// It is taken, and shown as something that is taken for the same.
fn taken(setting: &Setting, value: &str) -> Result<(), String> {
    let shown = |value: &str| {
        // Groups and addresses of one family; ports that do not meet.
        let loaded = load(&[(setting.env, value)])?.1;
        let found = loaded.into_iter().find(|s| s.key == setting.key);
        found.map(|s| s.value).ok_or_else(|| "not shown".to_owned())
    };
    let first = shown(value)?;
    let second = shown(&first)?;
    if first == second { Ok(()) } else { Err(format!("shown as {first:?}, then {second:?}")) }
}

/// It is refused, and the reason names the key and the value.
fn refused(setting: &Setting, value: &str) -> Result<(), String> {
    let Err(reason) = load(&[(setting.env, value)]) else {
        return Err("taken".to_owned());
    };
    if reason.contains(setting.key) && reason.contains("expected") || reason.contains(setting.env) {
        return Ok(());
    }
    Err(format!("refused without its name or what is expected: {reason}"))
}

/// A node with that value, in a process of its own: it refuses to start with a reason, or answers
/// rightly.
fn alive(setting: &Setting, value: &str) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let one = format!("{}={value}", setting.env);
    let run = Command::new(program).args(["surroundings", "--one", &one]).output();
    let output = run.map_err(|e| e.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}: {}", output.status, said.trim()))
}

/// The node of [`alive`].
pub(super) fn run_one(setting: &str) -> ExitCode {
    let folder = match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(error) => return fail(&error.to_string()),
    };
    let Some((env, value)) = setting.split_once('=') else { return fail("expected KEY=VALUE") };
    match one(folder.path(), env, value) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => fail(&reason),
    }
}

fn fail(reason: &str) -> ExitCode {
    eprintln!("{reason}");
    ExitCode::FAILURE
}

fn one(folder: &Path, env: &str, value: &str) -> Result<(), String> {
    let data = folder.join("data").to_string_lossy().into_owned();
    let cluster = CLUSTER.to_string();
    let base = [
        ("BLOOMRF_LISTEN", "127.0.0.1"),
        ("FERMIHDI_PRODUCTION_PORT", "0"),
        ("BLOOMRF_LOOKUP_PORT", "0"),
        ("FERMIHDI_OBSERVABILITY_PORT", "0"),
        ("FERMIHDI_BLOOMRF_DATA_DIR", &data),
        ("FERMIHDI_SEASTAR_MEMORY", "64M"),
        ("BLOOMRF_CLUSTER", &cluster),
        // It would hold the one who asks, too.
        ("BLOOMRF_SANDBOX", "off"),
    ];
    let mut variables: Vec<(&str, &str)> = base.into_iter().filter(|(n, _)| *n != env).collect();
    variables.push((env, value));
    let (config, _) = load(&variables)?;
    let cluster = match Cluster::start_in(config, Surroundings::default()) {
        Ok(cluster) => cluster,
        // Named: what, where, what to do.
        Err(reason) if reason.len() > 20 => return Ok(()),
        Err(reason) => return Err(format!("refused without a reason: {reason:?}")),
    };
    let mut sender =
        UdpSender::connect(&[cluster.node.ports().ingest]).map_err(|e| e.to_string())?;
    for batch in 1..=2 {
        for datagram in &cluster.batch(batch, 40).datagrams {
            sender.send(datagram).map_err(|e| e.to_string())?;
        }
    }
    let end = Instant::now() + Duration::from_secs(3);
    while cluster.node.status().store.verified + cluster.node.status().incomplete < 2 {
        if Instant::now() > end {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    cluster.judge_answers(&[1, 2])?;
    let (status, _) = cluster.page("/metrics")?;
    if status == 200 { Ok(()) } else { Err(format!("/metrics answers {status}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read_where_they_stand() {
        assert_eq!(bounds("1..=64; a filter takes so much"), Some((1, 64)));
        assert_eq!(bounds("auto (production_port + 10), or 0..=65535; 0: any"), Some((0, 65_535)));
        assert_eq!(bounds("1M..=16T; beyond it"), Some((1 << 20, 16 << 40)));
        assert_eq!(bounds("udp"), None);
    }
}
