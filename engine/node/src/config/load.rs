//! Merging: defaults, then the file, then the environment; then what only holds as a whole.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use super::keys::{FOREIGN, Key, NEED_DMS, keys};
use super::value::nearest;
use super::{Config, ConfigError, Sandbox};

/// Where a value came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// Nobody set it.
    #[default]
    Default,
    /// A TOML file.
    File {
        /// Path as given.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
    },
    /// An environment variable.
    Environment(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{} line {line}", path.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
        }
    }
}

/// One effective setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// TOML key.
    pub key: &'static str,
    /// Environment variable that would override it.
    pub env: &'static str,
    /// Effective value, as text that the file or the environment would accept.
    pub value: String,
    /// Unit, or kind of value.
    pub unit: &'static str,
    /// What is allowed, for people; bounds of numbers as `LOW..=HIGH`.
    pub limit: &'static str,
    /// Where it came from.
    pub origin: Origin,
}

/// Where every value of a [`Config`] came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// All settings, in the order of `deploy/node.toml`.
    pub settings: Vec<Setting>,
    /// Variables that were seen and do nothing here, each with the reason.
    pub notes: Vec<String>,
}

impl Config {
    /// Merges defaults, `file` and `env` (pairs of name and value, as [`std::env::vars_os`] gives
    /// them; only names that start with `FERMIHDI_` or `BLOOMRF_` are looked at). One error, naming
    /// key and place, or a complete and valid configuration.
    pub fn load(
        file: Option<&Path>,
        env: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<(Self, Provenance), ConfigError> {
        // A node that is configured from outside is a process of its own.
        let config = Config { sandbox: Sandbox::Try, ..Config::default() };
        let mut draft = Draft { config, origins: BTreeMap::new() };
        if let Some(path) = file {
            let source = |source| ConfigError::File { path: path.to_owned(), source };
            let text = read_text(path, CONFIG_TEXT_BYTES_MAX).map_err(source)?;
            draft.apply_file(path, &text)?;
        }
        let notes = draft.apply_environment(own_variables(env)?)?;
        draft.check_whole()?;
        Ok(draft.finish(notes))
    }
}

pub(super) struct Draft {
    pub(super) config: Config,
    origins: BTreeMap<&'static str, (Origin, String)>,
}

impl Draft {
    fn apply_file(&mut self, path: &Path, text: &str) -> Result<(), ConfigError> {
        let table = DeTable::parse(text).map_err(|e| ConfigError::Syntax {
            path: path.to_owned(),
            line: e.span().map_or(1, |span| line_of(text, span.start)),
            message: e.message().to_owned(),
        })?;
        let base = path.parent().unwrap_or(Path::new(""));
        for (name, value) in table.into_inner() {
            let line = line_of(text, name.span().start);
            let origin = Origin::File { path: path.to_owned(), line };
            let name = name.into_inner();
            let Some(key) = keys().find(|key| key.name == name) else {
                let hint = hint(nearest(&name, keys().map(|key| key.name)));
                let (key, origin) = (name.into_owned(), origin.to_string());
                return Err(ConfigError::Unknown { key, origin, hint });
            };
            let plain = plain_text(value.get_ref()).ok_or_else(|| ConfigError::Value {
                key: key.name.to_owned(),
                value: text.get(value.span()).unwrap_or_default().to_owned(),
                origin: origin.to_string(),
                expected: format!("expected a number, a text or a list of them ({})", key.limit),
            })?;
            self.apply(key, plain, origin, base)?;
        }
        Ok(())
    }

    fn apply_environment(
        &mut self,
        env: BTreeMap<String, String>,
    ) -> Result<Vec<String>, ConfigError> {
        let mut notes = Vec::new();
        for (name, value) in env {
            if let Some(key) = keys().find(|key| key.env == name) {
                self.apply(key, value, Origin::Environment(key.env), Path::new(""))?;
            } else if let Some(&variable) = NEED_DMS.iter().find(|&&n| n == name) {
                if !value.is_empty() {
                    return Err(ConfigError::NotSupported { variable });
                }
            } else if let Some(foreign) = FOREIGN.iter().find(|f| f.env == name) {
                notes.push(format!("{name}: {}", foreign.note));
            } else if name.starts_with("BLOOMRF_") || name.starts_with("FERMIHDI_BLOOMRF_") {
                let hint = hint(nearest(&name, keys().map(|key| key.env)));
                let origin = "environment".to_owned();
                return Err(ConfigError::Unknown { key: name, origin, hint });
            }
        }
        Ok(notes)
    }

    fn apply(
        &mut self,
        key: &Key,
        value: String,
        origin: Origin,
        base: &Path,
    ) -> Result<(), ConfigError> {
        if let Err(expected) = (key.apply)(&mut self.config, &value, base) {
            let (key, origin) = (key.name.to_owned(), origin.to_string());
            return Err(ConfigError::Value { key, value, origin, expected });
        }
        self.origins.insert(key.name, (origin, value));
        Ok(())
    }

    pub(super) fn refuse(&self, key: &'static str, expected: String) -> ConfigError {
        let unset = (Origin::Default, String::new());
        let (origin, value) = self.origins.get(key).unwrap_or(&unset);
        let value = match (origin, keys().find(|k| k.name == key)) {
            (Origin::Default, Some(key)) => (key.show)(&self.config),
            _ => value.clone(),
        };
        ConfigError::Value { key: key.to_owned(), value, origin: origin.to_string(), expected }
    }

    fn finish(self, notes: Vec<String>) -> (Config, Provenance) {
        let setting = |key: &Key| Setting {
            key: key.name,
            env: key.env,
            value: (key.show)(&self.config),
            unit: key.unit,
            limit: key.limit,
            origin: self.origins.get(key.name).map_or(Origin::Default, |(o, _)| o.clone()),
        };
        let settings = keys().map(setting).collect();
        (self.config, Provenance { settings, notes })
    }
}

/// The variables that are ours, in order of name. Others may hold any bytes.
fn own_variables(
    env: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<BTreeMap<String, String>, ConfigError> {
    let mut own = BTreeMap::new();
    for (name, value) in env {
        let name = name.to_string_lossy();
        if !name.starts_with("FERMIHDI_") && !name.starts_with("BLOOMRF_") {
            continue;
        }
        // Not repeated: it may be a secret.
        let value = value.into_string().map_err(|_| ConfigError::Value {
            key: name.to_string(),
            value: "(bytes)".to_owned(),
            origin: "environment".to_owned(),
            expected: "expected UTF-8".to_owned(),
        })?;
        own.insert(name.into_owned(), value);
    }
    Ok(own)
}

/// A text file of at most `bytes_max` bytes. A longer one, or one without end, is not read on.
pub(super) fn read_text(path: &Path, bytes_max: usize) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > bytes_max {
        return Err(io::Error::other(format!("longer than {bytes_max} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("not UTF-8"))
}

/// Longest configuration file, bytes.
const CONFIG_TEXT_BYTES_MAX: usize = 1 << 20;

pub(super) fn hint(near: Option<&str>) -> String {
    match near {
        Some(name) => format!("; did you mean {name}?"),
        None => "; `bloomrf node check-config --json` lists all, with their variables".to_owned(),
    }
}

/// Line of a byte offset, from 1.
fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|&b| b == b'\n').count() + 1
}

/// Numbers, texts, and lists of them, as the text that an environment variable would hold.
fn plain_text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str().to_owned()),
        DeValue::Array(values) => {
            let parts = values.iter().map(|v| match v.get_ref() {
                DeValue::Array(_) => None,
                DeValue::String(text) if text.contains(',') => None,
                value => plain_text(value),
            });
            Some(parts.collect::<Option<Vec<_>>>()?.join(","))
        }
        _ => None,
    }
}
