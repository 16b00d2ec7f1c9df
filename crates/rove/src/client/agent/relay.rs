//! The second way to lend the agent, where ssh cannot log in once more: the host listens for the client beside the session's
//! path to an agent, and connections come through streams.
//!
//! No host's key is bound to such a connection. So the agent refuses to sign with a key that is limited to hosts (`ssh-add -h`),
//! and the filter lets no program bind the connection to a host of its own choice.

use rove_bootstrap::{Place, RemoteForward};
use rove_streams::{Mux, StreamId};

use super::agent_socket::AgentSocket;

/// An agent that is lent without an ssh.
#[derive(Debug)]
pub(super) struct Relay {
    /// The stream about the agent.
    stream: StreamId,
    pub(super) socket: AgentSocket,
    /// Where the host listens.
    at: String,
    /// Why ssh does not lend the agent.
    reason: String,
    is_wanted: bool,
}

impl Relay {
    /// Creates a relay for the session that has this path to an agent. `name` is unlike that of other clients.
    pub(super) fn new(
        stream: StreamId,
        socket: AgentSocket,
        (path, name): (&str, &str),
        reason: String,
    ) -> Self {
        Self { stream, socket, at: format!("{path}-{name}"), reason, is_wanted: true }
    }

    /// Returns the listener that the host is asked for, once.
    pub(super) fn poll_listener(&mut self) -> Option<RemoteForward> {
        let target = self.socket.path().to_str()?.to_owned();
        let listen = Place::Socket(self.at.clone());
        let is_wanted = std::mem::take(&mut self.is_wanted);
        is_wanted.then_some(RemoteForward { listen, target: Some(Place::Socket(target)) })
    }

    /// Tells the host that the agent is there. Returns a sentence for the user.
    pub(super) fn begin(&self, mux: &mut Mux) -> String {
        // A new stream has room for a path.
        let told = mux.write(self.stream, &[self.at.as_bytes(), b"\n"].concat());
        tracing::debug!(?told, "the agent is lent by a relay");
        let reason = &self.reason;
        format!(
            "by a relay of rove's own, without keys that are limited to hosts (ssh-add -h): {reason}"
        )
    }

    /// Returns why nothing lends the agent.
    pub(super) fn failure(&self, refusal: &str) -> String {
        format!("{}; and the host does not listen for rove's own relay: {refusal}", self.reason)
    }

    /// Ends the stream about the agent.
    pub(super) fn end(&self, mux: &mut Mux) {
        let _ = mux.reset(self.stream, 0);
        let _ = mux.stop(self.stream, 0);
    }
}
