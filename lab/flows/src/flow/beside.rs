//! A flow beside a session: both have the same two ends, and share the path between them.

use core::net::SocketAddr;

use rove_link::net::End;
use rove_units::Instant;

use crate::flow::ends::MARK;

/// An end of a session, and maybe the end of a flow at the same address.
#[derive(Debug)]
pub struct Beside<S, F> {
    /// The session's end, which sends first when both have something to send.
    pub session: S,
    /// The flow's end.
    pub flow: Option<F>,
}

impl<S: End, F: End> End for Beside<S, F> {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        if !payload.starts_with(&MARK) {
            self.session.handle_datagram(now, source, payload);
        } else if let Some(flow) = &mut self.flow {
            flow.handle_datagram(now, source, payload);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        if is_due(&self.session, now) {
            self.session.handle_timeout(now);
        }
        if let Some(flow) = self.flow.as_mut().filter(|flow| is_due(*flow, now)) {
            flow.handle_timeout(now);
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        let transmit = self.session.poll_transmit(now);
        transmit.or_else(|| self.flow.as_mut().and_then(|flow| flow.poll_transmit(now)))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let flow = self.flow.as_ref().and_then(End::poll_timeout);
        [self.session.poll_timeout(), flow].into_iter().flatten().min()
    }
}

fn is_due(end: &impl End, now: Instant) -> bool {
    end.poll_timeout().is_some_and(|due| due <= now)
}
