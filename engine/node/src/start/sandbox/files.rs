//! Landlock: the data folder, and what the system tells about itself; TCP to the SCC alone.

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath,
    PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus,
};

/// Confines this thread and those that it starts.
pub(super) fn confine(data_dir: &Path, scc_port: Option<u16>) -> Result<(), String> {
    restrict(data_dir, scc_port).map_err(|error| error.to_string()).and_then(
        |status| match status {
            RulesetStatus::NotEnforced => {
                Err("this system has no Landlock (Linux 5.13)".to_owned())
            }
            _ => Ok(()),
        },
    )
}

fn restrict(
    data_dir: &Path,
    scc_port: Option<u16>,
) -> Result<RulesetStatus, landlock::RulesetError> {
    let everything = AccessFs::from_all(NEWEST);
    let reading = AccessFs::ReadFile | AccessFs::ReadDir;
    // Rules of newer systems, TCP among them, are kept as far as this one knows them.
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(everything)?
        .handle_access(AccessNet::from_all(NEWEST))?
        .create()?;
    let folder_rights: BitFlags<AccessFs> = everything & !AccessFs::Execute;
    let places = [
        (data_dir, folder_rights),
        // Losses before the sockets, and the process's own size.
        (Path::new("/proc"), reading),
        (Path::new("/dev/urandom"), AccessFs::ReadFile.into()),
        (Path::new("/dev/null"), AccessFs::ReadFile | AccessFs::WriteFile),
    ];
    for (path, rights) in places {
        if let Ok(opened) = PathFd::new(path) {
            ruleset = ruleset.add_rule(PathBeneath::new(opened, rights))?;
        }
    }
    if let Some(port) = scc_port {
        ruleset = ruleset.add_rule(NetPort::new(port, AccessNet::ConnectTcp))?;
    }
    Ok(ruleset.restrict_self()?.ruleset)
}

/// Newest set of rules that is asked for.
const NEWEST: ABI = ABI::V5;
