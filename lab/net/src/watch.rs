//! Waits for packets, the next departure or an order, so that the thread is awake at a departure.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use crate::tap::Tap;
use rove_platform::alarm::Alarm;
use rove_platform::clock::Clock;
use rove_units::Instant;
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;

use crate::lead::Lead;

/// The numbers by which epoll names the descriptors.
const NEAR: u64 = 0;
const FAR: u64 = 1;
const ORDER: u64 = 2;
const TIMER: u64 = 3;

/// Waits on the two taps, a timer and orders.
///
/// The timer rings before a departure is due, by as much as timers wake this thread late. The thread spins for the
/// rest: a few microseconds, less than going back to sleep would cost.
pub(super) struct Watch {
    clock: Clock,
    epoll: OwnedFd,
    alarm: Alarm,
    lead: Lead,
    events: Vec<Event>,
}

/// The reason why a wait has ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Woken {
    /// Which taps have packets.
    pub(super) readable: [bool; 2],
    /// Whether there is an order for the driver, or the other end of its socket is closed.
    pub(super) has_order: bool,
    /// Whether the next departure is so near that the thread should spin until then.
    pub(super) is_early: bool,
}

impl Watch {
    /// Watches both taps, and a stream whose other end gives orders.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call for descriptors.
    pub(super) fn new(clock: Clock, taps: &[Tap; 2], orders: &UnixStream) -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let alarm = Alarm::new()?;
        let [near, far] = taps;
        epoll::add(&epoll, near, EventData::new_u64(NEAR), EventFlags::IN)?;
        epoll::add(&epoll, far, EventData::new_u64(FAR), EventFlags::IN)?;
        epoll::add(&epoll, orders, EventData::new_u64(ORDER), EventFlags::IN)?;
        if let Some(timer) = alarm.descriptor() {
            // Edge-triggered: an alarm that has rung is reported once, and costs nothing more until it is set again.
            let flags = EventFlags::IN | EventFlags::ET;
            epoll::add(&epoll, timer, EventData::new_u64(TIMER), flags)?;
        }
        let events = Vec::with_capacity(4);
        Ok(Self { clock, epoll, alarm, lead: Lead::default(), events })
    }

    /// Waits until shortly before `due`, until a packet has come at a tap, or until there is an order.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call.
    pub(super) fn wait(&mut self, due: Instant) -> io::Result<Woken> {
        let awake_from = due - self.lead.length();
        let now = self.clock.now();
        if now >= awake_from {
            let mut woken = self.look(Some(&Timespec::default()))?;
            // Packets that have come are read first, so that their time of arrival is right.
            woken.is_early = !woken.has_order && woken.readable == [false; 2];
            return Ok(woken);
        }
        let timeout = match due {
            Instant::FAR_FUTURE => None,
            _ => self.alarm.set(awake_from, self.clock)?,
        };
        let timeout = timeout.and_then(|it| Timespec::try_from(it).ok());
        let mut woken = self.look(timeout.as_ref())?;
        if !woken.has_order && woken.readable == [false; 2] {
            let now = self.clock.now();
            // A late alarm of an earlier departure does not count.
            if now >= awake_from {
                self.lead.observe(now.saturating_since(awake_from));
                woken.is_early = true;
            }
        }
        Ok(woken)
    }

    /// Waits for any of the descriptors, at most for `timeout`, and returns which of them are ready.
    fn look(&mut self, timeout: Option<&Timespec>) -> io::Result<Woken> {
        self.events.clear();
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), timeout) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let named = |what: u64| self.events.iter().any(|event| event.data.u64() == what);
        Ok(Woken { readable: [named(NEAR), named(FAR)], has_order: named(ORDER), is_early: false })
    }

    /// Spins until `due`.
    pub(super) fn spin_until(&self, due: Instant) {
        while self.clock.now() < due {
            std::hint::spin_loop();
        }
    }
}
