//! `HostMessage`: echo acks, sizes, terminal bytes and, between two roves, the exit status and events.

use rove_ssp::{ApplyError, StateNum};

use super::protobuf::{Fields, Value, bytes_field, number, put_varint_field, string};
use super::{
    INSTRUCTION, MessageWriter, RESIZE, WireLines, WireNotifications, WireSize, WireTty, event,
    scrollback, wire_size,
};
use crate::parts::clipboard::CopyPiece;
use crate::parts::exit_status::{ExitStatus, Outside};

const HOST_BYTES: u32 = 2;
const HOST_BYTES_STRING: u32 = 4;
const ECHO_ACK: u32 = 7;
const ECHO_ACK_NUM: u32 = 8;
/// Between two roves only: how the remote command ended.
const EXIT_STATUS: u32 = 16;
const EXIT_STATUS_CODE: u32 = 1;
const EXIT_STATUS_SIGNAL: u32 = 2;
/// The cause that ended the session in place of its command; clients that do not know it read the signal sent with it.
const EXIT_STATUS_OUTSIDE: u32 = 3;
const OUTSIDE_KILL: u8 = 1;
const OUTSIDE_SIGNAL: u8 = 2;
const OUTSIDE_SILENCE: u8 = 3;
/// Between two roves only: the terminal that the programs run on.
const TTY: u32 = 20;

/// One instruction of a `HostMessage`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostInstruction<'a> {
    /// Terminal bytes for the replica.
    Bytes(&'a [u8]),
    /// The screen has a new size.
    Resize(WireSize),
    /// Input up to this state of the client's has had its effect.
    EchoAck(StateNum),
    /// How the remote command ended.
    ExitStatus(ExitStatus),
    /// The bell has rung this often.
    Bells(u64),
    /// Something was copied.
    Copy(CopyPiece<'a>),
    /// Programs notified of something.
    Notifications(WireNotifications<'a>),
    /// The terminal that the programs run on is in this state.
    Tty(WireTty),
    /// Lines have scrolled off.
    Lines(WireLines<'a>),
    /// Only members this version does not know.
    Unknown,
}

/// Reads the first instruction of a `HostMessage`, `None` for a field that is none; and how many bytes it takes, from 1.
/// There must be one.
pub(crate) fn first_host_instruction(
    diff: &[u8],
) -> Result<(Option<HostInstruction<'_>>, usize), ApplyError> {
    let mut fields = Fields::of_message(diff);
    let instruction = match fields.next().transpose()? {
        Some((INSTRUCTION, Value::Bytes(body))) => Some(host_instruction(body)?),
        _ => None,
    };
    Ok((instruction, diff.len() - fields.len()))
}

/// Reads the instructions of a `HostMessage`, in order.
#[cfg(test)]
pub(crate) fn host_instructions(
    diff: &[u8],
) -> impl Iterator<Item = Result<HostInstruction<'_>, ApplyError>> {
    super::instructions(diff).map(|body| host_instruction(body?))
}

impl MessageWriter {
    /// Adds terminal bytes to a `HostMessage`.
    pub(crate) fn host_bytes(&mut self, bytes: &[u8]) {
        self.instruction(HOST_BYTES, &bytes_field(HOST_BYTES_STRING, bytes));
    }

    /// Adds an echo ack to a `HostMessage`.
    pub(crate) fn echo_ack(&mut self, num: StateNum) {
        let mut body = Vec::with_capacity(11);
        put_varint_field(&mut body, ECHO_ACK_NUM, num.get());
        self.instruction(ECHO_ACK, &body);
    }

    /// Adds the command's exit status to a `HostMessage`. Only for a peer that has shown to know it.
    pub(crate) fn exit_status(&mut self, status: ExitStatus) {
        let (field, value, outside) = match status {
            ExitStatus::Code(code) => (EXIT_STATUS_CODE, code, None),
            ExitStatus::Signal(signal) => (EXIT_STATUS_SIGNAL, signal, None),
            ExitStatus::Outside(outside) => {
                (EXIT_STATUS_SIGNAL, outside.signal(), Some(outside_number(outside)))
            }
        };
        let mut body = Vec::with_capacity(5);
        put_varint_field(&mut body, field, u64::from(value));
        if let Some(outside) = outside {
            put_varint_field(&mut body, EXIT_STATUS_OUTSIDE, u64::from(outside));
        }
        self.instruction(EXIT_STATUS, &body);
    }

    /// Adds the state of the terminal that the programs run on. Only for a peer that has shown to know it.
    pub(crate) fn tty(&mut self, tty: WireTty) {
        self.instruction(TTY, &tty.body());
    }
}

fn host_instruction(body: &[u8]) -> Result<HostInstruction<'_>, ApplyError> {
    let (mut bytes, mut resize, mut echo_ack, mut extension) = (None, None, None, None);
    for field in Fields::of(body) {
        match field? {
            (HOST_BYTES, Value::Bytes(body)) => bytes = Some(string(body, HOST_BYTES_STRING)?),
            (RESIZE, Value::Bytes(body)) => resize = Some(wire_size(body)?),
            (ECHO_ACK, Value::Bytes(body)) => echo_ack = Some(number(body, ECHO_ACK_NUM)?),
            (EXIT_STATUS, Value::Bytes(body)) => {
                extension = wire_exit_status(body)?.map(HostInstruction::ExitStatus);
            }
            (TTY, Value::Bytes(body)) => {
                extension = Some(HostInstruction::Tty(WireTty::read(body)?))
            }
            (scrollback::LINES, Value::Bytes(body)) => {
                extension = Some(HostInstruction::Lines(WireLines::read(body)?));
            }
            (member, Value::Bytes(body)) => extension = event::read(member, body)?.or(extension),
            _ => {}
        }
    }
    Ok(match (bytes, resize, echo_ack, extension) {
        (Some(bytes), ..) => HostInstruction::Bytes(bytes),
        (None, Some(size), ..) => HostInstruction::Resize(size),
        (None, None, Some(num), _) => HostInstruction::EchoAck(StateNum::new(num)),
        (None, None, None, Some(extension)) => extension,
        (None, None, None, None) => HostInstruction::Unknown,
    })
}

const fn outside_number(outside: Outside) -> u8 {
    match outside {
        Outside::Kill => OUTSIDE_KILL,
        Outside::Signal(_) => OUTSIDE_SIGNAL,
        Outside::Silence => OUTSIDE_SILENCE,
    }
}

/// Returns a status, or `None` for a kind or a value that a later version may mean something by.
fn wire_exit_status(body: &[u8]) -> Result<Option<ExitStatus>, ApplyError> {
    let (mut status, mut outside) = (None, None);
    for field in Fields::of(body) {
        if let (number, Value::Varint(value)) = field?
            && let Ok(value) = u8::try_from(value)
        {
            match number {
                EXIT_STATUS_CODE => status = Some(ExitStatus::Code(value)),
                EXIT_STATUS_SIGNAL => status = Some(ExitStatus::Signal(value)),
                EXIT_STATUS_OUTSIDE => outside = Some(value),
                _ => {}
            }
        }
    }
    Ok(match (status, outside) {
        (Some(ExitStatus::Signal(_)), Some(OUTSIDE_KILL)) => {
            Some(ExitStatus::Outside(Outside::Kill))
        }
        (Some(ExitStatus::Signal(signal)), Some(OUTSIDE_SIGNAL)) => {
            Some(ExitStatus::Outside(Outside::Signal(signal)))
        }
        (Some(ExitStatus::Signal(_)), Some(OUTSIDE_SILENCE)) => {
            Some(ExitStatus::Outside(Outside::Silence))
        }
        _ => status,
    })
}
