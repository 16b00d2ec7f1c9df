//! Sprout-ACK over whole links, in virtual time.

use rove_congestion::Controller;
use rove_congestion::sprout::Scale;
use rove_congestion::sprout_ack::SproutAck;
use rove_flows::flow::contender::Contender;
use rove_flows::flow::controlled::Controlled;
use rove_flows::flow::ends::Arrival;
use rove_flows::flow::source::{FULL, Source};
use rove_flows::flow::{self, FlowOptions};
use rove_link::{LinkConfig, Order, Schedule, Steps, Synthetic, Trace};
use rove_units::{BitRate, Bytes, Duration, Instant, Seed};

/// 500 full packets a second: ten in each tick.
const RATE: u64 = 6_000_000;

fn link(rate: u64) -> LinkConfig {
    LinkConfig {
        rate: BitRate::from_bits_per_second(rate),
        overhead: rove_headless::HEADERS,
        ..LinkConfig::lossless(Duration::from_millis(20))
    }
}

fn options(uplink: impl Into<Steps>, seconds: u64) -> FlowOptions {
    FlowOptions {
        uplink: uplink.into(),
        downlink: LinkConfig::lossless(Duration::from_millis(20)).into(),
        seed: Seed::new(7),
        length: Duration::from_secs(seconds),
        skipped: Duration::ZERO,
        slot: Duration::ZERO,
    }
}

fn source(scale: Scale) -> Controlled {
    Controlled::new(Box::new(SproutAck::new(scale, FULL, Duration::ZERO)))
}

fn arrivals(scale: Scale, options: FlowOptions) -> Vec<Arrival> {
    flow::run(source(scale), options).1
}

/// A source with a full packet in each `gap` up to `until`, and with as much data as can be sent from then on.
struct SlowUntil {
    source: Controlled,
    gap: Duration,
    until: Instant,
    /// When the source has its next packet.
    next: Instant,
    /// Whether the window had room when there was nothing to send.
    is_app_limited: bool,
}

impl Source for SlowUntil {
    fn start(&mut self, now: Instant) {
        self.next = now;
        self.source.start(now);
    }

    fn poll_send(&mut self, now: Instant, in_flight: Bytes) -> Option<Bytes> {
        self.is_app_limited = self.next > now && in_flight + FULL <= self.window();
        let packet = (self.next <= now).then(|| self.source.poll_send(now, in_flight)).flatten();
        if packet.is_some() {
            self.next = (self.next + self.gap).min(self.until);
        }
        packet
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let data = self.is_app_limited.then_some(self.next);
        [data, self.source.poll_timeout()].into_iter().flatten().min()
    }

    fn controller(&mut self) -> Option<&mut dyn Controller> {
        self.source.controller()
    }

    fn window(&self) -> Bytes {
        self.source.window()
    }

    fn is_controlled(&self) -> bool {
        true
    }

    fn heartbeat(&self) -> Option<Duration> {
        self.source.heartbeat()
    }

    fn is_app_limited(&self) -> bool {
        self.is_app_limited
    }
}

/// Returns the waits of packets that were sent between two times, in ms, the shortest first.
fn waits(arrivals: &[Arrival], from: u64, to: u64) -> Vec<u128> {
    let [from, to] = [from, to].map(Instant::from_millis);
    let sent = arrivals.iter().map(|arrival| arrival.delivery);
    let sent = sent.filter(|delivery| (from..to).contains(&delivery.sent));
    let wait = sent.map(|it| it.arrived.saturating_since(it.sent).as_millis().saturating_sub(22));
    let mut waits: Vec<u128> = wait.collect();
    waits.sort_unstable();
    assert!(!waits.is_empty(), "packets came");
    waits
}

fn sprout(form: &str) -> Contender {
    Contender::Sprout(form.to_owned().try_into().expect("a form"))
}

/// Returns the longest wait in the queue of packets that were sent between two times, in ms.
fn longest_queue(arrivals: &[Arrival], from: u64, to: u64) -> u128 {
    waits(arrivals, from, to).last().copied().expect("packets came")
}

/// Returns how many packets came between two times, as a share of what the link carries.
fn share(arrivals: &[Arrival], from: u64, to: u64) -> f64 {
    let [begin, end] = [from, to].map(Instant::from_millis);
    let came = arrivals.iter().filter(|it| (begin..end).contains(&it.delivery.arrived));
    let carried = f64::from(u32::try_from(to - from).expect("ms")) / 2.0;
    f64::from(u32::try_from(came.count()).expect("few")) / carried
}

#[test]
fn a_steady_link_settles_at_the_forecast_with_a_short_queue() {
    for scale in [Scale::Linear, Scale::Wide] {
        let came = arrivals(scale, options(link(RATE), 30));
        assert!(share(&came, 10_000, 30_000) > 0.6, "{scale:?} {}", share(&came, 10_000, 30_000));
        assert!(longest_queue(&came, 10_000, 30_000) < 100, "{scale:?}");
    }
    // On Sprout's grid, the 5 % quantile of five ticks of ten packets is 34: 68 ms, of which 40 ms are the link's.
    let came = arrivals(Scale::Linear, options(link(RATE), 30));
    let waits = waits(&came, 10_000, 30_000);
    let median = waits[waits.len() / 2];
    assert!((15..45).contains(&median), "{median} ms");
}

#[test]
fn the_queue_is_short_again_five_ticks_after_the_rate_has_halved() {
    for scale in [Scale::Linear, Scale::Wide] {
        let halves = [(Duration::from_secs(10), link(RATE)), (Duration::MAX, link(RATE / 2))];
        let steps = Steps::new(halves).expect("two steps");
        let came = arrivals(scale, options(steps, 20));
        let wait = longest_queue(&came, 10_140, 20_000);
        assert!(wait < 100, "{scale:?}: {wait} ms");
    }
}

#[test]
fn a_flow_that_had_little_to_send_fills_the_link_within_three_round_trips() {
    for scale in [Scale::Linear, Scale::Wide] {
        // This source uses a tenth of the link.
        let (gap, until) = (Duration::from_millis(20), Instant::from_millis(5_000));
        let (source, next) = (source(scale), Instant::ZERO);
        let slow = SlowUntil { source, gap, until, next, is_app_limited: false };
        let came = flow::run(slow, options(link(RATE), 10)).1;
        assert!((0.08..0.12).contains(&share(&came, 1_000, 5_000)), "{scale:?}");
        let used = share(&came, 5_120, 6_120);
        assert!(used > 0.8, "{scale:?}: {used}");
    }
}

/// Returns a link of ten minutes as Sprout takes cellular links for, with outages. In two minutes a few outages make all of the 95 % delay.
fn drawn(seed: Seed) -> FlowOptions {
    let outage_mean = Duration::from_millis(300);
    let length = Duration::from_secs(600);
    let model = Synthetic { start: Some(400.0), outage_mean, length, ..Synthetic::default() };
    let [uplink, downlink] = ["there", "back"].map(|way| {
        let trace = model.trace(seed.stream(way).fork(0)).expect("ten minutes are a trace");
        let link = LinkConfig {
            schedule: Some(Schedule::new(trace)),
            order: Order::LossDelayQueue,
            overhead: rove_headless::HEADERS,
            ..LinkConfig::lossless(Duration::from_millis(20))
        };
        link.into()
    });
    let (skipped, slot) = (Duration::from_secs(60), Duration::ZERO);
    FlowOptions { uplink, downlink, seed, length, skipped, slot }
}

/// The limits are those of the proposal, on each link.
#[test]
fn on_drawn_links_it_is_near_sprout() {
    for seed in 1..5 {
        let options = drawn(Seed::new(seed));
        let sprout = sprout("sprout-one-way").run(None, options.clone());
        let ack = Contender::SproutAck.run(None, options);
        let delay = |report: &flow::FlowReport| report.self_inflicted_ms.expect("a trace");
        let ratio = ack.bits_per_second / sprout.bits_per_second;
        assert!(ratio > 0.85, "seed {seed}: {ratio} of its throughput");
        let more = delay(&ack) - delay(&sprout);
        assert!(more < 20.0, "seed {seed}: {more} ms more");
    }
}

#[test]
fn a_bad_way_back_never_stops_it() {
    for scale in [Scale::Linear, Scale::Wide] {
        let back = LinkConfig {
            loss: 0.3,
            jitter: Duration::from_millis(60),
            reorder: true,
            ..LinkConfig::lossless(Duration::from_millis(20))
        };
        let options = FlowOptions { downlink: back.into(), ..options(link(RATE), 60) };
        let came = arrivals(scale, options);
        // A flow of the laboratory takes each packet whose acknowledgment is lost, or three places late, for lost. So
        // only two packets, the least window, and heartbeats go, some 34 packets a second of the link's 500.
        for second in 1..60 {
            let used = share(&came, 1_000 * second, 1_000 * second + 1_000);
            assert!(used > 0.05, "{scale:?}: {used} in second {second}");
        }
    }
}

#[test]
fn a_link_of_a_gigabit_is_used_on_the_wide_grid_and_as_one_of_12_megabits_on_sprouts() {
    let of = |contender: Contender| {
        let report = contender.run(
            None,
            FlowOptions { skipped: Duration::from_secs(1), ..options(link(1_000_000_000), 4) },
        );
        report.bits_per_second / 1e6
    };
    let [wide, linear, sprout] =
        [Contender::SproutAckWide, Contender::SproutAck, sprout("sprout-one-way")].map(of);
    assert!(wide > 300.0, "{wide} Mbit/s on the wide grid");
    assert!((8.0..40.0).contains(&linear), "{linear} Mbit/s on Sprout's");
    assert!((8.0..20.0).contains(&sprout), "{sprout} Mbit/s of Sprout itself");
}

/// A link that carries nothing for two minutes, and loses nothing: packets wait in its queue, then come all at once.
#[test]
fn a_link_of_rate_zero_is_not_flooded_and_used_again() {
    let opportunities = (0..10_000).chain(130_000..190_000).step_by(2).collect();
    let trace = Trace::from_millis(opportunities).expect("times in order");
    let stopping = LinkConfig {
        rate: None,
        schedule: Some(Schedule::new(trace)),
        order: Order::LossDelayQueue,
        ..link(RATE)
    };
    for contender in [
        sprout("sprout"),
        sprout("sprout-published"),
        sprout("sprout-one-way"),
        sprout("sprout-ewma"),
        Contender::SproutAck,
        Contender::SproutAckWide,
    ] {
        let until = |seconds| {
            let back = link(RATE).into();
            let whole = FlowOptions { downlink: back, ..options(stopping.clone(), seconds) };
            contender.run(None, whole)
        };
        let [before, silent, after] = [10, 130, 190].map(until);
        let sent = silent.sent - before.sent;
        assert!(sent < 120 * 50, "{contender:?}: {sent} packets into a link that stands still");
        let arrived = after.arrived - silent.arrived;
        assert!(arrived > sent, "{contender:?}: {arrived} packets in the minute after it");
    }
}
