//! A RemyCC as the congestion controller of a flow.

use std::sync::Arc;

use rove_units::{Bytes, Duration, Instant};

use crate::controller::{Ack, Controller, Loss};
use crate::remy::sender::RemySender;
use crate::remy::table::Table;

/// A congestion controller that follows a RemyCC table. It ignores losses, except for their effect on the
/// acknowledgments. After persistent congestion the flow begins again.
#[derive(Clone, Debug)]
pub struct RemyController {
    table: Arc<Table>,
    sender: RemySender,
    packet: Bytes,
    has_heard: bool,
}

impl RemyController {
    /// Creates a controller for packets of size `packet`. Its flow has not begun yet.
    pub fn new(table: Arc<Table>, packet: Bytes) -> Self {
        let sender = RemySender::new(&table);
        Self { table, sender, packet, has_heard: false }
    }
}

impl Controller for RemyController {
    fn on_start(&mut self, _: Instant) {
        self.sender = RemySender::new(&self.table);
        self.has_heard = false;
    }

    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        // The receiver's clock has an unknown offset, so the send time plus the round-trip time counts as the arrival.
        let received = ack.sent + ack.rtt;
        self.sender.acknowledge(ack.sent, received.min(now));
        self.has_heard = true;
    }

    fn on_end_acks(&mut self, _: Instant, _: Bytes, _: bool) {
        if core::mem::take(&mut self.has_heard) {
            self.sender.decide(&self.table);
        }
    }

    fn on_loss(&mut self, now: Instant, loss: &Loss) {
        if loss.is_persistent {
            self.on_start(now);
        }
    }

    fn on_mtu_update(&mut self, packet: Bytes) {
        self.packet = packet;
    }

    fn window(&self) -> Bytes {
        Bytes::new(self.packet.get().saturating_mul(u64::from(self.sender.window())))
    }

    fn spacing(&self) -> Duration {
        self.sender.intersend()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remy::action::Action;
    use crate::remy::domain::Domain;
    use crate::remy::memory::Axis;
    use crate::remy::table::Rule;

    const PACKET: Bytes = Bytes::new(1_200);

    fn ack(sent: u64, rtt: u64) -> Ack {
        Ack {
            sent: Instant::from_millis(sent),
            received: Instant::from_millis(1_000_000 + sent + rtt),
            size: PACKET,
            rtt: Duration::from_millis(rtt),
            in_flight: PACKET,
            is_app_limited: false,
        }
    }

    #[test]
    fn a_batch_of_acknowledgments_is_one_decision_and_persistent_congestion_a_new_flow() {
        let [begin, later] = Domain::WHOLE.split(Axis::RttRatio, 1.0);
        let rules = [(begin, 2, 1.0), (later, 1, 5.0)].map(|(domain, increment, intersend_ms)| {
            Rule { domain, action: Action { multiple: 1.0, increment, intersend_ms } }
        });
        let table = Table::new(Domain::WHOLE, rules.to_vec()).expect("two halves");
        let mut controller = RemyController::new(Arc::new(table), PACKET);
        controller.on_start(Instant::ZERO);
        assert_eq!(controller.window(), Bytes::new(2 * 1_200));
        let now = Instant::from_millis(200);
        controller.on_ack(now, &ack(10, 100));
        controller.on_ack(now, &ack(20, 120));
        assert_eq!(controller.window(), Bytes::new(2 * 1_200), "not before the batch ends");
        controller.on_end_acks(now, PACKET, false);
        controller.on_end_acks(now, PACKET, false);
        assert_eq!(controller.window(), Bytes::new(3 * 1_200), "once");
        assert_eq!(controller.spacing(), Duration::from_millis(5));
        let mut loss = Loss { sent: now, size: PACKET, in_flight: PACKET, is_persistent: false };
        controller.on_loss(now, &loss);
        assert_eq!(controller.window(), Bytes::new(3 * 1_200));
        loss.is_persistent = true;
        controller.on_loss(now, &loss);
        assert_eq!(controller.window(), Bytes::new(2 * 1_200));
        assert_eq!(controller.spacing(), Duration::from_millis(1));
    }
}
