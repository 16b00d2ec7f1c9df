//! The value of a constant: an arithmetic expression of numbers, other constants, bytes and times.

use std::fmt;

/// A number and its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    number: u128,
    unit: Unit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    None,
    Bytes,
    Micros,
}

impl Value {
    /// Computes an expression. `lookup` returns the values of other constants. `None` if it has anything but numbers,
    /// names, `+`, `-`, `*`, `/`, `<<` and the constructors of bytes and durations.
    pub(super) fn read(text: &str, lookup: &dyn Fn(&str) -> Option<Self>) -> Option<Self> {
        // Splits at the operator that binds least. If there are several, the last one counts.
        for operators in [&[" << "][..], &[" + ", " - "], &[" * ", " / "]] {
            let last = operators.iter().filter_map(|sign| Some((text.rfind(sign)?, *sign))).max();
            if let Some((at, sign)) = last {
                let left = Self::read(&text[..at], lookup)?;
                let right = Self::read(&text[at + sign.len()..], lookup)?;
                return left.with(sign, right);
            }
        }
        let plain = |number| Self { number, unit: Unit::None };
        if let Some((constructor, argument)) =
            text.strip_suffix(')').and_then(|c| c.split_once('('))
        {
            let argument = Self::read(argument, lookup)?.number;
            let (factor, unit) = match constructor {
                "Bytes::new" => (1, Unit::Bytes),
                "Bytes::kib" => (1 << 10, Unit::Bytes),
                "Bytes::mib" => (1 << 20, Unit::Bytes),
                "Duration::from_micros" => (1, Unit::Micros),
                "Duration::from_millis" => (1_000, Unit::Micros),
                "Duration::from_secs" => (1_000_000, Unit::Micros),
                _ => return None,
            };
            return Some(Self { number: argument * factor, unit });
        }
        text.replace('_', "").parse().ok().map(plain).or_else(|| lookup(text))
    }

    fn with(self, sign: &str, other: Self) -> Option<Self> {
        let (a, b) = (self.number, other.number);
        let number = match sign.trim() {
            "<<" => a.checked_shl(u32::try_from(b).ok()?)?,
            "+" => a.checked_add(b)?,
            "-" => a.checked_sub(b)?,
            "*" => a.checked_mul(b)?,
            _ => a.checked_div(b)?,
        };
        Some(Self { number, ..self })
    }

    /// Returns the value with a unit. If it has no unit, the constant's name or comment gives the unit.
    pub(super) fn with_unit_of(self, name: &str, meaning: &str) -> Self {
        let counts_bytes = ["_BYTES_", "_LEN_"].iter().any(|part| name.contains(part))
            || ["Bytes ", "Most bytes", "Largest UDP payload"]
                .iter()
                .any(|it| meaning.starts_with(it))
            || meaning.contains(", in bytes");
        match self.unit {
            Unit::None if counts_bytes && !meaning.contains(", in characters") => {
                Self { unit: Unit::Bytes, ..self }
            }
            _ => self,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, unit } = *self;
        let (number, unit) = match unit {
            Unit::None => (number, ""),
            Unit::Bytes if number.is_multiple_of(1 << 20) => (number >> 20, " MiB"),
            Unit::Bytes if number.is_multiple_of(1 << 10) => (number >> 10, " KiB"),
            Unit::Bytes => (number, " bytes"),
            Unit::Micros if number.is_multiple_of(1_000_000) => (number / 1_000_000, " s"),
            Unit::Micros if number.is_multiple_of(1_000) => (number / 1_000, " ms"),
            Unit::Micros => (number, " us"),
        };
        let digits = number.to_string();
        for (index, digit) in digits.char_indices() {
            let is_group = index > 0 && (digits.len() - index).is_multiple_of(3);
            f.write_str(if is_group { "," } else { "" })?;
            write!(f, "{digit}")?;
        }
        f.write_str(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_worked_out_as_the_compiler_does() {
        let lookup = |name: &str| Value::read(&format!("{}", name.len()), &|_| None);
        for (text, value) in [
            ("1_048_576", "1,048,576"),
            ("1 << 15", "32,768"),
            ("32 * 1024 - 32", "32,736"),
            ("6 + 4 * 11 + 2 * 6", "62"),
            ("1280 - 28 - 2", "1,250"),
            ("100 / 10 / 5", "2"),
            ("4 * PIECE", "20"),
            ("Bytes::mib(64)", "64 MiB"),
            ("Bytes::new(212_992)", "208 KiB"),
            ("Bytes::new(1_001)", "1,001 bytes"),
            ("Duration::from_secs(60)", "60 s"),
            ("Duration::from_millis(150)", "150 ms"),
            ("Duration::from_micros(50)", "50 us"),
        ] {
            assert_eq!(Value::read(text, &lookup).expect(text).to_string(), value, "{text}");
        }
        for text in ["f(1)", "1 - 2", "1 / 0"] {
            assert_eq!(Value::read(text, &lookup), None, "{text}");
        }
    }

    #[test]
    fn a_name_or_a_comment_tells_of_bytes() {
        let number = Value { number: 2048, unit: Unit::None };
        for (name, meaning, value) in [
            ("OSC_BYTES_MAX", "", "2 KiB"),
            ("LEN_MAX", "Longest datagram", "2,048"),
            ("DATAGRAM_LEN_MAX", "", "2 KiB"),
            ("DIFF_MAX", "Most bytes of it", "2 KiB"),
            ("ROWS_MAX", "Most rows", "2,048"),
            ("LINE_LEN_MAX", "Longest line, in characters", "2,048"),
        ] {
            assert_eq!(number.with_unit_of(name, meaning).to_string(), value, "{name}");
        }
    }
}
