//! What a record says about the machine and the moment: numbers without it mean nothing.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A name of this CPU that a folder can have, e.g. `amd-epyc-family-25-model-17`.
pub(crate) fn cpu_slug() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = text.lines().find(|line| line.split(':').next().map(str::trim) == Some(name));
        line.and_then(|line| line.split(':').nth(1)).map(|value| value.trim().to_owned())
    };
    let name = match (field("model name"), field("cpu family"), field("model")) {
        (Some(name), Some(family), Some(model)) => format!("{name} family {family} model {model}"),
        (Some(name), ..) => name,
        _ => std::env::consts::ARCH.to_owned(),
    };
    slug(&name)
}

/// Letters and digits in lower case, everything else one hyphen.
fn slug(name: &str) -> String {
    let spaced: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { ' ' }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join("-").to_lowercase()
}

/// Today, UTC, as `YYYY-MM-DD`.
pub(crate) fn date() -> String {
    output("date", &["-u", "+%F"]).unwrap_or_else(|| "undated".to_owned())
}

/// The commit of the tree at `root`, `-dirty` behind it where files differ.
pub(crate) fn commit(root: &Path) -> String {
    let path = root.display().to_string();
    let described = output("git", &["-C", &path, "describe", "--always", "--dirty", "--tags"]);
    described.unwrap_or_else(|| "not known".to_owned())
}

/// The text beside a record: command, commit, machine, load.
pub(crate) fn describe(root: &Path, command: &str) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: Option<String>| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name}: {}", value.unwrap_or_else(|| "not known".to_owned()));
    };
    line("command", Some(command.to_owned()));
    line("date", output("date", &["-u", "+%F %H:%M UTC"]));
    line("commit", Some(commit(root)));
    line("rustc", output("rustc", &["-vV"]).map(|text| text.replace('\n', "; ")));
    line("uname", output("uname", &["-srvm"]));
    line("load before", load());
    let pages = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").ok();
    line("transparent huge pages", pages.map(|text| text.trim().to_owned()));
    let reserved = fs::read_to_string("/proc/sys/vm/nr_hugepages").ok();
    line("reserved huge pages", reserved.map(|text| text.trim().to_owned()));
    let cpu = output("lscpu", &[]).unwrap_or_default();
    for wanted in ["Model name", "CPU family", "Model", "CPU(s)", "Hypervisor vendor"] {
        cpu.lines().filter(|l| named(l, wanted)).for_each(|l| line("lscpu", Some(squeezed(l))));
    }
    let caches = cpu.lines().filter(|l| l.contains(" cache:") || l.starts_with("Flags:"));
    caches.for_each(|l| line("lscpu", Some(squeezed(l))));
    text
}

/// Load averages of 1, 5 and 15 minutes.
pub(crate) fn load() -> Option<String> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    Some(text.split_whitespace().take(3).collect::<Vec<_>>().join(" "))
}

fn named(line: &str, name: &str) -> bool {
    line.split(':').next().map(str::trim) == Some(name)
}

fn squeezed(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn output(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn a_slug_is_fit_for_a_folder() {
        assert_eq!(slug("Intel(R) Xeon(R) CPU @ 2.10GHz"), "intel-r-xeon-r-cpu-2-10ghz");
        assert_eq!(slug("AMD EPYC family 25 model 17"), "amd-epyc-family-25-model-17");
    }
}
