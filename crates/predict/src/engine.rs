//! The interface between a client and a prediction engine.

use rove_terminal::{InputNum, Screen, Size, Tty};
use rove_units::Instant;

use crate::network::Network;
use crate::policy::{EngineKind, Prediction, Preference};
use crate::prompt_memory::PromptMemory;
use crate::reason::Explanation;
use crate::replay::Replay;
use crate::stock::Stock;

/// A prediction engine, which guesses what the user's keys will do to the screen.
///
/// Pass in the keys ([`Engine::handle_keys`]) and the network's progress ([`Engine::handle_network`]) as they come, and
/// let the engine make each frame of the newest screen ([`Engine::frame`]).
#[derive(Clone, Debug)]
pub enum Engine {
    /// No engine: nothing is predicted or recorded.
    Off,
    /// The stock engine, which follows the rules of Mosh 1.4.0.
    Stock(Box<Stock>),
    /// The replay engine: simulates the pending keys on each new screen, with models learned for each prompt.
    Replay(Box<Replay>),
}

impl Engine {
    /// Creates the engine for these settings, for a blank screen of this size.
    pub fn new(prediction: Prediction, size: Size) -> Self {
        match (prediction.preference, prediction.engine) {
            (Preference::Never, _) => Self::Off,
            (Preference::Experimental, _) | (_, EngineKind::Stock) => {
                Self::Stock(Box::new(Stock::new(prediction, size)))
            }
            (_, EngineKind::Replay) => Self::Replay(Box::new(Replay::new(prediction, size))),
        }
    }

    /// Returns whether the engine for these settings uses [`Engine::handle_tty`]. Such an engine also expects echoes
    /// that arrive after their echo ack.
    pub fn uses_tty(prediction: Prediction) -> bool {
        prediction.engine == EngineKind::Replay
            && matches!(prediction.preference, Preference::Adaptive | Preference::Always)
    }

    /// Handles keys that were read at once and are to be sent. `sent` is the newest input that was sent before them.
    pub fn handle_keys(&mut self, now: Instant, sent: InputNum, keys: &[u8]) {
        match self {
            Self::Off => {}
            Self::Stock(stock) => stock.handle_keys(now, sent, keys),
            Self::Replay(replay) => replay.handle_keys(now, sent, keys),
        }
    }

    /// Handles the network's progress: which input the host has, which it has answered, and the round-trip time.
    pub fn handle_network(&mut self, network: Network) {
        match self {
            Self::Off => {}
            Self::Stock(stock) => stock.handle_network(network),
            Self::Replay(replay) => replay.handle_network(network),
        }
    }

    /// Handles the modes of the host's terminal, as of the newest screen. `None` if the server does not report them.
    /// Only the replay engine uses them.
    pub fn handle_tty(&mut self, tty: Option<Tty>) {
        if let Self::Replay(replay) = self {
            replay.handle_tty(tty);
        }
    }

    /// Handles keys of another client of the session. After these it is unknown which program reads, and whose key an
    /// echo shows. So all predictions and permissions end. For a while no key is shown ahead, and no echo proves
    /// anything.
    pub fn handle_others_keys(&mut self, now: Instant) {
        match self {
            Self::Off => {}
            Self::Stock(stock) => stock.reset(),
            Self::Replay(replay) => replay.handle_others_keys(now),
        }
    }

    /// Returns whether the engine uses [`Engine::handle_prompt_memory`].
    pub const fn uses_prompt_memory(&self) -> bool {
        matches!(self, Self::Replay(_))
    }

    /// Loads the prompts that earlier sessions with this host learned. Call it once, before the first key. Only the
    /// replay engine uses them.
    pub fn handle_prompt_memory(&mut self, memory: PromptMemory) {
        if let Self::Replay(replay) = self {
            replay.handle_prompt_memory(memory);
        }
    }

    /// Returns the prompts that this session and earlier ones learned. `None` if the engine uses no prompts or was
    /// given no memory.
    pub fn prompt_memory(&self) -> Option<&PromptMemory> {
        let Self::Replay(replay) = self else { return None };
        replay.prompt_memory()
    }

    /// Drops all predictions, as the window has a new size.
    pub fn reset(&mut self) {
        match self {
            Self::Off => {}
            Self::Stock(stock) => stock.reset(),
            Self::Replay(replay) => replay.reset(),
        }
    }

    /// Judges the predictions by `screen`, the newest from the host. Returns that screen with the visible predictions.
    pub fn frame(&mut self, now: Instant, screen: &Screen) -> Screen {
        match self {
            Self::Off => screen.clone(),
            Self::Stock(stock) => stock.frame(now, screen),
            Self::Replay(replay) => replay.frame(now, screen),
        }
    }

    /// Returns whether there is any prediction, visible or not. If so, a new frame may differ from the last although
    /// the screen is the same.
    pub fn is_active(&self) -> bool {
        match self {
            Self::Off => false,
            Self::Stock(stock) => stock.is_active(),
            Self::Replay(replay) => replay.is_active(),
        }
    }

    /// Returns why the newest key is shown or not, for developers of an engine. `None` if no key is pending, or the
    /// engine is not the replay engine.
    pub fn explain(&self, now: Instant) -> Option<Explanation> {
        let Self::Replay(replay) = self else { return None };
        replay.explain(now)
    }

    /// Returns whether no key on its way may be a secret, by the rules that decide what is shown before its echo. An
    /// engine without such rules takes every key for a secret.
    pub fn has_no_secret(&self) -> bool {
        match self {
            Self::Off | Self::Stock(_) => false,
            Self::Replay(replay) => replay.has_no_secret(),
        }
    }

    /// Returns when to make a new frame although nothing has happened. `None` if that is not needed.
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Self::Off => None,
            Self::Stock(stock) => stock.poll_timeout(),
            Self::Replay(replay) => replay.poll_timeout(),
        }
    }
}
