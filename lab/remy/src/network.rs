//! The evaluator's network: senders that are on or off, a queue, a link, random loss, and a constant delay.
//!
//! Model and order of events are the published evaluator's. At each moment senders switch. Then they act in random
//! order and send at most a packet each. Then packets move. A session's keys are rove's addition, and are sent first.
//! Acknowledgments take no time. A search needs 10^10 packets, so this loop is faster than `rove-link`'s.

use std::collections::VecDeque;

use rove_units::{Instant, Seed, Stream};

use crate::control::Control;
use crate::training_network::{TrainingNetwork, millis, nanos};

/// A moment that never comes.
const NEVER: u64 = u64::MAX;

/// In a key's packet, this number takes the place of the sender's number. No sender has it.
pub(crate) const SESSION: u32 = u32::MAX;

/// A packet on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    /// The number of the packet's sender, or [`SESSION`].
    pub(crate) sender: u32,
    /// The number of the flow to which the packet belongs, among the sender's flows.
    pub(crate) flow: u32,
    /// The packet's number among all packets of its sender, from 0.
    pub(crate) number: u64,
    /// The time at which the packet was sent, in ns.
    pub(crate) sent: u64,
}

/// An observer of packets.
pub(crate) trait Watch {
    /// Called when a packet is sent, before the packet enters the queue.
    fn sent(&mut self, _now: u64, _packet: &Packet) {}
    /// Called when a packet is received.
    fn received(&mut self, _now: u64, _packet: &Packet) {}
}

/// An observer that ignores everything.
impl Watch for () {}

/// The figures of a sender in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    /// Packets that were received.
    pub(crate) received: u64,
    /// Sum of the received packets' delays from the sender to the receiver, in ns.
    pub(crate) delay_nanos: u64,
    /// The time for which the sender was on, in ms. Each moment is divided by the number of senders that are on.
    pub(crate) share_ms: f64,
    /// The time for which the sender was on, in ms.
    pub(crate) on_ms: f64,
}

/// The figures of a session's keys in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Keys {
    /// Keys whose packets were received.
    pub(crate) received: u64,
    /// Keys whose packets were lost or dropped.
    pub(crate) lost: u64,
    /// Sum of the received keys' delays, in ns.
    pub(crate) delay_nanos: u64,
}

/// All figures of a run, and the controls at its end.
#[derive(Clone, Debug)]
pub(crate) struct Run<C> {
    /// The figures of the session's keys. All are zero if the network has no session.
    pub(crate) keys: Keys,
    /// The figures of each sender.
    pub(crate) outcomes: Vec<Outcome>,
    /// The control of each sender at the end of the run.
    pub(crate) controls: Vec<C>,
    /// Number of moments at which something happened.
    pub(crate) events: u64,
}

/// A sender during a run.
struct Sender<C> {
    control: C,
    chance: Stream,
    /// How often the sender was switched on or off.
    switches: u64,
    switches_at: u64,
    is_on: bool,
    flow: u32,
    sent: u64,
    /// The number after the last packet that was acknowledged, or that was given up when a new flow began.
    acknowledged: u64,
    last_sent: Option<u64>,
    /// The earliest moment for the next packet. [`NEVER`] if the sender is off or its window is full.
    sends_at: u64,
    outcome: Outcome,
    /// The simulation's `share_ms` at the moment when the sender was switched on.
    share_at_start: f64,
    on_since: u64,
}

impl<C: Control> Sender<C> {
    fn plan(&mut self) {
        let is_open =
            self.is_on && self.sent < self.acknowledged + u64::from(self.control.window());
        self.sends_at = match self.last_sent {
            _ if !is_open => NEVER,
            None => 0,
            Some(last) => last.saturating_add(self.control.intersend_nanos()),
        };
    }
}

/// The network during a run.
struct Simulation<'a, C, W> {
    network: &'a TrainingNetwork,
    watch: &'a mut W,
    senders: Vec<Sender<C>>,
    senders_on: u64,
    /// The time until `share_until`, in ms. Each moment is divided by the number of senders that are on.
    share_ms: f64,
    share_until: u64,
    transmission: u64,
    delay: u64,
    buffer: usize,
    in_transmission: Option<Packet>,
    transmitted_at: u64,
    queue: VecDeque<Packet>,
    /// Packets that have left the link and are delayed, each with the moment at which it is received.
    line: VecDeque<(u64, Packet)>,
    /// Packets that are received at this moment, before their senders learn of them.
    arrived: Vec<Packet>,
    loss: Stream,
    /// The number of packets that have left the link.
    departures: u64,
    order: Stream,
    orders: u64,
    active: Vec<u32>,
    session: Session,
}

/// The session during a run.
struct Session {
    chance: Stream,
    typed: u64,
    types_at: u64,
    transmission: u64,
    keys: Keys,
}

/// Simulates a network for `length_ms`. `control` returns the control of each sender.
pub(crate) fn run<C: Control>(
    network: &TrainingNetwork,
    seed: Seed,
    length_ms: f64,
    control: impl Fn(usize) -> C,
    watch: &mut impl Watch,
) -> Run<C> {
    let switches = seed.stream("remy.switches");
    let senders = (0..network.senders).map(|number| {
        let mut sender = Sender {
            control: control(number),
            chance: switches.fork(number as u64),
            switches: 0,
            switches_at: 0,
            is_on: false,
            flow: 0,
            sent: 0,
            acknowledged: 0,
            last_sent: None,
            sends_at: NEVER,
            outcome: Outcome::default(),
            share_at_start: 0.0,
            on_since: 0,
        };
        sender.draw_switch(0, network.mean_off_ms);
        sender
    });
    let mut simulation = Simulation {
        network,
        watch,
        senders: senders.collect(),
        senders_on: 0,
        share_ms: 0.0,
        share_until: 0,
        transmission: network.transmission_nanos(),
        delay: nanos(network.rtt_ms),
        buffer: network.buffer_packets.unwrap_or(usize::MAX),
        in_transmission: None,
        transmitted_at: NEVER,
        queue: VecDeque::new(),
        line: VecDeque::new(),
        arrived: Vec::new(),
        loss: seed.stream("remy.loss"),
        departures: 0,
        order: seed.stream("remy.order"),
        orders: 0,
        active: Vec::new(),
        session: Session {
            chance: seed.stream("remy.keys"),
            typed: 0,
            types_at: NEVER,
            transmission: network.key_transmission_nanos(),
            keys: Keys::default(),
        },
    };
    simulation.plan_key(0);
    let events = simulation.run(nanos(length_ms));
    let keys = simulation.session.keys;
    let outcomes = simulation.senders.iter().map(|sender| sender.outcome).collect();
    let controls = simulation.senders.into_iter().map(|sender| sender.control).collect();
    Run { keys, outcomes, controls, events }
}

impl<C> Sender<C> {
    /// Draws the time at which the sender is switched next.
    fn draw_switch(&mut self, now: u64, mean_ms: f64) {
        let unit = self.chance.at(self.switches).unit();
        self.switches += 1;
        // The time is at least a nanosecond, so that the simulation makes progress.
        self.switches_at = now.saturating_add(nanos(-mean_ms * (1.0 - unit).ln()).max(1));
    }
}

impl<C: Control, W: Watch> Simulation<'_, C, W> {
    /// Runs the simulation until `end`. Returns the number of moments at which something happened.
    fn run(&mut self, end: u64) -> u64 {
        let mut now = 0;
        let mut events = 0;
        let mut switches_at = self.next_switch();
        let mut sends_at = NEVER;
        loop {
            let line = self.line.front().map_or(NEVER, |(at, _)| *at);
            let pending = if self.arrived.is_empty() { NEVER } else { now };
            let own = switches_at.min(sends_at).min(self.session.types_at);
            let next = own.min(self.transmitted_at).min(line).min(pending);
            // A sender's pace may have allowed a packet at an earlier moment. The sender then sends that packet now.
            now = next.max(now);
            if now > end {
                break;
            }
            events += 1;
            if switches_at <= now {
                self.switch(now);
                switches_at = self.next_switch();
                sends_at = self.next_send();
            }
            if self.session.types_at <= now {
                self.type_key(now);
            }
            if sends_at <= now || !self.arrived.is_empty() {
                self.run_senders(now);
                sends_at = self.next_send();
            }
            self.move_packets(now);
        }
        let Session { typed, keys, .. } = &self.session;
        debug_assert!(keys.received + keys.lost <= *typed, "a key is received or lost once");
        self.account(end);
        for sender in self.senders.iter_mut().filter(|sender| sender.is_on) {
            sender.outcome.share_ms += self.share_ms - sender.share_at_start;
            sender.outcome.on_ms += millis(end - sender.on_since);
        }
        events
    }

    fn next_switch(&self) -> u64 {
        self.senders.iter().map(|sender| sender.switches_at).min().unwrap_or(NEVER)
    }

    fn next_send(&self) -> u64 {
        self.senders.iter().map(|sender| sender.sends_at).min().unwrap_or(NEVER)
    }

    /// Extends `share_ms` up to the moment `now`.
    fn account(&mut self, now: u64) {
        if self.senders_on > 0 {
            self.share_ms += millis(now - self.share_until) / self.senders_on as f64;
        }
        self.share_until = now;
    }

    /// Switches the senders that are due, in the order of their numbers.
    fn switch(&mut self, now: u64) {
        self.account(now);
        let (share_ms, network) = (self.share_ms, self.network);
        for sender in self.senders.iter_mut().filter(|sender| sender.switches_at <= now) {
            sender.is_on = !sender.is_on;
            if sender.is_on {
                self.senders_on += 1;
                sender.share_at_start = share_ms;
                sender.on_since = now;
                sender.flow += 1;
                // The packets of the previous flow are given up.
                sender.acknowledged = sender.sent;
                sender.last_sent = None;
                sender.control.start(Instant::from_nanos(now));
                sender.draw_switch(now, network.mean_on_ms);
            } else {
                self.senders_on -= 1;
                sender.outcome.share_ms += share_ms - sender.share_at_start;
                sender.outcome.on_ms += millis(now - sender.on_since);
                sender.draw_switch(now, network.mean_off_ms);
            }
            sender.plan();
        }
    }

    /// Draws the time of the next key, if somebody types in this network.
    fn plan_key(&mut self, now: u64) {
        let Some(typing) = self.network.typing else { return };
        let session = &mut self.session;
        let unit = session.chance.at(session.typed).unit();
        // The time is at least a nanosecond, so that the simulation makes progress.
        let gap = nanos(-typing.mean_gap_ms * (1.0 - unit).ln()).max(1);
        session.types_at = now.saturating_add(gap);
    }

    /// Sends the packet of a key to the link.
    fn type_key(&mut self, now: u64) {
        let number = self.session.typed;
        self.session.typed += 1;
        let packet = Packet { sender: SESSION, flow: 0, number, sent: now };
        self.watch.sent(now, &packet);
        if !self.enqueue(now, packet) {
            self.session.keys.lost += 1;
        }
        self.plan_key(now);
    }

    /// Runs the senders that have received acknowledgments or may send, in random order.
    fn run_senders(&mut self, now: u64) {
        let mut active = core::mem::take(&mut self.active);
        active.clear();
        for (number, sender) in (0_u32..).zip(&self.senders) {
            if sender.sends_at <= now || self.arrived.iter().any(|it| it.sender == number) {
                active.push(number);
            }
        }
        for left in (1..active.len()).rev() {
            let place = self.order.at(self.orders).below(left as u64 + 1);
            self.orders += 1;
            active.swap(left, usize::try_from(place).unwrap_or(0));
        }
        for number in &active {
            self.run_sender(*number, now);
        }
        self.arrived.clear();
        self.active = active;
    }

    /// Tells a sender's control of its received packets, and sends a packet if the control permits it.
    fn run_sender(&mut self, number: u32, now: u64) {
        let sender = &mut self.senders[number as usize];
        let mut has_heard = false;
        for packet in self.arrived.iter().filter(|packet| packet.sender == number) {
            sender.outcome.received += 1;
            sender.outcome.delay_nanos += now - packet.sent;
            // A packet of an earlier flow counts in the figures, but the sender's control does not learn of it.
            if packet.flow == sender.flow {
                let lost = packet.number.saturating_sub(sender.acknowledged);
                sender.acknowledged = sender.acknowledged.max(packet.number + 1);
                let (sent, now) = (Instant::from_nanos(packet.sent), Instant::from_nanos(now));
                sender.control.acknowledge(sent, now, lost);
                has_heard = true;
            }
        }
        debug_assert!(sender.acknowledged <= sender.sent, "only sent packets are acknowledged");
        if has_heard {
            sender.control.decide();
            sender.plan();
        }
        if sender.sends_at <= now {
            let packet =
                Packet { sender: number, flow: sender.flow, number: sender.sent, sent: now };
            sender.sent += 1;
            sender.last_sent = Some(now);
            sender.control.sent(Instant::from_nanos(now));
            sender.plan();
            self.watch.sent(now, &packet);
            self.enqueue(now, packet);
        }
    }

    /// Puts a packet on the idle link or into the queue. Returns false if the queue is full.
    fn enqueue(&mut self, now: u64, packet: Packet) -> bool {
        if self.in_transmission.is_none() {
            debug_assert!(self.queue.is_empty(), "no packet waits for an idle link");
            self.in_transmission = Some(packet);
            self.transmitted_at = now.saturating_add(self.transmission_of(&packet));
            return true;
        }
        let has_room = self.queue.len() < self.buffer;
        if has_room {
            self.queue.push_back(packet);
        }
        has_room
    }

    fn transmission_of(&self, packet: &Packet) -> u64 {
        if packet.sender == SESSION { self.session.transmission } else { self.transmission }
    }

    /// Moves packets over the link and through the delay until `now`.
    fn move_packets(&mut self, now: u64) {
        while self.transmitted_at <= now {
            let departed = self.transmitted_at;
            let packet = self.in_transmission.take();
            self.in_transmission = self.queue.pop_front();
            self.transmitted_at = match self.in_transmission {
                Some(next) => departed.saturating_add(self.transmission_of(&next)),
                None => NEVER,
            };
            let is_lost =
                self.network.loss > 0.0 && self.loss.at(self.departures).chance(self.network.loss);
            self.departures += 1;
            if is_lost && packet.is_some_and(|packet| packet.sender == SESSION) {
                self.session.keys.lost += 1;
            }
            if let Some(packet) = packet.filter(|_| !is_lost) {
                let received = departed.saturating_add(self.delay);
                let last = self.line.back().map(|(at, _)| *at);
                debug_assert!(last <= Some(received), "the delay keeps the order of packets");
                self.line.push_back((received, packet));
            }
        }
        while let Some((_, packet)) = self.line.pop_front_if(|(at, _)| *at <= now) {
            self.watch.received(now, &packet);
            if packet.sender == SESSION {
                self.session.keys.received += 1;
                self.session.keys.delay_nanos += now - packet.sent;
            } else {
                self.arrived.push(packet);
            }
        }
    }
}

#[cfg(test)]
mod tests;
