//! Small contents on a path that loses datagrams: how often they are sent, and when.

use rove_link::LinkConfig;
use rove_ssp::{Capabilities, Config, Mechanism, StateNum};
use rove_units::{Duration, Seed};

use crate::fake::{acquainted, client, text};
use crate::pair::{Fate, Pair, agree, ms, pair, pair_with};

/// Types keys over a lossy path, a second apart, and answers each by an echo. Returns the shortest time until an echo
/// among the slowest tenth of the keys, and the number of datagrams.
fn typed(config: fn(Config) -> Config, loss: f64) -> (Duration, usize) {
    let link = LinkConfig { loss, ..LinkConfig::lossless(ms(50)) };
    let mut net: Pair<4096> =
        pair_with(Seed::new(1), link, config(Config::client()), config(Config::server()));
    net.left.write(b"80x24");
    net.run_for(ms(5_000));
    let mut waits = Vec::new();
    for _ in 0..200 {
        let typed_at = net.now();
        net.left.write(b"k");
        assert!(net.run_until(ms(30_000), |left, right| {
            left.transport.local().text() == right.transport.remote().text()
        }));
        net.right.write(b"k");
        assert!(net.run_until(ms(30_000), agree));
        waits.push(net.now().saturating_since(typed_at));
        net.run_for(ms(1_000));
    }
    waits.sort_unstable();
    (waits[180], net.left.sent.len() + net.right.sent.len())
}

#[test]
fn a_key_seldom_waits_for_a_timeout_on_a_path_that_loses_datagrams() {
    let (stock, stock_sent) = typed(Config::stock, 0.29);
    let (rove, rove_sent) = typed(|config| config, 0.29);
    assert!(rove * 2 < stock && rove < ms(250), "{rove:?} beside {stock:?}");
    assert!(2 * rove_sent < 3 * stock_sent, "{rove_sent} datagrams beside {stock_sent}");
}

#[test]
fn nothing_is_sent_twice_on_a_path_that_loses_nothing() {
    let without =
        |config: Config| config.without(Mechanism::Repetition).without(Mechanism::SecondAck);
    assert_eq!(typed(|config| config, 0.0), typed(without, 0.0));
}

#[test]
fn a_path_that_was_overtaken_by_loss_and_healed_carries_no_more_than_before() {
    let mut net = pair::<4096>(Seed::new(3), LinkConfig::lossless(ms(20)));
    net.left.write(b"80x24");
    let mut minute = |loss| {
        let link = LinkConfig { loss, ..LinkConfig::lossless(ms(20)) };
        net.reconfigure(link.clone(), link);
        net.left.sent.clear();
        for _ in 0..120 {
            net.left.write(b"k");
            net.right.write(b"k");
            net.run_for(ms(500));
        }
        net.left.sent.len()
    };
    let (before, during, _, after) = (minute(0.0), minute(0.6), minute(0.0), minute(0.0));
    assert!(during > before + before / 2 && during < 10 * before, "{before}, {during}");
    assert!(after <= before + before / 50, "{before}, {after}");
}

#[test]
fn contents_that_come_again_after_their_acknowledgment_are_acknowledged_again() {
    for (again_after, acknowledged) in [(50, false), (1_200, true)] {
        let mut fake = acquainted(client::<4096>(Config::client()));
        fake.say(&text(1, 2, 2, "x")).expect("taken");
        fake.run_for(ms(150));
        assert_eq!(fake.heard_at().len(), 1, "the acknowledgment");
        fake.run_for(ms(again_after));
        fake.say(&text(1, 2, 2, "x")).expect("a duplicate is no error");
        fake.run_for(ms(150));
        assert_eq!(fake.heard_at().len(), usize::from(acknowledged), "after {again_after} ms");
        assert_eq!(fake.party.transport.remote_num(), StateNum::new(2));
    }
}

/// Returns the shortest delay among the slowest tenth of a server's texts, on a path that loses datagrams only on the
/// way to the client.
fn one_way(reports: Capabilities) -> Duration {
    let offer = |config| Config { capabilities: Some(reports), ..config };
    let whole = LinkConfig::lossless(ms(50));
    let (client, server) = (offer(Config::client()), offer(Config::server()));
    let mut net: Pair<4096> = pair_with(Seed::new(1), whole.clone(), client, server);
    net.left.write(b"80x24");
    net.run_for(ms(5_000));
    net.reconfigure(whole.clone(), LinkConfig { loss: 0.29, ..whole });
    let mut waits = Vec::new();
    for turn in 0..200 {
        net.left.write(b"k");
        net.run_for(ms(1_000));
        let said_at = net.now();
        net.right.write(b"k");
        assert!(net.run_until(ms(30_000), agree));
        // After fifty texts, the server's estimate of the loss has settled.
        if turn >= 50 {
            waits.push(net.now().saturating_since(said_at));
        }
        net.run_for(ms(1_000));
    }
    waits.sort_unstable();
    waits[waits.len() * 9 / 10]
}

#[test]
fn a_server_knows_of_the_loss_on_the_way_to_its_client() {
    let (known, unknown) = (one_way(Capabilities::LOSS_REPORT), one_way(Capabilities::empty()));
    assert!(known < ms(75) && unknown > ms(90), "{known:?} {unknown:?}");
}

/// Returns how many datagrams a key costs within 1.5 s if its acknowledgment is lost.
fn datagrams_of_a_key(server: Config) -> usize {
    let link = LinkConfig::lossless(ms(20));
    let mut net: Pair<4096> = pair_with(Seed::new(1), link, Config::client(), server);
    net.left.write(b"80x24");
    for _ in 0..20 {
        net.run_for(ms(500));
        net.right.write(b"k");
    }
    net.run_for(ms(500));
    net.left.sent.clear();
    net.right.fates.push_back(Fate::Lost);
    net.left.write(b"k");
    net.run_for(ms(1_500));
    net.left.sent.len()
}

#[test]
fn a_lost_acknowledgment_does_not_make_its_peer_repeat_contents_for_seconds() {
    // By the rules of stock, unacknowledged empty states make a key count as lost after a frame interval.
    let (rove, stock) = (
        datagrams_of_a_key(Config::server()),
        datagrams_of_a_key(Config::server().without(Mechanism::SecondAck)),
    );
    assert!(rove <= 13 && stock >= 60, "{rove} beside {stock}");
}
