//! The peer's newest contents, and the frames that answer them.

use rove_units::{Duration, Instant};

use crate::config::Config;

/// Contents of the peer's, as of their arrival, and the answers so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Answers {
    /// When the peer last sent a new state, or showed otherwise that it is there.
    pub(super) heard_at: Option<Instant>,
    /// When the peer's newest contents arrived.
    pub(super) asked_at: Option<Instant>,
    /// How many frames have gone out since then with something that the peer's user waits for.
    frames: u8,
}

impl Answers {
    /// Called when contents arrive.
    pub(super) fn handle_contents(&mut self, now: Instant) {
        (self.asked_at, self.frames) = (Some(now), 0);
    }

    /// Called when a frame goes with something that the peer's user waits for.
    pub(super) fn handle_frame(&mut self) {
        self.frames = self.frames.saturating_add(1);
    }

    /// Returns from when on a frame that answers the peer need not wait for the frame interval.
    ///
    /// At 250 ms between frames a key's echo would else wait for the frame of the key before, and the output of a command for
    /// the echo of its Enter. Under steady output, what is left to wait is the time that the program gets to react.
    pub(super) fn due(&self, is_hurried: bool, config: &Config) -> Option<Instant> {
        let delay = if is_hurried { Duration::ZERO } else { config.frames.collection_delay };
        let may_answer = self.frames < config.frames.answer_frames;
        self.asked_at.filter(|_| may_answer).map(|asked_at| asked_at + delay)
    }

    /// Returns whether the next frame with something new is collected for no longer than changes keep coming: the
    /// first answer to the peer's contents, or any frame of an end that has no answers to give.
    pub(super) fn is_first_next(&self, config: &Config) -> bool {
        config.frames.answer_frames == 0 || (self.asked_at.is_some() && self.frames == 0)
    }
}
