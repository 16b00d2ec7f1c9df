//! What happens once, in a `HostMessage`: copied text, bells, notifications. Between two roves only.

use rove_ssp::ApplyError;
use rove_terminal::Notification;

use super::protobuf::{Fields, Value, number, put_bytes_field, put_varint_field, string};
use super::{HostInstruction, MessageWriter};
use crate::parts::clipboard::CopyPiece;

/// A piece of copied text. Selections and length come with the first of a copy.
const COPY: u32 = 17;
const COPY_NUMBER: u32 = 1;
const COPY_OFFSET: u32 = 2;
const COPY_TEXT: u32 = 3;
const COPY_SELECTIONS: u32 = 4;
const COPY_LENGTH: u32 = 5;
/// How often the bell rang.
const BELLS: u32 = 18;
const BELLS_COUNT: u32 = 1;
/// The newest notifications.
const NOTIFICATIONS: u32 = 19;
const NOTIFICATIONS_NEWEST: u32 = 1;
const NOTIFICATIONS_COMMAND: u32 = 2;

/// Notifications as the wire has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WireNotifications<'a> {
    /// The number of the last.
    pub(crate) newest: u64,
    body: &'a [u8],
}

impl<'a> WireNotifications<'a> {
    /// Returns the texts of their operating system commands, in order.
    pub(crate) fn commands(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        Fields::of(self.body).filter_map(|field| match field {
            Ok((NOTIFICATIONS_COMMAND, Value::Bytes(command))) => Some(command),
            _ => None,
        })
    }
}

impl MessageWriter {
    /// Adds how often the bell rang to a `HostMessage`. Only for a peer that has shown to know it.
    pub(crate) fn bells(&mut self, count: u64) {
        let mut body = Vec::with_capacity(11);
        put_varint_field(&mut body, BELLS_COUNT, count);
        self.instruction(BELLS, &body);
    }

    /// Adds a piece of copied text to a `HostMessage`. Only for a peer that has shown to know it.
    pub(crate) fn copy(&mut self, piece: &CopyPiece<'_>) {
        let mut body = Vec::with_capacity(piece.text.len() + 64);
        put_varint_field(&mut body, COPY_NUMBER, piece.number);
        put_varint_field(&mut body, COPY_OFFSET, piece.offset);
        put_bytes_field(&mut body, COPY_TEXT, piece.text);
        if let Some((selections, length)) = piece.head {
            put_bytes_field(&mut body, COPY_SELECTIONS, selections.as_bytes());
            put_varint_field(&mut body, COPY_LENGTH, length);
        }
        self.instruction(COPY, &body);
    }

    /// Adds notifications to a `HostMessage`. Only for a peer that has shown to know them.
    pub(crate) fn notifications(&mut self, newest: u64, notifications: &[Notification]) {
        let mut body = Vec::new();
        put_varint_field(&mut body, NOTIFICATIONS_NEWEST, newest);
        for notification in notifications {
            put_bytes_field(&mut body, NOTIFICATIONS_COMMAND, notification.command().as_bytes());
        }
        self.instruction(NOTIFICATIONS, &body);
    }
}

/// Reads an event; `None` for a member that is none.
pub(super) fn read(member: u32, body: &[u8]) -> Result<Option<HostInstruction<'_>>, ApplyError> {
    Ok(Some(match member {
        COPY => HostInstruction::Copy(wire_copy(body)?),
        BELLS => HostInstruction::Bells(number(body, BELLS_COUNT)?),
        NOTIFICATIONS => HostInstruction::Notifications(WireNotifications {
            newest: number(body, NOTIFICATIONS_NEWEST)?,
            body,
        }),
        _ => return Ok(None),
    }))
}

/// Returns a piece of copied text. Selections that are no text stand for none that is known.
fn wire_copy(body: &[u8]) -> Result<CopyPiece<'_>, ApplyError> {
    let selections = core::str::from_utf8(string(body, COPY_SELECTIONS)?).unwrap_or("?");
    let length = number(body, COPY_LENGTH)?;
    Ok(CopyPiece {
        number: number(body, COPY_NUMBER)?,
        head: (length > 0).then_some((selections, length)),
        offset: number(body, COPY_OFFSET)?,
        text: string(body, COPY_TEXT)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::host_instructions;

    fn host(diff: &[u8]) -> Result<Vec<HostInstruction<'_>>, ApplyError> {
        host_instructions(diff).collect()
    }

    #[test]
    fn copies_and_bells_come_back() {
        for head in [None, Some(("", 1)), Some(("pc", u64::MAX))] {
            for text in [&b""[..], b"aGk="] {
                let piece = CopyPiece { number: 7, head, offset: 1 << 40, text };
                let mut message = MessageWriter::default();
                message.copy(&piece);
                message.bells(u64::MAX);
                let wanted = [HostInstruction::Copy(piece), HostInstruction::Bells(u64::MAX)];
                assert_eq!(host(&message.finish()).unwrap(), wanted);
            }
        }
        // Selections that are no text, which no rule allows.
        let strange = b"\x0a\x08\x8a\x01\x05\x22\x01\xff\x28\x04";
        let piece = CopyPiece { number: 0, head: Some(("?", 4)), offset: 0, text: b"" };
        assert_eq!(host(strange), Ok(vec![HostInstruction::Copy(piece)]));
    }

    #[test]
    fn notifications_come_back() {
        let given = ["9;done", "777;notify;a;b"].map(|command| Notification::new(command).unwrap());
        let mut message = MessageWriter::default();
        message.notifications(u64::MAX, &given);
        let message = message.finish();
        let [HostInstruction::Notifications(notifications)] = host(&message).unwrap()[..] else {
            panic!("notifications")
        };
        assert_eq!(notifications.newest, u64::MAX);
        let commands: Vec<_> = notifications.commands().collect();
        assert_eq!(commands, [&b"9;done"[..], b"777;notify;a;b"]);
    }
}
