//! Applies a diff to a client's copy of the screen, in steps of bounded work.

use rove_ssp::ApplyError;

use super::{HOST_BYTES, HOST_BYTES_STRING, HostScreen, Picture};
use crate::message::{RESIZE, first_instruction, member, read_resize, refused, string};
use crate::part::{Replica, Work};
use crate::parts::Parts;

/// Maximum number of resizes in one diff of the screen. Chosen: Mosh 1.4.0 writes one. Without a bound, a small diff
/// could make the client build a huge screen again and again.
pub(super) const RESIZES_MAX: usize = 16;

/// Maximum work that one diff may cost the client, in cells (`Terminal::effort`). Chosen: twice the cost of 4 MiB of
/// text, the longest instruction of the transport. This is about 160 ms of work, done in steps.
pub(super) const EFFORT_MAX: u64 = 160_000_000;

/// Cost of reading an instruction of a diff, in cells. Each byte of an instruction without terminal bytes costs
/// `BYTE_EFFORT` more. Chosen: as measured.
const INSTRUCTION_EFFORT: u64 = 64;
const BYTE_EFFORT: u64 = 16;

/// The panic message of code that is unreachable because diffs are applied only to a client's copy.
const PUBLISHED: &str = "nothing is played into a published picture";

/// The progress of one diff that is applied to a client's copy of the screen, and its cost.
#[derive(Clone, Debug, Default)]
pub(super) struct Play {
    /// How many bytes of the diff have been applied, in whole instructions.
    done: usize,
    /// How many terminal bytes of the next instruction have been applied.
    played: usize,
    resizes: usize,
    work: Work,
}

impl Play {
    /// Returns the cost of the diff up to this point, in cells.
    pub(super) const fn effort(&self) -> u64 {
        self.work.effort()
    }

    /// Applies more of the diff, until its cost reaches `effort_max`, in cells. Returns whether the diff is complete,
    /// or an error if it breaks a rule or costs more than [`EFFORT_MAX`].
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

    /// Writes terminal bytes to the client's copy until the diff's cost reaches `pause`. Returns whether all bytes were
    /// written.
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

    /// Applies a `HostMessage` field without terminal bytes: a resize, or data beside the picture. Refuses a bad one.
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
