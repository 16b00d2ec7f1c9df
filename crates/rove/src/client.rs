//! The client: pumps between the user's terminal and the network.

use std::net::SocketAddr;

use rove_ssp::Key;

use crate::program::ProgramName;

/// What a client is asked to do.
#[derive(Clone)]
pub struct ClientOptions {
    /// Where the server listens.
    pub server: SocketAddr,
    /// The session key.
    pub key: Key,
    /// The escape key; `None` turns escape processing off.
    pub escape_key: Option<u8>,
    /// Whether to use the terminal's alternate screen.
    pub init: bool,
    /// Whether window titles get the program's name in front.
    pub title_prefix: bool,
    /// Whether to speak stock Mosh only, without any extension.
    pub strict: bool,
    /// The name the program was called under.
    pub name: ProgramName,
    /// How often `-v` was given.
    pub verbose: u8,
}

/// Runs a client on this process's terminal until the session ends; returns the exit code.
///
/// # Errors
///
/// Returns why the session could not start or how it failed, in a sentence for the user.
/// The terminal has been given back by then.
pub fn run(options: ClientOptions) -> anyhow::Result<u8> {
    let _ = options;
    anyhow::bail!("the client is not there yet")
}

/// Takes the session key's text from `MOSH_KEY` and removes the variable from the environment.
///
/// Call it first thing in `main`, before any thread exists and any command is started.
///
/// # Errors
///
/// Returns an error that says what is missing or wrong; never the text itself.
pub fn take_key() -> anyhow::Result<Key> {
    anyhow::bail!("the client is not there yet")
}
