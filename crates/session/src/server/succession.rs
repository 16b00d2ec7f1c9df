//! The change of a session's client: another client with a new key takes the session over from the former one.
//!
//! The new client's publisher waits beside that of the session's client. The new client's first authentic datagram
//! proves that it holds the new key. Only then does the client take the session over. So a login that fails half way
//! takes nothing from the present client. The former client's publisher then shuts down in order. Each client has its
//! own transport and key, so that no number is used twice with one key.

use core::mem;
use core::net::{IpAddr, SocketAddr};
use core::ops::Range;
use std::collections::VecDeque;

use rove_ssp::{Capabilities, Config, Ecn, Key, Role, Transmit, Transport};
use rove_terminal::{ExitStatus, Outside, Size};
use rove_units::{Duration, Instant, Stream, push_newest};

use super::publisher::{Publisher, ServerTransport};
use crate::former::{ClientId, Former};
use crate::host_screen::HostScreen;
use crate::parts::joined::JoinMode;
use crate::user_stream::UserStream;

/// How long an invitation to take over is valid. Source: Mosh 1.4.0 as observed waits this long for a client.
const INVITATION_MAX: Duration = Duration::from_secs(60);

/// How long the server tells the former client that its session has ended. Then it wipes that client's key. Chosen: as
/// long as a server repeats the end of its own session.
const FAREWELL_MAX: Duration = Duration::from_secs(10);

/// Longest instruction of a joined client after decompression, in bytes. A longer one would delay the other clients.
/// Chosen: twice the longest diff of a rove client. A stock client cannot join.
const JOINED_INSTRUCTION_MAX: usize = 64 * 1024;

/// Maximum number of clients of a session that the server remembers. Chosen: more logins than a session has in a year.
const OWN_CLIENTS_MAX: usize = 1024;

/// Maximum number of remembered clients that never came when invited. Chosen: few users have more logins fail in a row.
const NEVER_CAME_MAX: usize = 8;

/// A client that is invited to take the session over.
pub(super) struct Newcomer {
    publisher: Publisher,
    /// The address from which the user asked to take over. The former client shows it. `None` if it is unknown.
    from: Option<IpAddr>,
    until: Instant,
    /// The name of the client, or of the earlier client whose keys it continues.
    client: ClientId,
    /// How many keys of the present client the server had taken when it invited this one.
    taken: u64,
    /// Whether the server takes no input of the present client while this invitation lasts. If so, the count of that
    /// client's keys stays `taken`.
    holds: bool,
}

/// The change of a session's client: the invited client and the former one, at most one of each.
pub(super) struct Succession {
    /// The configuration of each client's transport.
    config: Config,
    ipv6: bool,
    awaits_echo: bool,
    /// How many times another client has taken the session over.
    pub(super) takeovers: u32,
    /// The name of the client that has the session at present.
    client: ClientId,
    /// The clients that have been given a key, oldest first. `rove resume` continues only from the records of these.
    pub(super) own: VecDeque<ClientId>,
    invited: Option<Newcomer>,
    /// The clients that were invited since the present client came, and never came themselves. Each has the number of
    /// the present client's keys that the server had taken at the invitation. While that number stays the same, the
    /// server has taken none of the invited client's keys. A later client may continue with them.
    never_came: VecDeque<(ClientId, u64)>,
    /// Until when the present client's input waits, or has waited, for an invited client. `None` if it never waited.
    held_until: Option<Instant>,
    leaving: Option<(Publisher, Instant)>,
}

impl Succession {
    /// Creates the succession of a session with its first client `client`. Each client's transport gets `config`.
    pub(super) fn new(config: Config, ipv6: bool, awaits_echo: bool, client: ClientId) -> Self {
        Self {
            config,
            ipv6,
            awaits_echo,
            takeovers: 0,
            client,
            own: VecDeque::new(),
            invited: None,
            never_came: VecDeque::new(),
            held_until: None,
            leaving: None,
        }
    }

    /// Records a client's new `key` in `own`, and returns the client's publisher. `joins` is the mode in which the
    /// client joins the session beside the session's own client. With `None` the client becomes the session's own.
    pub(super) fn publisher(
        &mut self,
        now: Instant,
        key: &Key,
        chaff: Stream,
        size: Size,
        joins: Option<JoinMode>,
    ) -> Publisher {
        push_newest(&mut self.own, ClientId::of(key), OWN_CLIENTS_MAX);
        let role = Role::Server { ipv6: self.ipv6 };
        let views = joins == Some(JoinMode::View);
        let input = if views { UserStream::of_viewer() } else { UserStream::new() };
        let mut config = self.config.clone();
        let is_strict = config.capabilities.is_none();
        if joins.is_some() {
            // Only the session's own client gets streams and scrolled-off lines. The terminal gives each line out once.
            let owners = Capabilities::SCROLLBACK.union(Capabilities::STREAMS);
            config.capabilities = config.capabilities.map(|all| all.difference(owners));
            config.instruction_len_max = Some(JOINED_INSTRUCTION_MAX);
        }
        let screen = HostScreen::initial(size);
        let transport = Transport::new(role, key, config, screen, input, chaff, now);
        Publisher::new(transport, is_strict, self.awaits_echo, !views)
    }

    /// Invites a client to take the session over, in place of an earlier invitation. A client that resumes names its
    /// `former` client. It continues that client's keys if the record has all that the server lacks. Returns how many
    /// keys of the former client the server has taken; `None` if unknown. For the present client this is `taken`.
    ///
    /// If the present client may be alive (`is_alive`), later invitations do not extend the wait of its input.
    pub(super) fn invite(
        &mut self,
        now: Instant,
        (publisher, client): (Publisher, ClientId),
        from: Option<IpAddr>,
        (former, taken, is_alive): (Option<Former>, u64, bool),
    ) -> Option<u64> {
        self.withdraw();
        let held_until = self.held_until.filter(|_| is_alive);
        let former = former.filter(|_| held_until.is_none_or(|until| now < until));
        let known = former.and_then(|former| match former.client {
            client if client == self.client => Some((former, taken)),
            client => self.never_came.contains(&(client, taken)).then_some((former, 0)),
        });
        let goes_on = known.filter(|(former, taken)| former.whole_from <= *taken);
        let client = goes_on.map_or(client, |(former, _)| former.client);
        let holds = known.is_some();
        let until = held_until.filter(|_| holds).unwrap_or(now + INVITATION_MAX);
        if holds {
            self.held_until = Some(until);
        }
        self.invited = Some(Newcomer { publisher, from, until, client, taken, holds });
        known.map(|(_, taken)| taken)
    }

    /// Returns whether the server takes no input of the present client now, because an invitation holds it back.
    pub(super) fn holds_input(&self) -> bool {
        self.invited.as_ref().is_some_and(|invited| invited.holds)
    }

    /// Ends an unused invitation, and remembers its client among those that never came.
    pub(super) fn withdraw(&mut self) {
        if let Some(Newcomer { client, taken, .. }) = self.invited.take()
            && client != self.client
        {
            push_newest(&mut self.never_came, (client, taken), NEVER_CAME_MAX);
        }
    }

    /// Returns the memory ranges of the invited client's keys ([`Transport::key_memory`]), if a client is invited.
    pub(super) fn key_memory(&self) -> Option<Vec<Range<*const u8>>> {
        self.invited.as_ref().map(|invited| invited.publisher.transport.key_memory())
    }

    /// Handles a datagram that is not from the session's client. Returns the invited client if it is the sender.
    pub(super) fn handle_datagram(
        &mut self,
        now: Instant,
        source: SocketAddr,
        ecn: Ecn,
        payload: &[u8],
    ) -> Option<Newcomer> {
        if let Some((leaving, _)) = &mut self.leaving {
            // The former client may acknowledge that its session has ended.
            let _ = leaving.transport.handle_datagram(now, source, ecn, payload);
        }
        let invited = &mut self.invited.as_mut()?.publisher.transport;
        invited.handle_datagram(now, source, ecn, payload).ok()?;
        self.invited.take()
    }

    /// Replaces the session's client `current` by the invited client, and tells the former one that its session has
    /// ended. Returns whether the new client continues with the former one's keys.
    pub(super) fn replace(
        &mut self,
        now: Instant,
        current: &mut Publisher,
        newcomer: Newcomer,
    ) -> bool {
        let mut former = mem::replace(current, newcomer.publisher);
        former.leave(now, ExitStatus::Outside(Outside::TakenOver(newcomer.from)));
        self.takeovers += 1;
        (self.never_came, self.held_until) = (VecDeque::new(), None);
        self.leaving = Some((former, now + FAREWELL_MAX));
        mem::replace(&mut self.client, newcomer.client) == newcomer.client
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        if self.invited.as_ref().is_some_and(|it| it.until <= now) {
            self.withdraw();
        }
        if let Some((leaving, _)) = &mut self.leaving {
            leaving.transport.handle_timeout(now);
        }
        self.leaving
            .take_if(|(leaving, until)| *until <= now || leaving.transport.closed().is_some());
    }

    /// Returns the next datagram for the former client. `None` if nothing is to be sent now.
    pub(super) fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        self.leaving_mut().and_then(|transport| transport.poll_transmit(now))
    }

    /// Returns the transport of the former client while it is told to end. `None` at other times.
    pub(super) fn leaving_mut(&mut self) -> Option<&mut ServerTransport> {
        self.leaving.as_mut().map(|(leaving, _)| &mut leaving.transport)
    }

    /// Returns when to call [`Self::handle_timeout`]. `None` without an invited or former client.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let invited = self.invited.as_ref().map(|invited| invited.until);
        let leaving = self.leaving.as_ref().map(|(leaving, until)| {
            leaving.transport.poll_timeout().map_or(*until, |due| due.min(*until))
        });
        invited.into_iter().chain(leaving).min()
    }
}

#[cfg(test)]
mod tests {
    use rove_units::Seed;

    use super::*;

    fn key(number: u128) -> Key {
        Key::from_bytes(number.to_be_bytes())
    }

    fn succession() -> Succession {
        Succession::new(Config::server(), false, true, ClientId::of(&key(9_999)))
    }

    fn newcomer(succession: &mut Succession, number: u128) -> (Publisher, ClientId) {
        let (key, chaff) = (key(number), Seed::new(1).stream("chaff"));
        let publisher = succession.publisher(Instant::ZERO, &key, chaff, Size::DEFAULT, None);
        (publisher, ClientId::of(&key))
    }

    #[test]
    fn the_newest_clients_are_known_and_no_other_sessions() {
        let client = |number| ClientId::of(&key(number));
        let mut succession = succession();
        (0..1024).for_each(|number| drop(newcomer(&mut succession, number)));
        assert!(succession.own.contains(&client(0)) && !succession.own.contains(&client(1024)));
        newcomer(&mut succession, 1024);
        assert!(!succession.own.contains(&client(0)));
        assert!(succession.own.contains(&client(1)) && succession.own.contains(&client(1024)));
    }

    #[test]
    fn the_newest_that_never_came_are_known_for_as_long_as_nothing_was_taken() {
        let now = Instant::ZERO;
        let known = |number, taken| {
            let mut succession = succession();
            for number in 0..9 {
                let newcomer = newcomer(&mut succession, number);
                succession.invite(now, newcomer, None, (None, 5, false));
            }
            let newcomer = newcomer(&mut succession, 100);
            let former = Former { client: ClientId::of(&key(number)), whole_from: 0 };
            succession.invite(now, newcomer, None, (Some(former), taken, false)).is_some()
        };
        assert!(!known(0, 5) && known(1, 5) && known(8, 5));
        assert!(!known(8, 6) && !known(9, 5));
    }
}
