//! Speculative local echo: the effect of the user's keys, shown before the host's screen shows it.
//!
//! An [`Engine`] takes the user's keys and the host's screens, and predicts the effect of the keys. It judges its
//! predictions by the screens that follow, and draws the trusted ones over a copy of the newest screen. It does no I/O,
//! reads no clock and knows no protocol. The caller tells it as numbers ([`rove_terminal::InputNum`]) which input the host has.
//! `docs/prediction.md` explains the rules.
//!
//! # Modules, from the bottom up
//!
//! The material of an engine:
//!
//! - `network` is the network's progress: which input has arrived, and which was answered.
//! - `scene` reads the surroundings of the cursor on a screen: its `row`s, `text` and `pane`, where the `input` is, and
//!   the `fingerprint` of the prompt. `title`, `editor` and `mode_line` are signs of programs. `secret` knows words
//!   that ask for secrets. `rendition` predicts colours.
//! - `secrecy` alone decides whether a typed character may be shown before its echo: by the echo of its `line`, by an
//!   editor's `insertion`, or by a server's `statement`.
//! - `prompt_memory` holds the prompts of earlier sessions.
//! - `policy` decides when predictions are shown at all. `overlay` draws them over a screen.
//! - `reason` says why a key is shown or not. `mechanism` names the parts that an experiment can switch off.
//!
//! The engine:
//!
//! - `engine` is the interface that a client knows, and `maker` creates one. The laboratory has another engine.
//! - `replay` plays the pending keys again on each new screen. The next section is about it.
//!
//! # The replay engine
//!
//! - A `log` holds the keys that no screen shows yet, and a `base` is the screen that they start from. Both together
//!   are the `pending_keys`.
//! - `simulate` plays a key on the `input_text`: text at the `edge` of a row, `program_text`, and the `window_text` of
//!   a full-screen program. It draws on a `canvas`, in a `field`, with a `layout` of rows. `motion`, `history_cursor`
//!   and `class` describe the effects of keys.
//! - `timeline` is one pass over the keys. `match_result` finds out how many of them a screen shows.
//! - `judge` gives the verdict on the keys, and changes nothing. `learn` alone learns from it. `entered_lines` records
//!   the lines that are entered and recalled.
//! - `state` holds all that the engine knows. `forecast` selects the effects that may be shown.
//! - The models each learn one habit: `context` (prompts), `wrap` with `wrap_probe`, `exit` (of an editor's mode),
//!   `navigation` with `cursor_probe` and `ruler`, `drawn_cursor`, `history`, `paint`, and `echo_timeout`, `late` and
//!   `latency` (slow hosts). `learned` holds all of them.
//! - A model counts its `evidence`, and keeps what it learns in a bounded `memory` by an `id`.
//! - `mask` and `echo_off` recognise prompts that do not echo. `trust` decides what is likely enough to be shown.

#![forbid(unsafe_code)]

mod engine;
mod maker;
mod mechanism;
mod network;
pub mod overlay;
mod policy;
mod prompt_memory;
mod reason;
mod replay;
mod scene;
mod secrecy;

pub use engine::Engine;
pub use maker::engine;
pub use mechanism::{Mechanism, Mechanisms};
pub use network::Network;
pub use policy::{MakeEngine, Policy, Prediction, Preference};
pub use prompt_memory::{PromptHash, PromptMemory};
pub use reason::{Effect, Explanation, Reason, Stop};
pub use scene::asks_for_secret;
