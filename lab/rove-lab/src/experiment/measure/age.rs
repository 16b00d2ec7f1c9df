//! Age of information of a host's screen at the client, under steady output of recorded programs.
//!
//! Rove's transport carries the host's screen and its number, which tells the state that the client has. The programs
//! write in the order of a recording, over and over, at random times: the recorded pauses are those of a person. Nobody
//! types, so that acknowledgments travel alone, as under output that nobody asked for.

use core::net::SocketAddr;

use rove_flows::metrics::age::Timeline;
use rove_headless::HEADERS;
use rove_link::net::{End, Net, RIGHT_ADDRESS};
use rove_replay::trace::{Event, Trace};
use rove_session::HostScreen;
use rove_ssp::{Config, Ecn, Role, StateNum, Transport};
use rove_terminal::{Size, Terminal};
use rove_units::{Duration, Instant, Seed, Stream};

use self::numbered::{Nothing, NumberedScreen};
use crate::experiment::conditions::{Conditions, RunFigure, Samples, nanos};

mod numbered;

/// Mean time between two writes, which are a Poisson process. Source: the notes on the study of reference states.
const WRITE_INTERVAL: Duration = Duration::from_millis(50);

/// Time before the measurement, in which the ends connect and measure the round trip.
const BEFORE: Duration = Duration::from_secs(10);

/// Time that is measured. Chosen: 1000 states.
const LENGTH: Duration = Duration::from_secs(50);

/// Longest pause between two writes of the same picture. Source: Mosh's collection interval.
const PICTURE_GAP: Duration = Duration::from_millis(8);

/// Most writes for one state: after so many, an unchanged screen is a state too. Chosen: no recording needs so many.
const UNSEEN_WRITES: usize = 100;

/// Figures of a run beside its mean age.
pub(super) const FIGURES: [RunFigure; 6] = [
    RunFigure::of_time("peak age"),
    RunFigure::of_time("95 % of age"),
    RunFigure::of_time("catch-up"),
    RunFigure { is_compared: true, ..RunFigure::of_time("95 % catch-up") },
    RunFigure { name: "kbit/s", scale: 1e-3, is_compared: true },
    RunFigure { name: "packets/s", scale: 1e-3, is_compared: false },
];

/// The end that carries the screen, with the programs that draw on it.
struct Producer {
    transport: Transport<NumberedScreen, Nothing>,
    terminal: Terminal,
    writes: Vec<Vec<u8>>,
    /// How many writes were done, in all rounds through the recording.
    written: usize,
    next: Instant,
    pauses: Stream,
    /// When each state was made. A state's number is its index plus one.
    produced: Vec<Instant>,
}

/// The end that receives the screen, and notes when it took each state.
struct Consumer {
    transport: Transport<Nothing, NumberedScreen>,
    taken: Vec<(Instant, u64)>,
}

impl Producer {
    /// Lets the programs draw the next state, and publishes it.
    fn produce(&mut self, now: Instant) {
        let before = self.terminal.screen().clone();
        for write in
            self.writes.iter().cycle().skip(self.written % self.writes.len()).take(UNSEEN_WRITES)
        {
            self.terminal.write(write);
            self.terminal.take_replies();
            self.written += 1;
            if *self.terminal.screen() != before {
                break;
            }
        }
        self.produced.push(now);
        let number = u64::try_from(self.produced.len()).expect("a run has fewer states");
        let screen = self.terminal.screen().clone();
        let screen = HostScreen::published(screen, StateNum::INITIAL);
        self.transport.publish(NumberedScreen { number, screen });
        let pause = -(1.0 - self.pauses.at(number).unit()).ln();
        self.next = now + WRITE_INTERVAL.mul_f64(pause);
    }
}

impl End for Producer {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        // The path forges nothing. The transport itself handles a datagram that comes too late.
        let _ = self.transport.handle_datagram(now, source, Ecn::Capable, payload);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.transport.handle_timeout(now);
        while self.next <= now {
            self.produce(self.next);
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        while self.transport.poll_event().is_some() {}
        let transmit = self.transport.poll_transmit(now)?;
        Some((transmit.destination, transmit.payload))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.transport.poll_timeout().into_iter().chain([self.next]).min()
    }
}

impl End for Consumer {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        let _ = self.transport.handle_datagram(now, source, Ecn::Capable, payload);
        while self.transport.has_work() {
            // The age grows if a state cannot be applied, and that is measured here.
            let _ = self.transport.work(now);
        }
        let number = self.transport.remote().number;
        if self.taken.last().is_none_or(|(_, last)| *last < number) && number > 0 {
            self.taken.push((now, number));
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.transport.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        while self.transport.poll_event().is_some() {}
        let transmit = self.transport.poll_transmit(now)?;
        Some((transmit.destination, transmit.payload))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.transport.poll_timeout()
    }
}

pub(super) fn run(conditions: &Conditions<'_>) -> Samples {
    let mut net = ends(conditions);
    // In some recordings nothing is written.
    if net.right.writes.is_empty() {
        return Samples::empty();
    }
    net.run_for(BEFORE);
    let before = net.right.transport.path().sent;
    net.run_for(LENGTH);
    let mut timeline = Timeline::default();
    for at in &net.right.produced {
        timeline.produce(*at);
    }
    for (at, number) in &net.left.taken {
        timeline.take(*at, usize::try_from(number - 1).expect("a run has fewer states"));
    }
    // The time until the first state does not depend on references, and is left out.
    let begun_at = net.left.taken.first().map_or(Instant::FAR_FUTURE, |(at, _)| *at);
    let Some(age) = timeline.age(begun_at.max(Instant::ZERO + BEFORE), net.now()) else {
        return Samples::empty();
    };
    let catch_up =
        [age.catch_up.mean(), age.catch_up.percentile(95)].map(Option::unwrap_or_default);
    let [catch_up, high] = catch_up.map(nanos);
    let sent = net.right.transport.path().sent;
    let (bytes, datagrams) = (sent.bytes - before.bytes, sent.datagrams - before.datagrams);
    let bits = (bytes.get() + datagrams * HEADERS.get()) * 8 / LENGTH.as_secs();
    let packets = datagrams * 1_000 / LENGTH.as_secs();
    let figures =
        vec![nanos(age.mean_peak), nanos(age.percentile_95), catch_up, high, bits, packets];
    Samples { times: vec![nanos(age.mean)], missing: 0, figures, ..Samples::default() }
}

/// Returns both ends, joined by the path. Nothing has been sent yet.
fn ends(conditions: &Conditions<'_>) -> Net<Consumer, Producer> {
    let (seed, system) = (Seed::new(conditions.seed), conditions.system());
    let trace = &conditions.recording().trace;
    let size: Size = trace.size;
    let key = rove_headless::key();
    let role = Role::Client { server: RIGHT_ADDRESS };
    let config = system.transport(Config::client());
    let replica = NumberedScreen { number: 0, screen: HostScreen::replica(size) };
    let chaff = seed.stream("client.chaff");
    let near = Consumer {
        transport: Transport::new(role, &key, config, Nothing, replica, chaff, Instant::ZERO),
        taken: Vec::new(),
    };
    let role = Role::Server { ipv6: false };
    let config = system.transport(Config::server());
    let blank = NumberedScreen { number: 0, screen: HostScreen::initial(size) };
    let chaff = seed.stream("server.chaff");
    let far = Producer {
        transport: Transport::new(role, &key, config, blank, Nothing, chaff, Instant::ZERO),
        terminal: Terminal::host(size),
        writes: pictures(trace),
        written: 0,
        next: Instant::ZERO + WRITE_INTERVAL,
        pauses: seed.stream("pauses"),
        produced: Vec::new(),
    };
    let [uplink, downlink] = conditions.path().links(Instant::ZERO, seed);
    Net::new(near, far, uplink, downlink, seed)
}

/// Returns the output of a recording's programs, cut into pictures. A picture may have taken several writes.
pub(super) fn pictures(trace: &Trace) -> Vec<Vec<u8>> {
    let mut pictures: Vec<Vec<u8>> = Vec::new();
    let mut last_at = None;
    for record in &trace.records {
        let Event::Host(bytes) = &record.event else { continue };
        let goes_on = |at: &Instant| record.at.saturating_since(*at) < PICTURE_GAP;
        match pictures.last_mut().filter(|_| last_at.as_ref().is_some_and(goes_on)) {
            Some(picture) => picture.extend(bytes),
            None => pictures.push(bytes.clone()),
        }
        last_at = Some(record.at);
    }
    pictures
}

#[cfg(test)]
mod tests {
    use rove_flows::path::Path;

    use super::*;
    use crate::experiment::catalogue::recording;
    use crate::experiment::system::System;

    #[test]
    fn a_recording_without_output_has_no_age() {
        let path: Path = "rtt=50ms".parse().expect("a path");
        let mut recording = recording("bash-long").expect("a recording");
        recording.trace.records.clear();
        let conditions = Conditions {
            system: Some(System::Rove),
            path: Some(&path),
            recording: Some(&recording),
            ..Conditions::NONE
        };
        assert_eq!(run(&conditions), Samples::empty());
    }

    fn samples(system: System, path: &str, seed: u64) -> Samples {
        samples_of("bash-long", system, path, seed)
    }

    fn samples_of(name: &str, system: System, path: &str, seed: u64) -> Samples {
        let path: Path = path.parse().expect("a path");
        let recording = recording(name).expect("a recording");
        run(&Conditions {
            system: Some(system),
            path: Some(&path),
            recording: Some(&recording),
            seed,
            ..Conditions::NONE
        })
    }

    #[test]
    fn without_loss_a_state_waits_for_its_frame_and_its_way_under_any_reference() {
        let ages = [System::MoshRulesUnpredicted, System::AssumedReference, System::KnownReference]
            .map(|system| {
                let samples = samples(system, "rtt=100ms", 1);
                assert_eq!((samples.missing, samples.figures.len()), (0, FIGURES.len()));
                samples.times[0]
            });
        assert!(ages.iter().all(|age| (90_000_000..130_000_000).contains(age)), "{ages:?}");
        assert!(ages.iter().max() < Some(&(ages[0] * 102 / 100)), "{ages:?}");
    }

    #[test]
    fn a_client_that_is_stuck_grows_old_until_the_end_and_only_what_is_measured_counts() {
        let of = |path| samples(System::MoshRulesUnpredicted, path, 1);
        let stuck = of("rtt=100ms,outage=11s-70s");
        // From 11 s to 60 s the age grows to 49 s.
        assert!((23_000_000_000..25_000_000_000).contains(&stuck.times[0]), "{stuck:?}");
        // A server sends nothing before it has heard of its client.
        let [whole, late] = ["rtt=100ms", "rtt=100ms,outage=0s-9s"].map(|path| of(path).figures[5]);
        assert!(whole.abs_diff(late) < whole / 20, "{whole} {late}");
    }

    #[test]
    fn at_loss_over_a_far_path_the_known_reference_keeps_the_screen_younger() {
        let age = |system| {
            let ages = [1, 2].map(|seed| samples(system, "rtt=500ms,loss=10%", seed).times[0]);
            ages.iter().sum::<u64>()
        };
        let [known, assumed] = [System::KnownReference, System::AssumedReference].map(age);
        // In the model of the notes the ages are 453 and 527 ms, a ratio of 0.86.
        assert!(known * 100 < assumed * 93, "{known} {assumed}");
        assert_eq!(age(System::KnownReference), known, "the same seed gives the same age");
    }

    #[test]
    fn where_output_fills_the_path_the_bayesian_reference_keeps_the_screen_younger() {
        let age = |system, path| {
            let ages = [1, 2].map(|seed| samples_of("dump", system, path, seed).times[0]);
            ages.iter().sum::<u64>()
        };
        let systems =
            [System::BayesianReference, System::MoshRulesUnpredicted, System::KnownReference];
        let [bayesian, stock, known] =
            systems.map(|system| age(system, "rtt=100ms,rate=512kbit,loss=1%"));
        assert!(bayesian * 100 < stock.min(known) * 90, "{bayesian} {stock} {known}");
        let [bayesian, stock, known] = systems.map(|system| age(system, "rtt=100ms,loss=5%"));
        assert_eq!(bayesian, known, "there is room for the longer differences");
        assert!(bayesian * 100 < stock * 95, "{bayesian} {stock}");
    }
}
