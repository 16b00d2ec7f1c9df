//! The client's end of a forwarder on a jump host: the ssh that runs it, and the seal over what goes there.
//!
//! It is started while ssh carries the session, in the hope that UDP reaches the jump host. It ends when the session does
//! without it.

use std::net::SocketAddr;

use rove_bootstrap::tunnel::carrier::Arrival;
use rove_bootstrap::tunnel::forwarder::{Ends, Order, Wrapper};
use rove_bootstrap::tunnel::standby::LOGIN_MAX;
use rove_platform::event_loop::Interest;
use rove_session::Client;
use rove_ssp::Transmit;
use rove_units::{Duration, Instant};
use rustix::process::Pid;

use crate::entropy;
use crate::tunnel::inherited::JumpCall;
use crate::tunnel::near::is_refusal;
use crate::tunnel::ssh::{Look, Ssh};

/// How long ssh has carried the session when a forwarder is wanted. Chosen: two rounds of probes of the server itself, on
/// a path of half a second.
const WANTED_AFTER: Duration = Duration::from_secs(2);
/// How long a forwarder that served may be silent beside ssh until another is wanted: its ssh may have died unnoticed.
/// Chosen: as long as between two automatic logins.
const SILENT_MAX: Duration = Duration::from_secs(60);
/// Number of logins without a forwarder after which a session tries no more. Chosen: one may have met a bad moment.
const FAILURES_MAX: u8 = 2;

/// The ssh of a forwarder, if one is wanted.
#[derive(Debug)]
pub(super) struct Jump {
    call: JumpCall,
    /// The first line of the command's output, which contains the run's random challenge.
    first_line: String,
    /// The server to which the forwarder sends.
    server: SocketAddr,
    ssh: Option<Ssh>,
    started_at: Instant,
    wrapper: Option<Wrapper>,
    /// Where the forwarder listens; empty until it has answered.
    ends: Vec<SocketAddr>,
    /// Whether this forwarder has served.
    was_used: bool,
    failures: u8,
}

/// A change of a forwarder's ssh.
pub(super) enum News {
    /// The forwarder has answered, and sends from this address.
    Answered(SocketAddr),
    /// The ssh is to end, or has ended. If the login failed, whether only the user could have logged in.
    Ended { pid: Option<Pid>, needs_user: bool },
}

impl Jump {
    pub(super) fn new(call: JumpCall, first_line: String, server: SocketAddr) -> Self {
        Self {
            call,
            first_line,
            server,
            ssh: None,
            started_at: Instant::default(),
            wrapper: None,
            ends: Vec::new(),
            was_used: false,
            failures: 0,
        }
    }

    /// Returns when to log in for a forwarder. `None` while that is not wanted.
    pub(super) fn wanted_at(&self, session: &Client) -> Option<Instant> {
        let is_possible = self.ssh.is_none() && self.failures < FAILURES_MAX;
        session.side_path_since().filter(|_| is_possible).map(|since| since + WANTED_AFTER)
    }

    /// Returns when [`Jump::turn`] has to end the ssh though nothing happens.
    pub(super) fn poll_timeout(&self, session: &Client) -> Option<Instant> {
        self.ssh.as_ref()?;
        if self.ends.is_empty() {
            return Some(self.started_at + LOGIN_MAX);
        }
        session.side_path_since().filter(|_| self.was_used).map(|since| since + SILENT_MAX)
    }

    /// Returns the descriptors to wait for.
    pub(super) fn interests(&mut self) -> Vec<Interest<'_>> {
        self.ssh.iter_mut().flat_map(Ssh::interests).collect()
    }

    /// Starts an ssh that runs a forwarder under a key of its own.
    pub(super) fn start(&mut self, now: Instant) {
        tracing::info!("UDP is not answered: looking for a forwarder on the jump host");
        (self.started_at, self.was_used) = (now, false);
        let started = entropy::key().map_err(std::io::Error::other).and_then(|key| {
            let mut ssh = Ssh::start(&self.call.words, &self.first_line, false)?;
            self.wrapper = Some(Wrapper::new(&key));
            ssh.say(Order { server: self.server, key }.to_text());
            Ok(ssh)
        });
        match started {
            Ok(ssh) => self.ssh = Some(ssh),
            Err(error) => {
                tracing::info!(%error, "no ssh to the jump host");
                self.failures = FAILURES_MAX;
            }
        }
    }

    /// Reads and writes without waiting. Returns what is new.
    pub(super) fn turn(
        &mut self,
        now: Instant,
        buffer: &mut [u8],
        session: &mut Client,
    ) -> Option<News> {
        let ssh = self.ssh.as_mut()?;
        let mut words = None;
        let look = ssh.look(buffer, |arrival| {
            if let Arrival::Words(text) = arrival {
                words = Some(text);
            }
        });
        ssh.write();
        let answer = words.filter(|_| self.ends.is_empty());
        if let Some(ends) = answer.and_then(|text| Ends::from_text(&text)) {
            self.failures = 0;
            self.ends = addresses(&self.call, &ends);
            tracing::info!(ends = ?self.ends, "a forwarder is there");
            session.handle_forwarder(now, &self.ends);
            return Some(News::Answered(ends.source));
        }
        self.was_used |= session.uses_forwarder();
        let is_answering = !self.ends.is_empty();
        let is_late = self.poll_timeout(session).is_some_and(|at| at <= now);
        let is_wanted = session.uses_side_path()
            || session.uses_forwarder()
            || session.side_path_wanted_at().is_some_and(|at| at <= now);
        let mut needs_user = is_late && !is_answering;
        match look {
            Look::Ended(reason) => {
                let said = self.ssh.as_mut().map(Ssh::last_words).unwrap_or_default();
                let reason = reason.unwrap_or(said);
                tracing::info!(%reason, "the forwarder's ssh has ended");
                needs_user = is_refusal(&reason);
                self.failures += u8::from(!is_answering);
            }
            Look::Open if is_late => self.failures += u8::from(!is_answering),
            Look::Open if is_wanted => return None,
            Look::Open => tracing::info!("the session does without a forwarder"),
        }
        self.ends.clear();
        session.handle_forwarder(now, &[]);
        Some(News::Ended { pid: self.ssh.take().and_then(|mut ssh| ssh.release()), needs_user })
    }

    /// Returns the datagram for the forwarder in place of one to its address. `None` for any other address.
    pub(super) fn wrap(&mut self, transmit: &Transmit) -> Option<Transmit> {
        let wrapper =
            self.wrapper.as_mut().filter(|_| self.ends.contains(&transmit.destination))?;
        Some(Transmit { payload: wrapper.wrap(&transmit.payload), ..transmit.clone() })
    }
}

/// Returns where a forwarder may be reached: at the addresses of the jump host's name, and where its sshd was.
fn addresses(call: &JumpCall, ends: &Ends) -> Vec<SocketAddr> {
    let mut found: Vec<SocketAddr> = Vec::new();
    for address in call.addresses.iter().copied().chain(ends.address) {
        let end = SocketAddr::new(address.to_canonical(), ends.port);
        if !found.contains(&end) {
            found.push(end);
        }
    }
    found
}
