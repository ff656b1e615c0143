//! Reads and shows the values of the settings that are more than a number.

pub(super) mod link;

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use bloomrf_engine::limits::{NAME_BYTES_MAX, SCHEMA_TEXT_BYTES_MAX};
use bloomrf_engine::schema::Schema;
use bloomrf_kernels::arena::PagesWanted;

use super::load::read_text;
use super::value::{self, Expected};
use super::{Config, Sandbox};

/// Most ingest queues.
pub(super) const QUEUES_MAX: usize = 64;
/// Most multicast groups.
const GROUPS_MAX: usize = 16;

pub(super) fn set<T>(field: &mut T, value: Result<T, Expected>) -> Result<(), Expected> {
    *field = value?;
    Ok(())
}

pub(super) fn auto<T>(
    text: &str,
    read: impl FnOnce(&str) -> Result<T, Expected>,
) -> Result<Option<T>, Expected> {
    if text.trim() == "auto" { Ok(None) } else { read(text).map(Some) }
}

pub(super) fn none<T>(
    text: &str,
    read: impl FnOnce(&str) -> Result<T, Expected>,
) -> Result<Option<T>, Expected> {
    if text.trim() == "none" { Ok(None) } else { read(text).map(Some) }
}

pub(super) fn join<T: ToString>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

pub(super) fn pages(text: &str) -> Result<PagesWanted, Expected> {
    match text.trim() {
        "auto" => Ok(PagesWanted::Auto),
        "transparent" => Ok(PagesWanted::Transparent),
        "small" => Ok(PagesWanted::Small),
        _ => Err("expected auto, transparent or small".to_owned()),
    }
}

pub(super) fn sandbox(text: &str) -> Result<Sandbox, Expected> {
    match text.trim() {
        "off" => Ok(Sandbox::Off),
        "try" => Ok(Sandbox::Try),
        "require" => Ok(Sandbox::Require),
        _ => Err("expected off, try or require".to_owned()),
    }
}

pub(super) fn show_sandbox(sandbox: Sandbox) -> &'static str {
    match sandbox {
        Sandbox::Off => "off",
        Sandbox::Try => "try",
        Sandbox::Require => "require",
    }
}

pub(super) fn user(text: &str) -> Result<String, Expected> {
    let text = text.trim();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    if (1..=64).contains(&text.len()) && text.chars().all(is_plain) {
        Ok(text.to_owned())
    } else {
        Err("expected none, the name of a user, or uid:gid".to_owned())
    }
}

pub(super) fn show_pages(pages: PagesWanted) -> &'static str {
    match pages {
        PagesWanted::Auto => "auto",
        PagesWanted::Transparent => "transparent",
        PagesWanted::Small => "small",
    }
}

pub(super) fn address(text: &str) -> Result<IpAddr, Expected> {
    text.trim().parse().map_err(|_| "expected an IPv4 or IPv6 address".to_owned())
}

pub(super) fn socket_address(text: &str) -> Result<SocketAddr, Expected> {
    let expected = "expected IP address and port, such as 10.0.0.1:6990, or none";
    match text.trim().parse::<SocketAddr>() {
        Ok(address) if address.port() != 0 => Ok(address),
        _ => Err(expected.to_owned()),
    }
}

pub(super) fn columns(text: &str) -> Result<Option<Vec<String>>, Expected> {
    if text.trim() == "all" {
        return Ok(None);
    }
    let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
    if names.iter().any(String::is_empty) {
        return Err("expected all, or column names with commas between".to_owned());
    }
    Ok(Some(names))
}

pub(super) fn path(text: &str, base: &Path) -> Result<PathBuf, Expected> {
    match text.trim() {
        "" => Err("expected a path".to_owned()),
        text => Ok(base.join(text)),
    }
}

pub(super) fn optional_path(path: Option<&Path>) -> String {
    path.map_or_else(|| "none".to_owned(), |path| path.display().to_string())
}

pub(super) fn node_name(text: &str) -> Result<String, Expected> {
    let text = text.trim();
    let plain = text.chars().all(|c| !c.is_control());
    if plain && (1..=NAME_BYTES_MAX).contains(&text.len()) {
        Ok(text.to_owned())
    } else {
        Err(format!("expected 1 to {NAME_BYTES_MAX} bytes without control characters"))
    }
}

pub(super) fn groups(text: &str) -> Result<Vec<IpAddr>, Expected> {
    let groups = value::list(text, |part| match address(part) {
        Ok(group) if group.is_multicast() => Ok(group),
        _ => Err(format!("expected multicast addresses, and {part:?} is none")),
    })?;
    if groups.len() > GROUPS_MAX {
        return Err(format!("expected at most {GROUPS_MAX} groups"));
    }
    Ok(groups)
}

pub(super) fn cores(text: &str) -> Result<Vec<usize>, Expected> {
    let cores = value::list(text, |part| value::number(part, 0..=CORE_MAX))?;
    if cores.len() > QUEUES_MAX {
        return Err(format!("expected at most {QUEUES_MAX} cores"));
    }
    for (i, core) in cores.iter().enumerate() {
        if cores.iter().take(i).any(|c| c == core) {
            return Err(format!("core {core} is named twice; each queue needs its own"));
        }
    }
    Ok(cores)
}

/// Highest core number that an affinity mask holds.
const CORE_MAX: usize = 1_023;

pub(super) fn schema(config: &mut Config, text: &str, base: &Path) -> Result<(), Expected> {
    let text = text.trim();
    if text == "packet" {
        config.schema = Schema::packet();
        config.schema_source = text.to_owned();
        return Ok(());
    }
    let path = path(text, base)?;
    let file = path.display();
    let content = read_text(&path, SCHEMA_TEXT_BYTES_MAX)
        .map_err(|e| format!("expected packet or a readable schema file; {file}: {e}"))?;
    let json = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
    let schema = if json { Schema::from_json(&content) } else { Schema::from_toml(&content) };
    config.schema = schema.map_err(|e| format!("{file}: {e}"))?;
    config.schema_source = path.display().to_string();
    Ok(())
}
