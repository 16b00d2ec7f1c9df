//! Decides whether the next ssh for a session shares an open connection (`ControlMaster`) or makes its own, sans I/O.
//!
//! A shared connection may be dead, and then every ssh that shares it waits in vain. So after an unanswered login over
//! it, the next ssh makes its own connection. If that needs the user, later logins share again.

/// The connection for the next login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// The next ssh makes a new connection, because ssh is configured to share none.
    Single,
    /// The next ssh shares an open connection, as configured.
    Shared,
    /// The next ssh makes a new connection, because the shared one may be dead.
    Own,
    /// The next ssh shares an open connection, because a new one needs an answer of the user.
    SharedOnly,
}

/// The choice between a shared connection of ssh and a new one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Connection {
    next: Next,
    /// Whether the newest login had to make a new connection ([`Next::Own`]).
    is_own: bool,
}

impl Connection {
    /// Creates the state after a login by the user. `shares` is true if ssh is configured to share an open connection.
    pub(super) const fn new(shares: bool) -> Self {
        let next = if shares { Next::Shared } else { Next::Single };
        Self { next, is_own: false }
    }

    /// Returns whether the next login must make a new connection.
    pub(super) fn is_own_next(&self) -> bool {
        self.next == Next::Own
    }

    /// Records that a login begins. `is_beside` is true if a silent ssh of the session still runs, perhaps on a dead
    /// shared connection. Returns whether the new login must make a new connection.
    pub(super) fn handle_start(&mut self, is_beside: bool) -> bool {
        if is_beside && self.next == Next::Shared {
            self.next = Next::Own;
        }
        self.is_own = self.is_own_next();
        self.is_own
    }

    /// Records that the newest login got no answer, because its connection or the network is dead.
    pub(super) fn handle_silence(&mut self) {
        if matches!(self.next, Next::Shared | Next::Own) {
            self.next = if self.is_own { Next::Shared } else { Next::Own };
        }
    }

    /// Records that the newest login failed because it needs the user. Returns whether to try the shared one next.
    pub(super) fn handle_refusal(&mut self) -> bool {
        if self.is_own {
            self.next = Next::SharedOnly;
        }
        self.is_own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_beside_a_late_ssh_and_all_after_it_leave_the_shared_connection() {
        for shares in [true, false] {
            let mut connection = Connection::new(shares);
            assert!(!connection.handle_start(false));
            assert_eq!(connection.handle_start(true), shares);
            assert_eq!(connection.handle_start(false), shares, "it stays dead");
            assert_eq!(connection.handle_refusal(), shares);
            for is_beside in [true, false] {
                assert!(!connection.handle_start(is_beside), "nothing else is left");
                connection.handle_silence();
            }
            assert!(!connection.handle_refusal());
        }
    }
}
