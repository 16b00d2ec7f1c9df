//! Whether a session runs a program or only forwards connections, and where its user sees messages about connections.

use rove_bootstrap::ProgramName;
use rove_session::Client;
use rove_units::Instant;

use crate::messages::warn;

/// The key that ends a session without a program, as with `ssh -N`.
const CTRL_C: u8 = 0x03;

/// The purpose of a session with forwarded connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The session runs a program, which gets the keys.
    #[default]
    Beside,
    /// The session only forwards connections (`-N`).
    Alone,
    /// The session only forwards, and will go to the background (`-N -f`). Messages go to standard error.
    Unseen,
    /// The session only forwards, and is in the background. Standard error is /dev/null.
    Background,
}

impl Purpose {
    /// Returns whether these keys end the session.
    pub(super) fn ends_by(self, keys: &[u8]) -> bool {
        self == Self::Alone && keys.contains(&CTRL_C)
    }

    /// Shows the user a sentence, in the notice bar or on standard error.
    pub(super) fn say(self, now: Instant, session: &mut Client, sentence: String) {
        match self {
            Self::Beside | Self::Alone => session.announce(now, sentence),
            Self::Unseen | Self::Background => warn(ProgramName::Rove.as_str(), &sentence),
        }
    }
}
