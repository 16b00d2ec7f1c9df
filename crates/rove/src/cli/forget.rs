//! The command line of `rove forget`.

use std::ffi::OsString;

use clap::{CommandFactory, Parser};
use rove_bootstrap::HostOptions;
use rove_cli_docs::{Manual, Words};

use crate::cli::config::{Config, ConfigError};
use crate::cli::login::{self, Instead};
use crate::program::ROVE;

pub(crate) static MANUAL: Manual = Manual {
    word: "forget",
    definition: || login::definition(ForgetArgs::command()),
    words: Words::Host,
    notes: &[
        "At a shell's prompt rove shows characters before their echo once three lines were echoed there. At the end of \
         a session it keeps salted hashes of such prompts, and at once those of prompts at which a line was not \
         echoed, so that the next session with the same user on the same host begins with both.",
        "With a host, what is kept of it is forgotten: of the user, the host and the port that ssh -G names, by whatever \
         alias. ssh's own letters are handed to ssh, and nothing is asked over the network. Without a host all is \
         forgotten. Sessions that run meanwhile keep no prompt from before.",
        "The setting prompt-memory = false keeps nothing, for all hosts or for some; see rove config. Nor is anything kept \
         with --predict=never and --predict=experimental, and by a rove that is called mosh.",
    ],
    examples: &[
        ("rove forget", "everything"),
        ("rove forget me@example.org", "one user on one host"),
        ("rove forget --ssh='ssh -p 2222' host", "at another ssh port"),
    ],
    environment: &[("XDG_STATE_HOME", "Folder of what is remembered, instead of ~/.local/state.")],
    files: &[("~/.local/state/rove/prompts", "The hashes; nobody else may read them.")],
    exit_status: &[
        ("0", "It is forgotten, or there was nothing."),
        ("1", "It is not: a sentence says why."),
        ("255", "The command line or the configuration is wrong."),
    ],
    ..Manual::of(&ROVE)
};

/// Forgets the prompts that rove remembers, of one host or of all
#[derive(Debug, Parser)]
#[command(name = "rove forget", version, override_usage = "rove forget [options] [[user@]host]")]
struct ForgetArgs {
    #[arg(hide = true)]
    host: Option<OsString>,
}

/// Reads the words after `forget`; `load` reads the user's configuration, if a host is named. Returns the options of a
/// login to the host, or `None` if no host is named.
///
/// # Errors
///
/// Returns a fault of the command line or the configuration, or a request for something else, such as `--help`.
pub(crate) fn parse(
    args: Vec<OsString>,
    load: impl FnOnce() -> Result<Config, ConfigError>,
) -> Result<Option<HostOptions>, Instead> {
    let (args, login) = login::read::<ForgetArgs>(&MANUAL, args)?;
    let Some(host) = args.host else {
        login.nowhere(&MANUAL)?;
        return Ok(None);
    };
    login.options(host, load).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_forgotten_or_one_host() {
        let forget = |line: &str| {
            let words = line.split_whitespace().map(OsString::from).collect();
            parse(words, || Ok(Config::default()))
        };
        assert_eq!(forget("").unwrap(), None);
        let options = forget("-l me host -F file").unwrap().unwrap();
        assert_eq!(
            (options.ssh.join(" "), options.host),
            ("ssh -l me -F file".into(), "host".into())
        );
        for line in ["a b", "--all", "-l me", "--ssh=ssh", "-- -oProxyCommand=x"] {
            assert!(forget(line).is_err(), "{line}");
        }
        assert!(matches!(forget("-G host"), Err(Instead::AskSsh { .. })));
    }
}
