//! Rounds in which all that is compared takes its turn.

use std::path::PathBuf;

use anyhow::{Context, Result};
use rove_rig::system::System;
use rove_units::Bytes;

use super::programs::Programs;

/// The programs and options with which every row measures.
pub(super) struct Bench {
    pub(super) rounds: usize,
    pub(super) programs: Programs,
    /// The size of a copy.
    pub(super) copy_size: Bytes,
    /// The folder of recordings of others.
    pub(super) traces: Option<PathBuf>,
}

impl Bench {
    /// Lets stock Mosh and rove take turns. Returns what each of them measured, round by round.
    pub(super) fn compare<T>(
        &self,
        what: &str,
        mut turn: impl FnMut(&System) -> Result<T>,
    ) -> Result<[Vec<T>; 2]> {
        self.compare_rounds(what, |_, system| turn(system))
    }

    /// Lets both take turns that differ from round to round. Rounds are numbered from 1.
    pub(super) fn compare_rounds<T>(
        &self,
        what: &str,
        mut turn: impl FnMut(usize, &System) -> Result<T>,
    ) -> Result<[Vec<T>; 2]> {
        let mut found = [Vec::new(), Vec::new()];
        for round in 1..=self.rounds {
            let mut turns = self.programs.systems().into_iter().zip(&mut found).collect::<Vec<_>>();
            // Each system goes first in every other round.
            turns.rotate_left((round - 1) % 2);
            for (system, found) in turns {
                self.progress(what, system.name, round);
                found
                    .push(turn(round, system).with_context(|| format!("{what}, {}", system.name))?);
            }
        }
        Ok(found)
    }

    /// Tells on standard error which round of which measurement begins.
    pub(super) fn progress(&self, what: &str, who: &str, round: usize) {
        eprintln!("round {round} of {}: {what}, {who}", self.rounds);
    }
}
