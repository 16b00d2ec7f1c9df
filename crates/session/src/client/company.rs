//! The other clients of the session: sentences for the user about who joined or left, and the user's wishes about them.

use core::fmt::Write;
use core::mem;

use rove_ssp::Capabilities;
use rove_terminal::plain;

use super::uplink::ClientTransport;
use crate::parts::joined::{JoinMode, Joined, JoinedClient};
use crate::wish::{Door, Wish};

/// The joined clients that this client has reported to its user, and the rule for who may join.
#[derive(Debug, Default)]
pub(super) struct Company {
    /// The name of the escape key. `None` without an escape key.
    escape_key: Option<String>,
    /// The list of joined clients in the last server state that [`Company::look`] compared. `None` before the first.
    seen: Option<Joined>,
    /// Whether others may join, as the user's configuration says.
    usual: Door,
    is_locked: bool,
    /// Whether a wish to lock or unlock the session is not yet acknowledged by the server.
    asks_lock: bool,
    /// Whether a wish to end the joined clients is not yet acknowledged by the server.
    asks_end: bool,
}

/// The news about other clients in a new state of the server.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    /// The arrivals and departures, each in a sentence for the user.
    pub(super) texts: Vec<String>,
    /// Whether another client has typed.
    pub(super) have_others_typed: bool,
}

impl Company {
    pub(super) fn new(escape_key: Option<String>) -> Self {
        Self { escape_key, ..Self::default() }
    }

    /// Sets whether others may join while the session is not locked, and returns the wish that tells the server.
    pub(super) const fn set_usual(&mut self, door: Door) -> Wish {
        self.usual = door;
        Wish::Door(door)
    }

    /// Compares the joined clients of a new server state with those of the last one, and returns the news.
    pub(super) fn look(&mut self, new: &Joined) -> News {
        if self.seen.as_ref() == Some(new) {
            return News::default();
        }
        // The user is not told of clients that joined and left before this client came.
        let old = self.seen.replace(new.clone());
        let old = old.unwrap_or_else(|| Joined { joins: new.joins, ..Joined::default() });
        let others = |state: &Joined| -> Vec<JoinedClient> {
            state.clients.iter().filter(|it| it.number != new.own).cloned().collect()
        };
        let (before, after) = (others(&old), others(new));
        let mut sentences = Vec::new();
        for client in after.iter().filter(|it| !before.contains(it)) {
            let purpose = if client.way == JoinMode::View { "view" } else { "type" };
            sentences.push(format!("{} joined to {purpose}", plain(&client.who)));
        }
        for client in before.iter().filter(|it| !after.contains(it)) {
            // Two clients may have the same name, so the sentence says how many clients remain in all.
            let rest = match after.len() {
                0 => String::new(),
                count => format!("; {count} still joined"),
            };
            sentences.push(format!("{} has left{rest}", plain(&client.who)));
        }
        // A client may join and leave again between two states that the server sends.
        let came = new.clients.iter().filter(|client| client.number > old.joins).count();
        let joins = new.joins.saturating_sub(old.joins);
        let unseen = joins.saturating_sub(u64::try_from(came).unwrap_or(u64::MAX));
        if unseen > 0 {
            sentences.push(format!("{unseen} more came and left"));
        }
        if self.is_viewer() && old.own == 0 {
            sentences.insert(0, "You view this session; your keys do not go there".to_owned());
        }
        let has_joined = after.len() > before.len() && new.own == 0;
        if has_joined && let (Some(key), Some(join)) = (&self.escape_key, sentences.first_mut()) {
            let _ = write!(join, "; {key} e ends that, l locks");
        }
        sentences.iter_mut().for_each(|sentence| sentence.push('.'));
        News { texts: sentences, have_others_typed: new.inputs != old.inputs }
    }

    /// Returns whether this client may see the session but not type.
    pub(super) fn is_viewer(&self) -> bool {
        let is_own = |it: &JoinedClient| it.number == self.own() && it.way == JoinMode::View;
        self.clients().iter().any(is_own)
    }

    pub(super) fn is_shared(&self) -> bool {
        !self.clients().is_empty()
    }

    fn clients(&self) -> &[JoinedClient] {
        self.seen.as_ref().map_or(&[], |seen| &seen.clients)
    }

    /// Returns this client's number among the joined clients. It is 0 for the session's own client.
    pub(super) fn own(&self) -> u64 {
        self.seen.as_ref().map_or(0, |seen| seen.own)
    }

    /// Asks that nobody may join or take over, or takes that back. Returns the wish for the server, and a message for
    /// the user. There is no wish if this client may not ask for this.
    pub(super) fn toggle_lock(
        &mut self,
        transport: &ClientTransport,
    ) -> (Option<Wish>, &'static str) {
        if let Some(refusal) = self.refusal(transport) {
            return (None, refusal);
        }
        self.is_locked = !self.is_locked;
        self.asks_lock = true;
        if self.is_locked {
            return (Some(Wish::Door(Door::Locked)), "The server is asked to lock the session.");
        }
        (Some(Wish::Door(self.usual)), "The server is asked to unlock the session.")
    }

    /// Returns the wish that ends the joined clients, and a message for the user. There is no wish if nobody has
    /// joined, or if this client may not end the others.
    pub(super) fn dismiss(&mut self, transport: &ClientTransport) -> (Option<Wish>, &'static str) {
        if let Some(refusal) = self.refusal(transport) {
            return (None, refusal);
        }
        if !self.is_shared() {
            return (None, "Nobody has joined.");
        }
        self.asks_end = true;
        (Some(Wish::Dismiss), "The server is asked to end the joined clients.")
    }

    /// Returns messages for the user about the wishes that the server has acknowledged since the last call. Call this
    /// only while no wish is unacknowledged.
    pub(super) fn handle_wishes_taken(&mut self) -> impl Iterator<Item = &'static str> + use<> {
        let locked =
            if self.is_locked { "Locked: nobody joins or takes over." } else { "Unlocked." };
        let locked = mem::take(&mut self.asks_lock).then_some(locked);
        let ended = mem::take(&mut self.asks_end).then_some("The joined clients are ended.");
        ended.into_iter().chain(locked)
    }

    fn refusal(&self, transport: &ClientTransport) -> Option<&'static str> {
        if !transport.capabilities().contains(Capabilities::JOINED) {
            Some("The server lets nobody join: it is stock Mosh or an older rove.")
        } else if self.own() != 0 {
            Some("This client has joined; only the session's own client decides that.")
        } else {
            None
        }
    }

    /// Returns the lines for the status: one for each joined client, and one about a lock or a wish to lock or unlock.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = (self.clients().iter())
            .map(|client| {
                let does = if client.way == JoinMode::View { "views" } else { "types" };
                let own = if client.number == self.own() { " (this client)" } else { "" };
                format!("{} {does}{own}", plain(&client.who))
            })
            .collect();
        let locked = match (self.is_locked, self.asks_lock) {
            (true, true) => "the server is asked to lock the session",
            (true, false) => "locked: nobody joins or takes over",
            (false, true) => "the server is asked to unlock the session",
            (false, false) => return lines,
        };
        lines.push(locked.to_owned());
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(joins: u64, own: u64, there: &[(u64, JoinMode)]) -> Joined {
        let clients = there.iter().map(|&(number, way)| {
            let who = format!("192.0.2.{number}\u{202e}").into();
            JoinedClient { number, way, who }
        });
        Joined { joins, own, clients: clients.collect(), ..Joined::default() }
    }

    #[test]
    fn each_join_and_each_leaving_is_told_even_one_that_no_state_shows() {
        let mut company = Company::new(Some("Ctrl-B".to_owned()));
        let first = (1, JoinMode::View);
        for (new, parts) in [
            (state(0, 0, &[]), &[][..]),
            (
                state(1, 0, &[first]),
                &["192.0.2.1", "joined to view", "; Ctrl-B e ends that, l locks."],
            ),
            (
                state(3, 0, &[first, (3, JoinMode::Share)]),
                &["192.0.2.3", "type", "1 more came and left"],
            ),
            (state(3, 0, &[(3, JoinMode::Share)]), &["192.0.2.1", "has left; 1 still joined."]),
            (state(3, 0, &[]), &["192.0.2.3", "has left."]),
            (state(3, 0, &[(3, JoinMode::Share)]), &["192.0.2.3"]),
            (state(4, 0, &[(3, JoinMode::Share)]), &["1 more came and left"]),
            (state(4, 0, &[(3, JoinMode::Share)]), &[]),
            // No honest server counts backwards.
            (state(1, 0, &[(3, JoinMode::Share)]), &[]),
        ] {
            let text = company.look(&new).texts.join(" ");
            assert_eq!(text.is_empty(), parts.is_empty(), "{text}");
            assert!(parts.iter().all(|part| text.contains(part)), "{text}");
            assert!(!text.contains('\u{202e}'), "{text}");
        }
        assert_eq!(company.lines().len(), 1);
        let mut company = Company::default();
        assert!(company.look(&state(2, 0, &[])).texts.is_empty(), "nobody is there");
        assert_eq!(company.look(&state(3, 0, &[])).texts, ["1 more came and left."]);
        let texts = Company::new(None).look(&state(1, 0, &[first])).texts;
        assert!(texts[0].ends_with("joined to view."), "{texts:?}");
    }

    #[test]
    fn a_client_that_has_joined_is_told_its_own_part() {
        let mut company = Company::default();
        let texts = company.look(&state(2, 2, &[(1, JoinMode::Share), (2, JoinMode::View)])).texts;
        assert!(texts[0].starts_with("You view") && texts[1].contains("192.0.2.1"), "{texts:?}");
        assert!(company.is_viewer());
        assert!(company.lines()[1].contains("this client"));
    }
}
