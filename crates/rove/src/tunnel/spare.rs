//! The client's end of an ssh in reserve for UDP. It carries datagrams while UDP is silent. It ends when UDP answers.
//!
//! The first ssh is that of the session's login. Later ssh processes log in without the user, as often as [`Standby`]
//! allows, or the user logs in. If an ssh is silent, another logs in at the same time, because the silent ssh may be
//! slow or dead. [`Standby`] also counts the login of an ssh that starts a forwarder on a jump host.

use std::io;
use std::net::SocketAddr;

use rove_bootstrap::tunnel::carrier::Arrival;
use rove_bootstrap::tunnel::standby::{End, Standby};
use rove_platform::event_loop::{EventLoop, Interest};
use rove_session::Client;
use rove_ssp::Transmit;
use rove_units::Instant;

use crate::ssh_reaper::SshReaper;
use crate::tunnel::inherited::{Again, Inherited};
use crate::tunnel::jump::{Jump, News};
use crate::tunnel::login::{self, Login};
use crate::tunnel::near::{READ_LEN, is_refusal};
use crate::tunnel::ssh::{Look, Ssh, release};

/// The ssh in reserve for UDP, if one is running, and the rules that start another.
#[derive(Debug)]
pub(crate) struct Spare {
    again: Again,
    pub(super) standby: Standby,
    ssh: Option<Ssh>,
    /// Another ssh that is logging in, because `ssh` is silent.
    next: Option<Ssh>,
    /// The forwarder on a jump host, if there may be one.
    pub(super) jump: Option<Jump>,
    /// The ssh processes that are ending, seldom more than one.
    ending: Vec<SshReaper>,
    buffer: Vec<u8>,
}

impl Spare {
    /// Creates the path over ssh to this server, with the ssh of the session's login.
    ///
    /// # Errors
    ///
    /// Returns an error if ssh's process number or pipes are not valid.
    pub(crate) fn take(inherited: &Inherited, server: SocketAddr) -> anyhow::Result<Self> {
        Ok(Self::new(inherited.again.clone(), server, Some(Ssh::new(inherited.take()?))))
    }

    pub(super) fn new(again: Again, server: SocketAddr, ssh: Option<Ssh>) -> Self {
        let may_log_in = again.asks_nothing == Some(true) && !again.words.is_empty();
        let (jump, shares) = (again.jump.clone(), again.shares);
        Self {
            jump: jump.map(|call| Jump::new(call, again.first_line.clone(), server)),
            again,
            standby: Standby::new(may_log_in, shares),
            ssh,
            next: None,
            ending: Vec::new(),
            buffer: vec![0; READ_LEN],
        }
    }

    pub(crate) fn send(&mut self, datagram: &[u8]) {
        if let Some(ssh) = &mut self.ssh {
            ssh.send(datagram);
        }
    }

    /// Returns whether ssh can take a packet of streams and still has room for the session's datagrams.
    pub(crate) fn has_room(&self) -> bool {
        self.ssh.as_ref().is_some_and(Ssh::has_room)
    }

    /// Returns the descriptors to wait for.
    pub(crate) fn interests(&mut self) -> Vec<Interest<'_>> {
        let jump = self.jump.iter_mut().flat_map(Jump::interests);
        let both = self.ssh.iter_mut().chain(&mut self.next);
        both.flat_map(Ssh::interests).chain(jump).collect()
    }

    /// Returns whether the path to the host has a jump host on which a forwarder may be started.
    pub(crate) const fn has_forwarder(&self) -> bool {
        self.jump.is_some()
    }

    /// Returns the sealed form of a datagram to a forwarder's address, or `None` for any other address.
    pub(crate) fn wrap(&mut self, transmit: &Transmit) -> Option<Transmit> {
        self.jump.as_mut()?.wrap(transmit)
    }

    /// Returns when to call [`Spare::turn`] if nothing else happens. `None` if no call is needed.
    pub(crate) fn poll_timeout(&self, session: &Client) -> Option<Instant> {
        let start = self.wanted_at(session).and_then(|at| self.standby.start_at(at));
        let dead = session.side_path_dead_at().filter(|_| self.ssh.is_some());
        let reap = self.ending.iter().map(SshReaper::poll_timeout).min();
        let jump = self.jump.as_ref().and_then(|jump| {
            let start = jump.wanted_at(session).and_then(|at| self.standby.start_at(at));
            start.or(jump.poll_timeout(session))
        });
        [start, dead, self.standby.give_up_at(), reap, jump].into_iter().flatten().min()
    }

    /// Reads and writes without blocking, passes arrived datagrams to `take`, and starts or ends ssh as needed.
    pub(crate) fn turn(&mut self, now: Instant, session: &mut Client, take: impl FnMut(Arrival)) {
        release(&mut self.ending, now, None);
        self.turn_next(now, session);
        if let Some(ssh) = &mut self.ssh {
            let stood = ssh.stands();
            let look = ssh.look(&mut self.buffer, take);
            ssh.write();
            let stands = ssh.stands();
            if stands && !stood {
                self.standby.handle_end(End::Passing);
                session.handle_side_path(now, true);
            }
            let is_late = !stands && self.standby.give_up_at().is_some_and(|at| at <= now);
            let is_dead = session.side_path_dead_at().is_some_and(|at| at <= now);
            let is_wanted = session.side_path_wanted_at().is_some_and(|at| at <= now);
            if let Look::Ended(reason) = look {
                self.note_end(now, reason, session);
            } else if is_late || is_dead {
                tracing::info!(is_late, is_dead, "ssh beside UDP is ended");
                let end = if is_late { late(ssh) } else { End::Passing };
                self.handle_end(end);
                self.end(now, session);
            } else if !session.uses_side_path() && (stands || !is_wanted) {
                tracing::info!("UDP is answered: ssh ends");
                self.handle_end(End::Passing);
                self.end(now, session);
            }
        }
        self.turn_jump(now, session);
        let wanted_at = self.wanted_at(session).filter(|at| *at <= now);
        let has_none = self.ssh.is_none();
        if wanted_at.and_then(|at| self.standby.start_at(at)).is_some_and(|at| at <= now) {
            self.start(now);
        }
        let offers = has_none
            && wanted_at.is_some()
            && self.standby.needs_user()
            && !self.again.words.is_empty();
        session.offer_login(now, offers);
    }

    /// Returns when to start an ssh, because none runs or the present ssh is silent. `None` if no other ssh is needed.
    fn wanted_at(&self, session: &Client) -> Option<Instant> {
        match &self.ssh {
            None => session.side_path_wanted_at(),
            Some(ssh) if ssh.stands() && self.next.is_none() => session.side_path_late_at(),
            Some(_) => None,
        }
    }

    /// Reads from the new ssh that logs in because the present ssh is silent. If the present ssh is still silent when
    /// the new ssh is ready, the new ssh replaces it. Otherwise, and if its login takes too long, the new ssh ends.
    fn turn_next(&mut self, now: Instant, session: &mut Client) {
        let Some(mut next) = self.next.take() else { return };
        let look = next.look(&mut self.buffer, |_| ());
        let is_silent = session.side_path_late_at().is_some_and(|at| at <= now);
        let is_over = self.standby.give_up_at().is_some_and(|at| at <= now);
        let end = match look {
            Look::Ended(reason) => end_for(&reason.unwrap_or_else(|| next.last_words())),
            Look::Open if !next.stands() && is_over && is_silent => late(&next),
            Look::Open if next.stands() || is_over => End::Passing,
            Look::Open => {
                self.next = Some(next);
                return;
            }
        };
        tracing::info!(stands = next.stands(), is_silent, "the login beside a late ssh is over");
        self.standby.handle_end(end);
        if next.stands() && is_silent {
            let late = self.ssh.replace(next);
            session.handle_side_path(now, true);
            release(&mut self.ending, now, late);
        } else {
            release(&mut self.ending, now, Some(next));
        }
    }

    /// Records the end of a login of `ssh`, except while `next` is logging in. [`Standby`] then waits for `next`.
    fn handle_end(&mut self, end: End) {
        if self.next.is_none() {
            self.standby.handle_end(end);
        }
    }

    /// Reads, starts or ends the ssh of a forwarder as the session needs.
    fn turn_jump(&mut self, now: Instant, session: &mut Client) {
        let Some(jump) = &mut self.jump else { return };
        match jump.turn(now, &mut self.buffer, session) {
            Some(News::Answered(source)) => {
                self.standby.handle_end(End::Passing);
                // The host's end of the tunnel tells the server that this address is a forwarder's.
                self.ssh.iter_mut().for_each(|ssh| ssh.say(source.to_string()));
            }
            Some(News::Ended { ending, was_logging_in }) => {
                // A failure at the jump host does not count against logins to the host.
                if was_logging_in {
                    self.standby.handle_end(End::Passing);
                }
                self.ending.extend(ending);
            }
            None => {}
        }
        let start = jump.wanted_at(session).and_then(|at| self.standby.start_at(at));
        if start.is_some_and(|at| at <= now) {
            self.standby.handle_start(now, false);
            if !jump.start(now) {
                self.standby.handle_end(End::Passing);
            }
        }
    }

    /// Lets the user log in by ssh on the terminal. Returns the signals that arrived meanwhile.
    pub(crate) fn log_in(
        &mut self,
        events: &mut EventLoop,
        session: &mut Client,
    ) -> io::Result<Vec<i32>> {
        let words = self.again.call(self.standby.avoids_shared());
        let first_line = &self.again.first_line;
        let Login { outcome, ending, signals } =
            login::run(&words, first_line, events, &mut self.buffer)?;
        self.ending.extend(ending);
        self.standby.handle_user(outcome.is_ok());
        match outcome {
            Ok(ssh) => {
                self.ssh = Some(ssh);
                session.handle_side_path(events.now(), true);
            }
            Err(reason) => tracing::info!(?reason, "no login beside UDP"),
        }
        Ok(signals)
    }

    fn start(&mut self, now: Instant) {
        tracing::info!(is_beside = self.ssh.is_some(), "UDP is not answered: logging in by ssh");
        let is_own = self.standby.handle_start(now, self.ssh.is_some());
        let words = [&self.again.guard[..], &self.again.call(is_own)].concat();
        match Ssh::start(&words, &self.again.first_line, false) {
            Ok(ssh) if self.ssh.is_some() => self.next = Some(ssh),
            Ok(ssh) => self.ssh = Some(ssh),
            Err(error) => {
                tracing::info!(%error, "ssh does not start");
                self.standby.handle_end(End::Passing);
            }
        }
    }

    fn note_end(&mut self, now: Instant, reason: Option<String>, session: &mut Client) {
        let said = self.ssh.as_mut().map(Ssh::last_words).unwrap_or_default();
        let reason = reason.unwrap_or(said);
        tracing::info!(%reason, "ssh beside UDP has ended");
        self.handle_end(end_for(&reason));
        self.end(now, session);
    }

    /// Ends the present ssh. The ssh that is logging in, if any, replaces it.
    fn end(&mut self, now: Instant, session: &mut Client) {
        session.handle_side_path(now, false);
        let ended = core::mem::replace(&mut self.ssh, self.next.take());
        release(&mut self.ending, now, ended);
    }
}

/// Returns the outcome of a login that ended for this reason.
fn end_for(reason: &str) -> End {
    if is_refusal(reason) { End::Refused } else { End::Passing }
}

/// Returns the outcome of a login that took too long.
fn late(ssh: &Ssh) -> End {
    if ssh.is_unanswered() { End::Unanswered } else { End::Late }
}
