//! Translates cursor keys to the form that the program on the pty has asked for.
//!
//! A Mosh 1.4.0 client keeps the user's terminal in application-cursor-key mode, so an arrow arrives as `ESC O x`. A
//! program that has not asked for that mode gets `ESC [ x`. All other keys stay unchanged. With a rove client, the
//! terminal's mode follows the program's mode. Only arrows typed before the terminal has changed its mode are therefore
//! translated. Source: Mosh 1.4.0 as observed, docs/terminal.md.

use rove_units::{Duration, Instant};

const ESC: u8 = 0x1b;

/// How long an `O` after ESC is withheld if no byte follows. Chosen: the longest frame interval. If the client reads an
/// arrow's bytes in two pieces, the second piece arrives one frame later. Mosh 1.4.0 withholds the `O` until the next
/// key, so that Alt-O seems dead.
const HOLD: Duration = Duration::from_millis(250);

/// The translator's position within the bytes of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    /// An ESC has been read.
    Escape,
    /// ESC and O have been read, and the O is withheld since the time `since`.
    SingleShift { since: Instant },
}

/// Translates the user's keys. Its state outlives a diff, because two diffs may carry the bytes of one key.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyTranslator {
    state: State,
}

impl KeyTranslator {
    /// Translates one byte of a key and appends the result to `out`. `application_cursor_keys` is the program's mode.
    pub(crate) fn translate(
        &mut self,
        now: Instant,
        byte: u8,
        application_cursor_keys: bool,
        out: &mut Vec<u8>,
    ) {
        self.state = match (self.state, byte) {
            (State::Ground, ESC) => {
                out.push(ESC);
                State::Escape
            }
            (State::Escape, b'O') => State::SingleShift { since: now },
            (State::SingleShift { .. }, b'A'..=b'D') if !application_cursor_keys => {
                out.extend([b'[', byte]);
                State::Ground
            }
            (State::SingleShift { .. }, _) => {
                out.extend([b'O', byte]);
                State::Ground
            }
            (State::Ground | State::Escape, _) => {
                out.push(byte);
                State::Ground
            }
        };
    }

    /// Appends a withheld `O` to `out`, because no byte of the same client follows.
    pub(crate) fn flush(self, out: &mut Vec<u8>) {
        out.extend(self.poll_timeout().map(|_| b'O'));
    }

    /// Appends a withheld `O` to `out` if it has been withheld for [`HOLD`].
    pub(crate) fn handle_timeout(&mut self, now: Instant, out: &mut Vec<u8>) {
        if self.poll_timeout().is_some_and(|due| due <= now) {
            out.push(b'O');
            self.state = State::Ground;
        }
    }

    /// Returns when a withheld `O` is passed on. `None` without a withheld `O`.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        match self.state {
            State::SingleShift { since } => Some(since + HOLD),
            State::Ground | State::Escape => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(keys: &[u8], application: bool) -> Vec<u8> {
        let mut out = Vec::new();
        let mut translator = KeyTranslator::default();
        for &byte in keys {
            translator.translate(Instant::ZERO, byte, application, &mut out);
        }
        out
    }

    #[test]
    fn arrows_follow_the_cursor_key_mode_and_the_rest_passes() {
        let table: [(&[u8], &[u8], &[u8]); 8] = [
            (b"plain \xff", b"plain \xff", b"plain \xff"),
            (b"\x1bOA\x1bOD", b"\x1b[A\x1b[D", b"\x1bOA\x1bOD"),
            (b"\x1bOE\x1bOH\x1bOF", b"\x1bOE\x1bOH\x1bOF", b"\x1bOE\x1bOH\x1bOF"),
            (b"\x1b[A", b"\x1b[A", b"\x1b[A"),
            // The second ESC ends the sequence, so the O after it is a plain letter.
            (b"\x1b\x1bOA", b"\x1b\x1bOA", b"\x1b\x1bOA"),
            (b"\x1b\x1b\x1bOA", b"\x1b\x1b\x1b[A", b"\x1b\x1b\x1bOA"),
            (b"\x1bOO", b"\x1bOO", b"\x1bOO"),
            (b"\x1bO", b"\x1b", b"\x1b"),
        ];
        for (keys, normal, application) in table {
            assert_eq!(translated(keys, false), normal, "{keys:?}");
            assert_eq!(translated(keys, true), application, "{keys:?}");
        }
    }

    #[test]
    fn a_lone_alt_o_is_given_up_after_its_hold() {
        let mut out = Vec::new();
        let mut translator = KeyTranslator::default();
        for byte in *b"\x1bO" {
            translator.translate(Instant::from_millis(5), byte, false, &mut out);
        }
        let due = Instant::from_millis(255);
        assert_eq!(translator.poll_timeout(), Some(due));
        translator.handle_timeout(Instant::from_millis(254), &mut out);
        assert_eq!(out, b"\x1b");
        translator.handle_timeout(due, &mut out);
        assert_eq!(out, b"\x1bO");
        assert_eq!(translator.poll_timeout(), None);
        translator.translate(due, b'A', false, &mut out);
        assert_eq!(out, b"\x1bOA");
    }
}
