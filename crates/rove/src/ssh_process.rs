//! An ssh that runs during a session. This process reads and writes its pipes without blocking.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rove_platform::event_loop::Interest;
use rove_units::Instant;
use rustix::io::Errno;
use rustix::process::{Pid, Signal};

use crate::child_process::ChildProcess;
use crate::ssh_reaper::SshReaper;

/// Most bytes kept of a line of ssh; later bytes are dropped. Chosen: several times a path, and far more than is shown.
const LINE_BYTES_MAX: usize = 1024;

/// Most reads of ssh's error output in a turn of the event loop. Chosen: as many bytes as a pipe holds on Linux.
const ERROR_READS_MAX: usize = 16;

/// The beginning of ssh's progress messages (`-v`). Source: OpenSSH 5.4 to 9.9.
const DOINGS: &str = "debug";

/// This process's ends of the pipes to a running ssh.
#[derive(Debug)]
pub(crate) struct Descriptors {
    pub(crate) stdin: OwnedFd,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
}

impl Descriptors {
    /// Removes this process's ends of the three pipes from `child`. `None` if a pipe is missing.
    pub(crate) fn of(child: &mut Child) -> Option<Self> {
        Some(Self {
            stdin: child.stdin.take()?.into(),
            stdout: child.stdout.take()?.into(),
            stderr: child.stderr.take()?.into(),
        })
    }
}

/// A running ssh. When this value is dropped, its pipes close, and ssh gets SIGTERM.
#[derive(Debug)]
pub(crate) struct SshProcess {
    /// The process to signal. `None` after [`SshProcess::release`], and after the end of the process.
    process: Option<ChildProcess>,
    pub(crate) descriptors: Descriptors,
    error_line: Vec<u8>,
    /// The last error line that is no progress message, without control characters; empty if there was none.
    pub(crate) said: String,
    /// Whether ssh's output is open (`has_output`), and whether its error output is open (`has_error_output`).
    has_output: bool,
    has_error_output: bool,
}

impl SshProcess {
    /// Creates the state of an ssh that is already running, and makes its pipes non-blocking.
    pub(crate) fn new(pid: Pid, descriptors: Descriptors) -> io::Result<Self> {
        let Descriptors { stdin, stdout, stderr } = &descriptors;
        for descriptor in [stdin, stdout, stderr] {
            rustix::io::ioctl_fionbio(descriptor, true)?;
        }
        let (error_line, said) = Default::default();
        let (has_output, has_error_output) = (true, true);
        let process = Some(ChildProcess::new(pid));
        Ok(Self { process, descriptors, error_line, said, has_output, has_error_output })
    }

    /// Starts ssh by this argument vector. If `asks` is true, ssh has the user's terminal for its questions.
    pub(crate) fn start(words: &[String], asks: bool) -> io::Result<Self> {
        let (program, args) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(args);
        if !asks {
            // A process group of its own protects ssh from the terminal's SIGHUP and from the client's suspension.
            command.process_group(0);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let descriptors = Descriptors::of(&mut child).ok_or(io::ErrorKind::InvalidData)?;
        Self::new(Pid::from_child(&child), descriptors)
    }

    /// Returns whether both output streams have ended. This ssh, and an ssh that it may have started for a jump host
    /// with the same error output, then do nothing more.
    pub(crate) const fn is_silent(&self) -> bool {
        !self.has_output && !self.has_error_output
    }

    /// Sends ssh a signal. After SIGKILL, waits for the end of ssh.
    pub(crate) fn signal(&mut self, signal: Signal) {
        self.process = self.process.take().filter(|it| it.signal(Some(signal)));
        if signal == Signal::KILL
            && let Some(process) = self.process.take()
        {
            process.wait();
        }
    }

    /// Returns the schedule of the signals that end ssh, for [`SshProcess::signal`]. `None` after the end of ssh.
    pub(crate) fn reaper(&self, now: Instant) -> Option<SshReaper> {
        self.process.clone().map(|process| SshReaper::new(process, now))
    }

    /// Returns the [`SshReaper`] that ends ssh and waits for it. `None` if [`SshProcess::signal`] has waited for ssh.
    /// When this [`SshProcess`] is dropped, its pipes close, and ssh soon ends.
    pub(crate) fn release(&mut self, now: Instant) -> Option<SshReaper> {
        self.process.take().map(|process| SshReaper::new(process, now))
    }

    /// Returns the descriptors to wait for. `has_bytes` says that bytes wait to be written.
    pub(crate) fn interests(&self, has_bytes: bool) -> impl Iterator<Item = Interest<'_>> {
        let Descriptors { stdin, stdout, stderr } = &self.descriptors;
        let output = self.has_output.then(|| Interest::new(stdout.as_fd(), true, false));
        let errors = self.has_error_output.then(|| Interest::new(stderr.as_fd(), true, false));
        let input = has_bytes.then(|| Interest::new(stdin.as_fd(), false, true));
        [output, errors, input].into_iter().flatten()
    }

    /// Reads ssh's output. Returns `None` if no output waits, and 0 at the end of the output.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match rustix::io::read(&self.descriptors.stdout, buffer) {
            Ok(len) => {
                self.has_output = len > 0;
                Ok(Some(len))
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => {
                self.has_output = false;
                Err(error.into())
            }
        }
    }

    /// Reads ssh's error output, which may contain the host's, and keeps the last message. Passes all bytes to `show`,
    /// and progress messages to `note`. A long output is read in several turns.
    pub(crate) fn read_errors(&mut self, mut show: impl FnMut(&[u8]), mut note: impl FnMut(&str)) {
        let mut buffer = [0; 4096];
        for _ in 0..ERROR_READS_MAX {
            if !self.has_error_output {
                return;
            }
            match rustix::io::read(&self.descriptors.stderr, &mut buffer) {
                Ok(len) if len > 0 => {
                    show(&buffer[..len]);
                    self.handle_errors(&buffer[..len], &mut note);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Ok(_) | Err(_) => self.has_error_output = false,
            }
        }
    }

    /// Returns the first characters of ssh's last message, whose line may be unfinished; empty if there was none.
    pub(crate) fn said(&mut self, chars_max: usize) -> String {
        self.handle_errors(b"\n", |_| ());
        self.said.chars().take(chars_max).collect()
    }

    fn handle_errors(&mut self, bytes: &[u8], mut note: impl FnMut(&str)) {
        split_lines(&mut self.error_line, bytes, |line| match line.trim_end_matches('.') {
            _ if line.starts_with(DOINGS) => note(line),
            "" => {}
            text => self.said = rove_terminal::plain(text),
        });
    }
}

impl Drop for SshProcess {
    fn drop(&mut self) {
        self.signal(Signal::TERM);
    }
}

/// Adds bytes to an unfinished line, and passes each line that is then complete to `take`, without blanks at its ends.
pub(crate) fn split_lines(line: &mut Vec<u8>, bytes: &[u8], mut take: impl FnMut(&str)) {
    for byte in bytes {
        match byte {
            b'\n' => {
                take(String::from_utf8_lossy(line).trim());
                line.clear();
            }
            _ if line.len() < LINE_BYTES_MAX => line.push(*byte),
            _ => {}
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
        let path = scratch.write("errors", &"nay\n".repeat(1 << 20));
        let mut errors = File::open(path).unwrap();
        let mut ssh = SshProcess::start(&["cat".to_owned()], false).unwrap();
        ssh.descriptors.stderr = errors.try_clone().unwrap().into();
        ssh.read_errors(|_| (), |_| ());
        assert_eq!(errors.stream_position().unwrap(), 65_536);
        assert_eq!(ssh.said(9), "nay");
    }
}
