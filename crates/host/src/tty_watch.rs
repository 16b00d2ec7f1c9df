//! Times at which to check whether the session's terminal still echoes typed text.

use rove_units::{Duration, Instant};

/// Time from a read or write of the terminal to a check of its modes, besides the check in every turn of the loop. No
/// system reports that a program has changed the modes. Chosen: half of the time for which a server collects output. A
/// change directly after a prompt is then known before the prompt is sent.
const FIRST_LOOK: Duration = Duration::from_millis(4);
/// Longest wait between two mode checks. The wait doubles after each check, and the checks end after this wait. Chosen:
/// `stty -echo` after a prompt took up to 25 ms on a busy computer. A program silent for 100 times as long is idle.
const LAST_WAIT: Duration = Duration::from_millis(2048);
const _: () = assert!(FIRST_LOOK.as_nanos() < LAST_WAIT.as_nanos());

/// When to check the terminal's modes although nothing is read or written.
#[derive(Clone, Copy, Debug, Default)]
pub struct TtyWatch {
    /// The time of the next check, and the wait before it. `None` if no check is planned.
    next: Option<(Instant, Duration)>,
    /// Whether something was read or written since the last check.
    is_stirred: bool,
}

impl TtyWatch {
    /// Records that something was read from the terminal or written to it.
    pub fn stir(&mut self, now: Instant) {
        self.next = Some((now + FIRST_LOOK, FIRST_LOOK));
        self.is_stirred = true;
    }

    /// Records that the caller checks the modes. Returns whether this check was due, or is the first since something
    /// was read or written.
    pub fn look(&mut self, now: Instant) -> bool {
        let mut is_due = std::mem::take(&mut self.is_stirred);
        if let Some((due, wait)) = self.next
            && due <= now
        {
            let wait = wait * 2;
            self.next = (wait <= LAST_WAIT).then_some((now + wait, wait));
            is_due = true;
        }
        is_due
    }

    /// Returns when to check next. `None` if the next check is due after the next read or write.
    pub fn deadline(self) -> Option<Instant> {
        self.next.map(|(due, _)| due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn looks_come_ever_later_and_end() {
        let mut watch = TtyWatch::default();
        assert_eq!(watch.deadline(), None);
        watch.stir(ms(1000));
        assert!(watch.look(ms(1000)), "something has happened");
        let mut looks = Vec::new();
        while let Some(due) = watch.deadline() {
            assert!(!watch.look(ms(due.as_millis() - 1)));
            assert_eq!(watch.deadline(), Some(due), "a look before its time changes nothing");
            assert!(watch.look(due));
            looks.push(due.as_millis() - 1000);
        }
        assert_eq!(looks, [4, 12, 28, 60, 124, 252, 508, 1020, 2044, 4092]);
        watch.stir(ms(9000));
        assert_eq!(watch.deadline(), Some(ms(9004)));
    }
}
