//! One program of a row: started, its lines read, its count compared.
//!
//! A program prints `campaign row=N count=N unit=WORD failures=N [note=TEXT]`, one or more times.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use super::rows::{Part, Program};
use super::{Size, kernels};
use crate::run::root;

/// What came of a part.
pub(super) struct Outcome {
    pub(super) unit: &'static str,
    pub(super) count: u64,
    pub(super) least: u64,
    pub(super) failures: u64,
    pub(super) seconds: f64,
    pub(super) notes: Vec<String>,
    pub(super) command: String,
    pub(super) state: State,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    Passed,
    /// Fewer than asked for.
    Below,
    /// With the last lines of its output.
    Failed(String),
    /// Could not run here: why.
    Missing(String),
}

/// What a program's output says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Said {
    lines: u64,
    count: u64,
    failures: u64,
    notes: Vec<String>,
}

pub(super) fn run(number: u8, part: &Part, size: Size) -> Outcome {
    let (least, args) = match size {
        Size::Quick => (part.quick, part.quick_args),
        Size::Full(times) => (part.full.saturating_mul(times), part.full_args),
    };
    let args: Vec<String> = args.iter().map(|arg| arg.replace("{n}", &least.to_string())).collect();
    let mut outcome = Outcome {
        unit: part.unit,
        count: 0,
        least,
        failures: 0,
        seconds: 0.0,
        notes: Vec::new(),
        command: String::new(),
        state: State::Passed,
    };
    let mut command = match command(&part.program, &args) {
        Ok(command) => command,
        Err(why) => {
            outcome.state = State::Missing(why);
            return outcome;
        }
    };
    outcome.command = shown(&command);
    let started = Instant::now();
    let log = root().join(format!("target/campaign-logs/row-{number:02}-{}.log", part.unit));
    let ran = output_of(&mut command, &log);
    outcome.seconds = started.elapsed().as_secs_f64();
    let (succeeded, text) = match ran {
        Ok(ran) => ran,
        Err(why) => {
            outcome.state = State::Failed(why);
            return outcome;
        }
    };
    let said = read(&text, number);
    outcome.count = said.count;
    outcome.failures = said.failures;
    outcome.notes = said.notes;
    if matches!(part.program, Program::KernelsAsan) {
        outcome.count = tests_passed(&text);
    }
    outcome.state = judge(succeeded, &outcome, said.lines, &text);
    outcome
}

fn judge(succeeded: bool, outcome: &Outcome, lines: u64, text: &str) -> State {
    if !succeeded || outcome.failures > 0 {
        let tail: Vec<&str> = text.lines().rev().take(TAIL_LINES).collect();
        return State::Failed(tail.into_iter().rev().collect::<Vec<_>>().join("\n"));
    }
    // A program of which only one case cannot run here says so beside the count of the others.
    let missing = outcome.notes.iter().find_map(|note| note.strip_prefix("missing: "));
    if let Some(why) = missing.filter(|_| outcome.count == 0) {
        return State::Missing(why.to_owned());
    }
    if outcome.count < outcome.least || (lines == 0 && outcome.count == 0) {
        return State::Below;
    }
    State::Passed
}

/// The binary of a part, where it has one: (package, binary).
pub(super) fn binary(program: &Program) -> Option<(&'static str, &'static str)> {
    match program {
        Program::Binary(name) => Some((name, name)),
        Program::BinaryOf(package, name) => Some((package, name)),
        _ => None,
    }
}

fn command(program: &Program, args: &[String]) -> Result<Command, String> {
    let cases = args.first().map(String::as_str).unwrap_or_default();
    match program {
        Program::Missing(why) => Err((*why).to_owned()),
        Program::KernelsAsan => {
            kernels::assert_asan()?;
            Ok(xtask(&["campaign", "kernels", "--asan", "--cases", cases]))
        }
        Program::Kernels => Ok(xtask(&["campaign", "kernels", "--cases", cases])),
        Program::Binary(_) | Program::BinaryOf(..) => {
            let name = binary(program).map_or("", |(_, name)| name);
            let mut command = Command::new(folder()?.join(name));
            command.args(args);
            Ok(command)
        }
    }
}

fn xtask(args: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.arg("xtask").args(args);
    command
}

/// Where the profile `campaign` is built.
fn folder() -> Result<PathBuf, String> {
    let target = crate::run::metadata()?.target_directory;
    Ok(target.into_std_path_buf().join("campaign"))
}

/// Runs it with its output in a file, so that a killed campaign leaves what there was.
fn output_of(command: &mut Command, log: &Path) -> Result<(bool, String), String> {
    let fail = |what: &str, reason: std::io::Error| format!("{what}: {reason}");
    if let Some(folder) = log.parent() {
        fs::create_dir_all(folder).map_err(|e| fail(&folder.display().to_string(), e))?;
    }
    let file = File::create(log).map_err(|e| fail(&log.display().to_string(), e))?;
    let errors = file.try_clone().map_err(|e| fail(&log.display().to_string(), e))?;
    let status = command
        .current_dir(root())
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(errors)
        .status()
        .map_err(|e| fail(&shown(command), e))?;
    let bytes = fs::read(log).map_err(|e| fail(&log.display().to_string(), e))?;
    Ok((status.success(), String::from_utf8_lossy(&bytes).into_owned()))
}

/// The command as one would type it, without folders of this machine.
fn shown(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(name).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

fn read(text: &str, number: u8) -> Said {
    let mut said = Said::default();
    let prefix = format!("campaign row={number} ");
    for line in text.lines().filter_map(|line| line.trim().strip_prefix(&prefix)) {
        let (fields, note) = line.split_once("note=").unwrap_or((line, ""));
        let field = |name: &str| {
            let value = fields.split_whitespace().find_map(|word| word.strip_prefix(name));
            value.and_then(|value| value.parse::<u64>().ok())
        };
        said.lines += 1;
        said.count += field("count=").unwrap_or(0);
        // A line that cannot be read is no success.
        said.failures += field("failures=").unwrap_or(1);
        if !note.is_empty() {
            said.notes.push(note.trim().to_owned());
        }
    }
    said
}

/// Tests that cargo reports as passed.
fn tests_passed(text: &str) -> u64 {
    let passed = |line: &str| {
        let rest = line.trim().strip_prefix("test result: ok. ")?;
        rest.split(' ').next()?.parse::<u64>().ok()
    };
    text.lines().filter_map(passed).sum()
}

/// Lines of a failed program's output that are shown.
const TAIL_LINES: usize = 25;

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(count: u64, failures: u64, notes: &[&str]) -> Outcome {
        Outcome {
            unit: "cases",
            count,
            least: 10,
            failures,
            seconds: 0.0,
            notes: notes.iter().map(|&note| note.to_owned()).collect(),
            command: String::new(),
            state: State::Passed,
        }
    }

    #[test]
    fn lines_of_the_row_add_up_and_others_do_not_count() {
        let text = "noise\ncampaign row=5 count=7 unit=damages failures=0\n\
                    campaign row=55 count=9 unit=x failures=9\n\
                    campaign row=5 count=3 unit=damages failures=1 note=seed 4 = bad\n";
        let notes = vec!["seed 4 = bad".to_owned()];
        assert_eq!(read(text, 5), Said { lines: 2, count: 10, failures: 1, notes });
        assert_eq!(read("campaign row=5 count=many", 5).failures, 1, "unreadable is no success");
    }

    #[test]
    fn only_enough_cases_without_a_failure_pass() {
        assert_eq!(judge(true, &outcome(10, 0, &[]), 1, ""), State::Passed);
        assert_eq!(judge(true, &outcome(9, 0, &[]), 1, ""), State::Below);
        assert!(matches!(judge(true, &outcome(10, 1, &[]), 1, ""), State::Failed(_)));
        assert!(matches!(judge(false, &outcome(10, 0, &[]), 1, ""), State::Failed(_)));
        let missing = outcome(0, 0, &["missing: no strace"]);
        assert_eq!(judge(true, &missing, 1, ""), State::Missing("no strace".to_owned()));
        assert_eq!(judge(true, &outcome(10, 0, &["missing: no mount"]), 1, ""), State::Passed);
        assert_eq!(judge(true, &outcome(9, 0, &["missing: no mount"]), 1, ""), State::Below);
    }

    #[test]
    fn passed_tests_are_counted_over_all_binaries() {
        let text = "test result: ok. 12 passed; 0 failed\ntest result: ok. 3 passed; 0 failed";
        assert_eq!(tests_passed(text), 15);
    }
}
