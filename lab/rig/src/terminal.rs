//! The user's terminal: a pty whose output this process reads.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Stdio};

use anyhow::{Result, bail};
use rove_terminal::Size;
use rove_units::Instant;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::guard::HANG_GUARD;
use crate::{clock, process};

/// Most bytes that are read at once. Chosen: more than a pty holds.
const READ_MAX: usize = 65_536;

/// Both sides of a pty: the user's (master), and the program's (slave).
#[derive(Debug)]
pub struct Terminal {
    master: File,
    slave: File,
    buffer: Vec<u8>,
}

impl Terminal {
    /// Opens a terminal of this size.
    ///
    /// # Errors
    ///
    /// Returns the system's error.
    pub fn open(size: Size) -> Result<Self> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = ptsname(&master, Vec::new())?;
        let slave = File::options().read(true).write(true).open(name.to_str()?)?;
        let (ws_row, ws_col) = (size.rows(), size.columns());
        tcsetwinsize(&master, Winsize { ws_row, ws_col, ws_xpixel: 0, ws_ypixel: 0 })?;
        Ok(Self { master: master.into(), slave, buffer: vec![0; READ_MAX] })
    }

    /// Returns a descriptor of the program's side, as a standard stream for a command.
    ///
    /// # Errors
    ///
    /// Returns the system's error if it gives no descriptor.
    pub fn stdio(&self) -> Result<Stdio> {
        Ok(self.slave.try_clone()?.into())
    }

    /// Types `keys` into the terminal.
    ///
    /// # Errors
    ///
    /// Returns the system's error.
    pub fn send(&mut self, keys: &[u8]) -> Result<()> {
        Ok(self.master.write_all(keys)?)
    }

    /// Returns the descriptor that becomes readable when a program has written output.
    pub const fn output(&self) -> &File {
        &self.master
    }

    /// Reads output of programs. Waits for output until `deadline`, and then returns `None`.
    ///
    /// # Errors
    ///
    /// Returns the system's error.
    pub fn read(&mut self, deadline: Instant) -> Result<Option<&[u8]>> {
        let left = deadline.saturating_since(clock::now());
        let mut ready = [PollFd::new(&self.master, PollFlags::IN)];
        if poll(&mut ready, Some(&Timespec::try_from(left)?))? == 0 {
            return Ok(None);
        }
        let count = self.master.read(&mut self.buffer)?;
        Ok(Some(&self.buffer[..count]))
    }

    /// Reads until the output ends with `marker`. This costs as little per byte as the fastest terminal would, because
    /// nothing emulates a screen.
    ///
    /// # Errors
    ///
    /// Returns an error if the output stops before the marker.
    pub fn read_up_to(&mut self, marker: &str) -> Result<()> {
        let mut tail = Vec::new();
        while !tail.ends_with(marker.as_bytes()) {
            let Some(bytes) = self.read(clock::now() + HANG_GUARD)? else {
                bail!("nothing comes any more after {}", tail.escape_ascii());
            };
            let start = bytes.len().saturating_sub(marker.len());
            tail.extend_from_slice(&bytes[start..]);
            tail.drain(..tail.len().saturating_sub(marker.len()));
        }
        Ok(())
    }

    /// Reads until `marker` is in the output. More output may follow in the same read.
    ///
    /// # Errors
    ///
    /// Returns an error if the output stops before the marker.
    pub fn read_past(&mut self, marker: &str) -> Result<()> {
        let marker = marker.as_bytes();
        let mut seen = Vec::new();
        while !seen.windows(marker.len()).any(|window| window == marker) {
            // The last bytes are kept, because the marker may begin in them.
            seen.drain(..seen.len().saturating_sub(marker.len()));
            let Some(bytes) = self.read(clock::now() + HANG_GUARD)? else {
                bail!("nothing new comes after {}", seen.escape_ascii());
            };
            seen.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// Discards a program's output until the program has ended.
    ///
    /// # Errors
    ///
    /// Returns an error if for [`HANG_GUARD`] there is no output and the program runs on.
    pub fn drain_until_exit(&mut self, child: &mut Child) -> Result<()> {
        let end = process::pidfd(child.id())?;
        let guard = Timespec::try_from(HANG_GUARD)?;
        loop {
            let mut ready =
                [PollFd::new(&end, PollFlags::IN), PollFd::new(&self.master, PollFlags::IN)];
            if poll(&mut ready, Some(&guard))? == 0 {
                bail!("the program does not end");
            }
            if !ready[0].revents().is_empty() {
                child.wait()?;
                return Ok(());
            }
            let _ = self.master.read(&mut self.buffer)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_found_however_the_output_is_cut() {
        for (text, marker) in [("abc\u{2603}", "\u{2603}"), ("aab", "ab"), ("\u{2603}", "\u{2603}")]
        {
            let mut terminal = Terminal::open(Size::DEFAULT).unwrap();
            let mut program = terminal.slave.try_clone().unwrap();
            let text = text.to_owned();
            let writer = std::thread::spawn(move || {
                for byte in text.bytes() {
                    program.write_all(&[byte]).unwrap();
                }
            });
            terminal.read_up_to(marker).unwrap();
            writer.join().unwrap();
            terminal.slave.write_all(format!("{marker} and more").as_bytes()).unwrap();
            terminal.read_past(marker).unwrap();
        }
    }

    #[test]
    fn nothing_is_read_from_a_silent_terminal() {
        let mut terminal = Terminal::open(Size::DEFAULT).unwrap();
        assert_eq!(terminal.read(Instant::ZERO).unwrap(), None);
    }
}
