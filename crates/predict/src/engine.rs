//! The interface between a client and a prediction engine.

use rove_terminal::{InputNum, Screen, Tty};
use rove_units::Instant;

use crate::network::Network;
use crate::prompt_memory::PromptMemory;
use crate::reason::Explanation;

/// A prediction engine, which guesses what the user's keys will do to the screen.
///
/// Pass in the keys ([`Engine::handle_keys`]) and the network's progress ([`Engine::handle_network`]) as they come, and
/// let the engine make each frame of the newest screen ([`Engine::frame`]). An engine without a use for the other inputs
/// ignores them.
pub trait Engine {
    /// Handles keys that were read at once and are to be sent. `sent` is the newest input that was sent before them.
    fn handle_keys(&mut self, now: Instant, sent: InputNum, keys: &[u8]);

    /// Handles the network's progress: which input the host has, which it has answered, and the round-trip time.
    fn handle_network(&mut self, network: Network);

    /// Drops all predictions, as the window has a new size.
    fn reset(&mut self);

    /// Judges the predictions by `screen`, the newest from the host. Returns that screen with the visible predictions.
    fn frame(&mut self, now: Instant, screen: &Screen) -> Screen;

    /// Returns whether there is any prediction, visible or not. If so, a new frame may differ from the last although
    /// the screen is the same.
    fn is_active(&self) -> bool;

    /// Returns when to make a new frame although nothing has happened. `None` if that is not needed.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Handles keys of another client of the session. After these it is unknown which program reads, and whose key an
    /// echo shows. So all predictions and permissions end. For a while no key is shown ahead, and no echo proves
    /// anything.
    fn handle_others_keys(&mut self, _now: Instant) {
        self.reset();
    }

    /// Returns whether the engine uses [`Engine::handle_tty`]. Such an engine also expects echoes that arrive after their
    /// echo ack.
    fn uses_tty(&self) -> bool {
        false
    }

    /// Handles the modes of the host's terminal, as of the newest screen. `None` if the server does not report them.
    fn handle_tty(&mut self, _tty: Option<Tty>) {}

    /// Returns whether the engine uses [`Engine::handle_prompt_memory`].
    fn uses_prompt_memory(&self) -> bool {
        false
    }

    /// Loads the prompts that earlier sessions with this host learned. Call it once, before the first key.
    fn handle_prompt_memory(&mut self, _memory: PromptMemory) {}

    /// Returns the prompts that this session and earlier ones learned. `None` if the engine uses no prompts or was
    /// given no memory.
    fn prompt_memory(&self) -> Option<&PromptMemory> {
        None
    }

    /// Returns whether no key on its way may be a secret, by the rules that decide what is shown before its echo. An
    /// engine without such rules takes every key for a secret.
    fn has_no_secret(&self) -> bool {
        false
    }

    /// Returns why the newest key is shown or not, for developers of an engine. `None` if no key is pending or no reason
    /// is known.
    fn explain(&self, _now: Instant) -> Option<Explanation> {
        None
    }
}
