//! A part of all runs, for one of several computers.

use core::str::FromStr;

/// A part of all runs: those whose number has a certain remainder. Each run belongs to exactly one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    /// The number of the part, from 1.
    index: usize,
    /// How many parts there are.
    of: usize,
}

impl FromStr for Shard {
    type Err = String;

    /// Reads `2/8`: the second of eight parts.
    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text
            .split_once('/')
            .and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((index, of)) if (1..=of).contains(&index) => Ok(Self { index, of }),
            _ => {
                Err(format!("{text:?} is no part of all runs, such as 2/8 for the second of eight"))
            }
        }
    }
}

impl Shard {
    /// Returns whether a run is one of the part, by its number.
    pub(crate) fn has(self, number: usize) -> bool {
        number % self.of == self.index - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_have_every_run_once() {
        for of in 1..9 {
            let shards: Vec<Shard> =
                (1..=of).map(|index| format!("{index}/{of}").parse().expect("a part")).collect();
            for number in 0..50 {
                assert_eq!(
                    shards.iter().filter(|shard| shard.has(number)).count(),
                    1,
                    "{number} of {of}"
                );
            }
        }
        for text in ["", "1", "0/2", "3/2", "1/0", "a/b", "1/2/3", "-1/2"] {
            assert!(text.parse::<Shard>().is_err(), "{text:?}");
        }
    }
}
