//! Runs a command and reads its two output streams until both end or a time limit passes.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use rove_bootstrap::startup::Stream;
use rove_platform::event_loop::{EventLoop, Interest};
use rove_units::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::SIGCHLD;

use crate::bootstrap::watch::Watch;
use crate::child_process::ChildProcess;
use crate::ssh_process::Descriptors;
use crate::ssh_reaper::SshReaper;
use crate::tunnel::inherited::{Again, Inherited};

/// Most bytes read from a stream at once. Chosen: the longest announcement with a banner fits.
const READ_LEN: usize = 4096;

/// Most bytes of output read after a command's end; the rest is not read. Chosen: the capacity of the two pipes on
/// Linux. A child process that the command left running may print without end.
const AFTERMATH_BYTES_MAX: usize = 2 * 64 * 1024;

/// Why the wait for a command was broken off.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Stop {
    /// The user wants to leave (a signal arrived).
    #[error("interrupted")]
    Interrupted,
    /// The operating system refused something that normally works.
    #[error("{0}")]
    Local(#[from] io::Error),
}

/// Returns [`Stop::Interrupted`] if a signal other than SIGCHLD has arrived, because the user then wants to leave.
pub(crate) fn check_signals(events: &mut EventLoop) -> Result<(), Stop> {
    let leaves = events.take_signals().iter().any(|&signal| signal != SIGCHLD);
    if leaves { Err(Stop::Interrupted) } else { Ok(()) }
}

/// A running command, with a pipe for each output stream. Dropping this value kills the command.
pub(crate) struct Running {
    child: Child,
    /// Kills the child if this process is killed. `None` after the child's end, as its number may be reused.
    watch: Option<Watch>,
    /// The read ends of the pipes from the command's output and errors. `None` once a stream has ended.
    output: Option<ChildStdout>,
    errors: Option<ChildStderr>,
    buffers: [[u8; READ_LEN]; 2],
    status: Option<ExitStatus>,
    /// Whether each read of standard output ends at a line break.
    is_read_by_line: bool,
    /// Bytes read since the command ended.
    aftermath_bytes: usize,
}

/// The result of a wait for a command.
pub(crate) enum Step<'a> {
    /// The bytes that the command has printed on its streams, in the order of [`Stream::ALL`]. The relative order of
    /// the two streams' bytes is unknown.
    Said([(Stream, &'a [u8]); 2]),
    /// The command has ended, and all that it printed has been read.
    Ended(ExitStatus),
    Late,
}

impl Running {
    /// Starts a command, or returns the system's error. The caller's event loop must wake for `SIGCHLD` at its end.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        Ok(Self {
            output: child.stdout.take(),
            errors: child.stderr.take(),
            child,
            watch: None,
            buffers: [[0; READ_LEN]; 2],
            status: None,
            is_read_by_line: false,
            aftermath_bytes: 0,
        })
    }

    /// Makes the command end if this process is killed while the command runs.
    pub(super) fn watch(&mut self) {
        self.watch = Watch::start(self.child.id()).ok();
    }

    /// Reads standard output line by line from here on, so that bytes after a line stay in the pipe.
    pub(crate) fn read_by_line(&mut self) {
        self.is_read_by_line = true;
    }

    /// Hands the running command to the program that this process becomes by exec. The command's standard input must be
    /// a pipe. Returns the descriptors and the process number for that program.
    ///
    /// # Errors
    ///
    /// Returns `BrokenPipe` if one of the command's streams has ended, or the system's error.
    pub(crate) fn bequeath(mut self, again: Again) -> io::Result<Inherited> {
        self.watch = None;
        let (output, errors) = (self.output.take(), self.errors.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = (self.child.stdin.take(), output, errors)
        else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let descriptors =
            Descriptors { stdin: stdin.into(), stdout: stdout.into(), stderr: stderr.into() };
        let inherited = Inherited::of(&descriptors, &self.child, again)?;
        // Dropping these values would close the pipes and kill the command.
        core::mem::forget((descriptors, self));
        Ok(inherited)
    }

    /// Sends an empty line to the command's standard input.
    pub(crate) fn send_line(&mut self) -> io::Result<()> {
        self.child.stdin.as_mut().map_or(Ok(()), |input| input.write_all(b"\n"))
    }

    /// Returns whether the command's standard input is a pipe that is still open.
    pub(crate) fn has_input(&self) -> bool {
        self.child.stdin.is_some()
    }

    /// Returns the pipe to the command's standard input, and `None` from then on. Close the pipe to end the input.
    pub(crate) fn take_input(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Waits until the command has printed something or ended, or until `deadline`, if there is one.
    ///
    /// # Errors
    ///
    /// Returns [`Stop::Interrupted`] after a signal of the user, or the system's error.
    pub(crate) fn step(
        &mut self,
        events: &mut EventLoop,
        deadline: Option<Instant>,
    ) -> Result<Step<'_>, Stop> {
        loop {
            // After the command's end, each call of `try_wait` returns its status again.
            self.status = self.child.try_wait()?;
            self.watch.take_if(|_| self.status.is_some());
            let [has_errors, has_output] = match self.status {
                None => self.wait(events, deadline)?,
                // After the command's end, bytes left in the pipes are read without waiting. A child process of the
                // command may hold the pipes open.
                Some(_) if self.aftermath_bytes < AFTERMATH_BYTES_MAX => {
                    [is_waiting(self.errors.as_ref())?, is_waiting(self.output.as_ref())?]
                }
                Some(_) => [false; 2],
            };
            check_signals(events)?;
            if has_errors || has_output {
                let [for_errors, for_output] = &mut self.buffers;
                let errors = read(&mut self.errors, has_errors, for_errors)?;
                let read_output = if self.is_read_by_line { read_line } else { read };
                let output = read_output(&mut self.output, has_output, for_output)?;
                if self.status.is_some() {
                    self.aftermath_bytes += errors + output;
                }
                if errors + output > 0 {
                    let said = [&self.buffers[0][..errors], &self.buffers[1][..output]];
                    return Ok(Step::Said([(Stream::ALL[0], said[0]), (Stream::ALL[1], said[1])]));
                }
                continue;
            }
            if let Some(status) = self.status {
                return Ok(Step::Ended(status));
            }
            if deadline.is_some_and(|deadline| deadline <= events.now()) {
                return Ok(Step::Late);
            }
        }
    }

    /// Waits for output, a signal or `deadline`. Returns whether the error stream and standard output have bytes.
    fn wait(&self, events: &mut EventLoop, deadline: Option<Instant>) -> io::Result<[bool; 2]> {
        let interest = |fd| Interest::new(fd, true, false);
        let errors = self.errors.as_ref().map(|errors| interest(errors.as_fd()));
        let output = self.output.as_ref().map(|output| interest(output.as_fd()));
        let (has_errors, has_output) = (errors.is_some(), output.is_some());
        let mut interests: Vec<_> = errors.into_iter().chain(output).collect();
        events.wait(&mut interests, deadline)?;
        let mut found = interests.iter().map(Interest::is_readable);
        let mut next = |has| has && found.next() == Some(true);
        Ok([next(has_errors), next(has_output)])
    }

    /// Asks the command to end, and waits a limited time. If the command goes on, dropping this value kills it.
    pub(crate) fn end(&mut self, events: &mut EventLoop) {
        self.watch = None;
        let pid = Pid::from_child(&self.child);
        let mut reaper = SshReaper::new(ChildProcess::new(pid), events.now());
        while matches!(self.child.try_wait(), Ok(None)) {
            match reaper.poll_signal(events.now()) {
                // A command that is still running is killed when this value is dropped.
                Some(Signal::KILL) => break,
                Some(signal) => drop(kill_process(pid, signal)),
                None => {}
            }
            if events.wait(&mut [], Some(reaper.poll_timeout())).is_err() {
                break;
            }
            // A second signal to leave has no effect here.
            let _ = events.take_signals();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.watch = None;
        if self.status.is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Returns whether a read would return at once, because bytes wait or the stream has ended; `false` for `None`.
pub(crate) fn is_waiting(stream: Option<&impl AsFd>) -> io::Result<bool> {
    let Some(stream) = stream else { return Ok(false) };
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut fds = [PollFd::new(stream, PollFlags::IN)];
    // The call is repeated after EINTR, which must not look like a stream without data.
    Ok(rustix::io::retry_on_intr(|| poll(&mut fds, Some(&now)))? > 0)
}

/// Reads a stream if it has output (`has`), and returns the number of bytes. A stream that has ended becomes `None`.
fn read(stream: &mut Option<impl Read>, has: bool, buffer: &mut [u8]) -> io::Result<usize> {
    let Some(reader) = stream.as_mut().filter(|_| has) else { return Ok(0) };
    match reader.read(buffer) {
        Ok(0) => *stream = None,
        Ok(len) => return Ok(len),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
        Err(error) => return Err(error),
    }
    Ok(0)
}

/// Reads a pipe up to the end of a line, if it has output (`has`). The bytes are read one by one, because bytes after
/// the line could not be put back. Only the first read may block.
fn read_line(stream: &mut Option<ChildStdout>, has: bool, buffer: &mut [u8]) -> io::Result<usize> {
    let Some(pipe) = stream.as_ref().filter(|_| has) else { return Ok(0) };
    let waiting = usize::try_from(rustix::io::ioctl_fionread(pipe)?).unwrap_or(usize::MAX);
    let mut len = 0;
    for at in 0..waiting.clamp(1, buffer.len()) {
        len += read(stream, true, &mut buffer[at..=at])?;
        if len == at || buffer[at] == b'\n' {
            break;
        }
    }
    Ok(len)
}

/// Runs a command to its end, passes its output to `take`, and returns its status. Returns `None` if the command ran
/// for longer than `patience`. If `take` returns a duration, the command may run for that long from that moment.
///
/// # Errors
///
/// Returns why the wait was broken off, after ending the command.
pub(crate) fn run(
    command: &mut Command,
    events: &mut EventLoop,
    patience: Duration,
    mut take: impl FnMut(Stream, &[u8]) -> Option<Duration>,
) -> Result<Option<ExitStatus>, Stop> {
    let mut running = Running::start(command)?;
    let mut deadline = events.now() + patience;
    loop {
        match running.step(events, Some(deadline)) {
            Ok(Step::Said(said)) => {
                let patience = said.into_iter().filter_map(|(stream, bytes)| take(stream, bytes));
                if let Some(patience) = patience.last() {
                    deadline = events.now() + patience;
                }
            }
            Ok(Step::Ended(status)) => return Ok(Some(status)),
            Ok(Step::Late) => {
                running.end(events);
                return Ok(None);
            }
            Err(stop) => {
                running.end(events);
                return Err(stop);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rove_platform::clock::Clock;
    use signal_hook::consts::SIGTERM;

    const SIGNALS: [i32; 2] = [SIGCHLD, SIGTERM];

    fn sh(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_commands_two_streams_are_read_apart_and_to_the_end() {
        let mut events = EventLoop::new(Clock::start(), &SIGNALS).unwrap();
        let mut read: [Vec<u8>; 2] = [Vec::new(), Vec::new()];
        let script = "echo one; echo two >&2; echo three; exec >&-; echo four >&2; exit 3";
        let status = run(&mut sh(script), &mut events, Duration::from_secs(60), |stream, bytes| {
            read[stream as usize].extend(bytes);
            None
        });
        assert_eq!(status.unwrap().unwrap().code(), Some(3));
        assert_eq!(read, [b"one\nthree\n".to_vec(), b"two\nfour\n".to_vec()]);
    }

    #[test]
    fn neither_a_silent_command_nor_one_that_leaves_somebody_behind_keeps_us() {
        let mut events = EventLoop::new(Clock::start(), &SIGNALS).unwrap();
        let mut late = |script, patience| {
            let soon = |_, _: &[u8]| Some(Duration::ZERO);
            run(&mut sh(script), &mut events, patience, soon).unwrap().is_none()
        };
        assert!(late("exec sleep 600", Duration::from_millis(50)));
        assert!(late("echo x; exec sleep 600", Duration::from_secs(60)), "patience is set anew");
        assert!(!late("sleep 2 & exit 0", Duration::from_secs(60)));
    }

    #[test]
    fn an_output_read_by_line_stays_in_the_pipe_after_each_line() {
        let mut events = EventLoop::new(Clock::start(), &SIGNALS).unwrap();
        let script = "printf 'one\ntwo\nthree'; exec sleep 600";
        let mut running = Running::start(&mut sh(script)).unwrap();
        running.read_by_line();
        for line in ["one\n", "two\n"] {
            let Ok(Step::Said([_, (_, said)])) = running.step(&mut events, None) else {
                panic!("output")
            };
            assert_eq!(said, line.as_bytes(), "a line is read in one step");
        }
        let mut rest = [0; 8];
        let len = read(&mut running.output, true, &mut rest).unwrap();
        assert_eq!(&rest[..len], b"three");
    }

    #[test]
    fn a_process_left_behind_that_prints_without_end_keeps_nobody() {
        let mut events = EventLoop::new(Clock::start(), &SIGNALS).unwrap();
        let mut running = Running::start(&mut sh("yes & exit 4")).unwrap();
        let status = loop {
            match running.step(&mut events, None).unwrap() {
                Step::Said(_) => {}
                Step::Ended(status) => break status,
                Step::Late => panic!("there is no deadline"),
            }
        };
        assert_eq!(status.code(), Some(4));
        let most = AFTERMATH_BYTES_MAX + 2 * READ_LEN;
        assert!(running.aftermath_bytes < most, "{}", running.aftermath_bytes);
    }
}
