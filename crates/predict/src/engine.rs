//! The interface between a client and a prediction engine.

use rove_terminal::{InputNum, Screen, Tty};
use rove_units::Instant;

use crate::network::Network;
use crate::prompt_memory::PromptMemory;
use crate::reason::Explanation;

/// A prediction engine, which predicts the effect of the user's keys on the screen.
///
/// The caller passes keys to [`Engine::handle_keys`] and the network's progress to [`Engine::handle_network`] as they
/// arrive. For each frame, it passes the newest screen to [`Engine::frame`]. All other inputs are optional.
pub trait Engine {
    /// Handles keys from one read, which the caller sends next. `sent` is the newest input sent before these keys.
    fn handle_keys(&mut self, now: Instant, sent: InputNum, keys: &[u8]);

    /// Handles the network's progress: which input the host has, which it has answered, and the round-trip time.
    fn handle_network(&mut self, network: Network);

    /// Drops all predictions, for example because the window has a new size.
    fn reset(&mut self);

    /// Compares the predictions with `screen`, the host's newest. Returns `screen` with the visible predictions.
    fn frame(&mut self, now: Instant, screen: &Screen) -> Screen;

    /// Returns whether any key or prediction is pending. If so, a later frame of the same screen may differ.
    fn is_active(&self) -> bool;

    /// Returns when to call [`Engine::frame`] even if no input arrives. `None`: only input requires a frame.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Handles keys that another client of the session has typed. After such keys the engine knows neither which
    /// program reads the keys nor which client's key an echo shows. So all predictions and permissions end. For a while
    /// the engine shows no key before its echo, and accepts no echo as proof.
    fn handle_others_keys(&mut self, _now: Instant) {
        self.reset();
    }

    /// Returns whether the engine uses [`Engine::handle_tty`]. Such an engine also waits for a key's echo after the
    /// key's echo ack. So the server may send that ack earlier.
    fn uses_tty(&self) -> bool {
        false
    }

    /// Handles the modes that the host's pseudo-terminal had at the newest screen. `None`: the server reports none.
    fn handle_tty(&mut self, _tty: Option<Tty>) {}

    /// Returns whether the engine uses [`Engine::handle_prompt_memory`].
    fn uses_prompt_memory(&self) -> bool {
        false
    }

    /// Loads the prompts that earlier sessions with this host have learned. Call this once, before the first key.
    fn handle_prompt_memory(&mut self, _memory: PromptMemory) {}

    /// Returns the prompts that this session and earlier ones have learned. `None` if no memory was loaded.
    fn prompt_memory(&self) -> Option<&PromptMemory> {
        None
    }

    /// Returns whether certainly no pending key is part of a secret. The rules are those for keys shown before their
    /// echo. An engine without such rules treats every key as a secret.
    fn has_no_secret(&self) -> bool {
        false
    }

    /// Returns why the newest key is shown or hidden, for developers. `None` if no key is pending or no reason is
    /// known.
    fn explain(&self, _now: Instant) -> Option<Explanation> {
        None
    }
}
