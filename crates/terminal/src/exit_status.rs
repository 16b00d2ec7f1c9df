//! How the remote command, or the session around it, ended.

use core::net::IpAddr;

/// SIGHUP, which a session's command gets when its terminal is gone.
const HANG_UP: u8 = 1;
/// SIGTERM, the usual wish that something end.
const TERMINATE: u8 = 15;
/// Exit code of a client whose session went to another client. Chosen: above the codes of sysexits.h, which end at 78, and
/// below those of shells, which begin at 126.
const TAKEN_OVER_CODE: u8 = 79;

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
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
