//! Which structure to take, and why.

use std::fmt::Write as _;

use super::{Plan, Shape, Share, Structure};

/// What it must do beyond answering "is it there?".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// Items are taken back.
    pub delete: bool,
    /// Ranges of keys are asked for.
    pub range: bool,
    /// More items may come than it was made for.
    pub grow: bool,
    /// Another system reads it.
    pub share: Option<Share>,
}

impl Need {
    /// Whether a structure does all of it.
    #[must_use]
    pub fn is_met_by(&self, structure: Structure) -> bool {
        (!self.delete || structure.deletes())
            && (!self.range || structure.ranges() && structure != Structure::BloomrfPoints)
            && (!self.grow || structure.grows())
            && self.share.is_none_or(|share| share.reads(structure))
    }

    fn words(&self) -> String {
        let mut words = Vec::new();
        for (is_wanted, word) in
            [(self.delete, "deletion"), (self.range, "ranges"), (self.grow, "growth")]
        {
            if is_wanted {
                words.push(word.to_owned());
            }
        }
        words.extend(self.share.map(|share| format!("files that {} reads", share.name())));
        words.join(" and ")
    }
}

/// What to take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Which; `None` where nothing does all that is needed.
    pub take: Option<Structure>,
    /// One or two sentences.
    pub why: String,
}

impl Plan {
    /// What to take of a plan's rows for what is needed.
    ///
    /// Of those that do it, the smallest (with the memory given: the one with the lowest rate, or
    /// the most items), but for a filter of one cache line that is nearly as good: lookups past
    /// the caches cost what their lines cost. What never errs wins where it is no larger.
    #[must_use]
    pub fn advise(&self, need: &Need) -> Advice {
        let rows = self.rows.iter().filter(|row| need.is_met_by(row.structure));
        let mut shapes: Vec<Shape> = rows.filter_map(|row| row.shape.ok()).collect();
        shapes.sort_by(|a, b| self.cost(a).total_cmp(&self.cost(b)));
        let Some(best) = shapes.first() else { return self.nothing(need) };
        let close = shapes.iter().find(|shape| {
            shape.structure == Structure::Blocked && self.cost(shape) <= CLOSE * self.cost(best)
        });
        let needs = need.words();
        let mut why = match &needs[..] {
            "" => String::new(),
            needs => format!("of what does {needs}, "),
        };
        let take = match close {
            _ if best.structure.is_exact() => {
                let _ = write!(why, "{}", self.of_exact(best));
                best.structure
            }
            Some(blocked) => {
                let _ = write!(why, "{}", self.of_blocked(blocked, best));
                blocked.structure
            }
            None => {
                let _ = write!(why, "{}", self.of_best(best, shapes.get(1)));
                best.structure
            }
        };
        Advice { take: Some(take), why }
    }

    /// What is to be low: bytes, or the rate, or what each item costs.
    fn cost(&self, shape: &Shape) -> f64 {
        match (self.question.items, self.question.fpr) {
            (Some(_), None) => shape.fpr_expected(),
            (None, Some(_)) => shape.bits_per_key(),
            _ => shape.bits as f64,
        }
    }

    fn measure(&self) -> &'static str {
        match (self.question.items, self.question.fpr) {
            (Some(_), None) => "the lowest rate",
            (None, Some(_)) => "the most items",
            _ => "the fewest bytes",
        }
    }

    fn of_exact(&self, best: &Shape) -> String {
        format!("{} has {} and never errs", best.structure, self.measure())
    }

    fn of_blocked(&self, blocked: &Shape, best: &Shape) -> String {
        if best.structure == blocked.structure {
            return format!("{} has {} and reads one cache line", best.structure, self.measure());
        }
        format!(
            "blocked reads one cache line a lookup and {} up to {:.0}, at {:.2} times the {} of it",
            best.structure,
            best.lines().0,
            self.cost(blocked) / self.cost(best).max(f64::MIN_POSITIVE),
            match (self.question.items, self.question.fpr) {
                (Some(_), None) => "rate",
                (None, Some(_)) => "bits an item",
                _ => "bytes",
            }
        )
    }

    fn of_best(&self, best: &Shape, next: Option<&Shape>) -> String {
        let (found, absent) = best.lines();
        let mut why = match next {
            None => format!("{} is the only one", best.structure),
            Some(next) => {
                let ratio = self.cost(next) / self.cost(best).max(f64::MIN_POSITIVE);
                let (structure, measure) = (best.structure, self.measure());
                format!(
                    "{structure} has {measure} (next: {} with {ratio:.2} times)",
                    next.structure
                )
            }
        };
        let _ =
            write!(why, "; {found:.0} cache lines an item that is there, {absent:.1} otherwise");
        why
    }

    fn nothing(&self, need: &Need) -> Advice {
        let able: Vec<_> = self.rows.iter().filter(|r| need.is_met_by(r.structure)).collect();
        let why = if able.is_empty() && need.delete && need.grow {
            "nothing here does all of it; a chain of counting filters by id deletes and grows"
        } else if able.is_empty() {
            "nothing here does all of it; drop a need, or keep two filters"
        } else {
            let whys = able
                .iter()
                .filter_map(|row| row.shape.err().map(|why| format!("{}: {why}", row.structure)));
            let whys = whys.collect::<Vec<_>>().join("; ");
            return Advice { take: None, why: format!("nothing fits. {whys}") };
        };
        Advice { take: None, why: why.to_owned() }
    }
}

/// How much more one cache line a lookup may cost.
const CLOSE: f64 = 1.25;
