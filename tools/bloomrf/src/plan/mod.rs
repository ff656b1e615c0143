//! `bloomrf plan`: how large, how good, and which. Thin over `bloomrf_filter::plan`.

pub(crate) mod args;
mod chart;
mod json;
mod measure;
mod pixels;
mod table;

use std::process::ExitCode;

use bloomrf_filter::plan::{Advice, Keys, Need, Plan, Question, Share, Shared};

use crate::outcome::{CommandError, Outcome, print};
use args::PlanArgs;
use measure::Timing;

/// All that is shown.
struct Report {
    plan: Plan,
    need: Need,
    advice: Advice,
    /// The same as other systems would size it.
    shared: Vec<Shared>,
    /// Of each row, where measured.
    timings: Vec<Option<Timing>>,
    measured: bool,
}

pub(crate) fn run(args: &PlanArgs) -> Outcome {
    let keys = Keys {
        key_bits: args.key_bits,
        range_width: args.range.unwrap_or(Keys::default().range_width),
        item_bytes: args.item_bytes,
    };
    let bits = args.bits.or(args.memory.map(|bytes| bytes.saturating_mul(8)));
    let question = Question { items: args.items, fpr: args.fpr, bits, k: args.probes, keys };
    let plan = Plan::of(&question).map_err(CommandError::misused)?;
    let drawing = args.plot.as_deref().map(chart::Drawing::to).transpose()?;
    let need = Need {
        delete: args.delete,
        range: args.range.is_some(),
        grow: args.grow,
        share: args.share.map(Share::from),
    };
    let advice = plan.advise(&need);
    let timings = if args.measure {
        measure::rows(&plan, args.json)
    } else {
        plan.rows.iter().map(|_| None).collect()
    };
    let systems = [Share::Parquet, Share::Guava, Share::Redis];
    let shared = systems.iter().filter_map(|share| share.sized(&plan)).collect();
    let report = Report { plan, need, advice, shared, timings, measured: args.measure };
    if let Some(drawing) = drawing {
        drawing.draw(&report.plan)?;
    }
    print(&if args.json { report.to_json() } else { report.to_text() })?;
    Ok(ExitCode::from(u8::from(report.advice.take.is_none())))
}

/// Shares of the items that a shape is meant for, at which its rate is shown.
const LOADS: [f64; 7] = [0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0];
