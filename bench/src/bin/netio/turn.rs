//! Everything that is compared takes its turns in one run: round after round, in shuffled order.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bloomrf_bench::Splitmix;
use bloomrf_bench::rounds::{Row, Samples, Timing, shuffle};

use crate::cores::Pinned;

/// Somebody who takes turns.
pub(crate) trait Turn {
    /// On what it is compared, and who it is.
    fn name(&self) -> (&str, &str);

    /// Receives for about so long.
    ///
    /// # Errors
    /// It takes no more turns.
    fn turn(&mut self, length: Duration) -> Result<Count, String>;

    /// Whether the calling thread is to be on the receiving core; else it may be anywhere.
    fn is_pinned(&self) -> bool {
        true
    }
}

/// How turns are taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Rounds that count.
    pub(crate) rounds: usize,
    /// Of a turn.
    pub(crate) length: Duration,
    /// Receives.
    pub(crate) core: usize,
}

/// What came of a turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct Count {
    /// Packets, or records, received.
    pub(crate) packets: u64,
    /// Those that were sent; 0: not known.
    pub(crate) sent: u64,
    /// CPU time of the receiving thread, ns.
    pub(crate) thread_ns: u64,
    /// What the whole receiving core worked meanwhile, ns, for whomever.
    pub(crate) core_ns: Option<u64>,
    /// CPU time of the sending thread, ns.
    pub(crate) sender_ns: Option<u64>,
    /// Ticks by stage.
    pub(crate) stages: Vec<(String, u64)>,
}

/// One's turns.
pub(crate) struct Series {
    /// On what it is compared.
    pub(crate) case: String,
    /// Who.
    pub(crate) variant: String,
    counts: Vec<Count>,
}

/// Lets all take their turns; who fails twice in a row drops out, with a line.
pub(crate) fn run(
    turns: &mut [Box<dyn Turn>],
    plan: Plan,
    stopped: &AtomicBool,
) -> Result<(Vec<Series>, Vec<String>), String> {
    let Plan { rounds, length, core } = plan;
    let named = |turn: &dyn Turn| {
        let (case, variant) = turn.name();
        Series { case: case.to_owned(), variant: variant.to_owned(), counts: Vec::new() }
    };
    let mut series: Vec<Series> = turns.iter().map(|turn| named(&**turn)).collect();
    let mut failures: Vec<Option<String>> = vec![None; turns.len()];
    let mut order: Vec<usize> = (0..turns.len()).collect();
    let mut random = Splitmix::new(rounds as u64);
    for round in 0..=rounds {
        shuffle(&mut order, &mut random);
        for &at in order.iter().filter(|&&at| failures[at].is_none()).collect::<Vec<_>>() {
            if stopped.load(Ordering::Relaxed) {
                return Err("stopped by a signal".to_owned());
            }
            // The first round warms up and does not count.
            let length = if round == 0 { length / 4 } else { length };
            let pinned = turns[at].is_pinned().then(|| Pinned::to(core)).transpose()?;
            // What fails once may have met a stranger; what fails twice does not work.
            let taken = turns[at].turn(length).or_else(|_| turns[at].turn(length));
            drop(pinned);
            match taken {
                Ok(count) if round > 0 => series[at].counts.push(count),
                Ok(_) => {}
                Err(why) => {
                    let Series { case, variant, .. } = &series[at];
                    let line = format!("{case}, {variant}: {why}");
                    eprintln!("bench netio: {line}");
                    failures[at] = Some(line);
                }
            }
        }
    }
    series.retain(|series| !series.counts.is_empty());
    Ok((series, failures.into_iter().flatten().collect()))
}

/// Who sends what the kernel drops as soon as it has arrived.
pub(crate) const DROPPED_EARLY: &str = "dropped early";

/// Rows of the record, of all.
pub(crate) fn rows(series: &[Series], ticks_per_ns: f64) -> Vec<Row> {
    let dropped = |case: &str| {
        let found = series.iter().find(|s| s.case == case && s.variant == DROPPED_EARLY);
        found.map(|series| series.sender().timing())
    };
    series.iter().flat_map(|series| series.rows(ticks_per_ns, dropped(&series.case))).collect()
}

impl Series {
    fn each(&self, value: impl Fn(&Count) -> Option<f64>) -> Samples {
        Samples::from(self.counts.iter().filter_map(value).collect::<Vec<_>>())
    }

    fn sender(&self) -> Samples {
        self.each(|count| Some(per(count.sender_ns?, count.sent)))
    }

    /// `dropped` is what the sender's time was for packets that were dropped early.
    fn rows(&self, ticks_per_ns: f64, dropped: Option<Timing>) -> Vec<Row> {
        let Series { case, variant, counts } = self;
        let thread = self.each(|count| Some(per(count.thread_ns, count.packets)));
        let core = self.each(|count| Some(per(count.core_ns?, count.packets)));
        let sender = self.sender();
        let mut rows = Vec::new();
        for (measure, samples) in [("thread", &thread), ("core", &core), ("sender", &sender)] {
            if !samples.is_empty() {
                rows.push(Row::timing("netio", case, variant, measure, samples.timing()));
            }
        }
        if variant == DROPPED_EARLY {
            return rows;
        }
        let mut cost = thread.timing();
        if let Some(dropped) = dropped.filter(|_| !sender.is_empty()) {
            let with = sender.timing();
            let kernel = Timing {
                quiet: (with.quiet - dropped.quiet).max(0.0),
                median: (with.median - dropped.median).max(0.0),
            };
            rows.push(Row::timing("netio", case, variant, "kernel", kernel));
            cost.quiet += kernel.quiet;
            cost.median += kernel.median;
        }
        let row = |measure: &str, unit, of: &dyn Fn(f64) -> f64| {
            let (quiet, median) = (of(cost.quiet), of(cost.median));
            Row { quiet, median, ..Row::value("netio", case, variant, measure, unit, quiet) }
        };
        rows.push(row("cost", "ns", &|ns| ns));
        rows.push(row("cycles", "cycles", &|ns| ns * ticks_per_ns));
        rows.push(row("rate", "1/CPU-s", &|ns| 1e9 / ns));
        let names = counts.iter().flat_map(|count| count.stages.iter().map(|(name, _)| name));
        let mut names: Vec<&String> = names.collect();
        names.sort();
        names.dedup();
        for name in names {
            let of_stage = |count: &Count| {
                let (_, ticks) = count.stages.iter().find(|(stage, _)| stage == name)?;
                Some(per(*ticks, count.packets) / ticks_per_ns)
            };
            let (measure, timing) = (format!("stage {name}"), self.each(of_stage).timing());
            rows.push(Row::timing("netio", case, variant, &measure, timing));
        }
        let sent: u64 = counts.iter().map(|count| count.sent).sum();
        if sent > 0 {
            let received: u64 = counts.iter().map(|count| count.packets).sum();
            let lost = sent.saturating_sub(received) as f64 / sent as f64;
            rows.push(Row::value("netio", case, variant, "lost", "share", lost));
        }
        rows
    }
}

fn per(ns: u64, count: u64) -> f64 {
    ns as f64 / count.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cores::Cores;

    /// Fails in its second round, or never.
    struct Clockwork {
        name: &'static str,
        fails: bool,
        turns: u64,
    }

    impl Turn for Clockwork {
        fn name(&self) -> (&str, &str) {
            ("case", self.name)
        }

        fn turn(&mut self, _: Duration) -> Result<Count, String> {
            self.turns += 1;
            if self.fails && self.turns > 1 {
                return Err("worn out".to_owned());
            }
            let stages = vec![("sort".to_owned(), 600)];
            let core_ns = Some(2_000);
            let count = Count { packets: 100, sent: 125, thread_ns: 1_000, ..Count::default() };
            Ok(Count { core_ns, stages, ..count })
        }
    }

    #[test]
    fn who_fails_drops_out_and_the_others_go_on() {
        let part = |name, fails| Box::new(Clockwork { name, fails, turns: 0 }) as Box<dyn Turn>;
        let mut turns = vec![part("good", false), part("bad", true)];
        let stopped = AtomicBool::new(false);
        let core = Cores::choose().expect("a core").receiver;
        let plan = Plan { rounds: 3, length: Duration::ZERO, core };
        let (series, failures) = run(&mut turns, plan, &stopped).expect("it runs");
        assert_eq!(failures, ["case, bad: worn out"]);
        assert_eq!(series.len(), 1);
        assert_eq!(series[0].counts.len(), 3);
        let rows = rows(&series, 3.0);
        let value = |measure: &str| rows.iter().find(|row| row.measure == measure).map(|r| r.quiet);
        assert_eq!(value("thread"), Some(10.0));
        assert_eq!((value("core"), value("cost")), (Some(20.0), Some(10.0)));
        assert_eq!((value("cycles"), value("rate")), (Some(30.0), Some(1e8)));
        assert_eq!((value("stage sort"), value("lost")), (Some(2.0), Some(0.2)));
        assert_eq!(value("sender"), None);
        stopped.store(true, Ordering::Relaxed);
        assert!(run(&mut turns, plan, &stopped).is_err());
    }

    #[test]
    fn the_kernels_work_is_what_a_sender_takes_beyond_an_early_drop() {
        let series = |variant: &str, sender_ns, thread_ns| Series {
            case: "veth".to_owned(),
            variant: variant.to_owned(),
            counts: vec![Count {
                packets: 100,
                sent: 200,
                thread_ns,
                sender_ns: Some(sender_ns),
                ..Count::default()
            }],
        };
        let rows =
            rows(&[series("af_packet", 90_000, 3_000), series(DROPPED_EARLY, 60_000, 1)], 1.0);
        let of = |variant: &str, measure: &str| {
            let found = rows.iter().find(|row| row.variant == variant && row.measure == measure);
            found.map(|row| row.quiet)
        };
        assert_eq!(of("af_packet", "kernel"), Some(150.0));
        assert_eq!(of("af_packet", "cost"), Some(180.0));
        assert_eq!((of(DROPPED_EARLY, "sender"), of(DROPPED_EARLY, "cost")), (Some(300.0), None));
    }
}
