//! Runs every model and every weakened one, each in a process of its own (a failure may abort it),
//! and prints the line of the campaign's table. `--deep` allows one preemption more.

use std::env;
use std::io;
use std::process::{Command, ExitCode};
use std::time::Instant;

use bloomrf_models::all;

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    if let [one, model, case, preemptions] = &args[..]
        && one == "--one"
    {
        return run_one(model, case, preemptions);
    }
    let preemptions = match args.first().map(String::as_str) {
        None => PREEMPTIONS,
        Some("--deep") => PREEMPTIONS + 1,
        Some("--shallow") => PREEMPTIONS - 1,
        Some(other) => {
            eprintln!("unknown argument {other}: there are --deep, --shallow, and none");
            return ExitCode::from(2);
        }
    };
    match run_all(preemptions) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("a model could not be started: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs all; the number of those that did not end as they must.
fn run_all(preemptions: usize) -> io::Result<u32> {
    let (mut count, mut failures) = (0_u32, 0_u32);
    for (at, model) in all().iter().enumerate() {
        for (case, (weak, must_hold)) in model.cases().into_iter().enumerate() {
            let began = Instant::now();
            let found = failure_of(at, case, preemptions)?;
            let is_right = found.is_none() == must_hold;
            count += 1;
            failures += u32::from(!is_right);
            let weak = weak.map_or_else(String::new, |order| format!(" without {order:?}"));
            let found = found.map_or_else(|| "holds".into(), |why| format!("fails ({why})"));
            let seconds = began.elapsed().as_secs_f64();
            let verdict = if is_right { "as it must" } else { "WRONG" };
            eprintln!("{}{weak}: {found}, {verdict}; {seconds:.2} s", model.claim);
            if !is_right {
                eprintln!("to repeat: bloomrf-models --one {at} {case} {preemptions}");
            }
        }
    }
    println!(
        "campaign row=8 count={count} unit=models failures={failures} note=up to {preemptions} \
         preemptions"
    );
    Ok(failures)
}

/// Runs one case in a process of its own; what loom found, if it found anything.
fn failure_of(model: usize, case: usize, preemptions: usize) -> io::Result<Option<String>> {
    let numbers = [model, case, preemptions].map(|number| number.to_string());
    let mut command = Command::new(env::current_exe()?);
    let output = command.arg("--one").args(numbers).env("RUST_BACKTRACE", "0").output()?;
    if output.status.success() {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&output.stderr);
    // The line below the first "panicked at".
    let why = text.lines().skip_while(|line| !line.contains("panicked at")).nth(1);
    Ok(Some(why.unwrap_or("it ended without a word").to_owned()))
}

fn run_one(model: &str, case: &str, preemptions: &str) -> ExitCode {
    let number = |text: &str| text.parse::<usize>().unwrap_or(usize::MAX);
    let models = all();
    let Some(model) = models.get(number(model)) else { return ExitCode::from(2) };
    let Some((weak, _)) = model.cases().get(number(case)).copied() else {
        return ExitCode::from(2);
    };
    model.check(weak, number(preemptions));
    ExitCode::SUCCESS
}

/// Of the campaign. Every fault that is planted shows with two.
const PREEMPTIONS: usize = 3;
