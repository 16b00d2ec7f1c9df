//! The facts that predictions are made from, and the reasons for them.

use rove_predict::{Explanation, Tty};
use rove_units::Instant;

use super::Client;

impl Client {
    /// Returns the terminal that the host's programs run on, as it was when the newest screen was taken
    /// or later; `None` where the server does not tell.
    pub fn tty(&self) -> Option<Tty> {
        self.transport.remote().tty()
    }

    /// Returns why the newest key is shown before its answer or not, for those who work on predictions; `None` where no key
    /// is on its way or no such reasons are known.
    pub fn explain_prediction(&self, now: Instant) -> Option<Explanation> {
        self.engine.explain(now)
    }
}
