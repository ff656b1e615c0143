//! The ports that a node listens on: free, or whose they are.

use bloomrf_netio::link::LinkKind;

use super::host::Host;
use super::report::Finding;
use super::wanted::Wanted;

/// State of a TCP socket that listens, in `/proc/net/tcp`.
const LISTENING: &str = "0A";

pub(super) fn check(host: &Host, wanted: &Wanted) -> Vec<Finding> {
    let config = &wanted.config;
    let lookup = config.lookup_port_wanted();
    let ports = [
        ("udp", config.production_port, "production_port"),
        ("udp", lookup, "lookup_port"),
        ("tcp", lookup, "lookup_port"),
        ("tcp", config.observability_port, "observability_port"),
    ];
    // A raw link takes records off the wire, without a socket.
    let has_socket = |key: &str| key != "production_port" || wanted.kind() == LinkKind::Udp;
    let asked = ports.into_iter().filter(|&(_, port, key)| port != 0 && has_socket(key));
    asked.map(|(protocol, port, key)| free(host, wanted, protocol, port, key)).collect()
}

fn free(host: &Host, wanted: &Wanted, protocol: &str, port: u16, key: &str) -> Finding {
    const CHECK: &str = "port";
    let tables = [format!("/proc/net/{protocol}"), format!("/proc/net/{protocol}6")];
    let socket = tables.iter().find_map(|table| holder(host, table, port, protocol == "tcp"));
    let subject = format!("{port}/{protocol}");
    let Some(socket) = socket else {
        return Finding::ok(CHECK, format!("free, for {key}")).about(subject);
    };
    let who = owner(host, &socket).unwrap_or_else(|| "another process".to_owned());
    let says = format!("in use by {who}");
    let mend = format!("stop it, or set {key} to another port (ss -lnp sport = :{port})");
    Finding::bad(wanted.needed(), CHECK, says, mend).about(subject)
}

/// The inode of a socket that is bound to the port.
fn holder(host: &Host, table: &str, port: u16, listening: bool) -> Option<String> {
    let text = host.text(table)?;
    text.lines().skip(1).find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (_, own) = words.get(1)?.rsplit_once(':')?;
        let is_it = u16::from_str_radix(own, 16) == Ok(port);
        (is_it && (!listening || words.get(3) == Some(&LISTENING)))
            .then(|| words.get(9).map(|inode| (*inode).to_owned()))?
    })
}

/// Whose it is, as far as this process may look into others.
fn owner(host: &Host, inode: &str) -> Option<String> {
    let wanted = format!("socket:[{inode}]");
    let pids = host.names("/proc").into_iter().filter_map(|entry| entry.parse::<u32>().ok());
    pids.into_iter().find_map(|pid| {
        let folder = format!("/proc/{pid}/fd");
        let holds = |fd: &String| host.link(&format!("{folder}/{fd}")).as_ref() == Some(&wanted);
        let comm = host.text(&format!("/proc/{pid}/comm")).unwrap_or_default();
        host.names(&folder).iter().any(holds).then(|| format!("{comm} (process {pid})"))
    })
}
