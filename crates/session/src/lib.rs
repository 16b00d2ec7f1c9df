//! rove's client and server as state machines, sans I/O.
//!
//! [`Client`] is everything between the user's terminal and the network. [`Server`] is everything between the network
//! and the host's pty. A *driver* calls them with bytes and the time. The program rove is a driver with sockets and
//! terminals, and a simulation is one with virtual links.
//!
//! # Modules, from the bottom up
//!
//! The two objects:
//!
//! - `message` reads and writes what the protobuf forms of both objects' diffs have in common.
//! - `user_stream` is the client's object: keys, sizes, `report`s on the terminal, `wish`es about other clients.
//! - `part` is the trait of everything that travels with the picture, and `parts` lists it: `echo_ack`, `scrollback`,
//!   `exit_status`, `bells`, `clipboard`, `notifications`, `tty` and `joined`. `scrollback` has a server's half
//!   (`outbox`) and a client's half (`inbox`).
//! - `host_screen` is the server's object: the picture with its parts. A client applies its diffs within bounds of work
//!   (`play`), and only at an `allowed` size.
//!
//! The client:
//!
//! - `probe` asks the user's terminal what it can do, and removes the answers from the user's input. `columns` measures
//!   the width of clusters.
//! - `escape` finds the keys that are meant for the client, and `command_line` reads a line of them. `callback` finds
//!   on the screen the address of a browser login. `announced` holds the window sizes that the server may still show.
//! - `notice` has the client's messages to the user, and `bar` and `status` draw them.
//! - `one_shot_effects` rings bells, copies text and notifies, as often as its `rate_limiter` allows.
//! - `last_screen` decides whether the last screen stays on the user's terminal.
//! - `client` puts this together. Its `uplink` holds the messages to the server, and its `display` draws the picture.
//!   Its `notice_bar` holds the notices, and its `company` knows the other clients. Its `recorder` says what to write
//!   to disk before the next datagram. This record is `typed` (the keys) or, with a Mosh server, `stock_facts`. Another
//!   process continues the session from the record (`resumption`). `former` names the client that wrote it.
//!
//! The server:
//!
//! - `keys` translates cursor keys for the program. `echo` decides which input has had time to take effect.
//! - `server` puts this together. Its `publisher` decides what a client is shown, and its `input` delivers what the
//!   client types. `paste` decides whether the server may type a text itself. Its `succession` hands the session to
//!   another client, and remembers which clients were invited. Its `audience` holds clients that have joined, and `lead`
//!   decides whose window sets the size. `last_lines` waits for lines of a program that has ended. `host_input` queues
//!   bytes for the pty, and `interface` has the types for the driver. `view` answers questions about the server.
//!
//! `turn` bounds the work that a driver of the client does before it reads keys again.
//!
//! `streams` moves packets between rove's streams and each end of the session, at the pace of a `stream_controller`.
//!
//! `fuzzing` states what must hold whatever the user's terminal answers.

#![forbid(unsafe_code)]

mod announced;
mod bar;
mod callback;
mod client;
mod command_line;
mod echo;
mod escape;
mod former;
#[doc(hidden)]
pub mod fuzzing;
mod host_screen;
mod keys;
mod last_screen;
mod message;
mod notice;
mod one_shot_effects;
mod part;
mod parts;
mod probe;
mod rate_limiter;
mod report;
mod server;
mod status;
mod stream_controller;
mod streams;
mod turn;
mod user_stream;
mod wish;

pub use callback::Callback;
pub use client::{
    Client, ClientConfig, ClientEvent, ClientOutcome, LeftKeys, MEMORY_MAX_80X24,
    MEMORY_MAX_500X200, NextKeys, Record, Recording, ResumeError, Trouble,
};
pub use former::{ClientId, Former, FormerError};
pub use host_screen::HostScreen;
pub use last_screen::{MissingLines, Running};
pub use parts::joined::{JOINED_MAX, JoinMode, JoinedClient};
pub use report::TerminalReport;
pub use rove_predict::{
    Effect, Explanation, MakeEngine, Mechanism, Mechanisms, Prediction, Preference, PromptHash,
    PromptMemory, Reason, Stop,
};
pub use rove_terminal::{Dismissal, ExitStatus, InputNum, Outside, Tty, TtyCharacters, TtyModes};
pub use server::{Server, ServerConfig, ServerEvent, ServerOutcome, Uninvited, Untyped};
pub use stream_controller::StreamController;
pub use streams::Streams;
pub use turn::Turn;
pub use user_stream::{UserEvent, UserStream};
pub use wish::{Door, PackedWish, SizeRule, SizeRuleError, Wish};

/// The extensions of the Mosh 1.4.0 protocol that both ends of this version understand.
pub const CAPABILITIES: rove_ssp::Capabilities = rove_ssp::Capabilities::EXIT_STATUS
    .union(rove_ssp::Capabilities::RICH_SCREEN)
    .union(rove_ssp::Capabilities::TERMINAL_REPORT)
    .union(rove_ssp::Capabilities::TTY)
    .union(rove_ssp::Capabilities::SCROLLBACK)
    .union(rove_ssp::Capabilities::LOSS_REPORT)
    .union(rove_ssp::Capabilities::ANNOUNCED_HEARTBEAT)
    .union(rove_ssp::Capabilities::LATE_ACK)
    .union(rove_ssp::Capabilities::CLUSTERS)
    .union(rove_ssp::Capabilities::JOINED);
