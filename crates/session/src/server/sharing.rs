//! Clients beside the session's own: who may join, the delivery of their keys, and the news of them for all clients.

use core::ops::Range;

use rove_ssp::{Key, Peer};
use rove_terminal::{ExitStatus, Outside};
use rove_units::{Instant, Stream};

use super::publisher::Publisher;
use super::{Server, ServerEvent, Uninvited};
use crate::parts::joined::{JoinMode, Joined};
use crate::wish::{Door, Wish};

impl Server {
    /// Invites another client to join beside the present one with `key`, which must be new. `who` describes it to all
    /// clients. Returns the memory range of its keys; see [`Server::key_memory`].
    ///
    /// # Errors
    ///
    /// Returns the reason why the client may not join.
    pub fn invite_to_join(
        &mut self,
        now: Instant,
        key: &Key,
        chaff: Stream,
        (way, who): (JoinMode, &str),
    ) -> Result<Range<*const u8>, Uninvited> {
        match self.door {
            Door::Open if self.publisher.tells_joined() => {}
            Door::Open | Door::Unknown => return Err(Uninvited::Unseen),
            Door::Closed | Door::Locked => return Err(Uninvited::Closed),
        }
        let size = self.terminal.screen().size();
        let publisher = self.succession.publisher(now, key, chaff, size, Some(way));
        self.audience.invite(now, publisher, way, who).ok_or(Uninvited::Full)
    }

    /// Delivers the keys of joined clients. Their keys void what was known of the own client's prompt.
    pub(super) fn deliver_joined(&mut self, now: Instant) {
        let application = self.terminal.screen().application_cursor_keys();
        let mut typists = Vec::new();
        for member in self.audience.members_mut() {
            if let Some(news) = member.deliver(now, application, &mut self.host_input.bytes) {
                if news.has_keys {
                    self.lead.note_keys(member.number());
                    member.publisher.handle_input(now);
                    typists.push(member.number());
                }
                member.publisher.publish_when_drawn(now, &mut self.terminal);
            }
        }
        self.settle_size(now, false);
        if typists.is_empty() {
            return;
        }
        self.key_arrived_at = Some(now);
        self.input.others_typed_at = Some(self.input.num);
        self.publisher.handle_others_keys();
        for member in self.audience.members_mut() {
            if typists.iter().any(|typist| *typist != member.number()) {
                member.publisher.handle_others_keys();
            }
        }
        self.after_delivery(now);
    }

    /// Applies a wish of the session's own client.
    pub(super) fn obey(&mut self, now: Instant, wish: Wish) {
        match wish {
            Wish::Door(door) => {
                self.door = door;
                if door != Door::Open {
                    self.audience.withdraw();
                }
                if door == Door::Locked {
                    self.succession.withdraw();
                }
            }
            Wish::Size(rule) => self.lead.rule = rule,
            Wish::Dismiss => {
                let status = ExitStatus::Outside(Outside::Dismissed);
                self.audience.dismiss(now, Some(status), &mut self.terminal);
            }
        }
    }

    /// Changes the session's size as its rule says. A change of the own client's window (`is_own`) counts at once.
    pub(super) fn settle_size(&mut self, now: Instant, is_own: bool) {
        let Some(size) = self.lead.size(self.audience.windows()) else { return };
        if is_own || size != self.terminal.screen().size() && self.lead.may_change(now) {
            self.terminal.resize(size);
            self.note(ServerEvent::Resize(size));
        }
    }

    /// Ends all joined clients once the session's own client does not show them, and tells all clients of each change.
    pub(super) fn settle_audience(&mut self, now: Instant) {
        self.lead.handle_timeout(now);
        self.settle_size(now, false);
        let Publisher { transport, .. } = &self.publisher;
        if transport.closed().is_some() {
            self.audience.dismiss(now, None, &mut self.terminal);
        } else if transport.peer() != Peer::Unknown && !self.publisher.tells_joined() {
            let status = ExitStatus::Outside(Outside::Dismissed);
            self.audience.dismiss(now, Some(status), &mut self.terminal);
        }
        if self.audience.settle(now, &mut self.terminal) {
            self.settle_size(now, false);
            self.tell_joined();
            self.each(|publisher, terminal| publisher.publish_when_drawn(now, terminal));
        }
    }

    pub(super) fn tell_joined(&mut self) {
        let (clients, joins) = self.audience.clients();
        let joined = Joined { joins, clients, ..Joined::default() };
        for member in self.audience.members_mut() {
            let own = member.number();
            member.publisher.handle_joined(Joined { own, ..joined.clone() });
        }
        self.note(ServerEvent::Joined(joined.clients.to_vec()));
        self.publisher.handle_joined(joined);
    }
}
