//! `bloomrf doctor`: what this machine gives a node, line by line, with the command that mends
//! what could be better.
//!
//! Data flows one way: `Host` reads files below a root folder, the checks of a group turn what they
//! read and what the node is to be (`Wanted`) into findings, and `Report` shows them as text or
//! JSON. Nothing is changed on the machine. Tests replace the root folder.

mod core_list;
mod cores;
mod cpu;
mod devices;
mod host;
mod interfaces;
mod memory;
mod ports;
mod report;
mod rights;
mod settings;
mod storage;
mod system;
mod wanted;

#[cfg(test)]
mod tests;

use std::process::ExitCode;

use bloomrf_node::Config;

use crate::args::DoctorArgs;
use crate::outcome::{CommandError, Outcome, print};
use host::Host;
use report::{Finding, Group, Report};
use wanted::Wanted;

/// The checks of one group.
type Checks = fn(&Host, &Wanted) -> Vec<Finding>;

/// All groups, in the order in which they are shown.
const GROUPS: [(&str, Checks); 10] = [
    ("cpu", cpu::check),
    ("cores", cores::check),
    ("memory", memory::check),
    ("rights", rights::check),
    ("network", interfaces::check),
    ("ports", ports::check),
    ("dpdk", devices::check),
    ("system", system::check),
    ("storage", storage::check),
    ("settings", settings::check),
];

/// Looks at this machine.
pub(crate) fn run(args: &DoctorArgs) -> Outcome {
    let (config, _) =
        Config::load(args.config.as_deref(), std::env::vars_os()).map_err(CommandError::misused)?;
    let wanted = Wanted { config, stated: args.config.is_some() };
    let report = examine(&Host::of_this_machine(), &wanted);
    print(&if args.json { report.to_json() } else { report.to_text() })?;
    Ok(ExitCode::from(u8::from(report.fails())))
}

fn examine(host: &Host, wanted: &Wanted) -> Report {
    let groups = GROUPS.map(|(name, checks)| Group { name, findings: checks(host, wanted) });
    Report { groups: groups.into(), stated: wanted.stated }
}
