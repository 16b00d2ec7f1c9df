//! The reasons why ssh could not start a session, as sentences for the user.

use std::ffi::OsString;
use std::net::IpAddr;
use std::process::ExitStatus;

use crate::options::{HostOptions, WantedSession};
use crate::remote::NO_SUCH_SESSION;
use crate::session_ref::attach_command;
use crate::ssh_config::{self, SshConfig};
use crate::startup::{Announced, EarlyOutput, ProxyFailure, RunningSession};

/// Exit code of OpenSSH's sshd if `/etc/nologin` forbids logins. sshd prints that file on the error output first.
/// Source: OpenSSH 9.2 as observed.
const NO_LOGINS: i32 = 254;

/// Why ssh could not start a session.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each sentence names its fields")]
pub enum NoSession {
    /// ssh failed before a command ran on the host. `hush` is the letter of the user's option, such as `-q`, that hides
    /// ssh's own explanation. `is_silent` is true if the configured `LogLevel` hides it.
    #[error("ssh did not get through to {}; {}", host.display(), match hush {
        Some(letter) => format!("leave out -{letter}, and it says why"),
        None if *is_silent => "its LogLevel (QUIET or FATAL) hides why, which -o LogLevel=ERROR shows".to_owned(),
        None => "what it said stands above".to_owned(),
    })]
    SshFailed { host: OsString, hush: Option<char>, is_silent: bool },
    /// Rove's proxy command could not open the connection for ssh.
    #[error("{}", failure.sentence)]
    NotConnected { failure: ProxyFailure },
    /// Neither ssh nor the host printed the server's address.
    #[error(
        "Did not find the remote IP address (is ssh's ProxyCommand disabled?); \
         try --tunnel, or --experimental-remote-ip=remote"
    )]
    NoAddress,
    /// The server's address is known, but the host announced no server.
    #[error(
        "Did not find the startup message of a server on {} (ssh: {status}). Is mosh or rove \
         installed there?", host.display()
    )]
    NoAnnouncement { host: OsString, status: ExitStatus },
    /// Rove's command ran, but the server printed an error and ended during its start.
    #[error("no server could be started on {} ({status}); what it said stands above", host.display())]
    ServerFailed { host: OsString, status: ExitStatus },
    /// The user named no session, and chose none of the offered sessions.
    #[error(
        "no session on {} was chosen: name one of them, as in `rove attach {} {}`",
        host.display(), host.display(), sessions[0].port
    )]
    SeveralSessions { host: OsString, sessions: Vec<RunningSession> },
    /// No session on the host fits the request, or its server refuses to issue a key. The host has printed the reason.
    #[error("{} gave no session to {command}; its reason stands above", host.display())]
    NotAttached { host: OsString, command: &'static str },
    /// The session that was to be resumed does not run on the host, at the address of the session's server.
    #[error("the session on {} has ended, so its record for rove resume is removed", host.display())]
    Ended { host: OsString },
    /// The session's server listens on the host's loopback only, and this login has no tunnel through ssh.
    #[error(
        "the session's server listens on the loopback of {} only, as --tunnel has it, and no datagram reaches it but \
         through ssh: attach with --tunnel", host.display()
    )]
    BehindTunnel { host: OsString },
    /// The host's version of rove does not know the requested command.
    #[error(
        "the rove on {} is older and has no {lacks}: `rove install {}` copies this one there", host.display(),
        host.display()
    )]
    OlderRove { host: OsString, lacks: &'static str },
    /// The host's server cannot start a session without a program.
    #[error(
        "rove -N needs a rove of this version on {}, whose server started no session without a program: \
         `rove install {}` copies one there", host.display(), host.display()
    )]
    NoForwarding { host: OsString },
    /// The host announced a server, but rove's own command had not begun.
    #[error(
        "{} did not run rove's command, and what it announced in its place is not believed: a start-up \
         file there printed it and ended the login, or a forced command runs a server of its own; for \
         that, call rove as mosh", host.display()
    )]
    Diverted { host: OsString },
    /// ssh logged in, but rove's command did not run.
    #[error(
        "{} did not run rove's command (ssh: {status}): a start-up file there ended the login, or the login is \
         bound to another command", host.display()
    )]
    NotRun { host: OsString, status: ExitStatus },
    /// ssh logged in, but the host printed other text and ended the login, as it does for an account without a shell.
    #[error("{} did not run rove's command (ssh: {status}); what it said stands above", host.display())]
    TurnedAway { host: OsString, status: ExitStatus },
    /// The server is too old to accept a range of UDP ports.
    #[error("the server does not take a range of UDP ports; give -p a single one")]
    NoPortRange,
}

impl NoSession {
    /// Returns why rove's command at `address` announced no server. `has_failed` is true if ssh itself failed.
    pub fn of(
        options: &HostOptions,
        config: &SshConfig,
        address: Option<String>,
        announced: &Announced,
        status: ExitStatus,
        has_failed: bool,
    ) -> Self {
        let (host, session) = (options.host.clone(), (&options.session, announced.has_started));
        if announced.port_refused && options.has_port_range() {
            Self::NoPortRange
        } else if has_failed {
            let failed = || Self::ssh_failed(options, config);
            let failure = announced.proxy_failure.clone();
            failure.map_or_else(failed, |failure| Self::NotConnected { failure })
        } else if announced.early_output == EarlyOutput::Impostor {
            Self::Diverted { host }
        } else if !announced.sessions.is_empty() {
            Self::SeveralSessions { host, sessions: announced.sessions.clone() }
        } else if announced.has_started && announced.is_older {
            Self::OlderRove { host, lacks: feature(options) }
        } else if let (WantedSession::Resumed(server, _), true) = session
            && status.code() == Some(NO_SUCH_SESSION.into())
            && [&address, &announced.server_address]
                .into_iter()
                .flatten()
                .any(|it| it.parse::<IpAddr>().is_ok_and(|it| it.to_canonical() == server.ip()))
        {
            Self::Ended { host }
        } else if let (WantedSession::Resumed(..), true) = session {
            Self::NotAttached { host, command: "rove resume" }
        } else if let (WantedSession::Attached(_, way), true) = session {
            Self::NotAttached { host, command: attach_command(*way) }
        } else if announced.has_started
            && options.no_program
            && !matches!(options.session, WantedSession::Streams(_))
            && (options.port.is_none() || !announced.port_refused)
        {
            Self::NoForwarding { host }
        } else if announced.has_started {
            Self::ServerFailed { host, status }
        } else {
            Self::not_run(host, status, announced.early_output == EarlyOutput::Text)
        }
    }

    /// Returns the error that rove's command did not run. The error refers to the host's own text, if any (`has_said`).
    pub fn not_run(host: OsString, status: ExitStatus, has_said: bool) -> Self {
        if has_said || status.code() == Some(NO_LOGINS) {
            Self::TurnedAway { host, status }
        } else {
            Self::NotRun { host, status }
        }
    }

    /// Returns the error that ssh has failed. ssh printed the reason, unless the user's options or settings hide it.
    pub fn ssh_failed(options: &HostOptions, config: &SshConfig) -> Self {
        let (_, hush) = ssh_config::without_hush(&options.ssh);
        Self::SshFailed { host: options.host.clone(), hush, is_silent: config.is_silent() }
    }
}

/// Returns the option or command, such as `rove exec`, that an older rove on the host lacks for this session.
const fn feature(options: &HostOptions) -> &'static str {
    match &options.session {
        WantedSession::New if options.no_program => "rove -N",
        WantedSession::New => "rove server new",
        WantedSession::Named(_) => "--session",
        WantedSession::Streams(passage) => passage.joined.feature(),
        WantedSession::Attached(_, way) => attach_command(*way),
        WantedSession::Resumed(..) => attach_command(None),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;
    use crate::challenge::Challenge;
    use crate::options::Resumed;
    use crate::remote;
    use crate::sharing::Sharing;
    use crate::startup::{Rules, Startup, Stream};
    use rove_session::JoinMode;

    #[test]
    fn a_host_with_an_older_rove_is_said_to_lack_what_was_asked_for() {
        for (way, answer, lacks) in [
            (None, "rove server: the first word must be \"new\"", "no rove attach:"),
            (
                Some(JoinMode::View),
                "rove server: attach takes one session",
                "no rove attach --view:",
            ),
            (
                Some(JoinMode::Share),
                "rove server: a session's name begins with a letter or a digit, and \"--share\" does not",
                "no rove attach --share:",
            ),
        ] {
            let session = WantedSession::Attached(None, way);
            let options = HostOptions { session, host: "far".into(), ..HostOptions::default() };
            let challenge = Challenge::from_bytes([0; 16]);
            let lines = format!("{}\n{answer}\n", remote::first_line(&challenge));
            let mut startup = Startup::new(Rules::Tolerant { challenge, proxy: true, start: true });
            startup.read(Stream::Output, lines.as_bytes(), &mut Vec::new()).unwrap();
            let status = ExitStatus::default();
            let config = SshConfig::default();
            let text = NoSession::of(&options, &config, None, &startup.announced, status, false);
            let text = text.to_string();
            assert!(text.contains(lacks) && text.contains("rove install far"), "{text}");
        }
    }

    #[test]
    fn a_session_that_was_not_given_is_told_by_the_command_and_one_that_has_ended_apart() {
        let resumed =
            Resumed { record: String::new(), lock: 3, former: String::new(), taken: None };
        let resumed = WantedSession::Resumed("192.0.2.7:60001".parse().unwrap(), resumed);
        let attached = |way| WantedSession::Attached(None, way);
        let at = "192.0.2.7";
        let [stated, reached] = [|address| (address, ""), |address| ("10.0.0.7", address)];
        for (session, code, (stated, reached), part) in [
            (
                attached(None),
                1,
                stated(at),
                "far gave no session to rove attach; its reason stands above",
            ),
            (attached(Some(JoinMode::View)), 1, stated(at), "no session to rove attach --view;"),
            (attached(None), NO_SUCH_SESSION, stated(at), "no session to rove attach;"),
            (resumed.clone(), 1, stated(at), "no session to rove resume;"),
            // The host's name has led to another computer, or nobody knows to which.
            (
                resumed.clone(),
                NO_SUCH_SESSION,
                ("192.0.2.8", "192.0.2.8"),
                "no session to rove resume;",
            ),
            (resumed.clone(), NO_SUCH_SESSION, ("", ""), "no session to rove resume;"),
            (resumed.clone(), NO_SUCH_SESSION, stated(at), "the session on far has ended"),
            // Behind a router that translates addresses, the host states its own, private address.
            (resumed, NO_SUCH_SESSION, reached(at), "the session on far has ended"),
        ] {
            let options = HostOptions { session, host: "far".into(), ..HostOptions::default() };
            let announced = Announced {
                has_started: true,
                server_address: Some(stated.to_owned()),
                ..Announced::default()
            };
            let reached = Some(reached.to_owned());
            let status = ExitStatus::from_raw(i32::from(code) << 8);
            let config = SshConfig::default();
            let text = NoSession::of(&options, &config, reached, &announced, status, false);
            let text = text.to_string();
            assert!(text.contains(part), "{code}: {text}");
        }
    }

    #[test]
    fn an_ssh_that_was_hushed_is_not_said_to_have_spoken() {
        for (words, level, part) in [
            // `ssh -G` prints SILENT for QUIET, and for -q.
            (&["ssh", "-q"][..], "SILENT", "leave out -q"),
            (&["ssh", "-E", "log"], "INFO", "leave out -E"),
            (&["ssh", "-y"], "INFO", "leave out -y"),
            (&["ssh"], "INFO", "stands above"),
            (&["ssh"], "SILENT", "LogLevel (QUIET"),
        ] {
            let ssh = words.iter().map(|&word| word.to_owned()).collect();
            let options = HostOptions { ssh, ..HostOptions::default() };
            let config = ssh_config::parse(&format!("loglevel {level}\n"), |_| Sharing::Unknown);
            let text = NoSession::ssh_failed(&options, &config).to_string();
            assert!(text.contains(part), "{text}");
        }
    }
}
