//! Where the golden files are, and the keys that their generators made.

use std::path::PathBuf;

use serde_json::Value;

/// A folder of golden files, or a line that says that there are none.
pub(crate) fn folder(name: &str) -> Option<PathBuf> {
    let base = match std::env::var_os("BLOOMRF_DATA") {
        Some(path) => PathBuf::from(path),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    };
    let folder = base.join("../golden").join(name);
    if !folder.is_dir() {
        println!("skipped: no data");
        return None;
    }
    Some(folder)
}

/// The list that a JSON file holds, entry by entry.
pub(crate) fn entries(path: PathBuf) -> Vec<Value> {
    let text = std::fs::read(path).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// A number of an entry.
pub(crate) fn number(entry: &Value, field: &str) -> u64 {
    entry[field].as_u64().unwrap_or_else(|| panic!("{field} of {entry}"))
}

/// A text of an entry.
pub(crate) fn text<'a>(entry: &'a Value, field: &str) -> &'a str {
    entry[field].as_str().unwrap_or_else(|| panic!("{field} of {entry}"))
}

/// A list of numbers of an entry.
pub(crate) fn numbers(entry: &Value, field: &str) -> Vec<u64> {
    let list = entry[field].as_array().unwrap_or_else(|| panic!("{field} of {entry}"));
    list.iter().map(|number| number.as_u64().unwrap()).collect()
}

/// The bytes of hexadecimal digits.
pub(crate) fn hex(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// The key that most of the files hold.
pub(crate) fn key(i: u64) -> Vec<u8> {
    format!("key-{i}").into_bytes()
}

/// The `i`-th byte string.
pub(crate) fn bytes(i: u64) -> Vec<u8> {
    (0..i % 40).map(|j| (i * 31 + j * 7 + (i >> 3)) as u8).collect()
}
