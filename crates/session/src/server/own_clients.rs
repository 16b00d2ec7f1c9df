//! The clients that a session has given a key. `rove resume` may go on from the record of these only.

use std::collections::VecDeque;

use crate::former::ClientId;

/// Most clients that are remembered. Chosen: more logins than a session has in a year.
const CLIENTS_MAX: usize = 1024;

/// The names of the session's clients, oldest first.
#[derive(Debug, Default)]
pub(super) struct OwnClients(VecDeque<ClientId>);

impl OwnClients {
    pub(super) fn note(&mut self, client: ClientId) {
        if self.0.len() == CLIENTS_MAX {
            self.0.pop_front();
        }
        self.0.push_back(client);
    }

    pub(super) fn has(&self, client: ClientId) -> bool {
        self.0.contains(&client)
    }
}

#[cfg(test)]
mod tests {
    use rove_ssp::Key;

    use super::*;

    #[test]
    fn the_newest_clients_are_known_and_no_other_sessions() {
        let client = |number: u128| ClientId::of(&Key::from_bytes(number.to_be_bytes()));
        let mut own = OwnClients::default();
        (0..1024).for_each(|number| own.note(client(number)));
        assert!(own.has(client(0)) && !own.has(client(1024)));
        own.note(client(1024));
        assert!(!own.has(client(0)) && own.has(client(1)) && own.has(client(1024)));
    }
}
