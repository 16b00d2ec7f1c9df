//! A direction of a path as a state machine: passes packets through its stages.

use rove_units::{Bytes, Instant, Stream};

use crate::bottleneck::Bottleneck;
use crate::config::{Discipline, Drops, LinkConfig, Stage};
use crate::event::{Event, EventKind};
use crate::item::{DropCause, Fate, Item, PacketId};
use crate::line::{DelayLine, Propagation};
use crate::loss::Loss;
use crate::outage::Gate;
use crate::steps::Steps;
use crate::tally::{LinkStats, Tally};

/// Most bytes in a link's delay line and in packets that the driver has not polled yet. Further packets are dropped.
/// Chosen: two seconds of 1 Gbit/s. Beyond that the model is useless and only memory grows.
const IN_FLIGHT_MAX: Bytes = Bytes::mib(256);

/// A direction of a path: a state machine that packets enter and leave.
///
/// `P` is a packet, whose length decides its transmission time. Random decisions depend on the packet's number, and
/// every stage acts at the times that its config gives. So no result depends on when or how often the driver polls.
#[derive(Clone, Debug)]
pub struct Link<P> {
    config: LinkConfig,
    steps: Steps,
    stages: [Stage; 3],
    /// Whether the delay is the last stage.
    delays_last: bool,
    loss: Loss,
    gate: Gate,
    propagation: Propagation,
    bottleneck: Bottleneck<P>,
    /// Packets in the delay stage. This line is unused if the delay is the last stage.
    line: DelayLine<Item<P>>,
    /// Packets that have passed all stages but have not been polled, ordered by the time at which they leave the link.
    /// If the delay is the last stage, this is also its delay line.
    exit: DelayLine<P>,
    /// The bytes in `line` and `exit`.
    in_flight: Bytes,
    /// The latest release time so far. No later packet is released earlier, unless jitter may reorder packets.
    last_release: Instant,
    tally: Tally,
}

impl<P: Clone + AsRef<[u8]>> Link<P> {
    /// Creates an empty link. `chance` decides every loss, duplication and delay by packet number. So two links with
    /// the same `chance` lose the same packets, even if one runs in real time and the other in virtual time.
    pub fn new(config: impl Into<Steps>, chance: Stream) -> Self {
        let steps = config.into();
        let config = steps.first().clone();
        let stages = config.order.stages();
        Self {
            stages,
            delays_last: stages[2] == Stage::Delay,
            loss: Loss::new(chance.fork(0), chance.fork(1), chance.fork(4)),
            gate: Gate::new(chance.fork(5)),
            propagation: Propagation::new(chance.fork(2), chance.fork(3)),
            bottleneck: Bottleneck::new(&config, chance.fork(6)),
            line: DelayLine::default(),
            exit: DelayLine::default(),
            in_flight: Bytes::ZERO,
            last_release: Instant::ZERO,
            tally: Tally::default(),
            config,
            steps,
        }
    }

    /// Lets a packet enter the link. `now` must not be earlier than in an earlier call.
    pub fn handle_packet(&mut self, now: Instant, packet: P) {
        self.advance(now);
        let number = self.tally.stats.entered;
        self.tally.stats.entered += 1;
        let id = PacketId { number, is_copy: false };
        let flow = match self.config.queue {
            Discipline::Fair(fair) => fair.key.flow(packet.as_ref()),
            _ => 0,
        };
        let item = Item {
            id,
            flow,
            size: length(&packet) + self.config.overhead,
            packet,
            entered: now,
            queued: now,
            propagation: self.propagation.of(&self.config, number, false),
            fate: self.loss.fate(&self.config, number),
        };
        self.tally.note(now, || EventKind::Entered { id, size: item.size });
        self.pass(0, now, item);
    }

    /// Returns the next packet that leaves the link by `now`, and when it leaves. `None` if no packet leaves by then.
    /// If a driver in real time polls too late, it delivers this packet late, but later packets keep their times.
    pub fn poll_packet(&mut self, now: Instant) -> Option<(Instant, P)> {
        self.advance(now);
        let (at, packet) = self.exit.pop(now)?;
        self.in_flight -= length(&packet);
        self.tally.stats.delivered += 1;
        let is_line_empty = self.line.len() == 0 && self.exit.len() == 0;
        debug_assert!(!is_line_empty || self.in_flight == Bytes::ZERO, "no packets have no bytes");
        let stats = self.tally.stats;
        debug_assert_eq!(
            stats.entered + stats.duplicated,
            stats.delivered + stats.dropped() + self.inside() as u64,
            "every packet is delivered, dropped or inside"
        );
        Some((at, packet))
    }

    /// Returns when to poll next. `None` if no packet inside will ever leave the link.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let times = [
            self.exit.next_release(),
            self.line.next_release().filter(|_| !self.delays_last),
            self.bottleneck.next_service(),
            self.steps.next_change().filter(|_| !self.bottleneck.is_idle()),
        ];
        times.into_iter().flatten().min()
    }

    /// Replaces the config and all later steps for packets that enter from `now` on. Packets in the delay line keep
    /// their release times. Packets before the bottleneck are sent at its new rate. The stages keep their order.
    pub fn reconfigure(&mut self, now: Instant, config: impl Into<Steps>) {
        self.advance(now);
        self.steps = config.into();
        self.apply(now, self.steps.first().clone());
        self.advance(now);
    }

    /// Drops the next `count` packets that enter, whatever the random draws say.
    pub fn drop_next(&mut self, count: u64) {
        self.loss.drop_next(count);
    }

    /// Records events for [`Link::poll_event`] from this call on.
    pub fn record_events(&mut self) {
        self.tally.record();
        self.bottleneck.follow_all();
    }

    /// Returns the oldest event by `now` that was not returned yet. `None` if there is no such event, or before
    /// [`Link::record_events`]. A link keeps at most half a million events that the caller has not read.
    pub fn poll_event(&mut self, now: Instant) -> Option<Event> {
        self.advance(now);
        self.tally.poll_event(now)
    }

    /// Returns the packet counters of the link so far.
    pub const fn stats(&self) -> LinkStats {
        self.tally.stats
    }

    /// Returns the bytes that wait before the bottleneck.
    pub const fn queued(&self) -> Bytes {
        self.bottleneck.queued()
    }

    /// Returns the number of packets inside the link, copies included: entered, but neither polled nor dropped.
    pub fn inside(&self) -> usize {
        self.bottleneck.len() + self.line.len() + self.exit.len()
    }

    /// Performs all stages' work that is due by `now`.
    fn advance(&mut self, now: Instant) {
        // Most calls end here, because `poll_packet` itself empties the delay stage if it is the last.
        let is_at_rest = self.bottleneck.is_idle() && (self.delays_last || self.line.len() == 0);
        if is_at_rest && !self.tally.is_recording() && self.steps.next_change().is_none() {
            return;
        }
        while let Some((at, config)) = self.steps.pop(now) {
            self.move_on(at);
            self.apply(at, config);
        }
        self.move_on(now);
    }

    fn move_on(&mut self, now: Instant) {
        for (position, stage) in self.stages.into_iter().enumerate() {
            match stage {
                Stage::Loss => {}
                Stage::Queue => self.serve(position, now),
                Stage::Delay => self.release(position, now),
            }
        }
    }

    fn apply(&mut self, now: Instant, config: LinkConfig) {
        self.bottleneck.reconfigure(now, &config, &self.tally);
        self.config = config;
    }

    /// Moves a packet through the stages from `position` on, until a stage keeps or drops it, or it reaches the exit.
    fn pass(&mut self, position: usize, mut at: Instant, mut item: Item<P>) {
        for (position, stage) in self.stages.into_iter().enumerate().skip(position) {
            match stage {
                Stage::Loss => {
                    if let Some(cause) = self.loses(at, &item) {
                        return self.tally.dropped(at, &item, cause);
                    }
                    if item.fate == Fate::Doubled {
                        item.fate = Fate::Passes;
                        self.tally.stats.duplicated += 1;
                        self.pass(position + 1, at, self.copy(&item));
                    }
                }
                Stage::Queue => {
                    self.serve(position, at);
                    item.queued = at;
                    let (id, size) = (item.id, item.size);
                    self.tally.note(at, || EventKind::Queued { id, size });
                    let Some(through) = self.bottleneck.bypass(at, size) else {
                        return self.bottleneck.push(at, item, &mut self.tally);
                    };
                    self.tally.departed(through, &item);
                    at = through;
                }
                Stage::Delay => return self.delay(at, item),
            }
        }
        if self.takes_off(&item) {
            self.put_out(at, item);
        } else {
            self.tally.dropped(at, &item, DropCause::LineFull);
        }
    }

    /// Returns why a packet is lost at the time `at`. `None` if it passes.
    fn loses(&mut self, at: Instant, item: &Item<P>) -> Option<DropCause> {
        let Drops { start, outages, on_off, mtu, .. } = &self.config.drops;
        let elapsed = Instant::ZERO + at.saturating_since(*start);
        if !self.gate.is_open(outages, on_off.as_ref(), elapsed) {
            return Some(DropCause::Outage);
        }
        if mtu.is_some_and(|mtu| item.size > mtu) {
            return Some(DropCause::TooLarge);
        }
        match item.fate {
            Fate::Lost(cause) => Some(cause),
            Fate::Passes | Fate::Doubled => None,
        }
    }

    /// Returns the duplicate of a packet, with its own random delay.
    fn copy(&self, item: &Item<P>) -> Item<P> {
        let id = PacketId { is_copy: true, ..item.id };
        let propagation = self.propagation.of(&self.config, id.number, true);
        Item { id, propagation, ..item.clone() }
    }

    /// Passes on every packet that the bottleneck (the stage at `position`) has sent, or is sending, at `until`.
    fn serve(&mut self, position: usize, until: Instant) {
        while let Some((at, item)) = self.bottleneck.serve(until, &mut self.tally) {
            self.pass(position + 1, at, item);
        }
    }

    /// Passes on every packet that leaves the delay line (the stage at `position`) by `until`.
    fn release(&mut self, position: usize, until: Instant) {
        if self.delays_last {
            return;
        }
        while let Some((at, item)) = self.line.pop(until) {
            self.in_flight -= length(&item.packet);
            self.pass(position + 1, at, item);
        }
    }

    /// Puts a packet into the delay line, or drops it if the line is full.
    fn delay(&mut self, at: Instant, item: Item<P>) {
        let max = self.config.drops.line_packets_max.unwrap_or(usize::MAX);
        // Packets that were released by `at`, but not polled yet, do not count.
        let is_full = if self.delays_last {
            self.exit.len() >= max && self.exit.held_after(at) >= max
        } else {
            self.line.len() >= max && self.line.held_after(at) >= max
        };
        if is_full || !self.takes_off(&item) {
            return self.tally.dropped(at, &item, DropCause::LineFull);
        }
        let mut release = at + item.propagation;
        if !self.config.reorder {
            release = release.max(self.last_release);
            self.last_release = release;
        }
        if self.delays_last {
            self.put_out(release, item);
        } else {
            self.line.push(release, item);
        }
    }

    fn put_out(&mut self, at: Instant, item: Item<P>) {
        debug_assert!(item.entered <= at, "no packet leaves before it enters");
        let (id, size, delay) = (item.id, item.size, at.saturating_since(item.entered));
        self.tally.note(at, || EventKind::Delivered { id, size, delay });
        self.exit.push(at, item.packet);
    }

    /// Adds a packet to the bytes in flight. Returns false, and adds nothing, if they would exceed [`IN_FLIGHT_MAX`].
    fn takes_off(&mut self, item: &Item<P>) -> bool {
        let bytes = self.in_flight + length(&item.packet);
        let fits = bytes <= IN_FLIGHT_MAX;
        if fits {
            self.in_flight = bytes;
        }
        fits
    }
}

fn length(packet: &impl AsRef<[u8]>) -> Bytes {
    Bytes::from(packet.as_ref().len())
}

#[cfg(test)]
mod tests;
