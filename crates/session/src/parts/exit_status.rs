//! How the remote command, or the session around it, ended: told between two roves.

use rove_ssp::{ApplyError, Capabilities};

use crate::message::{Fields, Value, put_varint_field};
use crate::part::{Part, Receiver, Replica};

/// SIGHUP, which a session's command gets when nobody has its terminal any more.
const HANG_UP: u8 = 1;
/// SIGTERM, the usual wish that something end.
const TERMINATE: u8 = 15;

const CODE: u32 = 1;
const SIGNAL: u32 = 2;
/// The cause that ended the session in place of its command; clients that do not know it read the signal sent with it.
const OUTSIDE: u32 = 3;
const OUTSIDE_KILL: u8 = 1;
const OUTSIDE_SIGNAL: u8 = 2;
const OUTSIDE_SILENCE: u8 = 3;

/// How the remote command ended, as the caller's shell would see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// It returned this code.
    Code(u8),
    /// A signal with this number ended it.
    Signal(u8),
    /// Somebody ended the session around it.
    Outside(Outside),
}

/// A cause on the host, other than the command and the client, that ended a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// `rove kill`.
    Kill,
    /// A signal with this number, sent to the server.
    Signal(u8),
    /// The server, as its client was silent for too long.
    Silence,
}

impl ExitStatus {
    /// Returns the code a shell would report: the code itself, or 128 plus the signal.
    pub const fn shell_code(self) -> u8 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128_u8.saturating_add(signal),
            Self::Outside(outside) => 128_u8.saturating_add(outside.signal()),
        }
    }
}

impl Outside {
    /// Returns the number of the signal that did it, or that would have.
    pub const fn signal(self) -> u8 {
        match self {
            Self::Kill => TERMINATE,
            Self::Signal(signal) => signal,
            Self::Silence => HANG_UP,
        }
    }

    const fn number(self) -> u8 {
        match self {
            Self::Kill => OUTSIDE_KILL,
            Self::Signal(_) => OUTSIDE_SIGNAL,
            Self::Silence => OUTSIDE_SILENCE,
        }
    }
}

/// The status, where the command has ended.
impl Part for Option<ExitStatus> {
    const MEMBER: u32 = 16;
    const EXTENSION: Capabilities = Capabilities::EXIT_STATUS;

    fn diff_from(&self, base: &Self, _: &Receiver<'_>) -> Vec<Vec<u8>> {
        let Some(status) = self.filter(|_| self != base) else { return Vec::new() };
        let (field, value) = match status {
            ExitStatus::Code(code) => (CODE, code),
            ExitStatus::Signal(signal) => (SIGNAL, signal),
            ExitStatus::Outside(outside) => (SIGNAL, outside.signal()),
        };
        let mut body = Vec::with_capacity(5);
        put_varint_field(&mut body, field, u64::from(value));
        if let ExitStatus::Outside(outside) = status {
            put_varint_field(&mut body, OUTSIDE, u64::from(outside.number()));
        }
        vec![body]
    }

    /// A kind or a value that a later version may mean something by changes nothing.
    fn apply(&mut self, body: &[u8], _: &mut Replica<'_>) -> Result<(), ApplyError> {
        let (mut status, mut outside) = (None, None);
        for field in Fields::of(body) {
            if let (number, Value::Varint(value)) = field?
                && let Ok(value) = u8::try_from(value)
            {
                match number {
                    CODE => status = Some(ExitStatus::Code(value)),
                    SIGNAL => status = Some(ExitStatus::Signal(value)),
                    OUTSIDE => outside = Some(value),
                    _ => {}
                }
            }
        }
        if let Some(ExitStatus::Signal(signal)) = status {
            status = Some(match outside {
                Some(OUTSIDE_KILL) => ExitStatus::Outside(Outside::Kill),
                Some(OUTSIDE_SIGNAL) => ExitStatus::Outside(Outside::Signal(signal)),
                Some(OUTSIDE_SILENCE) => ExitStatus::Outside(Outside::Silence),
                _ => ExitStatus::Signal(signal),
            });
        }
        *self = status.or(*self);
        Ok(())
    }

    fn same_as(&self, other: &Self) -> bool {
        self == other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::tests::{applied, diff};

    #[test]
    fn a_shell_reports_a_signal_above_128() {
        for (status, code) in [
            (ExitStatus::Code(3), 3),
            (ExitStatus::Signal(9), 137),
            (ExitStatus::Signal(255), 255),
            (ExitStatus::Outside(Outside::Kill), 143),
            (ExitStatus::Outside(Outside::Signal(2)), 130),
            (ExitStatus::Outside(Outside::Silence), 129),
        ] {
            assert_eq!(status.shell_code(), code, "{status:?}");
        }
    }

    #[test]
    fn every_exit_status_comes_back() {
        for value in 0..=255 {
            let outside = ExitStatus::Outside;
            for status in [
                ExitStatus::Code(value),
                ExitStatus::Signal(value),
                outside(Outside::Signal(value)),
                outside(Outside::Kill),
                outside(Outside::Silence),
            ] {
                assert_eq!(applied(None, &diff(&None, &Some(status))), Ok(Some(status)));
            }
        }
    }

    #[test]
    fn an_end_from_outside_is_a_signal_to_who_knows_no_more() {
        let told = diff(&None, &Some(ExitStatus::Outside(Outside::Kill)));
        assert_eq!(told, b"\x0a\x07\x82\x01\x04\x10\x0f\x18\x01");
        // A reason of a later version.
        let later = b"\x0a\x07\x82\x01\x04\x10\x0f\x18\x09";
        assert_eq!(applied(None, later), Ok(Some(ExitStatus::Signal(15))));
    }
}
