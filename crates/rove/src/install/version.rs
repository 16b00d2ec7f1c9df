//! Compares versions of rove, and finds the version in a program's file.

use core::fmt;
use core::hint::black_box;

/// The version between two marks, by which [`Version::in_file`] finds it in a program's file. That function also reads
/// this text itself, because the linker drops unused text.
static MARK: &str = concat!("\u{1}rove-build ", env!("CARGO_PKG_VERSION"), "\u{1}");

/// Longest version number that is read from a program's file, in bytes. Chosen: three numbers of ten digits.
const VERSION_BYTES_MAX: usize = 32;

/// A version of three numbers. The first number is the most significant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version([u32; 3]);

impl Version {
    /// Parses `1.2.3`; text after a hyphen is ignored. `None` for a text of another form.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.split_once('-').map_or(text, |(numbers, _)| numbers);
        let mut numbers = [0; 3];
        let mut words = text.split('.');
        for number in &mut numbers {
            let word = words.next()?;
            let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
            *number = word.parse().ok().filter(|_| is_number)?;
        }
        words.next().is_none().then_some(Self(numbers))
    }

    /// Parses the first line of `rove --version`. `None` for a line of another form.
    pub(crate) fn of_program(line: &str) -> Option<Self> {
        Self::parse(line.strip_prefix("rove ")?.trim_ascii_end())
    }

    /// Finds the version in the contents of a program's file. `None` if the file has no version.
    pub(crate) fn in_file(bytes: &[u8]) -> Option<Self> {
        let (start, _) = black_box(MARK).split_once(' ')?;
        let start = format!("{start} ").into_bytes();
        let mut rest = bytes;
        while let Some(at) = rest.windows(start.len()).position(|window| window == start) {
            rest = &rest[at + start.len()..];
            let text = &rest[..rest.len().min(VERSION_BYTES_MAX)];
            let text = text.split(|byte| *byte == 1).next().unwrap_or_default();
            if let Some(version) = str::from_utf8(text).ok().and_then(Self::parse) {
                return Some(version);
            }
        }
        None
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([major, minor, patch]) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_number_by_number() {
        for (older, newer) in [("0.1.0", "0.1.1"), ("0.9.0", "0.10.0"), ("0.99.99", "1.0.0")] {
            assert!(Version::parse(older).unwrap() < Version::parse(newer).unwrap(), "{newer}");
        }
        assert_eq!(Version::parse("1.2.3-rc1"), Version::parse("1.2.3"));
        for text in ["", "1", "1.2", "1.2.3.4", "1.+2.3", "a.b.c", "1.2.99999999999", "1..3"] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_program_says_its_version_in_its_first_line() {
        let version = Version::parse("0.1.0");
        for (line, found) in [
            ("rove 0.1.0", version),
            ("rove 0.1.0\r", version),
            ("mosh 1.4.0 [build rove 0.1.0]", None),
            ("rove", None),
            ("", None),
        ] {
            assert_eq!(Version::of_program(line), found, "{line}");
        }
    }

    #[test]
    fn a_file_is_searched_for_the_version_between_the_marks() {
        let version = Version::parse("12.0.3");
        let mark = b"x\x01rove-build 12.0.3\x01y".as_slice();
        for (bytes, found) in [
            (mark, version),
            (b"\x01rove-build \x01rove-build 12.0.3\x01".as_slice(), version),
            (b"\x01rove-build 12.0.3", version),
            (b"\x01rove-build 12.0\x01", None),
            (b"\x01rove-build ", None),
            (b"", None),
        ] {
            assert_eq!(Version::in_file(bytes), found, "{}", bytes.escape_ascii());
        }
        assert_eq!(Version::in_file(MARK.as_bytes()), Version::parse(env!("CARGO_PKG_VERSION")));
    }
}
