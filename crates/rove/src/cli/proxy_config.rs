//! The command line of `rove proxy-config`, and the section of ssh's configuration that it prints.

use std::ffi::OsString;

use clap::{CommandFactory, Parser};
use rove_bootstrap::ssh_config::without_uri;
use rove_cli_docs::{Manual, Words};

use crate::cli::config::{Config, ConfigError};
use crate::cli::login::{self, Instead};
use crate::program::ROVE;

pub(crate) static MANUAL: Manual = Manual {
    word: "proxy-config",
    definition: || login::definition(ProxyConfigArgs::command()),
    words: Words::Host,
    text: include_str!("../../manuals/proxy-config.toml"),
    ..Manual::of(&ROVE)
};

/// Prints the section of ssh's configuration that reaches hosts through a gate by rove
#[derive(Debug, Parser)]
#[command(
    name = "rove proxy-config",
    version,
    override_usage = "rove proxy-config [options] [user@]gate"
)]
struct ProxyConfigArgs {
    #[arg(hide = true)]
    gate: OsString,
}

/// Reads the words after `proxy-config`, and returns the section for ssh. `load` reads rove's configuration.
///
/// # Errors
///
/// Returns a fault of the command line or the configuration, or a request for something else, such as `--help`.
pub(crate) fn section(
    args: Vec<OsString>,
    load: impl FnOnce() -> Result<Config, ConfigError>,
) -> Result<String, Instead> {
    let (args, login) = login::read::<ProxyConfigArgs>(&MANUAL, args)?;
    let mut words = login.words().to_vec();
    let gate = login.options(args.gate, load)?.host;
    words.push(gate.clone());
    let texts = words.iter().map(|word| word.to_str().filter(|it| !it.contains(char::is_control)));
    let Some(texts) = texts.collect::<Option<Vec<&str>>>() else {
        let sentence = "ssh's configuration holds no control characters, and only UTF-8";
        return Err(Instead::wrong(sentence));
    };
    // In ssh's configuration, a percent sign would begin a token such as `%h`.
    let way = shell_words::join(texts).replace('%', "%%");
    let name = without_uri(&gate.to_string_lossy());
    let name = name.rsplit('@').next().unwrap_or_default();
    Ok(format!(
        "# Hosts that are reached by rove through {name}. Put their names in place of *.example.\n\
         Host *.example !{name}\n    \
         ProxyCommand rove -W '[%h]:%p' {way}\n    \
         # The connection waits while the network is away. With another value, ssh ends it then.\n    \
         ServerAliveInterval 0"
    ))
}
