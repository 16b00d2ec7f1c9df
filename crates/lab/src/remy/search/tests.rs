//! Small searches.

use super::*;
use crate::remy::checkpoint::Checkpoint;

const PRIOR: &str = include_str!("../../../tests/priors/small.toml");

fn search<'a>(prior: &'a Prior, specimens: &'a [Specimen], threads: usize) -> Search<'a> {
    Search {
        prior,
        specimens,
        objective: Objective::default(),
        seed: Seed::new(1),
        threads,
        state: State::first(prior).expect("a first rule"),
    }
}

#[test]
fn the_score_of_what_is_kept_never_falls_and_ends_above_its_begin() {
    let prior = Prior::parse(PRIOR).expect("a prior");
    let specimens = prior.specimens(Seed::new(1)).expect("two");
    let mut search = search(&prior, &specimens, 2);
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
            Step::Improved { scores: [first, best], .. } => assert!(best >= first),
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
    let prior = Prior::parse(PRIOR).expect("a prior");
    let specimens = prior.specimens(Seed::new(1)).expect("two");
    let mut whole = search(&prior, &specimens, 1);
    let mut interrupted = search(&prior, &specimens, 2);
    for step in 0..9 {
        let expected = whole.step().expect("a step");
        // The state goes through a file's text, and comes back in another search with another number of threads.
        let checkpoint = Checkpoint::new(PRIOR, "", 1, 0.0, &interrupted.state);
        let text = serde_json::to_string(&checkpoint).expect("JSON");
        let checkpoint: Checkpoint = serde_json::from_str(&text).expect("a checkpoint");
        interrupted = search(&prior, &specimens, 1 + step % 3);
        interrupted.state = checkpoint.state().expect("a state");
        assert_eq!(interrupted.step(), Ok(expected), "step {step}");
        assert_eq!(interrupted.state, whole.state, "after step {step}");
    }
    assert!(whole.state.epoch >= 1);
}

#[test]
fn a_score_that_is_no_number_ends_the_search_and_changes_nothing() {
    let prior = Prior::parse(PRIOR).expect("a prior");
    let specimens = prior.specimens(Seed::new(1)).expect("two");
    let mut search = search(&prior, &specimens, 2);
    search.objective.delta = f64::INFINITY;
    search.objective.beta = f64::INFINITY;
    let before = search.state.clone();
    let fault = search.step().expect_err("no number");
    assert!(matches!(fault, Fault::NoScore { specimen: 1, .. }), "{fault}");
    assert_eq!(search.state, before);
}

#[test]
fn a_worker_that_dies_ends_the_step_with_its_words_and_changes_nothing() {
    let prior = Prior::parse(PRIOR).expect("a prior");
    let mut specimens = prior.specimens(Seed::new(1)).expect("two");
    // More senders than memory has room for.
    specimens[1].senders = usize::MAX;
    let mut search = search(&prior, &specimens, 2);
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
