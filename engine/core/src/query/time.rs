//! ISO 8601 text of times, UTC only: `2026-01-31`, `2026-01-31T12:00`, `2026-01-31 12:00:00.5Z`.

use crate::schema::TimeUnit;

const NS_PER_S: i128 = 1_000_000_000;
const SECONDS_PER_DAY: i128 = 86_400;

/// A time in nanoseconds since 1970; the error says what was expected.
pub(super) fn parse(text: &str) -> Result<i128, &'static str> {
    const SHAPE: &str =
        "expected a time such as '2026-01-31', '2026-01-31T12:00:00' or with fraction and Z (UTC)";
    let mut cursor = Cursor(text.as_bytes());
    let (year, month, day) = cursor.date().ok_or(SHAPE)?;
    if !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) {
        return Err("no such day in the calendar");
    }
    let mut ns = days_since_1970(year, month, day) * SECONDS_PER_DAY * NS_PER_S;
    if cursor.skip(b'T') || cursor.skip(b' ') {
        let (hour, minute, second, fraction_ns) = cursor.time_of_day().ok_or(SHAPE)?;
        if hour > 23 || minute > 59 || second > 59 {
            return Err("no such time of day (hour to 23, minute and second to 59)");
        }
        ns += ((hour * 60 + minute) * 60 + second) * NS_PER_S + fraction_ns;
        cursor.skip(b'Z');
    }
    if cursor.0.is_empty() { Ok(ns) } else { Err(SHAPE) }
}

/// Ticks and unit of a time: in `preferred` when that is exact, else in the coarsest unit that
/// is. `None`: no unit holds it in 64 bits.
pub(super) fn ticks(ns: i128, preferred: TimeUnit) -> Option<(i64, TimeUnit)> {
    [preferred, TimeUnit::S, TimeUnit::Ms, TimeUnit::Us, TimeUnit::Ns].into_iter().find_map(
        |unit| {
            let tick_ns = i128::from(unit.tick_ns());
            let whole = ns.rem_euclid(tick_ns) == 0;
            i64::try_from(ns / tick_ns).ok().filter(|_| whole).map(|ticks| (ticks, unit))
        },
    )
}

/// ISO 8601 text of a time, UTC, as WHERE texts have it; `None` outside the years 0000 to 9999.
#[must_use]
pub fn format(ticks: i64, unit: TimeUnit) -> Option<String> {
    let ns = i128::from(ticks) * i128::from(unit.tick_ns());
    let (seconds, fraction_ns) = (ns.div_euclid(NS_PER_S), ns.rem_euclid(NS_PER_S));
    let (days, second) = (seconds.div_euclid(SECONDS_PER_DAY), seconds.rem_euclid(SECONDS_PER_DAY));
    let (year, month, day) = civil(days);
    if !(0..=9_999).contains(&year) {
        return None;
    }
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let mut text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    if fraction_ns != 0 {
        let digits = format!("{fraction_ns:09}");
        text.push('.');
        text.push_str(digits.trim_end_matches('0'));
    }
    text.push('Z');
    Some(text)
}

/// What is left of the text.
struct Cursor<'t>(&'t [u8]);

impl Cursor<'_> {
    fn skip(&mut self, byte: u8) -> bool {
        let found = self.0.first() == Some(&byte);
        if found {
            self.0 = &self.0[1..];
        }
        found
    }

    /// Exactly `digits` digits.
    fn number(&mut self, digits: usize) -> Option<i128> {
        let (number, rest) = self.0.split_at_checked(digits)?;
        self.0 = rest;
        number.iter().try_fold(0, |value, byte| {
            byte.is_ascii_digit().then(|| value * 10 + i128::from(byte - b'0'))
        })
    }

    fn date(&mut self) -> Option<(i128, i128, i128)> {
        let year = self.number(4)?;
        self.skip(b'-').then_some(())?;
        let month = self.number(2)?;
        self.skip(b'-').then_some(())?;
        Some((year, month, self.number(2)?))
    }

    /// Hour, minute, second, nanoseconds.
    fn time_of_day(&mut self) -> Option<(i128, i128, i128, i128)> {
        let hour = self.number(2)?;
        self.skip(b':').then_some(())?;
        let minute = self.number(2)?;
        if !self.skip(b':') {
            return Some((hour, minute, 0, 0));
        }
        let second = self.number(2)?;
        if !self.skip(b'.') {
            return Some((hour, minute, second, 0));
        }
        let digits = self.0.iter().take_while(|b| b.is_ascii_digit()).count();
        if !(1..=9).contains(&digits) {
            return None;
        }
        let fraction = self.number(digits)? * 10i128.pow(9 - digits as u32);
        Some((hour, minute, second, fraction))
    }
}

fn is_leap(year: i128) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in_month(year: i128, month: i128) -> i128 {
    match month {
        2 => 28 + i128::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days of the years before `year`, counted from year 0.
fn days_before_year(year: i128) -> i128 {
    // Leap years among 0..year: year 0 is one.
    let leaps =
        (year + 3).div_euclid(4) - (year + 99).div_euclid(100) + (year + 399).div_euclid(400);
    year * 365 + leaps
}

fn days_since_1970(year: i128, month: i128, day: i128) -> i128 {
    let months: i128 = (1..month).map(|m| days_in_month(year, m)).sum();
    days_before_year(year) - days_before_year(1970) + months + day - 1
}

/// Year, month and day of a day since 1970.
fn civil(days: i128) -> (i128, i128, i128) {
    let since_year_0 = days + days_before_year(1970);
    // 400 years have 146,097 days; the guess is at most one year off.
    let mut year = (since_year_0 * 400).div_euclid(146_097);
    while days_before_year(year + 1) <= since_year_0 {
        year += 1;
    }
    while days_before_year(year) > since_year_0 {
        year -= 1;
    }
    let mut day = since_year_0 - days_before_year(year);
    let mut month = 1;
    while day >= days_in_month(year, month) {
        day -= days_in_month(year, month);
        month += 1;
    }
    (year, month, day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_instants_are_read_and_written() {
        let cases = [
            ("1970-01-01T00:00:00Z", 0),
            ("1969-12-31T23:59:59.999999999Z", -1),
            ("2000-02-29T12:34:56Z", 951_827_696 * NS_PER_S),
            ("2026-11-30T14:00:00.5Z", 1_796_047_200 * NS_PER_S + 500_000_000),
            ("0000-01-01T00:00:00Z", -62_167_219_200 * NS_PER_S),
        ];
        for (text, ns) in cases {
            assert_eq!(parse(text), Ok(ns), "{text}");
            let (ticks, unit) = ticks(ns, TimeUnit::Ns).unwrap();
            assert_eq!(format(ticks, unit).as_deref(), Some(text));
        }
        assert_eq!(parse("2000-02-29"), parse("2000-02-29 00:00"));
    }

    #[test]
    fn every_day_from_year_0_to_9999_is_read_back() {
        let first = days_since_1970(0, 1, 1);
        let last = days_since_1970(9_999, 12, 31);
        assert_eq!(last - first + 1, 3_652_425);
        for days in first..=last {
            let (year, month, day) = civil(days);
            assert_eq!(days_since_1970(year, month, day), days, "{year}-{month}-{day}");
        }
    }

    #[test]
    fn text_that_is_no_time_is_refused() {
        for text in [
            "",
            "2026",
            "2026-13-01",
            "2025-02-29",
            "2026-01-00",
            "2026-01-01T24:00",
            "2026-01-01T00:60",
            "2026-01-01T00:00:60",
            "2026-01-01T00:00:00.",
            "2026-01-01x",
            "2026-01-01T00:00:00.1234567890",
            "2026-01-01T00:00:00+01:00",
            "2026-1-1",
            "+026-01-01",
        ] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn the_unit_is_the_columns_unless_that_would_round() {
        assert_eq!(ticks(5 * NS_PER_S, TimeUnit::Ms), Some((5_000, TimeUnit::Ms)));
        assert_eq!(ticks(1_500_000, TimeUnit::S), Some((1_500, TimeUnit::Us)));
        let year_9999 = parse("9999-12-31").unwrap();
        assert_eq!(ticks(year_9999, TimeUnit::Ns), Some((253_402_214_400, TimeUnit::S)));
        assert_eq!(ticks(year_9999 + 1, TimeUnit::S), None);
    }
}
