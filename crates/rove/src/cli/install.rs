//! The command line of `rove install`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{CommandFactory, Parser, ValueHint};
use rove_cli_docs::{Manual, Words};

use crate::cli::config::{Config, ConfigError};
use crate::cli::login::{self, Instead};
use crate::install::InstallOptions;
use crate::program::ROVE;

pub(crate) static MANUAL: Manual = Manual {
    word: "install",
    definition: || login::definition(InstallArgs::command()),
    words: Words::Host,
    text: include_str!("../../manuals/install.toml"),
    ..Manual::of(&ROVE)
};

/// Copies rove to a host, into ~/.local/bin there
#[derive(Debug, Parser)]
#[command(name = "rove install", version, override_usage = "rove install [options] [user@]host")]
struct InstallArgs {
    #[arg(hide = true, required_unless_present = "own_sum")]
    host: Option<OsString>,
    /// Program to copy instead of the one that fits
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    build: Option<PathBuf>,
    /// Replace a newer rove too, without a question
    #[arg(long)]
    force: bool,
    /// Say nothing but what is wrong; -q is handed to ssh as well
    #[arg(short = 'q', long)]
    quiet: bool,
    /// Print the SHA-256 of this program; what a copy is asked on the host
    #[arg(long, hide = true)]
    own_sum: bool,
}

/// The work that a command line of `rove install` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InstallCall {
    /// Copy rove to a host.
    Copy(Box<InstallOptions>),
    /// Print the SHA-256 of this program.
    OwnSum,
}

/// Reads the words after `install`; `load` reads the user's configuration.
///
/// # Errors
///
/// Returns a fault of the command line or the configuration, or a request for something else, such as `--help`.
pub(crate) fn parse(
    args: Vec<OsString>,
    load: impl FnOnce() -> Result<Config, ConfigError>,
) -> Result<InstallCall, Instead> {
    let (args, login) = login::read::<InstallArgs>(&MANUAL, args)?;
    let Some(host) = args.host.filter(|_| !args.own_sum) else { return Ok(InstallCall::OwnSum) };
    let mut session = login.options(host, load)?;
    session.quiet = args.quiet;
    Ok(InstallCall::Copy(Box::new(InstallOptions {
        session,
        build: args.build,
        force: args.force,
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(words: &[&str], file: &str) -> Result<InstallCall, Instead> {
        let config = Config::parse(file.as_bytes()).unwrap();
        parse(words.iter().map(OsString::from).collect(), || Ok(config))
    }

    fn options(words: &[&str], file: &str) -> InstallOptions {
        let Ok(InstallCall::Copy(options)) = call(words, file) else { panic!("{words:?}") };
        *options
    }

    #[test]
    fn the_login_is_the_one_that_is_set_for_the_host() {
        let file = "[host.pi]\nssh = 'ssh -p 2222'\nfamily = 'inet6'\n";
        for (words, ssh, family) in [
            (&["me@pi"][..], "ssh -p 2222", "inet6"),
            (&["--ssh=ssh -4", "pi"], "ssh -4", "inet6"),
            (&["other"], "ssh", "prefer-inet"),
            (&["-4", "-i", "key", "me@pi", "-J", "jump"], "ssh -i key -J jump -p 2222", "inet"),
        ] {
            let session = options(words, file).session;
            assert_eq!((session.ssh.join(" ").as_str(), session.family.as_str()), (ssh, family));
        }
        let all = options(&["--force", "-q", "--build", "x", "pi"], "");
        assert_eq!((all.force, all.session.quiet, all.build), (true, true, Some("x".into())));
    }

    #[test]
    fn a_word_that_names_no_host_is_refused() {
        for words in [&[][..], &["--", "-oProxyCommand=x"], &[""], &["a", "b"], &["--frob", "a"]] {
            assert!(call(words, "").is_err(), "{words:?}");
        }
        assert!(call(&["--ssh='", "a"], "").is_err());
        assert_eq!(call(&["--own-sum"], "").unwrap(), InstallCall::OwnSum);
    }
}
