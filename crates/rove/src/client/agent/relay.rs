//! Forwards the agent without a second ssh, if that ssh cannot log in. The host listens at a socket beside the
//! session's `SSH_AUTH_SOCK`, and connections come to the client through streams.
//!
//! ssh binds no host key to a connection through the relay. The agent thus refuses to sign with keys that are
//! restricted to hosts (`ssh-add -h`). The filter (`agent/filter.rs`) keeps programs on the host from binding a host
//! key.

use rove_bootstrap::{Place, RemoteForward};
use rove_streams::{Mux, StreamId};

use super::agent_socket::AgentSocket;

/// An agent that is forwarded without an ssh.
#[derive(Debug)]
pub(super) struct Relay {
    /// The stream on which the client tells the host the path of the agent socket.
    stream: StreamId,
    pub(super) socket: AgentSocket,
    /// The path at which the host listens.
    at: String,
    /// The reason why no ssh forwards the agent.
    reason: String,
    is_wanted: bool,
    /// Whether the host knows the relay's path. The path stays the same if the listener is opened again.
    is_told: bool,
}

impl Relay {
    /// Creates a relay for a session whose `SSH_AUTH_SOCK` is `path`. `name` must differ between clients.
    pub(super) fn new(
        stream: StreamId,
        socket: AgentSocket,
        (path, name): (&str, &str),
        reason: String,
    ) -> Self {
        Self {
            stream,
            socket,
            at: format!("{path}-{name}"),
            reason,
            is_wanted: true,
            is_told: false,
        }
    }

    /// Returns the listener that the host must open. `None` after the first call, or if the agent's path is not UTF-8.
    pub(super) fn poll_listener(&mut self) -> Option<RemoteForward> {
        let target = self.socket.path().to_str()?.to_owned();
        let listen = Place::Socket(self.at.clone());
        let is_wanted = std::mem::take(&mut self.is_wanted);
        is_wanted.then_some(RemoteForward { listen, target: Some(Place::Socket(target)) })
    }

    /// Tells the host the relay's path. Returns a sentence for the user, or `None` if the host knows the path already.
    pub(super) fn begin(&mut self, mux: &mut Mux) -> Option<String> {
        if std::mem::replace(&mut self.is_told, true) {
            return None;
        }
        // The path fits into a new stream's credit, so it is written at once.
        let told = mux.write(self.stream, &[self.at.as_bytes(), b"\n"].concat());
        tracing::debug!(?told, "the agent is lent by a relay");
        let reason = &self.reason;
        Some(format!(
            "by a relay of rove's own, without keys that are limited to hosts (ssh-add -h): {reason}"
        ))
    }

    /// Returns why neither ssh nor the relay forwards the agent.
    pub(super) fn failure(&self, refusal: &str) -> String {
        format!("{}; and the host does not listen for rove's own relay: {refusal}", self.reason)
    }

    /// Resets the stream on which the client would tell the host the path.
    pub(super) fn end(&self, mux: &mut Mux) {
        mux.reset_and_stop(self.stream, 0);
    }
}
