//! What `bloomrf node check-config` prints: every effective value and where it came from.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::{Config, ConfigError, Provenance};

/// Loads as a node would and renders the result, as JSON or as text with one setting per line.
pub fn check_config(
    file: Option<&Path>,
    env: impl IntoIterator<Item = (OsString, OsString)>,
    as_json: bool,
) -> Result<String, ConfigError> {
    let (_, provenance) = Config::load(file, env)?;
    if as_json {
        return Ok(format!("{:#}\n", provenance.to_json()));
    }
    Ok(provenance.to_text())
}

impl Provenance {
    /// One line per setting: key, value, origin. Notes follow.
    #[must_use]
    pub fn to_text(&self) -> String {
        let width = |f: fn(&super::Setting) -> usize| self.settings.iter().map(f).max();
        let keys = width(|s| s.key.len()).unwrap_or(0);
        let values = width(|s| s.value.len()).unwrap_or(0).min(VALUE_WIDTH_MAX);
        let mut text = String::new();
        for setting in &self.settings {
            let (key, origin) = (setting.key, &setting.origin);
            let value = if setting.value.is_empty() { "(empty)" } else { &setting.value };
            let _ = writeln!(text, "{key:keys$}  {value:values$}  # {origin}");
        }
        for note in &self.notes {
            let _ = writeln!(text, "note: {note}");
        }
        text
    }

    /// `{"settings": [{"key", "env", "value", "unit", "limit", "origin"}], "notes": [..]}`
    #[must_use]
    pub fn to_json(&self) -> Value {
        let settings: Vec<Value> = self
            .settings
            .iter()
            .map(|s| {
                json!({
                    "key": s.key,
                    "env": s.env,
                    "value": s.value,
                    "unit": s.unit,
                    "limit": s.limit,
                    "origin": s.origin.to_string(),
                })
            })
            .collect();
        json!({ "settings": settings, "notes": self.notes })
    }
}

/// Column width of values in the text form, characters.
const VALUE_WIDTH_MAX: usize = 34;
