//! Why there is no session, in sentences for the user, with their exit codes.

use std::ffi::OsString;
use std::io;
use std::process::ExitStatus;

use crate::bootstrap::address::AddressError;
use crate::bootstrap::startup::StartupError;

/// Exit code when no server was started. Source: Mosh 1.4.0 as observed.
const NO_SERVER: u8 = 10;
/// Exit code when the server's lines are malformed. Source: Mosh 1.4.0 as observed.
const BAD_LINE: u8 = 29;
/// Exit code when the client program cannot be run. Source: Mosh 1.4.0 as observed.
const NO_CLIENT: u8 = 2;
/// Exit code when the host's name leads nowhere. Source: Mosh 1.4.0 as observed.
const NO_HOST: u8 = 255;

/// Why there is no session.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BootstrapError {
    /// Standard input is no terminal.
    #[error("standard input is not a terminal, and a session needs one; use ssh in scripts")]
    NoTerminal,
    /// The client could not be run.
    #[error("cannot run the client {}: {error}", program.display())]
    ClientMissing { program: OsString, error: io::Error },
    /// The client could not say how many colours there are.
    #[error("the client {} cannot tell this terminal's colours; is TERM right?", program.display())]
    NoColors { program: OsString, status: ExitStatus },
    /// ssh could not be run.
    #[error("cannot run {}: {error}; is ssh installed?", program.display())]
    SshMissing { program: OsString, error: io::Error },
    /// The host's name has no usable address.
    #[error("{0}")]
    Address(#[from] AddressError),
    /// The server's output is malformed.
    #[error("{0}")]
    Startup(#[from] StartupError),
    /// ssh failed before anything ran on the host.
    #[error("ssh did not get through to {}; what it said stands above", host.display())]
    SshFailed { host: OsString },
    /// Nothing told the server's address.
    #[error(
        "Did not find the remote IP address (is ssh's ProxyCommand disabled?); \
         try --experimental-remote-ip=remote"
    )]
    NoAddress,
    /// There is an address, but no server.
    #[error(
        "Did not find the startup message of a server on {} (ssh: {status}). Is mosh or rove \
         installed there?", host.display()
    )]
    NoAnnouncement { host: OsString, status: ExitStatus },
    /// Our command ran, and its server ended before it stood. It has said why.
    #[error("no server could be started on {} ({status}); what it said stands above", host.display())]
    ServerFailed { host: OsString, status: ExitStatus },
    /// Something on the host announced a server where our command had not begun.
    #[error(
        "{} did not run rove's command, and what it announced in its place is not believed: a start-up \
         file there printed it and ended the login, or a forced command runs a server of its own; for \
         that, call rove as mosh", host.display()
    )]
    Diverted { host: OsString },
    /// No server program is installed on the host.
    #[error(
        "neither rove nor mosh-server found on {}: install one of them there, or say where it is \
         with --server=PATH", host.display()
    )]
    NoServerProgram { host: OsString },
    /// The host has nothing that could be the far end of a tunnel.
    #[error(
        "rove not found on {}: --tunnel needs it there, whichever server is used; install it (PATH and \
         ~/.local/bin are looked at), or leave out --tunnel where UDP passes", host.display()
    )]
    NoTunnelProgram { host: OsString },
    /// The host has no rove to run a command of ours.
    #[error(
        "rove not found on {}: PATH, ~/.local/bin, ~/.cargo/bin, /usr/local/bin and /opt/homebrew/bin were looked \
         at; install it there", host.display()
    )]
    NoRove { host: OsString },
    /// ssh has logged in, and our command did not run.
    #[error(
        "{} did not run rove's command (ssh: {status}): a start-up file there ended the login, or the login is \
         bound to another command", host.display()
    )]
    NotRun { host: OsString, status: ExitStatus },
    /// The server is too old for a port range.
    #[error("the server does not take a range of UDP ports; give -p a single one")]
    NoPortRange,
    /// The operating system refused something that always works.
    #[error("{what}: {error}")]
    Local { what: &'static str, error: io::Error },
}

impl BootstrapError {
    /// Returns the exit code.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::NoTerminal => 1,
            // The client's own, as with stock.
            Self::NoColors { status, .. } => {
                status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
            }
            Self::ClientMissing { .. } => NO_CLIENT,
            Self::Startup(_) => BAD_LINE,
            Self::Address(_) => NO_HOST,
            Self::SshMissing { .. }
            | Self::SshFailed { .. }
            | Self::NoAddress
            | Self::NoAnnouncement { .. }
            | Self::ServerFailed { .. }
            | Self::Diverted { .. }
            | Self::NoServerProgram { .. }
            | Self::NoTunnelProgram { .. }
            | Self::NoRove { .. }
            | Self::NotRun { .. }
            | Self::NoPortRange
            | Self::Local { .. } => NO_SERVER,
        }
    }
}
