//! The peer's newest contents (diff), and how many frames have answered them.

use rove_units::{Duration, Instant};

use crate::config::Config;

/// When the peer was last heard, and which of its contents are being answered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Answers {
    /// When the peer last sent a new state, or showed otherwise that it is alive. `None` if it never did.
    pub(super) heard_at: Option<Instant>,
    /// When the peer's newest contents arrived. `None` before the first.
    pub(super) asked_at: Option<Instant>,
    /// How many frames since `asked_at` carried a change for which the peer's user waits, or repeated contents.
    frames: u8,
}

impl Answers {
    /// Called when contents of the peer arrive.
    pub(super) fn handle_contents(&mut self, now: Instant) {
        (self.asked_at, self.frames) = (Some(now), 0);
    }

    /// Called when a frame is sent that has a change for which the peer's user waits, or that repeats contents.
    pub(super) fn handle_frame(&mut self) {
        self.frames = self.frames.saturating_add(1);
    }

    /// Returns when a frame that answers the peer may be sent before the frame interval ends. `None` if no frame may.
    ///
    /// Without such frames, a key's echo would wait up to 250 ms after the frame with the previous key's echo. A
    /// command's output would wait as long after the echo of its Enter. An answer waits only for the collection delay,
    /// in which the program may react. If `is_hurried`, it does not even wait for that.
    pub(super) fn due(&self, is_hurried: bool, config: &Config) -> Option<Instant> {
        let delay = if is_hurried { Duration::ZERO } else { config.frames.collection_delay };
        let may_answer = self.frames < config.frames.answer_frames;
        self.asked_at.filter(|_| may_answer).map(|asked_at| asked_at + delay)
    }

    /// Returns whether the next frame is sent as soon as changes pause. That holds for the first answer to the peer's
    /// contents, and for any frame of an end that gives no answers (a client).
    pub(super) fn is_first_next(&self, config: &Config) -> bool {
        config.frames.answer_frames == 0 || (self.asked_at.is_some() && self.frames == 0)
    }
}
