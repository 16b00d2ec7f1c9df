//! Lends the user's ssh agent to the session's host (agent forwarding). The client starts an ssh that logs in at the
//! host through a stream of the session. This ssh forwards the agent as `ssh -A` does, and tells the agent from which
//! host requests come. For ssh, the agent is a socket of the client. There a [`Filter`] checks each request before the
//! real agent gets it, and reports signatures. If ssh cannot log in without a question, a [`Relay`] replaces it.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use rove_bootstrap::{AgentUse, RemoteForward};
use rove_platform::event_loop::Interest;
use rove_streams::{Mux, StreamError, StreamId, Target};
use rove_units::{Duration, Instant};

use crate::agent::CONNECTIONS_MAX;
use crate::agent::filter::{Filter, Use};
use crate::agent::joint::Joint;
use crate::agent::known_hosts::KnownHost;
use crate::opening::{Answered, Opening};

mod agent_socket;
mod login;
mod relay;

use agent_socket::AgentSocket;
pub(crate) use agent_socket::{answers, path_of};
pub(crate) use login::AgentCall;
use login::{Login, Look};
use relay::Relay;

/// First pause between the end of an ssh that forwarded the agent and the start of the next ssh. Chosen: the host's
/// sshd may be restarting. Other passing faults, such as a lack of streams, have the same pauses.
const PAUSE_MIN: Duration = Duration::from_secs(2);

/// Longest pause before an ssh that forwards the agent is started again. Chosen: few users would wait longer.
const PAUSE_MAX: Duration = Duration::from_secs(120);

/// Longest wait for the user to allow a use of the agent; then the use is refused. Chosen: the host's ssh that waits
/// for the signature often has two minutes for its login.
const PATIENCE: Duration = Duration::from_secs(30);

/// Number of random characters in the name of a relay's socket. Chosen: enough to differ from that of a former client's
/// socket, which the host keeps for a minute.
const NAME_CHARS: usize = 8;

/// The message to the user if the host's administrator forbids agent forwarding.
const FORBIDDEN: &str = "the host's sshd forwards no agent (AllowAgentForwarding)";

/// The message to the user if the host's rove is too old to know about agents.
const TOO_OLD: &str =
    "the host's rove is too old to lend it an agent; rove install copies this one";

/// The forwarding of the user's ssh agent to the session's host.
#[derive(Debug)]
pub(crate) struct AgentLoan {
    call: AgentCall,
    state: State,
    /// The path in the session's `SSH_AUTH_SOCK`, as reported by the host. Empty before the report.
    path: String,
    /// The connections to the agent, by their serial numbers.
    joints: BTreeMap<u64, Joint>,
    accepted: u64,
    /// The use of a key that the user is asked about.
    question: Option<Question>,
    /// The pause after the next end of an ssh. Each end doubles it, up to [`PAUSE_MAX`]; a success resets it.
    pause: Duration,
    /// Whether the user was told of a fault since the last success.
    is_fault_told: bool,
    /// Whether an ssh has ever forwarded the agent.
    has_worked: bool,
    /// Whether a relay has ever forwarded the agent.
    has_relayed: bool,
}

/// A use of a key that waits for the user's decision.
#[derive(Debug)]
struct Question {
    joint: u64,
    text: String,
    until: Instant,
}

#[derive(Debug)]
enum State {
    /// The client will ask the host for the path in the session's `SSH_AUTH_SOCK` when the session carries streams.
    New,
    /// The agent is not forwarded at present. The client will ask for the path again at this time.
    Due(Instant),
    /// The client has asked for the path, and the host has not answered.
    Asked(Opening),
    /// An ssh is logging in, or has logged in. The stream tells the host the path of that ssh's agent socket.
    Lent(StreamId, Box<Login>),
    /// The host listens for the relay's connections, or the client is asking the host to listen.
    Relayed(Box<Relay>),
    /// The agent is not forwarded, and will not be in this session.
    Over,
}

impl AgentLoan {
    /// Creates the state of a new session, whose agent is not forwarded yet.
    pub(crate) fn new(call: AgentCall) -> Self {
        Self {
            call,
            state: State::New,
            path: String::new(),
            joints: BTreeMap::new(),
            accepted: 0,
            question: None,
            pause: PAUSE_MIN,
            is_fault_told: false,
            has_worked: false,
            has_relayed: false,
        }
    }

    /// Advances the agent forwarding without waiting. Returns sentences for the user, such as one about a use of a key.
    pub(crate) fn turn(&mut self, now: Instant, mux: &mut Mux) -> Vec<String> {
        let sentence = match &mut self.state {
            State::New => self.ask(now, mux),
            State::Due(at) if *at <= now => self.ask(now, mux),
            State::Asked(opening) => {
                let id = opening.id();
                opening.answer(now, mux).and_then(|answered| self.log_in(now, mux, id, answered))
            }
            State::Lent(..) => self.look(now, mux),
            State::Due(_) | State::Relayed(_) | State::Over => None,
        };
        let sentences = sentence.into_iter().chain(self.serve(now));
        sentences.map(|sentence| format!("-A: {sentence}")).collect()
    }

    /// Ends the agent forwarding. Returns `reason` as a sentence for the user, or `None` if it had already ended.
    pub(crate) fn end(&mut self, reason: &str) -> Option<String> {
        let is_over = matches!(self.state, State::Over);
        self.state = State::Over;
        self.joints.clear();
        self.question = None;
        (!is_over).then(|| format!("-A: {reason}"))
    }

    /// Returns the question whether the host may use a key. `None` if no use waits for the user.
    pub(crate) fn question(&self) -> Option<&str> {
        self.question.as_ref().map(|it| &*it.text)
    }

    /// Accepts the connection by which the client's ssh wants to reach the host's sshd. Returns the connection, and a
    /// placeholder for the sshd's address. `None` if no connection waits.
    pub(crate) fn accept(&mut self) -> Option<(OwnedFd, Target)> {
        let State::Lent(_, login) = &mut self.state else { return None };
        // The server replaces this address by that of the sshd at which the session's login arrived.
        let target = Target::Tcp { host: "localhost".to_owned(), port: 22 };
        login.accept().map(|socket| (socket, target))
    }

    /// Returns the listener that the host must open for a relay. `None` without a relay, and after the first call.
    pub(crate) fn poll_listener(&mut self) -> Option<RemoteForward> {
        let State::Relayed(relay) = &mut self.state else { return None };
        relay.poll_listener()
    }

    /// Handles the host's answer about the relay's listener. `refusal` is the host's reason not to listen, or `None` if
    /// the host listens. Returns a sentence for the user; `None` if the host listens again, or repeats its refusal.
    pub(crate) fn handle_listener(
        &mut self,
        now: Instant,
        mux: &mut Mux,
        refusal: Option<&str>,
    ) -> Option<String> {
        let State::Relayed(relay) = &mut self.state else { return None };
        let sentence = match refusal {
            None => {
                let sentence = relay.begin(mux);
                self.has_relayed = true;
                self.reset_pause();
                sentence
            }
            Some(refusal) => {
                relay.end(mux);
                let reason = relay.failure(refusal);
                self.give_up(now, &reason)
            }
        };
        sentence.map(|it| format!("-A: {it}"))
    }

    /// Returns when to call [`AgentLoan::turn`]. `None` unless ssh is to be restarted or a question is open.
    pub(crate) const fn poll_timeout(&self) -> Option<Instant> {
        match (&self.state, &self.question) {
            (State::Due(at), _) => Some(*at),
            (_, Some(question)) => Some(question.until),
            _ => None,
        }
    }

    /// Returns the descriptors to wait for. When one is ready, call [`AgentLoan::turn`].
    pub(crate) fn interests(&self) -> impl Iterator<Item = Interest<'_>> {
        let (login, socket) = match &self.state {
            State::Lent(_, login) => (Some(login.interests()), login.agent.interest()),
            State::Relayed(relay) => (None, relay.socket.interest()),
            _ => (None, None),
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
            Err(StreamError::TooMany) => self.wait(now),
            Err(error) => self.end_for(&error.to_string()),
        }
    }

    fn log_in(
        &mut self,
        now: Instant,
        mux: &mut Mux,
        id: StreamId,
        answered: Answered,
    ) -> Option<String> {
        match answered {
            Answered::Opened(path) => match Login::start(&self.call) {
                Ok(login) => {
                    self.path = path;
                    self.state = State::Lent(id, Box::new(login));
                    None
                }
                Err(error) => {
                    mux.reset_and_stop(id, 0);
                    self.give_up(now, &error.to_string())
                }
            },
            Answered::Busy(_) => self.wait(now),
            Answered::Refused(reason) | Answered::Cut(reason) => self.give_up(now, &reason),
            Answered::Unknown | Answered::Exited(_) | Answered::Kept(..) => self.end_for(TOO_OLD),
        }
    }

    fn look(&mut self, now: Instant, mux: &mut Mux) -> Option<String> {
        let State::Lent(id, login) = &mut self.state else { return None };
        match login.look() {
            Look::Nothing => None,
            Look::Path(path) => {
                // The path fits into a new stream's credit, so it is written at once.
                let told = mux.write(*id, &[path.as_bytes(), b"\n"].concat());
                tracing::debug!(?told, "the agent is lent");
                self.has_worked = true;
                self.reset_pause();
                None
            }
            Look::Ended(reason) if !self.has_worked => {
                let id = *id;
                self.relay(now, mux, id, reason)
            }
            ended => {
                mux.reset_and_stop(*id, 0);
                if !self.has_worked {
                    return self.end_for(FORBIDDEN);
                }
                tracing::info!(?ended, "the ssh that lends the agent has ended");
                self.wait(now)
            }
        }
    }

    /// Forwards the agent by a relay after ssh has ended for `reason`. Returns the error if the client cannot make the
    /// relay's socket, else `None`.
    fn relay(
        &mut self,
        now: Instant,
        mux: &mut Mux,
        stream: StreamId,
        reason: String,
    ) -> Option<String> {
        // The new socket has the same path as the login's socket, so the login must be dropped first.
        self.state = State::Over;
        match AgentSocket::open(&self.call.agent) {
            Ok(socket) => {
                // `AgentCall::mark` ends with a random word that differs between logins.
                let name: String = self.call.mark.chars().rev().take(NAME_CHARS).collect();
                let relay = Relay::new(stream, socket, (&self.path, &name), reason);
                self.state = State::Relayed(Box::new(relay));
                None
            }
            Err(error) => {
                mux.reset_and_stop(stream, 0);
                self.give_up(now, &error.to_string())
            }
        }
    }

    /// Copies bytes between the host's connections and the agent. Returns a sentence for each use of a key that needed
    /// no question. Another sentence reports a use that the user did not allow in time.
    fn serve(&mut self, now: Instant) -> Vec<String> {
        let asks = self.call.how == AgentUse::Confirm;
        let mut sentences = Vec::new();
        self.accept_askers(asks);
        if self.question.as_ref().is_some_and(|it| it.until <= now) {
            self.decide(false);
            sentences.push("the host was not allowed to use your agent".to_owned());
        }
        let mut is_due = true;
        // If the connection of the pending question has ended, another round asks the next question at once.
        while is_due {
            self.joints.retain(|number, joint| {
                let goes_on = joint.turn();
                // A second question waits for the first answer, so that the user's yes cannot answer the wrong one.
                if let Some(used) = if self.question.is_none() { joint.poll_use() } else { None } {
                    let place =
                        used.host_key().map(|key| KnownHost::find(&self.call.known_hosts, key));
                    let used = place.iter().fold(used, Use::at);
                    if asks {
                        let text = format!("-A: the host wants to use {used}.");
                        let (joint, until) = (*number, now + PATIENCE);
                        self.question = Some(Question { joint, text, until });
                    } else {
                        sentences.push(format!("the host has used {used}"));
                    }
                }
                goes_on
            });
            is_due = self.question.take_if(|it| !self.joints.contains_key(&it.joint)).is_some();
        }
        debug_assert!(self.joints.len() <= CONNECTIONS_MAX);
        sentences
    }

    /// Accepts the host's connections to the agent. With `asks`, each use of a key waits for the user's yes.
    fn accept_askers(&mut self, asks: bool) {
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
    }

    /// Allows or refuses the use of the key in the pending question.
    pub(crate) fn decide(&mut self, is_allowed: bool) {
        let Some(question) = self.question.take() else { return };
        if let Some(joint) = self.joints.get_mut(&question.joint) {
            joint.decide(is_allowed);
        }
    }

    /// Ends the agent forwarding for this reason, or tries again after a pause if the agent was ever forwarded. Returns
    /// a sentence for the user. `None` if the user was told of a fault since the last success.
    fn give_up(&mut self, now: Instant, reason: &str) -> Option<String> {
        if !self.has_worked && !self.has_relayed {
            return self.end_for(reason);
        }
        let is_first = !std::mem::replace(&mut self.is_fault_told, true);
        self.wait(now);
        is_first.then(|| format!("{reason}; rove tries again"))
    }

    /// Closes the connections to the agent. After a pause, [`AgentLoan::turn`] asks the host for the path again.
    fn wait(&mut self, now: Instant) -> Option<String> {
        self.joints.clear();
        self.question = None;
        self.state = State::Due(now + self.pause);
        self.pause = (self.pause + self.pause).min(PAUSE_MAX);
        None
    }

    /// Notes that the agent is forwarded. The next fault has the shortest pause, and is told to the user.
    const fn reset_pause(&mut self) {
        (self.pause, self.is_fault_told) = (PAUSE_MIN, false);
    }

    fn end_for(&mut self, reason: &str) -> Option<String> {
        self.end(reason);
        Some(reason.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::Shutdown;
    use std::os::unix::net::{UnixListener, UnixStream};

    use rove_bootstrap::LentAgent;
    use rove_rig::scratch::Scratch;
    use rove_streams::{Answer, BUSY, Read, STREAMS_MAX, Side, UNREACHED};

    use super::*;
    use crate::tests::muxes::{deliver, mux, muxes};

    /// A request for a signature, with an empty key and no data.
    const SIGN: [u8; 17] = [0, 0, 0, 13, 13, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

    fn call(how: AgentUse) -> AgentCall {
        AgentCall {
            words: Vec::new(),
            mark: String::new(),
            agent: LentAgent::At("/nowhere".to_owned()),
            how,
            known_hosts: Vec::new(),
        }
    }

    /// Returns a forwarding with `count` connections that ask for a signature, and the peers' ends of the connections.
    fn asking(how: AgentUse, count: u64) -> (AgentLoan, Vec<[UnixStream; 2]>) {
        let mut loan = AgentLoan::new(call(how));
        loan.state = State::Over;
        let far = |number| {
            let ends = [(); 2].map(|()| UnixStream::pair().unwrap());
            let [(mut asker, near), (agent, far)] = ends;
            near.set_nonblocking(true).unwrap();
            far.set_nonblocking(true).unwrap();
            asker.write_all(&SIGN).unwrap();
            let filter = Filter::new(how == AgentUse::Confirm, true);
            loan.joints.insert(number, Joint::new(near.into(), far.into(), Some(filter)));
            [asker, agent]
        };
        let ends = (0..count).map(far).collect();
        (loan, ends)
    }

    #[test]
    fn each_use_of_a_key_has_a_sentence_though_several_come_at_once() {
        let (mut loan, _ends) = asking(AgentUse::Notify, 3);
        let sentences = loan.turn(Instant::ZERO, &mut mux(Side::Client));
        assert_eq!(sentences.len(), 3, "{sentences:?}");
        assert!(sentences.iter().all(|it| it.starts_with("-A: the host has used ")));
    }

    #[test]
    fn a_question_whose_asker_leaves_makes_room_for_the_next_in_the_same_turn() {
        let (mut loan, ends) = asking(AgentUse::Confirm, 2);
        let mut mux = mux(Side::Client);
        let mut turn = |loan: &mut AgentLoan| {
            assert_eq!(loan.turn(Instant::ZERO, &mut mux), [""; 0]);
            loan.question.as_ref().map(|it| it.joint)
        };
        assert_eq!(turn(&mut loan), Some(0));
        // A child process of another test may hold a copy of the socket, so dropping the socket might not close it.
        ends[0][0].shutdown(Shutdown::Both).unwrap();
        assert_eq!(turn(&mut loan), Some(1));
        ends[1][0].shutdown(Shutdown::Both).unwrap();
        assert_eq!((turn(&mut loan), loan.joints.len()), (None, 0));
    }

    /// Asks a host for the agent's path; `answer` replies. Returns the forwarding, and the sentence for the user.
    fn asked(answer: impl FnOnce(&mut Mux, StreamId)) -> (AgentLoan, Option<String>) {
        let mut now = Instant::ZERO;
        let (mut client, mut server) = muxes();
        let mut loan = AgentLoan::new(call(AgentUse::Notify));
        assert_eq!(
            loan.poll_timeout(),
            None,
            "nothing is due while the session carries no streams"
        );
        assert_eq!(loan.turn(now, &mut client), [""; 0]);
        let (mut answer, mut told) = (Some(answer), None);
        for _ in 0..50 {
            now += Duration::from_millis(1);
            deliver(now, &mut client, &mut server);
            if let Some(id) = server.accept() {
                (answer.take().expect("one stream is opened"))(&mut server, id);
            }
            deliver(now, &mut server, &mut client);
            let news = loan.turn(now, &mut client);
            assert!(news.len() + usize::from(told.is_some()) <= 1, "it is told once");
            told = told.or(news.into_iter().next());
        }
        (loan, told)
    }

    #[test]
    fn a_relay_whose_listener_opens_again_is_told_once() {
        let scratch = Scratch::new();
        let _agent = UnixListener::bind(scratch.path("agent")).unwrap();
        let agent = LentAgent::At(scratch.path("agent").to_str().unwrap().to_owned());
        let (now, (mut client, mut server)) = (Instant::ZERO, muxes());
        let stream = client.open(now).unwrap();
        let mut loan = AgentLoan::new(call(AgentUse::Notify));
        let socket = AgentSocket::open(&agent).unwrap();
        let relay = Relay::new(stream, socket, ("/path", "name"), "no login".to_owned());
        loan.state = State::Relayed(Box::new(relay));
        let said = [(); 2].map(|()| loan.handle_listener(now, &mut client, None));
        deliver(now, &mut client, &mut server);
        let (id, mut line) = (server.accept().expect("it was opened"), [0; 99]);
        assert_eq!(server.read(now, id, &mut line), Ok(Read::Bytes(b"/path-name\n".len())));
        assert!(said[0].as_ref().is_some_and(|it| it.ends_with("no login")) && said[1].is_none());
    }

    #[test]
    fn a_host_without_a_free_stream_is_asked_again_after_a_pause() {
        let (now, mut mux) = (Instant::ZERO, mux(Side::Client));
        let streams: Vec<StreamId> = std::iter::from_fn(|| mux.open(now).ok()).collect();
        assert_eq!(streams.len(), STREAMS_MAX);
        let mut loan = AgentLoan::new(call(AgentUse::Notify));
        assert_eq!(loan.turn(now, &mut mux), [""; 0]);
        assert_eq!(loan.poll_timeout(), Some(now + PAUSE_MIN));
        assert_eq!(loan.turn(now + PAUSE_MIN, &mut mux), [""; 0]);
        assert_eq!(loan.poll_timeout(), Some(now + 3 * PAUSE_MIN), "the second pause is longer");
        // The host has too many other streams to answer.
        let (loan, told) = asked(|mux, id| {
            let answer = Answer::Refused { code: BUSY, text: "too many".to_owned() };
            mux.write(id, &answer.encode()).unwrap();
        });
        assert!(told.is_none() && loan.poll_timeout().is_some(), "{told:?}");
    }

    #[test]
    fn only_a_relay_that_has_worked_survives_the_hosts_refusal_to_listen_again() {
        let scratch = Scratch::new();
        let _agent = UnixListener::bind(scratch.path("agent")).unwrap();
        let agent = LentAgent::At(scratch.path("agent").to_str().unwrap().to_owned());
        for has_worked in [false, true] {
            let (now, mut mux) = (Instant::ZERO, mux(Side::Client));
            let stream = mux.open(now).unwrap();
            let mut loan = AgentLoan::new(call(AgentUse::Notify));
            let socket = AgentSocket::open(&agent).unwrap();
            let relay = Relay::new(stream, socket, ("/path", "name"), "no login".to_owned());
            loan.state = State::Relayed(Box::new(relay));
            if has_worked {
                assert!(loan.handle_listener(now, &mut mux, None).is_some());
            }
            let told = loan.handle_listener(now, &mut mux, Some("in use"));
            let again = loan.poll_timeout();
            let told = told.expect("the first refusal is told");
            assert_eq!(told.ends_with("; rove tries again"), has_worked, "{told}");
            assert_eq!(again, has_worked.then_some(now + PAUSE_MIN));
        }
    }

    #[test]
    fn a_fault_after_a_silent_end_is_told_once_until_the_agent_is_lent_again() {
        let (mut loan, now) = (AgentLoan::new(call(AgentUse::Notify)), Instant::ZERO);
        loan.has_worked = true;
        // The end of an ssh that lent the agent, and a busy host, have no sentence.
        assert_eq!([loan.wait(now), loan.wait(now)], [None, None]);
        let told = loan.give_up(now, "no path");
        assert_eq!(told.as_deref(), Some("no path; rove tries again"));
        assert_eq!(loan.give_up(now, "no path"), None);
        loan.reset_pause();
        assert!(loan.give_up(now, "no path").is_some());
        assert_eq!(loan.poll_timeout(), Some(now + PAUSE_MIN));
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
