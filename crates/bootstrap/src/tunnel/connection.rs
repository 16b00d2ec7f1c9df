//! Which connection the next ssh for a session uses, where an open one may be shared (`ControlMaster`), sans I/O.
//!
//! A shared connection may be dead, and then every ssh that shares it waits in vain. So the next ssh makes a connection of
//! its own. Where the host refuses that without the user, only the shared connection is left.

/// The connection of the next login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// As ssh is configured, which shares none.
    Single,
    /// An open one that ssh shares as configured.
    Shared,
    /// A connection of its own, as the shared one may be dead.
    Own,
    /// The shared one, as the host refuses another without the user.
    SharedOnly,
}

/// The choice between a shared connection of ssh and a new one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Connection {
    next: Next,
    /// Whether the newest login makes a connection of its own where it could share one.
    is_own: bool,
}

impl Connection {
    /// Starts after a login by the user. `shares` says whether ssh is configured to share an open connection.
    pub(super) const fn new(shares: bool) -> Self {
        let next = if shares { Next::Shared } else { Next::Single };
        Self { next, is_own: false }
    }

    /// Returns whether the next login has to make a connection of its own.
    pub(super) fn is_own_next(&self) -> bool {
        self.next == Next::Own
    }

    /// Notes that a login begins, beside an ssh that is late if it `is_beside` one, which may have the shared connection.
    /// Returns whether it has to make a connection of its own.
    pub(super) fn handle_start(&mut self, is_beside: bool) -> bool {
        if is_beside && self.next == Next::Shared {
            self.next = Next::Own;
        }
        self.is_own = self.is_own_next();
        self.is_own
    }

    /// Notes that the newest login was not answered: either its connection is dead, or the network.
    pub(super) fn handle_silence(&mut self) {
        if matches!(self.next, Next::Shared | Next::Own) {
            self.next = if self.is_own { Next::Shared } else { Next::Own };
        }
    }

    /// Notes that the host has refused the newest login without the user. Returns whether the shared connection is left.
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
