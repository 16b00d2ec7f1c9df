//! The command line of `rove tunnel`, which ssh runs on the host or on a jump host to carry a session's datagrams.

use std::ffi::OsString;
use std::num::{NonZeroU16, ParseIntError};

use clap::{Arg, Command};
use rove_bootstrap::tunnel::FORWARD;
use rove_cli_docs::Manual;

use crate::program::ROVE;

pub(crate) static MANUAL: Manual = Manual {
    word: "tunnel",
    definition,
    text: include_str!("../../manuals/tunnel.toml"),
    ..Manual::of(&ROVE)
};

fn definition() -> Command {
    Command::new("rove tunnel")
        .about("Moves a session's datagrams between standard input, standard output and a UDP port")
        .override_usage("rove tunnel PORT | forward")
        .arg(Arg::new("port").required(true).value_name("PORT").value_parser(end_of).hide(true))
}

/// The role of `rove tunnel`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// `rove tunnel` is the tunnel's end on the host, for the server at this UDP port.
    Port(NonZeroU16),
    /// `rove tunnel` is a forwarder on a jump host, which passes on a client's datagrams by UDP.
    Forward,
}

fn end_of(word: &str) -> Result<Word, ParseIntError> {
    if word == FORWARD { Ok(Word::Forward) } else { word.parse().map(Word::Port) }
}

/// Reads the word after `tunnel`.
///
/// # Errors
///
/// Returns clap's error, which may be a request for help.
pub(crate) fn parse(args: Vec<OsString>) -> Result<Word, clap::Error> {
    let matches = rove_cli_docs::matches(&MANUAL, args)?;
    Ok(*matches.get_one("port").expect("it is required"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_a_number_and_not_nothing() {
        let call = |words: &[&str]| parse(words.iter().map(OsString::from).collect());
        assert_eq!(call(&["60001"]).unwrap(), Word::Port(60_001.try_into().unwrap()));
        assert_eq!(call(&["forward"]).unwrap(), Word::Forward);
        for words in [&[][..], &[""], &["0"], &["65536"], &["x"], &["1", "2"], &["--bogus"]] {
            assert!(call(words).is_err(), "{words:?}");
        }
    }
}
