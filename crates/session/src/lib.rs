//! rove's client and server as state machines, sans I/O.
//!
//! [`Client`] is everything between the user's terminal and the network. [`Server`] is everything between the network
//! and the host's pty. The program rove pumps bytes between these and the machine. Simulations pump them through
//! virtual links.
//!
//! # Modules, from the bottom up
//!
//! The two objects:
//!
//! - `message` is the protobuf form of their diffs, as far as both are alike.
//! - `user_stream` is the client's object: keys, sizes, a `report` about the user's terminal, and a `wish` about other
//!   clients.
//! - `part` is the form of everything that travels with the picture, and `parts` lists it: `echo_ack`, `scrollback`,
//!   `exit_status`, `bells`, `clipboard`, `notifications`, `tty` and `joined`. `scrollback` has a server's half (`outbox`) and a client's
//!   half (`inbox`).
//! - `host_screen` is the server's object: the picture with its parts. A client applies its diffs within bounds of work
//!   (`play`), and only at an `allowed` size.
//!
//! The client:
//!
//! - `probe` asks the user's terminal what it can do, and takes the answers out of the user's keys. `columns` measures
//!   clusters.
//! - `escape` finds the keys that are meant for the client, and `command_line` reads a line of them. `callback` finds the address of a login
//!   on the screen. `announced` holds the window sizes that the server may
//!   still show.
//! - `notice` has the client's messages to the user, and `bar` and `status` draw them.
//! - `one_shot_effects` rings bells, copies text and notifies, as often as its `rate_limiter` allows.
//! - `last_screen` decides whether the last screen stays on the user's terminal.
//! - `client` puts this together. Its `uplink` holds what it sends, its `display` finds what to draw and draws
//!   it, its `notice_bar` holds what the bar says, and its `company` knows the other clients. Its
//!   `recorder` says what to write down before the next datagram, with `stock_facts` for a stock server. `resumption` goes on from that in another process.
//!   With a rove server, `typed` has the keys to write down, and `former` names the client that typed them.
//!
//! The server:
//!
//! - `keys` translates cursor keys for the program. `echo` decides which input has had time to take effect.
//! - `server` puts this together. Its `publisher` decides what a client is shown, and its `input` hands on what the client
//!   types; `paste` decides whether the server types a text itself. Its `succession` hands the session to another client (`never_came` has those that did not come), its `audience` holds clients that have joined, and `lead`
//!   decides whose window counts.
//!   `host_input` waits for the pty, `interface` has its driver's types, and `view` answers questions about it.
//!
//! `turn` bounds what a driver of the client does between two looks at the keys.
//!
//! `streams` goes beside either: it moves packets between the layer of streams and the session. A `stream_controller` says how fast.
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
pub use rove_terminal::{ExitStatus, InputNum, Outside, Tty, TtyCharacters, TtyModes};
pub use server::{Server, ServerConfig, ServerEvent, ServerOutcome, Uninvited, Untyped};
pub use stream_controller::StreamController;
pub use streams::Streams;
pub use turn::Turn;
pub use user_stream::{UserEvent, UserStream};
pub use wish::{Door, PackedWish, SizeRule, SizeRuleError, Wish};

/// The extensions of the stock protocol that both ends of this version understand.
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
