//! What is asked of a run: seed, cases, operations, from the environment.

use std::time::Duration;

/// What to do.
pub(crate) struct Order {
    pub(crate) seed: u64,
    pub(crate) cases: u64,
    pub(crate) only: String,
    pub(crate) visit: Option<u64>,
    pub(crate) time_max: Option<Duration>,
}

/// Seed of a run that asks for none.
const SEED: u64 = 0x00B1_00F2;

/// Cases of a run that asks for no number: those of CI.
const CASES: u64 = 10_000_000;

impl Order {
    pub(crate) fn from_env() -> Self {
        let order = Order {
            seed: number("SEED").unwrap_or(SEED),
            cases: number("CASES").unwrap_or(CASES),
            only: std::env::var("ONLY").unwrap_or_default(),
            visit: number("VISIT"),
            time_max: number("SECONDS").map(Duration::from_secs),
        };
        println!("SEED={} CASES={} ONLY={}", order.seed, order.cases, order.only);
        order
    }
}

/// A number: decimal, or like `1e10`.
fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    let parsed =
        match text.split_once(['e', 'E']) {
            None => text.parse().ok(),
            Some((digits, power)) => digits.parse().ok().zip(power.parse().ok()).and_then(
                |(digits, power): (u64, u32)| digits.checked_mul(10u64.checked_pow(power)?),
            ),
        };
    assert!(parsed.is_some(), "{variable}={text}: expected a number like 10000000 or 1e7");
    parsed
}
