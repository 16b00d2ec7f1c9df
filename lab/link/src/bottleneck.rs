//! The bottleneck of a link: a queue and the server that empties it.

use rove_units::{Bytes, Instant, Stream};

use crate::bucket::TokenBucket;
use crate::config::LinkConfig;
use crate::item::{DropCause, Item};
use crate::opportunities::Opportunities;
use crate::queue::Queue;
use crate::serialiser::Serialiser;
use crate::tally::Tally;

/// A queue, and the server that sends its packets. A new config may replace the kind of server while packets wait.
#[derive(Clone, Debug)]
pub(crate) struct Bottleneck<P> {
    queue: Queue<P>,
    server: Server,
    /// The packet that has left the queue but not the bottleneck, and the number of its bytes that are still to be
    /// sent. Always `None` with a serialiser, which computes the end of a transmission at its start.
    in_service: Option<(Item<P>, Bytes)>,
}

#[derive(Clone, Debug)]
enum Server {
    Serialiser(Serialiser),
    Bucket(TokenBucket),
    Opportunities(Opportunities),
}

impl<P> Bottleneck<P> {
    pub(crate) fn new(config: &LinkConfig, chance: Stream) -> Self {
        let wire = Server::Serialiser(Serialiser::new(None, Instant::ZERO));
        let server = wire.reconfigured(Instant::ZERO, config);
        Self { queue: Queue::new(config, chance), server, in_service: None }
    }

    /// Sends a packet past the empty queue if the serialiser has no rate, or is idle and the queue's discipline allows
    /// this. So even a queue with a limit of 0 passes traffic. Returns when the transmission ends, or `None` if the
    /// caller must queue the packet. The caller must first take out all packets due before `now` by [`Self::serve`].
    pub(crate) fn bypass(&mut self, now: Instant, size: Bytes) -> Option<Instant> {
        let Server::Serialiser(serialiser) = &mut self.server else { return None };
        let is_wire = serialiser.rate.is_none() && self.queue.is_empty();
        let is_idle = serialiser.free_at() <= now && self.queue.may_be_bypassed();
        (is_wire || is_idle).then(|| serialiser.transmit(now, size))
    }

    /// Queues a packet for which [`Self::bypass`] has returned `None`. The queue may drop it.
    pub(crate) fn push(&mut self, now: Instant, item: Item<P>, tally: &mut Tally) {
        match &mut self.server {
            Server::Serialiser(_) => {}
            Server::Bucket(bucket) => {
                if !bucket.can_pass(item.size) {
                    return tally.dropped(now, &item, DropCause::TooLarge);
                }
                if self.in_service.is_none() && self.queue.may_be_bypassed() {
                    self.in_service = Some(whole(item));
                    return;
                }
            }
            Server::Opportunities(opportunities) => opportunities.wait(now),
        }
        self.queue.push(now, item, tally);
    }

    /// Returns the next packet that has been sent by `until`, and when its transmission ends. A serialiser also returns
    /// a packet whose transmission has only begun by `until`.
    pub(crate) fn serve(
        &mut self,
        until: Instant,
        tally: &mut Tally,
    ) -> Option<(Instant, Item<P>)> {
        let (through, item) = match &mut self.server {
            Server::Serialiser(serialiser) => {
                debug_assert!(self.in_service.is_none(), "a serialiser keeps no packet in service");
                let start = serialiser.free_at().max(self.queue.head()?.queued);
                if start > until {
                    return None;
                }
                let item = self.queue.pop(start, tally)?;
                (serialiser.transmit(start, item.size), item)
            }
            Server::Bucket(bucket) => {
                serve_bucket(bucket, &mut self.queue, &mut self.in_service, until, tally)?
            }
            Server::Opportunities(it) => {
                serve_opportunities(it, &mut self.queue, &mut self.in_service, until, tally)?
            }
        };
        tally.departed(through, &item);
        Some((through, item))
    }

    /// Returns when the next packet is to be served. `None` if nothing waits.
    pub(crate) fn next_service(&self) -> Option<Instant> {
        match &self.server {
            Server::Serialiser(serialiser) => {
                self.queue.head().map(|head| serialiser.free_at().max(head.queued))
            }
            Server::Bucket(bucket) => match &self.in_service {
                Some((item, size)) => Some(bucket.ready(*size).max(item.queued)),
                None => self.queue.head().map(|head| bucket.counted_at().max(head.queued)),
            },
            Server::Opportunities(opportunities) => {
                opportunities.next_time().filter(|_| !self.is_idle())
            }
        }
    }

    /// Changes rate, schedule, queue discipline and limits from `now` on. Packets in the queue are kept.
    pub(crate) fn reconfigure(&mut self, now: Instant, config: &LinkConfig, tally: &Tally) {
        self.server = self.server.reconfigured(now, config);
        self.queue.reconfigure(config);
        let is_waited_for = !self.is_idle() || tally.is_recording();
        if let Server::Opportunities(opportunities) = &mut self.server {
            if is_waited_for {
                opportunities.wait(now);
            }
        } else if let Some((item, _)) = self.in_service.take() {
            // A packet in service returns to the queue, even if opportunities have sent a part of it.
            self.queue.restore(item);
        }
    }

    /// Follows the delivery opportunities even while no packet waits, because the caller records every opportunity.
    pub(crate) fn follow_all(&mut self) {
        if let Server::Opportunities(opportunities) = &mut self.server {
            opportunities.follow_all();
        }
    }

    /// Returns the bytes in the queue.
    pub(crate) const fn queued(&self) -> Bytes {
        self.queue.size()
    }

    /// Returns whether no packet is in the queue or in service.
    pub(crate) fn is_idle(&self) -> bool {
        self.in_service.is_none() && self.queue.is_empty()
    }

    /// Returns the number of packets in the queue and in service.
    pub(crate) fn len(&self) -> usize {
        self.queue.len() + usize::from(self.in_service.is_some())
    }
}

impl Server {
    /// Returns the server that `config` describes. If kind and schedule stay the same, it keeps the state of `self`.
    fn reconfigured(&self, now: Instant, config: &LinkConfig) -> Self {
        if let Some(schedule) = &config.schedule {
            return Self::Opportunities(match self {
                Self::Opportunities(same) if same.schedule == *schedule => same.clone(),
                _ => Opportunities::new(schedule.clone()),
            });
        }
        if let (Some(rate), Some(burst)) = (config.rate, config.burst) {
            return Self::Bucket(match self {
                Self::Bucket(bucket) => {
                    let mut bucket = *bucket;
                    bucket.reconfigure(now, rate, burst);
                    bucket
                }
                _ => TokenBucket::new(rate, burst, now),
            });
        }
        // A serialiser finishes the transmission that it has begun.
        let busy_until = match self {
            Self::Serialiser(serialiser) => serialiser.free_at().max(now),
            Self::Bucket(_) | Self::Opportunities(_) => now,
        };
        Self::Serialiser(Serialiser::new(config.rate, busy_until))
    }
}

/// Returns a packet with the number of its bytes, which are all still to be sent.
fn whole<P>(item: Item<P>) -> (Item<P>, Bytes) {
    let size = item.size;
    (item, size)
}

/// Removes and returns the next packet for which the bucket has enough tokens by `until`, and when it passes. A packet
/// leaves the queue to wait for its tokens. So the queue discipline chooses the next packet only when this packet has
/// passed, as with the kernel's tbf.
fn serve_bucket<P>(
    bucket: &mut TokenBucket,
    queue: &mut Queue<P>,
    in_service: &mut Option<(Item<P>, Bytes)>,
    until: Instant,
    tally: &mut Tally,
) -> Option<(Instant, Item<P>)> {
    loop {
        if in_service.is_none() {
            let turn = bucket.counted_at().max(queue.head()?.queued);
            if turn > until {
                return None;
            }
            *in_service = queue.pop(turn, tally).map(whole);
        }
        let (item, size) = in_service.take()?;
        // A reconfiguration may have made the bucket smaller than the waiting packet.
        if !bucket.can_pass(size) {
            tally.dropped(bucket.counted_at().max(item.queued), &item, DropCause::TooLarge);
            continue;
        }
        let pass = bucket.ready(size).max(item.queued);
        if pass > until {
            *in_service = Some((item, size));
            return None;
        }
        bucket.take(pass, size);
        return Some((pass, item));
    }
}

/// Spends the delivery opportunities up to `until` on the next packet. Returns the packet and when its last byte has
/// been sent. An opportunity carries whole packets and parts of packets. The rest of an opportunity is lost if no
/// packet waits.
fn serve_opportunities<P>(
    opportunities: &mut Opportunities,
    queue: &mut Queue<P>,
    in_service: &mut Option<(Item<P>, Bytes)>,
    until: Instant,
    tally: &mut Tally,
) -> Option<(Instant, Item<P>)> {
    loop {
        let at = opportunities.at;
        while opportunities.left > Bytes::ZERO {
            let next = in_service.take().or_else(|| queue.pop(at, tally).map(whole));
            let Some((item, rest)) = next else {
                opportunities.left = Bytes::ZERO;
                break;
            };
            if rest <= opportunities.left {
                opportunities.left -= rest;
                return Some((at, item));
            }
            *in_service = Some((item, rest - opportunities.left));
            opportunities.left = Bytes::ZERO;
        }
        let is_waited_for = in_service.is_some() || !queue.is_empty();
        if !is_waited_for && !tally.is_recording() {
            opportunities.rest();
            return None;
        }
        if !opportunities.take(until, tally) {
            return None;
        }
    }
}
