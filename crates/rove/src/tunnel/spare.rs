//! An ssh beside UDP: it carries datagrams while UDP is silent, and ends when UDP answers.
//!
//! The first ssh is that of the bootstrap's login. Later ones log in without the user as often as [`Standby`] allows,
//! or the user logs in. The ssh that starts a forwarder on a jump host is one of these logins.

use std::io;
use std::net::SocketAddr;

use rove_bootstrap::tunnel::carrier::Arrival;
use rove_bootstrap::tunnel::standby::Standby;
use rove_platform::event_loop::{EventLoop, Interest};
use rove_session::Client;
use rove_ssp::Transmit;
use rove_units::Instant;
use rustix::process::{Pid, WaitOptions, kill_process, waitpid};

use crate::ssh_reaper::SshReaper;
use crate::tunnel::inherited::{Again, Inherited};
use crate::tunnel::jump::{Jump, News};
use crate::tunnel::login::{self, Login};
use crate::tunnel::near::{READ_LEN, is_refusal};
use crate::tunnel::ssh::{Look, Ssh};

/// The ssh beside UDP, if one is running, and the rules that start another.
#[derive(Debug)]
pub(crate) struct Spare {
    again: Again,
    pub(super) standby: Standby,
    ssh: Option<Ssh>,
    /// The forwarder on a jump host, if there may be one.
    pub(super) jump: Option<Jump>,
    /// The ssh processes that are ending, seldom more than one, each with the signals it will get.
    ending: Vec<(Pid, SshReaper)>,
    buffer: Vec<u8>,
}

impl Spare {
    /// Creates the path beside UDP, to this server, with the ssh of the bootstrap's login.
    ///
    /// # Errors
    ///
    /// Returns an error if that ssh does not exist.
    pub(crate) fn take(inherited: &Inherited, server: SocketAddr) -> anyhow::Result<Self> {
        let (descriptors, pid) = inherited.take()?;
        Ok(Self::new(inherited.again.clone(), server, Some(Ssh::new(pid, descriptors)?)))
    }

    pub(super) fn new(again: Again, server: SocketAddr, ssh: Option<Ssh>) -> Self {
        let may_log_in = again.asks_nothing == Some(true) && !again.words.is_empty();
        let jump = again.jump.clone();
        Self {
            jump: jump.map(|call| Jump::new(call, again.first_line.clone(), server)),
            again,
            standby: Standby::new(may_log_in),
            ssh,
            ending: Vec::new(),
            buffer: vec![0; READ_LEN],
        }
    }

    pub(crate) fn send(&mut self, datagram: &[u8]) {
        if let Some(ssh) = &mut self.ssh {
            ssh.send(datagram);
        }
    }

    /// Returns the descriptors to wait for.
    pub(crate) fn interests(&mut self) -> Vec<Interest<'_>> {
        let jump = self.jump.iter_mut().flat_map(Jump::interests);
        self.ssh.iter_mut().flat_map(Ssh::interests).chain(jump).collect()
    }

    /// Returns the datagram to send in place of this one, if it goes to a forwarder.
    pub(crate) fn wrap(&mut self, transmit: &Transmit) -> Option<Transmit> {
        self.jump.as_mut()?.wrap(transmit)
    }

    /// Returns when to call [`Spare::turn`] if nothing else happens. `None` for never.
    pub(crate) fn poll_timeout(&self, session: &Client) -> Option<Instant> {
        let start = session.side_path_wanted_at().filter(|_| self.ssh.is_none());
        let start = start.and_then(|at| self.standby.start_at(at));
        let dead = session.side_path_dead_at().filter(|_| self.ssh.is_some());
        let reap = self.ending.iter().map(|(_, reaper)| reaper.poll_timeout()).min();
        let jump = self.jump.as_ref().and_then(|jump| {
            let start = jump.wanted_at(session).and_then(|at| self.standby.start_at(at));
            start.or(jump.poll_timeout(session))
        });
        [start, dead, self.standby.give_up_at(), reap, jump].into_iter().flatten().min()
    }

    /// Reads and writes without waiting, passes arrived datagrams to `take`, and starts or ends ssh as the session
    /// needs.
    pub(crate) fn turn(&mut self, now: Instant, session: &mut Client, take: impl FnMut(Arrival)) {
        self.reap(now);
        if let Some(ssh) = &mut self.ssh {
            let stood = ssh.stands();
            let look = ssh.look(&mut self.buffer, take);
            ssh.write();
            let stands = ssh.stands();
            if stands && !stood {
                self.standby.handle_end(false);
                session.handle_side_path(now, true);
            }
            let is_late = !stands && self.standby.give_up_at().is_some_and(|at| at <= now);
            let is_dead = session.side_path_dead_at().is_some_and(|at| at <= now);
            let is_wanted = session.side_path_wanted_at().is_some_and(|at| at <= now);
            if let Look::Ended(reason) = look {
                self.note_end(now, reason, session);
            } else if is_late || is_dead {
                tracing::info!(is_late, is_dead, "ssh beside UDP is ended");
                self.standby.handle_end(is_late);
                self.end(now, session);
            } else if !session.uses_side_path() && (stands || !is_wanted) {
                tracing::info!("UDP is answered: ssh ends");
                self.standby.handle_end(false);
                self.end(now, session);
            }
        }
        self.turn_jump(now, session);
        let wanted_at = session.side_path_wanted_at().filter(|_| self.ssh.is_none());
        let is_wanted = wanted_at.is_some_and(|at| at <= now);
        if is_wanted && self.start_at(wanted_at).is_some_and(|at| at <= now) {
            self.start(now);
        }
        let offers = is_wanted && self.standby.needs_user() && !self.again.words.is_empty();
        session.offer_login(now, offers);
    }

    /// Reads, starts or ends the ssh of a forwarder as the session needs.
    fn turn_jump(&mut self, now: Instant, session: &mut Client) {
        let Some(jump) = &mut self.jump else { return };
        match jump.turn(now, &mut self.buffer, session) {
            Some(News::Answered(source)) => {
                self.standby.handle_end(false);
                // The host's end tells the server what this path is.
                self.ssh.iter_mut().for_each(|ssh| ssh.say(source.to_string()));
            }
            Some(News::Ended { pid, was_logging_in }) => {
                // The host's own login goes on, whatever a jump host does.
                if was_logging_in {
                    self.standby.handle_end(false);
                }
                self.ending.extend(pid.map(|pid| (pid, SshReaper::new(now))));
            }
            None => {}
        }
        let start = jump.wanted_at(session).and_then(|at| self.standby.start_at(at));
        if start.is_some_and(|at| at <= now) {
            self.standby.handle_start(now);
            if !jump.start(now) {
                self.standby.handle_end(false);
            }
        }
    }

    /// Lets the user log in by ssh on the terminal. Returns the signals that arrived meanwhile.
    ///
    /// # Errors
    ///
    /// Returns the system's error while waiting.
    pub(crate) fn log_in(
        &mut self,
        events: &mut EventLoop,
        session: &mut Client,
    ) -> io::Result<Vec<i32>> {
        let Login { outcome, signals } = login::run(&self.again, events, &mut self.buffer)?;
        self.standby.handle_user();
        match outcome {
            Ok(ssh) => {
                self.ssh = Some(ssh);
                session.handle_side_path(events.now(), true);
            }
            Err(reason) => tracing::info!(?reason, "no login beside UDP"),
        }
        Ok(signals)
    }

    fn start_at(&self, wanted_at: Option<Instant>) -> Option<Instant> {
        self.standby.start_at(wanted_at?)
    }

    fn start(&mut self, now: Instant) {
        tracing::info!("UDP is not answered: logging in by ssh");
        self.standby.handle_start(now);
        match Ssh::start(&self.again.words, &self.again.first_line, false) {
            Ok(ssh) => self.ssh = Some(ssh),
            Err(error) => {
                tracing::info!(%error, "ssh does not start");
                self.standby.handle_end(false);
            }
        }
    }

    fn note_end(&mut self, now: Instant, reason: Option<String>, session: &mut Client) {
        let said = self.ssh.as_mut().map(Ssh::last_words).unwrap_or_default();
        let reason = reason.unwrap_or(said);
        tracing::info!(%reason, "ssh beside UDP has ended");
        self.standby.handle_end(is_refusal(&reason));
        self.end(now, session);
    }

    /// Ends ssh: closes its streams at once, and sends signals if it stays.
    fn end(&mut self, now: Instant, session: &mut Client) {
        session.handle_side_path(now, false);
        if let Some(pid) = self.ssh.take().and_then(|mut ssh| ssh.release()) {
            self.ending.push((pid, SshReaper::new(now)));
        }
        self.reap(now);
    }

    fn reap(&mut self, now: Instant) {
        self.ending.retain_mut(|(pid, reaper)| {
            let is_there = matches!(waitpid(Some(*pid), WaitOptions::NOHANG), Ok(None));
            if let Some(signal) = reaper.poll_signal(now).filter(|_| is_there) {
                // A process number is not used again until the process is waited for.
                let _ = kill_process(*pid, signal);
            }
            is_there
        });
    }
}
