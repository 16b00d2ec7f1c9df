//! Rounds in which all that is compared takes its turn.

use std::path::PathBuf;

use anyhow::{Context, Result};
use rove_rig::system::System;
use rove_units::Bytes;

use super::programs::Programs;

/// The means with which every part measures.
pub(super) struct Bench {
    pub(super) rounds: usize,
    pub(super) programs: Programs,
    /// How much a copy has.
    pub(super) copy_size: Bytes,
    /// Where recordings of others are.
    pub(super) traces: Option<PathBuf>,
}

impl Bench {
    /// Lets stock Mosh and rove take turns; returns what each of them measured, round by round.
    pub(super) fn compare<T>(
        &self,
        what: &str,
        mut turn: impl FnMut(&System) -> Result<T>,
    ) -> Result<[Vec<T>; 2]> {
        self.compare_rounds(what, |_, system| turn(system))
    }

    /// Does the same for turns that differ from round to round, the first of which has the number 1.
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

    /// Shows that something goes on.
    pub(super) fn progress(&self, what: &str, who: &str, round: usize) {
        eprintln!("round {round} of {}: {what}, {who}", self.rounds);
    }
}
