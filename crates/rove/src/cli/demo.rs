//! The command line of `rove demo`.

use std::env;
use std::ffi::OsString;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{CommandFactory, FromArgMatches, Parser};
use rove_bootstrap::Choices;
use rove_cli_docs::{Manual, Words};
use rove_relay::PathArgs;
use rove_session::Preference;

use crate::cli::option_values::MODES;
use crate::demo::DemoOptions;
use crate::program::ROVE;

pub(crate) static MANUAL: Manual = Manual {
    word: "demo",
    definition: DemoArgs::command,
    words: Words::Command,
    text: include_str!("../../manuals/demo.toml"),
    ..Manual::of(&ROVE)
};

/// Shows a session over an emulated link, on this computer, without ssh and without root
#[derive(Debug, Parser)]
#[command(name = "rove demo", version, override_usage = "rove demo [options] [-- command...]")]
struct DemoArgs {
    #[command(flatten)]
    path: PathArgs,
    /// When to show keys before the far side answers
    #[arg(long, value_name = "MODE", default_value = "adaptive", value_parser = preference())]
    predict: Preference,
    /// Scroll what scrolls off at the far side into the terminal's own history
    #[arg(long)]
    scrollback: bool,
    /// Command to run instead of a shell
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Reads the words after `demo`, and the environment variable `ROVE_NO_TERM_QUERY`.
///
/// # Errors
///
/// Returns clap's error, which may be a request for help.
pub(crate) fn parse(args: Vec<OsString>) -> Result<DemoOptions, clap::Error> {
    let args = DemoArgs::from_arg_matches(&rove_cli_docs::matches(&MANUAL, args)?)?;
    Ok(DemoOptions {
        path: args.path,
        command: args.command,
        choices: Choices {
            predict: args.predict,
            init: !args.scrollback,
            scrollback: args.scrollback.then_some(true),
            query: env::var_os("ROVE_NO_TERM_QUERY").is_none(),
            ..Choices::default()
        },
    })
}

/// Returns the parser of the value of `--predict`.
fn preference() -> impl TypedValueParser<Value = Preference> {
    PossibleValuesParser::new(MODES)
        .try_map(|name| Preference::from_name(&name).ok_or("it is one of those that are listed"))
}

#[cfg(test)]
mod tests {
    use rove_units::{Bytes, Duration};

    use super::*;

    fn options(line: &str) -> Result<DemoOptions, clap::Error> {
        parse(line.split_whitespace().map(OsString::from).collect())
    }

    #[test]
    fn a_link_is_described_in_the_words_of_the_trade() {
        let demo = options("--rtt 500ms --loss 5% --rate 1Mbit --queue 4KiB -- htop -d 5").unwrap();
        assert_eq!(demo.path.rtt, Duration::from_millis(500));
        assert!((demo.path.loss - 0.05).abs() < 1e-9);
        assert_eq!(demo.path.rate.unwrap().bits_per_second(), 1_000_000);
        assert_eq!(demo.path.queue, Bytes::kib(4));
        assert_eq!(demo.command, ["htop", "-d", "5"]);
        assert_eq!(demo.choices.predict, Preference::Adaptive);
        assert_eq!(options("--predict never").unwrap().choices.predict, Preference::Never);
        assert!(options("--predict sometimes").is_err());
        assert_eq!(options("").unwrap().path.rtt, Duration::from_millis(200));
    }
}
