//! Decides the size of a session that several clients see: the client whose window decides it leads.

use rove_terminal::Size;
use rove_units::{Duration, Instant};

use crate::wish::SizeRule;

/// Shortest time between two changes of size because another client types. Chosen: each change costs every client a
/// whole screen and every program a redraw, and two users who type in turns would cause a change with each key.
const TYPIST_INTERVAL: Duration = Duration::from_secs(2);

/// The rule, the own client's window and the typist, which together decide the session's size.
#[derive(Debug, Default)]
pub(super) struct Lead {
    pub(super) rule: SizeRule,
    /// The window size of the session's own client. `None` until it is known.
    pub(super) owner: Option<Size>,
    /// The number of the client that typed last; 0 is the session's own client.
    typist: u64,
    /// Until when the size must stay though another client types. `None` if the size never changed.
    settled_until: Option<Instant>,
    /// When to try again to apply a size that came too soon. `None` if no size waits.
    due: Option<Instant>,
}

impl Lead {
    /// Notes that the client with this number has typed.
    pub(super) const fn note_keys(&mut self, client: u64) {
        self.typist = client;
    }

    /// Returns the size that the session should have. `others` are the windows of the joined clients that may type.
    /// Returns `None` until the own client's window is known.
    pub(super) fn size(&self, others: impl Iterator<Item = (u64, Size)>) -> Option<Size> {
        let owner = self.owner?;
        Some(match self.rule {
            SizeRule::Owner => owner,
            SizeRule::Fixed(size) => size,
            SizeRule::Smallest => others.fold(owner, |least, (_, window)| {
                let columns = least.columns().min(window.columns());
                Size::clamped(columns, least.rows().min(window.rows()))
            }),
            // Typing never makes the session smaller than the own client's window.
            SizeRule::Typist => {
                let window = others.filter(|(client, _)| *client == self.typist).map(|(_, it)| it);
                window.fold(owner, |most, window| {
                    let columns = most.columns().max(window.columns());
                    Size::clamped(columns, most.rows().max(window.rows()))
                })
            }
        })
    }

    /// Returns whether the session may change its size now, and starts the interval to the next change if so.
    pub(super) fn may_change(&mut self, now: Instant) -> bool {
        self.due = self.settled_until.filter(|until| self.rule == SizeRule::Typist && now < *until);
        if self.due.is_none() {
            self.settled_until = Some(now + TYPIST_INTERVAL);
        }
        self.due.is_none()
    }

    /// Clears the time to try again once it is reached.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        self.due.take_if(|due| *due <= now);
    }

    /// Returns when to try again to apply a size that came too soon. `None` if no size waits.
    pub(super) const fn poll_timeout(&self) -> Option<Instant> {
        self.due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_decides_whose_window_leads() {
        let size = Size::clamped;
        let windows = [(1, size(60, 50)), (2, size(120, 20))];
        let lead = |rule, typist| {
            let lead = Lead { rule, owner: Some(size(80, 24)), typist, ..Lead::default() };
            lead.size(windows.into_iter())
        };
        for (rule, typist, expected) in [
            (SizeRule::Owner, 1, size(80, 24)),
            (SizeRule::Smallest, 0, size(60, 20)),
            (SizeRule::Typist, 0, size(80, 24)),
            (SizeRule::Typist, 1, size(80, 50)),
            (SizeRule::Typist, 2, size(120, 24)),
            (SizeRule::Typist, 9, size(80, 24)),
            (SizeRule::Fixed(size(100, 30)), 1, size(100, 30)),
        ] {
            assert_eq!(lead(rule, typist), Some(expected), "{rule:?} {typist}");
        }
        assert_eq!(Lead::default().size(windows.into_iter()), None);
    }
}
