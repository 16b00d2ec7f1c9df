//! Playing a diff into a replica, part by part, within bounds of work.

use rove_ssp::ApplyError;

use super::{HostScreen, Picture, refused};
use crate::message::{HostInstruction, first_host_instruction};
use crate::parts::scrollback;

/// Most resizes in one diff. Chosen: stock writes one; without a bound a small diff could make the
/// replica build a huge screen again and again.
pub(super) const RESIZES_MAX: usize = 16;

/// Most work that one diff may cost the replica, in cells (`Terminal::effort`). Chosen: twice what the 4 MiB of the
/// longest instruction cost as text; some 160 ms, in parts.
pub(super) const EFFORT_MAX: u64 = 160_000_000;

/// Cost of reading an instruction, and of each byte of one that holds no terminal bytes, in cells.
/// Chosen: as measured.
const INSTRUCTION_EFFORT: u64 = 64;
const BYTE_EFFORT: u64 = 16;

/// Why there is always a replica.
const PUBLISHED: &str = "nothing is played into a published picture";

/// How far a diff has been played, and what that has cost.
#[derive(Clone, Debug, Default)]
pub(super) struct Play {
    /// Bytes of the diff that are done: whole instructions.
    done: usize,
    /// Bytes that are done of the terminal bytes in the next instruction.
    played: usize,
    resizes: usize,
    lines: scrollback::Work,
    effort: u64,
}

impl Play {
    /// Returns the work done so far, in cells.
    pub(super) const fn effort(&self) -> u64 {
        self.effort
    }

    /// Goes on with a diff until it has cost `effort_max` in all; returns whether it is done.
    pub(super) fn go_on(
        &mut self,
        state: &mut HostScreen,
        diff: &[u8],
        effort_max: u64,
    ) -> Result<bool, ApplyError> {
        let pause = effort_max.min(EFFORT_MAX);
        while self.done < diff.len() && self.effort < pause {
            let (instruction, len) = first_host_instruction(&diff[self.done..])?;
            self.spend(INSTRUCTION_EFFORT);
            match instruction {
                Some(HostInstruction::Bytes(bytes)) if !self.write(state, bytes, pause)? => {
                    continue;
                }
                Some(HostInstruction::Bytes(_)) | None => {}
                Some(instruction) => {
                    self.spend(BYTE_EFFORT.saturating_mul(len.try_into().unwrap_or(u64::MAX)));
                    self.obey(state, instruction)?;
                }
            }
            self.done += len;
        }
        let is_done = self.done == diff.len();
        if !is_done && self.effort >= EFFORT_MAX {
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
        let room = pause.saturating_sub(self.effort);
        self.played += terminal.write_within(&bytes[self.played..], before.saturating_add(room));
        self.spend(terminal.effort() - before);
        if self.played < bytes.len() {
            return Ok(false);
        }
        self.played = 0;
        Ok(true)
    }

    fn obey(
        &mut self,
        state: &mut HostScreen,
        instruction: HostInstruction<'_>,
    ) -> Result<(), ApplyError> {
        let Picture::Replica(terminal) = &mut state.picture else { unreachable!("{PUBLISHED}") };
        match instruction {
            HostInstruction::Resize(size) => {
                self.resizes += 1;
                if self.resizes > RESIZES_MAX {
                    return Err(refused("too many resizes"));
                }
                let size = size.to_size().ok_or_else(|| refused("an empty screen"))?;
                if !state.allowed.holds(size) {
                    return Err(refused("a screen larger than the window"));
                }
                let before = terminal.effort();
                terminal.resize(size);
                self.spend(terminal.effort() - before);
            }
            HostInstruction::EchoAck(num) if num < state.echo_ack => {
                return Err(refused("an echo ack that goes back"));
            }
            HostInstruction::EchoAck(num) => state.echo_ack = num,
            HostInstruction::ExitStatus(status) => state.exit_status = Some(status),
            HostInstruction::Bells(bells) if bells < state.bells => {
                return Err(refused("bells that go back"));
            }
            HostInstruction::Bells(bells) => state.bells = bells,
            HostInstruction::Notifications(told) => {
                state.notifications.apply(told).map_err(refused)?;
            }
            HostInstruction::Tty(told) => state.tty = Some(told.after(state.tty)),
            HostInstruction::Lines(lines) => {
                let before = self.lines.effort();
                let screen = terminal.screen();
                state.scrolled.apply(&lines, screen, &mut self.lines).map_err(refused)?;
                self.spend(self.lines.effort() - before);
            }
            HostInstruction::Copy(piece) => state.clipboard.apply(&piece).map_err(refused)?,
            HostInstruction::Bytes(_) | HostInstruction::Unknown => {}
        }
        Ok(())
    }

    fn spend(&mut self, effort: u64) {
        self.effort = self.effort.saturating_add(effort);
    }
}
