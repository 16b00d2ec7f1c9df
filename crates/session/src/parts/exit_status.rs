//! How the remote command, or the session around it, ended: told between two roves.

use core::net::IpAddr;

use rove_ssp::{ApplyError, Capabilities};

use crate::message::{Fields, Value, bytes_field, put_varint_field};
use crate::part::{Part, Receiver, Replica};

/// SIGHUP, which a session's command gets when its terminal is gone.
const HANG_UP: u8 = 1;
/// SIGTERM, the usual wish that something end.
const TERMINATE: u8 = 15;
/// Exit code of a client whose session went to another client. Chosen: above the codes of sysexits.h, which end at 78, and
/// below those of shells, which begin at 126.
const TAKEN_OVER_CODE: u8 = 79;

const CODE: u32 = 1;
const SIGNAL: u32 = 2;
/// The cause that ended the session in place of its command; clients that do not know it read the signal sent with it.
const OUTSIDE: u32 = 3;
const OUTSIDE_KILL: u8 = 1;
const OUTSIDE_SIGNAL: u8 = 2;
const OUTSIDE_SILENCE: u8 = 3;
const OUTSIDE_TAKEN_OVER: u8 = 4;
const OUTSIDE_DISMISSED: u8 = 5;
/// The address that the session was taken over from, in its 4 or 16 bytes.
const TAKEN_FROM: u32 = 4;

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
    /// Another client took the session over, and it goes on; with the address that it was asked from, where that is known.
    TakenOver(Option<IpAddr>),
    /// The session's own client ended this one, which had joined; the session goes on.
    Dismissed,
}

impl ExitStatus {
    /// Returns the code a shell would report: the code itself, or 128 plus the signal.
    pub const fn shell_code(self) -> u8 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128_u8.saturating_add(signal),
            Self::Outside(Outside::TakenOver(_) | Outside::Dismissed) => TAKEN_OVER_CODE,
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
            Self::Silence | Self::TakenOver(_) | Self::Dismissed => HANG_UP,
        }
    }

    const fn number(self) -> u8 {
        match self {
            Self::Kill => OUTSIDE_KILL,
            Self::Signal(_) => OUTSIDE_SIGNAL,
            Self::Silence => OUTSIDE_SILENCE,
            Self::TakenOver(_) => OUTSIDE_TAKEN_OVER,
            Self::Dismissed => OUTSIDE_DISMISSED,
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
        if let ExitStatus::Outside(Outside::TakenOver(Some(from))) = status {
            body.extend(match from {
                IpAddr::V4(from) => bytes_field(TAKEN_FROM, &from.octets()),
                IpAddr::V6(from) => bytes_field(TAKEN_FROM, &from.octets()),
            });
        }
        vec![body]
    }

    /// A kind or a value that a later version may mean something by changes nothing.
    fn apply(&mut self, body: &[u8], _: &mut Replica<'_>) -> Result<(), ApplyError> {
        let (mut status, mut outside, mut from) = (None, None, None);
        for field in Fields::of(body) {
            match field? {
                (TAKEN_FROM, Value::Bytes(octets)) => {
                    let v4 = <[u8; 4]>::try_from(octets).map(IpAddr::from);
                    from = v4.or_else(|_| <[u8; 16]>::try_from(octets).map(IpAddr::from)).ok();
                }
                (number, Value::Varint(value)) => match (number, u8::try_from(value)) {
                    (CODE, Ok(value)) => status = Some(ExitStatus::Code(value)),
                    (SIGNAL, Ok(value)) => status = Some(ExitStatus::Signal(value)),
                    (OUTSIDE, Ok(value)) => outside = Some(value),
                    _ => {}
                },
                _ => {}
            }
        }
        if let Some(ExitStatus::Signal(signal)) = status {
            status = Some(match outside {
                Some(OUTSIDE_KILL) => ExitStatus::Outside(Outside::Kill),
                Some(OUTSIDE_SIGNAL) => ExitStatus::Outside(Outside::Signal(signal)),
                Some(OUTSIDE_SILENCE) => ExitStatus::Outside(Outside::Silence),
                Some(OUTSIDE_TAKEN_OVER) => ExitStatus::Outside(Outside::TakenOver(from)),
                Some(OUTSIDE_DISMISSED) => ExitStatus::Outside(Outside::Dismissed),
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
            (ExitStatus::Outside(Outside::TakenOver(None)), 79),
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
                outside(Outside::TakenOver(None)),
                outside(Outside::Dismissed),
                outside(Outside::TakenOver(Some([value; 4].into()))),
                outside(Outside::TakenOver(Some([value; 16].into()))),
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
