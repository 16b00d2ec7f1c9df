//! A saturator: a sender whose queue at the bottleneck never runs empty, so that arrivals are the link's delivery opportunities.
//!
//! Source: Sprout paper (NSDI 2013, section 4.1). The window grows while the round trip is short, and shrinks while it
//! is too long. Datagrams are not sealed, because one person records the link between computers of their own.

use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;

use anyhow::{Context, Result, ensure};
use rove_congestion::{Ack, Controller, Loss};
use rove_link::Trace;
use rove_platform::clock::Clock;
use rove_platform::event_loop::{EventLoop, Interest};
use rove_ssp::wire::DATAGRAM_LEN_MAX;
use rove_units::{Bytes, Duration, Instant};

use crate::flow::controlled::Controlled;
use crate::flow::ends::{Arrival, Receiver, Sender};
use crate::flow::source::FULL;
use crate::pump::{SIGNALS, alone, any, bound, own_address, pump};

/// The round-trip times between which the window stays as it is. Source: Sprout paper, section 4.1.
const RTT: [Duration; 2] = [Duration::from_millis(750), Duration::from_secs(3)];

/// The first window and the smallest window, in packets. Chosen: those of TCP.
const WINDOW_FIRST: u64 = 10;

/// Each lost byte shrinks the window by this many bytes. Chosen: a queue that drops stays full at a loss of 1 in 9.
const LOSS_WEIGHT: u64 = 8;

/// How long a recording goes on after the last arrival, and how long a saturator waits for its first answer. Chosen:
/// longer than outages of cellular links last.
const SILENCE_MAX: Duration = Duration::from_secs(10);

/// How often a receiver calls a saturator until data comes.
const CALL_EVERY: Duration = Duration::from_secs(1);

/// The way in which two ends find each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// This end calls the other end at this address.
    Call(SocketAddr),
    /// This end waits at this address for a call.
    Listen(SocketAddr),
}

/// A controller whose window keeps the queue at the bottleneck filled.
#[derive(Debug)]
struct Saturator {
    window: Bytes,
}

impl Controller for Saturator {
    fn on_ack(&mut self, _: Instant, ack: &Ack) {
        let [short, long] = RTT;
        if ack.rtt < short {
            self.window += ack.size;
        } else if ack.rtt > long {
            self.shrink(ack.size);
        }
    }

    fn on_loss(&mut self, _: Instant, loss: &Loss) {
        self.shrink(Bytes::new(loss.size.get() * LOSS_WEIGHT));
    }

    fn on_mtu_update(&mut self, _: Bytes) {}

    fn window(&self) -> Bytes {
        self.window
    }
}

impl Saturator {
    const fn new() -> Self {
        Self { window: Bytes::new(WINDOW_FIRST * FULL.get()) }
    }

    fn shrink(&mut self, by: Bytes) {
        let least = Self::new().window;
        self.window = Bytes::new(self.window.get().saturating_sub(by.get())).max(least);
    }
}

/// Keeps the link to the other end saturated for some time. `ready` gets the address of this end.
///
/// # Errors
///
/// Returns an error if a socket cannot be opened, or nobody answers.
pub fn saturate(
    place: Place,
    length: Duration,
    ready: impl FnOnce(SocketAddr) -> Result<()>,
) -> Result<()> {
    let (clock, socket) = (Clock::start(), socket(place)?);
    ready(own_address(&socket)?)?;
    let peer = match place {
        Place::Call(peer) => peer,
        Place::Listen(_) => match called(&socket, clock)? {
            Some(peer) => peer,
            None => return Ok(()),
        },
    };
    let mut sender = Sender::new(Controlled::new(Box::new(Saturator::new())), peer);
    let start = clock.now();
    sender.start(start);
    pump(&mut sender, &socket, clock, start + length, &SIGNALS, alone, |sender, now| {
        let is_late = now.saturating_since(start) > SILENCE_MAX;
        ensure!(!is_late || sender.is_answered(), "nobody answers at {peer}");
        Ok(false)
    })?;
    ensure!(sender.is_answered(), "nobody answers at {peer}");
    Ok(())
}

/// Records the arrivals from a saturator until it is silent or a signal comes. `ready` gets the address of this end.
///
/// # Errors
///
/// Returns an error if a socket cannot be opened, or too few packets came for a trace.
pub fn record(place: Place, ready: impl FnOnce(SocketAddr) -> Result<()>) -> Result<Trace> {
    let (clock, socket) = (Clock::start(), socket(place)?);
    let own = own_address(&socket)?;
    ready(own)?;
    let mut receiver = Receiver::new(own);
    let mut call_at = Instant::ZERO;
    pump(&mut receiver, &socket, clock, Instant::FAR_FUTURE, &SIGNALS, alone, |receiver, now| {
        let last = receiver.last_arrival();
        if let (Place::Call(peer), None) = (place, last)
            && call_at <= now
        {
            call_at = now + CALL_EVERY;
            // A call that could not be sent is repeated.
            let _ = socket.send_to(&[0], peer);
        }
        Ok(last.is_some_and(|last| now.saturating_since(last) > SILENCE_MAX))
    })?;
    trace(&receiver.take_arrivals())
}

/// Returns a trace with an opportunity for each full packet, the first at 0 ms.
fn trace(arrivals: &[Arrival]) -> Result<Trace> {
    // A trace holds at most 4,194,304 opportunities.
    let full = arrivals.iter().filter(|arrival| arrival.size >= FULL).take(4 << 20);
    let times: Vec<Instant> = full.map(|arrival| arrival.delivery.arrived).collect();
    let millis = times.iter().map(|time| time.saturating_since(times[0]).as_millis());
    let millis: Result<Vec<u32>, _> = millis.map(u32::try_from).collect();
    Trace::from_millis(millis.context("a recording is shorter than 49 days")?)
        .context("too little came for a trace")
}

/// Waits for a call and returns the caller. `None` if a signal comes first.
fn called(socket: &UdpSocket, clock: Clock) -> Result<Option<SocketAddr>> {
    let mut event_loop = EventLoop::new(clock, &SIGNALS).context("cannot wait for sockets")?;
    loop {
        match socket.recv_from(&mut [0; DATAGRAM_LEN_MAX]) {
            Ok((_, peer)) => return Ok(Some(peer)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error).context("cannot receive a datagram"),
        }
        if !event_loop.take_signals().is_empty() {
            return Ok(None);
        }
        let mut interests = [Interest::new(socket.as_fd(), true, false)];
        event_loop.wait(&mut interests, None).context("cannot wait for sockets")?;
    }
}

fn socket(place: Place) -> Result<UdpSocket> {
    match place {
        Place::Listen(address) => bound(address),
        Place::Call(peer) => bound(any(peer)),
    }
}

#[cfg(test)]
mod tests {
    use rove_link::net::{LEFT_ADDRESS, Net, RIGHT_ADDRESS};
    use rove_link::{LinkConfig, Schedule};
    use rove_units::Seed;

    use super::*;

    #[test]
    fn a_recorded_link_has_the_opportunities_of_the_one_that_it_is_recorded_over() {
        let text: String = (1..=400).map(|number| format!("{}\n", number * 5)).collect();
        let link: Trace = format!("{text}2600\n2600\n2601\n").parse().expect("a trace");
        let ten_ms = Duration::from_millis(10);
        let uplink = LinkConfig {
            delay: ten_ms,
            schedule: Some(Schedule::new(link)),
            ..LinkConfig::default()
        };
        let downlink = LinkConfig { delay: ten_ms, ..LinkConfig::default() };
        let mut sender = Sender::new(Controlled::new(Box::new(Saturator::new())), RIGHT_ADDRESS);
        sender.start(Instant::ZERO);
        let seed = Seed::new(1);
        let mut net = Net::new(sender, Receiver::new(LEFT_ADDRESS), uplink, downlink, seed);
        net.run_for(Duration::from_secs(30));
        let recorded = trace(&net.right.take_arrivals()).expect("a trace");
        // The window takes a few seconds to grow. Then every opportunity is recorded.
        let times: Vec<Duration> = recorded.times().collect();
        let late = &times[times.len() - 2_000..];
        let gaps: Vec<u128> = late.windows(2).map(|pair| (pair[1] - pair[0]).as_millis()).collect();
        let count = |gap: u128| gaps.iter().filter(|it| **it == gap).count();
        assert!(count(5) > 1_900 && count(600) >= 3 && count(0) >= 3, "{gaps:?}");
    }
}
