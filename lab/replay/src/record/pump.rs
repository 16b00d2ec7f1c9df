//! The loop of a recording: keys in, the program's output out, both into the trace.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};

use anyhow::{Context, Result};
use rove_host::pty::{Child, Master, PromptWatch};
use rove_host::tty_watch::TtyWatch;
use rove_platform::event_loop::{EventLoop, Interest};
use rove_platform::tty::Tty;
use rove_session::ExitStatus;
use rove_terminal::{Size, Terminal};
use rove_units::{Duration, Instant};
use rustix::stdio::{stderr, stdin};
use rustix::termios::isatty;
use signal_hook::consts::{SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGWINCH};

use crate::record::recorder::Recorder;
use crate::record::typist::{Action, Observation, Typist};
use crate::trace::TtyModes;

/// The signals the loop wakes for.
pub(super) const SIGNALS: [i32; 6] = [SIGCHLD, SIGWINCH, SIGCONT, SIGTERM, SIGINT, SIGHUP];
/// Bytes read at once. Chosen: a pty hands over no more.
const READ_BYTES: usize = 16 * 1024;
/// Longest silence of a program after the last key of a script or pipe. Then it is hung up (SIGHUP). Chosen: time
/// for a command to print its output.
const LINGER: Duration = Duration::from_secs(2);
/// How long the recorder waits for the end of a program after SIGHUP. Chosen: equal to [`LINGER`].
const HANG_UP_WAIT: Duration = Duration::from_secs(2);
/// The number of SIGHUP. Source: POSIX.
const HANG_UP: u8 = 1;

/// The result of a read from the program's terminal.
enum Read {
    /// The program has written output.
    Something,
    /// The program has written nothing now.
    Nothing,
    /// No process has the terminal open.
    Closed,
}

/// The source of the keys.
#[derive(Debug)]
pub(super) enum Keyboard {
    /// The user's terminal, which also shows the session.
    Terminal(Tty),
    /// Standard input. The session is shown on standard output.
    Pipe,
    /// A script. The session is not shown.
    Script(Box<Screened>),
}

/// A typist, and the screen that the typist reads.
#[derive(Debug)]
pub(super) struct Screened {
    typist: Typist,
    terminal: Terminal,
    /// The script's line in the newest progress message.
    told: Option<usize>,
}

impl Screened {
    /// Gives a typist a blank screen to read.
    pub(super) fn new(typist: Typist) -> Self {
        Self { typist, terminal: Terminal::host(Size::DEFAULT), told: None }
    }

    /// Shows on standard error how far the script is, if standard error is a terminal.
    fn tell_progress(&mut self) {
        let line = self.typist.line();
        if line != self.told && isatty(stderr()) {
            let text = line.map_or_else(String::new, |line| format!("script line {line}"));
            // A closed standard error is no failure of the recording.
            let _ = write!(io::stderr(), "\r{text}\x1b[K");
            self.told = line;
        }
    }
}

impl Keyboard {
    /// Returns the size of the user's window. `None` if keys come from elsewhere.
    pub(super) fn size(&self) -> Option<Size> {
        match self {
            Self::Terminal(terminal) => Some(terminal.size()),
            Self::Pipe | Self::Script(_) => None,
        }
    }

    /// Sets the size of the screen that a typist reads. Other keyboards have no screen.
    pub(super) fn resize(&mut self, size: Size) {
        if let Self::Script(screened) = self {
            screened.terminal.resize(size);
        }
    }

    /// Returns the descriptor to wait on for keys.
    fn input(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Terminal(terminal) => Some(terminal.input()),
            Self::Pipe => Some(stdin()),
            Self::Script(_) => None,
        }
    }
}

/// A recording and everything it moves bytes between.
pub(super) struct Pump<W> {
    events: EventLoop,
    keyboard: Keyboard,
    master: Master,
    child: Child,
    recorder: Recorder<W>,
    /// Whether the program's terminal gets the size of the user's window.
    follows_window: bool,
    /// Keys that the program's terminal has not accepted yet. Until it accepts them, no further keys are read.
    keys: Vec<u8>,
    /// Output that the user's terminal has not accepted yet. Until it accepts it, no further output is read.
    output: Vec<u8>,
    /// Whether the source of keys is still open.
    has_keyboard: bool,
    tty_watch: TtyWatch,
    prompt_watch: PromptWatch,
    /// Whether the last check found the shell at its prompt.
    prompt: bool,
    /// When a key was last typed, or the program last wrote output.
    stirred_at: Instant,
    /// When the program wrote last.
    written_at: Instant,
    /// The signal that ends the recording.
    ended_by: Option<i32>,
    buffer: Vec<u8>,
}

impl<W: Write> Pump<W> {
    /// Creates the loop of a recording from its parts.
    pub(super) fn new(
        events: EventLoop,
        keyboard: Keyboard,
        master: Master,
        child: Child,
        recorder: Recorder<W>,
        follows_window: bool,
    ) -> Self {
        let now = events.now();
        Self {
            events,
            keyboard,
            master,
            child,
            recorder,
            follows_window,
            keys: Vec::new(),
            output: Vec::new(),
            has_keyboard: true,
            tty_watch: TtyWatch::default(),
            prompt_watch: PromptWatch::default(),
            prompt: false,
            stirred_at: now,
            written_at: now,
            ended_by: None,
            buffer: vec![0; READ_BYTES],
        }
    }

    /// Runs the loop until the session is over. Returns the exit code of the program.
    ///
    /// # Errors
    ///
    /// Returns an error if the trace cannot be written or the script has waited in vain.
    pub(super) fn run(mut self) -> Result<u8> {
        let result = self.turn_to_end();
        if let Keyboard::Terminal(terminal) = &self.keyboard {
            terminal.leave(b"");
        }
        // The trace is finished first, so that it is whole whatever ended the recording.
        let finished = self.recorder.finish().context("cannot write the trace");
        // Without its terminal, a program that still runs gets SIGHUP.
        drop(self.master);
        let status = wait_for_end(&mut self.events, &mut self.child);
        result.and(finished)?;
        let by_signal = self.ended_by.and_then(|signal| u8::try_from(signal).ok());
        Ok(by_signal.map_or(status, ExitStatus::Signal).shell_code())
    }

    fn turn_to_end(&mut self) -> Result<()> {
        let mut now = self.events.now();
        loop {
            self.note_modes(now)?;
            self.follow_script(now)?;
            self.write_keys(now)?;
            if !self.show()? || self.ended_by.is_some() || self.lingered_enough(now) {
                return Ok(());
            }
            let (woke, has_output, has_keys) = self.wait(now)?;
            now = woke;
            for signal in self.events.take_signals() {
                self.handle_signal(now, signal)?;
            }
            if has_keys {
                self.read_keys()?;
            }
            // A program that has ended may have left output in its terminal.
            let has_ended = self.child.try_wait().is_some();
            if has_output || has_ended {
                match self.read_output(now)? {
                    Read::Closed => return self.show().map(drop),
                    Read::Nothing if has_ended => return self.show().map(drop),
                    Read::Nothing | Read::Something => {}
                }
            }
        }
    }

    /// Sleeps until something happens. Returns when it woke, and whether output and keys wait.
    fn wait(&mut self, now: Instant) -> io::Result<(Instant, bool, bool)> {
        let script = match &self.keyboard {
            Keyboard::Script(screened) => screened.typist.poll_timeout(now, self.written_at),
            Keyboard::Terminal(_) | Keyboard::Pipe => None,
        };
        let lingering = (!self.has_keyboard).then(|| self.stirred_at + LINGER);
        let deadline = [script, lingering, self.tty_watch.deadline()].into_iter().flatten().min();
        let reads_output = self.output.is_empty();
        let master = Interest::new(self.master.as_fd(), reads_output, !self.keys.is_empty());
        let mut interests = vec![master];
        if let Keyboard::Terminal(terminal) = &self.keyboard
            && !reads_output
        {
            interests.push(Interest::new(terminal.output(), false, true));
        }
        let keys = interests.len();
        if self.has_keyboard && self.keys.is_empty() {
            interests.extend(self.keyboard.input().map(|input| Interest::new(input, true, false)));
        }
        self.events.wait(&mut interests, deadline)?;
        let has_output = interests[0].is_readable();
        let has_keys = interests.get(keys).is_some_and(Interest::is_readable);
        Ok((self.events.now(), has_output, has_keys))
    }

    /// Records that a key was typed or output was written.
    fn stir(&mut self, now: Instant) {
        self.stirred_at = now;
        self.tty_watch.stir(now);
    }

    fn note_modes(&mut self, now: Instant) -> Result<()> {
        let is_due = self.tty_watch.look(now);
        let Some(found) = self.master.modes() else { return Ok(()) };
        if is_due {
            let is_written = self.keys.is_empty();
            self.prompt = is_written && self.prompt_watch.look(&self.master, &self.child, found);
        }
        let modes = TtyModes {
            echo: found.modes.contains(rove_session::TtyModes::ECHO),
            icanon: found.modes.contains(rove_session::TtyModes::CANONICAL),
            prompt: self.prompt,
        };
        self.recorder.note_modes(now, modes).context("cannot write the trace")
    }

    fn handle_signal(&mut self, now: Instant, signal: i32) -> Result<()> {
        match (signal, &self.keyboard) {
            (SIGCONT, Keyboard::Terminal(terminal)) => terminal.enter()?,
            (SIGWINCH, Keyboard::Terminal(terminal)) if self.follows_window => {
                let size = terminal.size();
                self.resize(now, size)?;
            }
            (SIGTERM | SIGINT | SIGHUP, _) => self.ended_by = Some(signal),
            _ => {}
        }
        Ok(())
    }

    fn resize(&mut self, now: Instant, size: Size) -> Result<()> {
        self.master.resize(size).context("cannot resize the terminal")?;
        self.keyboard.resize(size);
        self.recorder.note_size(now, size).context("cannot write the trace")
    }

    /// Lets the typist of a script do what is due now.
    fn follow_script(&mut self, now: Instant) -> Result<()> {
        let Keyboard::Script(screened) = &mut self.keyboard else { return Ok(()) };
        if !self.keys.is_empty() {
            return Ok(());
        }
        let seen = Observation { screen: screened.terminal.screen(), written_at: self.written_at };
        let action = screened.typist.poll(now, seen);
        screened.tell_progress();
        self.has_keyboard = !screened.typist.is_done();
        match action? {
            Some(Action::Keys(keys)) => self.keys = keys,
            Some(Action::Resize(size)) => self.resize(now, size)?,
            None => {}
        }
        Ok(())
    }

    fn read_keys(&mut self) -> Result<()> {
        let read = match &self.keyboard {
            Keyboard::Terminal(terminal) => terminal.read(&mut self.buffer),
            Keyboard::Pipe => Ok(rustix::io::retry_on_intr(|| {
                rustix::io::read(stdin(), self.buffer.as_mut_slice())
            })?),
            Keyboard::Script(_) => return Ok(()),
        };
        match read {
            Ok(0) => self.has_keyboard = false,
            Ok(len) => self.keys.extend_from_slice(&self.buffer[..len]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // Reading keys fails after the user's window was closed.
            Err(_) => self.has_keyboard = false,
        }
        Ok(())
    }

    /// Writes as many keys as the program's terminal takes, and records the written ones.
    fn write_keys(&mut self, now: Instant) -> Result<()> {
        if self.keys.is_empty() {
            return Ok(());
        }
        // A failed write means that the program has gone. The loop finds that out elsewhere.
        let taken = self.master.write(&self.keys).unwrap_or(self.keys.len());
        if taken > 0 {
            let keys: Vec<u8> = self.keys.drain(..taken).collect();
            self.recorder.note_keys(now, &keys).context("cannot write the trace")?;
            self.stir(now);
        }
        Ok(())
    }

    /// Reads what the program wrote.
    fn read_output(&mut self, now: Instant) -> Result<Read> {
        let len = match self.master.read(&mut self.buffer) {
            Ok(0) => return Ok(Read::Closed),
            Ok(len) => len,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Read::Nothing),
            Err(error) => return Err(error).context("cannot read what the command writes"),
        };
        self.written_at = now;
        self.stir(now);
        let bytes = &self.buffer[..len];
        self.recorder.note_output(now, bytes).context("cannot write the trace")?;
        match &mut self.keyboard {
            Keyboard::Script(screened) => screened.terminal.write(bytes),
            Keyboard::Terminal(_) | Keyboard::Pipe => self.output.extend_from_slice(bytes),
        }
        Ok(Read::Something)
    }

    /// Writes pending output to the user's terminal, as far as there is room. Returns whether a user can still see it.
    fn show(&mut self) -> Result<bool> {
        match &self.keyboard {
            Keyboard::Terminal(terminal) => {
                while !self.output.is_empty() {
                    match terminal.write(&self.output) {
                        Ok(0) => break,
                        Ok(len) => drop(self.output.drain(..len)),
                        Err(_) => return Ok(false),
                    }
                }
            }
            Keyboard::Pipe => {
                let output = std::mem::take(&mut self.output);
                let mut stdout = io::stdout().lock();
                stdout
                    .write_all(&output)
                    .and_then(|()| stdout.flush())
                    .context("cannot write standard output")?;
            }
            Keyboard::Script(_) => {}
        }
        Ok(true)
    }

    /// Returns whether no more keys come, and the program has been silent for long enough.
    fn lingered_enough(&self, now: Instant) -> bool {
        let is_asked = matches!(self.keyboard, Keyboard::Terminal(_));
        let wait = if is_asked { Duration::ZERO } else { LINGER };
        !self.has_keyboard && now.saturating_since(self.stirred_at) >= wait
    }
}

/// Waits for the end of a program whose terminal is closed.
fn wait_for_end(events: &mut EventLoop, child: &mut Child) -> ExitStatus {
    let deadline = events.now() + HANG_UP_WAIT;
    loop {
        if let Some(status) = child.try_wait() {
            return status;
        }
        let is_late = events.now() >= deadline;
        if is_late || events.wait(&mut [], Some(deadline)).is_err() {
            // The program still runs. Its status is taken to be that of the SIGHUP that it was sent.
            return ExitStatus::Signal(HANG_UP);
        }
        events.take_signals();
    }
}
