//! The user's choices for the client of a session.

use rove_session::{EngineKind, Prediction, Preference};
use serde::{Deserialize, Serialize};

/// The client's options that the user has chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choices {
    /// When to show what keys will do before the server says so.
    #[serde(with = "PreferenceName")]
    pub predict: Preference,
    /// Whether predictions overwrite.
    pub predict_overwrite: bool,
    /// Whether to use the terminal's alternate screen.
    pub init: bool,
    /// Whether lines that scroll off at the host go to the terminal's own history, if the user said. All of the session
    /// is then on the normal screen.
    pub scrollback: Option<bool>,
    /// Whether window titles get the program's name in front.
    pub title_prefix: bool,
    /// Whether to ask the terminal what it can do, where its type allows that.
    pub query: bool,
    /// Whether programs on the host may ask for what a program of the session has copied.
    pub read_copied: bool,
    /// Whether others may join the session beside the client.
    pub share: bool,
    /// Whether to speak stock Mosh only, without any extension.
    pub strict: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Preference")]
enum PreferenceName {
    Adaptive,
    Always,
    Never,
    Experimental,
}

impl Default for Choices {
    fn default() -> Self {
        Self {
            predict: Preference::default(),
            predict_overwrite: false,
            init: true,
            scrollback: None,
            title_prefix: true,
            query: true,
            read_copied: false,
            share: true,
            strict: false,
        }
    }
}

impl Choices {
    /// Returns when and how this `engine` is to show predictions.
    pub fn prediction(&self, engine: EngineKind) -> Prediction {
        Prediction {
            preference: self.predict,
            overwrite: self.predict_overwrite,
            engine,
            ..Prediction::default()
        }
    }
}
