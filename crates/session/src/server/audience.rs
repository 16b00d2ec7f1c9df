//! The clients that have joined a session beside its own client.
//!
//! Each joined client has its own key, transport, frames and bounds. Clients share no numbers and no state, so a slow
//! or unreachable client delays nobody. The user stream of a client that may only view stores no keys
//! ([`UserStream::of_viewer`](crate::UserStream)). Others may join only if the session's own client shows who joins.

use core::mem;
use core::net::SocketAddr;
use core::ops::Range;
use std::sync::Arc;

use rove_ssp::{Ecn, Peer, ReceiveError, Transmit};
use rove_terminal::{Dismissal, ExitStatus, Outside, Size, Terminal, UserTerminal};
use rove_units::{Duration, Instant};

use super::input::{Input, News};
use super::lead::Lead;
use super::publisher::{Publisher, ServerTransport};
use super::{TIMER_LATE_MAX, Uninvited};
use crate::parts::joined::{JOINED_MAX, JoinMode, Joined, JoinedClient};
use crate::wish::{Door, Wish};

/// How long an invitation to join is valid. Source: Mosh 1.4.0 as observed waits this long for a client.
const INVITATION_MAX: Duration = Duration::from_secs(60);

/// How long the server repeats to a joined client that it must end. Chosen: several tries on a slow path. The server
/// also waits this long at the end of the session.
const FAREWELL_MAX: Duration = Duration::from_secs(2);

/// How long a joined client may be silent, beyond a pause that the server permits, until it is dropped. Chosen: a
/// change of networks is over by then, and to join again is one command.
const SILENCE_MAX: Duration = Duration::from_secs(120);

/// How long a joined client may be silent, beyond a pause that the server permits, until the session's size ignores its
/// window. The window counts again with the next datagram. Chosen: three heartbeats of 3 s, two of which may be lost,
/// and the time of a slow path.
const AWAY_AFTER: Duration = Duration::from_secs(10);
const _: () = assert!(AWAY_AFTER.as_millis() < SILENCE_MAX.as_millis());

/// The invited and the joined clients of a session, [`JOINED_MAX`] at most.
#[derive(Default)]
pub(super) struct Audience {
    members: Vec<Member>,
    /// How many clients have joined since the session began.
    joins: u64,
    /// Whether a client has joined or left since the last [`Audience::settle`].
    has_changed: bool,
    /// Whether other clients may join or take over, as the session's own client wishes.
    door: Door,
    lead: Lead,
}

/// A client beside the session's own: invited, joined or leaving.
pub(super) struct Member {
    pub(super) publisher: Publisher,
    input: Input,
    way: JoinMode,
    who: Arc<str>,
    phase: Phase,
    /// When the server's computer last woke from a sleep, in which it could not hear the client.
    awake_since: Instant,
    /// Whether the client has been silent for so long that the session's size ignores its window.
    is_away: bool,
}

/// The phase of a client: invited, joined or leaving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The client has a key that is valid until this time, and has not joined.
    Invited(Instant),
    /// The client has joined; this is its number in the order of joining, from 1.
    Joined(u64),
    /// The client must end. The server repeats this to the client until this time, and then forgets the client.
    Leaving(Instant),
}

impl Audience {
    /// Invites a client that may join, with the publisher that `create` returns for it. Beyond [`JOINED_MAX`], the
    /// oldest unused invitation ends. Returns the memory ranges of the client's keys.
    ///
    /// # Errors
    ///
    /// Returns the reason why the client may not join.
    pub(super) fn invite(
        &mut self,
        now: Instant,
        own: &Publisher,
        create: impl FnOnce() -> Publisher,
        (way, who): (JoinMode, &str),
    ) -> Result<Vec<Range<*const u8>>, Uninvited> {
        match self.door {
            Door::Open if own.tells_joined() => {}
            Door::Open | Door::Unknown => return Err(Uninvited::Unseen),
            Door::Closed | Door::Locked => return Err(Uninvited::Closed),
        }
        let is_invited = |member: &Member| matches!(member.phase, Phase::Invited(_));
        if self.members.len() == JOINED_MAX {
            let oldest = self.members.iter().position(is_invited).ok_or(Uninvited::Full)?;
            self.members.remove(oldest);
        }
        let publisher = create();
        let memory = publisher.transport.key_memory();
        let phase = Phase::Invited(now + INVITATION_MAX);
        self.members.push(Member {
            publisher,
            input: Input::default(),
            way,
            who: who.into(),
            phase,
            awake_since: now,
            is_away: false,
        });
        debug_assert!(self.members.len() <= JOINED_MAX, "nobody joins beyond the bound");
        Ok(memory)
    }

    /// Returns whether others may join or take the session over, as the session's own client has decided.
    pub(super) const fn door(&self) -> Door {
        self.door
    }

    /// Carries out a wish of the session's own client about the other clients or the session's size.
    pub(super) fn obey(&mut self, now: Instant, wish: Wish, terminal: &mut Terminal) {
        match wish {
            Wish::Door(door) => {
                self.door = door;
                if door != Door::Open {
                    self.withdraw();
                }
            }
            Wish::Size(rule) => self.lead.rule = rule,
            Wish::Dismiss => self.dismiss(now, Some(dismissed(Dismissal::Wanted)), terminal),
        }
    }

    /// Forgets the wishes and the window of the session's own client, because another client replaces it.
    pub(super) fn forget_own(&mut self) {
        (self.door, self.lead) = (Door::default(), Lead::default());
    }

    /// Handles input of the session's own client. If it has keys, the joined clients learn that another client has
    /// typed. Returns the own client's newest window size, if it is known.
    pub(super) fn handle_own(&mut self, window: Option<Size>, has_keys: bool) -> Option<Size> {
        self.lead.owner = window.or(self.lead.owner);
        if has_keys {
            self.lead.note_keys(0);
            self.members_mut().for_each(|it| it.publisher.handle_others_keys());
        }
        self.lead.owner
    }

    /// Appends the keys of joined clients to `out`. Returns whether there were keys. After keys of one client, the
    /// other clients learn that another client has typed.
    pub(super) fn deliver(
        &mut self,
        now: Instant,
        terminal: &mut Terminal,
        out: &mut Vec<u8>,
    ) -> bool {
        let application = terminal.screen().rich_modes().application_cursor_keys;
        let mut typists = Vec::new();
        for member in self.members_mut() {
            if let Some(news) = member.deliver(now, application, out) {
                if news.has_keys {
                    member.publisher.handle_input(now);
                    typists.push(member.number());
                }
                member.publisher.publish_when_drawn(now, terminal);
            }
        }
        typists.iter().for_each(|typist| self.lead.note_keys(*typist));
        for member in self.members_mut() {
            if typists.iter().any(|typist| *typist != member.number()) {
                member.publisher.handle_others_keys();
            }
        }
        !typists.is_empty()
    }

    /// Changes the session's size as its size rule says, and returns the new size; `None` if it stays. A change of the
    /// own client's window (`is_own`) counts at once. The terminal of the client that sets the size (the leader)
    /// decides how many columns a grapheme cluster has. Everything else follows `own_terminal`, the terminal of the
    /// session's own client.
    pub(super) fn settle_size(
        &mut self,
        now: Instant,
        is_own: bool,
        own_terminal: UserTerminal,
        terminal: &mut Terminal,
    ) -> Option<Size> {
        self.members.iter_mut().for_each(|member| member.note_silence(now));
        let windows: Vec<_> = self.windows().collect();
        let size = self.lead.settle(now, is_own, terminal.screen().size(), &windows);
        let leader = self.lead.leader();
        let leading = self.members_mut().find(|member| member.number() == leader);
        let user_terminal = leading.map_or(own_terminal, |it| {
            let UserTerminal { cluster_widths, newer_wide, .. } = it.input.user_terminal;
            UserTerminal { cluster_widths, newer_wide, ..own_terminal }
        });
        terminal.set_user_terminal(user_terminal);
        size.inspect(|size| terminal.resize(*size))
    }

    /// Sends the list of joined clients to all clients, and returns it.
    pub(super) fn tell(&mut self, own: &mut Publisher) -> Vec<JoinedClient> {
        let client = |member: &Member| match member.phase {
            Phase::Joined(number) => {
                Some(JoinedClient { number, way: member.way, who: member.who.clone() })
            }
            Phase::Invited(_) | Phase::Leaving(_) => None,
        };
        let clients = self.members.iter().filter_map(client).collect();
        let joined = Joined { joins: self.joins, clients, ..Joined::default() };
        for member in self.members_mut() {
            let own = member.number();
            member.publisher.handle_joined(Joined { own, ..joined.clone() });
        }
        own.handle_joined(joined.clone());
        joined.clients.to_vec()
    }

    fn withdraw(&mut self) {
        self.members.retain(|member| !matches!(member.phase, Phase::Invited(_)));
    }

    /// Handles a datagram that is not from the session's own client. Returns the result if an invited or joined client
    /// sent it, or else `None`. An invited client joins with its first state, if its program shows joined clients to
    /// the user.
    pub(super) fn handle_datagram(
        &mut self,
        now: Instant,
        source: SocketAddr,
        ecn: Ecn,
        payload: &[u8],
        terminal: &Terminal,
    ) -> Option<Result<(), ReceiveError>> {
        let (member, result) = self.members.iter_mut().find_map(|member| {
            let result = member.publisher.transport.handle_datagram(now, source, ecn, payload);
            let is_from_peer = result.as_ref().err().is_none_or(ReceiveError::is_from_peer);
            is_from_peer.then_some((member, result))
        })?;
        if matches!(member.phase, Phase::Invited(_)) && member.publisher.tells_joined() {
            (self.joins, self.has_changed) = (self.joins + 1, true);
            member.phase = Phase::Joined(self.joins);
            member.publisher.come(terminal);
        }
        Some(result)
    }

    /// Returns the joined clients, without those that are invited or leaving.
    pub(super) fn members_mut(&mut self) -> impl Iterator<Item = &mut Member> {
        self.members.iter_mut().filter(|member| matches!(member.phase, Phase::Joined(_)))
    }

    /// Returns the transports of all clients, whether invited, joined or leaving.
    pub(super) fn transports_mut(&mut self) -> impl Iterator<Item = &mut ServerTransport> {
        self.members.iter_mut().map(|member| &mut member.publisher.transport)
    }

    /// Returns the numbers and window sizes of the joined clients that may type. Viewing clients affect no size, and
    /// neither do silent ones.
    fn windows(&self) -> impl Iterator<Item = (u64, Size)> {
        let counts = |member: &&Member| member.way == JoinMode::Share && !member.is_away;
        self.members.iter().filter(counts).filter_map(|member| {
            let Phase::Joined(number) = member.phase else { return None };
            Some((number, member.publisher.window?))
        })
    }

    /// Tells all joined clients that they must end, for the reason `status`, and ends all invitations.
    pub(super) fn dismiss(
        &mut self,
        now: Instant,
        status: Option<ExitStatus>,
        terminal: &mut Terminal,
    ) {
        self.withdraw();
        for member in &mut self.members {
            if matches!(member.phase, Phase::Joined(_)) {
                self.has_changed = true;
                member.publisher.finish(now, status, terminal);
                member.phase = Phase::Leaving(now + FAREWELL_MAX);
            }
        }
    }

    /// Handles all timers that have expired. Withheld key bytes are appended to `out`.
    pub(super) fn handle_timeout(
        &mut self,
        now: Instant,
        terminal: &mut Terminal,
        out: &mut Vec<u8>,
    ) {
        for member in &mut self.members {
            member.publisher.transport.handle_timeout(now);
            member.input.keys.handle_timeout(now, out);
            if matches!(member.phase, Phase::Joined(_)) {
                member.publisher.handle_timeout(now, terminal);
            }
        }
    }

    /// Ends joined clients that have left or were silent for too long. Ends all if the session's own client has ended
    /// or cannot show them. Returns whether a client has joined or left since the last call.
    pub(super) fn settle(
        &mut self,
        now: Instant,
        own: &Publisher,
        terminal: &mut Terminal,
    ) -> bool {
        if own.transport.closed().is_some() {
            self.dismiss(now, None, terminal);
        } else if own.transport.peer() != Peer::Unknown && !own.tells_joined() {
            self.dismiss(now, Some(dismissed(Dismissal::Unseen)), terminal);
        }
        for member in &mut self.members {
            // These events are dropped: only the session's own client has an entry among the logged-in users.
            while member.publisher.transport.poll_event().is_some() {}
            if matches!(member.phase, Phase::Joined(_))
                && let Some(until) = member.leaves_until(now)
            {
                self.has_changed = true;
                member.publisher.finish(now, Some(dismissed(Dismissal::Silence)), terminal);
                member.phase = Phase::Leaving(until);
            }
        }
        self.members.retain(|member| !member.is_over(now));
        mem::take(&mut self.has_changed)
    }

    /// Returns the next datagram for a joined or leaving client. `None` if nothing is to be sent now.
    pub(super) fn poll_transmit(
        &mut self,
        now: Instant,
        terminal: &mut Terminal,
    ) -> Option<Transmit> {
        let is_invited = |member: &&mut Member| matches!(member.phase, Phase::Invited(_));
        self.members.iter_mut().filter(|member| !is_invited(member)).find_map(|member| {
            let transmit = member.publisher.transport.poll_transmit(now)?;
            member.publisher.prepare(now, terminal);
            Some(transmit)
        })
    }

    /// Returns when to call [`Audience::handle_timeout`]. `None` if no timer is set.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.members.iter().filter_map(Member::poll_timeout).chain(self.lead.poll_timeout()).min()
    }

    /// Returns whether no joined or leaving client remains to be told of the session's end.
    pub(super) fn is_over(&self) -> bool {
        self.members.iter().all(|member| matches!(member.phase, Phase::Invited(_)))
    }

    /// Tells the clients to send no new input, because the pty takes no more (`held`), or to send again.
    pub(super) fn hold(&mut self, held: bool) {
        self.transports_mut().for_each(|transport| transport.hold_remote(held));
    }

    /// Returns how many datagrams the clients have sent, by the highest number received from each.
    pub(super) fn datagrams(&self) -> u64 {
        self.members.iter().map(|member| member.publisher.transport.peer_datagrams()).sum()
    }
}

impl Member {
    /// Appends the client's new keys to `out` if the client may type. Returns the rest of its input: only a new window
    /// size for a client that may only view. Returns `None` if nothing is new.
    fn deliver(
        &mut self,
        now: Instant,
        application_cursor_keys: bool,
        out: &mut Vec<u8>,
    ) -> Option<News> {
        let Publisher { transport, window, .. } = &mut self.publisher;
        let news = match self.way {
            JoinMode::Share => self.input.deliver(now, transport, application_cursor_keys, out)?,
            JoinMode::View if transport.remote().viewer_window() == *window => return None,
            JoinMode::View => News { size: transport.remote().viewer_window(), ..News::default() },
        };
        *window = news.size.or(*window);
        Some(news)
    }

    /// Returns the client's number in the order of joining. It is 0 for a client that has not joined or is leaving.
    const fn number(&self) -> u64 {
        match self.phase {
            Phase::Joined(number) => number,
            Phase::Invited(_) | Phase::Leaving(_) => 0,
        }
    }

    /// Returns until when the server keeps a client that has left or was silent too long. `None` if the client stays.
    fn leaves_until(&self, now: Instant) -> Option<Instant> {
        let transport = &self.publisher.transport;
        if transport.closed().is_some() {
            return Some(transport.lingers_until().unwrap_or(now));
        }
        (self.missed_since()? + SILENCE_MAX <= now).then(|| now + FAREWELL_MAX)
    }

    /// Records whether the client has been silent for so long that the session's size ignores its window. If this call
    /// comes late, the computer has slept, and the silence counts from `now`.
    fn note_silence(&mut self, now: Instant) {
        if self.silent_until().is_some_and(|until| until + TIMER_LATE_MAX <= now) {
            self.awake_since = now;
        }
        self.is_away = self.missed_since().is_some_and(|at| at + AWAY_AFTER <= now);
    }

    /// Returns when the silent client next counts as away or is dropped. `None` before its first message.
    fn silent_until(&self) -> Option<Instant> {
        Some(self.missed_since()? + if self.is_away { SILENCE_MAX } else { AWAY_AFTER })
    }

    /// Returns since when the client's silence is unexpected. `None` before its first message.
    fn missed_since(&self) -> Option<Instant> {
        let transport = &self.publisher.transport;
        let heard_at = transport.remote_arrived_at()?.max(self.awake_since);
        Some(heard_at.max(transport.remote_excused_until().unwrap_or(heard_at)))
    }

    fn is_over(&self, now: Instant) -> bool {
        let transport = &self.publisher.transport;
        match self.phase {
            Phase::Invited(until) => until <= now,
            Phase::Joined(_) => false,
            Phase::Leaving(until) => {
                let lingers_until = transport.lingers_until();
                lingers_until.map_or(until <= now || transport.closed().is_some(), |it| it <= now)
            }
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let transport = &self.publisher.transport;
        match self.phase {
            Phase::Invited(until) => Some(until),
            Phase::Leaving(until) => {
                let until = transport.lingers_until().unwrap_or(until);
                Some(transport.poll_timeout().map_or(until, |due| due.min(until)))
            }
            Phase::Joined(_) => {
                [transport.poll_timeout(), self.input.keys.poll_timeout(), self.silent_until()]
                    .into_iter()
                    .chain(self.publisher.poll_timeout())
                    .flatten()
                    .min()
            }
        }
    }
}

const fn dismissed(reason: Dismissal) -> ExitStatus {
    ExitStatus::Outside(Outside::Dismissed(Some(reason)))
}
