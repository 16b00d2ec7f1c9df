//! The numbers of a control sequence.

/// Most numbers of a control sequence that are kept, including sub-parameters. Further numbers are dropped. Chosen: 30
/// as in xterm, rounded up. A full SGR with two RGB colours needs 17.
pub(crate) const PARAMETERS_MAX: usize = 32;

/// The numbers of a control sequence, and whether each follows a semicolon or a colon.
///
/// A missing number is 0, as in the standards. A number above 16 bits is 65 535.
#[derive(Clone, Debug)]
pub(crate) struct Parameters {
    /// The numbers read so far. Numbers beyond the limit go into the last element, which is never used.
    values: [u16; PARAMETERS_MAX + 1],
    /// The index in `values` of the number to which the next digit belongs.
    last: usize,
    /// Bit i is set if number i follows a colon, so that it is a sub-parameter of an earlier number.
    joined: u64,
    given: bool,
}

// `group` shifts `joined` by the number's index plus 1, so by up to `PARAMETERS_MAX`.
const _: () = assert!(PARAMETERS_MAX < u64::BITS as usize);

impl Default for Parameters {
    fn default() -> Self {
        Self { values: [0; PARAMETERS_MAX + 1], last: 0, joined: 0, given: false }
    }
}

impl Parameters {
    pub(crate) fn clear(&mut self) {
        self.values[0] = 0;
        self.last = 0;
        self.joined = 0;
        self.given = false;
    }

    /// Reads the digits, semicolons and colons at the start of `bytes`. Returns the number of bytes read.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> usize {
        let mut number = self.values[self.last];
        let mut taken = 0;
        for &byte in bytes {
            match byte {
                b'0'..=b'9' => {
                    number = number.saturating_mul(10).saturating_add(u16::from(byte - b'0'));
                }
                b';' | b':' => {
                    self.values[self.last] = number;
                    self.begin_number(byte == b':');
                    number = 0;
                }
                _ => break,
            }
            taken += 1;
        }
        self.values[self.last] = number;
        self.given |= taken > 0;
        taken
    }

    fn begin_number(&mut self, joined: bool) {
        self.last = (self.last + 1).min(PARAMETERS_MAX);
        debug_assert!(self.joined >> self.last == 0, "later numbers are not joined yet");
        if self.last < PARAMETERS_MAX {
            self.joined |= u64::from(joined) << self.last;
        }
    }

    /// Returns whether the sequence has any number or separator.
    pub(crate) const fn given(&self) -> bool {
        self.given
    }

    /// Returns whether any number has sub-parameters.
    pub(crate) const fn has_colons(&self) -> bool {
        self.joined != 0
    }

    /// Returns number `index`, from 0 on, or 0 if it is missing.
    pub(crate) fn value(&self, index: usize) -> u16 {
        self.values().get(index).copied().unwrap_or(0)
    }

    /// Returns number `index` as a count. A missing number and 0 become 1.
    pub(crate) fn count(&self, index: usize) -> u16 {
        self.value(index).max(1)
    }

    /// Returns all numbers, whether semicolons or colons separate them.
    pub(crate) fn values(&self) -> &[u16] {
        &self.values[..(self.last + 1).min(PARAMETERS_MAX)]
    }

    /// Returns the number at `index` with its sub-parameters. Empty if there is no such number.
    pub(crate) fn group(&self, index: usize) -> &[u16] {
        let Some(numbers) = self.values().get(index..).filter(|numbers| !numbers.is_empty()) else {
            return &[];
        };
        let joined = (self.joined >> (index + 1)).trailing_ones();
        &numbers[..1 + usize::try_from(joined).expect("at most 64")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Parameters {
        let mut parameters = Parameters::default();
        assert_eq!(parameters.take(text.as_bytes()), text.len());
        parameters
    }

    #[test]
    fn numbers_are_read_with_their_defaults() {
        for (text, values) in [
            ("", &[0][..]),
            (";", &[0, 0]),
            ("5", &[5]),
            ("1;22;333", &[1, 22, 333]),
            ("65535", &[65535]),
            ("65536;7", &[65535, 7]),
            ("99999999999999999999", &[65535]),
        ] {
            assert_eq!(parsed(text).values(), values, "{text}");
        }
    }

    #[test]
    fn the_last_place_is_kept_and_what_follows_is_dropped() {
        let at_limit = parsed(&"1;".repeat(PARAMETERS_MAX - 1)).values().len();
        assert_eq!(at_limit, PARAMETERS_MAX);
        let mut text = "1;".repeat(PARAMETERS_MAX - 1);
        text.push_str("2;34:5");
        let past = parsed(&text);
        assert_eq!(past.values().len(), PARAMETERS_MAX);
        assert_eq!(past.value(PARAMETERS_MAX - 1), 2);
        assert!(!past.has_colons());
    }

    #[test]
    fn colons_join_groups() {
        let parameters = parsed("1;38:2::9:8:7;4:3");
        assert_eq!(parameters.group(0), [1]);
        assert_eq!(parameters.group(1), [38, 2, 0, 9, 8, 7]);
        assert_eq!(parameters.group(7), [4, 3]);
        assert_eq!(parameters.group(9), []);
    }
}
