//! rove's client and server as state machines, sans I/O.
//!
//! [`Client`] is everything between the user's keys and screen and the network; [`Server`] everything
//! between the network and the host's pty. The program `rove` pumps bytes between these and the
//! machine; simulations pump them through virtual links.

#![forbid(unsafe_code)]

mod announced;
mod bar;
mod client;
mod clipboard;
mod echo;
mod escape;
mod exit_status;
#[doc(hidden)]
pub mod fuzzing;
mod host_screen;
mod key_event;
mod keys;
mod last_screen;
mod message;
mod notice;
mod notifications;
mod performer;
mod probe;
mod ration;
mod report;
mod scrollback;
mod server;
mod status;
mod user_stream;

pub use client::{
    Client, ClientConfig, ClientEvent, ClientOutcome, MEMORY_MAX_80X24, MEMORY_MAX_500X200, Trouble,
};
pub use exit_status::{ExitStatus, Outside};
pub use host_screen::HostScreen;
pub use last_screen::{MissingLines, Running};
pub use report::TerminalReport;
pub use rove_predict::{
    Effect, EngineKind, Explanation, InputNum, Mechanism, Mechanisms, Prediction, Preference,
    PromptHash, PromptMemory, Reason, Stop, Tty, TtyCharacters, TtyModes,
};
pub use server::{Server, ServerConfig, ServerEvent, ServerOutcome};
pub use user_stream::{UserEvent, UserStream};

/// What both ends of this version understand beyond the stock protocol.
pub const CAPABILITIES: rove_ssp::Capabilities = rove_ssp::Capabilities::EXIT_STATUS
    .union(rove_ssp::Capabilities::RICH_SCREEN)
    .union(rove_ssp::Capabilities::TERMINAL_REPORT)
    .union(rove_ssp::Capabilities::TTY)
    .union(rove_ssp::Capabilities::SCROLLBACK)
    .union(rove_ssp::Capabilities::LOSS_REPORT)
    .union(rove_ssp::Capabilities::PROMISE)
    .union(rove_ssp::Capabilities::LATE_ACK)
    .union(rove_ssp::Capabilities::CLUSTERS);
