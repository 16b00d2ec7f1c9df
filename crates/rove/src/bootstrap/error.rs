//! The errors that keep a session from starting, as sentences for the user, with exit codes.

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::ExitStatus;

use rove_bootstrap::last_words::Refusal;
use rove_bootstrap::startup::{Announced, StartupError};
use rove_bootstrap::{HostOptions, NoSession, Platform, ProgramName, WantedSession};

use crate::bootstrap::address::AddressError;
use crate::install::error::InstallError;
use crate::install::remedy::Remedy;
use crate::listeners::ListenerError;
use crate::messages::reason;

/// Exit code if no server was started. Source: Mosh 1.4.0 as observed.
const NO_SERVER: u8 = 10;
/// Exit code if the server's lines are malformed. Source: Mosh 1.4.0 as observed.
const BAD_LINE: u8 = 29;
/// Exit code if the client program cannot be run. Source: Mosh 1.4.0 as observed.
const NO_CLIENT: u8 = 2;
/// Exit code if the host's name has no address, or a required port is taken here. Source: Mosh 1.4.0 as observed.
const NO_HOST: u8 = 255;

#[derive(Debug, thiserror::Error)]
pub(crate) enum BootstrapError {
    /// Standard input or standard output is not a terminal.
    #[error("{stream} is not a terminal, and a session needs one{advice}")]
    NoTerminal { stream: &'static str, advice: String },
    #[error("cannot run the client {}: {}", program.display(), reason(&error.to_string()))]
    ClientMissing { program: OsString, error: io::Error },
    /// The client program could not tell how many colours the terminal has.
    #[error("the client {} cannot tell this terminal's colours; is TERM right?", program.display())]
    NoColors { program: OsString, status: ExitStatus },
    #[error("cannot run {}: {}{advice}", program.display(), reason(&error.to_string()))]
    SshMissing { program: OsString, error: io::Error, advice: &'static str },
    /// The host's name has no usable address.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// A line of ssh's output is malformed by the rules of stock Mosh.
    #[error(transparent)]
    Startup(#[from] StartupError),
    /// ssh did not reach the host, for a known reason.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The output of ssh announces no session.
    #[error(transparent)]
    NoSession(#[from] NoSession),
    /// No server program is installed on the host.
    #[error("neither rove nor mosh-server found on {}. {}", host.display(), remedy.or_stock())]
    NoServerProgram { host: OsString, platform: Option<Platform>, remedy: Remedy },
    /// The host has no rove, but a tunnel needs rove on the host.
    #[error(
        "rove not found on {}: --tunnel needs it there, whichever server is used. {remedy}; or leave out \
         --tunnel where UDP passes", host.display()
    )]
    NoTunnelProgram { host: OsString, platform: Option<Platform>, remedy: Remedy },
    /// The copy of rove to the host failed.
    #[error(transparent)]
    Install(#[from] InstallError),
    /// The host has no rove to run the command with.
    #[error(
        "rove not found on {}: PATH, ~/.local/bin, ~/.cargo/bin, /usr/local/bin and /opt/homebrew/bin were looked \
         at; {remedy}", host.display()
    )]
    NoRove { host: OsString, remedy: Remedy },
    /// Both the user and ssh's configuration name a command. The words are ssh's.
    #[error("Cannot execute command-line and remote command.")]
    TwoCommands,
    /// A port or socket that is to be forwarded cannot be opened on this computer.
    #[error("{0}, and ExitOnForwardFailure wants it")]
    Listener(#[from] ListenerError),
    /// The client's log cannot be written.
    #[error("{0:#}")]
    Log(anyhow::Error),
    /// The operating system gave no random bytes.
    #[error("a random word: {0}")]
    Random(#[from] getrandom::Error),
    /// The operating system refused something that normally works.
    #[error("{what}: {error}")]
    Local { what: &'static str, error: io::Error },
}

impl BootstrapError {
    /// Returns the error that ssh cannot be run, with advice to the user.
    pub(crate) fn ssh_missing(name: ProgramName, program: &OsStr, error: io::Error) -> Self {
        let advice = match (name, error.kind()) {
            (ProgramName::Mosh, _) => "; is ssh installed?",
            (ProgramName::Rove, io::ErrorKind::NotFound) => {
                "; install OpenSSH's client, or name one with --ssh=COMMAND"
            }
            (ProgramName::Rove, _) => "",
        };
        Self::SshMissing { program: program.to_owned(), error, advice }
    }

    /// Returns the error that `stream` is not a terminal. For a new session, the advice is `rove exec`.
    pub(super) fn no_terminal(options: &HostOptions, stream: &'static str) -> Self {
        let is_new = matches!(options.session, WantedSession::New | WantedSession::Named(_));
        let exec =
            || format!("; in scripts and pipes: rove exec {} COMMAND", options.host.display());
        Self::NoTerminal { stream, advice: is_new.then(exec).unwrap_or_default() }
    }

    /// Returns the error that a host has no program for the session.
    pub(super) fn no_program(options: &HostOptions, announced: Announced) -> Self {
        let (host, platform) = (options.host.clone(), announced.platform);
        let remedy = Remedy::of(&host, platform.as_ref());
        if announced.no_tunnel_program {
            return Self::NoTunnelProgram { host, platform, remedy };
        }
        if options.session != WantedSession::New {
            return Self::NoRove { host, remedy };
        }
        Self::NoServerProgram { host, platform, remedy }
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            // Stock `mosh` also exits with the exit code of its client program.
            Self::NoColors { status, .. } => {
                status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
            }
            Self::ClientMissing { .. } => NO_CLIENT,
            Self::Startup(_) => BAD_LINE,
            // ssh also exits with this code after these failures.
            Self::Address(_) | Self::Listener(_) | Self::TwoCommands => NO_HOST,
            Self::NoTerminal { .. }
            | Self::SshMissing { .. }
            | Self::NoSession(_)
            | Self::Refused(_)
            | Self::NoServerProgram { .. }
            | Self::NoTunnelProgram { .. }
            | Self::Install(_)
            | Self::NoRove { .. }
            | Self::Log(_)
            | Self::Random(_)
            | Self::Local { .. } => NO_SERVER,
        }
    }
}

#[cfg(test)]
mod tests {
    use rove_bootstrap::Resumed;

    use super::*;

    #[test]
    fn a_new_session_without_a_terminal_is_told_of_rove_exec() {
        let (record, former) = (String::new(), String::new());
        let resumed = Resumed { record, lock: -1, former, taken: None };
        for (session, end) in [
            (
                WantedSession::New,
                "a session needs one; in scripts and pipes: rove exec srv COMMAND",
            ),
            (
                WantedSession::Named("work".parse().unwrap()),
                "a session needs one; in scripts and pipes: rove exec srv COMMAND",
            ),
            (WantedSession::Attached(None, None), "a session needs one"),
            (WantedSession::Resumed(([0; 4], 60_001).into(), resumed), "a session needs one"),
        ] {
            let options = HostOptions { session, host: "srv".into(), ..HostOptions::default() };
            let error = BootstrapError::no_terminal(&options, "standard input");
            let sentence = format!("standard input is not a terminal, and {end}");
            assert_eq!((error.to_string(), error.exit_code()), (sentence, NO_SERVER));
        }
    }

    #[test]
    fn a_reason_is_followed_by_no_guess() {
        let text = |name, kind| {
            let error = io::Error::from(kind);
            BootstrapError::ssh_missing(name, OsStr::new("myssh"), error).to_string()
        };
        let (missing, denied) = (io::ErrorKind::NotFound, io::ErrorKind::PermissionDenied);
        assert!(text(ProgramName::Rove, missing).contains("; install OpenSSH's client"));
        let denied_text = text(ProgramName::Rove, denied);
        assert_eq!(denied_text, "cannot run myssh: permission denied");
        for kind in [missing, denied] {
            assert!(text(ProgramName::Mosh, kind).ends_with("; is ssh installed?"));
        }
    }
}
