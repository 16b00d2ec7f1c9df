//! What must happen once on the user's terminal, whatever is drawn there how often: copies, bells and
//! notifications.
//!
//! Between two roves each carries a number, and only numbers above the highest performed count. (What
//! a stock server says of them is part of its picture, and [`rove_terminal::Renderer`]'s business.)

use std::collections::VecDeque;

use rove_terminal::{Copied, NOTIFICATIONS_MAX, Notification};
use rove_units::{Duration, Instant};

use crate::host_screen::HostScreen;

/// Most bells at once. Chosen: two and three in a row are told from one, more are not.
const BELLS_MAX: u64 = 3;

/// Least time from bells to the next. Chosen: what is more is no ringing but a noise, and some
/// terminals queue it.
const BELL_INTERVAL: Duration = Duration::from_millis(100);

/// Least time from some notifications to the next. Chosen: a program that notifies without end has
/// eight shown each time, which is bad enough.
const NOTIFICATION_INTERVAL: Duration = Duration::from_secs(2);

/// How long a notification may wait for a terminal that was given back. Chosen: as at the server.
const NOTIFICATION_AGE_MAX: Duration = Duration::from_secs(60);

/// What was performed, and what is to be.
#[derive(Debug, Default)]
pub(crate) struct Performer {
    /// Whether the user's terminal takes operating system commands.
    takes_commands: bool,
    copies: u64,
    copied: Option<Copied>,
    bells: Ration<u64>,
    notifications: Ration<VecDeque<(Instant, Notification)>>,
}

/// Events of which so many happen at once, and then none for a while.
#[derive(Debug, Default)]
struct Ration<T> {
    /// The number of the last that was seen.
    seen: u64,
    /// What is to happen.
    due: T,
    /// When it may.
    quiet_until: Instant,
}

impl Performer {
    pub(crate) fn new(takes_commands: bool) -> Self {
        Self { takes_commands, ..Self::default() }
    }

    /// Looks at the server's newest state.
    pub(crate) fn look(&mut self, now: Instant, state: &HostScreen) {
        let clipboard = state.clipboard();
        if clipboard.number() > self.copies && clipboard.is_whole() {
            self.copies = clipboard.number();
            self.copied = clipboard.whole().filter(|_| self.takes_commands).or(self.copied.take());
        }
        let bells = &mut self.bells;
        bells.due = bells.due.saturating_add(state.bells().saturating_sub(bells.seen));
        bells.seen = bells.seen.max(state.bells());
        let (seen, due) = (&mut self.notifications.seen, &mut self.notifications.due);
        if self.takes_commands {
            due.extend(state.notifications().after(*seen).iter().map(|new| (now, new.clone())));
            due.drain(..due.len().saturating_sub(NOTIFICATIONS_MAX));
        }
        *seen = (*seen).max(state.notifications().newest());
    }

    /// Returns whether there is something to perform now.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.copied.is_some() || self.poll_timeout().is_some_and(|at| at <= now)
    }

    /// Returns when something that waits for its time may happen.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let bells = (self.bells.due > 0).then_some(self.bells.quiet_until);
        let is_notifying = !self.notifications.due.is_empty();
        let notifications = is_notifying.then_some(self.notifications.quiet_until);
        [bells, notifications].into_iter().flatten().min()
    }

    /// Writes what is due for the user's terminal.
    pub(crate) fn perform(&mut self, now: Instant, out: &mut Vec<u8>) {
        if self.bells.due > 0 && self.bells.quiet_until <= now {
            self.bells.quiet_until = now + BELL_INTERVAL;
            self.ring(out);
        }
        let notifications = &mut self.notifications;
        if !notifications.due.is_empty() && notifications.quiet_until <= now {
            notifications.due.retain(|(since, _)| now < *since + NOTIFICATION_AGE_MAX);
            notifications.quiet_until = now + NOTIFICATION_INTERVAL;
            self.notify(out);
        }
        self.copy(out);
    }

    /// Writes what is left, its time come or not: the terminal is given back.
    pub(crate) fn perform_all(&mut self, out: &mut Vec<u8>) {
        self.ring(out);
        self.notify(out);
        self.copy(out);
    }

    fn ring(&mut self, out: &mut Vec<u8>) {
        let bells = core::mem::take(&mut self.bells.due).min(BELLS_MAX);
        (0..bells).for_each(|_| out.push(b'\x07'));
    }

    fn notify(&mut self, out: &mut Vec<u8>) {
        for (_, notification) in self.notifications.due.drain(..) {
            notification.write_to(out);
        }
    }

    fn copy(&mut self, out: &mut Vec<u8>) {
        if let Some(copied) = self.copied.take() {
            copied.write_to(out);
        }
    }
}
