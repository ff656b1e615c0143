//! Every capture at hand: exit code 0 and no false negative. Bounded to about two minutes.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::binary::{data, demo_json, number};

#[test]
fn no_capture_causes_a_false_negative() {
    let Some(folder) = data() else { return };
    let mut files: Vec<(u64, PathBuf)> = ["ugly", "packets"]
        .iter()
        .flat_map(|part| std::fs::read_dir(folder.join(part)).expect("a folder"))
        .map(|entry| entry.expect("an entry"))
        .map(|entry| (entry.metadata().map_or(0, |m| m.len()), entry.path()))
        .collect();
    // The smallest first: the time limit then costs few of them.
    files.sort();
    let started = Instant::now();
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while started.elapsed() < LIMIT {
                    let Some((_, path)) = files.get(next.fetch_add(1, Ordering::Relaxed)) else {
                        return;
                    };
                    if let Some(complaint) = complaint(path) {
                        wrong.lock().expect("no panic").push(complaint);
                    }
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    let done = done.into_inner();
    println!("{done} of {} captures in {:.0?}", files.len(), started.elapsed());
    let wrong = wrong.into_inner().expect("no panic");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(done >= files.len() / 2, "only {done} of {} captures were reached", files.len());
}

/// What is wrong with a capture's demo, if anything is.
fn complaint(path: &std::path::Path) -> Option<String> {
    let name = path.to_str()?;
    let (code, report) = demo_json(&["--pcap", name, "--questions", "40"]);
    let negatives = number(&report, &["totals", "false_negatives"]);
    let batches = number(&report, &["totals", "batches"]);
    let verified = number(&report, &["verified"]);
    (code != 0 || negatives != 0.0 || verified != batches).then(|| {
        format!("{name}: code {code}, {negatives} false negatives, {verified}/{batches} verified")
    })
}

/// Most of a demo is waiting.
const THREADS: usize = 3;
const LIMIT: Duration = Duration::from_secs(110);
