//! Keeps a server running after its session's end, to acknowledge the end again if the first acknowledgment was lost.
//!
//! The session's terminal is already released, so that programs get SIGHUP. So are its listeners, and its entries in
//! `rove list` and utmp. Another server of the same user that finds no free port may ask for this server's port.

use std::os::fd::AsFd;

use rove_host::pty::Child;
use rove_platform::event_loop::{EventLoop, Interest};
use rove_session::Server;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::server::wire::Wire;

/// Serves the session's clients until `session` need not linger, SIGTERM or SIGINT arrives, or another server asks for
/// the port. `child` is the session's program, which may still be running.
pub(super) fn linger(
    events: &mut EventLoop,
    mut session: Server,
    mut wire: Wire,
    mut child: Option<Child>,
) {
    while let Some(until) = session.lingers_until() {
        let mut interests = vec![Interest::new(wire.as_fd(), true, false)];
        interests.extend(wire.handover.as_ref().map(|it| Interest::new(it.as_fd(), true, false)));
        if let Err(error) = events.wait(&mut interests, Some(until)) {
            tracing::debug!(%error, "cannot linger");
            return;
        }
        let has_datagrams = interests[0].is_readable();
        if interests[1..].iter().any(Interest::is_readable) {
            return;
        }
        if events.take_signals().iter().any(|signal| [SIGTERM, SIGINT].contains(signal)) {
            return;
        }
        // A program that has ended must not remain a zombie.
        child.as_mut().map(Child::try_wait);
        let now = events.now();
        if has_datagrams {
            wire.receive(now, &mut session);
        }
        session.handle_timeout(now);
        wire.send(now, &mut session);
    }
}
