//! Two namespaces with an emulated link between them, which last as long as the testbed.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crate::namespace::Namespace;
use crate::reaper::Reaper;
use anyhow::{Context, Result, anyhow};
use rove_link::{Link, LinkConfig, Steps};
use rove_platform::clock::Clock;
use rove_units::{Bytes, Instant, Seed};
use serde::Serialize;

use crate::address::Addresses;
use crate::driver::{Direction, Driver, END, Ended, Flow, Mailbox, Packet, RECONFIGURE, Shared};
use crate::lateness::{LATEST_MAX, P99_MAX, Summary};
use crate::log::{DIRECTIONS, Log};
use crate::meter::{Meters, Offered};
use crate::plumbing::{self, Device, Far, Place};

/// Most bytes that wait before a bottleneck, even if its queue may be longer. Chosen: half an hour at 1 Mbit/s, and a
/// share of a small computer's memory.
pub(super) const QUEUE_MAX: Bytes = Bytes::mib(256);

/// An end of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The end whose packets take the uplink: the client's.
    Near,
    /// The end whose packets take the downlink: the server's.
    Far,
}

/// The options of a testbed.
#[derive(Clone, Debug)]
pub struct TestbedOptions {
    /// The link from near to far. It counts the bytes of IP packets.
    pub uplink: Steps,
    /// The link from far to near.
    pub downlink: Steps,
    /// The seed that decides every loss and delay, as in virtual time.
    pub seed: Seed,
    /// The kind of far side.
    pub far: Far,
    /// The means by which packets are taken from interfaces.
    pub device: Device,
    /// The far side's address. `None` for a free one.
    pub address: Option<Ipv4Addr>,
    /// The beginning of the log files' paths. `None` for no log.
    pub log: Option<PathBuf>,
}

impl TestbedOptions {
    /// Returns the options of a testbed with these links and two new namespaces.
    pub fn new(uplink: impl Into<Steps>, downlink: impl Into<Steps>, seed: Seed) -> Self {
        Self {
            uplink: uplink.into(),
            downlink: downlink.into(),
            seed,
            far: Far::Own,
            device: Device::default(),
            address: None,
            log: None,
        }
    }
}

/// Two network namespaces and a link between them, in real time.
///
/// The link runs in a thread of its own from [`Testbed::new`] on, and its schedules count from that instant. When the
/// testbed is dropped, it ends every process in its namespaces, and removes interfaces and addresses. If this process
/// is killed, every process in the namespaces is killed, too.
#[derive(Debug)]
pub struct Testbed {
    sides: [Place; 2],
    addresses: Addresses,
    clock: Clock,
    shared: Shared,
    meters: Arc<Meters>,
    mailbox: Mailbox,
    /// The link's thread. `None` after the thread has ended and its results were taken.
    driver: Option<JoinHandle<io::Result<Ended>>>,
    orders: UnixStream,
    _reaper: Reaper,
}

impl Testbed {
    /// Makes the namespaces and starts the link.
    ///
    /// # Errors
    ///
    /// Returns an error that says which right to grant, if the system refuses something.
    pub fn new(options: TestbedOptions) -> Result<Self> {
        let ([near, far], addresses) =
            plumbing::connect(options.far, &options.device, options.address)?;
        let own: Vec<&Namespace> =
            [&near.place, &far.place].iter().filter_map(|place| place.own_namespace()).collect();
        let reaper = Reaper::start(&own).context("cannot start a process")?;
        let describe = |which: &str| format!("{which}, seed {}", options.seed.number());
        let log = options.log.as_deref();
        let log = log.map(|name| Log::create(name, DIRECTIONS.map(describe))).transpose()?;
        let clock = Clock::start();
        let (orders, received) = UnixStream::pair().context("cannot make a pair of sockets")?;
        let shared = Shared::default();
        let (meters, mailbox) = (Arc::<Meters>::default(), Mailbox::default());
        let [uplink, downlink] = [(options.uplink, "uplink"), (options.downlink, "downlink")]
            .map(|(steps, name)| Link::<Packet>::new(steps, options.seed.stream(name)));
        let uplink = Direction::new(0, uplink, log.is_some());
        let downlink = Direction::new(1, downlink, log.is_some());
        let driver = Driver {
            clock,
            taps: [near.tap, far.tap],
            directions: [uplink, downlink],
            shared: Arc::clone(&shared),
            meters: Arc::clone(&meters),
            mailbox: Arc::clone(&mailbox),
            orders: received,
            log,
        };
        let driver = thread::Builder::new().name("link".into()).spawn(move || driver.run());
        let driver = Some(driver.context("cannot start a thread")?);
        let sides = [near.place, far.place];
        let _reaper = reaper;
        Ok(Self { sides, addresses, clock, shared, meters, mailbox, driver, orders, _reaper })
    }

    /// Replaces the links for packets that enter after this call. Packets in a delay line keep their departures. Packet
    /// numbers, which decide the random draws, go on.
    ///
    /// # Errors
    ///
    /// Returns an error if the link's thread has ended.
    pub fn reconfigure(&self, links: [Steps; 2]) -> Result<()> {
        if let Ok(mut mailbox) = self.mailbox.lock() {
            *mailbox = Some(links);
        }
        (&self.orders)
            .write_all(&[RECONFIGURE])
            .context("the link has failed: an interface of it was taken away")
    }

    /// Excludes later packets from or to this TCP port from [`Testbed::offered`] and [`Testbed::delivered_at`].
    pub fn leave_out(&self, tcp_port: u16) {
        self.meters.leave_out(tcp_port);
    }

    /// Returns the packets offered so far to the uplink and to the downlink.
    pub fn offered(&self) -> [Offered; 2] {
        self.meters.offered()
    }

    /// Returns when, on the link's clock, a packet was last delivered to this end.
    pub fn delivered_at(&self, end: End) -> Option<Instant> {
        self.meters.delivered_at(1 - end as usize)
    }

    /// Returns the numbers of the processes at an end with a namespace of its own, except this process.
    ///
    /// # Errors
    ///
    /// Returns an error if the list of processes cannot be read.
    pub fn processes(&self, end: End) -> Result<Vec<u32>> {
        let found = self.place(end).namespace.process_ids();
        found.context("cannot list the processes of the testbed")
    }

    /// Returns an end's address.
    pub const fn address(&self, end: End) -> Ipv4Addr {
        match end {
            End::Near => self.addresses.near,
            End::Far => self.addresses.far,
        }
    }

    /// Returns whether the namespace of the far side is the near side of another emulator.
    pub fn is_nested(&self) -> bool {
        self.addresses.is_nested()
    }

    /// Returns the clock of the link. Nominal times and logs count from the link's start.
    pub const fn clock(&self) -> Clock {
        self.clock
    }

    /// Prepares a command to be run at an end. The command is killed when the thread that starts it ends.
    ///
    /// # Errors
    ///
    /// Returns an error if the process has no descriptors left.
    pub fn command(&self, end: End, program: impl AsRef<OsStr>) -> Result<Command> {
        let mut command = Command::new(program);
        self.place(end).namespace.enter_on_exec(&mut command).context("cannot run a command")?;
        Ok(command)
    }

    /// Runs `work` in a thread at an end. Sockets opened there stay at that end.
    ///
    /// # Errors
    ///
    /// Returns an error if there can be no thread.
    pub fn run<T: Send>(&self, end: End, work: impl FnOnce() -> T + Send) -> Result<T> {
        self.place(end).namespace.run(work).context("cannot enter a network namespace")
    }

    /// Returns the counts of uplink and downlink. While packets flow, they are at most 100 ms old.
    pub fn flows(&self) -> [Flow; 2] {
        self.shared.lock().map(|flows| *flows).unwrap_or_default()
    }

    /// Returns a descriptor that becomes readable when the link has failed.
    pub fn failure(&self) -> BorrowedFd<'_> {
        self.orders.as_fd()
    }

    /// Ends the processes at both ends, stops the link, and returns the run's figures.
    ///
    /// # Errors
    ///
    /// Returns an error if the link has failed, a process cannot be ended or the log not be written.
    pub fn finish(mut self) -> Result<Report> {
        self.end_processes()?;
        let counted = self.sides.iter().map(|side| side.counters()).collect::<io::Result<Vec<_>>>();
        let ended = self.stop()?;
        let counted = counted.context("cannot read what the interfaces have counted")?;
        let dropped: Vec<u64> = counted.iter().map(|interface| interface.dropped).collect();
        let report = Report::new(&ended, &dropped);
        if let Some(log) = ended.log {
            log.finish()?;
        }
        Ok(report)
    }

    /// Stops the link. Call this only once.
    fn stop(&mut self) -> Result<Ended> {
        let driver = self.driver.take().context("the link was stopped before")?;
        // The write fails if the driver has ended by itself.
        let _ = self.orders.write_all(&[END]);
        let ended = driver.join().map_err(|_| anyhow!("the link has failed"))?;
        ended.context("the link has failed: an interface of it was taken away")
    }

    fn end_processes(&self) -> Result<()> {
        for side in &self.sides {
            let is_done =
                side.end_processes().context("cannot end the processes of the testbed")?;
            if !is_done {
                return Err(anyhow!("a process in the testbed cannot be ended"));
            }
        }
        Ok(())
    }

    const fn place(&self, end: End) -> &Place {
        &self.sides[end as usize]
    }
}

impl Drop for Testbed {
    fn drop(&mut self) {
        if self.driver.is_some() {
            // A drop cannot report a failure.
            let _ = self.end_processes();
            let _ = self.stop();
        }
    }
}

/// The figures of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// How long the run took, in seconds.
    pub seconds: f64,
    /// Processor time of the link's thread, in seconds.
    pub processor_seconds: f64,
    /// Whether the link's thread had real-time priority.
    pub real_time: bool,
    /// The direction from near to far.
    pub uplink: DirectionReport,
    /// The direction from far to near.
    pub downlink: DirectionReport,
    /// Why the run is invalid, as on a computer that was too busy. Empty if it is valid.
    pub invalid: Vec<String>,
}

/// The figures of one direction.
#[derive(Clone, Debug, Serialize)]
pub struct DirectionReport {
    /// Packets that entered.
    pub entered: u64,
    /// Packets that came out of the link.
    pub delivered: u64,
    /// Bytes that came out, IP headers included.
    pub delivered_bytes: u64,
    /// Packets that the link dropped, as its config demands.
    pub dropped: u64,
    /// Mean time in the link, in milliseconds.
    pub mean_delay_ms: f64,
    /// The median of the times in the link, in milliseconds, to 3 %.
    pub p50_delay_ms: f64,
    /// The time in the link that 95 % of the packets do not exceed, in milliseconds, to 3 %.
    pub p95_delay_ms: f64,
    /// How late packets left.
    pub lateness: Summary,
    /// Packets that this computer dropped outside the link.
    pub lost_by_machine: u64,
}

impl Report {
    fn new(ended: &Ended, dropped: &[u64]) -> Self {
        let direction = |which: usize| {
            let (flow, lateness) = (&ended.flows[which], &ended.lateness[which]);
            let delay_ms = |percent| ended.delays[which].percentile(percent).as_secs_f64() * 1e3;
            let packets = u32::try_from(flow.stats.delivered.max(1)).unwrap_or(u32::MAX);
            DirectionReport {
                entered: flow.stats.entered,
                delivered: flow.stats.delivered,
                delivered_bytes: flow.delivered.get(),
                dropped: flow.stats.dropped(),
                mean_delay_ms: (flow.delay / packets).as_secs_f64() * 1e3,
                p50_delay_ms: delay_ms(50),
                p95_delay_ms: delay_ms(95),
                lateness: lateness.summary(),
                // All drops of a side's interface count in the direction that starts at this side.
                lost_by_machine: flow.refused + dropped.get(which).copied().unwrap_or_default(),
            }
        };
        let mut report = Self {
            seconds: ended.ran_for.as_secs_f64(),
            processor_seconds: ended.worked_for.as_secs_f64(),
            real_time: ended.has_priority,
            uplink: direction(0),
            downlink: direction(1),
            invalid: Vec::new(),
        };
        let late = ended.lateness.iter().zip(DIRECTIONS).filter(|(late, _)| late.is_too_late());
        for (late, name) in late {
            report.invalid.push(format!(
                "packets left the {name} late by {:.1} ms (99th percentile; at most {} ms) and {:.1} ms (latest; at most \
                 {} ms)",
                late.percentile(99).as_secs_f64() * 1e3,
                P99_MAX.as_millis(),
                late.max().as_secs_f64() * 1e3,
                LATEST_MAX.as_millis()
            ));
        }
        let lost = report.uplink.lost_by_machine + report.downlink.lost_by_machine;
        if lost > 0 {
            report.invalid.push(format!("the interfaces dropped {lost} packets"));
        }
        report
    }
}

/// Returns a link whose queue cannot fill the computer's memory.
pub fn bounded(link: impl Into<Steps>) -> Steps {
    link.into().map(|link| LinkConfig { queue_max: link.queue_max.min(QUEUE_MAX), ..link })
}
