//! What only holds as a whole: settings checked against each other, once all of them are known.

use bloomrf_netio::LinkSpec;
use bloomrf_netio::link::LinkKind;

use super::ConfigError;
use super::link::{LinkConfig, LinkUse};
use super::load::{Draft, hint};
use super::value::nearest;

impl Draft {
    /// Checks settings against each other, once all of them are known.
    pub(super) fn check_whole(&self) -> Result<(), ConfigError> {
        let config = &self.config;
        for name in config.columns.iter().flatten() {
            if config.schema.ordinal(name).is_none() {
                let names: Vec<&str> = config.schema.columns().iter().map(|c| c.name()).collect();
                let near = hint(nearest(name, names.iter().copied()));
                let (schema, names) = (config.schema.name(), names.join(", "));
                return Err(self.refuse(
                    "columns",
                    format!("schema {schema} has no column {name}{near} (it has {names})"),
                ));
            }
        }
        self.check_link()?;
        if let Some(group) = config.groups.iter().find(|g| g.is_ipv4() != config.listen.is_ipv4()) {
            let listen = config.listen;
            return Err(self.refuse(
                "groups",
                format!("{group} is of another address family than listen = {listen}"),
            ));
        }
        let lookup = config.lookup_port.unwrap_or(0);
        if lookup != 0 && lookup == config.production_port {
            let expected = "expected another port than production_port".to_owned();
            return Err(self.refuse("lookup_port", expected));
        }
        let lookup = config.lookup_port_wanted();
        if lookup != 0 && lookup == config.observability_port {
            let expected = format!("expected another port than the lookup port, {lookup}");
            return Err(self.refuse("observability_port", expected));
        }
        Ok(())
    }

    /// A setting that another one makes pointless would silently do nothing: the error names both.
    fn check_link(&self) -> Result<(), ConfigError> {
        let config = &self.config;
        let LinkConfig { spec, addresses, gateways, .. } = &config.link;
        let raw = spec.kind != LinkKind::Udp;
        if raw && !config.groups.is_empty() {
            return Err(self.clash("groups", spec, "takes every frame and joins no group"));
        }
        if raw && config.link.busy_poll_us != 0 {
            return Err(self.clash("busy_poll_us", spec, "has no sockets; see idle"));
        }
        if raw && config.production_port == 0 && config.link.link_use == LinkUse::Ingest {
            return Err(self.clash("production_port", spec, "cannot pick a free port"));
        }
        if !addresses.is_empty() && !matches!(spec.kind, LinkKind::AfPacket | LinkKind::Dpdk) {
            return Err(self.clash("port_addresses", spec, "has no addresses of its own"));
        }
        if !config.link.dpdk_args.is_empty() && spec.kind != LinkKind::Dpdk {
            return Err(self.clash("dpdk_args", spec, "has no EAL"));
        }
        if let Some(gateway) = gateways.iter().find(|g| !addresses.iter().any(|a| a.reaches(**g))) {
            let list = super::read::join(addresses);
            let expected = format!("{gateway} is in no network of port_addresses = {list:?}");
            return Err(self.refuse("port_gateway", expected));
        }
        if config.link.link_use == LinkUse::Tap { self.check_tap() } else { Ok(()) }
    }

    fn check_tap(&self) -> Result<(), ConfigError> {
        let config = &self.config;
        let spec = &config.link.spec;
        if spec.kind == LinkKind::Udp {
            let expected = format!("link = \"{spec}\" delivers no frames: name a raw link");
            return Err(self.refuse("link_use", expected));
        }
        let clash = |key, reason: &str| {
            Err(self.refuse(key, format!("link_use = \"tap\" {reason}: unset one of both")))
        };
        if config.schema_source != "packet" {
            return clash("schema", "has records of schema packet only");
        }
        if config.scc.is_some() {
            return clash("scc", "makes batches that no SCC knows");
        }
        if config.ingest_keys.is_some() {
            return clash("ingest_keys", "takes packets that nobody has sealed");
        }
        if !config.link.addresses.is_empty() {
            return clash("port_addresses", "listens, and answers nothing on its port");
        }
        if !config.ingest_allow.are_any() {
            return clash("ingest_allow", "takes packets of all sources");
        }
        Ok(())
    }

    /// `key` is set, and makes no sense with the link.
    fn clash(&self, key: &'static str, spec: &LinkSpec, reason: &str) -> ConfigError {
        self.refuse(key, format!("link = \"{spec}\" {reason}: unset {key}, or change link"))
    }
}
