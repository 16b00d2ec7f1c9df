//! The host's side of a running session: its program, and its entries in lists of users and sessions.

use rove_control::{Listener, SessionName, SessionStatus};
use rove_host::pty::{Child, Master};
use rove_session::ExitStatus;
use rove_units::Instant;

use crate::server::client_path::PathWatch;
use crate::server::hold::Hold;
use crate::server::stream_life::StreamLife;
use crate::utmp::Entry;

pub(super) struct Host {
    pub(super) content: Content,
    /// Whether the program's output waits for the client.
    pub(super) hold: Hold,
    /// The session's entry among the logged-in users. `None` if the session is not listed.
    pub(super) entry: Option<Entry>,
    /// The control socket, for `rove list`, `rove kill` and others. `None` if the session is not listed. The field is
    /// the last, so that the socket closes after all other resources are released. Only a lingering server's port is
    /// released later.
    pub(super) control: Option<Control>,
}

/// The content of a session: a program, or only streams.
pub(super) enum Content {
    /// The session runs a program on a terminal.
    Program(Hosted),
    /// The session has no program, and only carries streams.
    Streams(StreamLife),
}

/// A program and its terminal.
pub(super) struct Hosted {
    /// The master side of the pty, from which output is read and to which keys are written.
    pub(super) master: Master,
    pub(super) child: Child,
}

impl Host {
    /// Returns the session's program. `None` if it has none.
    pub(super) const fn program(&self) -> Option<&Hosted> {
        match &self.content {
            Content::Program(hosted) => Some(hosted),
            Content::Streams(_) => None,
        }
    }

    /// Returns the exit status of the program. `None` while the program runs, and if there is no program.
    pub(super) fn try_wait(&mut self) -> Option<ExitStatus> {
        match &mut self.content {
            Content::Program(hosted) => hosted.child.try_wait(),
            Content::Streams(_) => None,
        }
    }

    /// Returns when a session without a program ends for lack of streams. `None` for never.
    pub(super) fn stream_deadline(&self) -> Option<Instant> {
        match &self.content {
            Content::Program(_) => None,
            Content::Streams(life) => life.deadline(),
        }
    }

    /// Releases everything except the program's process, and returns the process. `None` without a program.
    pub(super) fn let_go(self) -> Option<Child> {
        let Self { content, hold: _, entry, control } = self;
        let child = match content {
            Content::Program(Hosted { master, child }) => {
                drop(master);
                Some(child)
            }
            Content::Streams(_) => None,
        };
        drop(entry);
        drop(control);
        child
    }
}

/// The session's control socket, and the facts for its answers.
pub(super) struct Control {
    pub(super) listener: Listener,
    /// The facts about the session that are constant, and the descriptions of joined clients.
    pub(super) card: SessionStatus,
    pub(super) path: PathWatch,
}

impl Control {
    /// Opens the control socket of the session with this name.
    pub(super) fn open(name: SessionName, card: SessionStatus) -> Self {
        let listener = Listener::open(name, card.attachment.session.clone());
        Self { listener, card, path: PathWatch::default() }
    }
}
