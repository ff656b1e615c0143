//! `bloomrf filter query`: `maybe` or `no` before each item.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use bloomrf_filter::file::StoredFilter;
use serde_json::json;

use super::args::QueryArgs;
use super::{expiry, items, open};
use crate::outcome::{CommandError, Outcome, print};

pub(super) fn run(args: &QueryArgs) -> Outcome {
    let stored = open(&args.filter)?;
    check_expiry(args, &stored)?;
    let quiet = args.count || args.json;
    let (mut maybe, mut no) = (0_u64, 0_u64);
    let mut out = Vec::new();
    let mut ask = |item: &[u8], place: &dyn Fn() -> String| -> Result<(), CommandError> {
        let found = stored.contains(&items::encoded(stored.encoding, item, place)?);
        *(if found { &mut maybe } else { &mut no }) += 1;
        if !quiet {
            let answer = if found { "maybe" } else { "no" };
            let _ = writeln!(out, "{answer}\t{}", String::from_utf8_lossy(item));
            if out.len() > 1 << 16 {
                print(&String::from_utf8_lossy(&out))?;
                out.clear();
            }
        }
        Ok(())
    };
    if args.item.is_empty() {
        let name = args.from.input.display().to_string();
        items::read(&args.from, true, &mut |item, line| {
            ask(item, &|| format!("{name}, line {line}"))
        })?;
    } else {
        for item in &args.item {
            ask(item.as_bytes(), &|| format!("--item {item:?}"))?;
        }
    }
    print(&String::from_utf8_lossy(&out))?;
    if args.json {
        let object = json!({ "format": 1, "asked": maybe + no, "maybe": maybe, "no": no });
        print(&format!("{object:#}\n"))?;
    } else if args.count {
        print(&format!("{maybe} maybe, {no} no\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Past its time a filter lacks what came since: a *no* of it would be wrong.
fn check_expiry(args: &QueryArgs, stored: &StoredFilter) -> Result<(), CommandError> {
    let Some(at) = expiry(&stored.labels).filter(|_| !args.expired) else { return Ok(()) };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    if now < at {
        return Ok(());
    }
    Err(CommandError::failed(format!(
        "{}: expired {} seconds ago: build it anew, or ask all the same with --expired",
        args.filter.display(),
        now - at
    )))
}
