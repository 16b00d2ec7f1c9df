//! Opens ports of this computer by which a browser's callback after a web login reaches the host, if the user agrees.
//!
//! The port comes from a web address on the screen, which any program can print. The address alone therefore opens no
//! port. A question in rove's own words names the port, the host, and the host's foreground program if the host tells
//! it. After the user says yes, rove opens the port.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};

use rove_bootstrap::{Forward, Place};
use rove_session::Callback;
use rove_streams::{Mux, Target};
use rove_terminal::shortened;
use rove_units::{Duration, Instant};

use crate::opening::{Answered, Opening};

/// Time after which the port of a login is closed. Chosen: a user has logged in by then.
const OPEN_FOR: Duration = Duration::from_secs(600);

/// Time for the user to answer the question, which is then withdrawn. Chosen: as for the question about the agent.
const PATIENCE: Duration = Duration::from_secs(30);

/// Longest wait for the host to name its foreground program before the question is asked. Chosen: as long as a user
/// waits for the effect of a key.
const NAME_WAIT: Duration = Duration::from_secs(1);

/// Most ports that are open for web logins at a time. Chosen: a user logs in at few places in ten minutes.
const OPEN_MAX: usize = 8;

/// Greatest width of a program's and of a host's name in a question, in columns. Chosen: the question fits 40 columns.
const NAME_COLUMNS_MAX: usize = 36;

/// Why no port is opened for a login, in words for the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum CallbackError {
    /// The port is open for an earlier login.
    #[error("port {0} is open here already")]
    Open(u16),
    /// [`OPEN_MAX`] ports are open for earlier logins.
    #[error("{OPEN_MAX} ports are open for logins; each closes in time")]
    Full,
    /// Another socket already listens at the port.
    #[error("port {0} is in use on this computer, so the login cannot come")]
    InUse(u16),
}

/// The ports that a session has opened for logins, and the pending question.
#[derive(Debug, Default)]
pub(super) struct LoginCallbacks {
    /// The host as the user wrote it, or empty if unknown.
    host: String,
    wanted: Option<Wanted>,
    /// The open ports, and the time at which each is closed.
    open: Vec<(u16, Instant)>,
}

/// The login for which the user has asked to open a port.
#[derive(Debug)]
struct Wanted {
    callback: Callback,
    /// The request for the program's name. `None` if the request failed, or once the question is complete.
    opening: Option<Opening>,
    /// The question's text. `None` while the client waits for the program's name.
    question: Option<String>,
    /// The deadline for the host to name the program, and later for the user to answer.
    until: Instant,
}

impl LoginCallbacks {
    /// Creates the state of a session without open ports. `host` is the host in the user's spelling.
    pub(super) fn new(host: Option<&str>) -> Self {
        Self { host: shortened(host.unwrap_or_default(), NAME_COLUMNS_MAX), ..Self::default() }
    }

    /// Asks the host for its foreground program. Plans a question about the login, in place of an earlier question.
    ///
    /// # Errors
    ///
    /// Returns why no port can be opened, in words for the user.
    pub(super) fn begin(
        &mut self,
        now: Instant,
        mux: &mut Mux,
        callback: Callback,
    ) -> Result<(), CallbackError> {
        let port = callback.port;
        if self.open.iter().any(|(open, _)| *open == port) {
            return Err(CallbackError::Open(port));
        }
        if self.open.len() >= OPEN_MAX {
            return Err(CallbackError::Full);
        }
        let opening = Opening::begin(now, mux, &Target::Foreground).ok();
        let until = now + NAME_WAIT;
        let former = self.wanted.replace(Wanted { callback, opening, question: None, until });
        if let Some(opening) = former.and_then(|it| it.opening) {
            mux.finish_and_stop(opening.id(), 0);
        }
        Ok(())
    }

    /// Completes the question once the program's name has arrived, cannot arrive, or is late. Withdraws a question that
    /// the user did not answer in time.
    pub(super) fn turn(&mut self, now: Instant, mux: &mut Mux) {
        let Some(wanted) = &mut self.wanted else { return };
        if wanted.question.is_some() {
            self.wanted.take_if(|it| it.until <= now);
            return;
        }
        let answered = wanted.opening.as_mut().and_then(|it| it.answer(now, mux));
        let is_late = wanted.opening.is_none() || wanted.until <= now;
        let program = match answered {
            Some(Answered::Opened(name)) => shortened(&name, NAME_COLUMNS_MAX),
            Some(_) => String::new(),
            None if is_late => String::new(),
            None => return,
        };
        if let Some(opening) = wanted.opening.take() {
            mux.finish_and_stop(opening.id(), 0);
        }
        wanted.question = Some(question(&wanted.callback, &program, &self.host));
        wanted.until = now + PATIENCE;
    }

    /// Returns the question to show to the user. `None` without a login, or while the program's name is awaited.
    pub(super) fn question(&self) -> Option<&str> {
        self.wanted.as_ref()?.question.as_deref()
    }

    /// Handles the user's yes. Returns the listener to open, or `None` if no question is shown.
    ///
    /// # Errors
    ///
    /// Returns why the port cannot be opened, in words for the user.
    pub(super) fn handle_yes(&mut self, now: Instant) -> Result<Option<Forward>, CallbackError> {
        let Some(wanted) = self.wanted.take_if(|it| it.question.is_some()) else { return Ok(None) };
        let Callback { port, loopback, .. } = wanted.callback;
        if !is_free(port) {
            return Err(CallbackError::InUse(port));
        }
        debug_assert!(self.open.iter().all(|(open, _)| *open != port), "a port is opened once");
        self.open.push((port, now + OPEN_FOR));
        debug_assert!(self.open.len() <= OPEN_MAX, "a question is asked while there is room");
        let target = Some(Place::Port(Some(loopback.to_owned()), port));
        Ok(Some(Forward { listen: place(port), target }))
    }

    /// Removes a port that was open for [`OPEN_FOR`]. Returns the listener to close, or `None` if no port is so old.
    pub(super) fn poll_expired(&mut self, now: Instant) -> Option<Place> {
        let at = self.open.iter().position(|(_, until)| *until <= now)?;
        Some(place(self.open.remove(at).0))
    }

    /// Removes the port at `at` in any of its spellings, because its listener was closed or never opened.
    pub(super) fn forget(&mut self, at: &Place) {
        self.open.retain(|(port, _)| !place(*port).is_listener(at));
    }

    /// Forgets the question and all ports. The caller closes the listeners.
    pub(super) fn clear(&mut self) {
        (self.wanted, self.open) = (None, Vec::new());
    }

    /// Returns the earliest deadline for a program's name, the user's answer or closing a port. `None` without one.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let wanted = self.wanted.iter().map(|it| it.until);
        wanted.chain(self.open.iter().map(|(_, until)| *until)).min()
    }
}

/// Returns the question about a login. An empty name is unknown.
fn question(callback: &Callback, program: &str, host: &str) -> String {
    let Callback { login, port, .. } = callback;
    let program = if program.is_empty() { "a program" } else { program };
    let host = if host.is_empty() { "the host" } else { host };
    format!("Open port {port} here to {program} on {host} for 10 minutes? The login is at {login}.")
}

/// Returns the place of a listener on the loopback of IPv4 and IPv6 only, whatever `GatewayPorts` says.
fn place(port: u16) -> Place {
    Place::Port(Some("localhost".to_owned()), port)
}

/// Returns whether no program listens at the port on the loopback of IPv4 or IPv6. A browser may connect to either
/// address, and must not send the login to another program.
fn is_free(port: u16) -> bool {
    let is_taken = |address: SocketAddr| {
        TcpListener::bind(address).is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse)
    };
    !is_taken((Ipv4Addr::LOCALHOST, port).into()) && !is_taken((Ipv6Addr::LOCALHOST, port).into())
}

#[cfg(test)]
mod tests;
