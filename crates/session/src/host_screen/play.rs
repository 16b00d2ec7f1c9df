//! Playing a diff into a replica, part by part, within bounds of work.

use rove_ssp::ApplyError;

use super::{HOST_BYTES, HOST_BYTES_STRING, HostScreen, Picture};
use crate::message::{RESIZE, first_instruction, member, read_resize, refused, string};
use crate::part::{Replica, Work};
use crate::parts::Parts;

/// Most resizes in one diff. Chosen: stock writes one; without a bound a small diff could make the
/// replica build a huge screen again and again.
pub(super) const RESIZES_MAX: usize = 16;

/// Most work that one diff may cost the replica, in cells (`Terminal::effort`). Chosen: twice the cost of the longest
/// instruction's 4 MiB as text; some 160 ms, in parts.
pub(super) const EFFORT_MAX: u64 = 160_000_000;

/// Cost of reading an instruction, and of each byte of one that holds no terminal bytes, in cells.
/// Chosen: as measured.
const INSTRUCTION_EFFORT: u64 = 64;
const BYTE_EFFORT: u64 = 16;

/// Why there is always a replica.
const PUBLISHED: &str = "nothing is played into a published picture";

/// How far a diff has been played, and the cost so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Play {
    /// Bytes of the diff that are done: whole instructions.
    done: usize,
    /// Bytes that are done of the terminal bytes in the next instruction.
    played: usize,
    resizes: usize,
    work: Work,
}

impl Play {
    /// Returns the work done so far, in cells.
    pub(super) const fn effort(&self) -> u64 {
        self.work.effort()
    }

    /// Goes on with a diff until it has cost `effort_max` in all; returns whether it is done.
    pub(super) fn go_on(
        &mut self,
        state: &mut HostScreen,
        diff: &[u8],
        effort_max: u64,
    ) -> Result<bool, ApplyError> {
        let pause = effort_max.min(EFFORT_MAX);
        while self.done < diff.len() && self.effort() < pause {
            let (instruction, len) = first_instruction(&diff[self.done..])?;
            self.work.spend(INSTRUCTION_EFFORT);
            if let Some(instruction) = instruction {
                let is_known =
                    |number| matches!(number, HOST_BYTES | RESIZE) || Parts::know(number);
                match member(instruction, is_known)? {
                    Some((HOST_BYTES, body)) => {
                        if !self.write(state, string(body, HOST_BYTES_STRING)?, pause)? {
                            continue;
                        }
                    }
                    other => {
                        let len = u64::try_from(len).unwrap_or(u64::MAX);
                        self.work.spend(BYTE_EFFORT.saturating_mul(len));
                        if let Some((number, body)) = other {
                            self.obey(state, number, body)?;
                        }
                    }
                }
            }
            self.done += len;
        }
        debug_assert!(self.done <= diff.len(), "an instruction ends within the diff");
        let is_done = self.done == diff.len();
        if !is_done && self.effort() >= EFFORT_MAX {
            return Err(refused("more work than a picture is worth"));
        }
        Ok(is_done)
    }

    /// Writes terminal bytes, as many as may be; returns whether these are all.
    fn write(
        &mut self,
        state: &mut HostScreen,
        bytes: &[u8],
        pause: u64,
    ) -> Result<bool, ApplyError> {
        let Picture::Replica(terminal) = &mut state.picture else { unreachable!("{PUBLISHED}") };
        let before = terminal.effort();
        let room = pause.saturating_sub(self.effort());
        self.played += terminal.write_within(&bytes[self.played..], before.saturating_add(room));
        self.work.spend(terminal.effort() - before);
        debug_assert!(self.played <= bytes.len());
        if self.played < bytes.len() {
            return Ok(false);
        }
        self.played = 0;
        Ok(true)
    }

    /// Applies a member other than terminal bytes.
    fn obey(&mut self, state: &mut HostScreen, number: u32, body: &[u8]) -> Result<(), ApplyError> {
        let Picture::Replica(terminal) = &mut state.picture else { unreachable!("{PUBLISHED}") };
        if number != RESIZE {
            let mut replica = Replica { screen: terminal.screen(), work: &mut self.work };
            return state.parts.apply(number, body, &mut replica);
        }
        self.resizes += 1;
        if self.resizes > RESIZES_MAX {
            return Err(refused("too many resizes"));
        }
        let size = read_resize(body)?.ok_or_else(|| refused("an empty screen"))?;
        if !state.allowed.holds(size) {
            return Err(refused("a screen larger than the window"));
        }
        let before = terminal.effort();
        terminal.resize(size);
        self.work.spend(terminal.effort() - before);
        Ok(())
    }
}
