//! Rates of classic filters: counted where there is something to count, else shown by tests of
//! what a rate is made of.
//!
//! `counted` asks for items that are not there, of every shape of hashes, and holds the count
//! against the rate that random probes would have ([`classic::fpr`]) and against the one that was
//! asked for. At 1e-9 nothing is left to count, so that `tiny` looks at the probes themselves:
//! with a fill of f, those who pass probe j must be a share f of those who passed the ones before;
//! any two probes of an item must be independent; an item must touch as many distinct bits as
//! random probes do; and two items must not share more bits than chance has it.
//!
//! Plain double hashing, (lo + i hi) mod m, is held against the same tests and must fail them: it
//! is what the format of other systems has, and its floor is some n/m^2.
//!
//! | variable | meaning |
//! | --- | --- |
//! | `SEED` | seed, decimal |
//! | `RATES=full` | the whole grid, to 10^6 items and 10^7 questions a cell; for release builds |

mod counted;
mod independence;
mod rule;
mod seeded;
mod shapes;
mod tiny;

/// Whether the whole grid is asked for.
fn is_full() -> bool {
    std::env::var_os("RATES").is_some_and(|word| word == "full")
}
