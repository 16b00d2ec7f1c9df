//! Both ends end up with each other's note, whatever the path does.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rove_link::LinkConfig;
use rove_ssp::{Config, ReferencePolicy};
use rove_units::Seed;

use crate::pair::{agree, ms, noise, pair, pair_with};

fn any_reference_policy() -> impl Strategy<Value = ReferencePolicy> {
    let mixture = |known_percent| ReferencePolicy::Mixture { known_percent };
    prop_oneof![
        Just(ReferencePolicy::Prospective),
        Just(ReferencePolicy::Assumed),
        Just(ReferencePolicy::Known),
        (0..=100_u8).prop_map(mixture),
        Just(ReferencePolicy::Adaptive),
        Just(ReferencePolicy::Bayesian),
    ]
}

#[test]
fn a_lossless_path_brings_each_note_to_the_other_end() {
    let mut net = pair::<4096>(Seed::new(1), LinkConfig::lossless(ms(50)));
    net.left.write(b"hello ");
    net.run_for(ms(500));
    net.right.write(b"answer");
    net.left.write(b"world");
    assert!(net.run_until(ms(1_000), agree));
    assert_eq!(net.right.transport.remote().text(), b"hello world");
    assert_eq!((&net.left.errors, &net.right.errors), (&vec![], &vec![]));
}

/// Returns the lengths of 200 datagrams with the same diff, each way.
fn lengths_of_one_diff() -> [BTreeSet<usize>; 2] {
    let mut net = pair::<4096>(Seed::new(1), LinkConfig::lossless(ms(50)));
    net.left.write(b"80x24");
    net.run_for(ms(5_000));
    let mut lengths = [BTreeSet::new(), BTreeSet::new()];
    for _ in 0..200 {
        for (party, lengths) in [&mut net.left, &mut net.right].into_iter().zip(&mut lengths) {
            // The first datagram after a text is written carries its diff.
            lengths.extend(party.sent.drain(..).next().map(|(_, len)| len));
            party.write(b"x");
        }
        net.run_for(ms(2_000));
    }
    lengths
}

#[test]
fn one_diff_is_sent_in_datagrams_of_many_lengths() {
    // Without padding there are three lengths, which differ by the bytes of the states' numbers.
    for lengths in lengths_of_one_diff() {
        assert!(lengths.len() > 16, "{lengths:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn ends_converge_once_the_network_heals(
        seed in any::<u64>(),
        reference in any_reference_policy(),
        loss in 0.0..0.6_f64,
        duplicate in 0.0..0.3_f64,
        delay in 0_u64..400,
        jitter in 0_u64..300,
        writes in prop::collection::vec((0_u64..900, any::<bool>(), 1_usize..3_000), 1..30),
    ) {
        let link = LinkConfig {
            delay: ms(delay),
            jitter: ms(jitter),
            reorder: true,
            loss,
            duplicate,
            ..LinkConfig::default()
        };
        let [client, server] =
            [Config::client(), Config::server()].map(|config| Config { reference, ..config });
        let mut net = pair_with::<4096>(Seed::new(seed), link, client, server);
        for (number, (pause, left, len)) in (1_u64..).zip(writes) {
            let text = noise(Seed::new(number), len);
            if left { net.left.write(&text) } else { net.right.write(&text) }
            net.run_for(ms(pause));
        }
        net.reconfigure(LinkConfig::lossless(ms(delay)), LinkConfig::lossless(ms(delay)));
        prop_assert!(net.run_until(ms(20_000), agree), "no convergence at {}", net.now());
    }
}
