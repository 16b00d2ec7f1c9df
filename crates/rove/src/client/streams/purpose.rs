//! Whether a session runs a program or only forwards connections, and where its user sees messages about connections.

use rove_bootstrap::ProgramName;
use rove_session::Client;
use rove_units::Instant;

use crate::messages::warn;

/// The key that ends a session without a program, as with `ssh -N`.
const CTRL_C: u8 = 0x03;

/// The purpose of a session with forwarded connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::client) enum Purpose {
    /// The session runs a program, which gets the keys.
    #[default]
    Beside,
    /// The session only forwards connections (`-N`).
    Alone,
    /// The session only forwards, and will go to the background (`-N -f`).
    Departing,
    /// The session only forwards, without a terminal. In the background, standard error is /dev/null.
    Unseen,
}

impl Purpose {
    /// Returns a session's purpose. `background` is the option `-f`. With `is_unseen`, no terminal shows the session.
    pub(in crate::client) const fn of(
        has_program: bool,
        background: bool,
        is_unseen: bool,
    ) -> Self {
        match (has_program, background, is_unseen) {
            (true, _, _) => Self::Beside,
            (false, true, _) => Self::Departing,
            (false, false, true) => Self::Unseen,
            (false, false, false) => Self::Alone,
        }
    }

    /// Returns whether messages go to standard error, because no terminal shows them.
    pub(in crate::client) const fn is_unseen(self) -> bool {
        matches!(self, Self::Departing | Self::Unseen)
    }

    /// Returns whether the keys contain a Ctrl-C that ends the session, which only `Alone` obeys.
    pub(super) fn ends_by(self, keys: &[u8]) -> bool {
        self == Self::Alone && keys.contains(&CTRL_C)
    }

    /// Shows the user a sentence, in the notice bar or on standard error.
    pub(super) fn say(self, now: Instant, session: &mut Client, sentence: String) {
        match self.is_unseen() {
            true => warn(ProgramName::Rove.as_str(), &sentence),
            false => session.announce(now, sentence),
        }
    }
}
