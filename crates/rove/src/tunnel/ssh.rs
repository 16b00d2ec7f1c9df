//! An ssh process that carries a tunnel's datagrams, or is logging in for it.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rove_bootstrap::Printable;
use rove_bootstrap::tunnel::banner::{Banner, Found};
use rove_bootstrap::tunnel::carrier::{Arrival, Carrier};
use rove_platform::event_loop::Interest;
use rove_units::Instant;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::ssh_reaper::SshReaper;
use crate::tunnel::inherited::Descriptors;

/// Most characters kept of ssh's last message. Chosen: the room in the notice bar beside rove's own words.
const SAID_CHARS_MAX: usize = 60;
/// Longest line of ssh's error output that is kept, in bytes. Chosen: far more than is shown.
const LINE_BYTES_MAX: usize = 1024;
/// Most reads of ssh's error output in a turn of the event loop. Chosen: as many bytes as a pipe holds on Linux.
const ERROR_READS_MAX: usize = 16;
/// The beginning of ssh's progress messages (`-v`), and the message after the key exchange with a host or a jump host.
/// After that ssh uses the user's keys, which the user may have to confirm. Source: OpenSSH 5.4 to 9.9, kex.c.
const DOINGS: &str = "debug";
const ANSWERED: &str = "debug1: SSH2_MSG_NEWKEYS received";

#[derive(Debug)]
pub(super) struct Ssh {
    pid: Option<Pid>,
    descriptors: Descriptors,
    /// Searches the output for the first line of the tunnel's end on the host. `None` after that line.
    banner: Option<Banner>,
    carrier: Carrier,
    error_line: Vec<u8>,
    /// The last error line of ssh that is no progress message, without control characters; empty if there was none.
    said: String,
    /// Whether ssh has exchanged keys with a host. `None` if ssh prints no progress messages.
    has_answer: Option<bool>,
    /// Whether ssh's output is still open, and whether its error output is (`has_error_output`).
    has_output: bool,
    has_error_output: bool,
    /// The filter for ssh's messages to the user. `None` if ssh may not ask the user, and after its login.
    dialogue: Option<Printable>,
}

/// The state of an ssh after its output was read.
pub(super) enum Look {
    /// The ssh is running.
    Open,
    /// The ssh has ended or is useless, with the reason if it is known.
    Ended(Option<String>),
}

impl Ssh {
    /// Creates the state of an ssh that is already running.
    pub(super) fn new(pid: Pid, descriptors: Descriptors) -> io::Result<Self> {
        let Descriptors { stdin, stdout, stderr } = &descriptors;
        for descriptor in [stdin, stdout, stderr] {
            rustix::io::ioctl_fionbio(descriptor, true)?;
        }
        Ok(Self {
            pid: Some(pid),
            descriptors,
            banner: Some(Banner::default()),
            carrier: Carrier::default(),
            error_line: Vec::new(),
            said: String::new(),
            has_answer: None,
            has_output: true,
            has_error_output: true,
            dialogue: None,
        })
    }

    /// Starts ssh by the command `words`. Its output before the line `first_line` is skipped. If `asks` is true, ssh
    /// has the user's terminal for its questions, and its messages are shown.
    pub(super) fn start(words: &[String], first_line: &str, asks: bool) -> io::Result<Self> {
        let (program, args) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(args);
        if !asks {
            // A process group of its own protects ssh from the terminal's SIGHUP and from the client's suspension.
            command.process_group(0);
        }
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let descriptors = Descriptors::of(&mut child).ok_or(io::ErrorKind::InvalidData)?;
        let mut ssh = Self::new(Pid::from_child(&child), descriptors)?;
        ssh.banner = Some(Banner::after(first_line.to_owned()));
        ssh.dialogue = asks.then(Printable::default);
        Ok(ssh)
    }

    /// Returns whether the host's end of the tunnel has answered.
    pub(super) const fn stands(&self) -> bool {
        self.banner.is_none()
    }

    /// Returns whether ssh prints progress messages, but has not exchanged keys. The network or a shared connection is
    /// then silent.
    pub(super) fn is_unanswered(&self) -> bool {
        self.has_answer == Some(false)
    }

    /// Returns whether both output streams have ended. This ssh, and the one that it may have started for a jump host
    /// (they share the error output), then do nothing more.
    pub(super) const fn is_silent(&self) -> bool {
        !self.has_output && !self.has_error_output
    }

    /// Sends ssh a signal. After SIGKILL, this method waits for the end of the process.
    pub(super) fn signal(&mut self, signal: Signal) {
        let Some(pid) = self.pid else { return };
        // The system does not reuse the process number until this process has waited for the process.
        let _ = kill_process(pid, signal);
        if signal == Signal::KILL {
            let _ = rustix::io::retry_on_intr(|| waitpid(Some(pid), WaitOptions::empty()));
            self.pid = None;
        }
    }

    /// Returns the times of the signals that end the process, for [`Ssh::signal`]. `None` after the process's end.
    pub(super) fn reaper(&self, now: Instant) -> Option<SshReaper> {
        self.pid.map(|pid| SshReaper::new(pid, now))
    }

    /// Returns the means to end the process and to wait for it. `None` if [`Ssh::signal`] has waited for it. When this
    /// value is dropped, its streams close, and ssh soon ends.
    pub(super) fn release(&mut self, now: Instant) -> Option<SshReaper> {
        let reaper = self.reaper(now);
        self.pid = None;
        reaper
    }

    /// Queues a datagram for the host and writes as much as ssh accepts.
    pub(super) fn send(&mut self, datagram: &[u8]) {
        self.carrier.handle_datagram(datagram);
        self.write();
    }

    /// Returns whether no datagram waits in the carrier, and half of its window of unacknowledged bytes is free.
    pub(super) const fn has_room(&self) -> bool {
        self.carrier.has_room()
    }

    /// Queues a message about a forwarder, and writes as much as ssh accepts.
    pub(super) fn say(&mut self, words: String) {
        self.carrier.handle_words(words);
        self.write();
    }

    /// Returns the descriptors to wait for.
    pub(super) fn interests(&mut self) -> Vec<Interest<'_>> {
        let has_bytes = self.banner.is_none() && !self.carrier.poll_bytes().is_empty();
        let Descriptors { stdin, stdout, stderr } = &self.descriptors;
        let mut interests = Vec::new();
        if self.has_output {
            interests.push(Interest::new(stdout.as_fd(), true, false));
        }
        if self.has_error_output {
            interests.push(Interest::new(stderr.as_fd(), true, false));
        }
        if has_bytes {
            interests.push(Interest::new(stdin.as_fd(), false, true));
        }
        interests
    }

    /// Reads ssh's output without waiting, and passes arrived datagrams to `take`. Returns ssh's state.
    pub(super) fn look(&mut self, buffer: &mut [u8], mut take: impl FnMut(Arrival)) -> Look {
        self.read_error_output();
        let len = match rustix::io::read(&self.descriptors.stdout, &mut *buffer) {
            Ok(0) => {
                self.has_output = false;
                return Look::Ended(None);
            }
            Ok(len) => len,
            Err(Errno::AGAIN | Errno::INTR) => return Look::Open,
            Err(error) => return Look::Ended(Some(io::Error::from(error).to_string())),
        };
        let mut bytes = &buffer[..len];
        if let Some(banner) = &mut self.banner {
            match banner.read(&mut bytes) {
                Found::Nothing => return Look::Open,
                Found::NoProgram => {
                    return Look::Ended(Some("the host has no rove to carry it".to_owned()));
                }
                Found::TooMuch => {
                    return Look::Ended(Some("the host prints without end".to_owned()));
                }
                Found::Mark => {
                    self.banner = None;
                    self.dialogue = None;
                    // A message during the login is not the reason of a later end.
                    self.said.clear();
                    self.write();
                }
            }
        }
        loop {
            match self.carrier.handle_bytes(&mut bytes) {
                Ok(Some(arrival)) => take(arrival),
                Ok(None) => return Look::Open,
                Err(error) => return Look::Ended(Some(error.to_string())),
            }
        }
    }

    /// Writes as many queued bytes as ssh accepts. Only [`Ssh::look`] reports the end of ssh.
    pub(super) fn write(&mut self) {
        if self.banner.is_some() {
            return;
        }
        while let bytes = self.carrier.poll_bytes()
            && !bytes.is_empty()
        {
            match rustix::io::write(&self.descriptors.stdin, bytes) {
                Ok(len) => self.carrier.consume(len),
                Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }

    /// Reads ssh's error output, which may be the host's, and keeps its last line. Shows the output to the user if ssh
    /// may ask. The rest of a long output is read in the next turn.
    fn read_error_output(&mut self) {
        let mut buffer = [0; 4096];
        for _ in 0..ERROR_READS_MAX {
            if !self.has_error_output {
                return;
            }
            match rustix::io::read(&self.descriptors.stderr, &mut buffer) {
                Ok(0) => self.has_error_output = false,
                Ok(len) => {
                    if let Some(filter) = &mut self.dialogue {
                        // Writing fails if the terminal is closed.
                        let _ = io::stderr().write_all(&filter.filter(&buffer[..len]));
                    }
                    buffer[..len].iter().for_each(|&byte| self.handle_error_byte(byte));
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.has_error_output = false,
            }
        }
    }

    fn handle_error_byte(&mut self, byte: u8) {
        if byte != b'\n' {
            if self.error_line.len() < LINE_BYTES_MAX {
                self.error_line.push(byte);
            }
            return;
        }
        let line = core::mem::take(&mut self.error_line);
        let text = String::from_utf8_lossy(&line);
        if text.starts_with(DOINGS) {
            self.has_answer = Some(self.has_answer == Some(true) || text.starts_with(ANSWERED));
            return;
        }
        let text = text.trim().trim_end_matches('.');
        if !text.is_empty() {
            self.said = rove_terminal::plain(text).chars().take(SAID_CHARS_MAX).collect();
        }
    }

    /// Returns ssh's last message, without control characters; empty if there was none.
    pub(super) fn last_words(&mut self) -> String {
        self.read_error_output();
        self.handle_error_byte(b'\n');
        self.said.clone()
    }
}

impl Drop for Ssh {
    fn drop(&mut self) {
        if let Some(pid) = self.pid.take() {
            // The process may have ended by itself.
            if matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(None)) {
                let _ = kill_process(pid, Signal::TERM);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Seek;

    use rove_rig::scratch::Scratch;

    use super::*;

    #[test]
    fn a_turn_reads_a_bounded_part_of_errors_without_end() {
        let scratch = Scratch::new();
        let path = scratch.write("errors", &"no\n".repeat(1 << 20));
        let mut errors = File::open(path).unwrap();
        let mut child = Command::new("cat");
        let child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        let mut descriptors = Descriptors::of(&mut child).unwrap();
        descriptors.stderr = errors.try_clone().unwrap().into();
        let mut ssh = Ssh::new(Pid::from_child(&child), descriptors).unwrap();
        ssh.look(&mut [0; 4096], |_| ());
        assert_eq!(errors.stream_position().unwrap(), 65_536);
        assert_eq!(ssh.last_words(), "no");
    }
}
