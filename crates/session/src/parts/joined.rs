//! The clients that have joined a session beside its own client, to view or to type, sent between two roves.

use std::sync::Arc;

use rove_ssp::{ApplyError, Capabilities};

use crate::message::{Fields, Value, number, put_bytes_field, put_varint_field, refused, string};
use crate::part::{Part, Receiver, Replica};

/// Maximum number of joined clients of a session, beside its own client. Chosen: a class before a teacher's screen.
/// Each costs the server a screen, and an attempt to decrypt each datagram of unknown origin with its key.
pub const JOINED_MAX: usize = 16;

/// Longest description of a joined client, in bytes. Chosen: an address, a process and a user have room.
pub(crate) const WHO_BYTES_MAX: usize = 128;

const INPUTS: u32 = 1;
const JOINS: u32 = 2;
const OWN: u32 = 3;
const HAS_CLIENTS: u32 = 4;
const CLIENT: u32 = 5;
const CLIENT_NUMBER: u32 = 1;
const CLIENT_TYPES: u32 = 2;
const CLIENT_WHO: u32 = 3;

/// The permission with which a client joins a session beside the session's own client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinMode {
    /// The client sees the session and cannot type.
    View,
    /// The client sees the session and types.
    Share,
}

impl JoinMode {
    const ALL: [Self; 2] = [Self::View, Self::Share];

    /// Returns the option of `rove attach` that asks for this mode.
    pub const fn option(self) -> &'static str {
        match self {
            Self::View => "--view",
            Self::Share => "--share",
        }
    }

    /// Returns the mode that an option asks for. `None` for other words.
    pub fn from_option(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.option() == word)
    }
}

/// A client that has joined a session, as the server describes it to all clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinedClient {
    /// The client's number in the order of joining, from 1.
    pub number: u64,
    /// Whether the client only views or also types.
    pub way: JoinMode,
    /// The origin of the request to join (address, process, user), as the host's system names it.
    pub who: Arc<str>,
}

/// The list of joined clients that the server sends to one client of the session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Joined {
    /// How many times keys of a client other than the receiver went to the programs.
    pub(crate) inputs: u64,
    /// How many clients have joined since the session began.
    pub(crate) joins: u64,
    /// The receiver's own number among the joined clients; 0 for the session's own client.
    pub(crate) own: u64,
    /// The clients that are joined at present.
    pub(crate) clients: Arc<[JoinedClient]>,
}

impl Part for Joined {
    const MEMBER: u32 = 22;
    const EXTENSION: Capabilities = Capabilities::JOINED;

    fn diff_from(&self, base: &Self, _: &Receiver<'_>) -> Vec<Vec<u8>> {
        if self == base {
            return Vec::new();
        }
        let mut body = Vec::with_capacity(16);
        for (field, value) in [(INPUTS, self.inputs), (JOINS, self.joins), (OWN, self.own)] {
            put_varint_field(&mut body, field, value);
        }
        if self.clients != base.clients {
            put_varint_field(&mut body, HAS_CLIENTS, 1);
            for client in &*self.clients {
                let mut one = Vec::with_capacity(client.who.len() + 16);
                put_varint_field(&mut one, CLIENT_NUMBER, client.number);
                put_varint_field(&mut one, CLIENT_TYPES, (client.way == JoinMode::Share).into());
                put_bytes_field(&mut one, CLIENT_WHO, client.who.as_bytes());
                put_bytes_field(&mut body, CLIENT, &one);
            }
        }
        vec![body]
    }

    fn apply(&mut self, body: &[u8], _: &mut Replica<'_>) -> Result<(), ApplyError> {
        let (inputs, joins) = (number(body, INPUTS)?, number(body, JOINS)?);
        if inputs < self.inputs || joins < self.joins {
            return Err(refused("joined clients that go back"));
        }
        (self.inputs, self.joins, self.own) = (inputs, joins, number(body, OWN)?);
        if number(body, HAS_CLIENTS)? == 0 {
            return Ok(());
        }
        let mut clients = Vec::new();
        for field in Fields::of(body) {
            let (CLIENT, Value::Bytes(one)) = field? else { continue };
            let who = String::from_utf8_lossy(string(one, CLIENT_WHO)?);
            if clients.len() == JOINED_MAX || who.len() > WHO_BYTES_MAX {
                return Err(refused("more joined clients than there can be"));
            }
            let way =
                if number(one, CLIENT_TYPES)? == 0 { JoinMode::View } else { JoinMode::Share };
            let number = number(one, CLIENT_NUMBER)?;
            clients.push(JoinedClient { number, way, who: who.into() });
        }
        self.clients = clients.into();
        Ok(())
    }

    fn same_as(&self, other: &Self) -> bool {
        self == other
    }

    fn bytes_beyond(&self, neighbour: Option<&Self>) -> usize {
        if neighbour.is_some_and(|other| Arc::ptr_eq(&self.clients, &other.clients)) {
            return 0;
        }
        self.clients.iter().map(|client| size_of::<JoinedClient>() + client.who.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::tests::{applied, diff};

    fn joined(count: usize, who: &str) -> Joined {
        let client = |number: u64| {
            let way = if number.is_multiple_of(2) { JoinMode::View } else { JoinMode::Share };
            JoinedClient { number, way, who: who.into() }
        };
        let joins = u64::try_from(count).unwrap();
        Joined { inputs: 7, joins, own: 1, clients: (1..=joins).map(client).collect() }
    }

    #[test]
    fn joined_clients_come_back_and_a_list_that_is_known_is_not_sent_again() {
        let (none, all) = (Joined::default(), joined(JOINED_MAX, &"x".repeat(WHO_BYTES_MAX)));
        for (old, new) in [(&none, &all), (&all, &joined(20, "x")), (&all, &joined(16, ""))] {
            let known = applied(old.clone(), &diff(old, new));
            assert_eq!(known.ok(), (new.clients.len() <= JOINED_MAX).then(|| new.clone()));
        }
        let typed = Joined { inputs: 8, ..all.clone() };
        assert!(diff(&all, &typed).len() < 16);
        assert_eq!(applied(all.clone(), &diff(&all, &typed)), Ok(typed.clone()));
        assert!(applied(typed, &diff(&none, &all)).is_err(), "keys do not go back");
        let long = joined(1, &"x".repeat(WHO_BYTES_MAX + 1));
        assert!(applied(none.clone(), &diff(&none, &long)).is_err());
    }
}
