//! The command line of `rove doctor`: the command line of a session, with `doctor` in front.

use std::ffi::OsString;

use clap::Command;
use rove_bootstrap::ProgramName;
use rove_cli_docs::{Manual, Words};

use crate::cli::config::{Config, ConfigError};
use crate::cli::host::{self, HostCall, UsageError};
use crate::doctor::DoctorOptions;
use crate::program::ROVE;

pub(crate) static MANUAL: Manual = Manual {
    word: "doctor",
    definition,
    words: Words::HostAndCommand,
    text: include_str!("../../manuals/doctor.toml"),
    ..Manual::of(&ROVE)
};

/// Options of a session that the help leaves out, because a diagnosis hardly needs them.
const OF_NO_USE: [&str; 13] = [
    "client",
    "predict",
    "always",
    "never",
    "predict_overwrite",
    "no_init",
    "scrollback",
    "escape_key",
    "strict",
    "tunnel",
    "size",
    "controller",
    "version",
];

fn definition() -> Command {
    let command = host::definition()
        .name("rove doctor")
        .about("Goes the way that a session goes and names the leg that fails, with what to do")
        .override_usage("rove doctor [--json] [options] [[user@]host]")
        .arg(host::flag("json", "Report for programs; the names of fields and legs are stable"));
    OF_NO_USE.into_iter().fold(command, |command, id| command.mut_arg(id, |arg| arg.hide(true)))
}

#[derive(Debug)]
pub(crate) enum DoctorCall {
    Help,
    Examine(DoctorOptions),
}

/// Reads the words after `doctor`; `load` reads the user's configuration, if a host is named.
///
/// # Errors
///
/// Returns the fault of the command line or the configuration; the exit code is 255.
pub(crate) fn parse(
    mut args: Vec<OsString>,
    load: impl FnOnce() -> Result<Config, ConfigError>,
) -> Result<DoctorCall, UsageError> {
    // A `--json` after `--` belongs to the remote command.
    let end = args.iter().position(|word| word == "--").unwrap_or(args.len());
    let tail = args.split_off(end);
    let count = args.len();
    args.retain(|word| word != "--json");
    let json = args.len() < count;
    if args.is_empty() && tail.len() <= 1 {
        return Ok(DoctorCall::Examine(DoctorOptions { session: None, json }));
    }
    args.extend(tail);
    let call = host::parse(ProgramName::Rove, args, load).map_err(|error| UsageError {
        usage: error.usage.map(|_| rove_cli_docs::usage_hint(&MANUAL)),
        ..error
    })?;
    match call {
        HostCall::Connect(session) => {
            Ok(DoctorCall::Examine(DoctorOptions { session: Some(session), json }))
        }
        HostCall::AskSsh { .. } => Err(UsageError::without_usage(
            "-G: this asks ssh alone, and the doctor looks at a session; leave it out",
        )),
        HostCall::Carry(..) => Err(UsageError::without_usage(host::NO_TARGET)),
        HostCall::Help(_) | HostCall::HelpAll | HostCall::Version | HostCall::FakeProxy(_) => {
            Ok(DoctorCall::Help)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(line: &str) -> Result<DoctorCall, UsageError> {
        parse(line.split_whitespace().map(OsString::from).collect(), || Ok(Config::default()))
    }

    #[test]
    fn a_line_of_roves_own_is_taken_with_its_options() {
        for (line, host, json) in [
            ("", None, false),
            ("--json", None, true),
            ("me@host", Some("me@host"), false),
            ("host --json", Some("host"), true),
            ("--json -p 60010 host -- ls --json", Some("host"), true),
            ("-p 60010 -- host --json", Some("host"), false),
        ] {
            let Ok(DoctorCall::Examine(options)) = call(line) else { panic!("{line}") };
            let found = options.session.map(|session| session.host);
            assert_eq!((found, options.json), (host.map(OsString::from), json), "{line}");
        }
    }

    #[test]
    fn sshs_options_are_for_the_doctors_ssh_too() {
        let Ok(DoctorCall::Examine(options)) = call("-i key -l me --json host") else { panic!() };
        assert_eq!(options.session.unwrap().ssh, ["ssh", "-i", "key", "-l", "me"]);
    }

    #[test]
    fn help_and_wrong_options_are_told_apart() {
        assert!(matches!(call("--help"), Ok(DoctorCall::Help)));
        assert!(matches!(call("host --help"), Ok(DoctorCall::Help)));
        assert!(call("-G host").unwrap_err().message.starts_with("-G: "));
        let usage = call("--frobnicate host").unwrap_err().usage.unwrap();
        assert!(usage.starts_with("Usage: rove doctor "), "{usage}");
        assert!(call("-p 99999 host").is_err());
    }
}
