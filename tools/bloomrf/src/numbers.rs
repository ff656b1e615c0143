//! Numbers as people write them on a command line, and as reports show them.

/// A whole number: 1e8, 30_000_000, 100M, 2.5k.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    let refusal =
        || format!("{text:?} is no count: expected a whole number, such as 30_000_000, 1e8 or 30M");
    let plain: String = text.chars().filter(|c| !matches!(c, '_' | ',')).collect();
    if let Ok(exact) = plain.parse() {
        return Ok(exact);
    }
    let (digits, times) = match plain.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&plain[..at], 1e3),
        Some((at, 'm' | 'M')) => (&plain[..at], 1e6),
        Some((at, 'g' | 'G' | 'b' | 'B')) => (&plain[..at], 1e9),
        Some((at, 't' | 'T')) => (&plain[..at], 1e12),
        _ => (&plain[..], 1.0),
    };
    let number = decimal(digits).ok_or_else(refusal)? * times;
    let is_whole = (number - number.round()).abs() <= number.abs() * 1e-12;
    if !is_whole || !(0.0..=WHOLE_MAX).contains(&number) {
        return Err(refusal());
    }
    Ok(number.round() as u64)
}

/// A rate: 0.01, 1%, 1e-4.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    let (digits, times) = match text.strip_suffix('%') {
        Some(digits) => (digits.trim_end(), 0.01),
        None => (text, 1.0),
    };
    let number = decimal(digits).map(|number| number * times);
    number.filter(|rate| *rate > 0.0 && *rate < 1.0).ok_or_else(|| {
        format!(
            "{text:?} is no rate: expected more than 0 and less than 1, such as 0.01, 1% or 1e-4"
        )
    })
}

/// Bytes: 64MiB, 1.5GB, 4096.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let refusal = || {
        format!("{text:?} is no size: expected bytes with a unit, such as 64MiB, 1.5GB or 4096B")
    };
    let at = text.find(|c: char| c.is_ascii_alphabetic() && c != 'e').unwrap_or(text.len());
    let (digits, unit) = text.split_at(at);
    let times = match &unit.to_ascii_lowercase()[..] {
        "" | "b" => 1.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1_048_576.0,
        "gib" => 1_073_741_824.0,
        "tib" => 1_099_511_627_776.0,
        "k" | "m" | "g" | "t" => {
            let unit = unit.to_ascii_uppercase();
            return Err(format!("{text:?}: {unit}B (powers of 1000) or {unit}iB (of 1024)?"));
        }
        _ => return Err(refusal()),
    };
    let digits: String = digits.trim_end().chars().filter(|c| !matches!(c, '_' | ',')).collect();
    let number = decimal(&digits).ok_or_else(refusal)? * times;
    if (1.0..=WHOLE_MAX).contains(&number) { Ok(number as u64) } else { Err(refusal()) }
}

/// A span of time: 90s, 15m, 12h, 6d, 2w; in seconds.
pub(crate) fn span(text: &str) -> Result<u64, String> {
    let refusal = || format!("{text:?} is no span of time: expected 90s, 15m, 12h, 6d or 2w");
    let at = text.len().checked_sub(1).filter(|at| text.is_char_boundary(*at));
    let (digits, unit) = text.split_at(at.ok_or_else(refusal)?);
    let times = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return Err(refusal()),
    };
    let seconds: Option<u64> = digits.parse().ok().and_then(|n: u64| n.checked_mul(times));
    seconds.filter(|seconds| (1..=SPAN_MAX).contains(seconds)).ok_or_else(refusal)
}

/// With a comma every three digits.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes in the unit that fits.
pub(crate) fn size(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let power = (bytes.max(1).ilog2() / 10) as usize;
    match power {
        0 => format!("{bytes} B"),
        power => format!("{:.1} {}", bytes as f64 / 1024_f64.powi(power as i32), units[power]),
    }
}

/// A rate in few characters.
pub(crate) fn short_rate(rate: f64) -> String {
    match rate {
        0.0 => "0".to_owned(),
        rate if rate >= 0.000_999 => format!("{:.4} %", rate * 100.0),
        rate => format!("{rate:.2e}"),
    }
}

/// A number of digits, at most one point and an exponent: nothing else that `f64` would take.
fn decimal(text: &str) -> Option<f64> {
    let begins = text.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let number: f64 = text.parse().ok().filter(|_| begins)?;
    number.is_finite().then_some(number)
}

/// Up to here a float is the whole number that was meant.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;
/// A century.
const SPAN_MAX: u64 = 36_525 * 86_400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_rates_sizes_and_spans_are_read_as_people_write_them() {
        for (text, number) in [
            ("1e8", 100_000_000),
            ("100M", 100_000_000),
            ("30_000_000", 30_000_000),
            ("30e6", 30_000_000),
            ("2.5k", 2_500),
            ("1,000", 1_000),
            ("0", 0),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(count(text), Ok(number), "{text}");
        }
        for text in ["", "x", "-1", "1.5", "1e300", "inf", "NaN", "M", "1e-3", "+", "é"] {
            assert!(count(text).is_err(), "{text}");
        }
        assert_eq!((rate("0.01"), rate("1%"), rate("1e-4")), (Ok(0.01), Ok(0.01), Ok(1e-4)));
        for text in ["0", "1", "100%", "-0.1", "nan", "", "%", "0,01"] {
            assert!(rate(text).is_err(), "{text}");
        }
        assert_eq!(bytes("64MiB"), Ok(64 << 20));
        assert_eq!(bytes("1.5GB"), Ok(1_500_000_000));
        assert_eq!((bytes("1e3"), bytes("4096B"), bytes("7 kib")), (Ok(1000), Ok(4096), Ok(7168)));
        for text in ["64M", "0", "MiB", "1e30", "5 parsecs", "é"] {
            assert!(bytes(text).is_err(), "{text}");
        }
        assert_eq!((span("6d"), span("90s")), (Ok(518_400), Ok(90)));
        for text in ["", "6", "d", "0s", "-1d", "6é", "99999999999w"] {
            assert!(span(text).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_are_shown_in_groups_and_units() {
        assert_eq!((&grouped(958_505_838)[..], &grouped(7)[..]), ("958,505,838", "7"));
        assert_eq!((size(119_813_232), size(100)), ("114.3 MiB".to_owned(), "100 B".to_owned()));
        assert_eq!(size(u64::MAX), "16.0 EiB");
        assert_eq!((short_rate(0.0), short_rate(0.010_039)), ("0".into(), "1.0039 %".into()));
        assert_eq!(short_rate(1.5e-7), "1.50e-7");
    }
}
