//! A simulated path for the tests of the controllers: it delivers a window in each round trip.

use rove_units::{Bytes, Duration, Instant};

use crate::controller::{Ack, Controller, Loss};

pub(crate) const PACKET: Bytes = Bytes::new(1_000);

/// A path of constant delay, and of limited rate if `rate` is set, that carries one whole window after another.
pub(crate) struct Path<C> {
    pub(crate) controller: C,
    pub(crate) now: Instant,
    pub(crate) rtt: Duration,
    /// Packets a second.
    pub(crate) rate: Option<u32>,
    /// By how much the receiver's clock is faster, as a share of the time.
    pub(crate) drift: f64,
    pub(crate) lose: bool,
}

impl<C: Controller> Path<C> {
    pub(crate) fn new(controller: C, rtt_millis: u64) -> Self {
        let rtt = Duration::from_millis(rtt_millis);
        Self { controller, now: Instant::ZERO, rtt, rate: None, drift: 0.0, lose: false }
    }

    pub(crate) fn with_rate(controller: C, rtt_millis: u64, rate: u32) -> Self {
        Self { rate: Some(rate), ..Self::new(controller, rtt_millis) }
    }

    /// Loses a packet of the next window. The controller learns of the loss before the window is sent.
    pub(crate) fn lose(&mut self) {
        self.lose = true;
        let size = PACKET;
        let in_flight = self.controller.window() - size;
        self.controller
            .on_loss(self.now, &Loss { sent: self.now, size, in_flight, is_persistent: false });
        self.now += Duration::from_nanos(1);
    }

    /// Sends the windows of `rounds` round trips; returns the number of packets of each.
    pub(crate) fn windows(&mut self, rounds: usize) -> Vec<u64> {
        (0..rounds).map(|_| self.round()).collect()
    }

    fn round(&mut self) -> u64 {
        let window = self.controller.window();
        let count = window.get() / PACKET.get();
        let sent = self.now;
        for _ in 0..count {
            self.controller.on_sent(sent, PACKET, window);
        }
        // Packets beyond the path's rate wait, so the round trip takes longer.
        let carried = |rate: u32| Duration::from_secs(count) / rate;
        let rtt = self.rate.map_or(self.rtt, |rate| self.rtt.max(carried(rate)));
        self.now += rtt;
        let at = self.now - self.rtt / 2;
        let elapsed = at.saturating_since(Instant::ZERO).as_secs_f64();
        // The receiver's clock began an hour ahead, so that a slow clock shows no time below zero.
        let offset = Duration::from_secs_f64(3_600.0 + self.drift * elapsed);
        for number in 0..count {
            let in_flight = Bytes::new((count - number - 1) * PACKET.get());
            let (received, size) = (at + offset, PACKET);
            let ack = Ack { sent, received, size, rtt, in_flight, is_app_limited: false };
            self.controller.on_ack(self.now, &ack);
        }
        self.controller.on_end_acks(self.now, Bytes::ZERO, false);
        count
    }
}

/// Returns the mean window over time, in packets, of a flow that loses one packet of `every`.
pub(crate) fn average_window(controller: impl Controller, rtt_millis: u64, every: u32) -> f64 {
    let mut path = Path::new(controller, rtt_millis);
    let (mut left, mut lost) = (i64::from(every), 0);
    let (mut sum, mut rounds) = (0, 0);
    while lost < 60 {
        if left < 0 {
            left += i64::from(every);
            lost += 1;
            path.lose();
        }
        let window = path.round();
        left -= i64::try_from(window).expect("a small number");
        // The windows up to the twentieth loss still show slow start, so they are left out.
        if lost > 20 {
            (sum, rounds) = (sum + window, rounds + 1);
        }
    }
    let [sum, rounds] = [sum, rounds].map(|it| f64::from(u32::try_from(it).expect("a small sum")));
    sum / rounds
}

mod properties {
    use proptest::prelude::*;

    use super::*;
    use crate::sprout::Scale;

    fn all() -> Vec<Box<dyn Controller>> {
        vec![
            Box::new(crate::aimd::Aimd::new(PACKET)),
            Box::new(crate::new_reno::NewReno::new(PACKET)),
            Box::new(crate::cubic::Cubic::new(PACKET)),
            Box::new(crate::compound::Compound::new(PACKET)),
            Box::new(crate::vegas::Vegas::new(PACKET)),
            Box::new(crate::ledbat::Ledbat::new(PACKET)),
            Box::new(crate::low_delay::LowDelay::new(PACKET)),
            Box::new(crate::sprout_ack::SproutAck::new(Scale::Linear, PACKET, Duration::ZERO)),
            Box::new(crate::sprout_ack::SproutAck::new(Scale::Wide, PACKET, Duration::ZERO)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Acknowledgments and losses may have any size and time, packets 40 or 1500 bytes, and silences last years.
        /// The window always has room for a packet, and no call panics or hangs.
        #[test]
        fn every_controller_survives_anything_that_a_flow_may_tell_it(
            calls in proptest::collection::vec(
                (0..6_u8, prop_oneof![0..50_000_000_u64, any::<u64>()], prop_oneof![Just(40_u64), Just(1_500), any::<u64>()], any::<bool>()),
                1..120,
            )
        ) {
            for mut controller in all() {
                let mut now = Instant::ZERO;
                controller.on_start(now);
                for (kind, gap, size, flag) in &calls {
                    let (size, sent) = (Bytes::new(*size), now);
                    now += Duration::from_nanos(*gap);
                    let rtt = now.saturating_since(sent);
                    match kind {
                        0 => controller.on_sent(now, size, size),
                        1 => {
                            let (received, in_flight) = (now, size);
                            let ack = Ack { sent, received, size, rtt, in_flight, is_app_limited: *flag };
                            controller.on_ack(now, &ack);
                            controller.on_end_acks(now, in_flight, *flag);
                        }
                        2 => {
                            let loss = Loss { sent, size, in_flight: size, is_persistent: *flag };
                            controller.on_loss(now, &loss);
                        }
                        3 => controller.on_tick(now),
                        4 => controller.on_spurious_loss(sent),
                        _ => controller.on_mtu_update(Bytes::new(1_200 + size.get() % 300)),
                    }
                    prop_assert!(controller.window() >= Bytes::new(500), "{:?}", controller);
                    prop_assert!(controller.spacing() < Duration::from_secs(3_600));
                }
            }
        }
    }
}
