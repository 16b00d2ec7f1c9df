//! The part of a session that is written down, and the protection of secrets.

use std::io::{self, Write};

use rove_terminal::Size;
use rove_units::Instant;

use crate::trace::{Event, Record, TraceWriter, TtyModes};

/// The letter in the trace for each character that was typed without an echo.
const VEIL: u8 = b'x';

/// Writes down a session as it happens.
#[derive(Debug)]
pub(crate) struct Recorder<W> {
    writer: TraceWriter<W>,
    /// The modes that were written down last.
    modes: Option<TtyModes>,
    with_secrets: bool,
}

impl<W: Write> Recorder<W> {
    /// Begins the trace of a terminal of this size.
    ///
    /// # Errors
    ///
    /// Returns the I/O error of `output`.
    pub(crate) fn new(output: W, size: Size, with_secrets: bool) -> io::Result<Self> {
        let writer = TraceWriter::new(output, size)?;
        Ok(Self { writer, modes: None, with_secrets })
    }

    /// Writes down the terminal's modes if they have changed. A shell's prompt is written down after each key that the
    /// shell has read.
    ///
    /// # Errors
    ///
    /// Returns the I/O error of the output.
    pub(crate) fn note_modes(&mut self, at: Instant, modes: TtyModes) -> io::Result<()> {
        if self.modes.replace(modes) == Some(modes) {
            return Ok(());
        }
        self.writer.write(&Record { at, event: Event::Tty(modes) })
    }

    /// Writes down what the user typed. Each character of a secret, which has no echo, becomes a letter `x`.
    ///
    /// # Errors
    ///
    /// Returns the I/O error of the output.
    pub(crate) fn note_keys(&mut self, at: Instant, keys: &[u8]) -> io::Result<()> {
        let mut keys = keys.to_vec();
        // The terminal gathers a line without showing it, as for a password.
        let is_unseen = self.modes.is_some_and(|modes| modes.icanon && !modes.echo);
        if is_unseen && !self.with_secrets {
            keys.iter_mut().filter(|key| !key.is_ascii_control()).for_each(|key| *key = VEIL);
        }
        if let Some(modes) = &mut self.modes {
            modes.prompt = false;
        }
        self.writer.write(&Record { at, event: Event::User(keys) })
    }

    /// Writes down what the program wrote.
    ///
    /// # Errors
    ///
    /// Returns the I/O error of the output.
    pub(crate) fn note_output(&mut self, at: Instant, bytes: &[u8]) -> io::Result<()> {
        self.writer.write(&Record { at, event: Event::Host(bytes.to_vec()) })
    }

    /// Writes down the window's new size.
    ///
    /// # Errors
    ///
    /// Returns the I/O error of the output.
    pub(crate) fn note_size(&mut self, at: Instant, size: Size) -> io::Result<()> {
        self.writer.write(&Record { at, event: Event::Size(size) })
    }

    /// Ends the trace.
    ///
    /// # Errors
    ///
    /// Returns the I/O error of the output.
    pub(crate) fn finish(self) -> io::Result<W> {
        self.writer.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Trace;

    fn modes(echo: bool, icanon: bool) -> TtyModes {
        TtyModes { echo, icanon, prompt: false }
    }

    fn recorded(with_secrets: bool, tell: impl Fn(&mut Recorder<Vec<u8>>)) -> Vec<Event> {
        let mut recorder = Recorder::new(Vec::new(), Size::DEFAULT, with_secrets).unwrap();
        tell(&mut recorder);
        let text = recorder.finish().unwrap();
        let records = Trace::read(text.as_slice()).unwrap().records;
        records.into_iter().map(|record| record.event).collect()
    }

    #[test]
    fn modes_are_written_when_they_change() {
        let events = recorded(false, |recorder| {
            for modes in [modes(true, true), modes(true, true), modes(false, true)] {
                recorder.note_modes(Instant::ZERO, modes).unwrap();
            }
        });
        assert_eq!(events, [Event::Tty(modes(true, true)), Event::Tty(modes(false, true))]);
    }

    #[test]
    fn a_shell_at_its_prompt_is_written_after_each_key_that_it_has_read() {
        let prompt = TtyModes { prompt: true, ..modes(false, false) };
        let events = recorded(false, |recorder| {
            for found in [prompt, prompt] {
                recorder.note_modes(Instant::ZERO, found).unwrap();
            }
            recorder.note_keys(Instant::ZERO, b"a").unwrap();
            for found in [modes(false, false), prompt, modes(false, false)] {
                recorder.note_modes(Instant::ZERO, found).unwrap();
            }
        });
        let (tty, other) = (Event::Tty(prompt), Event::Tty(modes(false, false)));
        assert_eq!(events, [tty.clone(), Event::User(b"a".to_vec()), tty, other]);
    }

    #[test]
    fn a_secret_is_veiled_unless_it_is_asked_for() {
        for (modes, with_secrets, wanted) in [
            (modes(false, true), false, "xxxx\x7f\r"),
            (modes(false, true), true, "h\u{e4}r\x7f\r"),
            (modes(true, true), false, "h\u{e4}r\x7f\r"),
            // A line editor, which echoes the keys itself.
            (modes(false, false), false, "h\u{e4}r\x7f\r"),
        ] {
            let events = recorded(with_secrets, |recorder| {
                recorder.note_modes(Instant::ZERO, modes).unwrap();
                recorder.note_keys(Instant::ZERO, "h\u{e4}r\x7f\r".as_bytes()).unwrap();
            });
            assert_eq!(events[1], Event::User(wanted.as_bytes().to_vec()));
        }
    }
}
