//! Speculative local echo: what the user's keys will do to the screen, shown before the host says so.
//!
//! An [`Engine`] takes the user's keys and the host's screens, guesses what the keys will do, judges
//! its guesses by the screens that follow, and lays those it trusts over a copy of the newest screen.
//! It does no I/O and reads no clock, and it knows no protocol: how far the host has come is told to
//! it as numbers ([`InputNum`]).

#![forbid(unsafe_code)]

mod engine;
pub mod fuzzing;
mod keystroke;
mod mechanism;
mod overlay;
mod policy;
mod prompt_memory;
mod reason;
mod replay;
mod scene;
mod secrecy;
mod stock;
mod tty;

pub use engine::{Engine, InputNum, Network};
pub use keystroke::{Key, Keystrokes};
pub use mechanism::{Mechanism, Mechanisms, UnknownMechanism};
pub use policy::{EngineKind, Prediction, Preference};
pub use prompt_memory::{PromptHash, PromptMemory};
pub use reason::{Effect, Explanation, Reason, Stop};
pub use tty::{Tty, TtyCharacters, TtyModes};
