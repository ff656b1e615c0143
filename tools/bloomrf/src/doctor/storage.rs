//! The data folder: there, writable, on a disk of its own kind and with room.

use std::path::{Path, PathBuf};

use bloomrf_netio::link::LinkKind;
use rustix::fs::{Access, access, statvfs};

use super::host::Host;
use super::report::Finding;
use super::wanted::Wanted;

/// File systems of networks: locks and syncs mean less there.
const OF_NETWORKS: [&str; 7] = ["nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "fuse.sshfs"];
/// File systems that a restart empties.
const VOLATILE: [&str; 2] = ["tmpfs", "ramfs"];

pub(super) fn check(host: &Host, wanted: &Wanted) -> Vec<Finding> {
    let folder = &wanted.config.data_dir;
    let mut findings = vec![writable(host, wanted, folder)];
    findings.extend(disk(host, wanted, folder));
    findings.extend(capture(host, wanted));
    findings
}

/// The file that a link of kind `pcap` plays.
fn capture(host: &Host, wanted: &Wanted) -> Option<Finding> {
    const CHECK: &str = "capture";
    if wanted.kind() != LinkKind::Pcap {
        return None;
    }
    let file = wanted.config.link.spec.argument.split(',').next().unwrap_or_default();
    Some(match access(host.path(file), Access::READ_OK) {
        Ok(()) => Finding::ok(CHECK, format!("{file} can be read")),
        Err(error) => {
            let says = format!("{file} cannot be read: {error}");
            Finding::bad(wanted.needed(), CHECK, says, "name another in link = \"pcap:FILE\"")
        }
    })
}

/// The folder itself, or the nearest thing above it that exists.
fn existing(host: &Host, folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find(|above| host.path(above).exists()).map(Path::to_path_buf)
}

fn writable(host: &Host, wanted: &Wanted, folder: &Path) -> Finding {
    const CHECK: &str = "data_folder";
    let shown = folder.display();
    let may_write = |path: &Path| access(host.path(path), Access::WRITE_OK | Access::EXEC_OK);
    let Some(found) = existing(host, folder) else {
        let says = format!("{shown}: neither it nor a folder above it is there");
        return Finding::bad(wanted.needed(), CHECK, says, format!("mkdir -p -m 700 {shown}"));
    };
    if !host.path(&found).is_dir() {
        let says = format!("{} is no folder", found.display());
        return Finding::bad(wanted.needed(), CHECK, says, "set data_dir to a folder");
    }
    let is_there = found == folder;
    match (may_write(&found), is_there) {
        (Ok(()), true) => Finding::ok(CHECK, format!("{shown} can be written by this user")),
        (Ok(()), false) => Finding::ok(CHECK, format!("{shown} is not there; a node makes it")),
        (Err(error), true) => Finding::bad(
            wanted.needed(),
            CHECK,
            format!("{shown} cannot be written by this user: {error}"),
            format!("chown $(id -u) {shown} (or set data_dir)"),
        ),
        (Err(error), false) => Finding::bad(
            wanted.needed(),
            CHECK,
            format!("{shown} is not there and this user cannot make it: {error}"),
            format!("install -d -m 700 -o $(id -u) {shown} as root (or set data_dir)"),
        ),
    }
}

fn disk(host: &Host, wanted: &Wanted, folder: &Path) -> Option<Finding> {
    const CHECK: &str = "disk";
    let found = existing(host, folder)?;
    let kind = kind(host, &found).unwrap_or_else(|| "unknown".to_owned());
    let sizes = statvfs(host.path(&found)).ok()?;
    let free_mib = sizes.f_bavail.saturating_mul(sizes.f_frsize) >> 20;
    let needed_mib = wanted.config.arena_bytes as u64 >> 20;
    let says = format!("{kind}, {free_mib} MiB free; files take up to {needed_mib} MiB");
    Some(if OF_NETWORKS.contains(&kind.as_str()) {
        let says = format!("{says}; a network file system may have no locks and no true syncs");
        Finding::warn(CHECK, says, "set data_dir to a folder on a local disk")
    } else if VOLATILE.contains(&kind.as_str()) {
        let says = format!("{says}; gone after a restart of the machine");
        Finding::warn(CHECK, says, "set data_dir to a folder on a disk")
    } else if free_mib < needed_mib {
        Finding::warn(CHECK, says, "make room, or lower retain_batches or arena_memory")
    } else {
        Finding::ok(CHECK, says)
    })
}

/// Kind of file system that a folder lies on: that of the longest mount point above it.
fn kind(host: &Host, folder: &Path) -> Option<String> {
    let text = host.text("/proc/self/mounts")?;
    let mounts = text.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        Some((Path::new(words.next()?), words.next()?))
    });
    mounts
        .filter(|(point, _)| folder.starts_with(point))
        .max_by_key(|(point, _)| point.components().count())
        .map(|(_, kind)| kind.to_owned())
}
