//! Running the binary, and finding captures.

use std::io::{BufRead, BufReader, Lines};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Output, Stdio};

use serde_json::Value;

/// The binary, with a lookup budget that a busy machine keeps.
pub(crate) fn bloomrf() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bloomrf"));
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("FERMIHDI_") || name.starts_with("BLOOMRF_") || name == "RUST_LOG" {
            command.env_remove(name.as_ref());
        }
    }
    command.env("FERMIHDI_BLOOMRF_TIMEOUT_MS", "5000").stdin(Stdio::null());
    command
}

/// Runs to the end.
pub(crate) fn run(arguments: &[&str]) -> Output {
    bloomrf().args(arguments).output().expect("the binary runs")
}

/// Exit code.
pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().expect("it was not killed")
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs a demo with `--json`; the code and the object.
pub(crate) fn demo_json(arguments: &[&str]) -> (i32, Value) {
    let output = bloomrf().args(["demo", "--json"]).args(arguments).output().expect("it runs");
    let value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{arguments:?}: {e}: {}", stderr(&output)));
    (code(&output), value)
}

/// A number in a JSON object, by path.
pub(crate) fn number(value: &Value, path: &[&str]) -> f64 {
    let mut at = value;
    for key in path {
        at = &at[key];
    }
    at.as_f64().unwrap_or_else(|| panic!("no number at {path:?} in {value}"))
}

/// The folder of captures, if there is one.
pub(crate) fn data() -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder =
        std::env::var_os("BLOOMRF_DATA").map_or_else(|| root.join("../shared/data"), PathBuf::from);
    if folder.join("packets").is_dir() {
        return Some(folder);
    }
    println!("skipped: no data");
    None
}

/// A demo that was left running with `--keep`.
pub(crate) struct Kept {
    child: Child,
    /// Kept open: the child goes on writing.
    _stderr: Lines<BufReader<ChildStderr>>,
    /// Lookup address.
    pub(crate) lookup: String,
    /// HTTP address.
    pub(crate) http: String,
    /// Cluster id.
    pub(crate) cluster: String,
}

impl Kept {
    /// Starts it and waits for its ports.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut child = bloomrf()
            .args(["demo", "--json", "--keep"])
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let example = lines
            .by_ref()
            .map_while(Result::ok)
            .find(|line| line.contains("bloomrf lookup --node"))
            .expect("it prints commands to try");
        let word = |after: &str| -> String {
            let mut words = example.split_whitespace().skip_while(|w| *w != after);
            words.nth(1).expect("an argument").to_owned()
        };
        let (lookup, http) = (word("--node"), word("--http"));
        let cluster = word("--cluster");
        Kept { child, _stderr: lines, lookup, http, cluster }
    }

    /// A page as JSON.
    pub(crate) fn page(&self, path: &str) -> Value {
        let mut response = ureq::get(format!("http://{}{path}", self.http)).call().expect("HTTP");
        let body = response.body_mut().read_to_string().expect("a body");
        serde_json::from_str(&body).expect("JSON")
    }

    /// Ctrl-C; the exit code.
    pub(crate) fn interrupt(mut self) -> i32 {
        let pid = self.child.id().to_string();
        let status = Command::new("kill").args(["-INT", &pid]).status().expect("kill runs");
        assert!(status.success());
        let status = self.child.wait().expect("it ends");
        status.code().expect("it ends by itself")
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // After a failed assertion; an ended child is no error.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
