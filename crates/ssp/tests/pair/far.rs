//! Two ends on a path with a round trip of seconds.

use rove_link::LinkConfig;
use rove_ssp::wire::Timestamp16;
use rove_ssp::{Config, Mechanism};
use rove_units::{Duration, Seed};

use crate::fake::{client, text};
use crate::pair::{Fate, Pair, agree, ms, pair_with};

/// A round trip in ms.
const ROUND_TRIP: u64 = 5_000;

/// Maximum number of datagrams for one keystroke between two ends that know the round-trip time. They are the
/// keystroke, its echo, and an acknowledgment of each.
const DATAGRAMS_OF_A_KEY: usize = 4;

/// Returns two ends after eight keystrokes, each answered by an echo.
fn acquainted(config: fn(Config) -> Config) -> Pair<4096> {
    let link = LinkConfig::lossless(ms(ROUND_TRIP / 2));
    let [client, server] = [config(Config::client()), config(Config::server())];
    let mut net = pair_with(Seed::new(1), link, client, server);
    for _ in 0..8 {
        key_and_echo(&mut net, ms(0));
    }
    net
}

/// Types a letter that the server answers, waits until each end holds the other's text, and then pauses for `thinking`.
/// Returns the time from the keystroke until both held it.
fn key_and_echo(net: &mut Pair<4096>, thinking: Duration) -> Duration {
    let typed_at = net.now();
    net.left.write(b"k");
    assert!(net.run_until(ms(60_000), |left, right| {
        left.transport.local().text() == right.transport.remote().text()
    }));
    net.right.write(b"k");
    assert!(net.run_until(ms(60_000), agree));
    let took = net.now().saturating_since(typed_at);
    net.run_for(thinking);
    took
}

fn datagrams(net: &Pair<4096>) -> usize {
    net.left.sent.len() + net.right.sent.len()
}

/// Returns the number of datagrams for twenty keystrokes and their echoes.
fn twenty_keys(config: fn(Config) -> Config, thinking: Duration) -> usize {
    let mut net = acquainted(config);
    let before = datagrams(&net);
    for _ in 0..20 {
        let took = key_and_echo(&mut net, thinking);
        assert!(took < ms(ROUND_TRIP + 100), "{took:?}");
    }
    datagrams(&net) - before
}

#[test]
fn a_key_is_not_sent_again_while_its_answer_cannot_have_come() {
    for thinking in [ms(0), ms(50), ms(300), ms(900)] {
        let sent = twenty_keys(|config| config, thinking);
        assert!(sent <= 20 * DATAGRAMS_OF_A_KEY, "{sent} datagrams with {thinking:?} in between");
        let stock = twenty_keys(Config::stock, thinking);
        assert!(3 * sent < stock, "{sent} beside {stock} by the rules of stock");
    }
}

#[test]
fn a_key_that_is_lost_goes_again_after_little_more_than_a_round_trip() {
    let mut net = acquainted(|config| config.without(Mechanism::Repetition));
    net.left.fates.push_back(Fate::Lost);
    let took = key_and_echo(&mut net, ms(0));
    assert!(took > ms(2 * ROUND_TRIP - 100) && took < ms(2 * ROUND_TRIP + 1_000), "{took:?}");
}

#[test]
fn an_end_whose_peer_lies_about_time_says_again_what_is_lost() {
    for age in [5_000, 20_000, 29_999, 60_000] {
        let mut fake = client::<4096>(Config::client());
        // The peer sends a text every 500 ms, and echoes a timestamp that is `age` ms old.
        for num in 1..40 {
            let [timestamp, reply] = [0, age].map(|age| {
                let millis = fake.now.as_millis() + 65_536 - age;
                Some(Timestamp16::from_millis(millis))
            });
            fake.say_at(&text(num - 1, num, 0, "x"), timestamp, reply).expect("well-formed");
            fake.run_for(ms(500));
        }
        let (mut said_at, typed_at) = (fake.now, fake.now);
        fake.party.write(b"k");
        while fake.now < typed_at + ms(30_000) {
            let sent = fake.party.sent.len();
            fake.run_for(ms(100));
            if fake.party.sent.len() > sent {
                said_at = fake.now;
            }
            assert!(fake.now < said_at + ms(6_000), "{age}: mute since {said_at:?}");
        }
    }
}
