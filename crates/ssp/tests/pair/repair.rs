//! Repair of large contents that are lost or not accepted: which instructions are sent again, and how often.

use rove_link::LinkConfig;
use rove_ssp::Closed;
use rove_units::{Duration, Seed};

use crate::pair::{CHUNK, Fate, agree, ms, noise, pair};

#[test]
fn a_link_of_one_fragment_gives_the_turn_back_to_the_lost_one_before_it() {
    // A change of two parts: the first needs three fragments, because it does not compress, and the second needs one.
    let text = [noise(Seed::new(1), 2_500), vec![b'a'; 2_500]].concat();
    for lost in 0..40 {
        let mut net = pair::<4096>(Seed::new(1), LinkConfig::lossless(ms(20)));
        net.left.write(b"80x24");
        net.run_for(ms(2_000));
        net.left.write(&text);
        net.left.fates.extend([Fate::Lost].repeat(lost));
        assert!(net.run_until(ms(15_000), agree), "{lost} datagrams lost");
    }
}

/// Lets a client write `len` bytes that the server refuses for two minutes, while the server writes output ten times a
/// second. Returns the client's datagrams in each minute, and how long the bytes then take to arrive.
fn held_back(len: usize) -> (usize, usize, Duration) {
    let mut net = pair::<CHUNK>(Seed::new(1), LinkConfig::lossless(ms(5)));
    net.left.write(b"80x24");
    net.run_for(ms(2_000));
    net.right.transport.hold_remote(true);
    net.left.write(&noise(Seed::new(2), len));
    let mut minute = || {
        net.left.sent.clear();
        for _ in 0..600 {
            net.right.write(b"output");
            net.run_for(ms(100));
            assert!(net.left.transport.remote().text().ends_with(b"output"), "it gets through");
        }
        net.left.sent.len()
    };
    let (first, second) = (minute(), minute());
    net.right.transport.hold_remote(false);
    let released_at = net.now();
    assert!(net.run_until(ms(20_000), agree));
    (first, second, net.now().saturating_since(released_at))
}

#[test]
fn large_contents_that_are_not_taken_are_offered_ever_more_rarely() {
    // The output causes 600 acknowledgments a minute. About 700 datagrams show that their size is not to blame.
    for (len, first_max, second_max) in [(20_000, 4_100, 1_100), (400_000, 4_100, 1_400)] {
        let (first, second, until_taken) = held_back(len);
        assert!(first <= first_max && second <= second_max, "{len} bytes: {first}, {second}");
        assert!(until_taken <= ms(4_500), "{len} bytes: {until_taken:?}");
    }
    let (first, second, _) = held_back(600);
    assert!(first > 2_900 && second > 2_900, "one fragment, as stock does: {first}, {second}");
}

#[test]
fn a_peer_that_leaves_contents_with_us_knows_that_we_are_there() {
    let mut net = pair::<CHUNK>(Seed::new(1), LinkConfig::lossless(ms(5)));
    net.run_for(ms(2_000));
    net.right.transport.hold_remote(true);
    net.left.write(&noise(Seed::new(2), 20_000));
    net.run_for(ms(120_000));
    let heard_at = net.right.transport.remote_arrived_at().expect("connected");
    assert!(net.now().saturating_since(heard_at) <= ms(3_100), "{heard_at}");
    // The server's answers show that the path is good, so there is no reason to try another port.
    assert_eq!(net.left.events, []);
}

#[test]
fn a_shutdown_does_not_hurry_the_contents_that_come_before_it() {
    let mut net = pair::<CHUNK>(Seed::new(1), LinkConfig::lossless(ms(5)));
    net.run_for(ms(2_000));
    net.right.transport.hold_remote(true);
    net.left.write(&noise(Seed::new(2), 200_000));
    let now = net.now();
    net.left.transport.start_shutdown(now);
    net.left.sent.clear();
    net.run_for(ms(8_000));
    // The 27 datagrams are sent every RTO + 100 ms.
    let sent = net.left.sent.len();
    assert!(sent <= 27 * 8_000 / 150, "{sent} datagrams");
    net.right.transport.hold_remote(false);
    net.run_for(ms(1_000));
    assert_eq!(net.right.transport.remote().text().len(), 200_000);
    assert_eq!(net.left.transport.closed(), Some(Closed::Acknowledged));
}

#[test]
fn a_shutdown_is_announced_at_once_when_a_paste_is_through() {
    for idle in (0..800).step_by(20) {
        let mut net = pair::<CHUNK>(Seed::new(1), LinkConfig::lossless(ms(5)));
        net.run_for(ms(2_000));
        net.left.write(&noise(Seed::new(2), 120_000));
        net.run_for(ms(idle));
        let now = net.now();
        net.left.transport.start_shutdown(now);
        net.run_for(ms(1_000));
        assert_eq!(net.left.transport.closed(), Some(Closed::Acknowledged), "after {idle} ms");
    }
}
