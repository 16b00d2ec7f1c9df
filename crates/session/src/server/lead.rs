//! The size of a session that several clients see: whose window leads.

use rove_terminal::Size;
use rove_units::{Duration, Instant};

use crate::wish::SizeRule;

/// Least time between two sizes that follow another typist. Chosen: each change costs every client a whole screen and every
/// program a redraw, and two people who type in turns would cause one with each key.
const TYPIST_INTERVAL: Duration = Duration::from_secs(2);

/// The windows that count, and which of them leads.
#[derive(Debug, Default)]
pub(super) struct Lead {
    pub(super) rule: SizeRule,
    /// The window of the session's own client.
    pub(super) owner: Option<Size>,
    /// The client that typed last; 0 is the session's own.
    typist: u64,
    /// Until when no other typist leads.
    settled_until: Option<Instant>,
    /// When to look again at a size that was not taken.
    due: Option<Instant>,
}

impl Lead {
    /// Notes that a client has typed.
    pub(super) const fn note_keys(&mut self, client: u64) {
        self.typist = client;
    }

    /// Returns the size that the session is to have, with the windows of the joined clients that type; `None` before the
    /// session's own client has told its window.
    pub(super) fn size(&self, others: impl Iterator<Item = (u64, Size)>) -> Option<Size> {
        let owner = self.owner?;
        Some(match self.rule {
            SizeRule::Owner => owner,
            SizeRule::Fixed(size) => size,
            SizeRule::Smallest => others.fold(owner, |least, (_, window)| {
                let columns = least.columns().min(window.columns());
                Size::clamped(columns, least.rows().min(window.rows()))
            }),
            // Nobody shrinks the owner's window by typing.
            SizeRule::Typist => {
                let window = others.filter(|(client, _)| *client == self.typist).map(|(_, it)| it);
                window.fold(owner, |most, window| {
                    let columns = most.columns().max(window.columns());
                    Size::clamped(columns, most.rows().max(window.rows()))
                })
            }
        })
    }

    /// Returns whether the session may take another size now, and notes that it does.
    pub(super) fn may_change(&mut self, now: Instant) -> bool {
        self.due = self.settled_until.filter(|until| self.rule == SizeRule::Typist && now < *until);
        if self.due.is_none() {
            self.settled_until = Some(now + TYPIST_INTERVAL);
        }
        self.due.is_none()
    }

    /// Does what is due.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        self.due.take_if(|due| *due <= now);
    }

    /// Returns when to look again at a size that was not taken.
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
