//! Creates a prediction engine.

use rove_terminal::{InputNum, Screen, Size};
use rove_units::Instant;

use crate::engine::Engine;
use crate::network::Network;
use crate::policy::{Prediction, Preference};
use crate::replay::Replay;

/// Creates the engine that the settings `prediction` select. The engine starts with a blank screen of this size.
pub fn engine(prediction: Prediction, size: Size) -> Box<dyn Engine> {
    match (prediction.preference, prediction.engine) {
        (Preference::Never, _) => Box::new(Off),
        (_, Some(make)) => make(prediction, size),
        (_, None) => Box::new(Replay::new(prediction, size)),
    }
}

/// An engine that predicts nothing.
struct Off;

impl Engine for Off {
    fn handle_keys(&mut self, _: Instant, _: InputNum, _: &[u8]) {}

    fn handle_network(&mut self, _: Network) {}

    fn reset(&mut self) {}

    fn frame(&mut self, _: Instant, screen: &Screen) -> Screen {
        screen.clone()
    }

    fn is_active(&self) -> bool {
        false
    }

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}
