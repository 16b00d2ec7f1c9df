//! The user's agent, lent to the session's host by ssh itself: an ssh of the client's own logs in at the host through a
//! stream of the session, and forwards an agent as `ssh -A` does. So the agent knows that it is asked from afar.
//!
//! The agent that this ssh forwards is a socket of the client, where a [`Filter`] lets signatures pass, and tells of them.
//! Where no ssh can log in once more, a [`Relay`] takes its place.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use rove_bootstrap::{AgentUse, RemoteForward};
use rove_platform::event_loop::Interest;
use rove_streams::{Mux, StreamId, Target};
use rove_units::{Duration, Instant};

use crate::agent::CONNECTIONS_MAX;
use crate::agent::filter::Filter;
use crate::agent::joint::Joint;
use crate::opening::{Answered, Opening};

mod agent_socket;
mod login;
mod relay;

use agent_socket::AgentSocket;
pub(crate) use agent_socket::answers;
pub(crate) use login::AgentCall;
use login::{Login, Look};
use relay::Relay;

/// How long after the end of an ssh that had logged in another one is started, at first. Chosen: the host's sshd may be
/// starting again.
const PAUSE_MIN: Duration = Duration::from_secs(2);

/// Longest time between the end of an ssh and the next one. Chosen: a user does not wait for the agent much longer.
const PAUSE_MAX: Duration = Duration::from_secs(120);

/// How long the user has to allow a use. Chosen: ssh, which waits meanwhile, has often two minutes for its login.
const PATIENCE: Duration = Duration::from_secs(30);

/// Characters of a login's own word in the name of a relay's socket. Chosen: unlike that of a former client, which the host
/// keeps for a minute.
const NAME_CHARS: usize = 8;

/// The sentence for a host whose administrator wants no agents.
const FORBIDDEN: &str = "the host's sshd forwards no agent (AllowAgentForwarding)";

/// The sentence for a host whose rove knows no agents.
const TOO_OLD: &str =
    "the host's rove is too old to lend it an agent; rove install copies this one";

/// The agent that a client lends to its session's host.
#[derive(Debug)]
pub(crate) struct AgentLoan {
    call: AgentCall,
    state: State,
    /// The session's path to an agent, as the host has told it.
    path: String,
    /// The connections to the agent, by the numbers in which they came.
    joints: BTreeMap<u64, Joint>,
    accepted: u64,
    /// The use that the user is asked about.
    question: Option<Question>,
    /// How long the next pause is.
    pause: Duration,
    /// Whether an ssh has ever logged in.
    has_worked: bool,
}

/// A use that waits for the user.
#[derive(Debug)]
struct Question {
    joint: u64,
    text: String,
    until: Instant,
}

#[derive(Debug)]
enum State {
    /// The host is to be asked, at this time or later.
    Due(Instant),
    /// The host is asked for the session's path to an agent.
    Asked(Opening),
    /// An ssh logs in, or has. The host is told through the stream where that ssh's socket is.
    Lent(StreamId, Box<Login>),
    /// The host listens for a relay, or is asked to.
    Relayed(Box<Relay>),
    /// Nothing is lent any more.
    Over,
}

impl AgentLoan {
    /// Creates the loan of a session that begins.
    pub(crate) fn new(call: AgentCall, now: Instant) -> Self {
        Self {
            call,
            state: State::Due(now),
            path: String::new(),
            joints: BTreeMap::new(),
            accepted: 0,
            question: None,
            pause: PAUSE_MIN,
            has_worked: false,
        }
    }

    /// Does everything that can be done at once. Returns a sentence for the user, if there is one.
    pub(crate) fn turn(&mut self, now: Instant, mux: &mut Mux) -> Option<String> {
        let sentence = match &mut self.state {
            State::Due(at) if *at <= now => self.ask(now, mux),
            State::Asked(opening) => {
                let id = opening.id();
                let answered = opening.answer(now, mux)?;
                self.log_in(id, answered)
            }
            State::Lent(..) => self.look(now, mux),
            State::Due(_) | State::Relayed(_) | State::Over => None,
        };
        sentence.or_else(|| self.serve(now)).map(|sentence| format!("-A: {sentence}"))
    }

    /// Ends the loan, for this reason.
    pub(crate) fn end(&mut self, reason: &str) -> Option<String> {
        let is_over = matches!(self.state, State::Over);
        self.state = State::Over;
        self.joints.clear();
        self.question = None;
        (!is_over).then(|| format!("-A: {reason}"))
    }

    /// Returns the question that the user is asked, if there is one.
    pub(crate) fn question(&self) -> Option<&str> {
        self.question.as_ref().map(|it| &*it.text)
    }

    /// Notes that the user allows the use that the question is about.
    pub(crate) fn handle_yes(&mut self) {
        self.answer(true);
    }

    /// Returns the next connection of the ssh, which wants to reach the host's sshd, and where that is.
    pub(crate) fn accept(&mut self) -> Option<(OwnedFd, Target)> {
        let State::Lent(_, login) = &mut self.state else { return None };
        // The host takes this for the address at which its sshd was reached.
        let target = Target::Tcp { host: "localhost".to_owned(), port: 22 };
        login.accept().map(|socket| (socket, target))
    }

    /// Returns the listener that the host is asked for, once.
    pub(crate) fn poll_listener(&mut self) -> Option<RemoteForward> {
        let State::Relayed(relay) = &mut self.state else { return None };
        relay.poll_listener()
    }

    /// Notes that the host listens for the relay, or why it does not. Returns a sentence for the user.
    pub(crate) fn handle_listener(
        &mut self,
        mux: &mut Mux,
        refusal: Option<&str>,
    ) -> Option<String> {
        let State::Relayed(relay) = &self.state else { return None };
        match refusal {
            None => Some(format!("-A: {}", relay.begin(mux))),
            Some(refusal) => {
                relay.end(mux);
                let reason = relay.failure(refusal);
                self.end(&reason)
            }
        }
    }

    /// Returns when to call [`AgentLoan::turn`] without news.
    pub(crate) const fn poll_timeout(&self) -> Option<Instant> {
        match (&self.state, &self.question) {
            (State::Due(at), _) => Some(*at),
            (_, Some(question)) => Some(question.until),
            _ => None,
        }
    }

    /// Returns the descriptors whose news call for [`AgentLoan::turn`].
    pub(crate) fn interests(&self) -> impl Iterator<Item = Interest<'_>> {
        let login = match &self.state {
            State::Lent(_, login) => Some(login.interests()),
            _ => None,
        };
        let socket = match &self.state {
            State::Lent(_, login) => login.agent.interest(),
            State::Relayed(relay) => relay.socket.interest(),
            _ => None,
        };
        let joints = self.joints.values().flat_map(Joint::interests);
        login.into_iter().flatten().chain(socket).chain(joints)
    }

    fn ask(&mut self, now: Instant, mux: &mut Mux) -> Option<String> {
        match Opening::begin(now, mux, &Target::Agent) {
            Ok(opening) => {
                self.state = State::Asked(opening);
                None
            }
            Err(error) => self.end_for(&error.to_string()),
        }
    }

    fn log_in(&mut self, id: StreamId, answered: Answered) -> Option<String> {
        match answered {
            Answered::Opened(path) => match Login::start(&self.call) {
                Ok(login) => {
                    self.path = path;
                    self.state = State::Lent(id, Box::new(login));
                    None
                }
                Err(error) => self.end_for(&error.to_string()),
            },
            Answered::Refused(reason) | Answered::Cut(reason) => self.end_for(&reason),
            Answered::Unknown | Answered::Exited(_) | Answered::Kept(..) => self.end_for(TOO_OLD),
        }
    }

    fn look(&mut self, now: Instant, mux: &mut Mux) -> Option<String> {
        let State::Lent(id, login) = &mut self.state else { return None };
        match login.look() {
            Look::Nothing => None,
            Look::Path(path) => {
                // A new stream has room for a path.
                let told = mux.write(*id, &[path.as_bytes(), b"\n"].concat());
                tracing::debug!(?told, "the agent is lent");
                (self.has_worked, self.pause) = (true, PAUSE_MIN);
                None
            }
            Look::Ended(reason) if !self.has_worked => {
                let id = *id;
                self.relay(mux, id, reason)
            }
            ended => {
                let _ = mux.reset(*id, 0);
                let _ = mux.stop(*id, 0);
                if !self.has_worked {
                    return self.end_for(FORBIDDEN);
                }
                tracing::info!(?ended, "the ssh that lends the agent has ended");
                self.joints.clear();
                self.question = None;
                self.state = State::Due(now + self.pause);
                self.pause = (self.pause + self.pause).min(PAUSE_MAX);
                None
            }
        }
    }

    /// Lends the agent without an ssh, which has ended for this reason.
    fn relay(&mut self, mux: &mut Mux, stream: StreamId, reason: String) -> Option<String> {
        // The login's socket has the same path.
        self.state = State::Over;
        match AgentSocket::open(&self.call.agent) {
            Ok(socket) => {
                // A word that is drawn for each login.
                let name: String = self.call.mark.chars().rev().take(NAME_CHARS).collect();
                let relay = Relay::new(stream, socket, (&self.path, &name), reason);
                self.state = State::Relayed(Box::new(relay));
                None
            }
            Err(error) => {
                let _ = mux.reset(stream, 0);
                let _ = mux.stop(stream, 0);
                Some(error.to_string())
            }
        }
    }

    /// Joins the connections of the host with the agent. Returns what the agent was used for, or was not allowed to.
    fn serve(&mut self, now: Instant) -> Option<String> {
        let asks = self.call.how == AgentUse::Confirm;
        let mut sentence = None;
        let (socket, is_bound) = match &mut self.state {
            State::Lent(_, login) => (Some(&mut login.agent), true),
            State::Relayed(relay) => (Some(&mut relay.socket), false),
            _ => (None, false),
        };
        if let Some(socket) = socket {
            while let Some((asker, agent)) = socket.accept(self.joints.len() < CONNECTIONS_MAX) {
                let joint = Joint::new(asker, agent, Some(Filter::new(asks, is_bound)));
                self.joints.insert(self.accepted, joint);
                self.accepted += 1;
            }
        }
        if self.question.as_ref().is_some_and(|it| it.until <= now) {
            self.answer(false);
            sentence = Some("the host was not allowed to use your agent".to_owned());
        }
        let question = &mut self.question;
        self.joints.retain(|number, joint| {
            let goes_on = joint.turn();
            // A second question waits until the first is answered: the user's yes must not meet another one.
            if let Some(used) = if question.is_none() { joint.poll_use() } else { None } {
                if asks {
                    let text = format!("-A: the host wants to use {used}.");
                    *question = Some(Question { joint: *number, text, until: now + PATIENCE });
                } else {
                    sentence = Some(format!("the host has used {used}"));
                }
            }
            goes_on
        });
        self.question.take_if(|it| !self.joints.contains_key(&it.joint));
        debug_assert!(self.joints.len() <= CONNECTIONS_MAX);
        sentence
    }

    fn answer(&mut self, is_allowed: bool) {
        let Some(question) = self.question.take() else { return };
        if let Some(joint) = self.joints.get_mut(&question.joint) {
            joint.decide(is_allowed);
        }
    }

    fn end_for(&mut self, reason: &str) -> Option<String> {
        self.end(reason);
        Some(reason.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use rove_bootstrap::LentAgent;
    use rove_streams::{Answer, UNREACHED};

    use super::*;
    use crate::muxes::{deliver, muxes};

    /// Asks a host for its path, which answers the stream so. Returns the loan, and what the user is told.
    fn asked(answer: impl FnOnce(&mut Mux, StreamId)) -> (AgentLoan, Option<String>) {
        let mut now = Instant::ZERO;
        let (mut client, mut server) = muxes();
        let call = AgentCall {
            words: Vec::new(),
            mark: String::new(),
            agent: LentAgent::At("/nowhere".to_owned()),
            how: AgentUse::Notify,
        };
        let mut loan = AgentLoan::new(call, now);
        assert_eq!(loan.poll_timeout(), Some(now));
        assert_eq!(loan.turn(now, &mut client), None);
        let (mut answer, mut told) = (Some(answer), None);
        for _ in 0..50 {
            now += Duration::from_millis(1);
            deliver(now, &mut client, &mut server);
            if let Some(id) = server.accept() {
                (answer.take().expect("one stream is opened"))(&mut server, id);
            }
            deliver(now, &mut server, &mut client);
            let news = loan.turn(now, &mut client);
            assert!(news.is_none() || told.is_none(), "it is told once");
            told = told.or(news);
        }
        (loan, told)
    }

    #[test]
    fn a_host_that_takes_no_agent_is_told_once_and_not_asked_again() {
        let too_old = |mux: &mut Mux, id| {
            mux.reset(id, 2).unwrap();
            mux.stop(id, 2).unwrap();
        };
        let refuses = |mux: &mut Mux, id| {
            let answer = Answer::Refused { code: UNREACHED, text: "no path".to_owned() };
            mux.write(id, &answer.encode()).unwrap();
        };
        let opens = |mux: &mut Mux, id| {
            let answer = Answer::Opened { address: "/path".to_owned() };
            mux.write(id, &answer.encode()).unwrap();
        };
        for ((mut loan, told), sentence) in [
            (asked(too_old), format!("-A: {TOO_OLD}")),
            (asked(refuses), "-A: no path".to_owned()),
            (asked(opens), "-A: the agent does not answer: ".to_owned()),
        ] {
            let told = told.unwrap_or_default();
            assert!(told.starts_with(&sentence), "{told}");
            assert_eq!((loan.poll_timeout(), loan.interests().count()), (None, 0));
            assert_eq!(loan.end("the session has ended"), None);
        }
    }
}
