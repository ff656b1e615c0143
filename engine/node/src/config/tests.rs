//! Claims about reading, merging and showing settings.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::keys::{FOREIGN, keys};
use super::*;

fn pairs(env: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    env.iter().map(|(name, value)| (name.into(), value.into())).collect()
}

fn from_env(env: &[(&str, &str)]) -> Result<(Config, Provenance), ConfigError> {
    Config::load(None, pairs(env))
}

fn from_text(text: &str, env: &[(&str, &str)]) -> Result<(Config, Provenance), ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("node.toml");
    std::fs::write(&path, text).unwrap();
    Config::load(Some(&path), pairs(env))
}

fn error_of(result: Result<(Config, Provenance), ConfigError>) -> String {
    match result {
        Ok(_) => panic!("this configuration must be refused"),
        Err(error) => error.to_string(),
    }
}

fn value_of<'a>(provenance: &'a Provenance, key: &str) -> &'a Setting {
    provenance.settings.iter().find(|s| s.key == key).unwrap()
}

#[test]
fn defaults_are_those_of_the_product() {
    let (config, provenance) = from_env(&[]).unwrap();
    let expected = [
        ("production_port", "FERMIHDI_PRODUCTION_PORT", "6987"),
        ("observability_port", "FERMIHDI_OBSERVABILITY_PORT", "8080"),
        ("arena_memory", "FERMIHDI_SEASTAR_MEMORY", "512M"),
        ("retain_batches", "FERMIHDI_BLOOMRF_RETAIN_BATCHES", "512"),
        ("columns", "FERMIHDI_BLOOMRF_COLUMNS", "all"),
        ("bits_per_key", "FERMIHDI_BLOOMRF_BITS_PER_KEY", "8"),
        ("levels", "FERMIHDI_BLOOMRF_LEVELS", "4"),
        ("max_probes", "FERMIHDI_BLOOMRF_MAX_PROBES", "256"),
        ("max_kib_per_column", "FERMIHDI_BLOOMRF_MAX_KIB_PER_COLUMN", "1024"),
        ("data_dir", "FERMIHDI_BLOOMRF_DATA_DIR", "/var/lib/fermihdi/bloomrf"),
    ];
    for (key, env, value) in expected {
        let setting = value_of(&provenance, key);
        assert_eq!((setting.env, setting.value.as_str()), (env, value));
        assert_eq!(setting.origin, Origin::Default);
    }
    assert_eq!(config.arena_bytes, 536_870_912);
    assert_eq!(config.filtered_columns(), vec![true; config.schema.columns().len()]);
}

#[test]
fn environment_wins_over_file_wins_over_default() {
    let text = "# a comment\nretain_batches = 7\n\nmax_probes = 9\nmax_probes_ = 1\n";
    assert!(from_text(text, &[]).is_err());
    let text = text.replace("max_probes_ = 1\n", "");
    let env = [("FERMIHDI_BLOOMRF_RETAIN_BATCHES", "8"), ("PATH", "/bin")];
    let (config, provenance) = from_text(&text, &env).unwrap();
    assert_eq!((config.retain_batches, config.max_probes, config.levels), (8, 9, 4));
    let origin = |key| value_of(&provenance, key).origin.to_string();
    assert_eq!(origin("retain_batches"), "environment FERMIHDI_BLOOMRF_RETAIN_BATCHES");
    assert!(origin("max_probes").ends_with("node.toml line 4"), "{}", origin("max_probes"));
    assert_eq!(origin("levels"), "default");
}

#[test]
fn unknown_settings_are_refused_with_place_and_near_match() {
    let text = error_of(from_text("levels = 4\nretain_batchs = 7\n", &[]));
    for part in ["retain_batchs", "line 2", "did you mean retain_batches?"] {
        assert!(text.contains(part), "{text}");
    }
    for (name, near) in [
        ("BLOOMRF_COREZ", "BLOOMRF_CORES"),
        ("FERMIHDI_BLOOMRF_MAX_PROBE", "FERMIHDI_BLOOMRF_MAX_PROBES"),
    ] {
        let text = error_of(from_env(&[(name, "1")]));
        assert!(text.contains(name) && text.contains(&format!("did you mean {near}?")), "{text}");
    }
    let text = error_of(from_env(&[("BLOOMRF_SOMETHING_ELSE_ENTIRELY", "1")]));
    assert!(!text.contains("did you mean"), "{text}");
    assert!(error_of(from_text("[section]\nlevels = 4\n", &[])).contains("section"));
    // Other roles of the product share its environment.
    from_env(&[("FERMIHDI_OTHER_ROLE_SETTING", "1")]).unwrap();
}

/// A variable, values that it takes, values that it refuses.
type Bound = (&'static str, &'static [&'static str], &'static [&'static str]);

const BOUNDS: &[Bound] = &[
    ("FERMIHDI_PRODUCTION_PORT", &["0", "1", "65525"], &["65526", "-1", "x", "", "1.5"]),
    ("BLOOMRF_LOOKUP_PORT", &["auto", "0", "65535"], &["65536", "none"]),
    ("FERMIHDI_OBSERVABILITY_PORT", &["0", "65535"], &["65536"]),
    ("BLOOMRF_LISTEN", &["127.0.0.1", "::1", "0.0.0.0"], &["localhost", "", "1.2.3"]),
    (
        "FERMIHDI_SEASTAR_MEMORY",
        &["1M", "512M", "1G", "1024K", "1048576", "2 GiB", "1g"],
        &["1023K", "0", "1X", "M", "-1M", "17T", "99999999999999999999G", "1.5G"],
    ),
    ("BLOOMRF_PAGES", &["auto", "transparent", "small"], &["huge", ""]),
    ("BLOOMRF_NUMA_NODE", &["none", "0", "1023"], &["1024", "-1", ""]),
    ("FERMIHDI_BLOOMRF_RETAIN_BATCHES", &["1", "65536"], &["0", "65537"]),
    ("FERMIHDI_BLOOMRF_COLUMNS", &["all", "dst_port", "ts, src_ip4"], &["", "a,,b", "nope"]),
    ("FERMIHDI_BLOOMRF_BITS_PER_KEY", &["1", "64"], &["0", "65"]),
    ("FERMIHDI_BLOOMRF_LEVELS", &["1", "8"], &["0", "9"]),
    ("FERMIHDI_BLOOMRF_MAX_PROBES", &["1", "65536"], &["0", "65537"]),
    ("FERMIHDI_BLOOMRF_MAX_KIB_PER_COLUMN", &["1", "65536"], &["0", "65537"]),
    ("BLOOMRF_EXACT_KEYS", &["0", "16777216"], &["-1", "16777217"]),
    ("FERMIHDI_BLOOMRF_DATA_DIR", &["/x"], &["", " "]),
    ("BLOOMRF_SANDBOX", &["off", "try", "require"], &["on", "", "OFF"]),
    ("BLOOMRF_USER", &["none", "bloomrf", "1000:1000"], &["", "a b", "a/b"]),
    ("BLOOMRF_LOOKUP_BUDGET_US", &["100", "1000000"], &["99", "1000001"]),
    ("BLOOMRF_LOOKUP_KEYS", &["none", "/x"], &["", " "]),
    ("BLOOMRF_LOOKUP_RATE", &["0", "1", "10000000"], &["-1", "10000001", "many"]),
    ("BLOOMRF_LOOKUP_ALLOW", &["any", "10.0.0.0/8,::1"], &["", "10.0.0.1/8", "10.0.0.0/33"]),
    ("BLOOMRF_INGEST_KEYS", &["none", "/x"], &["", " "]),
    ("BLOOMRF_INGEST_ALLOW", &["any", "::/0"], &["", "::/129", "host"]),
    ("BLOOMRF_KERNEL", &["auto", "scalar"], &["", "sse9", "AVX2"]),
    ("BLOOMRF_SCC", &["none", "10.0.0.1:1", "[::1]:6990"], &["10.0.0.1", "host:1", "1.1.1.1:0"]),
    (
        "BLOOMRF_CLUSTER",
        &["0", "C1", "00112233-4455-6677-8899-aabbccddeeff"],
        &["", "-", "g", "+1", "100112233445566778899aabbccddeeff"],
    ),
    ("FERMIHDI_NODE_NAME", &["n", "node 1"], &["", "a\nb"]),
    ("BLOOMRF_CHAIN_HASH", &["xxh3", "blake3", "SHA-256"], &["md5", ""]),
    ("BLOOMRF_SCHEMA", &["packet"], &["", "/no/such/schema.toml"]),
];

const BOUNDS_OF_INGEST: &[Bound] = &[
    ("BLOOMRF_LINK", &["udp", "af_packet:eth1", "pcap:/x,loop"], &["dpdk", "", "udp:1"]),
    ("BLOOMRF_LINK_USE", &["ingest"], &["index", "", "tap"]),
    ("BLOOMRF_IDLE", &["sleep", "pause", "busy"], &["spin", ""]),
    ("BLOOMRF_CHECKSUMS", &["verify", "trust"], &["off", ""]),
    ("BLOOMRF_PORT_ADDRESSES", &[""], &["10.0.0.5", "10.0.0.5/33", "::/64", "10.0.0.255/24"]),
    ("BLOOMRF_PORT_GATEWAY", &["none"], &["", "10.0.0.1,10.0.0.2", "10.0.0.1", "host"]),
    ("BLOOMRF_BUSY_POLL_US", &["0", "1000"], &["-1", "1001"]),
    ("BLOOMRF_TAP_BATCH_RECORDS", &["1", "14548992"], &["0", "14548993"]),
    ("BLOOMRF_TAP_BATCH_MS", &["10", "3600000"], &["9", "3600001"]),
    ("BLOOMRF_DPDK_ARGS", &["", " "], &["-v", "a\nb"]),
    ("BLOOMRF_GROUPS", &["", "239.1.2.3", "239.1.2.3,224.0.0.9"], &["10.0.0.1", "ff02::1"]),
    ("BLOOMRF_CORES", &["", "0", "3,1"], &["1,1", "x", "1024", "1,"]),
    ("BLOOMRF_QUEUES", &["1", "64"], &["0", "65"]),
    ("BLOOMRF_RECEIVE_BUFFER", &["64K", "1G"], &["63K", "2G"]),
    ("BLOOMRF_EXPECTED_RECORDS", &["1", "67108864"], &["0", "67108865"]),
    ("BLOOMRF_BATCH_IDLE_MS", &["10", "3600000"], &["9", "3600001"]),
    ("BLOOMRF_CLOSE_GRACE_MS", &["1", "600000"], &["0", "600001"]),
    ("BLOOMRF_SCRUB_HOURS", &["0", "8760"], &["-1", "8761"]),
    ("BLOOMRF_REPAIR_MS", &["0", "600000"], &["-1", "600001"]),
];

#[test]
fn every_bound_is_checked_at_its_edges() {
    let cases: Vec<&Bound> = BOUNDS.iter().chain(BOUNDS_OF_INGEST).collect();
    assert_eq!(cases.len(), keys().count(), "every key has its row");
    for &(env, good, bad) in cases {
        for value in good {
            let loaded = from_env(&[(env, value)]);
            loaded.unwrap_or_else(|e| panic!("{env}={value:?}: {e}"));
        }
        for value in bad {
            let key = keys().find(|key| key.env == env).unwrap().name;
            let text = error_of(from_env(&[(env, value)]));
            assert!(text.contains(key) && text.contains(env), "{env}={value:?}: {text}");
            assert!(text.contains(&format!("{value:?}")), "{env}={value:?}: {text}");
        }
    }
}

#[test]
fn a_wrong_column_names_the_near_one() {
    let text = error_of(from_env(&[("FERMIHDI_BLOOMRF_COLUMNS", "dst_prt")]));
    assert!(text.contains("did you mean dst_port?"), "{text}");
    let (config, _) = from_env(&[("FERMIHDI_BLOOMRF_COLUMNS", "dst_port")]).unwrap();
    assert_eq!(config.filtered_columns().iter().filter(|f| **f).count(), 1);
}

#[test]
fn two_settings_that_want_one_port_are_refused() {
    for env in [
        [("FERMIHDI_PRODUCTION_PORT", "7000"), ("BLOOMRF_LOOKUP_PORT", "7000")],
        [("FERMIHDI_PRODUCTION_PORT", "8070"), ("FERMIHDI_OBSERVABILITY_PORT", "8080")],
    ] {
        assert!(error_of(from_env(&env)).contains("another port"));
    }
}

#[test]
fn a_setting_that_the_link_makes_pointless_is_refused_with_both_named() {
    let raw = ("BLOOMRF_LINK", "af_packet:eth1");
    let tap = ("BLOOMRF_LINK_USE", "tap");
    let own = ("BLOOMRF_PORT_ADDRESSES", "10.0.0.5/24,fd00::5/64");
    let gateway = |ip| ("BLOOMRF_PORT_GATEWAY", ip);
    type Case<'a> = (&'a [(&'a str, &'a str)], [&'a str; 2]);
    let cases: &[Case<'_>] = &[
        (&[raw, ("BLOOMRF_GROUPS", "239.1.2.3")], ["groups", "af_packet:eth1"]),
        (&[raw, ("BLOOMRF_BUSY_POLL_US", "50")], ["busy_poll_us", "af_packet:eth1"]),
        (&[raw, ("FERMIHDI_PRODUCTION_PORT", "0")], ["production_port", "af_packet:eth1"]),
        (&[own], ["port_addresses", "link = \"udp\""]),
        (&[own, ("BLOOMRF_LINK", "pcap:x")], ["port_addresses", "link = \"pcap:x\""]),
        (&[raw, gateway("10.0.0.1")], ["port_gateway", "port_addresses"]),
        (&[raw, own, gateway("10.0.1.1")], ["port_gateway", "port_addresses"]),
        (&[raw, ("BLOOMRF_DPDK_ARGS", "-v")], ["dpdk_args", "af_packet:eth1"]),
        (&[tap], ["link_use", "link = \"udp\""]),
        (&[raw, tap, ("BLOOMRF_SCC", "10.0.0.1:6990")], ["scc", "link_use"]),
        (&[raw, tap, ("BLOOMRF_INGEST_KEYS", "/x")], ["ingest_keys", "link_use"]),
        (&[raw, tap, ("BLOOMRF_INGEST_ALLOW", "::1")], ["ingest_allow", "link_use"]),
        (&[raw, tap, own], ["port_addresses", "link_use"]),
    ];
    for (env, parts) in cases {
        let text = error_of(from_env(env));
        assert!(parts.iter().all(|part| text.contains(part)), "{env:?}: {text}");
    }
    let whole = [raw, own, gateway("10.0.0.1,fd00::1"), ("BLOOMRF_CHECKSUMS", "trust")];
    assert_eq!(from_env(&whole).unwrap().0.link.addresses.len(), 2);
    from_env(&[raw, tap, ("FERMIHDI_PRODUCTION_PORT", "0")]).unwrap();
}

#[test]
fn a_tap_of_another_schema_is_refused_and_a_capture_lies_beside_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let schema = Config::default().schema.to_json().to_string();
    std::fs::write(folder.path().join("flows.json"), schema).unwrap();
    let path = folder.path().join("node.toml");
    let text = "link = \"pcap:day.pcap,loop\"\nlink_use = \"tap\"\n";
    std::fs::write(&path, text).unwrap();
    let spec = Config::load(Some(&path), pairs(&[])).unwrap().0.link.spec;
    let capture = folder.path().join("day.pcap,loop");
    assert_eq!(spec.to_string(), format!("pcap:{}", capture.display()));
    std::fs::write(&path, format!("{text}schema = \"flows.json\"\n")).unwrap();
    let text = error_of(Config::load(Some(&path), pairs(&[])));
    assert!(text.contains("schema =") && text.contains("link_use"), "{text}");
}

#[test]
fn toml_lists_numbers_and_texts_are_all_accepted() {
    let text = "columns = [\"ts\", \"dst_port\"]\ncores = [0, 1]\narena_memory = \"1G\"\n\
                listen = \"127.0.0.1\"\nretain_batches = \"12\"\n";
    let (config, _) = from_text(text, &[]).unwrap();
    assert_eq!(config.columns.unwrap(), ["ts", "dst_port"]);
    assert_eq!((config.cores, config.arena_bytes), (vec![0, 1], 1 << 30));
    assert_eq!(config.retain_batches, 12);
    for text in ["levels = 4.0", "levels = true", "levels = {a = 1}", "columns = [[\"ts\"]]"] {
        assert!(error_of(from_text(text, &[])).contains("line 1"), "{text}");
    }
}

#[test]
fn a_file_that_is_no_toml_names_its_line() {
    let text = error_of(from_text("levels = 4\nretain_batches 7\n", &[]));
    assert!(text.contains("node.toml") && text.contains("line 2"), "{text}");
    let missing = Config::load(Some(Path::new("/no/such/node.toml")), pairs(&[]));
    assert!(error_of(missing).contains("/no/such/node.toml"));
}

#[test]
fn a_dms_is_not_supported_yet_and_the_error_says_what_to_do() {
    for name in ["FERMIHDI_DMS_URL", "FERMIHDI_BOOTSTRAP_TOKEN"] {
        let text = error_of(from_env(&[(name, "s3cret")]));
        assert!(text.contains(name) && text.contains("not supported yet"), "{text}");
        assert!(text.contains("file") && !text.contains("s3cret"), "{text}");
        from_env(&[(name, "")]).unwrap();
    }
    let (config, _) = from_env(&[("FERMIHDI_NODE_NAME", "n7")]).unwrap();
    assert_eq!(config.node_name, "n7");
}

#[test]
fn variables_of_the_scc_are_noted_and_ignored() {
    let env = [("FERMIHDI_BLOOMRF_MODE", "active"), ("FERMIHDI_BLOOMRF_TIMEOUT_MS", "10")];
    let (_, provenance) = from_env(&env).unwrap();
    assert_eq!(provenance.notes.len(), 2);
    assert!(provenance.to_text().contains("FERMIHDI_BLOOMRF_MODE: read by the SCC"));
    for foreign in FOREIGN {
        from_env(&[(foreign.env, "x")]).unwrap();
    }
}

#[test]
fn only_our_own_variables_must_be_text() {
    let bytes = || OsString::from_vec(vec![0xff, b'x']);
    let foreign = vec![("LS_COLORS".into(), bytes()), (bytes(), bytes())];
    assert_eq!(Config::load(None, foreign).unwrap().0.levels, 4);
    let text = error_of(Config::load(None, vec![("FERMIHDI_BLOOMRF_LEVELS".into(), bytes())]));
    assert!(text.contains("FERMIHDI_BLOOMRF_LEVELS") && text.contains("UTF-8"), "{text}");
}

#[test]
fn what_is_shown_reads_back_to_itself() {
    let env = [
        ("FERMIHDI_SEASTAR_MEMORY", "1536K"),
        ("BLOOMRF_CORES", "3,1"),
        ("BLOOMRF_SCC", "[::1]:6990"),
        ("BLOOMRF_CLUSTER", "c1"),
        ("BLOOMRF_GROUPS", "239.1.2.3"),
        ("FERMIHDI_BLOOMRF_COLUMNS", "ts,dst_port"),
    ];
    let (_, first) = from_env(&env).unwrap();
    let shown: Vec<(OsString, OsString)> =
        first.settings.iter().map(|s| (s.env.into(), s.value.clone().into())).collect();
    let (_, second) = Config::load(None, shown).unwrap();
    for (a, b) in first.settings.iter().zip(&second.settings) {
        assert_eq!((a.key, &a.value), (b.key, &b.value));
    }
}

#[test]
fn check_config_shows_every_key_with_its_origin() {
    let env = pairs(&[("BLOOMRF_QUEUES", "2")]);
    let text = check_config(None, env.clone(), false).unwrap();
    let json: serde_json::Value =
        serde_json::from_str(&check_config(None, env, true).unwrap()).unwrap();
    for (i, key) in keys().enumerate() {
        let line = text.lines().find(|line| line.split(' ').next() == Some(key.name)).unwrap();
        assert!(line.contains("# "), "{line}");
        assert_eq!(json["settings"][i]["key"], key.name);
    }
    let queues = text.lines().find(|line| line.starts_with("queues ")).unwrap();
    assert!(queues.contains("# environment BLOOMRF_QUEUES"), "{queues}");
}

#[test]
fn a_schema_file_is_found_beside_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let json = Config::default().schema.to_json().to_string();
    std::fs::write(folder.path().join("flows.json"), json).unwrap();
    let path = folder.path().join("node.toml");
    std::fs::write(&path, "schema = \"flows.json\"\n").unwrap();
    let (config, _) = Config::load(Some(&path), pairs(&[])).unwrap();
    assert_eq!(config.schema, Config::default().schema);
    assert!(config.schema_source.ends_with("flows.json"));
    std::fs::write(folder.path().join("flows.json"), "{}").unwrap();
    let text = error_of(Config::load(Some(&path), pairs(&[])));
    assert!(text.contains("flows.json") && text.contains("line 1"), "{text}");
}

/// `deploy/node.toml` of the repository.
fn deployed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/node.toml")
}

#[test]
fn the_deployed_file_lists_every_key_with_default_unit_and_limit() {
    let text = std::fs::read_to_string(deployed()).unwrap();
    Config::load(Some(&deployed()), pairs(&[])).unwrap();
    let (_, defaults) = from_env(&[]).unwrap();
    let mut listed = Vec::new();
    let mut about = String::new();
    let mut live = String::new();
    for line in text.lines() {
        // Prose is "# text", a setting is "#key = value".
        let setting = line.strip_prefix('#').filter(|rest| !rest.starts_with([' ', '#']));
        let Some(setting) = setting.filter(|rest| !rest.is_empty()) else {
            about = if line.is_empty() { String::new() } else { about + line + "\n" };
            continue;
        };
        let name = setting.split(" = ").next().unwrap().to_owned();
        let key = keys().find(|key| key.name == name);
        let key = key.unwrap_or_else(|| panic!("deploy/node.toml lists {name}, no such key"));
        for part in [key.env, key.unit, key.limit] {
            let prose = about.replace("\n# ", " ");
            assert!(prose.contains(part), "deploy/node.toml, {name}: {part:?} not in {prose}");
        }
        about.clear();
        live = live + setting + "\n";
        listed.push(name);
    }
    let all: Vec<&str> = keys().map(|key| key.name).collect();
    assert_eq!(listed, all, "deploy/node.toml lists every key once, in order");
    let (_, uncommented) = from_text(&live, &[]).unwrap();
    for (setting, default) in uncommented.settings.iter().zip(&defaults.settings) {
        assert_eq!((setting.key, &setting.value), (default.key, &default.value));
        assert_ne!(setting.origin, Origin::Default);
    }
}

#[test]
fn files_without_end_are_not_read_to_their_end() {
    let folder = tempfile::tempdir().unwrap();
    let long = folder.path().join("long.toml");
    std::fs::write(&long, " ".repeat((1 << 20) + 1)).unwrap();
    for file in [long.as_path(), Path::new("/dev/zero")] {
        let error = error_of(Config::load(Some(file), pairs(&[])));
        assert!(error.contains("longer than 1048576 bytes"), "{error}");
        let schema = [("BLOOMRF_SCHEMA", file.to_str().unwrap())];
        let error = error_of(from_env(&schema));
        assert!(error.contains("longer than 262144 bytes"), "{error}");
    }
}
