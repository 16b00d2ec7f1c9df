//! The user's request to end the session, and a second request that insists.
//!
//! After the first request, the client announces the end and waits for the server. If the server cannot be reached,
//! this takes seconds, and a user who asks again wants the terminal at once. Until another request counts as a second
//! one, the client reads no keys, so that they remain for the shell.

use rove_units::{Duration, Instant};

/// How long after the first request to end the session a further request counts as the same request. Chosen: a shell
/// whose terminal is closed sends SIGHUP twice, a few milliseconds apart. Nobody types the escape key and a dot twice
/// in that time. A server that can be reached has answered by then.
const SAME_REQUEST: Duration = Duration::from_millis(250);

/// When the user first asked for the end, and whether a second request ends the session at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndRequest {
    is_obeyed_twice: bool,
    first_at: Option<Instant>,
    /// Whether another request to end the session counts as a second one.
    is_overdue: bool,
    has_input: bool,
}

impl EndRequest {
    pub(crate) const fn new(is_obeyed_twice: bool) -> Self {
        Self { is_obeyed_twice, first_at: None, is_overdue: false, has_input: true }
    }

    /// Handles a request to end the session. Returns whether it is a second one, at which the client ends at once.
    pub(crate) fn handle(&mut self, now: Instant) -> bool {
        self.handle_timeout(now);
        self.first_at.get_or_insert(now);
        self.is_overdue
    }

    pub(crate) const fn handle_input_closed(&mut self) {
        self.has_input = false;
    }

    /// Returns whether the user's keys may be a second request to end, so that the driver should read them.
    pub(crate) const fn wants_input(&self) -> bool {
        self.is_overdue && self.has_input
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.is_overdue |= self.poll_timeout().is_some_and(|due| due <= now);
    }

    /// Returns when another request begins to count as a second one. `None` if that time is past or will not come.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let is_waiting = self.is_obeyed_twice && !self.is_overdue;
        self.first_at.filter(|_| is_waiting).map(|at| at + SAME_REQUEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_a_second_one_when_the_first_has_had_its_time() {
        let (start, due) = (Instant::from_millis(1_000), Instant::from_millis(1_250));
        let early = due - Duration::from_nanos(1);
        for (is_obeyed_twice, at, is_second) in
            [(true, start, false), (true, early, false), (true, due, true), (false, due, false)]
        {
            let mut request = EndRequest::new(is_obeyed_twice);
            assert!(!request.handle(start));
            assert_eq!(request.poll_timeout(), is_obeyed_twice.then_some(due));
            assert_eq!(request.handle(at), is_second, "{is_obeyed_twice}, {at:?}");
            assert_eq!(request.wants_input(), is_second);
            request.handle_input_closed();
            assert!(!request.wants_input());
        }
    }
}
