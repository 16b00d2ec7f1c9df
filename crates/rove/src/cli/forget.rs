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
    text: include_str!("../../manuals/forget.toml"),
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
