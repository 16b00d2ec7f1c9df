//! The interface between a client and an engine.

use rove_terminal::{Screen, Size};
use rove_units::Instant;

use crate::network::{InputNum, Network};
use crate::policy::{EngineKind, Prediction, Preference};
use crate::prompt_memory::PromptMemory;
use crate::reason::Explanation;
use crate::replay::Replay;
use crate::stock::Stock;
use crate::tty::Tty;

/// Guesses what the user's keys will do.
///
/// Hand in the keys ([`Engine::handle_keys`]) and the network's news ([`Engine::handle_network`]) as they come, and
/// have it make each frame of the newest screen ([`Engine::frame`]).
#[derive(Clone, Debug)]
pub enum Engine {
    /// No predictions and no bookkeeping.
    Off,
    /// The rules of Mosh 1.4.0.
    Stock(Box<Stock>),
    /// Re-simulation, with models learned for each prompt.
    Replay(Box<Replay>),
}

impl Engine {
    /// Creates the engine for these settings, and a screen of this size that is blank as yet.
    pub fn new(prediction: Prediction, size: Size) -> Self {
        match (prediction.preference, prediction.engine) {
            (Preference::Never, _) => Self::Off,
            (Preference::Experimental, _) | (_, EngineKind::Stock) => {
                Self::Stock(Box::new(Stock::new(prediction, size)))
            }
            (_, EngineKind::Replay) => Self::Replay(Box::new(Replay::new(prediction, size))),
        }
    }

    /// Returns whether the engine for these settings uses [`Engine::handle_tty`], and waits for an echo that comes
    /// later than its ack.
    pub fn uses_tty(prediction: Prediction) -> bool {
        prediction.engine == EngineKind::Replay
            && matches!(prediction.preference, Preference::Adaptive | Preference::Always)
    }

    /// Handles keys that were read at once and are to be sent; `sent` is the newest input sent before them.
    pub fn handle_keys(&mut self, now: Instant, sent: InputNum, keys: &[u8]) {
        match self {
            Self::Off => {}
            Self::Stock(stock) => stock.handle_keys(now, sent, keys),
            Self::Replay(replay) => replay.handle_keys(now, sent, keys),
        }
    }

    /// Handles the network's news.
    pub fn handle_network(&mut self, network: Network) {
        match self {
            Self::Off => {}
            Self::Stock(stock) => stock.handle_network(network),
            Self::Replay(replay) => replay.handle_network(network),
        }
    }

    /// Handles the state of the terminal that the programs run on, as it was when the newest screen was taken; `None`
    /// where the server does not tell it. The rules of Mosh 1.4.0 use none.
    pub fn handle_tty(&mut self, tty: Option<Tty>) {
        if let Self::Replay(replay) = self {
            replay.handle_tty(tty);
        }
    }

    /// Returns whether the engine has a use for [`Engine::handle_prompt_memory`].
    pub const fn uses_prompt_memory(&self) -> bool {
        matches!(self, Self::Replay(_))
    }

    /// Loads the prompts that earlier sessions with this host knew. Call it once, before the first key. Only the engine
    /// that re-simulates has a use for them.
    pub fn handle_prompt_memory(&mut self, memory: PromptMemory) {
        if let Self::Replay(replay) = self {
            replay.handle_prompt_memory(memory);
        }
    }

    /// Returns the prompts that this session and earlier ones knew; `None` where the engine has no use for them or was
    /// handed no memory.
    pub fn prompt_memory(&self) -> Option<&PromptMemory> {
        let Self::Replay(replay) = self else { return None };
        replay.prompt_memory()
    }

    /// Forgets all predictions: the window has a new size.
    pub fn reset(&mut self) {
        match self {
            Self::Off => {}
            Self::Stock(stock) => stock.reset(),
            Self::Replay(replay) => replay.reset(),
        }
    }

    /// Judges the predictions by the newest screen. Returns that screen with the visible predictions over it.
    pub fn frame(&mut self, now: Instant, screen: &Screen) -> Screen {
        match self {
            Self::Off => screen.clone(),
            Self::Stock(stock) => stock.frame(now, screen),
            Self::Replay(replay) => replay.frame(now, screen),
        }
    }

    /// Returns whether there is any prediction, visible or not. If so, a new frame may differ from the last one though
    /// the screen is the same.
    pub fn is_active(&self) -> bool {
        match self {
            Self::Off => false,
            Self::Stock(stock) => stock.is_active(),
            Self::Replay(replay) => replay.is_active(),
        }
    }

    /// Returns why the newest key is shown or not, for developers of an engine. `None` means that no key is on its way,
    /// or that the engine follows the rules of Mosh 1.4.0.
    pub fn explain(&self, now: Instant) -> Option<Explanation> {
        let Self::Replay(replay) = self else { return None };
        replay.explain(now)
    }

    /// Returns when to make a new frame though nothing has happened.
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Self::Off => None,
            Self::Stock(stock) => stock.poll_timeout(),
            Self::Replay(replay) => replay.poll_timeout(),
        }
    }
}
