//! Delay that a server's collection interval adds to what programs write.
//!
//! Rove's transport carries the number of writes so far in place of a screen. So each frame tells which writes it has.
//! Frames are 250 ms apart, as on paths with a round trip of half a second and more.

use core::net::SocketAddr;

use rove_link::LinkConfig;
use rove_link::net::{End, Net, RIGHT_ADDRESS};
use rove_replay::trace::Event;
use rove_ssp::{ApplyError, Capabilities, Config, Ecn, Object, Role, Transport};
use rove_units::{Bytes, Duration, Instant, Seed};

use crate::experiment::conditions::{Conditions, Samples, nanos};

/// Time between frames. Source: Mosh paper, section 2.3: the longest frame interval.
const FRAME_INTERVAL: Duration = Duration::from_millis(250);

/// Delay of the path in each direction. It only decides when acknowledgments come.
const DELAY: Duration = Duration::from_millis(50);

/// The number of writes so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Writes(usize);

impl Object for Writes {
    fn diff_from(&self, base: &Self, _: Capabilities) -> Vec<u8> {
        if self == base { Vec::new() } else { self.0.to_be_bytes().to_vec() }
    }

    fn apply(&mut self, diff: &[u8]) -> Result<(), ApplyError> {
        let bytes = diff.try_into().map_err(|_| ApplyError { reason: "no number".to_owned() })?;
        self.0 = usize::from_be_bytes(bytes);
        Ok(())
    }

    fn same_as(&self, other: &Self) -> bool {
        self == other
    }

    fn bytes_beyond(&self, _: Option<&Self>) -> Bytes {
        Bytes::ZERO
    }
}

/// An end that sends writes, and notes how long each waited. The other end has no writes.
struct Carrier {
    transport: Transport<Writes, Writes>,
    /// When the program writes.
    at: Vec<Instant>,
    written: usize,
    /// How long each write that has gone out had waited, in ns.
    delays: Vec<u64>,
}

impl Carrier {
    fn new(role: Role, config: Config, at: Vec<Instant>) -> Self {
        let (ours, theirs) = (Writes::default(), Writes::default());
        let chaff = Seed::new(1).stream("chaff");
        let key = rove_headless::key();
        Self {
            transport: Transport::new(role, &key, config, ours, theirs, chaff, Instant::ZERO),
            at,
            written: 0,
            delays: Vec::new(),
        }
    }

    fn is_done(&self) -> bool {
        self.delays.len() == self.at.len()
    }
}

impl End for Carrier {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        // The path neither loses nor forges.
        let _ = self.transport.handle_datagram(now, source, Ecn::Capable, payload);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.transport.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        let due = self.at[self.written..].iter().take_while(|at| **at <= now).count();
        if due > 0 {
            self.written += due;
            self.transport.publish(Writes(self.written));
        }
        while self.transport.poll_event().is_some() {}
        let transmit = self.transport.poll_transmit(now)?;
        let sent = self.transport.sent_state().0;
        let newly = &self.at[self.delays.len().min(sent)..sent];
        self.delays.extend(newly.iter().map(|at| nanos(now.saturating_since(*at))));
        Some((transmit.destination, transmit.payload))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        [self.transport.poll_timeout(), self.at.get(self.written).copied()]
            .into_iter()
            .flatten()
            .min()
    }
}

pub(super) fn run(conditions: &Conditions<'_>) -> Samples {
    // Two seconds let both ends know each other.
    let begin = Duration::from_secs(2);
    let records = &conditions.recording().trace.records;
    let hosts = records.iter().filter(|record| matches!(record.event, Event::Host(_)));
    let at: Vec<Instant> = hosts.map(|record| record.at + begin).collect();
    let last = at.last().copied().unwrap_or_default();
    let mut server = Config::server().stock();
    server.frames.collection_delay = Duration::from_secs_f64(conditions.value() / 1e3);
    server.frames.interval_min = FRAME_INTERVAL;
    server.frames.interval_max = FRAME_INTERVAL;
    let near =
        Carrier::new(Role::Client { server: RIGHT_ADDRESS }, Config::client().stock(), Vec::new());
    let far = Carrier::new(Role::Server { ipv6: false }, server, at);
    let link = LinkConfig::lossless(DELAY);
    let mut net = Net::new(near, far, link.clone(), link, Seed::new(conditions.seed));
    let limit = last.saturating_since(Instant::ZERO) + Duration::from_secs(10);
    net.run_until(limit, |_, far| far.is_done());
    let missing = u64::try_from(net.right.at.len() - net.right.delays.len()).unwrap_or(u64::MAX);
    Samples { times: net.right.delays, missing, ..Samples::default() }
}

#[cfg(test)]
mod tests {
    use rove_replay::trace::{Record, Trace};

    use super::*;
    use crate::experiment::conditions::Recording;
    use rove_terminal::Size;

    fn delays(writes: &[u64], collection: f64) -> Vec<f64> {
        let record =
            |ms: &u64| Record { at: Instant::from_millis(*ms), event: Event::Host(vec![b'a']) };
        let trace = Trace { size: Size::DEFAULT, records: writes.iter().map(record).collect() };
        let recording = Recording { name: "r".to_owned(), trace };
        let conditions =
            Conditions { recording: Some(&recording), value: Some(collection), ..Conditions::NONE };
        let samples = run(&conditions);
        assert_eq!(samples.missing, 0);
        samples.millis().map(f64::round).collect()
    }

    #[test]
    fn a_write_waits_for_the_collection_and_a_late_one_for_the_next_frame() {
        assert_eq!(delays(&[5_000], 8.0), [8.0]);
        assert_eq!(delays(&[5_000, 5_006], 8.0), [8.0, 2.0], "both go together");
        assert_eq!(
            delays(&[5_000, 5_006], 1.0),
            [1.0, 245.0],
            "the second has missed the first's frame"
        );
    }
}
