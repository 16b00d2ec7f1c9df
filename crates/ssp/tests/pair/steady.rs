//! Output that no key asks for on a far path: how old the client's screen is, and what that costs.

use rove_link::LinkConfig;
use rove_ssp::{Config, Mechanism};
use rove_units::Seed;

use crate::pair::{Pair, agree, ms, pair_with};

/// How long a program writes, in ms.
const LENGTH: u32 = 120_000;

/// The part of a program's output that the client has received, and its cost.
#[derive(Debug, PartialEq, Eq)]
struct Shown {
    /// Bytes of text that the client lacks, summed over checks 10 ms apart.
    behind: usize,
    /// Datagrams of the server.
    datagrams: usize,
    /// The bytes of these datagrams.
    bytes: usize,
}

/// Runs a program that writes `len` bytes every 50 ms over a path with a round trip of 500 ms. Its user types a key
/// every `typed` ms, if at all.
fn shown(config: fn(Config) -> Config, loss: f64, len: usize, typed: Option<u32>) -> Shown {
    let link = LinkConfig { loss, ..LinkConfig::lossless(ms(250)) };
    let mut net: Pair<65_536> =
        pair_with(Seed::new(5), link, config(Config::client()), config(Config::server()));
    net.left.write(b"80x24");
    net.run_for(ms(5_000));
    net.right.sent.clear();
    let mut behind = 0;
    for tick in 0..LENGTH / 10 {
        if tick % 5 == 0 {
            let line: Vec<u8> =
                (0..len).map(|i| (tick as usize * 31 + i * i).to_le_bytes()[0] | 1).collect();
            net.right.write(&line);
        }
        if typed.is_some_and(|typed| tick % (typed / 10) == 0) {
            net.left.write(b"k");
        }
        net.run_for(ms(10));
        let [written, arrived] = [net.right.transport.local(), net.left.transport.remote()];
        behind += written.text().len() - arrived.text().len();
    }
    let datagrams = net.right.sent.len();
    let bytes = net.right.sent.iter().map(|(_, len)| len + 28).sum();
    assert!(net.run_until(ms(30_000), agree));
    Shown { behind, datagrams, bytes }
}

fn without(config: Config) -> Config {
    config.without(Mechanism::Steady)
}

#[test]
fn steady_output_is_younger_on_a_far_path_that_loses_datagrams() {
    for (loss, most) in [(0.05, 85), (0.1, 80), (0.29, 75)] {
        let (rove, before) = (shown(|it| it, loss, 4, None), shown(without, loss, 4, None));
        assert!(rove.behind * 100 < before.behind * most, "{loss}: {rove:?} beside {before:?}");
    }
}

#[test]
fn frames_that_come_sooner_keep_within_their_budget() {
    for len in [4, 60, 400] {
        let (rove, before) = (shown(|it| it, 0.1, len, None), shown(without, 0.1, len, None));
        let budget = 3_200 * LENGTH as usize / 1_000 + 6_400;
        // Diffs from older states are longer, by less than a line for each datagram. Chosen: with the budget they need
        // half of what this allows, and without a budget the frames cost twice as much.
        let longer = rove.datagrams * len;
        assert!(rove.bytes <= before.bytes + budget + longer, "{len}: {rove:?} beside {before:?}");
    }
}

#[test]
fn steady_output_on_a_path_that_loses_nothing_is_as_before() {
    assert_eq!(shown(|it| it, 0.0, 4, None), shown(without, 0.0, 4, None));
}

#[test]
fn output_between_keys_keeps_the_pace_of_answers() {
    assert_eq!(shown(|it| it, 0.1, 4, Some(500)), shown(without, 0.1, 4, Some(500)));
}
