//! A key that is held over a far path.

use rove_link::LinkConfig;
use rove_ssp::{Config, Mechanism};
use rove_units::{Duration, Seed};

use crate::pair::{Pair, agree, ms, pair_with};

fn acquainted(config: fn(Config) -> Config) -> Pair<4096> {
    let link = LinkConfig::lossless(ms(100));
    let mut net = pair_with(Seed::new(1), link, config(Config::client()), config(Config::server()));
    net.left.write(b"80x24");
    net.run_for(ms(2_000));
    net.right.write(b"$ ");
    net.run_for(ms(2_000));
    net
}

/// Types a key every `interval` ms for a second. Returns the datagrams sent, and the longest wait until a key is sent.
fn typed(interval: u64, config: fn(Config) -> Config) -> (usize, Duration) {
    let mut net = acquainted(config);
    let before = net.left.sent.len();
    let mut longest = Duration::ZERO;
    for _ in 0..1_000 / interval {
        net.left.write(b"k");
        let typed_at = net.now();
        net.run_for(ms(interval));
        let unsent = *net.left.transport.sent_state() != *net.left.transport.local();
        let sent_at = net.left.sent.last().map_or(0, |(at, _)| *at);
        let wait = if unsent { interval } else { sent_at.saturating_sub(typed_at.as_millis()) };
        longest = longest.max(ms(wait));
    }
    let sent = net.left.sent.len() - before;
    assert!(net.run_until(ms(1_000), agree));
    (sent, longest)
}

#[test]
fn every_other_repeat_of_a_held_key_goes_at_once() {
    let without = |config: Config| config.without(Mechanism::News);
    let (held, longest) = typed(33, |config| config);
    assert!((15..=17).contains(&held) && longest <= ms(33), "{held} datagrams, {longest:?}");
    let (paced, _) = typed(33, without);
    assert!((10..=12).contains(&paced), "{paced} datagrams");
}

#[test]
fn somebody_who_types_fast_sends_no_more_than_before() {
    let without = |config: Config| config.without(Mechanism::News);
    let [with, without] = [typed(60, |config| config).0, typed(60, without).0];
    assert!(with <= without, "{with} datagrams beside {without}");
}
