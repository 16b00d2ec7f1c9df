//! The client's end of a forwarder on a jump host: the ssh that runs the forwarder, and the sealing of datagrams to it.
//!
//! The client starts a forwarder while ssh carries the session, in case UDP reaches the jump host. It ends the
//! forwarder when the session does not need one.

use std::io;
use std::net::SocketAddr;

use rove_bootstrap::tunnel::carrier::Arrival;
use rove_bootstrap::tunnel::forwarder::{Ends, Order, Wrapper};
use rove_bootstrap::tunnel::standby::LOGIN_MAX;
use rove_platform::event_loop::{EventLoop, Interest};
use rove_session::Client;
use rove_ssp::Transmit;
use rove_units::{Duration, Instant};

use crate::entropy;
use crate::ssh_reaper::SshReaper;
use crate::tunnel::inherited::JumpCall;
use crate::tunnel::near::is_refusal;
use crate::tunnel::ssh::{Look, Ssh};

/// Time for which ssh must have carried the session until a forwarder is started. Chosen: two rounds of probes of the
/// server itself, on a path with a round trip of half a second.
const WANTED_AFTER: Duration = Duration::from_secs(2);
/// Longest time for which ssh carries a session after a forwarder has carried it. Then the client ends the forwarder's
/// ssh, which may be dead, and may start another. Chosen: the time between two automatic logins.
const SILENT_MAX: Duration = Duration::from_secs(60);
/// Number of failed logins after which a session stops trying. Chosen: a single failure may be chance. A refused login
/// counts as this many failures, as does a late login to a host that has answered.
const FAILURES_MAX: u8 = 2;
/// Size of the buffer for a forwarder's answer, in bytes. Chosen: larger than an answer; longer output comes in pieces.
const ANSWER_LEN: usize = 4096;

/// An ssh that runs a forwarder.
#[derive(Debug)]
pub(crate) struct Line {
    ssh: Ssh,
    wrapper: Wrapper,
    /// The addresses at which the forwarder may be reached; empty until it has answered.
    pub(crate) ends: Vec<SocketAddr>,
}

impl Line {
    /// Starts an ssh that runs a forwarder to this server. A new key seals the datagrams to the forwarder.
    fn start(call: &JumpCall, first_line: &str, server: SocketAddr) -> io::Result<Self> {
        let key = entropy::key().map_err(io::Error::other)?;
        let mut ssh = Ssh::start(&call.words, first_line, false)?;
        let wrapper = Wrapper::new(&key);
        ssh.say(Order { server, key }.to_text());
        Ok(Self { ssh, wrapper, ends: Vec::new() })
    }

    /// Starts a forwarder to the first of the server's addresses, and waits for the forwarder's answer. `None` if the
    /// forwarder's ssh ends, or if no answer comes within [`LOGIN_MAX`].
    ///
    /// # Errors
    ///
    /// Returns the system's error, or the error of `check`, which runs after each wait for events.
    pub(crate) fn open<E: From<io::Error>>(
        call: &JumpCall,
        first_line: &str,
        servers: &[SocketAddr],
        events: &mut EventLoop,
        check: impl Fn(&mut EventLoop) -> Result<(), E>,
    ) -> Result<Option<Self>, E> {
        let mut line = Self::start(call, first_line, servers[0])?;
        let late_at = events.now() + LOGIN_MAX;
        while line.ends.is_empty() {
            events.wait(&mut line.ssh.interests(), Some(late_at))?;
            check(events)?;
            let (look, answer) = line.look(&mut [0; ANSWER_LEN], call, servers);
            let is_over = matches!(look, Look::Ended(_)) || late_at <= events.now();
            if is_over && answer.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(line))
    }

    /// Reads and writes without blocking. Returns ssh's state, and the forwarder's answer if it has just arrived. An
    /// answer that leads only to the server's own addresses is ignored.
    fn look(
        &mut self,
        buffer: &mut [u8],
        call: &JumpCall,
        servers: &[SocketAddr],
    ) -> (Look, Option<Ends>) {
        let mut words = None;
        let look = self.ssh.look(buffer, |arrival| {
            if let Arrival::Words(text) = arrival {
                words = Some(text);
            }
        });
        self.ssh.write();
        let answer = words.filter(|_| self.ends.is_empty());
        let answer = answer.and_then(|text| Ends::from_text(&text));
        answer.iter().for_each(|ends| self.ends = addresses(call, ends, servers));
        (look, answer.filter(|_| !self.ends.is_empty()))
    }

    /// Returns the sealed form of a datagram to the forwarder's address, or `None` for any other address.
    pub(crate) fn wrap(&mut self, transmit: &Transmit) -> Option<Transmit> {
        self.ends
            .contains(&transmit.destination)
            .then(|| Transmit { payload: self.wrapper.wrap(&transmit.payload), ..transmit.clone() })
    }
}

/// Starts and ends the ssh of a forwarder, as the session needs it.
#[derive(Debug)]
pub(super) struct Jump {
    call: JumpCall,
    /// The first line of the remote command's output, which contains a random word of this run of rove.
    first_line: String,
    /// The server to which the forwarder sends.
    server: SocketAddr,
    line: Option<Line>,
    started_at: Instant,
    /// Whether this forwarder has carried the session.
    was_used: bool,
    failures: u8,
}

/// A change of a forwarder's ssh.
pub(super) enum News {
    /// The forwarder has answered, and sends from this address.
    Answered(SocketAddr),
    /// The ssh has ended, or the caller must end it (`ending`). `was_logging_in` says that the forwarder had not answered.
    Ended { ending: Option<SshReaper>, was_logging_in: bool },
}

impl Jump {
    pub(super) fn new(call: JumpCall, first_line: String, server: SocketAddr) -> Self {
        Self {
            call,
            first_line,
            server,
            line: None,
            started_at: Instant::default(),
            was_used: false,
            failures: 0,
        }
    }

    /// Returns when to log in for a forwarder. `None` while no forwarder is needed, or none may be started.
    pub(super) fn wanted_at(&self, session: &Client) -> Option<Instant> {
        let is_possible = self.line.is_none() && self.failures < FAILURES_MAX;
        session.side_path_since().filter(|_| is_possible).map(|since| since + WANTED_AFTER)
    }

    /// Returns when [`Jump::turn`] must end the ssh if nothing else happens. `None` if no ssh need end.
    pub(super) fn poll_timeout(&self, session: &Client) -> Option<Instant> {
        if self.line.as_ref()?.ends.is_empty() {
            return Some(self.started_at + LOGIN_MAX);
        }
        session.side_path_since().filter(|_| self.was_used).map(|since| since + SILENT_MAX)
    }

    pub(super) fn interests(&mut self) -> Vec<Interest<'_>> {
        self.line.iter_mut().flat_map(|line| line.ssh.interests()).collect()
    }

    /// Starts an ssh that runs a forwarder. Returns whether that succeeded.
    pub(super) fn start(&mut self, now: Instant) -> bool {
        tracing::info!("UDP is not answered: looking for a forwarder on the jump host");
        (self.started_at, self.was_used) = (now, false);
        match Line::start(&self.call, &self.first_line, self.server) {
            Ok(line) => self.line = Some(line),
            Err(error) => {
                tracing::info!(%error, "no ssh to the jump host");
                self.failures = FAILURES_MAX;
            }
        }
        self.line.is_some()
    }

    /// Reads and writes without blocking. Gives up an ssh that ended, is late or unneeded. Returns the change, if any.
    pub(super) fn turn(
        &mut self,
        now: Instant,
        buffer: &mut [u8],
        session: &mut Client,
    ) -> Option<News> {
        let line = self.line.as_mut()?;
        let servers: Vec<SocketAddr> = session.candidates().iter().collect();
        let (look, answer) = line.look(buffer, &self.call, &servers);
        if let Some(ends) = answer {
            self.failures = 0;
            tracing::info!(ends = ?line.ends, "a forwarder is there");
            session.handle_forwarder(now, &line.ends);
            return Some(News::Answered(ends.source));
        }
        let was_logging_in = line.ends.is_empty();
        self.was_used |= session.uses_forwarder();
        let is_late = self.poll_timeout(session).is_some_and(|at| at <= now);
        let is_wanted = session.uses_side_path()
            || session.uses_forwarder()
            || session.side_path_wanted_at().is_some_and(|at| at <= now);
        let mut line = match look {
            Look::Open if is_wanted && !is_late => return None,
            _ => self.line.take()?,
        };
        let (mut is_final, mut has_ended) = (is_late && !line.ssh.is_unanswered(), false);
        if let Look::Ended(reason) = &look {
            let reason = reason.clone().unwrap_or_else(|| line.ssh.last_words());
            tracing::info!(%reason, "the forwarder's ssh has ended");
            (is_final, has_ended) = (is_refusal(&reason), true);
        }
        if was_logging_in {
            self.failures += if is_final { FAILURES_MAX } else { u8::from(has_ended) };
        }
        session.handle_forwarder(now, &[]);
        Some(News::Ended { ending: line.ssh.process.release(now), was_logging_in })
    }

    /// Returns the sealed form of a datagram to the forwarder's address, or `None` for any other address.
    pub(super) fn wrap(&mut self, transmit: &Transmit) -> Option<Transmit> {
        self.line.as_mut()?.wrap(transmit)
    }
}

/// Returns the addresses at which a forwarder may be reached. They are those of the jump host's name, and the address
/// at which ssh reached its sshd. The server's own addresses are left out, even if the jump host names them.
fn addresses(call: &JumpCall, ends: &Ends, servers: &[SocketAddr]) -> Vec<SocketAddr> {
    let mut found: Vec<SocketAddr> = Vec::new();
    for address in call.addresses.iter().copied().chain(ends.address) {
        let end = SocketAddr::new(address.to_canonical(), ends.port);
        if !found.contains(&end) && !servers.contains(&end) {
            found.push(end);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use rove_platform::clock::Clock;
    use rustix::process::Signal;
    use signal_hook::consts::SIGUSR1;

    use super::*;
    use crate::bootstrap::command::{Stop, check_signals};
    use crate::tests::clients::{client, server};
    use crate::tunnel::inherited::Again;
    use crate::tunnel::spare::Spare;

    const ANSWERS: &str = "printf '\\003\\000\\02260001 - 10.0.0.1:9'; read -r line";

    const fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    /// Returns a session through ssh, and a jump host whose forwarder prints rove's first line and then runs `script`.
    fn setup(script: &str) -> (Jump, Client) {
        let mut session = client(at(0));
        session.handle_side_path(at(0), true);
        let script = format!("echo START 1; echo ROVE TUNNEL 1; {script}");
        let words = ["sh", "-c", &script].map(str::to_owned).into();
        let call = JumpCall { words, addresses: vec![[192, 0, 2, 7].into()] };
        (Jump::new(call, "START 1".to_owned(), server()), session)
    }

    fn news(jump: &mut Jump, session: &mut Client, now: Instant) -> News {
        let mut events = EventLoop::new(Clock::start(), &[]).unwrap();
        loop {
            events.wait(&mut jump.interests(), None).unwrap();
            if let Some(news) = jump.turn(now, &mut [0; 512], session) {
                return news;
            }
        }
    }

    #[test]
    fn a_forwarders_addresses_are_the_servers_for_as_long_as_its_ssh_lasts() {
        let (mut jump, mut session) = setup(ANSWERS);
        let all = |session: &Client| session.candidates().iter().collect::<Vec<_>>();
        assert_eq!(jump.wanted_at(&session), Some(at(2_000)));
        jump.start(at(2_000));
        assert_eq!(jump.wanted_at(&session), None);
        let News::Answered(source) = news(&mut jump, &mut session, at(2_100)) else { panic!() };
        assert_eq!(source, "10.0.0.1:9".parse().unwrap());
        let end = SocketAddr::from(([192, 0, 2, 7], 60_001));
        assert_eq!(all(&session), [server(), end]);
        let to = |destination| Transmit { destination, payload: vec![1; 9], tries_size: false };
        assert_eq!(jump.wrap(&to(end)).map(|wrapped| wrapped.payload.len()), Some(33));
        assert!(jump.wrap(&to(server())).is_none(), "the server's own address needs no seal");
        jump.line.as_mut().unwrap().ssh.process.signal(Signal::KILL);
        assert!(matches!(
            news(&mut jump, &mut session, at(9_000)),
            News::Ended { ending: None, .. }
        ));
        assert_eq!(all(&session), [server()]);
        assert!(jump.wrap(&to(end)).is_none());
        assert_eq!(jump.wanted_at(&session), Some(at(2_000)), "another may be started");
    }

    #[test]
    fn a_jump_host_without_a_forwarder_is_tried_twice_and_a_late_one_once() {
        let (mut jump, mut session) = setup("exit 1");
        for (start, is_tried_again) in [(2_000, true), (62_000, false)] {
            jump.start(at(start));
            let ended = news(&mut jump, &mut session, at(start + 100));
            assert!(matches!(ended, News::Ended { was_logging_in: true, .. }));
            assert_eq!(jump.wanted_at(&session).is_some(), is_tried_again);
        }
        let (mut jump, mut session) = setup("read -r line");
        jump.start(at(2_000));
        assert_eq!(jump.poll_timeout(&session), Some(at(7_000)));
        assert!(jump.turn(at(6_999), &mut [0; 512], &mut session).is_none());
        let ended = jump.turn(at(7_000), &mut [0; 512], &mut session);
        assert!(matches!(ended, Some(News::Ended { was_logging_in: true, .. })));
        assert_eq!(jump.wanted_at(&session), None);
    }

    #[test]
    fn a_jump_host_cannot_name_the_servers_own_address_as_its_forwarders() {
        let own = "printf '\\003\\000\\03260001 192.0.2.1 10.0.0.1:9'; read -r line";
        for (addresses, count) in [(vec![[192, 0, 2, 7].into()], 2), (Vec::new(), 1)] {
            let (mut jump, mut session) = setup(own);
            jump.call.addresses = addresses;
            jump.start(at(2_000));
            let mut events = EventLoop::new(Clock::start(), &[]).unwrap();
            while !jump.line.as_ref().unwrap().ssh.stands() {
                events.wait(&mut jump.interests(), None).unwrap();
                jump.turn(at(2_100), &mut [0; 512], &mut session);
            }
            if count == 2 && session.candidates().iter().count() == 1 {
                news(&mut jump, &mut session, at(2_200));
            }
            assert_eq!(session.candidates().iter().count(), count);
            let direct = Transmit { destination: server(), payload: vec![1], tries_size: false };
            assert!(jump.wrap(&direct).is_none());
        }
    }

    fn spare(script: &str) -> (Spare, Client) {
        let (Jump { call, first_line, .. }, session) = setup(script);
        let (words, asks_nothing) = (vec!["false".to_owned()], Some(true));
        let jump = Some(call);
        let again = Again { words, first_line, asks_nothing, jump, ..Again::default() };
        (Spare::new(again, server(), None), session)
    }

    #[test]
    fn a_signal_ends_the_wait_for_a_forwarder_of_the_doctors() {
        let Jump { call, first_line, .. } = setup("read -r line").0;
        let mut events = EventLoop::new(Clock::start(), &[SIGUSR1]).unwrap();
        rustix::process::kill_process(rustix::process::getpid(), Signal::USR1).unwrap();
        let opened = Line::open(&call, &first_line, &[server()], &mut events, check_signals);
        assert!(matches!(opened, Err(Stop::Interrupted)));
    }

    #[test]
    fn a_jump_host_that_hangs_or_cannot_be_logged_in_to_leaves_the_hosts_login_alone() {
        for is_missing in [false, true] {
            let (mut spare, mut session) = spare("read -r line");
            if is_missing {
                spare.jump.as_mut().unwrap().call.words = vec!["/nonexistent/ssh".to_owned()];
            }
            spare.turn(at(2_000), &mut session, |_| {});
            assert_eq!(spare.standby.give_up_at().is_none(), is_missing);
            spare.turn(at(7_000), &mut session, |_| {});
            assert_eq!(spare.standby.give_up_at(), None);
            let next = spare.standby.start_at(at(9_000));
            assert_eq!(next, Some(at(62_000)), "after a minute, without the user");
        }
    }

    #[test]
    fn a_forwarder_that_ends_leaves_the_hosts_login_its_limit() {
        let (mut spare, mut session) = spare(ANSWERS.split_once(';').unwrap().0);
        let mut events = EventLoop::new(Clock::start(), &[]).unwrap();
        let mut turn_until = |spare: &mut Spare, now, count| {
            spare.turn(now, &mut session, |_| {});
            while session.candidates().iter().count() != count {
                events.wait(&mut spare.interests(), None).unwrap();
                spare.turn(now, &mut session, |_| {});
            }
        };
        spare.jump.as_mut().unwrap().start(at(2_000));
        turn_until(&mut spare, at(2_100), 2);
        spare.standby.handle_start(at(62_000), false);
        turn_until(&mut spare, at(62_100), 1);
        assert_eq!(spare.standby.give_up_at(), Some(at(67_000)));
    }
}
