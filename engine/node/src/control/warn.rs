//! Warnings about sizes, with the arithmetic: said when first true, and again only when the
//! batches have grown by a quarter.

use bloomrf_engine::seal::SealedBatch;
use bloomrf_kernels::SizeClasses;
use bloomrf_kernels::params::Budget;

use crate::config::Config;

/// Remembers what was said.
#[derive(Debug)]
pub(super) struct SizeWarnings {
    arena_bytes: usize,
    retain_batches: usize,
    max_kib_per_column: u32,
    bits_per_record: u64,
    records_max: u64,
    said_bytes: usize,
    said_records: u64,
}

impl SizeWarnings {
    pub(super) fn new(config: &Config) -> Self {
        let Config { bits_per_key, levels, max_kib_per_column, .. } = *config;
        let words = SizeClasses::new(max_kib_per_column).words().first().copied().unwrap_or(1);
        let bits_per_record = u64::from(Budget { bits_per_key, levels }.bits_per_record());
        SizeWarnings {
            arena_bytes: config.arena_bytes,
            retain_batches: config.retain_batches,
            max_kib_per_column,
            bits_per_record,
            records_max: u64::from(words) * 64 / bits_per_record.max(1),
            said_bytes: 0,
            said_records: 0,
        }
    }

    /// Says what is wrong with the sizes at this batch.
    pub(super) fn look_at(&mut self, batch: &SealedBatch) {
        if let Some(text) = self.arena_warning(batch.filter_bytes()) {
            tracing::warn!(batch = batch.batch, "{text}");
        }
        if let Some(text) = self.batch_warning(batch.records) {
            tracing::warn!(batch = batch.batch, "{text}");
        }
    }

    fn arena_warning(&mut self, filter_bytes: usize) -> Option<String> {
        let need = filter_bytes.saturating_mul(self.retain_batches);
        if need <= self.arena_bytes || filter_bytes < grown(self.said_bytes) {
            return None;
        }
        self.said_bytes = filter_bytes;
        let Self { arena_bytes, retain_batches, .. } = self;
        let fit = *arena_bytes / filter_bytes.max(1);
        Some(format!(
            "the arena holds {fit} batches of this size, not RETAIN_BATCHES = {retain_batches}: \
             {retain_batches} x {filter_bytes} B = {need} B > {arena_bytes} B; raise \
             FERMIHDI_SEASTAR_MEMORY to {} or lower FERMIHDI_BLOOMRF_RETAIN_BATCHES",
            mebibytes(need)
        ))
    }

    fn batch_warning(&mut self, records: u64) -> Option<String> {
        let said = usize::try_from(self.said_records).unwrap_or(usize::MAX);
        if records <= self.records_max || records < grown(said) as u64 {
            return None;
        }
        self.said_records = records;
        let Self { bits_per_record, records_max, max_kib_per_column, .. } = self;
        Some(format!(
            "a batch of {records} records is more than an open filter holds within its budget: \
             {records_max} records x {bits_per_record} bits fill the largest size below \
             MAX_KIB_PER_COLUMN = {max_kib_per_column}; more false positives than asked for; \
             raise FERMIHDI_BLOOMRF_MAX_KIB_PER_COLUMN or send smaller batches"
        ))
    }
}

/// A quarter more than what was said last.
fn grown(said: usize) -> usize {
    said.saturating_add(said / 4)
}

/// Rounded up, as the setting takes it.
fn mebibytes(bytes: usize) -> String {
    format!("{}M", bytes.div_ceil(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings() -> SizeWarnings {
        SizeWarnings {
            arena_bytes: 10_000_000,
            retain_batches: 100,
            max_kib_per_column: 1_024,
            bits_per_record: 32,
            records_max: 245_760,
            said_bytes: 0,
            said_records: 0,
        }
    }

    #[test]
    fn an_arena_too_small_for_retain_batches_is_said_once_with_the_arithmetic() {
        let mut warnings = warnings();
        assert_eq!(warnings.arena_warning(100_000), None);
        let text = warnings.arena_warning(120_000).unwrap();
        for part in ["holds 83 batches", "100 x 120000 B = 12000000 B > 10000000 B", "to 12M"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(warnings.arena_warning(120_000), None);
        assert_eq!(warnings.arena_warning(140_000), None);
        assert!(warnings.arena_warning(150_000).is_some());
    }

    #[test]
    fn a_batch_past_the_open_filter_names_the_setting() {
        let mut warnings = warnings();
        assert_eq!(warnings.batch_warning(245_760), None);
        let text = warnings.batch_warning(245_761).unwrap();
        assert!(text.contains("FERMIHDI_BLOOMRF_MAX_KIB_PER_COLUMN"), "{text}");
        assert_eq!(warnings.batch_warning(250_000), None);
        assert!(warnings.batch_warning(400_000).is_some());
    }
}
