//! How messages show parts of the text, and near names for a column that does not exist.

use std::fmt::Display;

use crate::schema::Schema;

/// Characters of a part that a message shows.
const PART_CHARS_MAX: usize = 120;
/// Columns that a message lists.
const COLUMNS_SHOWN_MAX: usize = 24;
/// Near names that a message offers.
const NEAR_MAX: usize = 3;

/// A part of the text as messages show it.
pub(super) fn part(shown: &impl Display) -> String {
    clip(&shown.to_string())
}

/// At most `PART_CHARS_MAX` characters.
pub(super) fn clip(text: &str) -> String {
    match text.char_indices().nth(PART_CHARS_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// What to write instead of the unknown column `name`.
pub(super) fn hint(schema: &Schema, name: &str) -> String {
    let wanted: Vec<char> = name.chars().take(crate::limits::NAME_BYTES_MAX).collect();
    let mut near: Vec<(usize, &str)> = schema
        .columns()
        .iter()
        .map(|c| (distance(&wanted, c.name()), c.name()))
        .filter(|&(distance, column)| {
            distance <= 2.max(column.len() / 3) || (name.len() > 2 && column.contains(name))
        })
        .collect();
    near.sort_unstable();
    let near: Vec<&str> = near.into_iter().take(NEAR_MAX).map(|(_, column)| column).collect();
    let mut columns: Vec<&str> =
        schema.columns().iter().take(COLUMNS_SHOWN_MAX).map(|c| c.name()).collect();
    if schema.columns().len() > COLUMNS_SHOWN_MAX {
        columns.push("...");
    }
    let columns = columns.join(", ");
    match near.as_slice() {
        [] => format!("the columns are {columns}"),
        near => format!("did you mean {}? The columns are {columns}", near.join(" or ")),
    }
}

/// Levenshtein distance.
fn distance(wanted: &[char], column: &str) -> usize {
    let mut row: Vec<usize> = (0..=wanted.len()).collect();
    for (i, c) in column.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, &w) in wanted.iter().enumerate() {
            let substituted = diagonal + usize::from(c != w);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}
