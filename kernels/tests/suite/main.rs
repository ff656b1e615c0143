//! The kernels held to naive oracles: every pair of ends in small windows, wide ranges in every
//! octave, folds against fresh filters, the model against measurement.

mod advisor;
mod blocked_golden;
mod blocked_kernels;
mod blocked_rates;
mod bloomrf_golden;
mod bloomrf_insert;
mod bloomrf_lookup;
mod bloomrf_rates;
mod bloomrf_sets;
mod budget;
mod built;
mod classic_kernels;
mod columns_gather;
mod columns_keys;
mod columns_recent;
mod counting_kernels;
mod cuckoo_kernels;
mod digest_lengths;
mod exact;
mod exhaustive;
mod folds;
mod model;
mod owned;
mod seeded;
mod sliced_built;
mod sliced_exact;
mod sliced_exhaustive;
mod sliced_plans;
mod sliced_rows;
mod split_kernels;
mod spread;
mod wide;
mod words_folds;
