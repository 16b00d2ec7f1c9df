//! The options that say how to log in to a host, for commands that start no terminal session there. They are `--ssh`,
//! `-4`, `-6`, and ssh's own letters in the syntax of a session's command line.

use std::ffi::OsString;

use clap::{ArgMatches, Args, Command, FromArgMatches, ValueHint};
use rove_bootstrap::{HostOptions, ProgramName};
use rove_cli_docs::Manual;

use crate::cli::config::{Config, ConfigError};
use crate::cli::host::{self, HostCall, UsageError};
use crate::cli::own_line::{self, OptionsEnd};
use crate::cli::ssh_letters;

/// The reason why a command does not do its own work.
#[derive(Debug)]
pub(crate) enum Instead {
    /// The line asks for help or version, or clap refuses it.
    Clap(clap::Error),
    /// The line or the configuration is wrong.
    Wrong(UsageError),
    /// The line asks for the version in ssh's way: a line on standard error.
    Version,
    /// The line asks for ssh's configuration of the host.
    AskSsh {
        /// The words of the ssh command.
        ssh: Vec<String>,
        /// The destination, `[user@]host`.
        host: OsString,
    },
}

impl Instead {
    /// Creates the error about a wrong command line, without the usage.
    pub(super) fn wrong(sentence: impl ToString) -> Self {
        Self::Wrong(UsageError::without_usage(sentence))
    }

    /// Creates the error about a line that names no host or no file, with the usage.
    pub(super) fn wrong_form(manual: &Manual, sentence: &str) -> Self {
        let usage = Some(rove_cli_docs::usage_hint(manual));
        Self::Wrong(UsageError { message: sentence.to_owned(), usage })
    }
}

impl From<clap::Error> for Instead {
    fn from(error: clap::Error) -> Self {
        Self::Clap(error)
    }
}

// The login options besides ssh's letters. clap would print a doc comment here as the beginning of the command's help.
#[derive(Debug, Args)]
struct LoginArgs {
    /// ssh to run for a host, with options: "ssh -p 2222" [default: ssh]
    #[arg(long, value_name = "COMMAND", value_hint = ValueHint::CommandString)]
    ssh: Option<String>,
    /// Reach the host by IPv4 only
    #[arg(short = '4', overrides_with = "inet6")]
    inet: bool,
    /// Reach the host by IPv6 only
    #[arg(short = '6', overrides_with = "inet")]
    inet6: bool,
}

/// Returns a command's definition with the options of a login added.
pub(super) fn definition(command: Command) -> Command {
    // The last of several --ssh counts, as with a session.
    LoginArgs::augment_args(command).args(ssh_letters::args()).args_override_self(true)
}

/// The login options of a command line, as words of a session's command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Login {
    words: Vec<OsString>,
}

impl Login {
    pub(super) fn words(&self) -> &[OsString] {
        &self.words
    }

    pub(super) fn add(&mut self, words: impl IntoIterator<Item = OsString>) {
        self.words.extend(words);
    }

    /// Removes each `-p`, which is ssh's port here but the UDP port on a session's command line. Returns the value of
    /// the first `-p`. `None` without `-p`, or if an `-o Port` before it prevails, as with ssh.
    pub(super) fn take_port(&mut self) -> Option<String> {
        let (mut port, mut is_set) = (None, false);
        let mut words = core::mem::take(&mut self.words).into_iter();
        while let Some(word) = words.next() {
            let has_value = word.to_str().is_some_and(ssh_letters::takes_value);
            let value = if has_value { words.next() } else { None };
            let text = value.as_ref().and_then(|it| it.to_str()).unwrap_or_default();
            if word == "-p" {
                port = port.or_else(|| (!is_set).then(|| text.to_owned()));
                continue;
            }
            is_set |= word == "-o" && ssh_letters::sets(text, "Port");
            self.words.extend([word].into_iter().chain(value));
        }
        port
    }

    /// Returns a session's options for a login to this host. `load` reads the user's configuration.
    ///
    /// # Errors
    ///
    /// Returns the fault of the line or the configuration, or the request for ssh's configuration.
    pub(super) fn options(
        self,
        host: OsString,
        load: impl FnOnce() -> Result<Config, ConfigError>,
    ) -> Result<HostOptions, Instead> {
        let words = self.words.into_iter().chain(["--".into(), host]).collect();
        match host::parse(ProgramName::Rove, words, load) {
            Ok(HostCall::Connect(options)) => Ok(*options),
            Ok(HostCall::AskSsh { ssh, host }) => Err(Instead::AskSsh { ssh, host }),
            Ok(_) => Err(Instead::wrong("that is no host")),
            Err(error) => Err(Instead::wrong(error.message)),
        }
    }

    /// Checks that a line without a host has no login options.
    ///
    /// # Errors
    ///
    /// Returns an error about the first login option.
    pub(super) fn nowhere(&self, manual: &Manual) -> Result<(), Instead> {
        let Some(first) = self.words.first() else { return Ok(()) };
        let option = first.to_string_lossy();
        let option = option.split('=').next().unwrap_or_default();
        let sentence = format!("option {option} is about the way to a host, and no host is named");
        Err(Instead::wrong_form(manual, &sentence))
    }
}

/// Reads the words after the name of a command that has the options of a login ([`definition`]). Options may be
/// anywhere before `--`.
///
/// # Errors
///
/// Returns the fault of the words, or their request for help or version.
pub(super) fn read<T: FromArgMatches>(
    manual: &Manual,
    args: Vec<OsString>,
) -> Result<(T, Login), Instead> {
    let (matches, login) = read_matches(manual, args, OptionsEnd::Dashes)?;
    Ok((T::from_arg_matches(&matches)?, login))
}

/// Reads the words as [`read`] does, with the same errors, but the options end as `end` says.
pub(super) fn read_matches(
    manual: &Manual,
    args: Vec<OsString>,
    end: OptionsEnd,
) -> Result<(ArgMatches, Login), Instead> {
    let mut command = (manual.definition)();
    // This adds `--help` and `--version` to the definition.
    command.build();
    let line = own_line::read(&command, args, end).map_err(|complaints| {
        let usage = rove_cli_docs::usage_hint(manual);
        Instead::Wrong(UsageError::from_complaints(complaints, || Some(usage)))
    })?;
    let matches = rove_cli_docs::matches(manual, line.words)?;
    let login = LoginArgs::from_arg_matches(&matches)?;
    let mut words: Vec<OsString> = Vec::new();
    words.extend(login.ssh.map(|ssh| format!("--ssh={ssh}").into()));
    words.extend(login.inet.then(|| "-4".into()));
    words.extend(login.inet6.then(|| "-6".into()));
    words.extend(line.ssh.into_iter().map(OsString::from));
    words.extend(line.asks_ssh.then(|| "-G".into()));
    Ok((matches, Login { words }))
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};
    use rove_cli_docs::Words;

    use super::*;
    use crate::program::ROVE;

    /// A command of the tests
    #[derive(Debug, Parser)]
    #[command(name = "rove test", version)]
    struct TestArgs {
        #[arg(long)]
        all: bool,
        words: Vec<String>,
    }

    static MANUAL: Manual = Manual {
        word: "test",
        definition: || definition(TestArgs::command()),
        words: Words::Host,
        ..Manual::of(&ROVE)
    };

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    fn login(line: &str) -> Result<(TestArgs, Login), Instead> {
        read(&MANUAL, words(line))
    }

    /// Returns the options that this line gives to a login without a session, and to a session.
    fn both(line: &str) -> [Option<HostOptions>; 2] {
        let (_, login) = login(line).unwrap();
        let ours = login.options("host".into(), || Ok(Config::default())).ok();
        let session = host::parse(ProgramName::Rove, words(line), || Ok(Config::default()));
        let Ok(HostCall::Connect(session)) = session else { return [ours, None] };
        [ours, Some(*session)]
    }

    #[test]
    fn a_command_keeps_what_it_says_of_itself() {
        assert_eq!(MANUAL.about(), "A command of the tests");
        assert!(MANUAL.help().contains("--all") && MANUAL.help().contains("-J <HOST>"));
    }

    #[test]
    fn a_host_is_reached_as_a_session_reaches_it() {
        for line in [
            "host",
            "-i key host",
            "-ikey -l alice -J jump host",
            "host -F file -E log",
            "-o A=b -oC=d -vvC host",
            "-4 host",
            "-4 -6 host",
            "-q host -i=odd",
            "--ssh=x --ssh=y -i key host",
        ] {
            let [ours, session] = both(line);
            let session = session.unwrap_or_else(|| panic!("{line}"));
            assert_eq!(ours, Some(session), "{line}");
        }
        let (args, _) = login("-i key host 17 --all -- -x").unwrap();
        assert_eq!((args.words.join(" ").as_str(), args.all), ("host 17 -x", true));
    }

    #[test]
    fn ssh_alone_is_asked_where_the_line_wants_that() {
        let (_, login) = login("-G -i key host").unwrap();
        let asked = login.options("me@host".into(), || Ok(Config::default()));
        let Err(Instead::AskSsh { ssh, host }) = asked else { panic!("{asked:?}") };
        assert_eq!((ssh.join(" "), host), ("ssh -i key".to_owned(), "me@host".into()));
    }

    #[test]
    fn an_option_that_cannot_be_followed_is_named() {
        for (line, wanted) in [
            ("-Z host", "unknown option -Z"),
            ("--al --alll host", "unknown option --alll; did you mean --all?"),
            ("-L 1:x:2 host", "-L: this command forwards no connection; "),
            ("-p 2222 host", "-p: "),
            ("-i", "option -i needs a value"),
        ] {
            let Err(Instead::Wrong(error)) = login(line) else { panic!("{line}") };
            assert!(error.message.starts_with(wanted), "{line}: {}", error.message);
        }
        for line in ["-h", "--help", "-V", "--version"] {
            let Err(Instead::Clap(error)) = login(line) else { panic!("{line}") };
            assert!(!error.use_stderr(), "{line}");
        }
        for (line, option) in [("--ssh=x", "--ssh"), ("-i key", "-i"), ("-G", "-G")] {
            let (_, login) = login(line).unwrap();
            let Err(Instead::Wrong(error)) = login.nowhere(&MANUAL) else { panic!("{line}") };
            assert!(error.message.starts_with(&format!("option {option} is about")), "{line}");
        }
        assert!(login("--all 17").unwrap().1.nowhere(&MANUAL).is_ok());
    }
}
