//! The link in real time. It moves packets from one side's interface to the other's, each at its nominal time or as
//! soon after it as the computer allows.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};

use crate::tap::Tap;
use rove_link::{Event, Link, LinkStats, Steps};
use rove_platform::clock::Clock;
use rove_platform::event_loop::{EventLoop, Interest};
use rove_units::{Bytes, Duration, Instant};
use rustix::time::{ClockId, clock_gettime};

use crate::lateness::Histogram;
use crate::log::Log;
use crate::meter::Meters;

/// Size of a read buffer that holds the largest IP packet with its Ethernet header, so that no read is cut off.
const PACKET_MAX: usize = 65_535 + 14;
/// Most packets that are read from an interface before due packets are sent. Chosen: reading as many takes a tenth of a
/// millisecond.
const BATCH: usize = 32;
/// Time between two updates of the shared counts, and of the log. Chosen: soon enough for a person.
const TOLD_EVERY: Duration = Duration::from_millis(100);

/// Time before a departure at which the thread wakes up. It spins until the departure. Chosen: the idle processors of a
/// virtual machine take 0.03 to 0.05 ms to wake, so the thread hardly spins.
const LEAD: Duration = Duration::from_micros(30);

/// A packet in the link.
#[derive(Clone, Debug)]
pub(super) struct Packet {
    arrived: Instant,
    bytes: Box<[u8]>,
}

impl AsRef<[u8]> for Packet {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// A direction, with its link and its figures.
#[derive(Debug)]
pub(super) struct Direction {
    /// The direction's number in the meters.
    number: usize,
    link: Link<Packet>,
    flow: Flow,
    delays: Histogram,
    lateness: Histogram,
}

/// The counts of a direction so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flow {
    /// Counts of packets that entered the link, left it or were dropped.
    pub stats: LinkStats,
    /// Bytes that came out.
    pub delivered: Bytes,
    /// Bytes that wait before the bottleneck now.
    pub queued: Bytes,
    /// The sum of the times that delivered packets were in the link.
    pub delay: Duration,
    /// Packets that were lost between the link and an interface.
    pub refused: u64,
}

/// The results of a driver that has ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) flows: [Flow; 2],
    /// Times of packets in the link, up to their nominal departures.
    pub(super) delays: [Histogram; 2],
    pub(super) lateness: [Histogram; 2],
    pub(super) ran_for: Duration,
    /// Processor time of the thread.
    pub(super) worked_for: Duration,
    pub(super) has_priority: bool,
    pub(super) log: Option<Log>,
}

/// The counts of both directions, which other threads read while the driver runs.
pub(super) type Shared = Arc<Mutex<[Flow; 2]>>;

/// The new uplink and downlink for a driver, which takes them at the order [`RECONFIGURE`].
pub(super) type Mailbox = Arc<Mutex<Option<[Steps; 2]>>>;

/// Orders to a driver, each a byte on its socket. Any byte but [`RECONFIGURE`] ends the driver.
pub(super) const RECONFIGURE: u8 = b'r';
pub(super) const END: u8 = b'x';

/// The thread's state. Direction 0 goes from tap 0 to tap 1, direction 1 back.
pub(super) struct Driver {
    pub(super) clock: Clock,
    pub(super) taps: [Tap; 2],
    pub(super) directions: [Direction; 2],
    pub(super) shared: Shared,
    pub(super) meters: Arc<Meters>,
    pub(super) mailbox: Mailbox,
    /// The socket from which orders are read. The driver ends when the socket's other end is closed.
    pub(super) orders: UnixStream,
    pub(super) log: Option<Log>,
}

impl Direction {
    pub(super) fn new(number: usize, mut link: Link<Packet>, is_logged: bool) -> Self {
        if is_logged {
            link.record_events();
        }
        Self {
            number,
            link,
            flow: Flow::default(),
            delays: Histogram::default(),
            lateness: Histogram::default(),
        }
    }

    /// Sends all packets whose time in the link is over.
    fn depart(&mut self, clock: Clock, to: &Tap, meters: &Meters) {
        while let Some((nominal, packet)) = self.link.poll_packet(clock.now()) {
            // The meter counts first, because a program that has read the packet must find it counted.
            meters.deliver(self.number, &packet.bytes, clock.now());
            match to.send(&packet.bytes) {
                Ok(()) => {}
                Err(_) => self.flow.refused += 1,
            }
            self.lateness.add(clock.now().saturating_since(nominal));
            self.flow.delivered += Bytes::from(packet.bytes.len());
            let delay = nominal.saturating_since(packet.arrived);
            self.flow.delay = self.flow.delay.saturating_add(delay);
            self.delays.add(delay);
        }
    }

    /// Reads up to [`BATCH`] packets from an interface into the link. Returns whether there may be more.
    fn arrive(
        &mut self,
        clock: Clock,
        from: &Tap,
        buffer: &mut [u8],
        meters: &Meters,
    ) -> io::Result<bool> {
        for _ in 0..BATCH {
            let Some(bytes) = from.receive(buffer)? else { return Ok(false) };
            let arrived = clock.now();
            meters.offer(self.number, bytes);
            self.link.handle_packet(arrived, Packet { arrived, bytes: bytes.into() });
        }
        Ok(true)
    }

    fn events(&mut self, now: Instant) -> impl Iterator<Item = Event> {
        core::iter::from_fn(move || self.link.poll_event(now))
    }
}

impl Driver {
    /// Moves packets until an order ends it.
    ///
    /// # Errors
    ///
    /// Returns an error if an interface has gone away.
    pub(super) fn run(mut self) -> io::Result<Ended> {
        let has_priority = crate::namespace::hurry();
        let mut events = EventLoop::new(self.clock, &[])?;
        let mut buffer = vec![0; PACKET_MAX];
        let mut told = Instant::ZERO;
        // Each read costs a system call, so only the taps that the last wait has named are read.
        let mut readable = [false; 2];
        loop {
            let has_more = self.turn(readable, &mut buffer)?;
            let now = self.clock.now();
            if now.saturating_since(told) >= TOLD_EVERY {
                told = now;
                self.tell(now);
            }
            let [near, far] = self.taps.each_ref().map(AsFd::as_fd);
            let sources = [near, far, self.orders.as_fd()];
            let mut sources = sources.map(|source| Interest::new(source, true, false));
            let due = self.next_wake(now);
            let awake_from = due.map(|due| due - LEAD);
            if has_more || awake_from.is_some_and(|awake_from| awake_from <= now) {
                events.look(&mut sources)?;
            } else {
                events.wait(&mut sources, awake_from)?;
            }
            let [near, far, has_order] = sources.each_ref().map(Interest::is_readable);
            if has_order && !self.obey()? {
                break;
            }
            readable = [near, far];
            // Packets that have come are read first, so that their time of arrival is right.
            let is_idle = !near && !far && !has_order;
            while is_idle && due.is_some_and(|due| (due - LEAD..due).contains(&self.clock.now())) {
                std::hint::spin_loop();
            }
        }
        for (direction, tap) in self.directions.iter_mut().zip(&self.taps) {
            direction.flow.refused += tap.drops()?;
        }
        let now = self.clock.now();
        self.tell(now);
        let flows = self.flows();
        let [up, down] = self.directions;
        Ok(Ended {
            flows,
            delays: [up.delays, down.delays],
            lateness: [up.lateness, down.lateness],
            ran_for: now.saturating_since(Instant::ZERO),
            worked_for: worked(),
            has_priority,
            log: self.log,
        })
    }

    /// Sends due packets, then reads packets that have come, then sends the read packets that are due at once. Returns
    /// whether there may be more to read.
    fn turn(&mut self, readable: [bool; 2], buffer: &mut [u8]) -> io::Result<bool> {
        let (clock, taps, meters) = (self.clock, &self.taps, &*self.meters);
        let mut has_more = false;
        let depart = |directions: &mut [Direction; 2]| {
            let ways = directions.iter_mut().zip(ways(taps));
            ways.for_each(|(direction, [_, to])| direction.depart(clock, to, meters));
        };
        depart(&mut self.directions);
        let arrivals = self.directions.iter_mut().zip(ways(taps)).zip(readable);
        for ((direction, [from, _]), _) in arrivals.filter(|(_, is_readable)| *is_readable) {
            has_more |= direction.arrive(clock, from, buffer, meters)?;
        }
        if readable != [false; 2] {
            depart(&mut self.directions);
        }
        Ok(has_more)
    }

    /// Reads and follows an order. Returns whether the driver goes on.
    fn obey(&mut self) -> io::Result<bool> {
        let mut order = [END];
        let read = rustix::io::retry_on_intr(|| rustix::io::read(&self.orders, &mut order))?;
        if read == 0 || order != [RECONFIGURE] {
            return Ok(false);
        }
        let links = self.mailbox.lock().ok().and_then(|mut mailbox| mailbox.take());
        let now = self.clock.now();
        for (direction, link) in self.directions.iter_mut().zip(links.into_iter().flatten()) {
            direction.link.reconfigure(now, link);
        }
        Ok(true)
    }

    /// Returns when the driver must wake up next, or `None` if only a packet or an order needs it.
    fn next_wake(&self, now: Instant) -> Option<Instant> {
        let due = self.directions.iter().filter_map(|direction| direction.link.poll_timeout());
        // Without packets, the link makes its events only when it is polled.
        due.chain(self.log.is_some().then(|| now + TOLD_EVERY)).min()
    }

    /// Writes events to the log, and shares the counts with other threads.
    fn tell(&mut self, now: Instant) {
        if let Some(log) = &mut self.log {
            for (which, direction) in self.directions.iter_mut().enumerate() {
                let events: Vec<Event> = direction.events(now).collect();
                log.write(which, events);
            }
        }
        let flows = self.flows();
        // The driver never waits. If another thread reads at this moment, the counts are shared the next time.
        if let Ok(mut shared) = self.shared.try_lock() {
            *shared = flows;
        }
    }

    fn flows(&self) -> [Flow; 2] {
        [0, 1].map(|which| {
            let Direction { link, flow, .. } = &self.directions[which];
            Flow { stats: link.stats(), queued: link.queued(), ..*flow }
        })
    }
}

/// Returns the processor time of this thread.
fn worked() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).expect("processor time is not negative")
}

/// Returns the tap that each direction reads from, and the tap that it writes to.
fn ways([near, far]: &[Tap; 2]) -> [[&Tap; 2]; 2] {
    [[near, far], [far, near]]
}
