//! User, capabilities, core files, `no_new_privs`.

use std::path::Path;

use nix::sys::resource::{Resource, setrlimit};
use nix::unistd::{Gid, Uid, User, setgroups, setresgid, setresuid};
use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, remove_capability_from_bounding_set, set_capabilities,
    set_no_new_privs,
};

use super::check_writable;

/// Keys and records stay out of core files.
pub(super) fn no_cores() -> Result<(), String> {
    setrlimit(Resource::RLIMIT_CORE, 0, 0).map_err(|error| format!("RLIMIT_CORE: {error}"))
}

/// Becomes a user for good, in all threads of the process: a name, or `uid:gid`.
pub(super) fn become_user(name: &str, data_dir: &Path) -> Result<(), String> {
    let (uid, gid) = ids(name)?;
    if uid == Uid::effective() && uid == Uid::current() {
        return check_writable(data_dir);
    }
    let fail = |what: &str, error: nix::Error| format!("{what} for {name}: {error}");
    setgroups(&[gid]).map_err(|e| fail("setgroups", e))?;
    setresgid(gid, gid, gid).map_err(|e| fail("setresgid", e))?;
    setresuid(uid, uid, uid).map_err(|e| fail("setresuid", e))?;
    if !uid.is_root() && setresuid(Uid::from_raw(0), Uid::from_raw(0), Uid::from_raw(0)).is_ok() {
        return Err(format!("user {name}: root could be had back"));
    }
    check_writable(data_dir)
}

fn ids(name: &str) -> Result<(Uid, Gid), String> {
    if let Some((uid, gid)) = name.split_once(':') {
        let number = |text: &str| text.parse::<u32>().map_err(|_| format!("no number: {text:?}"));
        return Ok((Uid::from_raw(number(uid)?), Gid::from_raw(number(gid)?)));
    }
    match User::from_name(name) {
        Ok(Some(user)) => Ok((user.uid, user.gid)),
        Ok(None) => Err(format!("there is no user {name:?} here")),
        Err(error) => Err(format!("user {name:?}: {error}")),
    }
}

/// Empties every set of this thread, the bounding set first: it takes a capability to do it.
pub(super) fn drop_capabilities() -> Result<(), String> {
    for bit in 0..u64::BITS {
        match remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << bit)) {
            Ok(()) => {}
            // Beyond the last one that this system knows.
            Err(Errno::INVAL) => break,
            // Without the right to: then nothing of it can be had either (no_new_privs).
            Err(Errno::PERM) => break,
            Err(error) => return Err(format!("bounding set, bit {bit}: {error}")),
        }
    }
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    set_capabilities(None, sets).map_err(|error| format!("capset: {error}"))
}

/// Nothing that this process executes will ever have more rights than it has.
pub(super) fn no_new_privileges() -> Result<(), String> {
    set_no_new_privs(true).map_err(|error| error.to_string())
}
