//! The models, and how one of them is run.

mod filter;
mod hand;
mod publish;

use crate::sync::{Order, weakened};

/// A model.
#[derive(Clone, Copy)]
pub struct Model {
    /// What it claims.
    pub claim: &'static str,
    /// One execution.
    pub run: fn(),
    /// Whether loom must find it wrong as it is: a fault planted in the order of steps.
    pub is_planted: bool,
    /// Orderings that it depends on: with one of them weakened, loom must find a failure.
    pub needs: &'static [Order],
    /// Orderings that it passes but does not depend on, since another one sees to it: shown to hold
    /// without.
    pub spares: &'static [Order],
}

/// All models.
pub fn all() -> Vec<Model> {
    publish::MODELS.iter().chain(hand::MODELS).chain(filter::MODELS).copied().collect()
}

impl Model {
    /// The model as it is and with orderings weakened, each with whether it must hold.
    #[must_use]
    pub fn cases(&self) -> Vec<(Option<Order>, bool)> {
        let needs = self.needs.iter().map(|&order| (Some(order), false));
        let spares = self.spares.iter().map(|&order| (Some(order), true));
        std::iter::once((None, !self.is_planted)).chain(needs).chain(spares).collect()
    }

    /// Runs every interleaving with at most so many preemptions.
    ///
    /// # Panics
    /// Where one of them fails; loom may abort the process instead.
    pub fn check(&self, weak: Option<Order>, preemptions: usize) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(preemptions);
        weakened(weak, || builder.check(self.run));
    }
}
