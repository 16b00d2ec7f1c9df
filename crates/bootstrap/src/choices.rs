//! The user's options for the client of a session.

use rove_session::{Prediction, Preference};
use serde::{Deserialize, Serialize};

/// The options that the user has chosen for the client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choices {
    /// When the client shows predicted effects of keys.
    #[serde(with = "PreferenceName")]
    pub predict: Preference,
    /// Whether predicted characters overwrite instead of shifting the rest of the line.
    pub predict_overwrite: bool,
    /// Whether the session uses the terminal's alternate screen.
    pub init: bool,
    /// Whether lines that scroll off at the host enter the terminal's own history. The whole session is then on the
    /// normal screen. `None` if the user did not say.
    pub scrollback: Option<bool>,
    /// Whether window titles begin with the program's name.
    pub title_prefix: bool,
    /// Whether to ask the terminal for its abilities, if its type allows that.
    pub query: bool,
    /// Whether programs on the host may ask for text that a program of the session has copied (OSC 52).
    pub read_copied: bool,
    /// The cases in which another client on this computer can go on with the session.
    pub resume: Resume,
    /// Whether other clients may join the session beside the user's own.
    pub share: bool,
    /// The window that decides a shared session's size, as `rove_session::SizeRule` reads it, if the user said.
    pub size: Option<String>,
    /// The congestion controller of the session's streams, as `rove_session::StreamController` names it, if the user said.
    pub controller: Option<String>,
    /// Whether to speak stock Mosh's protocol only, without any extension.
    pub strict: bool,
}

/// The cases in which a session can be resumed on the computer of its client, after the client is gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Resume {
    /// The session can never be resumed.
    Never,
    /// The client was killed.
    #[default]
    Killed,
    /// The client was killed, or its terminal was closed.
    Closed,
    /// The client was killed, its terminal was closed, or the computer was started again.
    Reboot,
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
            size: None,
            controller: None,
            resume: Resume::Killed,
            strict: false,
        }
    }
}

impl Choices {
    /// Returns when and how predictions are shown.
    pub fn prediction(&self) -> Prediction {
        Prediction {
            preference: self.predict,
            overwrite: self.predict_overwrite,
            ..Prediction::default()
        }
    }
}
