//! Desktop notifications of programs, which a rove server sends to a rove client as numbered events.
//!
//! A server state holds the number of the newest notification and the text of the last few. Old notifications are not
//! sent: a user who comes back after an hour wants the screen, not past notifications.

use std::collections::VecDeque;
use std::sync::Arc;

use rove_ssp::{ApplyError, Capabilities};
use rove_terminal::{NOTIFICATIONS_MAX, Notification};
use rove_units::{Duration, Instant};

use crate::message::{Fields, Value, number, put_bytes_field, put_varint_field, refused};
use crate::part::{Part, Receiver, Replica};

const NEWEST: u32 = 1;
const COMMAND: u32 = 2;

/// Greatest age of a program's notification that the server still sends to clients. Chosen: longer than a change of
/// networks, shorter than a user's absence.
const AGE_MAX: Duration = Duration::from_secs(60);

/// The newest notifications, as a server state holds them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notifications {
    /// How many notifications the session has had.
    newest: u64,
    /// The last notifications, oldest first, without those older than [`AGE_MAX`].
    held: Arc<Vec<Notification>>,
}

impl Notifications {
    pub(crate) const fn newest(&self) -> u64 {
        self.newest
    }

    /// Returns the held notifications with numbers above `seen`, oldest first.
    pub(crate) fn after(&self, seen: u64) -> &[Notification] {
        let count = usize::try_from(self.newest.saturating_sub(seen)).unwrap_or(usize::MAX);
        &self.held[self.held.len().saturating_sub(count)..]
    }
}

impl Part for Notifications {
    const MEMBER: u32 = 19;
    const EXTENSION: Capabilities = Capabilities::RICH_SCREEN;

    fn diff_from(&self, base: &Self, _: &Receiver<'_>) -> Vec<Vec<u8>> {
        let told = self.after(base.newest);
        if told.is_empty() {
            return Vec::new();
        }
        let mut body = Vec::new();
        put_varint_field(&mut body, NEWEST, self.newest);
        for notification in told {
            put_bytes_field(&mut body, COMMAND, notification.command().as_bytes());
        }
        vec![body]
    }

    /// Reads the notifications. A notification in an unknown form is skipped.
    fn apply(&mut self, body: &[u8], _: &mut Replica<'_>) -> Result<(), ApplyError> {
        let newest = number(body, NEWEST)?;
        if newest < self.newest {
            return Err(refused("notifications that go back"));
        }
        let commands = || {
            Fields::of(body).filter_map(|field| match field {
                Ok((COMMAND, Value::Bytes(command))) => Some(command),
                _ => None,
            })
        };
        if commands().nth(NOTIFICATIONS_MAX).is_some() {
            return Err(refused("too many notifications"));
        }
        let known = |command| Notification::new(core::str::from_utf8(command).ok()?);
        *self = Self { newest, held: Arc::new(commands().filter_map(known).collect()) };
        Ok(())
    }

    fn same_as(&self, other: &Self) -> bool {
        self.newest == other.newest
    }

    fn bytes_beyond(&self, neighbour: Option<&Self>) -> usize {
        if neighbour.is_some_and(|neighbour| Arc::ptr_eq(&self.held, &neighbour.held)) {
            return 0;
        }
        let texts: usize = self.held.iter().map(|held| held.command().len()).sum();
        texts + self.held.capacity() * size_of::<Notification>()
    }
}

/// The recent notifications of programs at the server, with their expiry times.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    state: Notifications,
    /// When each held notification becomes too old to be sent, oldest first.
    until: VecDeque<Instant>,
}

impl Recent {
    pub(crate) fn push(&mut self, now: Instant, notification: Notification) {
        let held = Arc::make_mut(&mut self.state.held);
        if held.len() == NOTIFICATIONS_MAX {
            held.remove(0);
            self.until.pop_front();
        }
        held.push(notification);
        self.until.push_back(now + AGE_MAX);
        self.state.newest += 1;
        debug_assert_eq!(self.state.held.len(), self.until.len());
        debug_assert!(self.until.len() <= NOTIFICATIONS_MAX);
    }

    /// Drops notifications that are too old, and returns whether it dropped any.
    pub(crate) fn handle_timeout(&mut self, now: Instant) -> bool {
        let old = self.until.iter().take_while(|until| **until <= now).count();
        if old > 0 {
            self.until.drain(..old);
            Arc::make_mut(&mut self.state.held).drain(..old);
        }
        old > 0
    }

    /// Returns when the oldest held notification becomes too old. `None` if none is held.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.until.front().copied()
    }

    /// Returns the notifications to publish in the next state.
    pub(crate) const fn state(&self) -> &Notifications {
        &self.state
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::tests::{applied, diff};

    fn notification(number: u64) -> Notification {
        Notification::new(&format!("9;done {number}th")).unwrap()
    }

    fn at(seconds: u64) -> Instant {
        Instant::from_millis(seconds * 1000)
    }

    #[test]
    fn the_newest_are_held_until_they_are_old() {
        let mut recent = Recent::default();
        for number in 1..=1000 {
            recent.push(at(number), notification(number));
        }
        assert_eq!(recent.state().newest(), 1000);
        let last: Vec<_> = (993..=1000).map(notification).collect();
        assert_eq!(recent.state().after(0), last);
        assert_eq!(recent.state().after(998), &last[6..]);
        assert_eq!(recent.state().after(1000), []);
        assert_eq!(recent.state().after(u64::MAX), []);
        assert_eq!(recent.poll_timeout(), Some(at(993) + AGE_MAX));
        assert!(!recent.handle_timeout(at(1052)));
        assert!(recent.handle_timeout(at(1054)));
        assert_eq!(recent.state().after(0), &last[2..]);
        assert!(recent.handle_timeout(at(2000)));
        assert_eq!((recent.state().after(0).len(), recent.poll_timeout()), (0, None));
    }

    #[test]
    fn notifications_come_back() {
        let held = ["9;done", "777;notify;a;b"].map(|command| Notification::new(command).unwrap());
        let told = Notifications { newest: u64::MAX, held: Arc::new(held.to_vec()) };
        let read = applied(Notifications::default(), &diff(&Notifications::default(), &told));
        let read = read.unwrap();
        assert_eq!((read.newest(), read.after(0)), (u64::MAX, &held[..]));
    }
}
