//! How the session ended, sent between two roves: the command's exit status, or the cause if the command still ran.

use core::net::IpAddr;

use rove_ssp::{ApplyError, Capabilities};
use rove_terminal::{Dismissal, ExitStatus, Outside};

use crate::message::{Fields, Value, bytes_field, put_varint_field};
use crate::part::{Part, Receiver, Replica};

const CODE: u32 = 1;
const SIGNAL: u32 = 2;
/// Field of the cause that ended the session while its command still ran. Clients that do not know this field read the
/// signal sent with it.
const OUTSIDE: u32 = 3;
const OUTSIDE_KILL: u8 = 1;
const OUTSIDE_SIGNAL: u8 = 2;
const OUTSIDE_SILENCE: u8 = 3;
const OUTSIDE_TAKEN_OVER: u8 = 4;
const OUTSIDE_DISMISSED: u8 = 5;
/// Field of the address from which another client took the session over, in its 4 or 16 bytes.
const TAKEN_FROM: u32 = 4;
/// Field of the reason for which the server ended a joined client.
const DISMISSAL: u32 = 5;
const DISMISSAL_WANTED: u64 = 1;
const DISMISSAL_UNSEEN: u64 = 2;
const DISMISSAL_SILENCE: u64 = 3;

/// The exit status of the session. `None` while its command runs.
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
            put_varint_field(&mut body, OUTSIDE, u64::from(number(outside)));
        }
        if let ExitStatus::Outside(Outside::TakenOver(Some(from))) = status {
            body.extend(match from {
                IpAddr::V4(from) => bytes_field(TAKEN_FROM, &from.octets()),
                IpAddr::V6(from) => bytes_field(TAKEN_FROM, &from.octets()),
            });
        }
        if let ExitStatus::Outside(Outside::Dismissed(Some(dismissal))) = status {
            let number = match dismissal {
                Dismissal::Wanted => DISMISSAL_WANTED,
                Dismissal::Unseen => DISMISSAL_UNSEEN,
                Dismissal::Silence => DISMISSAL_SILENCE,
            };
            put_varint_field(&mut body, DISMISSAL, number);
        }
        vec![body]
    }

    /// Reads the status. Unknown fields and values, as a later version may send, change nothing.
    fn apply(&mut self, body: &[u8], _: &mut Replica<'_>) -> Result<(), ApplyError> {
        let (mut status, mut outside, mut from, mut dismissal) = (None, None, None, None);
        for field in Fields::of(body) {
            match field? {
                (TAKEN_FROM, Value::Bytes(octets)) => {
                    let v4 = <[u8; 4]>::try_from(octets).map(IpAddr::from);
                    from = v4.or_else(|_| <[u8; 16]>::try_from(octets).map(IpAddr::from)).ok();
                }
                (DISMISSAL, Value::Varint(DISMISSAL_WANTED)) => dismissal = Some(Dismissal::Wanted),
                (DISMISSAL, Value::Varint(DISMISSAL_UNSEEN)) => dismissal = Some(Dismissal::Unseen),
                (DISMISSAL, Value::Varint(DISMISSAL_SILENCE)) => {
                    dismissal = Some(Dismissal::Silence);
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
                Some(OUTSIDE_DISMISSED) => ExitStatus::Outside(Outside::Dismissed(dismissal)),
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

/// Returns the number that encodes the cause on the wire.
const fn number(outside: Outside) -> u8 {
    match outside {
        Outside::Kill => OUTSIDE_KILL,
        Outside::Signal(_) => OUTSIDE_SIGNAL,
        Outside::Silence => OUTSIDE_SILENCE,
        Outside::TakenOver(_) => OUTSIDE_TAKEN_OVER,
        Outside::Dismissed(_) => OUTSIDE_DISMISSED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::tests::{applied, diff};

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
                outside(Outside::Dismissed(None)),
                outside(Outside::Dismissed(Some(Dismissal::Wanted))),
                outside(Outside::Dismissed(Some(Dismissal::Unseen))),
                outside(Outside::Dismissed(Some(Dismissal::Silence))),
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
        // A later version may send an unknown reason.
        let later = b"\x0a\x07\x82\x01\x04\x10\x0f\x18\x09";
        assert_eq!(applied(None, later), Ok(Some(ExitStatus::Signal(15))));
        let later = b"\x0a\x09\x82\x01\x06\x10\x01\x18\x05\x28\x09";
        let dismissed = ExitStatus::Outside(Outside::Dismissed(None));
        assert_eq!(applied(None, later), Ok(Some(dismissed)));
    }
}
