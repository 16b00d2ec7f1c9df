//! What must happen once on the user's terminal, whatever is drawn there how often: copies and bells.
//!
//! Between two roves each carries a number, and only numbers above the highest performed count. (What
//! a stock server says of them is part of its picture, and [`rove_terminal::Renderer`]'s business.)

use rove_terminal::Copied;
use rove_units::{Duration, Instant};

use crate::host_screen::HostScreen;

/// Most bells at once. Chosen: two and three in a row are told from one, more are not.
const BELLS_MAX: u64 = 3;

/// Least time from bells to the next. Chosen: what is more is no ringing but a noise, and some
/// terminals queue it.
const BELL_INTERVAL: Duration = Duration::from_millis(100);

/// What was performed, and what is to be.
#[derive(Debug, Default)]
pub(crate) struct Performer {
    /// Whether the user's terminal takes operating system commands.
    takes_commands: bool,
    copies: u64,
    copied: Option<Copied>,
    bells: u64,
    /// How often the bell is to ring.
    bells_due: u64,
    /// When it may.
    quiet_until: Option<Instant>,
}

impl Performer {
    pub(crate) fn new(takes_commands: bool) -> Self {
        Self { takes_commands, ..Self::default() }
    }

    /// Looks at the server's newest state.
    pub(crate) fn look(&mut self, state: &HostScreen) {
        let clipboard = state.clipboard();
        if clipboard.number() > self.copies
            && let Some(copied) = clipboard.whole()
        {
            self.copies = clipboard.number();
            self.copied = Some(copied).filter(|_| self.takes_commands);
        }
        if state.bells() > self.bells {
            self.bells_due = self.bells_due.saturating_add(state.bells() - self.bells);
            self.bells = state.bells();
        }
    }

    /// Returns whether there is something to perform now.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.copied.is_some() || self.bell_due().is_some_and(|at| at <= now)
    }

    /// Returns when a bell that waits may ring.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.bell_due()
    }

    /// Writes what is due for the user's terminal.
    pub(crate) fn perform(&mut self, now: Instant, out: &mut Vec<u8>) {
        if self.bell_due().is_some_and(|at| at <= now) {
            self.quiet_until = Some(now + BELL_INTERVAL);
            self.perform_all(out);
        } else if let Some(copied) = self.copied.take() {
            copied.write_to(out);
        }
    }

    /// Writes what is left, due or not: the terminal is given back.
    pub(crate) fn perform_all(&mut self, out: &mut Vec<u8>) {
        if let Some(copied) = self.copied.take() {
            copied.write_to(out);
        }
        let bells = core::mem::take(&mut self.bells_due).min(BELLS_MAX);
        (0..bells).for_each(|_| out.push(b'\x07'));
    }

    fn bell_due(&self) -> Option<Instant> {
        (self.bells_due > 0).then(|| self.quiet_until.unwrap_or(Instant::ZERO))
    }
}
