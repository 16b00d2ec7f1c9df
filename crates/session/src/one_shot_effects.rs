//! Effects that happen once on the user's terminal, however often the picture is drawn: copies, bells and
//! notifications.
//!
//! Between two roves each effect carries a number, and only numbers above the highest performed one count. A stock
//! server's effects are part of its picture, where a change counts. Both are rationed here.

use rove_terminal::{Copied, NOTIFICATIONS_MAX, Notification};
use rove_units::{Duration, Instant};

use crate::host_screen::HostScreen;
use crate::rate_limiter::{Allowance, RateLimiter};

/// Most bells at once. Chosen: two and three in a row are told from one, more are not.
const BELLS_MAX: usize = 3;

/// Least time from bells to the next. Chosen: more bells are only noise, and some terminals queue them.
const BELL_INTERVAL: Duration = Duration::from_millis(100);

/// Least time from a copy to the next; the newest is performed. Chosen: shorter than the time until the user pastes a
/// copy, and a flood leaves a terminal at most 2 MiB a second to read.
const COPY_INTERVAL: Duration = Duration::from_millis(500);

/// Least time from some notifications to the next. Chosen: a program that notifies without end has
/// eight shown each time, which is bad enough.
const NOTIFICATION_INTERVAL: Duration = Duration::from_secs(2);

/// How long a notification may wait for a terminal that was given back. Chosen: as at the server.
const NOTIFICATION_AGE_MAX: Duration = Duration::from_secs(60);

/// The effects that were performed, and those that wait.
#[derive(Debug)]
pub(crate) struct OneShotEffects {
    /// Whether the user's terminal takes operating system commands.
    takes_commands: bool,
    seen: Seen,
    bells: RateLimiter<()>,
    copies: RateLimiter<Copied>,
    notifications: RateLimiter<Notification>,
}

/// The last of each kind that was looked at.
#[derive(Debug, Default)]
struct Seen {
    bells: u64,
    copies: u64,
    notifications: u64,
    /// The picture's own count of bells, and its clipboard.
    picture: (u64, String),
}

impl OneShotEffects {
    pub(crate) fn new(takes_commands: bool) -> Self {
        let allowance = |most, interval| Allowance { most, interval, age_max: None };
        Self {
            takes_commands,
            seen: Seen::default(),
            bells: RateLimiter::new(allowance(BELLS_MAX, BELL_INTERVAL)),
            copies: RateLimiter::new(allowance(1, COPY_INTERVAL)),
            notifications: RateLimiter::new(Allowance {
                age_max: Some(NOTIFICATION_AGE_MAX),
                ..allowance(NOTIFICATIONS_MAX, NOTIFICATION_INTERVAL)
            }),
        }
    }

    /// Takes the effects in a state for performed: those that another client has seen.
    pub(crate) fn take_for_seen(&mut self, state: &HostScreen) {
        let picture = (state.screen().bells(), state.screen().clipboard().to_owned());
        self.seen = Seen { picture, ..Seen::default() };
    }

    /// Looks at the server's newest state.
    pub(crate) fn look(&mut self, now: Instant, state: &HostScreen) {
        let told = state.parts().bells.0.saturating_sub(self.seen.bells);
        self.seen.bells = self.seen.bells.max(state.parts().bells.0);
        // A picture rings once for any number of bells, and may count fewer than an earlier one.
        let drawn = core::mem::replace(&mut self.seen.picture.0, state.screen().bells());
        let rung = told.saturating_add(u64::from(drawn != self.seen.picture.0));
        let most = u64::try_from(BELLS_MAX).expect("a few");
        (0..rung.min(most)).for_each(|_| self.bells.push(now, ()));

        let drawn = state.screen().clipboard();
        let mut copied = None;
        if drawn != self.seen.picture.1 {
            drawn.clone_into(&mut self.seen.picture.1);
            // Copying nothing is no reason to take the user's own clipboard away.
            copied = Copied::new("c", drawn).filter(|_| !drawn.is_empty());
        }
        let told = &state.parts().clipboard;
        if told.number() > self.seen.copies && told.is_whole() {
            self.seen.copies = told.number();
            copied = told.whole().or(copied);
        }
        if let Some(copied) = copied.filter(|_| self.takes_commands) {
            self.copies.push(now, copied);
        }

        let notifications = &state.parts().notifications;
        let new = notifications.after(self.seen.notifications).iter();
        new.filter(|_| self.takes_commands)
            .for_each(|new| self.notifications.push(now, new.clone()));
        self.seen.notifications = self.seen.notifications.max(notifications.newest());
    }

    /// Returns whether there is something to perform now.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.poll_timeout().is_some_and(|at| at <= now)
    }

    /// Returns when something that waits for its time may happen.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let notifications = self.notifications.poll_timeout();
        [self.bells.poll_timeout(), self.copies.poll_timeout(), notifications]
            .into_iter()
            .flatten()
            .min()
    }

    /// Writes the due effects for the user's terminal.
    pub(crate) fn perform(&mut self, now: Instant, out: &mut Vec<u8>) {
        let (bells, copies) = (self.bells.take(now), self.copies.take(now));
        write(&bells, &self.notifications.take(now), &copies, out);
    }

    /// Writes all waiting effects, due or not, as the terminal is given back.
    pub(crate) fn perform_all(&mut self, out: &mut Vec<u8>) {
        let (bells, copies) = (self.bells.take_all(), self.copies.take_all());
        write(&bells, &self.notifications.take_all(), &copies, out);
    }
}

fn write(bells: &[()], notifications: &[Notification], copies: &[Copied], out: &mut Vec<u8>) {
    bells.iter().for_each(|()| out.push(b'\x07'));
    notifications.iter().for_each(|notification| notification.write_to(out));
    copies.iter().for_each(|copied| copied.write_to(out));
}
