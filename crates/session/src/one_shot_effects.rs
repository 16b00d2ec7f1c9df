//! Effects that happen once on the user's terminal, even if it draws the picture again: copying, bells, notifications.
//!
//! Between two roves each effect has a number. An effect happens only if its number is above the numbers of all earlier
//! effects. A Mosh 1.4.0 server sends effects as a part of its picture, and a change in the picture causes them. This
//! module limits the rate of effects from both kinds of server.

use std::sync::Arc;

use rove_terminal::{Copied, NOTIFICATIONS_MAX, Notification};
use rove_units::{Duration, Instant};

use crate::host_screen::HostScreen;
use crate::rate_limiter::{Allowance, RateLimiter};

/// Maximum number of bells rung at once. Chosen: users can tell one, two and three in a row apart, but not more.
const BELLS_MAX: usize = 3;

/// Shortest time between two ringings of the bell. Chosen: more bells are only noise, and some terminals queue them.
const BELL_INTERVAL: Duration = Duration::from_millis(100);

/// Shortest time between two copies to the clipboard; of several waiting copies, only the newest is performed. Chosen:
/// a user needs longer to paste a copy. A flood leaves a terminal at most 2 MiB a second to read.
const COPY_INTERVAL: Duration = Duration::from_millis(500);

/// Shortest time between two groups of notifications. The notifications of a group are shown together. Chosen: a
/// program that notifies without end then shows only eight of them each time.
const NOTIFICATION_INTERVAL: Duration = Duration::from_secs(2);

/// How long a notification waits while the client is suspended. Chosen: as long as the server keeps it.
const NOTIFICATION_AGE_MAX: Duration = Duration::from_secs(60);

/// The effects that were performed, by number, and the effects that wait for their time.
#[derive(Debug)]
pub(crate) struct OneShotEffects {
    /// Whether the user's terminal understands operating system commands (OSC), by which it copies text and notifies.
    takes_commands: bool,
    seen: Seen,
    bells: RateLimiter<()>,
    copies: RateLimiter<Copied>,
    notifications: RateLimiter<Notification>,
}

/// The number of the newest effect of each kind that was taken from a server state.
#[derive(Debug, Default)]
struct Seen {
    bells: u64,
    copies: u64,
    notifications: u64,
    /// The count of bells and the clipboard in the last picture of a Mosh 1.4.0 server.
    picture: (u64, Arc<str>),
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

    /// Marks the effects in the picture of `state` as performed, because the former client has performed them.
    pub(crate) fn take_for_seen(&mut self, state: &HostScreen) {
        let picture = (state.screen().bells(), Arc::clone(state.screen().clipboard()));
        self.seen = Seen { picture, ..Seen::default() };
    }

    /// Queues the new effects (bells, copied text, notifications) of the server's newest state.
    pub(crate) fn look(&mut self, now: Instant, state: &HostScreen) {
        let told = state.parts().bells.0.saturating_sub(self.seen.bells);
        self.seen.bells = self.seen.bells.max(state.parts().bells.0);
        // If the picture's count of bells has changed, even downwards, the bell rings once, whatever the difference.
        let drawn = core::mem::replace(&mut self.seen.picture.0, state.screen().bells());
        let rung = told.saturating_add(u64::from(drawn != self.seen.picture.0));
        let most = u64::try_from(BELLS_MAX).expect("a few");
        (0..rung.min(most)).for_each(|_| self.bells.push(now, ()));

        let drawn = state.screen().clipboard();
        let last = core::mem::replace(&mut self.seen.picture.1, Arc::clone(drawn));
        // An empty copied text must not clear the user's clipboard.
        let is_new = *drawn != last && !drawn.is_empty();
        let mut copied = is_new.then(|| Copied::new("c", drawn)).flatten();
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

    /// Returns whether a waiting effect may be performed at `now`.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.poll_timeout().is_some_and(|at| at <= now)
    }

    /// Returns when the next waiting effect may be performed. `None` if no effect waits.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let (bells, copies) = (self.bells.poll_timeout(), self.copies.poll_timeout());
        let timeouts = [bells, copies, self.notifications.poll_timeout()];
        timeouts.into_iter().flatten().min()
    }

    /// Appends the terminal bytes of the due effects to `out`.
    pub(crate) fn perform(&mut self, now: Instant, out: &mut Vec<u8>) {
        let (bells, copies) = (self.bells.take(now), self.copies.take(now));
        write(&bells, &self.notifications.take(now), &copies, out);
    }

    /// Appends the bytes of all waiting effects to `out`, due or not, before the client gives the terminal back.
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
