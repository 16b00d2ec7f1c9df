//! A server that stays for a while after its client has left, and tells the client again that it knows where the first
//! acknowledgment was lost.
//!
//! All that belonged to the session is gone by then: its terminal, so that programs hear of the hang-up, and its entries in
//! `rove list` and among those who are logged in. The port goes to another server of the same user that finds no other.

use std::os::fd::AsFd;

use rove_platform::event_loop::{EventLoop, Interest};
use rove_platform::pty::Child;
use rove_session::Server;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::server::wire::Wire;

/// Lingers for as long as the session asks for, or until a signal ends this process or another server wants the port. The
/// program may still run as our child.
pub(super) fn linger(
    events: &mut EventLoop,
    mut session: Server,
    mut wire: Wire,
    mut child: Child,
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
        // A program that has ended is not to be left in the table of processes.
        child.try_wait();
        let now = events.now();
        if has_datagrams {
            wire.receive(now, &mut session);
        }
        session.handle_timeout(now);
        wire.send(now, &mut session);
    }
}
