//! Decides the size of a session that several clients see. The client whose window sets the size *leads*, and its
//! terminal also decides how many columns a character has.

use rove_terminal::Size;
use rove_units::{Duration, Instant};

use crate::wish::SizeRule;

/// Shortest time between two changes of size because another client types. Chosen: each change costs every client a
/// whole screen and every program a redraw. Two users who type in turns would cause a change with each key.
const TYPIST_INTERVAL: Duration = Duration::from_secs(2);

/// The size rule, the own client's window and the client that typed last, which together decide the session's size.
#[derive(Debug, Default)]
pub(super) struct Lead {
    pub(super) rule: SizeRule,
    /// The window size of the session's own client. `None` until the server knows that size.
    pub(super) owner: Option<Size>,
    /// The number of the client that typed last; 0 is the session's own client.
    typist: u64,
    /// The number of the client whose window sets the size (the leader); 0 is the session's own client.
    leader: u64,
    /// Until when the leader and the size stay, even if another client types. `None` until the first change that the
    /// own client's window did not cause.
    settled_until: Option<Instant>,
    /// When to try again to apply a size, if the last change of size was too recent. `None` if no size waits.
    due: Option<Instant>,
}

impl Lead {
    pub(super) const fn note_keys(&mut self, client: u64) {
        self.typist = client;
    }

    pub(super) const fn leader(&self) -> u64 {
        self.leader
    }

    /// Chooses the client whose window sets the size, and returns the session's new size. `None` if it does not change.
    /// `others` are the numbers and windows of the joined clients that may type. A change of the own client's window
    /// (`is_own`) counts at once, and always returns a size.
    pub(super) fn settle(
        &mut self,
        now: Instant,
        is_own: bool,
        size: Size,
        others: &[(u64, Size)],
    ) -> Option<Size> {
        self.due.take_if(|due| *due <= now);
        let (leader, wanted) = self.wanted(others)?;
        if !is_own && ((leader, wanted) == (self.leader, size) || !self.may_change(now)) {
            return None;
        }
        self.leader = leader;
        (is_own || wanted != size).then_some(wanted)
    }

    /// Returns the client that should lead and the size that the session should have. `None` until the window of the
    /// session's own client is known.
    fn wanted(&self, others: &[(u64, Size)]) -> Option<(u64, Size)> {
        let owner = self.owner?;
        Some(match self.rule {
            SizeRule::Owner => (0, owner),
            SizeRule::Fixed(size) => (0, size),
            // The narrowest window leads, because characters count in columns.
            SizeRule::Smallest => {
                others.iter().fold((0, owner), |(leader, least), (it, window)| {
                    let leader = if window.columns() < least.columns() { *it } else { leader };
                    let columns = least.columns().min(window.columns());
                    (leader, Size::clamped(columns, least.rows().min(window.rows())))
                })
            }
            // Typing never makes the session smaller than the own client's window.
            SizeRule::Typist => {
                let typist = others.iter().find(|(client, _)| *client == self.typist);
                typist.map_or((0, owner), |(leader, window)| {
                    let columns = owner.columns().max(window.columns());
                    (*leader, Size::clamped(columns, owner.rows().max(window.rows())))
                })
            }
        })
    }

    /// Returns whether the leader or the size may change. If so, the next change must wait. Otherwise sets `due`.
    fn may_change(&mut self, now: Instant) -> bool {
        self.due = self.settled_until.filter(|until| self.rule == SizeRule::Typist && now < *until);
        if self.due.is_none() {
            self.settled_until = Some(now + TYPIST_INTERVAL);
        }
        self.due.is_none()
    }

    /// Returns when to try again to apply a size, if the last change was too recent. `None` if no size waits.
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
            lead.wanted(&windows)
        };
        for (rule, typist, expected) in [
            (SizeRule::Owner, 1, (0, size(80, 24))),
            (SizeRule::Smallest, 0, (1, size(60, 20))),
            (SizeRule::Typist, 0, (0, size(80, 24))),
            (SizeRule::Typist, 1, (1, size(80, 50))),
            (SizeRule::Typist, 2, (2, size(120, 24))),
            (SizeRule::Typist, 9, (0, size(80, 24))),
            (SizeRule::Fixed(size(100, 30)), 1, (0, size(100, 30))),
        ] {
            assert_eq!(lead(rule, typist), Some(expected), "{rule:?} {typist}");
        }
        assert_eq!(Lead::default().wanted(&windows), None);
    }
}
