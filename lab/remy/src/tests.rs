//! Compares published tables with their published figures.
//!
//! The tables are not in the repository. The variable `ROVE_REMY` names their folder.

use std::path::PathBuf;

use rove_congestion::remy::{Axis, Table};
use rove_units::Seed;

use crate::control::Ruled;
use crate::network::{Outcome, run};
use crate::objective::Normalisation;
use crate::training_network::TrainingNetwork;

/// Returns a published table. If the folder is unknown, prints this and returns `None`.
fn published(name: &str) -> Option<Table> {
    let named = std::env::var_os("ROVE_REMY").filter(|name| !name.is_empty());
    let Some(folder) = named.map(PathBuf::from) else {
        eprintln!("skipped {name}: set ROVE_REMY to the folder that has it");
        return None;
    };
    let bytes = std::fs::read(folder.join(name)).expect("ROVE_REMY has the table");
    Some(Table::from_dna(&bytes).expect("a published table"))
}

/// Packets that a link carries in a run of usual length. Chosen: the tests then take less than a minute.
const PACKETS: f64 = 4e6;

/// Runs a table on a network. Returns the figures of the senders.
fn outcomes(table: &Table, network: &TrainingNetwork) -> Vec<Outcome> {
    // The published runs take 10^7 ms. From a tenth of that on, figures vary by less than 3 % between seeds.
    let length_ms = (PACKETS / network.packets_per_ms).clamp(1e6, 1e7);
    run(network, Seed::new(42), length_ms, |_| Ruled::new(table, None), &mut ()).outcomes
}

/// Returns the throughput as a share of the link's rate, and the delay as a multiple of the round trip.
fn ratios(outcome: &Outcome, network: &TrainingNetwork) -> (f64, f64) {
    let throughput = outcome.throughput(Normalisation::Share).expect("it was on");
    let delay_ms = outcome.delay_ms().expect("packets were received");
    (throughput / network.packets_per_ms, delay_ms / network.rtt_ms)
}

fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    values.clone().sum::<f64>() / values.count() as f64
}

const TWO_SENDERS: TrainingNetwork = TrainingNetwork {
    packets_per_ms: 1.0,
    rtt_ms: 150.0,
    senders: 2,
    mean_on_ms: 1_000.0,
    mean_off_ms: 1_000.0,
    buffer_packets: None,
    loss: 0.0,
    typing: None,
};

/// Returns the published "normalised" score: `log2` of throughput to rate, minus `log2` of delay to round trip.
fn normalised_score(outcome: &Outcome, network: &TrainingNetwork) -> Option<f64> {
    let throughput = outcome.throughput(Normalisation::Share)? / network.packets_per_ms;
    Some(throughput.log2() - (outcome.delay_ms()? / network.rtt_ms).log2())
}

#[test]
fn published_tables_are_read_and_written_in_both_forms() {
    for (name, rules, axes) in [
        ("RemyCC-2013-delta0.1.dna", 162, 3),
        ("RemyCC-2013-delta1.dna", 190, 3),
        ("RemyCC-2013-delta10.dna", 197, 3),
        ("RemyCC-2014-100x.dna", 91, 4),
    ] {
        let Some(table) = published(name) else { return };
        assert_eq!((table.rules().len(), table.dividing_axes().len()), (rules, axes), "{name}");
        assert!(table.dividing_axes().starts_with(&Axis::ALL[..3]));
        assert_eq!(Table::from_dna(&table.to_dna()).as_ref(), Ok(&table), "{name}");
        assert_eq!(Table::from_readable(&table.to_readable()).as_ref(), Ok(&table), "{name}");
    }
}

/// Links in Mbit/s, with the expected throughput in Mbit/s and delay in ms. Source: the published tests of the table.
const LINKS: [(f64, f64, f64); 7] = [
    (2.21, 1.8, 346.0),
    (9.93, 6.0, 165.0),
    (29.41, 18.0, 174.0),
    (185.04, 91.1, 157.0),
    (300.25, 133.1, 152.0),
    (401.4, 146.0, 151.0),
    (801.5, 156.0, 150.0),
];

#[test]
fn the_table_for_a_hundredfold_range_has_its_published_throughputs_and_delays() {
    let Some(table) = published("RemyCC-2014-100x.dna") else { return };
    for (link, throughput, delay) in LINKS {
        let network = TrainingNetwork { packets_per_ms: link / 10.0, ..TWO_SENDERS };
        let outcomes = outcomes(&table, &network);
        for outcome in &outcomes {
            let (share, ratio) = ratios(outcome, &network);
            // Each of two senders that are on for half of the time gets 0.75 of the link while it is on.
            let (got, got_delay) = (share * 0.75 * link, ratio * 150.0);
            eprintln!(
                "{link} Mbit/s: {got:.2} Mbit/s of {throughput}, {got_delay:.1} ms of {delay}"
            );
            assert!((got / throughput - 1.0).abs() <= 0.05, "{link}: {got} Mbit/s");
            assert!((got_delay / delay - 1.0).abs() <= 0.05, "{link}: {got_delay} ms");
        }
    }
}

#[test]
fn the_three_first_tables_have_their_published_throughputs_delays_and_scores() {
    for (name, throughput, delay, score) in [
        ("RemyCC-2013-delta10.dna", 0.65, 1.00, -5.00),
        ("RemyCC-2013-delta1.dna", 0.81, 1.02, -2.64),
        ("RemyCC-2013-delta0.1.dna", 0.90, 1.11, -2.30),
    ] {
        let Some(table) = published(name) else { return };
        let network = TrainingNetwork {
            packets_per_ms: 1.5,
            senders: 8,
            mean_on_ms: 10_000.0,
            mean_off_ms: 10_000.0,
            ..TWO_SENDERS
        };
        let outcomes = outcomes(&table, &network);
        for outcome in &outcomes {
            let (share, ratio) = ratios(outcome, &network);
            eprintln!("{name}: {share:.3} of {throughput}, {ratio:.4} of {delay}");
            assert!((share / throughput - 1.0).abs() <= 0.05, "{name}: {share}");
            assert!((ratio / delay - 1.0).abs() <= 0.05, "{name}: {ratio}");
        }
        let got: f64 =
            outcomes.iter().filter_map(|outcome| normalised_score(outcome, &network)).sum();
        eprintln!("{name}: score {got:.2} of {score}");
        assert!((got - score).abs() < 0.5, "{name}: {got}");
    }
}

/// Rates in packets per ms, a sender's score, and throughput and delay of both senders. Source: the published sweep.
const SWEEP: [(f64, f64, [f64; 2], [f64; 2]); 10] = [
    (0.1, -3.652, [1.259, 1.258], [15.58, 16.08]),
    (0.2154, -1.098, [1.078, 1.074], [2.305, 2.307]),
    (0.4642, -0.493, [0.952, 0.948], [1.339, 1.337]),
    (1.0, -0.444, [0.808, 0.805], [1.097, 1.099]),
    (2.154, -0.559, [0.876, 0.865], [1.283, 1.283]),
    (4.642, -0.586, [0.812, 0.811], [1.219, 1.218]),
    (10.0, -0.533, [0.715, 0.719], [1.038, 1.038]),
    (21.54, -0.672, [0.640, 0.640], [1.021, 1.020]),
    (46.42, -1.119, [0.463, 0.457], [1.0, 1.0]),
    (100.0, -2.233, [0.212, 0.212], [1.0, 1.0]),
];

#[test]
fn the_table_for_a_hundredfold_range_has_its_published_sweep_inside_and_outside_of_it() {
    let Some(table) = published("RemyCC-2014-100x.dna") else { return };
    for (packets_per_ms, score, throughputs, delays) in SWEEP {
        let network = TrainingNetwork { packets_per_ms, ..TWO_SENDERS };
        let outcomes = outcomes(&table, &network);
        for (number, outcome) in outcomes.iter().enumerate() {
            let (share, ratio) = ratios(outcome, &network);
            eprintln!(
                "{packets_per_ms}: {share:.3} of {}, {ratio:.3} of {}",
                throughputs[number], delays[number]
            );
            assert!((share / throughputs[number] - 1.0).abs() <= 0.2, "{packets_per_ms}: {share}");
            assert!((ratio / delays[number] - 1.0).abs() <= 0.2, "{packets_per_ms}: {ratio}");
        }
        let got = mean(outcomes.iter().filter_map(|outcome| normalised_score(outcome, &network)));
        eprintln!("{packets_per_ms}: score {got:.3} of {score}");
        assert!((got - score).abs() <= 0.5, "{packets_per_ms}: {got}");
    }
}
