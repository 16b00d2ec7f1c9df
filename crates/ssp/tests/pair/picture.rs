//! A large picture that never stops changing, over a lossy path.

use core::net::SocketAddr;
use std::rc::Rc;

use rove_link::LinkConfig;
use rove_link::net::{End, Net, RIGHT_ADDRESS};
use rove_ssp::{ApplyError, Capabilities, Config, Ecn, Object, Role, Transport};
use rove_units::{Bytes, Duration, Instant, Seed};

use crate::pair::{key, ms, noise};

/// Length in bytes of a picture, which fills ten fragments, does not compress, and is replaced as a whole.
const PICTURE_LEN: usize = 12_000;

/// How often the picture changes.
const CHANGE_INTERVAL: Duration = ms(40);

#[derive(Clone, Debug, Default)]
struct Picture(Rc<Vec<u8>>);

impl Object for Picture {
    fn diff_from(&self, base: &Self, _: Capabilities) -> Vec<u8> {
        if self.same_as(base) { Vec::new() } else { self.0.to_vec() }
    }

    fn apply(&mut self, diff: &[u8]) -> Result<(), ApplyError> {
        self.0 = Rc::new(diff.to_vec());
        Ok(())
    }

    fn same_as(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    fn bytes_beyond(&self, _: Option<&Self>) -> Bytes {
        Bytes::from(self.0.len())
    }
}

/// An end that publishes a picture, and records when the other end's picture changes.
struct Screen {
    transport: Transport<Picture, Picture>,
    changes: Vec<Instant>,
}

impl Screen {
    fn new(role: Role, config: Config) -> Self {
        let (chaff, start) = (Seed::new(1).stream("chaff"), Picture::default());
        let transport =
            Transport::new(role, &key(), config, start.clone(), start, chaff, Instant::ZERO);
        Self { transport, changes: Vec::new() }
    }
}

impl End for Screen {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        let before = self.transport.remote_num();
        let _ = self.transport.handle_datagram(now, source, Ecn::Capable, payload);
        if self.transport.remote_num() != before {
            self.changes.push(now);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.transport.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        let transmit = self.transport.poll_transmit(now)?;
        Some((transmit.destination, transmit.payload))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.transport.poll_timeout()
    }
}

/// Returns how many pictures arrive in 20 s, and the longest time in ms without a new picture.
fn watch(seed: u64, loss: f64) -> (usize, u128) {
    let link = LinkConfig { loss, ..LinkConfig::lossless(ms(50)) };
    let client = Screen::new(Role::Client { server: RIGHT_ADDRESS }, Config::client());
    let server = Screen::new(Role::Server { ipv6: false }, Config::server());
    let mut net = Net::new(client, server, link.clone(), link, Seed::new(seed));
    net.run_for(ms(4_000));
    net.left.changes.clear();
    for number in 0..500 {
        let picture = Picture(Rc::new(noise(Seed::new(number), PICTURE_LEN)));
        net.right.transport.publish(picture);
        net.run_for(CHANGE_INTERVAL);
    }
    let changes = &net.left.changes;
    let gaps = changes.windows(2).map(|pair| pair[1].saturating_since(pair[0]).as_millis());
    (changes.len(), gaps.max().unwrap_or(20_000))
}

#[test]
fn a_picture_that_keeps_changing_gets_through_whatever_is_lost() {
    for (loss, at_least) in [(0.0, 350), (0.1, 100), (0.3, 30)] {
        let seen: Vec<(usize, u128)> = (0..3).map(|seed| watch(seed, loss)).collect();
        println!("loss {loss}: {seen:?}");
        assert!(seen.iter().all(|(count, _)| *count >= at_least), "loss {loss}: {seen:?}");
    }
}
