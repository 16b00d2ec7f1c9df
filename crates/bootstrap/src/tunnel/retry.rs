//! Decides when to start another ssh for a tunnel, sans I/O.

use rove_units::{Duration, Instant};

use crate::tunnel::connection::Connection;

/// Shortest wait between two starts of ssh for a tunnel. Chosen: the time in which a laptop finds its network again.
const WAIT_MIN: Duration = Duration::from_secs(1);
/// Longest wait between two starts of ssh for a tunnel while the network fails. Chosen: a user watches a notice for
/// about this time, and so rare a login burdens no host.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// Wait after a login that failed because it needs an answer of the user. Chosen: it allows two failures in ten
/// minutes; programs that lock out password guessers act only after several.
const WAIT_REFUSED: Duration = Duration::from_secs(300);
/// How long a tunnel may be silent before another ssh is started beside it. Chosen: five heartbeats of 3 s.
const SILENCE_MAX: Duration = Duration::from_secs(15);
/// How long a tunnel may be silent after this computer's network has changed. Most connections do not survive that.
/// Chosen: two heartbeats.
const SILENCE_MAX_CHANGED: Duration = Duration::from_secs(6);
/// Shortest time from a start of ssh to one that a network change causes. Chosen: an ssh that was started slightly too
/// early has failed by then. Even if the network changes all day, ssh starts only once in this time.
const CHANGED_WAIT: Duration = Duration::from_secs(5);
/// How long an ssh may take to start its tunnel. Chosen: twice the usual time of a TCP connection's five tries.
const START_MAX: Duration = Duration::from_secs(60);
const _: () = assert!(WAIT_MIN.as_millis() < WAIT_MAX.as_millis());

/// How the ssh of a tunnel has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The connection has failed, or was never made.
    Failed,
    /// The start took too long.
    Late,
    /// The host asked for an answer that only the user can give.
    Refused,
    /// The user has cancelled a login during which ssh could ask questions.
    BrokenOff,
}

/// The times that decide when another ssh is started for a tunnel.
#[derive(Clone, Debug)]
pub struct Retry {
    /// When the newest ssh was started.
    started_at: Instant,
    /// The earliest time at which another ssh may start.
    not_before: Instant,
    /// The earliest time for another ssh after a refused login, because the host would again ask the user.
    refused_until: Instant,
    wait: Duration,
    /// When bytes last arrived through the tunnel.
    heard_at: Instant,
    /// When the network changed. `None` if it has not, or if bytes have arrived through the tunnel since then.
    changed_at: Option<Instant>,
    connection: Connection,
}

impl Retry {
    /// Creates the state after the first ssh was started at `now`. `shares` says that ssh may share a connection.
    pub fn new(now: Instant, shares: bool) -> Self {
        Self {
            started_at: now,
            not_before: now,
            refused_until: now,
            wait: WAIT_MIN,
            heard_at: now,
            changed_at: None,
            connection: Connection::new(shares),
        }
    }

    /// Records that bytes have arrived through the tunnel. The wait between starts is again `WAIT_MIN`.
    pub fn handle_arrival(&mut self, now: Instant) {
        self.heard_at = now;
        self.wait = WAIT_MIN;
        self.changed_at = None;
    }

    /// Records that this computer's network has changed, so that the cause of earlier failures may be gone.
    pub fn handle_network_change(&mut self, now: Instant) {
        self.changed_at.get_or_insert(now);
        self.not_before = self.not_before.min(now.max(self.started_at + CHANGED_WAIT));
    }

    /// Records that another ssh is started. `is_beside` is true if the former ssh still runs, but is silent. Returns
    /// whether the new ssh must make a new connection.
    pub fn handle_start(&mut self, now: Instant, is_beside: bool) -> bool {
        self.started_at = now;
        self.not_before = now + self.wait;
        self.wait = (2 * self.wait).min(WAIT_MAX);
        self.connection.handle_start(is_beside)
    }

    /// Records that an ssh has ended, or could not be started.
    pub fn handle_end(&mut self, now: Instant, end: End) {
        // Nobody refused a login that the user cancelled. Its connection may have been dead, as after a late start.
        if matches!(end, End::Late | End::BrokenOff) {
            self.connection.handle_silence();
        }
        let needs_user = match end {
            End::Failed | End::Late => false,
            End::Refused => !self.connection.handle_refusal(),
            End::BrokenOff => true,
        };
        if needs_user {
            self.refused_until = now + WAIT_REFUSED;
        } else {
            self.not_before = self.not_before.max(now + WAIT_MIN);
        }
    }

    /// Returns when to start another ssh. If the session has a tunnel (`has_one`), this must be silent for too long.
    pub fn start_at(&self, has_one: bool) -> Instant {
        let from = self.not_before.max(self.refused_until);
        if !has_one {
            return from;
        }
        let silent = self.heard_at + SILENCE_MAX;
        let changed = self.changed_at.map(|at| silent.min(at + SILENCE_MAX_CHANGED));
        from.max(changed.unwrap_or(silent))
    }

    /// Returns the time after which the start of the newest ssh counts as too long.
    pub fn give_up_at(&self) -> Instant {
        self.started_at + START_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Instant {
        Instant::from_millis(seconds * 1000)
    }

    /// Starts an ssh whenever a start is due, and ends each at once with `end`. Returns the starts' times in seconds.
    fn starts(end: End, count: usize) -> Vec<u64> {
        let mut retry = Retry::new(at(100), false);
        retry.handle_end(at(100), end);
        let mut found = Vec::new();
        for _ in 0..count {
            let now = retry.start_at(false);
            retry.handle_start(now, false);
            retry.handle_end(now, end);
            found.push(now.as_millis() / 1000 - 100);
        }
        found
    }

    #[test]
    fn waits_double_up_to_a_minute_and_begin_anew_with_what_comes_through() {
        assert_eq!(starts(End::Failed, 9), [1, 2, 4, 8, 16, 32, 64, 124, 184]);
        let mut retry = Retry::new(at(0), false);
        for _ in 0..10 {
            let now = retry.start_at(false);
            retry.handle_start(now, false);
            retry.handle_end(now, End::Failed);
        }
        let now = retry.start_at(false);
        retry.handle_start(now, false);
        retry.handle_arrival(now);
        retry.handle_end(now + Duration::from_secs(90), End::Failed);
        assert_eq!(retry.start_at(false), now + Duration::from_secs(91));
    }

    #[test]
    fn a_host_that_refuses_the_login_is_asked_twice_in_ten_minutes() {
        assert_eq!(starts(End::Refused, 4), [300, 600, 900, 1200]);
    }

    #[test]
    fn another_network_is_tried_soon_and_not_by_who_was_refused() {
        let mut retry = Retry::new(at(0), false);
        for second in [10, 20, 30, 40, 50] {
            retry.handle_start(at(second), false);
            retry.handle_end(at(second + 1), End::Failed);
        }
        assert_eq!(retry.start_at(false), at(66));
        retry.handle_network_change(at(52));
        assert_eq!(retry.start_at(false), at(55));
        retry.handle_start(at(55), false);
        retry.handle_end(at(56), End::Refused);
        retry.handle_network_change(at(57));
        assert_eq!(retry.start_at(false), at(356));
    }

    #[test]
    fn a_dead_shared_connection_is_left_and_used_again_where_the_host_refuses_another() {
        let mut retry = Retry::new(at(0), true);
        assert!(!retry.handle_start(at(10), false));
        retry.handle_end(at(70), End::Late);
        assert!(retry.handle_start(at(71), false));
        retry.handle_arrival(at(72));
        assert!(retry.handle_start(at(90), true), "it is still dead");
        retry.handle_end(at(91), End::Refused);
        assert_eq!(retry.start_at(false), at(92), "the shared one asks the host nothing");
        assert!(!retry.handle_start(at(92), false));
        retry.handle_end(at(93), End::Refused);
        assert_eq!(retry.start_at(false), at(393));
    }

    #[test]
    fn a_login_that_the_user_breaks_off_waits_for_the_user_and_condemns_no_connection() {
        for shares in [true, false] {
            let mut retry = Retry::new(at(0), shares);
            retry.handle_start(at(10), false);
            retry.handle_end(at(70), End::Late);
            // The login that follows a late one makes a new connection, and then every second login does.
            for (second, is_own) in [(71, shares), (500, false), (900, shares)] {
                assert_eq!(retry.handle_start(at(second), false), is_own);
                retry.handle_end(at(second + 1), End::BrokenOff);
                assert_eq!(retry.start_at(false), at(second + 301));
            }
        }
    }

    #[test]
    fn beside_one_that_stands_another_starts_sooner_in_another_network() {
        let mut retry = Retry::new(at(0), false);
        retry.handle_arrival(at(100));
        for second in [101, 102, 103] {
            retry.handle_network_change(at(second));
        }
        assert_eq!(retry.start_at(true), at(107));
        retry.handle_arrival(at(104));
        assert_eq!(retry.start_at(true), at(119), "it stands in the other network, too");
        retry.handle_network_change(at(118));
        assert_eq!(retry.start_at(true), at(119));
    }

    #[test]
    fn beside_one_that_stands_another_starts_after_silence_only() {
        let mut retry = Retry::new(at(0), false);
        assert_eq!(retry.start_at(true), at(15));
        retry.handle_arrival(at(100));
        assert_eq!(retry.start_at(true), at(115));
        retry.handle_start(at(115), false);
        assert_eq!(retry.give_up_at(), at(175));
        assert_eq!(retry.start_at(true), at(116));
        retry.handle_end(at(116), End::Failed);
        assert_eq!(retry.start_at(true), at(117));
        retry.handle_arrival(at(117));
        assert_eq!(retry.start_at(true), at(132));
    }
}
