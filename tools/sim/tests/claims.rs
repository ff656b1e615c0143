//! What the simulation itself is held to: it repeats itself, gets somewhere, finds planted bugs,
//! and rerun seeds stay right.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use bloomrf_sim::{Canary, Faults, Plan, Tally, regressions, run_crash, run_seed};

const PLAN: Plan = Plan { faults: Faults::All, steps: 4_000, canary: None };

/// The seed to begin with: from `SEED` if set.
fn first_seed() -> u64 {
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    println!("SEED={seed}");
    seed
}

#[test]
fn seeds_that_once_failed_stay_right() {
    for kept in regressions() {
        let plan = |faults| Plan { faults, steps: kept.steps, canary: None };
        let ended = match kept.command.as_str() {
            "run" => run_seed(kept.seed, &plan(Faults::All)),
            "links" => run_seed(kept.seed, &plan(Faults::Links)),
            "power" => run_crash(kept.seed, None),
            other => panic!("regressions.txt: no such command: {other}"),
        };
        assert!(ended.is_ok(), "{kept:?}: {}", ended.unwrap_err());
    }
}

#[test]
fn the_same_seed_gives_the_same_events() {
    let seed = first_seed();
    let [one, two] = [(); 2].map(|()| run_seed(seed, &PLAN).unwrap());
    assert_eq!((one.digest, one.events), (two.digest, two.events));
    let other = run_seed(seed + 1, &PLAN).unwrap();
    assert_ne!(one.digest, other.digest);
}

#[test]
fn a_few_seeds_hold_and_reach_everything() {
    let mut tally = Tally::default();
    for seed in first_seed()..first_seed() + 24 {
        match run_seed(seed, &PLAN) {
            Ok(report) => tally.merge(&report.tally),
            Err(failure) => panic!("SEED={seed} failed {failure}"),
        }
    }
    println!("{tally}");
    let reached = [
        "verified",
        "mismatch",
        "unknown",
        "deleted",
        "evicted",
        "incomplete",
        "store steps",
        "kills",
        "power cuts",
        "cuts in a step",
        "written",
        "removed",
        "recovered",
        "safe files",
        "scrubbed",
        "rotten",
        "disk failed",
        "schema changes",
        "excluded by zone map",
        "excluded by filter",
        "timed out",
        "asked malformed",
        "used in the calm",
        "sealed after forgery",
        "explained",
        "most sliced",
        "files in the calm",
    ];
    for what in reached {
        assert!(tally.of(what) > 0, "no seed had anything of this kind: {what}");
    }
}

#[test]
fn links_alone_lose_nothing_uncounted() {
    let plan = Plan { faults: Faults::Links, ..PLAN };
    for seed in first_seed()..first_seed() + 6 {
        if let Err(failure) = run_seed(seed, &plan) {
            panic!("SEED={seed} failed {failure}");
        }
    }
}

#[test]
fn crashes_leave_whole_files_or_none() {
    for seed in first_seed()..first_seed() + 400 {
        if let Err(failure) = run_crash(seed, None) {
            panic!("SEED={seed} failed {failure}");
        }
    }
}

/// The first seed of so many that finds a planted bug.
fn found(canary: Canary, seeds: u64) -> Option<String> {
    let plan = Plan { canary: Some(canary), steps: 6_000, ..PLAN };
    let failure = (1..=seeds).find_map(|seed| run_seed(seed, &plan).err());
    failure.map(|failure| failure.to_string())
}

#[test]
fn planted_bugs_are_found() {
    for (canary, name) in Canary::ALL {
        let failure = found(canary, 80);
        println!("{name}: {failure:?}");
        assert!(failure.is_some(), "80 seeds do not find {name}");
    }
}

#[test]
fn bugs_of_writing_are_found_by_crashes() {
    for canary in [Canary::RenameBeforeSync, Canary::FolderUnsynced] {
        let failure = (1..=300).find_map(|seed| run_crash(seed, Some(canary)).err());
        assert!(failure.is_some(), "300 crashes do not find {canary}");
    }
}
