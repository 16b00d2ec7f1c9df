//! A queue for datagrams that a client has read from a socket, but cannot handle in this turn of its loop.

use std::collections::VecDeque;
use std::io;
use std::net::UdpSocket;

use crate::received::Received;
use crate::socket::receive_waiting;

/// Datagrams that a call of [`receive_waiting`] has read, but its caller could not handle yet. They are at most as many
/// as one call of that function reads.
#[derive(Debug, Default)]
pub struct Inbox {
    waiting: VecDeque<(Received, Vec<u8>)>,
}

impl Inbox {
    /// Returns whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Passes the queued datagrams to `handle` until it returns false. Returns whether it always returned true.
    pub fn hand_over(&mut self, mut handle: impl FnMut(Received, &[u8]) -> bool) -> bool {
        while let Some((received, payload)) = self.waiting.pop_front() {
            if !handle(received, &payload) {
                return false;
            }
        }
        true
    }

    /// Reads the datagrams that wait on `socket` as [`receive_waiting`] does, and passes each to `handle` until it
    /// returns false. The queue keeps the rest. Call this only while the queue is empty, to keep the datagrams' order.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`receive_waiting`].
    pub fn receive(
        &mut self,
        socket: &UdpSocket,
        mut handle: impl FnMut(Received, &[u8]) -> bool,
    ) -> io::Result<()> {
        debug_assert!(self.is_empty(), "datagrams stay in their order");
        let mut goes_on = true;
        receive_waiting(socket, |received, payload| {
            if goes_on {
                goes_on = handle(received, payload);
            } else {
                self.waiting.push_back((received, payload.to_vec()));
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use rove_ssp::Transmit;
    use rustix::event::{PollFd, PollFlags, poll};

    use super::*;
    use crate::{ClientSockets, PortRange, ServerSocket, send, send_segments};

    #[test]
    fn a_turn_without_room_leaves_the_rest_of_a_batch_for_the_next_in_order() {
        let any = PortRange { low: 0, high: 0 };
        let server = ServerSocket::bind(Ipv4Addr::LOCALHOST.into(), any).unwrap();
        let client = ClientSockets::open(server.local_addr()).unwrap();
        let destination = server.local_addr();
        let batch: Vec<Transmit> = (0..20)
            .map(|number| Transmit { destination, payload: vec![number; 900], tries_size: false })
            .collect();
        if !send_segments(client.newest(), &batch, None) {
            batch.iter().for_each(|it| send(client.newest(), it).unwrap());
        }
        let (mut inbox, mut seen) = (Inbox::default(), Vec::new());
        let mut waits_for_more = true;
        while seen.len() < batch.len() {
            let turn_ends_at = seen.len() + 7;
            let handle = |received: Received, payload: &[u8]| {
                assert_eq!((received.len, payload.len()), (900, 900));
                seen.push(payload[0]);
                seen.len() < turn_ends_at
            };
            if inbox.is_empty() {
                poll(&mut [PollFd::new(server.get(), PollFlags::IN)], None).unwrap();
                inbox.receive(server.get(), handle).unwrap();
                waits_for_more &= inbox.is_empty();
            } else {
                // The last turn may have room for more datagrams than are queued, and nothing more arrives.
                let had_room = inbox.hand_over(handle);
                assert_eq!(had_room, seen.len() < turn_ends_at);
            }
        }
        assert!(seen.iter().copied().eq(0..20), "{seen:?}");
        assert!(!waits_for_more, "a batch was longer than a turn");
    }
}
