//! The command line of `rove demo`.

use std::env;
use std::ffi::OsString;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{CommandFactory, FromArgMatches, Parser};
use rove_bootstrap::Choices;
use rove_cli_docs::{Manual, Words};
use rove_session::Preference;
use rove_units::{BitRate, Bytes, Duration, Seed, parse_duration};

use crate::cli::option_values::MODES;
use crate::demo::DemoOptions;
use crate::program::ROVE;

pub(crate) static MANUAL: Manual = Manual {
    word: "demo",
    definition: DemoArgs::command,
    words: Words::Command,
    notes: &["Leave it with exit, or with Ctrl-^ and then \".\"."],
    examples: &[
        ("rove demo --rtt 500ms --loss 5%", "a shell behind a bad link"),
        ("rove demo --rtt 500ms --predict never", "the same link without predictions"),
        ("rove demo --rtt 80ms --rate 1Mbit -- htop", "one command behind a narrow one"),
    ],
    exit_status: &[
        ("0 to 254", "The command's own."),
        ("1", "The session failed."),
        ("255", "The command line is wrong."),
    ],
    ..Manual::of(&ROVE)
};

/// Shows a session over an emulated link, on this computer, without ssh and without root
#[derive(Debug, Parser)]
#[command(name = "rove demo", version, override_usage = "rove demo [options] [-- command...]")]
struct DemoArgs {
    /// Round-trip time; half of it each way
    #[arg(long, value_name = "TIME", default_value = "200ms", value_parser = parse_duration)]
    rtt: Duration,
    /// Extra delay, up to this much, each way
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = parse_duration)]
    jitter: Duration,
    /// Share of the datagrams that is lost, each way: 5% or 0.05
    #[arg(long, value_name = "SHARE", default_value = "0%", value_parser = parse_share)]
    loss: f64,
    /// Rate of the bottleneck each way, such as 1Mbit [default: none]
    #[arg(long, value_name = "RATE")]
    rate: Option<BitRate>,
    /// Size of the queue in front of the bottleneck
    #[arg(long, value_name = "SIZE", default_value = "64KiB")]
    queue: Bytes,
    /// When to show keys before the far side answers
    #[arg(long, value_name = "MODE", default_value = "adaptive", value_parser = preference())]
    predict: Preference,
    /// Scroll what scrolls off at the far side into the terminal's own history
    #[arg(long)]
    scrollback: bool,
    /// Number that decides which datagrams are lost
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// Start also where rove cannot tell its threads from an emulator's
    #[arg(long)]
    allow_emulator: bool,
    /// Command to run instead of a shell
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Reads the words after `demo`.
///
/// # Errors
///
/// Returns clap's error, which may be a request for help.
pub(crate) fn parse(args: Vec<OsString>) -> Result<DemoOptions, clap::Error> {
    let args = DemoArgs::from_arg_matches(&rove_cli_docs::matches(&MANUAL, args)?)?;
    Ok(DemoOptions {
        rtt: args.rtt,
        jitter: args.jitter,
        loss: args.loss,
        rate: args.rate,
        queue: args.queue,
        allow_emulator: args.allow_emulator,
        command: args.command,
        choices: Choices {
            predict: args.predict,
            init: !args.scrollback,
            scrollback: args.scrollback.then_some(true),
            query: env::var_os("ROVE_NO_TERM_QUERY").is_none(),
            read_copied: env::var_os("ROVE_READ_COPIED").is_some(),
            ..Choices::default()
        },
        seed: Seed::new(args.seed),
    })
}

/// Returns the parser of `--predict`: when predictions are shown.
fn preference() -> impl TypedValueParser<Value = Preference> {
    PossibleValuesParser::new(MODES)
        .try_map(|name| Preference::from_name(&name).ok_or("it is one of those that are listed"))
}

/// Reads a share from 0 to 1, as `5%` or `0.05`.
fn parse_share(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(number) => (number, 0.01),
        None => (text, 1.0),
    };
    match number.trim().parse::<f64>() {
        Ok(number) if (0.0..=1.0).contains(&(number * unit)) => Ok(number * unit),
        _ => Err("a share is between 0% and 100%".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Result<DemoOptions, clap::Error> {
        parse(line.split_whitespace().map(OsString::from).collect())
    }

    #[test]
    fn a_link_is_described_in_the_words_of_the_trade() {
        let demo = options("--rtt 500ms --loss 5% --rate 1Mbit --queue 4KiB -- htop -d 5").unwrap();
        assert_eq!(demo.rtt, Duration::from_millis(500));
        assert!((demo.loss - 0.05).abs() < 1e-9);
        assert_eq!(demo.rate.unwrap().bits_per_second(), 1_000_000);
        assert_eq!(demo.queue, Bytes::kib(4));
        assert_eq!(demo.command, ["htop", "-d", "5"]);
        assert_eq!(demo.choices.predict, Preference::Adaptive);
        assert_eq!(options("--predict never").unwrap().choices.predict, Preference::Never);
        assert!(options("--predict sometimes").is_err());
        assert_eq!(options("").unwrap().rtt, Duration::from_millis(200));
        assert!(options("--allow-emulator").unwrap().allow_emulator);
    }

    #[test]
    fn a_share_outside_its_range_is_refused() {
        for (text, share) in [("0%", Some(0.0)), ("1", Some(1.0)), ("100%", Some(1.0))] {
            assert_eq!(parse_share(text).ok(), share, "{text}");
        }
        for text in ["101%", "-1%", "NaN", "inf", "", "%", "x"] {
            assert!(parse_share(text).is_err(), "{text}");
        }
    }
}
