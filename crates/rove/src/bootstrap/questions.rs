//! Whether a login has asked the user anything, as far as the terminal and the clock tell.
//!
//! ssh asks on the terminal and says nothing of it elsewhere. While it asks for a secret it turns the echo off.

use std::io;

use rove_units::{Duration, Instant};
use rustix::termios::{LocalModes, tcgetattr};

/// Time between two looks at the terminal. Chosen: nobody answers so fast, and a login has some thirty.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// A login that takes so long counts as one that has asked for an answer that is shown, or for the touch of a key.
/// Chosen: the time that a login by itself may take.
const SLOW: Duration = Duration::from_secs(5);

/// A watch over a login.
pub(super) struct Questions {
    started_at: Instant,
    /// Whether the terminal echoed when the watch began. Nothing is asked where standard input is no terminal.
    echoed: bool,
    have_come: bool,
}

impl Questions {
    /// Begins the watch. Call this before ssh is started.
    pub(super) fn watch(now: Instant) -> Self {
        Self { started_at: now, echoed: echoes(), have_come: false }
    }

    /// Begins again for an ssh that has logged in and, as far as is known, `asks_nothing`.
    pub(super) fn after(asks_nothing: bool, now: Instant) -> Self {
        Self { have_come: !asks_nothing, ..Self::watch(now) }
    }

    /// Looks at the terminal; returns when to do so again.
    pub(super) fn look(&mut self, now: Instant) -> Instant {
        self.have_come |= self.echoed && !echoes();
        now + LOOK_EVERY
    }

    /// Returns whether something was asked, as far as is known, of a login that has ended now.
    pub(super) fn have_come(&self, now: Instant) -> bool {
        self.have_come || now.saturating_since(self.started_at) >= SLOW
    }
}

fn echoes() -> bool {
    tcgetattr(io::stdin()).is_ok_and(|modes| modes.local_modes.contains(LocalModes::ECHO))
}
