//! One direction of a path.

use rove_units::{BitRate, Bytes, Duration, Instant, Stream};

/// What one direction of a path does to packets. The default is a wire: no delay, no loss, no limit.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// Constant one-way delay.
    pub delay: Duration,
    /// Uniform extra delay in `[0, jitter]`.
    pub jitter: Duration,
    /// Whether jitter may reorder packets; otherwise each waits for the one before it.
    pub reorder: bool,
    /// Probability that a packet is lost at entry, each on its own.
    pub loss: f64,
    /// Probability that a packet arrives twice.
    pub duplicate: f64,
    /// The bottleneck's rate; `None` for no bottleneck.
    pub rate: Option<BitRate>,
    /// Most bytes the drop-tail queue before the bottleneck holds.
    pub queue_max: Bytes,
}

/// One direction of a path: a state machine that packets go into and come out of.
///
/// `P` is a packet; its size decides its transmission time.
#[derive(Clone, Debug)]
pub struct Link<P> {
    _stub: core::marker::PhantomData<P>,
}

impl<P: Clone + AsRef<[u8]>> Link<P> {
    /// Creates an empty link. `chance` decides every loss, duplication and delay by packet number.
    pub fn new(config: LinkConfig, chance: Stream) -> Self {
        let _ = (config, chance);
        todo!()
    }

    /// Takes a packet in.
    pub fn handle_packet(&mut self, now: Instant, packet: P) {
        let _ = (now, packet);
        todo!()
    }

    /// Returns the next packet whose time has come, or `None`.
    pub fn poll_packet(&mut self, now: Instant) -> Option<P> {
        let _ = now;
        todo!()
    }

    /// Returns when the next packet comes out, or `None` when the link is empty.
    pub fn poll_timeout(&self) -> Option<Instant> {
        todo!()
    }

    /// Changes what the link does to packets that enter from now on.
    pub fn reconfigure(&mut self, config: LinkConfig) {
        let _ = config;
        todo!()
    }
}
