//! Checks the requests that a host makes of the user's ssh agent. The host may list the keys and ask for a signature.
//!
//! On a connection that ssh has bound to the host, `query` and `session-bind` pass too. An ssh on the host sends
//! `session-bind` for its next hop. The agent then applies the host restrictions of its keys (`ssh-add -h`). The filter
//! itself refuses every other request. Such requests add or delete keys, lock the agent or load a library. The filter
//! does no I/O. Source: draft-ietf-sshm-ssh-agent; OpenSSH 9.2, PROTOCOL.agent.

use std::fmt::{self, Display};

/// Most bytes of a message to or from an ssh agent, without the 4 bytes of its length. With more, the connection ends.
/// Source: OpenSSH 9.2 as observed, whose agent hangs up at more.
const MESSAGE_MAX: usize = 262_144;

/// Most keys of an ssh agent whose names are stored. Chosen: more than an ssh server lets a login try.
const NAMES_MAX: usize = 64;

/// Greatest width of a shown foreign name, in columns. Chosen: a question with three such names fits 40 columns.
const NAME_COLUMNS_MAX: usize = 36;

/// Type numbers of requests to an agent. Source: draft-ietf-sshm-ssh-agent, section 6.1.
const LIST: u8 = 11;
const SIGN: u8 = 13;
const EXTENSION: u8 = 27;

/// Type numbers of an agent's answers. Source: draft-ietf-sshm-ssh-agent, section 6.1.
const FAILURE: u8 = 5;
const SUCCESS: u8 = 6;
const KEYS: u8 = 12;
const SIGNATURE: u8 = 14;
const EXTENSION_FAILURE: u8 = 28;
const EXTENSION_ANSWER: u8 = 29;

/// The extension requests that the filter passes to the agent.
const EXTENSIONS: [&[u8]; 2] = [b"session-bind@openssh.com", b"query"];

/// Type of the message (`SSH_MSG_USERAUTH_REQUEST`) in the signed data of a login. Source: RFC 4252, section 7.
const LOGIN: u8 = 50;

/// The login method whose signed data contain the host's key. Source: OpenSSH 9.2, PROTOCOL, section 1.8.
const HOST_BOUND: &[u8] = b"publickey-hostbound-v00@openssh.com";

/// The beginning of the data that `ssh-keygen -Y` and git sign. Source: OpenSSH 9.2, PROTOCOL.sshsig.
const SIGNATURE_FILE: &[u8] = b"SSHSIG";

/// The answer to a refused request.
const REFUSAL: [u8; 5] = [0, 0, 0, 1, FAILURE];

/// The filter of one connection to the agent, with the connection's state.
#[derive(Debug)]
pub(crate) struct Filter {
    /// Whether each request for a signature waits until the user has decided ([`Filter::decide`]).
    asks: bool,
    /// Whether ssh has bound the connection to the host's key (`session-bind`).
    is_bound: bool,
    /// Bytes from the host that have not been passed on. They are an incomplete request, or requests that wait for the
    /// user's decision or the agent's answer.
    request: Vec<u8>,
    answer: Vec<u8>,
    state: State,
    /// A use of a key that [`Filter::poll_use`] has not yet returned.
    news: Option<Use>,
    /// Each listed key's public blob and name.
    names: Vec<(Vec<u8>, String)>,
}

/// The event that a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The connection waits for the next request from the host.
    Free,
    /// The connection waits for the user's decision about the request.
    Asking,
    /// The connection waits for the agent's answer to a request of this type.
    Asked(u8),
}

/// A use of a key by the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    purpose: Purpose,
    /// The key's name, if the agent has listed the key on this connection.
    key: Option<String>,
    /// The name of the only host that accepts the signature. `None` before [`Use::at`].
    place: Option<String>,
}

/// The purpose of a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Purpose {
    /// A login to an ssh server.
    Login {
        user: String,
        /// The host's key, if only this host accepts the signature.
        host_key: Option<Vec<u8>>,
    },
    /// A file or a commit, in this namespace of `ssh-keygen -Y`.
    File(String),
    Unknown,
}

/// The reason why a connection to the agent is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    /// The message is empty or longer than [`MESSAGE_MAX`].
    #[error("a message of {0} bytes")]
    Length(usize),
    /// The agent has sent bytes without a request.
    #[error("an answer to no request")]
    Unasked,
    /// The answer's type does not fit the request's.
    #[error("an answer of type {answer} to a request of type {request}")]
    Answer {
        /// The type number of the request.
        request: u8,
        /// The type number of the answer.
        answer: u8,
    },
}

impl Filter {
    /// Creates the filter of a connection. `is_bound` says that ssh has bound the connection to the host. If `asks` is
    /// set, each signature waits for [`Filter::decide`].
    ///
    /// Extensions pass only on a bound connection. A program could otherwise bind the connection itself, to a host for
    /// which a restricted key may be used.
    pub(crate) fn new(asks: bool, is_bound: bool) -> Self {
        let (request, answer, names) = (Vec::new(), Vec::new(), Vec::new());
        Self { asks, is_bound, request, answer, state: State::Free, news: None, names }
    }

    /// Returns whether the caller may read more from the host. The caller also reads while the user is asked, to notice
    /// that the program on the host has left.
    pub(crate) fn takes_requests(&self) -> bool {
        match self.state {
            State::Free => true,
            State::Asking => self.request.len() <= MESSAGE_MAX,
            State::Asked(_) => false,
        }
    }

    /// Returns whether a request from the host is incomplete, or waits for the user's decision.
    pub(crate) fn is_cut(&self) -> bool {
        !matches!(self.state, State::Asked(_)) && !self.request.is_empty()
    }

    /// Handles bytes from the host. Appends permitted requests to `to_agent`, and refusals to `to_host`.
    ///
    /// # Errors
    ///
    /// Returns why the connection must be closed.
    pub(crate) fn handle_request(
        &mut self,
        bytes: &[u8],
        to_agent: &mut Vec<u8>,
        to_host: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        self.request.extend(bytes);
        while self.state == State::Free
            && let Some(message) = complete(&self.request)?
        {
            let body = &message[4..];
            let kind = body[0];
            match kind {
                SIGN => {
                    self.news = Some(self.use_of(body));
                    if self.asks {
                        self.state = State::Asking;
                        break;
                    }
                }
                LIST => {}
                EXTENSION if self.is_bound && is_extension(body) => {}
                _ => {
                    tracing::info!(kind, "the host asked the agent for what it may not have");
                    self.refuse(to_host);
                    continue;
                }
            }
            self.pass(to_agent);
        }
        debug_assert!(
            self.state != State::Free || self.request.len() < MESSAGE_MAX + 4,
            "a message is not yet complete"
        );
        Ok(())
    }

    /// Passes or refuses the request that waits for the user's decision.
    pub(crate) fn decide(
        &mut self,
        is_allowed: bool,
        to_agent: &mut Vec<u8>,
        to_host: &mut Vec<u8>,
    ) {
        if self.state != State::Asking {
            return;
        }
        self.state = State::Free;
        if is_allowed {
            self.pass(to_agent);
        } else {
            self.refuse(to_host);
        }
        debug_assert_ne!(self.state, State::Asking, "a decision is taken once");
    }

    /// Handles bytes from the agent. Appends a complete answer to `to_host`, and then handles requests that wait.
    ///
    /// # Errors
    ///
    /// Returns why the connection must be closed.
    pub(crate) fn handle_answer(
        &mut self,
        bytes: &[u8],
        to_agent: &mut Vec<u8>,
        to_host: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        if bytes.is_empty() {
            return Ok(());
        }
        let State::Asked(request) = self.state else { return Err(Fault::Unasked) };
        self.answer.extend(bytes);
        if let Some(answer) = self.answer.get(4).copied()
            && !is_answer(request, answer)
        {
            return Err(Fault::Answer { request, answer });
        }
        let Some(message) = complete(&self.answer)? else { return Ok(()) };
        if message.len() < self.answer.len() {
            return Err(Fault::Unasked);
        }
        if request == LIST {
            self.names = names(&message[5..]);
        }
        to_host.append(&mut self.answer);
        self.state = State::Free;
        self.handle_request(&[], to_agent, to_host)
    }

    /// Returns a use of a key to report to the user. `None` if none is new, as each use is returned once.
    pub(crate) const fn poll_use(&mut self) -> Option<Use> {
        self.news.take()
    }

    /// Passes the complete request to the agent.
    fn pass(&mut self, to_agent: &mut Vec<u8>) {
        debug_assert!(
            !matches!(self.state, State::Asked(_)),
            "the agent answers one request at a time"
        );
        if let Ok(Some(message)) = complete(&self.request) {
            self.state = State::Asked(message[4]);
            let len = message.len();
            to_agent.extend(self.request.drain(..len));
        }
    }

    /// Refuses the complete request in the agent's place.
    fn refuse(&mut self, to_host: &mut Vec<u8>) {
        if let Ok(Some(message)) = complete(&self.request) {
            let len = message.len();
            self.request.drain(..len);
            to_host.extend(REFUSAL);
        }
    }

    /// Returns which key a request for a signature uses, and for which purpose.
    fn use_of(&self, body: &[u8]) -> Use {
        debug_assert_eq!(body.first(), Some(&SIGN));
        let rest = &mut &body[1..];
        let (key, data) = (string(rest), string(rest));
        let named = self.names.iter().find(|(blob, _)| Some(&blob[..]) == key);
        Use {
            purpose: data.map_or(Purpose::Unknown, purpose),
            key: named.map(|(_, name)| name.clone()),
            place: None,
        }
    }
}

impl Use {
    /// Returns the key of the only host that accepts the signature. `None` if the signed data do not contain it.
    pub(crate) fn host_key(&self) -> Option<&[u8]> {
        match &self.purpose {
            Purpose::Login { host_key, .. } => host_key.as_deref(),
            Purpose::File(_) | Purpose::Unknown => None,
        }
    }

    /// Adds the name of the only host that accepts the signature.
    pub(crate) fn at(self, place: &impl Display) -> Self {
        Self { place: Some(place.to_string()), ..self }
    }
}

impl Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            Some(name) => write!(f, "the key {name} ")?,
            None => write!(f, "a key of your agent ")?,
        }
        match &self.purpose {
            Purpose::Login { user, .. } => write!(f, "for a login as {user}"),
            Purpose::File(space) => write!(f, "for a signature ({space})"),
            Purpose::Unknown => write!(f, "for something that is no login of ssh"),
        }?;
        self.place.iter().try_for_each(|place| write!(f, " at {place}"))
    }
}

/// Returns the first message including its 4 bytes of length, or `None` if it is incomplete. Refuses a wrong length.
fn complete(bytes: &[u8]) -> Result<Option<&[u8]>, Fault> {
    let Some(len) = bytes.first_chunk::<4>() else { return Ok(None) };
    let len = usize::try_from(u32::from_be_bytes(*len)).unwrap_or(usize::MAX);
    if len == 0 || len > MESSAGE_MAX {
        return Err(Fault::Length(len));
    }
    Ok(bytes.get(..4 + len))
}

/// Returns whether the filter passes this extension request.
fn is_extension(body: &[u8]) -> bool {
    debug_assert_eq!(body.first(), Some(&EXTENSION));
    string(&mut &body[1..]).is_some_and(|name| EXTENSIONS.contains(&name))
}

/// Returns whether an agent may answer a request with an answer of this type.
const fn is_answer(request: u8, answer: u8) -> bool {
    match request {
        LIST => matches!(answer, KEYS | FAILURE),
        SIGN => matches!(answer, SIGNATURE | FAILURE),
        _ => matches!(answer, SUCCESS | FAILURE | EXTENSION_FAILURE | EXTENSION_ANSWER),
    }
}

/// Returns the public blobs and names of the first [`NAMES_MAX`] keys in an agent's list. Malformed bytes end the list.
fn names(mut rest: &[u8]) -> Vec<(Vec<u8>, String)> {
    let rest = &mut rest;
    let Some((_count, keys)) = rest.split_at_checked(4) else { return Vec::new() };
    *rest = keys;
    let mut names = Vec::new();
    while let (Some(key), Some(name)) = (string(rest), string(rest)) {
        names.push((key.to_vec(), shown(name)));
        if names.len() == NAMES_MAX {
            break;
        }
    }
    debug_assert!(names.len() <= NAMES_MAX);
    names
}

/// Returns the purpose of a signature, read from the data to be signed.
fn purpose(data: &[u8]) -> Purpose {
    if let Some(mut rest) = data.strip_prefix(SIGNATURE_FILE) {
        return string(&mut rest).map_or(Purpose::Unknown, |space| Purpose::File(shown(space)));
    }
    let rest = &mut &data[..];
    let user = string(rest).and_then(|_session| {
        let (kind, after) = rest.split_first()?;
        *rest = after;
        let (user, service) = (string(rest)?, string(rest)?);
        (*kind == LOGIN && service == b"ssh-connection").then_some(user)
    });
    let Some(user) = user else { return Purpose::Unknown };
    Purpose::Login { user: shown(user), host_key: host_key(rest).map(<[u8]>::to_vec) }
}

/// Returns the host's key from the end of a login's data: method, a byte, the user's algorithm and key, the host's key.
/// `None` for another method than [`HOST_BOUND`].
fn host_key<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    string(rest).filter(|method| *method == HOST_BOUND)?;
    let (_has_signature, after) = rest.split_first()?;
    *rest = after;
    let (_algorithm, _key) = (string(rest)?, string(rest)?);
    // With more bytes after the host's key, the data would be no login, and no host would accept the signature.
    string(rest).filter(|_| rest.is_empty())
}

/// Splits an ssh string off `rest`: 4 bytes of length, and that many bytes. `None` if `rest` has fewer bytes.
fn string<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (len, after) = rest.split_first_chunk::<4>()?;
    let len = usize::try_from(u32::from_be_bytes(*len)).ok()?;
    let (text, after) = after.split_at_checked(len)?;
    *rest = after;
    Some(text)
}

/// Returns a name without control characters and, from [`NAME_COLUMNS_MAX`] on, without its middle.
pub(super) fn shown(name: &[u8]) -> String {
    rove_terminal::shortened(&String::from_utf8_lossy(name), NAME_COLUMNS_MAX)
}

#[cfg(test)]
mod tests;
