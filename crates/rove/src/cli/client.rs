//! The command line and environment of `mosh-client` and `rove client`.

use std::ffi::OsString;
use std::net::SocketAddr;

use clap::{Arg, ArgAction, Command};
use rove_bootstrap::ProgramName;
use rove_cli_docs::Manual;

use crate::bootstrap::address;
use crate::cli::getopt::{self, Item};
use crate::client::{self, ClientOptions};
use crate::program::ROVE;
use crate::session_call::SessionCall;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ClientCall {
    /// Print the help or, as `mosh-client`, the version and the usage on standard output.
    Help,
    Version,
    /// Print how many colours the terminal has.
    Colors,
    /// Run a session with this server.
    Run {
        /// The address where the server listens.
        server: SocketAddr,
        verbose: u8,
    },
}

/// Why a client's command line is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ClientLineError {
    #[error("{0}")]
    Option(String),
    #[error("needs the server's IP address and UDP port")]
    NoServer,
    #[error("Bad UDP port ({0}): it must be a number from 1 to 65535")]
    Port(String),
    #[error("Bad IP address ({0}): it must be numeric, not a name")]
    Address(String),
}

pub(crate) static MANUAL: Manual = Manual {
    word: "client",
    definition,
    text: include_str!("../../manuals/client.toml"),
    ..Manual::of(&ROVE)
};

/// Returns the definition of the options. The help, the manual and the letters that the parser accepts come from it.
fn definition() -> Command {
    let flag = |name: &'static str| Arg::new(name).action(ArgAction::SetTrue);
    Command::new("rove client")
        .about("Shows the session of a server that runs already")
        .override_usage("rove client [-v] IP PORT\n       rove client -c")
        .disable_help_flag(true)
        .args([
            flag("colors").short('c').help("Print how many colours the terminal has"),
            flag("verbose").short('v').action(ArgAction::Count).help("Log more; may be repeated"),
            // rove puts its own command line into this argument, so that process lists show it.
            Arg::new("tag").short('#').value_name("ARGS").hide(true),
            flag("help").short('h').long("help").help("Print this help"),
            flag("version").short('V').long("version").help("Print the version"),
        ])
}

pub(crate) fn usage() -> String {
    let program = "mosh-client";
    format!(
        "Usage: {program} [-v] [-# 'ARGS'] IP PORT\n       {program} -c\n\n\
         The session key is taken from the environment variable MOSH_KEY; -c prints how many\n\
         colours the terminal has."
    )
}

/// Reads the words after the program's name.
///
/// # Errors
///
/// Returns the fault of the command line. The caller prints it before the usage; the exit code is 1.
pub(crate) fn parse(name: ProgramName, args: Vec<OsString>) -> Result<ClientCall, ClientLineError> {
    let questions: &[&str] = match name {
        ProgramName::Rove => &["--help", "-h", "--version", "-V"],
        ProgramName::Mosh => &["--help", "--version"],
    };
    match getopt::first_of(&args, questions) {
        Some("--version" | "-V") => return Ok(ClientCall::Version),
        Some(_) => return Ok(ClientCall::Help),
        None => {}
    }
    let line = getopt::read(name, &definition(), args);
    let mut words = Vec::new();
    let mut verbose: u8 = 0;
    let mut colors = false;
    for item in line.items {
        match item {
            Item::Flag('c') => colors = true,
            Item::Flag(_) => verbose = verbose.saturating_add(1),
            Item::Value(..) => {}
            Item::Word(word) => words.push(word),
            Item::Complaint(complaint) => return Err(ClientLineError::Option(complaint)),
        }
    }
    words.extend(line.rest);
    if colors {
        return Ok(ClientCall::Colors);
    }
    let [address, port] = words.as_slice() else {
        return Err(ClientLineError::NoServer);
    };
    let server = server_address(&address.to_string_lossy(), &port.to_string_lossy())?;
    Ok(ClientCall::Run { server, verbose })
}

fn server_address(address: &str, port: &str) -> Result<SocketAddr, ClientLineError> {
    let bad_port = || ClientLineError::Port(port.to_owned());
    if !port.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(bad_port());
    }
    let port = port.parse().ok().filter(|&port| port != 0).ok_or_else(bad_port)?;
    address::from_numeric(address, port).ok_or_else(|| ClientLineError::Address(address.to_owned()))
}

/// Returns the client's options, completed from the environment. Removes the key from the environment.
///
/// # Errors
///
/// Returns an error for a missing or wrong key, a wrong value of a variable, and if other threads run.
pub(crate) fn options(
    name: ProgramName,
    server: SocketAddr,
    verbose: u8,
) -> anyhow::Result<ClientOptions> {
    let key = client::take_key()?;
    let call = SessionCall::take(name)?;
    Ok(ClientOptions { server, key, name, verbose, call })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(words: &[&str]) -> Result<ClientCall, String> {
        let call = parse(ProgramName::Mosh, words.iter().map(OsString::from).collect());
        call.map_err(|error| error.to_string())
    }

    #[test]
    fn the_two_forms_are_read() {
        let run =
            |server: &str, verbose| ClientCall::Run { server: server.parse().unwrap(), verbose };
        for (words, expected) in [
            (vec!["127.0.0.1", "60001"], run("127.0.0.1:60001", 0)),
            (vec!["-# -p 5 host |", "::1", "060001"], run("[::1]:60001", 0)),
            (vec!["-#", "x |", "-vv", "1.2.3.4", "65535"], run("1.2.3.4:65535", 2)),
            (vec!["fe80::1%3", "1"], run("[fe80::1%3]:1", 0)),
            (vec!["-c"], ClientCall::Colors),
            (vec!["-c", "1", "2"], ClientCall::Colors),
            (vec!["x", "--help", "--bogus"], ClientCall::Help),
            (vec!["--version"], ClientCall::Version),
        ] {
            assert_eq!(call(&words), Ok(expected), "{words:?}");
        }
    }

    #[test]
    fn roves_own_client_is_asked_by_letters_and_names_what_was_meant() {
        for (word, own, stock) in [
            ("-h", Ok(ClientCall::Help), "unknown option -h"),
            ("-V", Ok(ClientCall::Version), "unknown option -V"),
            (
                "--verison",
                Err("unknown option --verison; did you mean --version?"),
                "unknown option --verison",
            ),
            (
                "--colors",
                Err("unknown option --colors; did you mean -c?"),
                "unknown option --colors",
            ),
            ("-C", Err("unknown option -C; did you mean -c?"), "unknown option -C"),
            ("-p", Err("unknown option -p"), "unknown option -p"),
        ] {
            let call = |name| parse(name, vec![word.into()]).map_err(|error| error.to_string());
            assert_eq!(call(ProgramName::Rove), own.map_err(str::to_owned), "{word}");
            assert_eq!(call(ProgramName::Mosh), Err(stock.to_owned()), "{word}");
        }
    }

    #[test]
    fn a_wrong_line_is_refused_with_its_reason() {
        for (words, reason) in [
            (vec![], "needs the server's IP address and UDP port"),
            (vec!["1.2.3.4"], "needs the server's IP address and UDP port"),
            (vec!["1", "2", "3"], "needs the server's IP address and UDP port"),
            (vec!["-h"], "unknown option -h"),
            (vec!["1.2.3.4", "6x"], "Bad UDP port (6x): it must be a number from 1 to 65535"),
            (vec!["1.2.3.4", ""], "Bad UDP port (): it must be a number from 1 to 65535"),
            (vec!["1.2.3.4", "0"], "Bad UDP port (0): it must be a number from 1 to 65535"),
            (vec!["1.2.3.4", "65536"], "Bad UDP port (65536): it must be a number from 1 to 65535"),
            (vec!["host", "1"], "Bad IP address (host): it must be numeric, not a name"),
            (vec!["1.2.3.4%1", "1"], "Bad IP address (1.2.3.4%1): it must be numeric, not a name"),
        ] {
            assert_eq!(call(&words), Err(reason.to_owned()), "{words:?}");
        }
    }
}
