//! Tests every combination of losses, delays and duplications of a session's first datagrams.

use std::thread;

use rove_link::LinkConfig;
use rove_ssp::{Capabilities, Hello, Peer};
use rove_units::Seed;

use crate::pair::{Fate, agree, ms, pair};

/// Number of first datagrams in each direction for which a test tries all combinations.
const DATAGRAMS: u32 = 4;

const FATES: [Fate; 4] = [Fate::Delivered, Fate::Lost, Fate::Duplicated, Fate::DelayedPastNext];

/// Returns the path's effect on each datagram, one for each base-four digit of `number`.
fn fates(number: u32) -> impl Iterator<Item = Fate> {
    (0..DATAGRAMS).map(move |digit| FATES[number as usize >> (2 * digit) & 3])
}

#[test]
fn every_fate_of_the_first_four_datagrams_each_way_ends_in_agreement() {
    let all = 4_u32.pow(DATAGRAMS);
    let run_all = |part: u32| {
        for up in (part..all).step_by(2) {
            (0..all).for_each(|down| run(up, down));
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| run_all(0));
        run_all(1);
    });
}

fn run(up: u32, down: u32) {
    let mut net = pair::<4096>(Seed::new(1), LinkConfig::lossless(ms(40)));
    net.left.fates.extend(fates(up));
    net.right.fates.extend(fates(down));
    net.left.write(b"80x24");
    net.run_for(ms(100));
    net.left.write(b"ls\r");
    net.right.write(b"$ ");
    net.run_for(ms(300));
    net.right.write(b"file\r\n$ ");
    net.left.write(b"x");
    assert!(net.run_until(ms(20_000), agree), "up {up}, down {down}: at {}", net.now());
    // Despite every loss, each end has learned that its peer is rove.
    let hello = Hello { version: 1, capabilities: Capabilities::empty() };
    for party in [&net.left, &net.right] {
        assert_eq!(party.transport.peer(), Peer::Rove(hello), "up {up}, down {down}");
    }
}
