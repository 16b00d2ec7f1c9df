//! The far side's program: it plays the host's part of a recording on a real terminal.
//!
//! `rove-lab compare` runs this program again as `rove-lab play STEPS CONTROL`, started by the compared server. The
//! program echoes keys until Ctrl-L, which clears the screen. After the go-ahead it waits for the recorded number of
//! bytes from the user, and writes what the recording has after them. A socket in the file system, which reaches across
//! network namespaces, carries the go-ahead and the program's progress.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rove_replay::replay::CLEAR;
use rove_replay::replay::script::Script;
use rove_units::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::stdio::{stdin, stdout};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use serde::{Deserialize, Serialize};

use rove_rig::clock;

/// The word on the command line that starts the replayed program.
pub(crate) const WORD: &str = "play";

/// The byte that gives the go-ahead.
const GO: u8 = b'g';

/// Bytes of a message about progress: three counts of eight bytes each.
const MESSAGE_BYTES: usize = 24;

/// The sequence that clears the screen and puts the cursor to its first place.
const BLANK: &[u8] = b"\x1b[m\x1b[H\x1b[2J";

/// Most bytes that are read at once. Chosen: a terminal hands over no more.
const READ_BYTES: usize = 4096;

/// The progress of a replayed program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// Bytes received from the user: before the go-ahead the echoed keys, and after it those of the recording.
    pub(super) received: usize,
    /// How many of these bytes differ from the recorded byte at the same place.
    pub(super) unexpected: usize,
    /// How many recorded writes of the host are done.
    pub(super) written: usize,
}

/// The host's part of a recording, in a file.
#[derive(Debug, Deserialize, Serialize)]
struct Part {
    /// Everything the user types, in base64.
    typed: String,
    steps: Vec<PartStep>,
}

/// A write of the host.
#[derive(Debug, Deserialize, Serialize)]
struct PartStep {
    /// How many bytes of the user the program must have received before this write.
    needs: usize,
    /// The time since the previous write, in nanoseconds.
    gap: u64,
    bytes: String,
}

/// The near end of a replayed program's socket.
#[derive(Debug)]
pub(super) struct Control {
    stream: UnixStream,
    pending: Vec<u8>,
    /// The newest progress that the program has reported.
    pub(super) progress: Progress,
}

impl Control {
    /// Creates the near end from the connection of a replayed program.
    ///
    /// # Errors
    ///
    /// Returns the I/O error of the socket.
    pub(super) fn new(stream: UnixStream) -> Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self { stream, pending: Vec::new(), progress: Progress::default() })
    }

    /// Returns the socket, which can be read when the program has reported progress.
    pub(super) const fn socket(&self) -> &UnixStream {
        &self.stream
    }

    /// Gives the program the go-ahead to play the recording.
    ///
    /// # Errors
    ///
    /// Returns an error if the program has ended.
    pub(super) fn go(&mut self) -> Result<()> {
        self.progress = Progress::default();
        self.stream.write_all(&[GO]).context("the far side's program has ended")
    }

    /// Reads the progress that the program has reported. Returns whether the program is still there.
    ///
    /// # Errors
    ///
    /// Returns the I/O error of the socket.
    pub(super) fn read(&mut self) -> Result<bool> {
        let mut buffer = [0; 100 * MESSAGE_BYTES];
        match self.stream.read(&mut buffer) {
            Ok(0) => return Ok(false),
            Ok(count) => self.pending.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
            Err(error) => return Err(error).context("cannot hear the far side's program"),
        }
        let whole = self.pending.len() / MESSAGE_BYTES * MESSAGE_BYTES;
        let messages: Vec<u8> = self.pending.drain(..whole).collect();
        if let Some(message) = messages.chunks_exact(MESSAGE_BYTES).next_back() {
            self.progress = Progress::from_message(message);
        }
        Ok(true)
    }
}

impl Progress {
    fn to_message(self) -> Vec<u8> {
        let counts = [self.received, self.unexpected, self.written];
        counts.into_iter().flat_map(|count| (count as u64).to_be_bytes()).collect()
    }

    fn from_message(message: &[u8]) -> Self {
        let mut counts = message.chunks_exact(8).map(|bytes| {
            let number = bytes.try_into().map_or(0, u64::from_be_bytes);
            usize::try_from(number).unwrap_or(usize::MAX)
        });
        let mut next = || counts.next().unwrap_or_default();
        Self { received: next(), unexpected: next(), written: next() }
    }
}

/// Returns the host's part of a recording as the JSON that the replayed program reads from a file.
///
/// # Errors
///
/// Returns an error if the host's part cannot be written as JSON.
pub(super) fn part(script: &Script) -> Result<Vec<u8>> {
    let steps = script.steps.iter().map(|step| PartStep {
        needs: step.needs,
        gap: u64::try_from(step.gap.as_nanos()).unwrap_or(u64::MAX),
        bytes: STANDARD.encode(&step.bytes),
    });
    let part = Part { typed: STANDARD.encode(&script.typed), steps: steps.collect() };
    serde_json::to_vec(&part).context("cannot write a recording as JSON")
}

/// A write of the host, decoded from a [`PartStep`].
struct Step {
    needs: usize,
    gap: Duration,
    bytes: Vec<u8>,
}

/// A program that plays a recording.
struct ReplayedProgram {
    typed: Vec<u8>,
    steps: Vec<Step>,
    control: UnixStream,
    has_started: bool,
    progress: Progress,
    /// When the next step is due. `None` until all bytes that it needs have come.
    due: Option<Instant>,
}

/// Plays the host's part of a recording. `args` are the paths of its file and of the socket.
///
/// # Errors
///
/// Returns an error if a file cannot be read, or there is no terminal.
pub(crate) fn play(args: &[OsString]) -> Result<()> {
    let [part, control] = args else {
        anyhow::bail!("it is called by rove-lab compare, with two files")
    };
    let mut program = ReplayedProgram::open(Path::new(part), Path::new(control))?;
    let mut modes = tcgetattr(stdin()).context("standard input is no terminal")?;
    modes.make_raw();
    tcsetattr(stdin(), OptionalActions::Now, &modes).context("cannot set the terminal's modes")?;
    write(BLANK)?;
    program.tell()?;
    while program.turn()? {}
    Ok(())
}

impl ReplayedProgram {
    fn open(part: &Path, control: &Path) -> Result<Self> {
        let shown = part.display();
        let text = fs::read(part).with_context(|| format!("cannot read {shown}"))?;
        let part: Part =
            serde_json::from_slice(&text).with_context(|| format!("{shown} is no part"))?;
        let decode = |text: &str| STANDARD.decode(text).with_context(|| format!("{shown}"));
        let read = |step: &PartStep| {
            let (needs, gap) = (step.needs, Duration::from_nanos(step.gap));
            Ok(Step { needs, gap, bytes: decode(&step.bytes)? })
        };
        let control = UnixStream::connect(control).context("cannot reach rove-lab compare")?;
        Ok(Self {
            typed: decode(&part.typed)?,
            steps: part.steps.iter().map(read).collect::<Result<_>>()?,
            control,
            has_started: false,
            progress: Progress::default(),
            due: None,
        })
    }

    /// Waits for one event, and handles it. Returns whether the program goes on.
    fn turn(&mut self) -> Result<bool> {
        let left = self.due.map(|due| due.saturating_since(clock::now()));
        let timeout = left.map(Timespec::try_from).transpose()?;
        let mut ready = [
            PollFd::from_borrowed_fd(stdin(), PollFlags::IN),
            PollFd::new(&self.control, PollFlags::IN),
        ];
        match poll(&mut ready, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let [has_input, has_order] = [0, 1].map(|which| !ready[which].revents().is_empty());
        if has_order {
            let mut order = [0];
            // The near end has closed the socket: nobody listens.
            if self.control.read(&mut order)? == 0 {
                return Ok(false);
            }
            ensure!(order == [GO], "an order that is none");
            (self.has_started, self.progress) = (true, Progress::default());
        }
        if has_input && !self.read()? {
            return Ok(false);
        }
        if self.has_started {
            self.write_due()?;
        }
        Ok(true)
    }

    /// Reads what the user has typed. Returns whether the terminal is still there.
    fn read(&mut self) -> Result<bool> {
        let mut buffer = [0; READ_BYTES];
        let count = match rustix::io::retry_on_intr(|| rustix::io::read(stdin(), &mut buffer)) {
            Ok(0) | Err(Errno::IO) => return Ok(false),
            other => other?,
        };
        for &byte in &buffer[..count] {
            if self.has_started {
                let is_expected = self.typed.get(self.progress.received) == Some(&byte);
                self.progress.unexpected += usize::from(!is_expected);
            } else {
                write(if byte == CLEAR { BLANK } else { core::slice::from_ref(&byte) })?;
            }
            self.progress.received += 1;
        }
        self.tell()?;
        Ok(true)
    }

    /// Writes the steps that are due.
    fn write_due(&mut self) -> Result<()> {
        while let Some(step) = self.steps.get(self.progress.written) {
            if self.progress.received < step.needs {
                return Ok(());
            }
            let now = clock::now();
            if *self.due.get_or_insert(now + step.gap) > now {
                return Ok(());
            }
            write(&step.bytes)?;
            self.due = None;
            self.progress.written += 1;
            self.tell()?;
        }
        Ok(())
    }

    fn tell(&mut self) -> Result<()> {
        self.control.write_all(&self.progress.to_message()).context("nobody listens any more")
    }
}

/// Writes to the terminal, however long that takes.
fn write(mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        let written = rustix::io::retry_on_intr(|| rustix::io::write(stdout(), bytes))?;
        bytes = &bytes[written..];
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_how_far_it_is() {
        let progress = Progress { received: 300, unexpected: 1, written: usize::MAX };
        let message = progress.to_message();
        assert_eq!(message.len(), MESSAGE_BYTES);
        assert_eq!(Progress::from_message(&message), progress);
    }

    #[test]
    fn the_newest_of_several_messages_counts_however_they_are_cut() {
        let (ours, mut theirs) = UnixStream::pair().expect("a pair");
        let mut control = Control::new(ours).expect("taken");
        let [first, second] = [1, 2].map(|received| Progress { received, ..Progress::default() });
        let messages = [first.to_message(), second.to_message()].concat();
        theirs.write_all(&messages[..30]).expect("written");
        assert!(control.read().expect("read"));
        assert_eq!(control.progress, first);
        theirs.write_all(&messages[30..]).expect("written");
        assert!(control.read().expect("read"));
        assert_eq!(control.progress, second);
        // A child that another test has just forked may hold `theirs` for a moment, so closing it would not end it.
        theirs.shutdown(std::net::Shutdown::Both).expect("shut down");
        assert!(!control.read().expect("read"));
    }
}
