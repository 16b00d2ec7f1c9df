//! Acknowledgments that wait so that later contents can carry them.

use rove_link::LinkConfig;
use rove_ssp::{Capabilities, Config, Mechanism};
use rove_units::Seed;

use crate::pair::{Pair, agree, ms, pair_with};

const OLD: Capabilities = Capabilities::LOSS_REPORT;
const NEW: Capabilities = OLD.union(Capabilities::LATE_ACK);

/// Types fifty keys, each answered by an echo, over a path with a round trip of 300 ms. Returns when the client and the
/// server sent datagrams, in ms.
fn typed(left: Config, right: Config) -> [Vec<u64>; 2] {
    let mut net: Pair<4096> = pair_with(Seed::new(1), LinkConfig::lossless(ms(150)), left, right);
    net.left.write(b"80x24");
    net.run_for(ms(5_000));
    let start = net.now().as_millis();
    for _ in 0..50 {
        net.left.write(b"k");
        assert!(net.run_until(ms(3_000), |left, right| {
            left.transport.local().text() == right.transport.remote().text()
        }));
        net.right.write(b"k");
        assert!(net.run_until(ms(3_000), agree));
        net.run_for(ms(150));
    }
    [net.left.sent, net.right.sent].map(|sent| {
        let times = sent.into_iter().map(|(at, _)| at);
        times.filter(|at| *at > start).collect()
    })
}

fn offering(capabilities: Capabilities, config: Config) -> Config {
    Config { capabilities: Some(capabilities), ..config }
}

#[test]
fn a_key_takes_the_acknowledgment_of_the_echo_before_along() {
    let ends = [Config::client(), Config::server()].map(|end| offering(NEW, end));
    let before = ends.clone().map(|end| end.without(Mechanism::LateAck));
    let count = |[left, right]: [Config; 2]| typed(left, right).map(|times| times.len());
    let ([up, down], [up_before, down_before]) = (count(ends), count(before));
    assert!(up <= 55 && down <= 55, "{up} up and {down} down for 50 keys");
    assert!(up_before >= 95, "{up_before} up before");
    assert!(down <= down_before, "{down} down beside {down_before}");
}

#[test]
fn a_stock_peer_and_a_rove_that_does_not_offer_it_are_served_as_before() {
    let before = |end: &Config| end.clone().without(Mechanism::LateAck);
    let [client, server] = [Config::client(), Config::server()].map(|end| offering(NEW, end));
    for peer in [Config::client().stock(), offering(OLD, Config::client())] {
        assert_eq!(typed(peer.clone(), server.clone()), typed(peer, before(&server)));
    }
    for peer in [Config::server().stock(), offering(OLD, Config::server())] {
        assert_eq!(typed(client.clone(), peer.clone()), typed(before(&client), peer));
    }
}
