//! Speculative local echo: shows the predicted effect of the user's keys before the host's screen shows it.
//!
//! An [`Engine`] takes the user's keys and the host's screens, and predicts the effect of the keys. It judges its
//! predictions by later screens, and draws the trusted ones over a copy of the newest screen. It does no I/O, reads no
//! clock and knows no protocol. The caller states by number ([`rove_terminal::InputNum`]) which input has reached the
//! host. `docs/prediction.md` explains the rules.
//!
//! # Modules, from the bottom up
//!
//! Parts that any engine can use:
//!
//! - `network` is the network's progress: which input has arrived, and which was answered.
//! - `scene` reads a screen around the cursor: its `row`s, `text` and `pane`, the place of the `input`, and the
//!   `fingerprint` of the prompt. `title`, `editor` and `mode_line` recognise programs. `secret` has the words in
//!   prompts that ask for secrets. `rendition` predicts colours.
//! - `secrecy` alone decides whether a typed character may be shown before its echo. Its evidence is earlier echo. The
//!   echo was in the input `line`, at the prompt, in an editor's mode (`insertion`), or under a server's `statement`.
//! - `prompt_memory` holds the prompts of earlier sessions.
//! - `policy` decides whether predictions are shown at all. `overlay` draws them over a screen.
//! - `reason` explains why a key is shown or not. `mechanism` names the parts that an experiment can switch off.
//!
//! The engine:
//!
//! - `engine` is the interface to a client, and `maker` creates an engine. The laboratory has a second engine.
//! - `replay` simulates the pending keys again on each new screen. The next section describes it.
//!
//! # The replay engine
//!
//! - `log` holds the keys whose effect no screen has shown, and `base` the screen on which they are simulated.
//!   `pending_keys` joins the two.
//! - `simulate` simulates a key. The key changes the `input_text`, which may continue over the right `edge` of a row.
//!   Or it moves over the `window_text` of a full-screen program. `program_text` has texts that the program itself
//!   inserts. The simulation draws on a `canvas`, in a `field` with a `layout` of rows. `motion`, `history_cursor` and
//!   `class` describe the effects of keys.
//! - `timeline` simulates all pending keys in order. `match_result` determines how many of them a screen shows.
//! - `judge` decides which keys a screen confirms or refutes, without changing any state. `learn` then updates the
//!   models. `entered_lines` records the lines that the user enters and recalls.
//! - `state` holds the whole state of the engine. `forecast` selects the effects that may be shown.
//! - Each model learns one habit of programs. The models are `context` (prompts), `wrap` with `wrap_probe`, `exit` (of
//!   an editor's mode), `navigation` with `cursor_probe` and `ruler`, `drawn_cursor`, `history`, `paint`, and
//!   `echo_timeout`, `late` and `latency` (slow hosts). `learned` holds all models.
//! - A model counts its `evidence`, and keeps its knowledge in a bounded `memory` by an `id`.
//! - `mask` and `echo_off` recognise prompts without echo. `trust` selects predictions that are likely enough to show.

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
