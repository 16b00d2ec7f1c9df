//! Clients that were invited to take the session over and never came. A later client may continue with their keys.

use std::collections::VecDeque;

use crate::former::ClientId;

/// Most clients that are remembered. Chosen: hardly any user has more logins fail in a row.
const CLIENTS_MAX: usize = 8;

/// The clients that were invited since the present client came, and never came themselves.
#[derive(Debug, Default)]
pub(super) struct NeverCame {
    /// Each client, with the number of the present client's keys that the server had taken at the invitation.
    clients: VecDeque<(ClientId, u64)>,
}

impl NeverCame {
    /// Adds a client whose invitation has ended unused. `taken` is the number of the present client's keys that the
    /// server had taken at the invitation.
    pub(super) fn note(&mut self, client: ClientId, taken: u64) {
        if self.clients.len() == CLIENTS_MAX {
            self.clients.pop_front();
        }
        self.clients.push_back((client, taken));
    }

    /// Returns whether `client` never came and the server can have taken none of its keys. That holds if the number of
    /// the present client's keys taken (`taken`) is still the same as at the invitation.
    pub(super) fn has(&self, client: ClientId, taken: u64) -> bool {
        self.clients.contains(&(client, taken))
    }
}

#[cfg(test)]
mod tests {
    use rove_ssp::Key;

    use super::*;

    #[test]
    fn the_newest_are_known_for_as_long_as_nothing_was_taken() {
        let client = |number| ClientId::of(&Key::from_bytes([number; 16]));
        let mut never_came = NeverCame::default();
        (0..9).for_each(|number| never_came.note(client(number), 5));
        let known = |number, taken| never_came.has(client(number), taken);
        assert!(!known(0, 5) && known(1, 5) && known(8, 5));
        assert!(!known(8, 6) && !known(9, 5));
    }
}
