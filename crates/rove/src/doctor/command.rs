//! Running a command and reading what it prints, never longer than it may take.

use std::io::{self, PipeReader, Read};
use std::os::fd::AsFd;
use std::process::{Child, Command, ExitStatus};

use rove_machine::event_loop::{EventLoop, Interest};
use rove_units::{Duration, Instant};
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

/// The signals the doctor wakes for: the user's wish to leave, and the end of a command.
pub(crate) const SIGNALS: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGCHLD];

/// How long a command may take to end once it is asked to. Chosen: a hundred times what ssh takes.
const FAREWELL: Duration = Duration::from_secs(2);

/// Why the doctor stops.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Stop {
    /// The user wants to leave.
    #[error("interrupted")]
    Interrupted,
    /// The operating system refused something that always works.
    #[error("{0}")]
    Local(#[from] io::Error),
}

/// Returns whether the user wants to leave.
pub(crate) fn check_signals(events: &mut EventLoop) -> Result<(), Stop> {
    let leaves = events.take_signals().iter().any(|&signal| signal != SIGCHLD);
    if leaves { Err(Stop::Interrupted) } else { Ok(()) }
}

/// A command that runs. It is ended when this is dropped.
pub(crate) struct Running {
    child: Child,
    output: PipeReader,
    is_open: bool,
    status: Option<ExitStatus>,
}

/// What became of a wait for a command.
pub(crate) enum Step {
    /// It has printed this much, into the buffer.
    Output(usize),
    /// It has ended, and all it printed has been read.
    Ended(ExitStatus),
    /// The time is over.
    Late,
}

impl Running {
    /// Starts a command whose output and error output are read together, as ssh's are.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal.
    pub(crate) fn start(mut command: Command) -> io::Result<Self> {
        let (output, input) = io::pipe()?;
        command.stdout(input.try_clone()?).stderr(input);
        let child = command.spawn()?;
        // The command, which holds the pipe's writing ends, ends here: else the output never would.
        Ok(Self { child, output, is_open: true, status: None })
    }

    /// Waits for output, for the end, or until `deadline`.
    ///
    /// # Errors
    ///
    /// Returns [`Stop::Interrupted`] for the user's wish to leave.
    pub(crate) fn step(
        &mut self,
        events: &mut EventLoop,
        buffer: &mut [u8],
        deadline: Instant,
    ) -> Result<Step, Stop> {
        loop {
            if self.status.is_none() {
                self.status = self.child.try_wait()?;
            }
            // What waits in the pipe is read even after the end; but a process left behind that holds
            // it open keeps nobody.
            let until = if self.status.is_some() { Instant::ZERO } else { deadline };
            let mut interests = Vec::new();
            if self.is_open {
                interests.push(Interest::new(self.output.as_fd(), true, false));
            }
            events.wait(&mut interests, Some(until))?;
            let is_readable = interests.first().is_some_and(Interest::is_readable);
            check_signals(events)?;
            if is_readable {
                match self.output.read(buffer) {
                    Ok(0) => self.is_open = false,
                    Ok(read) => return Ok(Step::Output(read)),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error.into()),
                }
                continue;
            }
            if let Some(status) = self.status {
                return Ok(Step::Ended(status));
            }
            if deadline <= events.now() {
                return Ok(Step::Late);
            }
        }
    }

    /// Asks the command to end, and makes it.
    fn end(&mut self, events: &mut EventLoop) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            // ssh gives a terminal back that it has asked a password on.
            let _ = kill_process(pid, Signal::TERM);
        }
        let deadline = events.now() + FAREWELL;
        while events.now() < deadline && matches!(self.child.try_wait(), Ok(None)) {
            if events.wait(&mut [], Some(deadline)).is_err() {
                break;
            }
            // Another wish to leave changes nothing here.
            let _ = events.take_signals();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.status.is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Runs a command to its end, hands what it prints to `take`, and returns its status; `None` if it took
/// longer than `patience`, which `take` may set anew.
///
/// # Errors
///
/// Returns [`Stop`]; the command has been ended then.
pub(crate) fn run(
    command: Command,
    events: &mut EventLoop,
    patience: Duration,
    mut take: impl FnMut(&[u8]) -> Option<Duration>,
) -> Result<Option<ExitStatus>, Stop> {
    let mut running = Running::start(command)?;
    let mut deadline = events.now() + patience;
    let mut buffer = [0; 4096];
    loop {
        match running.step(events, &mut buffer, deadline) {
            Ok(Step::Output(read)) => {
                if let Some(patience) = take(&buffer[..read]) {
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
    use rove_machine::clock::Clock;

    fn sh(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_commands_two_outputs_are_read_together_to_the_end() {
        let mut events = EventLoop::new(Clock::start(), &SIGNALS).unwrap();
        let mut read: Vec<u8> = Vec::new();
        let script = "echo one; echo two >&2; exit 3";
        let status = run(sh(script), &mut events, Duration::from_secs(60), |bytes| {
            read.extend(bytes);
            None
        });
        assert_eq!(status.unwrap().unwrap().code(), Some(3));
        assert_eq!(read, b"one\ntwo\n");
    }

    #[test]
    fn neither_a_silent_command_nor_one_that_leaves_somebody_behind_keeps_us() {
        let mut events = EventLoop::new(Clock::start(), &SIGNALS).unwrap();
        let mut late = |script, patience| {
            run(sh(script), &mut events, patience, |_| Some(Duration::ZERO)).unwrap().is_none()
        };
        assert!(late("exec sleep 600", Duration::from_millis(50)));
        assert!(late("echo x; exec sleep 600", Duration::from_secs(60)), "patience is set anew");
        assert!(!late("sleep 2 & exit 0", Duration::from_secs(60)));
    }
}
