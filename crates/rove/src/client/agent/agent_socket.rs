//! The client's own agent socket, at which the host reaches the user's agent.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rove_bootstrap::LentAgent;
use rove_platform::event_loop::Interest;

use crate::agent::socket::PrivateSocket;

/// A listening socket of the client, and the path of the user's agent, to which the socket's connections are passed.
#[derive(Debug)]
pub(super) struct AgentSocket {
    socket: PrivateSocket,
    real: PathBuf,
}

impl AgentSocket {
    /// Opens a socket, after checking that the agent accepts connections.
    ///
    /// # Errors
    ///
    /// Returns why no agent can be forwarded, in words for the user.
    pub(super) fn open(agent: &LentAgent) -> io::Result<Self> {
        let real = path_of(agent).ok_or_else(|| {
            io::Error::other("no agent runs on this computer; start one with ssh-agent")
        })?;
        rove_control::connect(&real)
            .map_err(|error| io::Error::other(format!("the agent does not answer: {error}")))?;
        Ok(Self { socket: PrivateSocket::open("lent")?, real })
    }

    pub(super) fn path(&self) -> &Path {
        self.socket.path()
    }

    /// Accepts a connection from the host, connects to the user's agent for it, and returns both. Closes a connection
    /// if `has_room` is false. Also closes it if the agent, perhaps waiting for its user, does not accept at once.
    /// `None` if no connection waits.
    pub(super) fn accept(&mut self, has_room: bool) -> Option<(OwnedFd, OwnedFd)> {
        self.socket.unmute();
        loop {
            let asker = self.socket.accept()?;
            if !has_room {
                continue;
            }
            match rove_control::connect(&self.real) {
                Ok(agent) => return Some((asker, agent.into())),
                Err(error) => tracing::debug!(%error, "the user's agent takes no connection"),
            }
        }
    }

    /// Returns the descriptor to wait for before [`AgentSocket::accept`]. `None` after a failed `accept`.
    pub(super) fn interest(&self) -> Option<Interest<'_>> {
        self.socket.interest()
    }
}

/// Returns whether the agent accepts connections.
pub(crate) fn answers(agent: &LentAgent) -> bool {
    path_of(agent).is_some_and(|path| rove_control::connect(&path).is_ok())
}

/// Returns the path of the agent's socket. `None` if the environment variable with the path is not set, or empty.
pub(crate) fn path_of(agent: &LentAgent) -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty());
    match agent {
        LentAgent::Usual => variable("SSH_AUTH_SOCK").map(PathBuf::from),
        LentAgent::At(place) => match (place.strip_prefix('$'), place.strip_prefix("~/")) {
            (Some(name), _) => variable(name.trim_matches(['{', '}'])).map(PathBuf::from),
            (None, Some(rest)) => variable("HOME").map(|home| Path::new(&home).join(rest)),
            (None, None) => Some(place.into()),
        },
    }
}
