//! Announcements: events that the user must not miss, such as a client that joins or a use of the ssh agent. A new
//! event or a passing notice does not hide an announcement before the user could read it for some seconds.

use std::collections::VecDeque;

use rove_units::{Duration, Instant};

/// How long an announcement stays. Chosen: a user who has looked away for a moment sees it.
const SHOWN: Duration = Duration::from_secs(10);
/// How long an announcement stays while another one waits. Chosen: long enough to read it once.
const SHOWN_MIN: Duration = Duration::from_secs(3);
/// Maximum number of announcements kept until the user has read them. Chosen: all are read in half a minute.
const KEPT_MAX: usize = 8;

/// The announcements that are shown one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Announcements {
    /// The announcement that is shown, and those that wait. Each has the number of equal events that it reports, or 0
    /// if it is the answer to an action of the user.
    kept: VecDeque<(String, u32)>,
    /// When the first announcement in `kept` appeared on the screen.
    since: Instant,
    /// How many announcements were dropped, because [`KEPT_MAX`] others waited.
    missed: u32,
    /// Since when the user sees no announcements, if so: the help or a question hides them, or the shell has the
    /// terminal. Their display time does not pass meanwhile.
    hidden_since: Option<Instant>,
}

impl Announcements {
    /// Adds an event to announce. If it equals the last one, only that one's count rises.
    pub(super) fn push(&mut self, now: Instant, text: String) {
        self.drop_read(now);
        let is_read = self.hidden_since.is_none() && now >= self.since + SHOWN_MIN;
        if self.kept.len() == 1 && self.kept[0].0 != text && is_read {
            self.kept.clear();
        }
        if self.kept.len() < 2 && self.kept.iter().all(|it| it.0 == text) {
            self.since = now;
        }
        let is_full = self.kept.len() == KEPT_MAX;
        match self.kept.back_mut().filter(|last| last.0 == text) {
            Some((_, times)) => *times = times.saturating_add(1),
            None if is_full => self.missed = self.missed.saturating_add(1),
            None => self.kept.push_back((text, 1)),
        }
    }

    /// Adds the answer to an action of the user. The answer is shown at once, before waiting events, and replaces the
    /// last answer, which may name a state that has changed.
    pub(super) fn answer(&mut self, now: Instant, text: String) {
        self.drop_read(now);
        self.kept.retain(|(_, times)| *times > 0);
        self.kept.push_front((text, 0));
        if self.kept.len() > KEPT_MAX {
            self.kept.truncate(KEPT_MAX);
            self.missed = self.missed.saturating_add(1);
        }
        self.since = now;
    }

    /// Notes whether the announcements are hidden from `now` on.
    pub(super) fn set_hidden(&mut self, now: Instant, is_hidden: bool) {
        match self.hidden_since {
            None if is_hidden => {
                self.drop_read(now);
                self.hidden_since = Some(now);
            }
            Some(since) if !is_hidden => {
                self.since = now - since.saturating_since(self.since);
                self.hidden_since = None;
            }
            _ => {}
        }
    }

    /// Returns the announcement to show. `None` if all have been read.
    pub(super) fn current(&self, now: Instant) -> Option<String> {
        let (index, _) = self.look(now)?;
        let (text, times) = &self.kept[index];
        // The count comes first, because a narrow bar has no room for the end.
        let text = if *times > 1 { format!("{times} times: {text}") } else { text.clone() };
        let is_last = index + 1 == self.kept.len();
        Some(match self.missed {
            missed if is_last && missed > 0 => format!("{text} (And {missed} more.)"),
            _ => text,
        })
    }

    /// Returns when the shown announcement is replaced or disappears. `None` without one, or while it is hidden.
    pub(super) fn poll_timeout(&self, now: Instant) -> Option<Instant> {
        self.look(now).map(|(_, until)| until).filter(|_| self.hidden_since.is_none())
    }

    /// Returns the index of the announcement to show at `now`, if any, and until when it is shown.
    fn look(&self, now: Instant) -> Option<(usize, Instant)> {
        let mut until = self.since;
        (0..self.kept.len()).find_map(|index| {
            let is_last = index + 1 == self.kept.len();
            until += if is_last { SHOWN } else { SHOWN_MIN };
            (now < until).then_some((index, until))
        })
    }

    /// Drops the announcements whose time is over.
    fn drop_read(&mut self, now: Instant) {
        while !self.kept.is_empty() && self.hidden_since.is_none() {
            let until = self.since + if self.kept.len() == 1 { SHOWN } else { SHOWN_MIN };
            if now < until {
                return;
            }
            self.kept.pop_front();
            self.since = until;
        }
        if self.kept.is_empty() {
            self.missed = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_event_is_shown_for_three_seconds_whatever_else_happens(
            events in prop::collection::vec((0_u64..4_000, any::<bool>()), 1..8),
            hidden in prop::collection::vec(any::<bool>(), 8),
        ) {
            let mut announcements = Announcements::default();
            let mut shown = vec![0_u64; events.len()];
            let mut newest_answer = 0;
            let mut now = 0;
            let mut run = |announcements: &Announcements, from: u64, to: u64| {
                for at in (from..to).step_by(10) {
                    if let Some(text) = announcements.current(Instant::from_millis(at)) {
                        let index = text.parse::<usize>().expect("the texts are numbers");
                        shown[index] += 10;
                        assert!(!events[index].1 || index >= newest_answer, "an answer is void");
                        newest_answer = if events[index].1 { index } else { newest_answer };
                    }
                }
            };
            for (index, (pause, is_answer)) in events.iter().enumerate() {
                let next = now + pause / 10 * 10;
                announcements.set_hidden(Instant::from_millis(now), hidden[index]);
                if !hidden[index] {
                    run(&announcements, now, next);
                }
                now = next;
                if *is_answer {
                    announcements.answer(Instant::from_millis(now), index.to_string());
                } else {
                    announcements.push(Instant::from_millis(now), index.to_string());
                }
            }
            announcements.set_hidden(Instant::from_millis(now), false);
            run(&announcements, now, now + 60_000);
            let mut times = shown.iter().zip(&events);
            prop_assert!(times.all(|(shown, (_, is_answer))| *is_answer || *shown >= 3_000));
            let last = events.iter().rposition(|(_, is_answer)| *is_answer);
            prop_assert!(last.is_none_or(|last| shown[last] >= 3_000), "{shown:?}");
        }
    }

    #[test]
    fn a_flood_of_events_is_counted_and_hides_none_of_the_first() {
        let mut announcements = Announcements::default();
        let now = Instant::from_millis(1);
        (0..1_000).for_each(|it| announcements.push(now, it.to_string()));
        let shown = |secs| announcements.current(now + Duration::from_secs(secs));
        for index in 0..7 {
            assert_eq!(shown(3 * index), Some(index.to_string()));
        }
        assert_eq!(shown(21).as_deref(), Some("7 (And 992 more.)"));
        assert_eq!((shown(30).is_some(), shown(31)), (true, None));
    }

    #[test]
    fn an_equal_event_is_seen_as_another_one() {
        let mut announcements = Announcements::default();
        let at = |secs: u64| Instant::from_millis(1000 * secs);
        for (now, text) in [(0, "joined"), (1, "other"), (2, "joined"), (2, "joined")] {
            announcements.push(at(now), text.to_owned());
        }
        for (now, shown) in [(0, "joined"), (3, "other"), (6, "2 times: joined")] {
            assert_eq!(announcements.current(at(now)).as_deref(), Some(shown));
        }
        announcements.push(at(15), "joined".to_owned());
        for (now, shown) in
            [(15, Some("3 times: joined")), (24, Some("3 times: joined")), (25, None)]
        {
            assert_eq!(announcements.current(at(now)).as_deref(), shown);
        }
        announcements.push(at(26), "joined".to_owned());
        assert_eq!(announcements.current(at(26)).as_deref(), Some("joined"));
    }

    #[test]
    fn an_answer_counts_the_event_whose_room_it_takes_and_comes_once() {
        let mut announcements = Announcements::default();
        let now = Instant::from_millis(1);
        (0..KEPT_MAX).for_each(|it| announcements.push(now, it.to_string()));
        (0..9).for_each(|_| announcements.answer(now, "done".to_owned()));
        let shown = |secs| announcements.current(now + Duration::from_secs(secs));
        assert_eq!((shown(0).as_deref(), shown(3).as_deref()), (Some("done"), Some("0")));
        assert_eq!(shown(21).as_deref(), Some("6 (And 1 more.)"));
    }
}
