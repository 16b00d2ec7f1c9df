//! The configuration of a client, and its messages to its driver.

use core::net::SocketAddr;

use rove_predict::{Engine, Prediction, Preference};
use rove_ssp::{Capabilities, Config, Key};
use rove_terminal::{ExitStatus, Size, TerminalCapabilities};
use rove_units::Stream;

use crate::last_screen::Running;

/// The configuration of a client.
pub struct ClientConfig {
    /// The address at which the server listens.
    pub server: SocketAddr,
    /// The session key.
    pub key: Key,
    /// The policies and timings of the transport.
    pub transport: Config,
    /// The size of the user's window, in columns and rows.
    pub size: Size,
    /// The abilities of the user's terminal.
    pub terminal: TerminalCapabilities,
    /// Whether the client may query the terminal for further abilities. That is safe only if the terminal prints
    /// nothing of a query that it does not know.
    pub query: bool,
    /// The escape key; `None` turns escape processing off.
    pub escape_key: Option<u8>,
    /// When and how to show predictions.
    pub prediction: Prediction,
    /// The program's name in notices: `rove` or `mosh`.
    pub program: String,
    /// Whether the escape key and `s` show the status, and an unknown key after the escape key shows the help. In Mosh
    /// 1.4.0 both keys go to the program.
    pub offers_status: bool,
    /// Whether a second request to end is obeyed at once. Mosh 1.4.0 waits for the server even then.
    pub is_end_obeyed_twice: bool,
    /// The kind of program on the host, which decides whether its last screen stays on the user's terminal.
    pub running: Running,
    /// Randomness for padding, drawn by the caller.
    pub chaff: Stream,
}

impl ClientConfig {
    /// Returns the configuration of rove without predictions, escape key and queries, on a plain terminal.
    pub fn new(server: SocketAddr, key: Key, transport: Config, chaff: Stream) -> Self {
        Self {
            server,
            key,
            transport,
            size: Size::DEFAULT,
            terminal: TerminalCapabilities::default(),
            query: false,
            escape_key: None,
            prediction: Prediction { preference: Preference::Never, ..Prediction::default() },
            program: "rove".to_owned(),
            offers_status: true,
            is_end_obeyed_twice: true,
            running: Running::Unknown,
            chaff,
        }
    }

    /// Returns the extensions that this client uses, or `None` for the bare protocol of Mosh 1.4.0. A client with
    /// Mosh's prediction rules does not use the modes of the host's terminal.
    pub(super) fn understood(&self, engine: &dyn Engine) -> Option<Capabilities> {
        let unused = [
            (engine.uses_tty(), Capabilities::TTY),
            // Echo acks confirm or refute predictions, so only a client without predictions accepts late echo acks.
            (self.prediction.preference == Preference::Never, Capabilities::LATE_ACK),
            (self.terminal.scrollback, Capabilities::SCROLLBACK),
            (self.offers_status, Capabilities::LOSS_REPORT),
            (self.offers_status, Capabilities::JOINED),
            (self.offers_status, Capabilities::STREAMS),
        ];
        let unused = unused.into_iter().filter(|(is_used, _)| !is_used);
        let capabilities = self.transport.capabilities?;
        Some(unused.fold(capabilities, |set, (_, unused)| set.difference(unused)))
    }
}

/// A request that the driver must carry out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientEvent {
    /// Open a new local UDP port, and send from it after this.
    OpenPort,
    /// Close the oldest local ports until this many are left.
    ClosePorts {
        /// How many ports stay open.
        keep: usize,
    },
    /// Give the terminal back, print a message, stop the process group; then call
    /// [`Client::handle_resume`](super::Client::handle_resume).
    Suspend,
    /// Carry out a line about forwarded connections, and answer it by [`Client::answer`](super::Client::answer).
    Forward(String),
    /// Copy the named files to the host, with names split as in a shell. Answer as for [`ClientEvent::Forward`].
    Put(String),
    /// Ask the user about the login on the screen, or say that there is none
    /// ([`Client::callback`](super::Client::callback)).
    Callback,
    /// Give the terminal back, let the user log in again so that the tunnel reopens; then call
    /// [`Client::handle_resume`](super::Client::handle_resume).
    LogIn,
    /// The user has said yes to the question of [`Client::ask`](super::Client::ask).
    Yes,
}

/// How a session ended, seen from the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientOutcome {
    /// The session ended in order. A rove server also tells the exit status of the remote command.
    Ended(Option<ExitStatus>),
    /// No state of the server has arrived.
    NeverConnected,
    /// The client was connected once, but the server never acknowledged the end and may still run.
    Unacknowledged,
    /// The client was connected once, and the host refuses the server's port.
    Gone,
    /// The session key has encrypted as much data as the cipher safely allows.
    KeyExhausted,
}
