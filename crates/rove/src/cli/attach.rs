//! The command line of `rove attach`: the options of `rove`, and the session to attach to.

use std::ffi::OsString;

use rove_bootstrap::{LabelError, ProgramName, WantedSession};
use rove_cli_docs::{Manual, Words};

use crate::cli::config::{Config, ConfigError};
use crate::cli::host::{self, HostCall, UsageError};
use crate::cli::ssh_letters;
use crate::program::ROVE;
use rove_session::JoinMode;

pub(crate) static MANUAL: Manual = Manual {
    word: "attach",
    definition: || {
        host::definition()
            .name("rove attach")
            .about("Goes on with a session whose client is gone or elsewhere")
            .override_usage("rove attach [--view|--share] [options] [user@]host [NAME|PID|PORT]")
            .args([
                host::flag("view", "Join beside the session's client, see and do not type"),
                host::flag("share", "Join beside the session's client, see and type"),
            ])
            .args(ssh_letters::forwarding())
            // These options describe a new session, but `attach` needs an existing one. The help leaves them out.
            .mut_args(|arg| match arg.get_id().as_str() {
                "session" | "port" | "bind_server" => arg.hide(true),
                _ => arg,
            })
    },
    words: Words::Host,
    text: include_str!("../../manuals/attach.toml"),
    ..Manual::of(&ROVE)
};

/// Reads the words after `attach`; `load` reads the user's configuration.
///
/// # Errors
///
/// Returns the fault of the command line or the configuration; the exit code is 255.
pub(crate) fn parse(
    args: Vec<OsString>,
    load: impl FnOnce() -> Result<Config, ConfigError>,
) -> Result<HostCall, UsageError> {
    let (args, mode) = take_mode(args).ok_or_else(|| {
        wrong("--view sees and does not type, --share does both; give one of them")
    })?;
    let own_usage =
        |UsageError { message, usage }| UsageError { usage: usage.and(wrong("").usage), message };
    let mut options = match host::parse(ProgramName::Rove, args, load).map_err(own_usage)? {
        HostCall::Connect(options) => options,
        HostCall::Help(_) | HostCall::HelpAll => return Ok(HostCall::Help(MANUAL.help())),
        HostCall::Carry(..) => return Err(wrong(host::NO_TARGET)),
        other => return Ok(other),
    };
    if options.session != WantedSession::New {
        return Err(wrong("--session starts a session where there is none; leave it out"));
    }
    let session = match &options.command[..] {
        [] => None,
        [word] => {
            let session = word.to_string_lossy().parse();
            Some(session.map_err(|error: LabelError| wrong(&error.to_string()))?)
        }
        _ => {
            return Err(wrong("one session can be attached to, and its command runs already"));
        }
    };
    if mode.is_some() && ssh_letters::lends_agent(&options.ssh) {
        return Err(wrong("-A: a client that joins lends no agent; leave it out"));
    }
    if mode.is_some() && ssh_letters::forward(&options.ssh) {
        return Err(wrong("-L, -R, -D: a client that joins forwards nothing; leave them out"));
    }
    options.command.clear();
    options.session = WantedSession::Attached(session, mode);
    Ok(HostCall::Connect(options))
}

/// Returns the error of a wrong line, with the usage of `rove attach`.
fn wrong(message: &str) -> UsageError {
    let usage = Some(rove_cli_docs::usage_hint(&MANUAL));
    UsageError { message: message.to_owned(), usage }
}

/// Removes `--view` and `--share` from a line. Returns the other words and the mode, or `None` if the line has both.
fn take_mode(mut args: Vec<OsString>) -> Option<(Vec<OsString>, Option<JoinMode>)> {
    let mode = |word: &OsString| JoinMode::from_option(word.to_str()?);
    let mut modes: Vec<JoinMode> = args.iter().filter_map(mode).collect();
    args.retain(|word| mode(word).is_none());
    modes.dedup();
    match modes[..] {
        [] => Some((args, None)),
        [mode] => Some((args, Some(mode))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(line: &str) -> Result<HostCall, UsageError> {
        let words = line.split_whitespace().map(OsString::from).collect();
        parse(words, || Ok(Config::default()))
    }

    #[test]
    fn a_session_is_named_behind_its_host() {
        for (line, session) in [
            ("host", None),
            ("me@host work", Some("work")),
            ("-i key --tunnel host 60001", Some("60001")),
            ("host --scrollback 60001", Some("60001")),
        ] {
            let session = session.map(|word| word.parse().unwrap());
            let Ok(HostCall::Connect(options)) = call(line) else { panic!("{line}") };
            assert_eq!(options.session, WantedSession::Attached(session, None), "{line}");
            assert!(options.command.is_empty());
        }
        for (line, way) in
            [("host --view", Some(JoinMode::View)), ("--share host work", Some(JoinMode::Share))]
        {
            let Ok(HostCall::Connect(options)) = call(line) else { panic!("{line}") };
            assert!(matches!(options.session, WantedSession::Attached(_, meant) if meant == way));
        }
        assert!(matches!(call("--help"), Ok(HostCall::Help(text)) if text.contains("attach")));
    }

    #[test]
    fn a_wrong_line_is_refused_in_one_sentence() {
        for (line, part) in [
            ("host a b", "one session"),
            ("host .x", "begins with"),
            ("host Work", "does not"),
            ("--session a host", "leave it out"),
            ("--view --share host", "give one of them"),
            ("", "host"),
        ] {
            let error = call(line).unwrap_err();
            assert!(error.message.contains(part), "{line}: {error:?}");
            let usage = error.usage.expect("the line is wrong");
            assert!(usage.contains("rove attach"), "{line}: {usage}");
        }
    }
}
