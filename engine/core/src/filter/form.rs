//! How a sealed column is stored and why, for people: `/batches`, explain and metrics.

use super::{Filter, FilterKind, SealedColumn, Top16};

impl Filter {
    /// Name of the form in which it is stored: one of [`FORMS`].
    #[must_use]
    pub fn form(&self) -> &'static str {
        match self {
            Filter::List16(_) | Filter::Near16 { offsets: Top16::List(_), .. } => "list",
            Filter::Near16 { .. } => "frame-of-reference",
            Filter::Exact(keys) => keys.name(),
            _ => match self.kind() {
                FilterKind::None | FilterKind::Exact => "none",
                FilterKind::Bitmap8 => "bitmap8",
                FilterKind::Bitmap16 => "bitmap16",
                FilterKind::BloomRf => "bloomrf",
                FilterKind::Blocked => "blocked",
            },
        }
    }

    /// Whether it knows the keys themselves: it never finds what is not there.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        matches!(self.form(), "list" | "frame-of-reference" | "elias-fano" | "bitmap8" | "bitmap16")
    }

    /// Why it is stored so, in words; `records` are those of its batch, `bits` what a filter may
    /// take of each by the budget.
    #[must_use]
    pub fn why(&self, records: u64, bits: u32) -> String {
        let taken = self.bytes() as f64 * 8.0 / records.max(1) as f64;
        match self.form() {
            "none" => "no filter: the zone map alone".to_owned(),
            "bitmap8" => "exact: a bit for each of the 256 values".to_owned(),
            "bitmap16" => "exact: a bit for each of the 65,536 values".to_owned(),
            "blocked" => format!("filter for equality only: {taken:.1} bits a record"),
            "bloomrf" => format!(
                "filter: {taken:.1} bits a record; the keys themselves would take more, or were \
                 too many to keep while the batch was open"
            ),
            _ => format!("exact: {taken:.1} bits a record, where a filter may take {bits}"),
        }
    }
}

/// Columns of held batches and their bytes, by [`FORMS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FormCounts {
    /// Columns.
    pub columns: [u64; FORMS.len()],
    /// Bytes of their filters; of sliced ones those that they took by themselves.
    pub bytes: [u64; FORMS.len()],
}

impl FormCounts {
    /// Counts one more column.
    pub fn add(&mut self, column: &SealedColumn) {
        let form = column.filter.form();
        let counts = self.columns.iter_mut().zip(&mut self.bytes);
        for ((columns, bytes), _) in counts.zip(FORMS).filter(|(_, name)| *name == form) {
            *columns += 1;
            *bytes += column.filter.bytes() as u64;
        }
    }
}

/// Names of the forms in which a column may be stored.
pub const FORMS: [&str; 8] = [
    "none",
    "bitmap8",
    "bitmap16",
    "list",
    "frame-of-reference",
    "elias-fano",
    "bloomrf",
    "blocked",
];

#[cfg(test)]
mod tests {
    use bloomrf_kernels::exact::Exact;

    use super::*;
    use crate::filter::{ColumnFlags, ColumnZone};

    #[test]
    fn every_form_has_a_name_of_the_list_and_counts_there() {
        let keys: Vec<u64> = (0..1_000).map(|i| i * 5_000).collect();
        let exact = |keys: &[u64]| Filter::Exact(Exact::smallest(keys, usize::MAX).unwrap());
        let near = |offsets| Filter::Near16 { base: 7, offsets };
        let filters = [
            (Filter::None, "none"),
            (Filter::Bitmap8([1; 4]), "bitmap8"),
            (Filter::Bitmap16(vec![1; 1_024].into()), "bitmap16"),
            (Filter::List16(vec![1, 2].into()), "list"),
            (near(Top16::List(vec![1].into())), "list"),
            (near(Top16::Bitmap(vec![1; 1_024].into())), "frame-of-reference"),
            (exact(&[1, 1 << 40]), "list"),
            (exact(&(0..999).collect::<Vec<_>>()), "frame-of-reference"),
            (exact(&keys), "elias-fano"),
            (Filter::Blocked { seed: 1, blocks: vec![1; 8].into() }, "blocked"),
        ];
        let mut counts = FormCounts::default();
        for (filter, form) in filters {
            assert_eq!(filter.form(), form);
            assert_eq!(filter.is_exact(), !matches!(form, "none" | "blocked"), "{form}");
            let bytes = filter.bytes() as u64;
            let at = FORMS.iter().position(|name| *name == form).unwrap();
            let (columns_before, bytes_before) = (counts.columns[at], counts.bytes[at]);
            let (flags, zone) = (ColumnFlags::default(), ColumnZone::Narrow(Default::default()));
            counts.add(&SealedColumn { flags, zone, filter });
            assert_eq!(counts.columns[at], columns_before + 1, "{form}");
            assert_eq!(counts.bytes[at], bytes_before + bytes, "{form}");
        }
        assert_eq!(counts.columns.iter().sum::<u64>(), 10);
    }

    #[test]
    fn the_reason_of_an_exact_form_compares_its_bits_with_the_budget() {
        let keys: Vec<u64> = (0..1_000).map(|i| i * 1_024).collect();
        let filter = Filter::Exact(Exact::smallest(&keys, usize::MAX).unwrap());
        let why = filter.why(2_000, 32);
        let bits = filter.bytes() as f64 * 8.0 / 2_000.0;
        assert_eq!(why, format!("exact: {bits:.1} bits a record, where a filter may take 32"));
    }
}
