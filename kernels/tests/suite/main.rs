//! The kernels held to naive oracles: every pair of ends in small windows, wide ranges in every
//! octave, folds against fresh filters, the model against measurement.

mod exhaustive;
mod seeded;
