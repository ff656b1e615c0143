//! Our filters in the contest: each form once in memory, worked on by every kernel set.

use bloomrf_kernels::arena::Words;
use bloomrf_kernels::{Kernel, blocked, split_block};

use crate::arms::{Entrant, Filter, Shape};
use crate::keys::CHUNK;

/// Forms of a filter.
#[derive(Clone, Copy)]
enum Form {
    /// One line of 512 bits, one bit in each of k lanes.
    Blocked { k: u32 },
    /// Parquet's 256-bit blocks.
    SplitBlock,
}

const SEED: u64 = 42;

/// Filters that live in the arena at a time.
pub(crate) const FORMS: usize = 3;

pub(crate) fn entrants() -> Vec<Entrant> {
    let forms = [Form::Blocked { k: 6 }, Form::Blocked { k: 8 }, Form::SplitBlock];
    let entrant = |form: Form| {
        Entrant::new(form.name(), move |shape: &Shape<'_>| {
            let words = shape.arena.words(shape.bytes / 8)?;
            Some(Box::new(Ours { form, kernels: Kernel::all(), words }))
        })
    };
    forms.map(entrant).into()
}

impl Form {
    fn name(self) -> String {
        match self {
            Form::Blocked { k } => format!("ours blocked k={k}"),
            Form::SplitBlock => "ours split-block".to_owned(),
        }
    }
}

struct Ours {
    form: Form,
    kernels: Vec<Kernel>,
    words: Words,
}

impl Filter for Ours {
    fn ways(&self) -> Vec<String> {
        self.kernels.iter().map(|kernel| format!("{} {kernel}", self.form.name())).collect()
    }

    fn insert_many(&mut self, way: usize, keys: &[u64]) -> usize {
        let kernel = self.kernels[way];
        match self.form {
            Form::Blocked { k } => blocked::insert_many(kernel, k, &mut self.words, SEED, keys),
            Form::SplitBlock => split_block::insert_many(kernel, &mut self.words, keys),
        }
        keys.len()
    }

    fn count_found(&self, way: usize, keys: &[u64]) -> u64 {
        let kernel = self.kernels[way];
        let mut found = [0; CHUNK / 64];
        match self.form {
            Form::Blocked { k } => {
                blocked::contains_many(kernel, k, &self.words, SEED, keys, &mut found);
            }
            Form::SplitBlock => split_block::contains_many(kernel, &self.words, keys, &mut found),
        }
        found.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    fn bytes(&self) -> usize {
        8 * self.words.len()
    }
}
