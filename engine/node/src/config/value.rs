//! Reading single values: numbers within bounds, sizes, addresses, lists.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// What was expected instead; becomes part of the error.
pub(super) type Expected = String;

/// A number within bounds.
pub(super) fn number<T>(text: &str, bounds: RangeInclusive<T>) -> Result<T, Expected>
where
    T: FromStr + PartialOrd + Display,
{
    let expected = || format!("expected a number from {} to {}", bounds.start(), bounds.end());
    let value = text.trim().parse::<T>().map_err(|_| expected())?;
    if bounds.contains(&value) { Ok(value) } else { Err(expected()) }
}

/// A number of bytes: `1048576`, `1024K`, `512M`, `1G` (powers of 1,024; an `iB` is allowed).
pub(super) fn size(text: &str, bounds: RangeInclusive<usize>) -> Result<usize, Expected> {
    let expected = || {
        let (low, high) = (show_size(*bounds.start()), show_size(*bounds.end()));
        format!("expected a size such as 512M or 1G, from {low} to {high}")
    };
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim_start().to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KIB" => 10,
        "M" | "MIB" => 20,
        "G" | "GIB" => 30,
        "T" | "TIB" => 40,
        _ => return Err(expected()),
    };
    let number = number.parse::<usize>().map_err(|_| expected())?;
    let bytes = number.checked_mul(1 << shift).ok_or_else(expected)?;
    if bounds.contains(&bytes) { Ok(bytes) } else { Err(expected()) }
}

/// The shortest spelling that [`size`] reads back.
pub(super) fn show_size(bytes: usize) -> String {
    for (shift, unit) in [(40, "T"), (30, "G"), (20, "M"), (10, "K")] {
        if bytes >= 1 << shift && bytes.is_multiple_of(1 << shift) {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    bytes.to_string()
}

/// A comma-separated list; blanks around the commas do not count, an empty text is no element.
pub(super) fn list<T>(
    text: &str,
    element: impl Fn(&str) -> Result<T, Expected>,
) -> Result<Vec<T>, Expected> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    text.split(',').map(|part| element(part.trim())).collect()
}

/// A value that reads itself.
pub(super) fn parsed<T>(text: &str) -> Result<T, Expected>
where
    T: FromStr<Err: Display>,
{
    text.trim().parse::<T>().map_err(|error| error.to_string())
}

/// The candidate most like `name`, if any is near enough to be meant.
pub(super) fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let limit = (name.len() / 4).max(2);
    candidates
        .map(|c| (distance(name, c), c))
        .filter(|&(d, _)| d <= limit)
        .min_by_key(|&(d, _)| d)
        .map(|(_, c)| c)
}

/// Edit distance, of short names only.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(NAME_MAX).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(NAME_MAX).enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let above = row.get(j + 1).copied().unwrap_or(usize::MAX - 1);
            let cost = usize::from(!x.eq_ignore_ascii_case(&y));
            let next = (diagonal + cost).min(above + 1).min(left + 1);
            if let Some(cell) = row.get_mut(j) {
                *cell = left;
            }
            diagonal = above;
            left = next;
        }
        if let Some(cell) = row.last_mut() {
            *cell = left;
        }
    }
    row.last().copied().unwrap_or(0)
}

/// Longest name that a near match is looked for, characters.
const NAME_MAX: usize = 64;
