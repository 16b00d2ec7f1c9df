//! The place of forwarded connections in a session, and where its user reads of them.

use rove_bootstrap::ProgramName;
use rove_session::Client;
use rove_units::Instant;

use crate::messages::warn;

/// The key that ends a session without a program, as with `ssh -N`.
const CTRL_C: u8 = 0x03;

/// The place of forwarded connections in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// They are beside a program, which gets the keys.
    Beside,
    /// They are all that the session is for.
    Alone,
    /// Nobody sees the session either. It goes to the background, and until then standard error has its messages.
    Unseen,
    /// The session is in the background.
    Background,
}

impl Purpose {
    /// Returns whether these keys end the session.
    pub(super) fn ends_by(self, keys: &[u8]) -> bool {
        self == Self::Alone && keys.contains(&CTRL_C)
    }

    /// Tells the user something that has happened.
    pub(super) fn say(self, now: Instant, session: &mut Client, sentence: String) {
        match self {
            Self::Beside | Self::Alone => session.announce(now, sentence),
            Self::Unseen | Self::Background => warn(ProgramName::Rove.as_str(), &sentence),
        }
    }
}
