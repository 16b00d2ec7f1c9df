//! Rounds in which the compared programs take turns.

use std::path::PathBuf;

use anyhow::{Context, Result};
use rove_rig::system::System;
use rove_units::Bytes;

use super::programs::Programs;

/// The programs and options for all rows.
pub(super) struct Bench {
    pub(super) rounds: usize,
    pub(super) programs: Programs,
    /// The size of the file in the row `copy`.
    pub(super) copy_size: Bytes,
    /// The directory of recordings, for the row `beside`.
    pub(super) traces: Option<PathBuf>,
}

impl Bench {
    /// Lets stock Mosh and rove take turns. Returns the measurements of both, in the order of the rounds.
    pub(super) fn compare<T>(
        &self,
        what: &str,
        mut turn: impl FnMut(&System) -> Result<T>,
    ) -> Result<[Vec<T>; 2]> {
        self.compare_rounds(what, |_, system| turn(system))
    }

    /// Works as [`Bench::compare`] does, with turns that depend on the round's number, which counts from 1.
    pub(super) fn compare_rounds<T>(
        &self,
        what: &str,
        mut turn: impl FnMut(usize, &System) -> Result<T>,
    ) -> Result<[Vec<T>; 2]> {
        let mut found = [Vec::new(), Vec::new()];
        for round in 1..=self.rounds {
            let mut turns = self.programs.systems().into_iter().zip(&mut found).collect::<Vec<_>>();
            // Stock Mosh goes first in odd rounds, and rove in even rounds.
            turns.rotate_left((round - 1) % 2);
            for (system, found) in turns {
                self.progress(what, system.name, round);
                found
                    .push(turn(round, system).with_context(|| format!("{what}, {}", system.name))?);
            }
        }
        Ok(found)
    }

    /// Prints to standard error which round of which measurement begins.
    pub(super) fn progress(&self, what: &str, who: &str, round: usize) {
        eprintln!("round {round} of {}: {what}, {who}", self.rounds);
    }
}
