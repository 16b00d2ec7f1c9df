//! How the remote command, or the session around it, ended.

use core::net::IpAddr;

/// SIGHUP, the signal for a session's command after its terminal is gone.
const HANG_UP: u8 = 1;
/// SIGTERM, which asks a program to end.
const TERMINATE: u8 = 15;
/// Exit code of a client that another client has replaced, or that the server has dismissed. Chosen: above the codes of
/// sysexits.h, which end at 78, and below those of shells, which begin at 126.
const TAKEN_OVER_CODE: u8 = 79;

/// How the remote command ended, as the caller's shell would see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// The command returned this code.
    Code(u8),
    /// A signal with this number ended the command.
    Signal(u8),
    /// The session, or the client's part in it, ended because of something other than the command.
    Outside(Outside),
}

/// A cause on the host, other than the command and the client, that ended the session or the client's part in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// `rove kill` ended the session.
    Kill,
    /// A signal with this number to the server ended the session.
    Signal(u8),
    /// The server ended the session, because its client was silent for too long.
    Silence,
    /// Another client took over the session, which continues. The address is that of the other client, if it is known.
    TakenOver(Option<IpAddr>),
    /// The server ended this joined client, and the session continues. The reason is `None` from older servers.
    Dismissed(Option<Dismissal>),
}

/// Why a server ended a joined client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dismissal {
    /// The session's own client requested it.
    Wanted,
    /// The session's own client cannot display joined clients.
    Unseen,
    /// The joined client was silent for too long.
    Silence,
}

impl ExitStatus {
    /// Returns the exit code that a shell would report. It is the command's own, or 128 plus the signal that ended it
    /// ([`Outside::signal`] for an ended session). The code is 79 if the session continues without this client.
    pub const fn shell_code(self) -> u8 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128_u8.saturating_add(signal),
            Self::Outside(Outside::TakenOver(_) | Outside::Dismissed(_)) => TAKEN_OVER_CODE,
            Self::Outside(outside) => 128_u8.saturating_add(outside.signal()),
        }
    }
}

impl Outside {
    /// Returns the signal that the session's command gets. It is SIGTERM after `rove kill`, the same signal after a
    /// signal to the server, and else SIGHUP.
    pub const fn signal(self) -> u8 {
        match self {
            Self::Kill => TERMINATE,
            Self::Signal(signal) => signal,
            Self::Silence | Self::TakenOver(_) | Self::Dismissed(_) => HANG_UP,
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
