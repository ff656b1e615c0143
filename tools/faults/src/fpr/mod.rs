//! Row 13: false-positive rates on 10^7 negatives against the model of `bloomrf_kernels::params`,
//! by kind, width, fill and fold. Off by more than 5 % and by more than 4 sigma is a failure; of
//! an exact kind a single false positive is one.
//!
//! Two ways: the kernels on one filter at a time, and the engine's lookups on 512 batches of a
//! store, where one question is a negative for every batch without a key in the range.

mod engine;
mod kernels;
mod rate;

use std::process::ExitCode;

use bloomrf_report::Report;

use self::engine::ColumnShape;
use self::kernels::{Blocked, Layered};
use self::rate::Rate;

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Negatives asked of every shape.
    #[arg(long, default_value = "1e7", value_parser = bloomrf_report::count)]
    negatives: u64,
    /// The whole grid of kinds, widths, fills and folds; without it three shapes.
    #[arg(long)]
    full: bool,
    /// Only shapes whose name contains this.
    #[arg(long, default_value = "")]
    only: String,
    /// Seed of keys and questions.
    #[arg(long, env = "SEED", default_value_t = 13)]
    seed: u64,
}

/// Something whose rate is measured.
trait Shape {
    /// Name, unlike all others.
    fn name(&self) -> String;
    /// Asks until so many negatives were seen.
    fn measure(&self, negatives: u64, seed: u64) -> Result<Rate, String>;
}

/// Measures and compares.
pub(crate) fn run(args: &Args) -> ExitCode {
    let mut report = Report::new(13, "negatives");
    let shapes = if args.full { grid() } else { quick() };
    let (mut least, mut most) = (f64::INFINITY, 0f64);
    for shape in shapes {
        let name = shape.name();
        if !name.contains(&args.only) {
            continue;
        }
        let full = if args.full { " --full" } else { "" };
        let repeat = format!("bloomrf-faults fpr{full} --only '{name}' --seed {}", args.seed);
        match shape.measure(args.negatives, args.seed) {
            Ok(rate) => {
                println!("{name}: {rate}");
                report.add(rate.negatives);
                if rate.is_off() {
                    report.fail(format!("{name}: {rate}"), &repeat);
                }
                // A rate of few events says little about the model.
                if rate.found >= 1_000 {
                    (least, most) = (least.min(rate.ratio()), most.max(rate.ratio()));
                }
            }
            Err(why) => report.fail(format!("{name}: {why}"), &repeat),
        }
    }
    report.note(format!("measured / model from {least:.3} to {most:.3}"));
    report.finish()
}

/// One of each: layers and a fold, blocks, and the engine's groups. An exact kind beside them.
fn quick() -> Vec<Box<dyn Shape>> {
    vec![
        Box::new(Layered { bits: 32, keys: 65_536, bits_per_key: 12, width: 16, fold: 3 }),
        Box::new(Blocked { keys: 65_536, bits_per_key: 8, fold: 2 }),
        Box::new(ColumnShape {
            kind: "u64",
            levels: 4,
            keys: 12_000,
            width: 1_024,
            exact: false,
            distinct: 0,
        }),
        Box::new(ColumnShape {
            kind: "u32",
            levels: 4,
            keys: 200,
            width: 1_024,
            exact: true,
            distinct: 0,
        }),
    ]
}

/// Everything.
fn grid() -> Vec<Box<dyn Shape>> {
    let mut shapes = quick();
    for bits in [32, 48, 64] {
        for (bits_per_key, fold) in [(8, 1), (12, 5), (16, 2), (22, 3)] {
            for log_width in [0, 2, 4, 8, 10, 12, 16, 20, 24, 30] {
                // Wide ranges among few keys, or none of them would be empty.
                let free = bits - log_width;
                let keys = 1 << (free - 2).min(16);
                let width = 1 << log_width;
                if keys >= 1_024 {
                    let keys = keys as usize;
                    shapes.push(Box::new(Layered { bits, keys, bits_per_key, width, fold }));
                }
            }
        }
    }
    for (bits_per_key, fold) in [(6, 1), (8, 3), (10, 2), (12, 5), (16, 1)] {
        shapes.push(Box::new(Blocked { keys: 100_000, bits_per_key, fold }));
    }
    // The narrow domains hold few keys, or every answer would be yes.
    for (kind, keys) in [("u8", 40), ("u16", 2_000), ("i16", 200)] {
        for width in [1, 16] {
            shapes.push(Box::new(ColumnShape {
                kind,
                levels: 4,
                keys,
                width,
                exact: true,
                distinct: 0,
            }));
        }
    }
    for kind in ["u64", "mac", "timestamp(ns)", "ipv4", "f32"] {
        for width in [1, 16, 1_024, 1 << 20] {
            // Floats have no width in keys, and 32 bits hold few keys that are so far apart.
            if width == 1 || (kind != "f32" && (width < 1 << 20 || kind != "ipv4")) {
                let shape =
                    ColumnShape { kind, levels: 4, keys: 12_000, width, exact: false, distinct: 0 };
                shapes.push(Box::new(shape));
            }
        }
        shapes.push(Box::new(ColumnShape {
            kind,
            levels: 1,
            keys: 12_000,
            width: 1,
            exact: false,
            distinct: 0,
        }));
        shapes.push(Box::new(ColumnShape {
            kind,
            levels: 4,
            keys: 600,
            width: 1,
            exact: true,
            distinct: 6,
        }));
    }
    for kind in ["ipv6", "uuid", "bytes(24)"] {
        shapes.push(Box::new(ColumnShape {
            kind,
            levels: 4,
            keys: 12_000,
            width: 1,
            exact: false,
            distinct: 0,
        }));
    }
    shapes
}
