//! A tunnel: the packets of several flows, each with a queue of its own.

use std::collections::VecDeque;

use rove_congestion::sprout::endpoint::Waiting;
use rove_congestion::sprout::tunnel::Queues;
use rove_units::Bytes;

use crate::sprout::session::Application;

/// Bytes before each packet for the number of its flow.
const FLOW: Bytes = Bytes::new(2);

/// Most arrived packets that wait to be taken. Then the oldest are dropped. Chosen: a tick's arrivals at 1 Gbit/s.
const DELIVERED_MAX: usize = 2_048;

/// The data of a session that carries the packets of several flows.
#[derive(Clone, Debug, Default)]
pub struct Tunnel {
    queues: Queues,
    delivered: VecDeque<(u16, Vec<u8>)>,
}

impl Tunnel {
    /// Puts a packet into the queue of its flow. `deliverable` is what the link carries while the forecast lasts.
    pub fn push(&mut self, flow: u16, packet: Vec<u8>, deliverable: Bytes) {
        self.queues.push(flow, packet, deliverable);
    }

    /// Removes and returns a packet that has come through.
    pub fn pop(&mut self) -> Option<(u16, Vec<u8>)> {
        self.delivered.pop_front()
    }

    /// Returns how many packets were dropped because a queue was full.
    pub const fn dropped(&self) -> u64 {
        self.queues.dropped()
    }
}

impl Application for Tunnel {
    fn waiting(&mut self, deliverable: Bytes) -> Waiting {
        self.queues.limit(deliverable);
        self.queues.waiting(FLOW)
    }

    fn take(&mut self, size: usize) -> Vec<u8> {
        let Some((flow, packet)) = self.queues.pop() else { return vec![0; size] };
        let mut data = flow.to_be_bytes().to_vec();
        data.extend(packet);
        data
    }

    fn deliver(&mut self, data: &[u8]) {
        let Some((flow, packet)) = data.split_first_chunk() else { return };
        if self.delivered.len() >= DELIVERED_MAX {
            self.delivered.pop_front();
        }
        self.delivered.push_back((u16::from_be_bytes(*flow), packet.to_vec()));
    }
}

#[cfg(test)]
mod tests {
    use rove_link::LinkConfig;
    use rove_link::net::{Net, RIGHT_ADDRESS};
    use rove_ssp::Key;
    use rove_units::{BitRate, Duration, Instant, Seed};

    use super::*;
    use crate::sprout::session::Session;

    #[test]
    fn a_flow_of_small_packets_is_not_held_up_by_one_that_fills_the_tunnel() {
        let link = LinkConfig {
            rate: BitRate::from_bits_per_second(2_000_000),
            overhead: rove_headless::HEADERS,
            ..LinkConfig::lossless(Duration::from_millis(20))
        };
        let key = Key::from_bytes([5; 16]);
        let left = Session::near(&key, RIGHT_ADDRESS, Tunnel::default(), Instant::ZERO);
        let right = Session::far(&key, Tunnel::default(), Instant::ZERO);
        let mut net = Net::new(left, right, link.clone(), link, Seed::new(1));
        let (mut longest, mut small, mut full) = (0, 0, 0);
        for millis in (0..20_000_u64).step_by(10) {
            let deliverable = net.left.deliverable();
            // The flows are 5 Mbit/s of full packets, and a packet of 40 bytes each 100 ms that tells when it was sent.
            for _ in 0..5 {
                net.left.application.push(1, vec![1; 1_250], deliverable);
            }
            if millis % 100 == 0 {
                let packet = [millis.to_be_bytes().to_vec(), vec![0; 32]].concat();
                net.left.application.push(2, packet, deliverable);
            }
            net.run_for(Duration::from_millis(10));
            while let Some((flow, packet)) = net.right.application.pop() {
                if flow == 1 {
                    full += 1;
                    continue;
                }
                small += 1;
                let sent = u64::from_be_bytes(*packet.first_chunk().expect("a time"));
                longest = longest.max((net.now().as_millis() - sent) * u64::from(millis > 1_000));
            }
        }
        assert!(small > 195, "{small} of 200 small packets came");
        assert!(full > 1_500, "{full} full packets came");
        assert!(longest < 250, "{longest} ms for a small packet");
        assert!(net.left.application.dropped() > 5_000, "the rest was dropped at once");
    }
}
