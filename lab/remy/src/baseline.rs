//! Baseline: a controller designed by people, which runs in the evaluator's network for comparison with tables.
//!
//! The evaluator's network has no retransmissions and no timers. A baseline learns of losses only by gaps in the
//! acknowledgments, and never by a timeout. In a network with an unlimited buffer and no random loss, nothing is lost.

use std::collections::VecDeque;

use rove_congestion::aimd::Aimd;
use rove_congestion::compound::Compound;
use rove_congestion::cubic::Cubic;
use rove_congestion::new_reno::NewReno;
use rove_congestion::vegas::Vegas;
use rove_congestion::{Ack, Controller, Loss};
use rove_units::{Bytes, Instant};

use crate::control::Control;

/// The size of a packet. A packet per ms is then 10 Mbit/s. Source: the published test scripts.
const PACKET: Bytes = Bytes::new(1_250);

/// A function that creates the controller of a new flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Baseline(fn() -> Box<dyn Controller>);

impl Baseline {
    /// All baselines, each with the name of its controller.
    pub(crate) const ALL: [(&'static str, Self); 5] = [
        ("aimd", Self(|| Box::new(Aimd::new(PACKET)))),
        ("new-reno", Self(|| Box::new(NewReno::new(PACKET)))),
        ("cubic", Self(|| Box::new(Cubic::new(PACKET)))),
        ("compound", Self(|| Box::new(Compound::new(PACKET)))),
        ("vegas", Self(|| Box::new(Vegas::new(PACKET)))),
    ];
}

/// A sender's control by a baseline.
#[derive(Debug)]
pub(crate) struct Driven {
    baseline: Baseline,
    controller: Box<dyn Controller>,
    /// The time at which each packet in flight was sent.
    in_flight: VecDeque<Instant>,
    now: Instant,
}

impl Driven {
    /// Creates the control of a sender without a flow.
    pub(crate) fn new(baseline: Baseline) -> Self {
        Self { baseline, controller: baseline.0(), in_flight: VecDeque::new(), now: Instant::ZERO }
    }

    fn in_flight(&self) -> Bytes {
        Bytes::new(PACKET.get() * self.in_flight.len() as u64)
    }
}

impl Control for Driven {
    fn start(&mut self, now: Instant) {
        self.controller = self.baseline.0();
        self.controller.on_start(now);
        self.in_flight.clear();
    }

    fn sent(&mut self, now: Instant) {
        self.in_flight.push_back(now);
        self.controller.on_sent(now, PACKET, self.in_flight());
    }

    fn acknowledge(&mut self, sent: Instant, received: Instant, lost: u64) {
        self.now = received;
        // Packets keep their order, so all packets before the acknowledged one are lost.
        let lost_packets = usize::try_from(lost).unwrap_or(usize::MAX).min(self.in_flight.len());
        let newest = self.in_flight.drain(..lost_packets).next_back();
        debug_assert_eq!(self.in_flight.front(), Some(&sent), "packets keep their order");
        self.in_flight.pop_front();
        if let Some(newest) = newest {
            let size = Bytes::new(PACKET.get() * lost);
            let in_flight = self.in_flight();
            self.controller
                .on_loss(received, &Loss { sent: newest, size, in_flight, is_persistent: false });
        }
        let ack = Ack {
            sent,
            received,
            size: PACKET,
            rtt: received.saturating_since(sent),
            in_flight: self.in_flight(),
            is_app_limited: false,
        };
        self.controller.on_ack(received, &ack);
    }

    fn decide(&mut self) {
        self.controller.on_end_acks(self.now, self.in_flight(), false);
    }

    fn window(&self) -> u32 {
        let packets = self.controller.window().get() / PACKET.get();
        u32::try_from(packets).unwrap_or(u32::MAX).max(1)
    }

    fn intersend_nanos(&self) -> u64 {
        u64::try_from(self.controller.spacing().as_nanos()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use rove_units::Seed;

    use super::*;
    use crate::network::run;
    use crate::training_network::TrainingNetwork;

    #[test]
    fn each_baseline_fills_a_link_with_a_queue_of_a_round_trip() {
        let network = TrainingNetwork {
            packets_per_ms: 1.0,
            rtt_ms: 50.0,
            senders: 1,
            mean_on_ms: 1e9,
            mean_off_ms: 1e-3,
            buffer_packets: Some(50),
            loss: 0.0,
            typing: None,
        };
        for (name, baseline) in Baseline::ALL {
            let run = run(&network, Seed::new(1), 60_000.0, |_| Driven::new(baseline), &mut ());
            let share = run.outcomes[0].received as f64 / 60_000.0;
            assert!((0.9..=1.0).contains(&share), "{name}: {share}");
            let delay = run.outcomes[0].delay_ms().expect("received");
            assert!((51.0..=101.0).contains(&delay), "{name}: {delay} ms");
        }
    }
}
