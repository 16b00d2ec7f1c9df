//! The numbers of a control sequence.

/// Most numbers kept of one sequence, sub-parameters counted; further ones are dropped.
/// Chosen: 30 as in xterm, rounded up; a full SGR with two RGB colours needs 17.
pub(crate) const PARAMETERS_MAX: usize = 32;

/// The numbers of a control sequence, with what separates them.
///
/// A number that is missing is 0, as the standards have it, and one too large for 16 bits is 65 535.
#[derive(Clone, Debug)]
pub(crate) struct Parameters {
    values: [u16; PARAMETERS_MAX],
    len: usize,
    /// Bit i: number i stands behind a colon and belongs to the one before it.
    joined: u32,
    /// Whether a number beyond the last place was begun.
    overflow: bool,
    given: bool,
}

const _: () = assert!(PARAMETERS_MAX <= u32::BITS as usize);

impl Default for Parameters {
    fn default() -> Self {
        Self { values: [0; PARAMETERS_MAX], len: 1, joined: 0, overflow: false, given: false }
    }
}

impl Parameters {
    /// Forgets all numbers.
    pub(crate) fn clear(&mut self) {
        self.values[0] = 0;
        self.len = 1;
        self.joined = 0;
        self.overflow = false;
        self.given = false;
    }

    /// Takes a digit, `;` or `:`.
    pub(crate) fn push(&mut self, byte: u8) {
        self.given = true;
        if byte.is_ascii_digit() {
            if !self.overflow {
                let value = &mut self.values[self.len - 1];
                *value = value.saturating_mul(10).saturating_add(u16::from(byte - b'0'));
            }
        } else if self.len == PARAMETERS_MAX {
            self.overflow = true;
        } else {
            self.values[self.len] = 0;
            self.joined |= u32::from(byte == b':') << self.len;
            self.len += 1;
        }
    }

    /// Returns whether the sequence held any digit or separator.
    pub(crate) const fn given(&self) -> bool {
        self.given
    }

    /// Returns whether any number has sub-parameters.
    pub(crate) const fn has_colons(&self) -> bool {
        self.joined != 0
    }

    /// Returns number `index`; 0 if it is missing.
    pub(crate) fn value(&self, index: usize) -> u16 {
        self.values[..self.len].get(index).copied().unwrap_or(0)
    }

    /// Returns number `index` where 0 and missing mean 1.
    pub(crate) fn count(&self, index: usize) -> u16 {
        self.value(index).max(1)
    }

    /// Returns the numbers, whatever separates them.
    pub(crate) fn values(&self) -> &[u16] {
        &self.values[..self.len]
    }

    /// Returns the number at `index` with the sub-parameters behind it.
    pub(crate) fn group(&self, index: usize) -> &[u16] {
        let end =
            (index + 1..self.len).find(|&next| self.joined & (1 << next) == 0).unwrap_or(self.len);
        self.values[..end].get(index..).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Parameters {
        let mut parameters = Parameters::default();
        text.bytes().for_each(|byte| parameters.push(byte));
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
