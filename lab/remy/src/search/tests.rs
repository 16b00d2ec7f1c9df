//! Searches with few networks and steps.

use super::*;
use crate::checkpoint::Checkpoint;

const PRIOR: &str = include_str!("../../../rove-lab/tests/priors/small.toml");

fn search<'a>(prior: &'a Prior, on: &'a [TrainingNetwork], workers: &'a Workers) -> Search<'a> {
    Search {
        prior,
        networks: on,
        held_out: on,
        objective: Objective::DEFAULT,
        seed: Seed::new(1),
        workers,
        state: State::first(prior).expect("a first rule"),
    }
}

#[test]
fn the_score_of_what_is_kept_never_falls_and_ends_above_its_begin() {
    let prior = Prior::parse(PRIOR).expect("a prior");
    let networks = prior.networks(Seed::new(1)).expect("two");
    let workers = Workers::Threads(2);
    let mut search = search(&prior, &networks, &workers);
    let begin = search.check(&search.state.grown.table).expect("a score");
    let mut scores = vec![begin];
    while search.state.epoch < 3 {
        match search.step().expect("a step") {
            Step::Split { score, rules, .. } => {
                assert_eq!(
                    search.check(&search.state.grown.table),
                    Ok(score),
                    "a split costs nothing"
                );
                assert_eq!(rules, search.state.grown.table.rules().len());
                scores.push(score);
            }
            Step::Improved { scores: [first, best], long, .. } => {
                assert!(best >= first);
                assert_eq!(long, None, "it was not asked for");
            }
            Step::Generation => {}
            Step::Done => panic!("there is always something to split"),
        }
    }
    assert!(scores.is_sorted(), "{scores:?}");
    assert!(scores[3] > scores[0] + 1.0, "{scores:?}");
    assert_eq!(search.state.grown.table.rules().len(), 10, "one in four, three times");
}

#[test]
fn a_search_that_was_interrupted_anywhere_goes_on_as_if_it_had_not_been() {
    // With both settings on, a step draws networks and compares tables. The state must suffice for both.
    let text = PRIOR.replace("generations", "redraws = true\ncheck_each = true\ngenerations");
    let prior = Prior::parse(&format!("draws = 2\n{text}")).expect("a prior");
    let networks = prior.networks(Seed::new(1)).expect("two");
    let workers = [1, 2, 3].map(Workers::Threads);
    let mut whole = search(&prior, &networks, &workers[0]);
    let mut interrupted = search(&prior, &networks, &workers[1]);
    for step in 0..9 {
        let expected = whole.step().expect("a step");
        // The state is written and read as in a file. Another search continues from it, with other threads.
        let checkpoint = Checkpoint {
            prior: PRIOR.to_owned(),
            objective: String::new(),
            seed: 1,
            begin: None,
            seconds: 0.0,
            state: interrupted.state,
        };
        let text = serde_json::to_string(&checkpoint).expect("JSON");
        let checkpoint: Checkpoint = serde_json::from_str(&text).expect("a checkpoint");
        interrupted = search(&prior, &networks, &workers[step % 3]);
        interrupted.state = checkpoint.state;
        assert_eq!(interrupted.step(), Ok(expected), "step {step}");
        assert_eq!(interrupted.state, whole.state, "after step {step}");
    }
    assert!(whole.state.epoch >= 1);
}

#[test]
fn an_improvement_that_is_none_in_the_long_run_is_given_up_where_that_is_asked_for() {
    // The scores of runs of a second vary, so that some improvements do not hold in the long run.
    let text = PRIOR.replace("length_s = 10", "length_s = 1");
    let asked = text.replace("generations = 1", "generations = 2\ncheck_each = true");
    let prior = Prior::parse(&asked).expect("a prior");
    let networks = prior.networks(Seed::new(1)).expect("two");
    let workers = Workers::Threads(2);
    let mut search = search(&prior, &networks, &workers);
    let (mut kept, mut given_up) = (0, 0);
    while kept == 0 || given_up == 0 {
        assert!(search.state.steps < 60, "{kept} kept, {given_up} given up");
        let before = search.state.clone();
        let Step::Improved { rule, actions, long, .. } = search.step().expect("a step") else {
            continue;
        };
        let Some([older, newer]) = long else {
            assert_eq!(actions[0], actions[1]);
            continue;
        };
        assert_eq!(Ok(older), search.check(&before.grown.table));
        let adopted = with_action(&before.grown.table, rule - 1, actions[1]);
        assert_eq!(Ok(newer), search.check(&adopted));
        let now = &search.state;
        if newer > older {
            kept += 1;
            assert_eq!((&now.grown.table, now.long_score), (&adopted, Some(newer)));
            assert_ne!(now.held_out, before.held_out);
        } else {
            given_up += 1;
            assert_eq!((&now.grown.table, now.long_score), (&before.grown.table, Some(older)));
            assert_eq!(now.held_out, before.held_out);
        }
        assert_eq!(now.grown.generations[rule - 1], now.generation + 1, "it is not tried again");
    }
}

#[test]
fn a_score_that_is_no_number_ends_the_search_and_changes_nothing() {
    let prior = Prior::parse(PRIOR).expect("a prior");
    let networks = prior.networks(Seed::new(1)).expect("two");
    let workers = Workers::Threads(2);
    let mut search = search(&prior, &networks, &workers);
    search.objective.delta = f64::INFINITY;
    search.objective.beta = f64::INFINITY;
    let before = search.state.clone();
    let fault = search.step().expect_err("no number");
    assert!(matches!(fault, Fault::NoScore { network: 1, .. }), "{fault}");
    assert_eq!(search.state, before);
}

#[test]
fn a_worker_that_dies_ends_the_step_with_its_words_and_changes_nothing() {
    let prior = Prior::parse(PRIOR).expect("a prior");
    let mut networks = prior.networks(Seed::new(1)).expect("two");
    // No memory has room for so many senders, so the run panics.
    networks[1].senders = usize::MAX;
    let workers = Workers::Threads(2);
    let mut search = search(&prior, &networks, &workers);
    let before = search.state.clone();
    let fault = search.step().expect_err("it dies").to_string();
    assert!(
        fault.starts_with("the evaluation of specimen 2 has died (capacity overflow)"),
        "{fault}"
    );
    assert_eq!(search.state, before);
}

#[test]
fn trials_keep_the_better_half_and_actions_that_are_hardly_worse_than_the_best() {
    let trials = |scores: &[f64]| {
        let of = |score: &f64| Evaluation { score: *score, uses: Vec::new() };
        least_of_trials(&scores.iter().map(of).collect::<Vec<_>>())
    };
    assert!((trials(&[1.0, 2.0, 3.0]) - 2.85).abs() < 1e-12);
    assert!((trials(&[-1.0, -2.0, -3.0]) + 1.05).abs() < 1e-12);
    assert_eq!(trials(&[2.99, 2.98, 3.0]), 2.99);
    assert_eq!(trials(&[]), f64::NEG_INFINITY);
}
