//! The command line and environment of `mosh-client` and `rove client`.

use std::env;
use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr, SocketAddrV6};

use crate::bootstrap::options::Prediction;
use crate::cli::escape_key;
use crate::cli::getopt::{self, Item};
use crate::client::{self, ClientOptions};
use crate::program::ProgramName;

/// What a client's command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ClientCall {
    /// Print usage and version on standard output.
    Help,
    /// Print the version on standard output.
    Version,
    /// Print how many colours the terminal has.
    Colors,
    /// Run a session with this server.
    Run {
        /// Where it listens.
        server: SocketAddr,
        /// How often `-v` was given.
        verbose: u8,
    },
}

/// Returns the usage.
pub(crate) fn usage(name: ProgramName) -> String {
    let program = match name {
        ProgramName::Rove => "rove client",
        ProgramName::Mosh => "mosh-client",
    };
    format!(
        "Usage: {program} [-v] [-# 'ARGS'] IP PORT\n       {program} -c\n\n\
         The session key is taken from the environment variable MOSH_KEY; -c prints how many\n\
         colours the terminal has."
    )
}

/// Reads the words behind the program's name.
///
/// # Errors
///
/// Returns what is wrong, for standard error in front of the usage; the exit code is 1.
pub(crate) fn parse(args: Vec<OsString>) -> Result<ClientCall, String> {
    if getopt::has_word(&args, "--help") {
        return Ok(ClientCall::Help);
    }
    if getopt::has_word(&args, "--version") {
        return Ok(ClientCall::Version);
    }
    let line = getopt::read("cv", "#", args);
    let mut words = Vec::new();
    let mut verbose: u8 = 0;
    let mut colors = false;
    for item in line.items {
        match item {
            Item::Flag('c') => colors = true,
            Item::Flag(_) => verbose = verbose.saturating_add(1),
            // What the session was started with stands here for those who list processes.
            Item::Value(..) => {}
            Item::Word(word) => words.push(word),
            Item::Complaint(complaint) => return Err(complaint),
        }
    }
    words.extend(line.rest);
    if colors {
        return Ok(ClientCall::Colors);
    }
    let [address, port] = words.as_slice() else {
        return Err("needs the server's IP address and UDP port".to_owned());
    };
    let server = server_address(&address.to_string_lossy(), &port.to_string_lossy())?;
    Ok(ClientCall::Run { server, verbose })
}

fn server_address(address: &str, port: &str) -> Result<SocketAddr, String> {
    let bad_port = || format!("Bad UDP port ({port}): it must be a number from 1 to 65535");
    if !port.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(bad_port());
    }
    let port = port.parse().ok().filter(|&port| port != 0).ok_or_else(bad_port)?;
    let bad_address = || format!("Bad IP address ({address}): it must be numeric, not a name");
    match address.split_once('%') {
        None => Ok(SocketAddr::new(address.parse::<IpAddr>().map_err(|_| bad_address())?, port)),
        Some((address, zone)) => {
            let address = address.parse().map_err(|_| bad_address())?;
            let zone = zone_index(zone).ok_or_else(bad_address)?;
            Ok(SocketAddrV6::new(address, port, 0, zone).into())
        }
    }
}

/// Reads the zone of a link-local address, a number or an interface's name.
fn zone_index(zone: &str) -> Option<u32> {
    zone.parse().ok().or_else(|| interface_index(zone))
}

#[cfg(target_os = "linux")]
fn interface_index(name: &str) -> Option<u32> {
    use rustix::net::{AddressFamily, SocketType, netdevice, socket};

    let socket = socket(AddressFamily::INET6, SocketType::DGRAM, None).ok()?;
    netdevice::name_to_index(socket, name).ok()
}

#[cfg(not(target_os = "linux"))]
fn interface_index(_name: &str) -> Option<u32> {
    None
}

/// Completes a client's options from the environment, taking the key out of it.
///
/// # Errors
///
/// Returns an error for a missing or wrong key and for an unknown prediction mode.
pub(crate) fn options(
    name: ProgramName,
    server: SocketAddr,
    verbose: u8,
) -> anyhow::Result<ClientOptions> {
    let key = client::take_key()?;
    if let Some(mode) = env::var_os("MOSH_PREDICTION_DISPLAY") {
        let mode = mode.to_string_lossy();
        Prediction::from_name(&mode).ok_or_else(|| {
            anyhow::anyhow!("Unknown prediction mode {mode:?} in MOSH_PREDICTION_DISPLAY")
        })?;
    }
    Ok(ClientOptions {
        server,
        key,
        escape_key: escape_key::from_environment(env::var_os("MOSH_ESCAPE_KEY").as_deref()),
        init: env::var_os("MOSH_NO_TERM_INIT").is_none(),
        title_prefix: env::var_os("MOSH_TITLE_NOPREFIX").is_none(),
        query: env::var_os("ROVE_NO_TERM_QUERY").is_none(),
        strict: env::var_os("ROVE_STRICT").is_some(),
        name,
        verbose,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(words: &[&str]) -> Result<ClientCall, String> {
        parse(words.iter().map(OsString::from).collect())
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
