//! Packets in flight: decides which are acknowledged or lost, and when to probe (RFC 9002, sections 5 and 6).
//!
//! A lost packet is not sent again. Its frames go back to the streams, and travel in a packet with another number.

use core::ops::Range;
use std::collections::BTreeMap;

use rove_congestion::{Ack, Controller, Loss};
use rove_units::{Bytes, Duration, Instant};

use crate::arrival_times::ArrivalTimes;
use crate::black_hole::BlackHole;
use crate::error::Violation;
use crate::flight::{Flight, Permit};
use crate::frame::AckFrame;
use crate::id::{PacketNum, StreamId};
use crate::packet::PACKET_MIN;
use crate::rtt::Rtt;

/// A packet counts as lost once a packet with a number this much higher is acknowledged, unless the path reorders.
/// Source: RFC 9002, section 6.1.1.
const REORDERED_MAX: u64 = 3;

/// How many probe timeouts the lost packets must span for persistent congestion. Source: RFC 9002, section 7.6.1.
const PERSISTENT_TIMEOUTS: u32 = 3;

/// Number of probe timeouts without an answer after which the flow becomes silent. Source: the wire contract,
/// docs/wire.md.
const SILENT_AFTER: u32 = 3;

/// Number of probe timeouts after which an acknowledgment delayed by more than [`REPEATED_AFTER`] shows the end of an
/// outage. All packets in flight are then sent again. Source: the wire contract, docs/wire.md.
const OUTAGE_AFTER: u32 = 2;
const _: () = assert!(OUTAGE_AFTER < SILENT_AFTER);

/// The first and the longest pause between the probes of a silent flow. Source: the wire contract, docs/wire.md.
const SILENT_PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(15)];

/// How long silent streams wait for a packet of the peer after a datagram of the session. Chosen: longer than a packet
/// takes on a link of 1 Mbit/s. An acknowledgment in that packet saves a repetition of bytes that have arrived.
const NEWS_MAX: Duration = Duration::from_millis(25);

/// Delay above which an acknowledgment counts as the repetition of a lost one, so that no round trip is measured with
/// it. Chosen: ten times the longest usual delay (25 ms), which a busy computer may exceed.
const REPEATED_AFTER: Duration = Duration::from_millis(250);

/// Packets sent within a round trip divided by this before a path change are not sent again. Chosen: two competing
/// address families change the path every few milliseconds, and each change would repeat the same packets.
const RACING_PART: u32 = 4;

/// Most sent packets that an end remembers. Chosen: a window of 8 MiB in packets of half the usual size.
const SENT_PACKETS_MAX: usize = 16_384;

/// Most bytes of sent packets that an end remembers. Chosen: two streams of the greatest credit.
const SENT_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// A part of a sent packet. It is handled when the packet is acknowledged, and sent again when the packet is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Carried {
    /// An acknowledgment, with the highest packet number in it.
    Ack { largest: u64 },
    /// Bytes of a stream, and whether the stream ends with them.
    Data { id: StreamId, range: Range<u64>, is_end: bool },
    /// The credit of a stream.
    Credit(StreamId),
    /// The reset of a stream.
    Reset(StreamId),
    /// The request that the peer reset a stream.
    Stop(StreamId),
    /// The refusal of a stream that the table does not hold.
    Refusal(StreamId),
}

/// The parts of acknowledged packets, and the parts of lost packets, which the streams then send again.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Fates {
    pub(crate) acked: Vec<Carried>,
    pub(crate) lost: Vec<Carried>,
}

/// A packet that asked for an acknowledgment.
#[derive(Debug)]
struct Sent {
    at: Instant,
    /// The packet's bytes in flight. They are 0 if the packet was lost, or given up after a silence or path change.
    size: u64,
    /// Whether the flow was silent, so that the packet was one of its rare probes.
    is_rare: bool,
    carried: Vec<Carried>,
}

/// The packets in flight, and the flow's timers.
#[derive(Debug)]
pub(crate) struct Recovery {
    pub(crate) black_hole: BlackHole,
    flight: Flight,
    rtt: Rtt,
    next: Option<PacketNum>,
    sent: BTreeMap<u64, Sent>,
    largest_acked: Option<u64>,
    /// When the oldest packet in flight will count as lost. `None` unless a later packet was acknowledged.
    lost_at: Option<Instant>,
    /// When the probe timer last began: at a packet (no heartbeat) that asks for an acknowledgment, or at a due probe.
    asked_at: Instant,
    /// How many probe timeouts have passed without an answer.
    timeouts: u32,
    /// The value of `timeouts` when the peer was last heard. While both are equal, a datagram causes no early probe.
    heard_after: u32,
    /// When a silent flow sends data again, after a datagram of the peer. `None` without such a datagram.
    wakes_at: Option<Instant>,
    /// How many probes are to be sent, even if the window is full.
    probes: u8,
    /// When a packet was last sent that asks for an acknowledgment.
    sent_at: Instant,
    /// Whether a heartbeat is due: a packet that must be sent because the controller's longest pause has passed.
    owes_heartbeat: bool,
    /// Whether the next acknowledgment of a packet that was given up permits one packet beyond the window. It is set at
    /// the end of a silence, when needless repeats of such packets fill the window.
    has_extra: bool,
}

impl Recovery {
    pub(crate) fn new(controller: Box<dyn Controller>, packet: usize, now: Instant) -> Self {
        Self {
            black_hole: BlackHole::default(),
            flight: Flight::new(controller, packet, now),
            rtt: Rtt::default(),
            next: Some(PacketNum::default()),
            sent: BTreeMap::new(),
            largest_acked: None,
            lost_at: None,
            asked_at: now,
            timeouts: 0,
            heard_after: 0,
            wakes_at: None,
            probes: 0,
            sent_at: now,
            owes_heartbeat: false,
            has_extra: false,
        }
    }

    pub(crate) const fn rtt(&self) -> &Rtt {
        &self.rtt
    }

    pub(crate) const fn in_flight(&self) -> u64 {
        self.flight.in_flight()
    }

    pub(crate) fn follow(&mut self, now: Instant, controller: Box<dyn Controller>) {
        self.flight.follow(now, controller);
    }

    pub(crate) fn handle_interaction(&mut self, now: Instant) {
        self.flight.handle_interaction(now);
    }

    pub(crate) fn handle_packet_size(&mut self, packet: usize) {
        self.flight.handle_packet_size(packet);
    }

    /// Returns whether the flow is silent: it only sends probes, after three probe timeouts without an answer.
    pub(crate) const fn is_silent(&self) -> bool {
        self.timeouts >= SILENT_AFTER
    }

    /// Returns how large a packet may be, at least [`PACKET_MIN`] bytes. After [`OUTAGE_AFTER`] probe timeouts, it is
    /// exactly [`PACKET_MIN`], because the path may drop large packets.
    pub(crate) fn packet_len(&self, now: Instant) -> usize {
        if self.timeouts >= OUTAGE_AFTER {
            return PACKET_MIN;
        }
        let len = self.flight.packet_len(now, self.rtt.sampled(), Bytes::from(PACKET_MIN).get());
        usize::try_from(len).unwrap_or(usize::MAX)
    }

    /// Returns when a packet of `len` bytes may carry frames that ask for an acknowledgment; at once for a due probe.
    pub(crate) fn permit(&self, now: Instant, len: usize) -> Permit {
        if self.owes_probe() {
            return Permit::Now;
        }
        let is_full =
            self.sent.len() >= SENT_PACKETS_MAX || self.flight.in_flight() >= SENT_BYTES_MAX;
        if is_full || self.is_silent() {
            return Permit::Full;
        }
        self.flight.permit(now, Bytes::from(len).get())
    }

    /// Returns whether a probe or heartbeat is due, so that a packet must be sent even without other frames.
    pub(crate) const fn owes_probe(&self) -> bool {
        self.probes > 0 || self.owes_heartbeat
    }

    /// Returns whether a probe is due. A due heartbeat does not count.
    pub(crate) const fn is_probing(&self) -> bool {
        self.probes > 0
    }

    /// Records whether the flow had nothing to send although a packet was permitted.
    pub(crate) const fn note_app_limited(&mut self, is_app_limited: bool) {
        self.flight.note_app_limited(is_app_limited);
    }

    /// Returns the number of the next packet. `None` if no numbers are left.
    pub(crate) const fn next_number(&self) -> Option<PacketNum> {
        self.next
    }

    /// Records the sending of a packet with the next number. `asks` tells whether it asks for an acknowledgment.
    pub(crate) fn handle_sent(
        &mut self,
        now: Instant,
        size: usize,
        asks: bool,
        carried: Vec<Carried>,
    ) {
        let Some(number) = self.next else { return };
        self.next = number.next();
        if asks {
            let (size, is_rare) = (Bytes::from(size).get(), self.is_silent());
            self.sent_at = now;
            if !core::mem::take(&mut self.owes_heartbeat) {
                self.probes = self.probes.saturating_sub(1);
                self.asked_at = now;
            }
            self.flight.handle_sent(now, size, self.rtt.sampled());
            self.sent.insert(number.get(), Sent { at: now, size, is_rare, carried });
        }
        debug_assert!(self.sent.len() <= SENT_PACKETS_MAX + usize::from(u8::MAX));
    }

    /// Handles an acknowledgment, which the peer sent at `peer_now` of its clock. A packet never sent in it is an
    /// error.
    pub(crate) fn handle_ack(
        &mut self,
        now: Instant,
        ack: &AckFrame,
        peer_now: Instant,
    ) -> Result<Fates, Violation> {
        if self.next.is_some_and(|next| ack.largest >= next.get()) {
            return Err(Violation::AckOfUnsent);
        }
        let delay = Duration::from_micros(ack.delay_micros);
        let newest = self.sent.get(&ack.largest).filter(|it| it.size > 0);
        let age = newest.map(|it| now.saturating_since(it.at));
        if let Some(age) = age.filter(|_| delay <= REPEATED_AFTER) {
            self.rtt.handle_sample(age, delay);
        }
        // A stated delay above the packet's own age is false.
        let is_old = delay > REPEATED_AFTER && age.is_some_and(|age| delay <= age);
        let is_outage = is_old && self.timeouts >= OUTAGE_AFTER;
        let mut fates = Fates::default();
        let span = self.take_acked(now, ack, &ArrivalTimes::new(ack, peer_now), &mut fates);
        if span.is_some() {
            self.largest_acked = self.largest_acked.max(Some(ack.largest));
            (self.timeouts, self.heard_after, self.probes, self.wakes_at) = (0, 0, 0, None);
            self.detect_losses(now, span, &mut fates);
            if is_outage {
                fates.lost.extend(self.give_up(now, Duration::ZERO).lost);
                self.flight.restart(now);
            }
            self.flight.handle_acks_end(now);
        }
        Ok(fates)
    }

    /// Removes the acknowledged packets. Returns the first and the last send time of the removed packets that counted
    /// as in flight. `None` if no such packet was removed.
    fn take_acked(
        &mut self,
        now: Instant,
        ack: &AckFrame,
        arrivals: &ArrivalTimes,
        fates: &mut Fates,
    ) -> Option<[Instant; 2]> {
        let delay = Duration::from_micros(ack.delay_micros);
        let mut span: Option<[Instant; 2]> = None;
        for (low, high) in ack.numbers().unwrap_or_default() {
            let numbers: Vec<u64> =
                self.sent.range(low..=high).map(|(number, _)| *number).collect();
            for number in numbers {
                let Some(sent) = self.sent.remove(&number) else { continue };
                if self.largest_acked > Some(number) {
                    self.rtt.handle_late(now.saturating_since(sent.at), sent.size == 0);
                }
                if sent.size == 0 {
                    self.probes = self.probes.max(u8::from(core::mem::take(&mut self.has_extra)));
                    if self.sent.values().all(|it| it.size > 0) {
                        // Nothing else is missing, so the path only reorders.
                        self.flight.handle_spurious_loss(sent.at);
                    }
                    fates.acked.extend(sent.carried);
                    continue;
                }
                span = Some(span.map_or([sent.at; 2], |[a, b]| [a.min(sent.at), b.max(sent.at)]));
                self.count_acked(now, &sent, arrivals.of(number), arrivals.held(number, delay));
                fates.acked.extend(sent.carried);
            }
        }
        span
    }

    /// Called for each authentic datagram of the peer. A packet of streams (`is_packet`) ends a silence at once,
    /// because it carries any acknowledgment that is due. After a datagram of the session, the silence ends
    /// [`NEWS_MAX`] later, so that such a packet may come first. If a probe timeout has passed since the peer was last
    /// heard, the flow also probes at once. The network may be back.
    pub(crate) fn handle_heard(&mut self, now: Instant, is_packet: bool) -> Fates {
        if self.is_silent() && is_packet {
            return self.wake(now);
        }
        if self.timeouts == self.heard_after {
            return Fates::default();
        }
        self.heard_after = self.timeouts;
        if self.is_silent() {
            self.wakes_at = Some(now + NEWS_MAX);
        }
        self.probe(now)
    }

    /// Starts to send again after a silence. All packets in flight count as lost, and the RTT estimate starts anew.
    fn wake(&mut self, now: Instant) -> Fates {
        (self.timeouts, self.heard_after, self.probes) = (0, 0, 0);
        (self.lost_at, self.wakes_at, self.has_extra) = (None, None, true);
        self.rtt = Rtt::default();
        let fates = self.give_up(now, Duration::ZERO);
        self.flight.restart(now);
        tracing::debug!("streams go on after a silence");
        fates
    }

    /// Counts packets that were sent at least `age` ago as lost, until an acknowledgment for them arrives.
    fn give_up(&mut self, now: Instant, age: Duration) -> Fates {
        let mut lost = Vec::new();
        for sent in self.sent.values_mut().filter(|it| it.size > 0 && it.at + age <= now) {
            self.flight.give_up(core::mem::take(&mut sent.size));
            lost.extend(sent.carried.iter().cloned());
        }
        self.forget(now);
        Fates { lost, ..Fates::default() }
    }

    /// Forgets the oldest packets that were lost or given up: packets that will not arrive, and packets whose room is
    /// needed.
    fn forget(&mut self, now: Instant) {
        let patience = self.rtt.probe_timeout() * PERSISTENT_TIMEOUTS;
        while let Some(oldest) = self.sent.first_entry().filter(|it| it.get().size == 0) {
            let is_old =
                oldest.get().at + patience <= now && self.largest_acked > Some(*oldest.key());
            if is_old {
                self.rtt.handle_loss();
            } else if self.sent.len() <= SENT_PACKETS_MAX / 2 {
                break;
            }
            self.sent.pop_first();
        }
    }

    /// Called when packets may take another path. If `is_elsewhere`, the peer has another address. Then all packets in
    /// flight are sent again, except those sent in the last quarter of a round trip. If no packet is sent again, or the
    /// flow is silent, the flow probes at once.
    pub(crate) fn handle_path_change(&mut self, now: Instant, is_elsewhere: bool) -> Fates {
        if !self.is_silent() {
            // The pauses between probes may have grown on the old path. They begin with the shortest again.
            (self.timeouts, self.heard_after) = (0, 0);
            if is_elsewhere {
                let fates = self.give_up(now, self.rtt.smoothed() / RACING_PART);
                if !fates.lost.is_empty() {
                    return fates;
                }
            }
        }
        self.probe_again(now)
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) -> Fates {
        let mut fates = Fates::default();
        self.flight.handle_timeout(now);
        if self.wakes_at.is_some_and(|at| at <= now) {
            fates = self.wake(now);
        } else if self.lost_at.is_some_and(|at| at <= now) {
            self.detect_losses(now, None, &mut fates);
        } else if self.probe_at().is_some_and(|at| at <= now) {
            self.timeouts = self.timeouts.saturating_add(1);
            fates = self.probe_again(now);
            tracing::debug!(timeouts = self.timeouts, "no answer to streams");
        } else if self.heartbeat_at().is_some_and(|at| at <= now) {
            self.owes_heartbeat = true;
        }
        fates
    }

    /// Returns when [`Recovery::handle_timeout`] is due. `None` if no timer runs.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let times = [
            self.wakes_at,
            self.lost_at,
            self.probe_at(),
            self.heartbeat_at(),
            self.flight.poll_timeout(),
        ];
        times.into_iter().flatten().min()
    }

    /// Makes probes due at once. In a silence, the new probe replaces the previous one, to bound memory.
    fn probe_again(&mut self, now: Instant) -> Fates {
        let is_silent = self.is_silent();
        let former = self.sent.last_entry().filter(|it| is_silent && it.get().is_rare);
        let former = former.map(|it| it.remove());
        let mut fates = self.probe(now);
        if let Some(former) = former {
            self.flight.give_up(former.size);
            fates.lost.extend(former.carried);
        }
        fates
    }

    /// Makes probes due at once, if anything is in flight. Returns what they carry as lost.
    fn probe(&mut self, now: Instant) -> Fates {
        if self.flight.in_flight() == 0 {
            return Fates::default();
        }
        self.probes = if self.is_silent() { 1 } else { 2 };
        self.asked_at = now;
        Fates { lost: self.oldest(), ..Fates::default() }
    }

    /// Returns the parts of the oldest packets in flight, which the due probes carry again.
    fn oldest(&self) -> Vec<Carried> {
        let oldest = self.sent.values().filter(|it| it.size > 0).take(self.probes.into());
        oldest.flat_map(|it| it.carried.iter().cloned()).collect()
    }

    fn probe_at(&self) -> Option<Instant> {
        let [first, longest] = SILENT_PAUSES;
        let base = if self.is_silent() { first } else { self.rtt.probe_timeout() };
        let doublings = if self.is_silent() { self.timeouts - SILENT_AFTER } else { self.timeouts };
        let pause = base.saturating_mul(1 << doublings.min(16)).min(longest);
        let is_asked = self.flight.in_flight() > 0 && self.lost_at.is_none();
        is_asked.then(|| self.asked_at + pause)
    }

    fn heartbeat_at(&self) -> Option<Instant> {
        let is_due = !self.is_silent() && !self.owes_heartbeat;
        let pause = self.flight.heartbeat().filter(|_| is_due)?;
        Some(self.sent_at + pause)
    }

    fn count_acked(&mut self, now: Instant, sent: &Sent, received: Instant, held: Duration) {
        self.black_hole.handle_acked(sent.size);
        let ack = Ack {
            sent: sent.at,
            received,
            size: Bytes::new(sent.size),
            rtt: now.saturating_since(sent.at).saturating_sub(held),
            in_flight: Bytes::ZERO,
            is_app_limited: false,
        };
        self.flight.handle_ack(now, ack);
    }

    /// Finds the packets that count as lost. `acked` has the first and last send time of the packets just acknowledged.
    fn detect_losses(&mut self, now: Instant, acked: Option<[Instant; 2]>, fates: &mut Fates) {
        self.lost_at = None;
        let Some(largest) = self.largest_acked else { return };
        let delay = self.rtt.loss_delay();
        let mut lost: Option<[Instant; 2]> = None;
        let mut size = 0;
        for (number, sent) in self.sent.range_mut(..largest).filter(|(_, it)| it.size > 0) {
            let (at, is_near) = (sent.at, largest - number < REORDERED_MAX);
            if (is_near || self.rtt.is_reordered()) && at + delay > now {
                self.lost_at = Some(at + delay);
                break;
            }
            lost = Some([lost.map_or(at, |[first, _]| first), at]);
            size += sent.size;
            self.black_hole.handle_lost(core::mem::take(&mut sent.size));
            fates.lost.extend(sent.carried.iter().cloned());
        }
        self.forget(now);
        let Some([first, last]) = lost else { return };
        let long = self.rtt.probe_timeout() * PERSISTENT_TIMEOUTS;
        let is_apart = acked.is_none_or(|[from, to]| to < first || last < from);
        let is_persistent = is_apart && last.saturating_since(first) > long;
        let loss =
            Loss { sent: last, size: Bytes::new(size), in_flight: Bytes::ZERO, is_persistent };
        self.flight.handle_loss(now, loss);
    }
}

#[cfg(test)]
mod tests;
