//! The user's options for a session's client.

use rove_session::{Prediction, Preference};
use serde::{Deserialize, Serialize};

/// The user's options for a session's client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Choices {
    /// When the client shows predicted effects of keys.
    #[serde(with = "PreferenceName")]
    pub predict: Preference,
    /// Whether a predicted character replaces the one at the cursor, rather than shift the rest of the line.
    pub predict_overwrite: bool,
    /// Whether the session uses the alternate screen of the user's terminal.
    pub init: bool,
    /// Whether lines that scroll off the host's screen enter the history of the user's terminal. The session then uses
    /// the terminal's normal screen. `None` if the user did not choose.
    pub scrollback: Option<bool>,
    /// Whether window titles begin with `[rove]` or `[mosh]`.
    pub title_prefix: bool,
    /// Whether the client asks the terminal for its capabilities, if the terminal's type (`TERM`) allows that.
    pub query: bool,
    /// Whether programs on the host may read (by OSC 52) text that a program of this session has copied.
    pub read_copied: bool,
    /// When another client on this computer may resume the session.
    pub resume: Resume,
    /// Whether other clients may join the session while the user's own client is connected.
    pub share: bool,
    /// The rule for a shared session's window size, as `rove_session::SizeRule` parses it. `None` if not chosen.
    pub size: Option<String>,
    /// The streams' congestion controller, by its name in `rove_session::StreamController`. `None` if not chosen.
    pub controller: Option<String>,
    /// Whether the client uses only the protocol of Mosh 1.4.0, without rove's extensions.
    pub strict: bool,
}

/// The reasons for a client's end after which another client on the same computer can resume the session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Resume {
    /// The session can never be resumed.
    Never,
    /// The session can be resumed after the client was killed.
    #[default]
    Killed,
    /// The session can be resumed after the client was killed, or its terminal was closed.
    Closed,
    /// The session can be resumed after the client was killed, its terminal was closed, or the computer was restarted.
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
