//! Search: grows a table from a single rule, so that its score on the networks of a prior rises.
//!
//! In each generation, the search improves the rules in use, the most used first. After some generations, it splits the
//! most used rule. Before a split, a longer run compares the table with the table after the last split. The better one
//! stays, so that the score never falls. If it is the older one, the published search begins again without a split. Our
//! search splits it, too, because a search may find better actions only with more rules.
//!
//! The networks are few, and the best action for them may be bad for others. Two settings of a prior reduce this risk.
//! With `redraws`, each step draws its own networks. With `check_each`, an improvement stays only if the table is
//! better in the longer run. The published search has neither, as described. The paper draws networks for each step.
//! After each improvement, the search reports the table's score on held-out networks, which influence no decision.
//!
//! A search is a sequence of [`Search::step`]s. Each step begins from the state that a checkpoint holds, and the step's
//! number determines its random numbers. An interrupted search therefore continues as if nothing had happened.

use std::collections::BTreeMap;

use rove_congestion::remy::{Action, Table, TableError};
use rove_units::Seed;
use serde::{Deserialize, Serialize};

use crate::bisection::bisect;
use crate::evaluator::{Evaluation, Evaluator};
use crate::fault::Fault;
use crate::objective::Objective;
use crate::prior::Prior;
use crate::terms::Terms;
use crate::training_network::TrainingNetwork;
use crate::workers::Workers;

/// Candidates first run for this part of the length. Source: the published search, as observed.
const TRIAL_PART: f64 = 0.1;

/// Candidates pass this trial if they are in the better half, and at most this part worse than the best. Source: the
/// published search, as observed.
const TRIAL_SLACK: f64 = 0.05;

/// Factor for the length of runs that compare tables, and of held-out runs. Source: the published search, as observed.
const LONG_FACTOR: f64 = 10.0;

/// The number that determines the random numbers of runs that compare tables. No step has this number.
const CHECK: u64 = 0;

/// The number that determines the random numbers of held-out runs. No step has this number.
const HELD_OUT: u64 = u64::MAX;

/// Most improvements of a rule in a row. Chosen: with the largest changes, no rule needs as many. The limit prevents an
/// endless search.
const ROUNDS_MAX: usize = 200;

/// A table during a search.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub(crate) struct Grown {
    /// The table.
    pub(crate) table: Table,
    /// For each rule, the generation up to which the rule has been improved.
    pub(crate) generations: Vec<u32>,
}

/// A [`Grown`] as a checkpoint stores it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    generations: Vec<u32>,
    table: String,
}

impl From<Grown> for Saved {
    fn from(Grown { table, generations }: Grown) -> Self {
        Self { generations, table: table.to_readable() }
    }
}

impl TryFrom<Saved> for Grown {
    type Error = anyhow::Error;

    fn try_from(Saved { generations, table }: Saved) -> anyhow::Result<Self> {
        let table = Table::from_readable(&table)?;
        if table.rules().len() != generations.len() {
            anyhow::bail!(
                "it has {} generations of {} rules",
                generations.len(),
                table.rules().len()
            );
        }
        Ok(Self { table, generations })
    }
}

/// Everything from which a search continues.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    /// The table that is being improved.
    pub(crate) grown: Grown,
    /// The table immediately after the last split.
    pub(crate) backup: Grown,
    /// The score of `backup` in the long run. `None` before that run.
    pub(crate) backup_score: Option<f64>,
    /// The score of `grown` in the long run. `None` if no run has determined it.
    pub(crate) long_score: Option<f64>,
    /// The score of `grown` on the held-out networks, after the last improvement.
    pub(crate) held_out: Option<f64>,
    /// Number of generations since the last split.
    pub(crate) generation: u32,
    /// Number of splits.
    pub(crate) epoch: u32,
    /// Steps done.
    pub(crate) steps: u64,
}

/// The result of a step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// A rule was improved until no tried action was better than its own.
    Improved {
        /// The rule's number, counted from 1.
        rule: usize,
        /// The rule's action before and after.
        actions: [Action; 2],
        /// The score before and after, in runs with the step's random numbers.
        scores: [f64; 2],
        /// The scores before and after in the long run. `None` if `check_each` is off or nothing was improved.
        long: Option<[f64; 2]>,
    },
    /// All rules in use have been improved in this generation, so the next generation begins.
    Generation,
    /// The table was compared with that of the last split, and the better one was split.
    Split {
        /// The score of the better table in the long run.
        score: f64,
        /// Whether the older table was better.
        is_reverted: bool,
        /// The number of rules after the split.
        rules: usize,
    },
    /// No rule can be split, so the search has ended.
    Done,
}

/// A search.
pub(crate) struct Search<'a> {
    /// The assumptions about networks, and the settings.
    pub(crate) prior: &'a Prior,
    /// The networks of the long run. They are also the networks of all steps, unless each step draws its own.
    pub(crate) networks: &'a [TrainingNetwork],
    /// The held-out networks, which influence no decision.
    pub(crate) held_out: &'a [TrainingNetwork],
    /// The worth of throughput and delay.
    pub(crate) objective: Objective,
    /// The seed of all random numbers.
    pub(crate) seed: Seed,
    /// The processors that do the runs.
    pub(crate) workers: &'a Workers,
    /// The present state of the search.
    pub(crate) state: State,
}

impl State {
    /// Returns the state at the beginning of a search with a table of a single rule.
    ///
    /// # Errors
    ///
    /// Returns an error if the prior's first action is not valid in a table.
    pub(crate) fn first(prior: &Prior) -> Result<Self, TableError> {
        Ok(Self::from(Table::uniform(prior.search.actions.first())?))
    }

    /// Returns the state at the beginning of a search that improves `table`.
    pub(crate) fn from(table: Table) -> Self {
        let generations = vec![0; table.rules().len()];
        let grown = Grown { table, generations };
        Self {
            backup: grown.clone(),
            grown,
            backup_score: None,
            long_score: None,
            held_out: None,
            generation: 0,
            epoch: 0,
            steps: 0,
        }
    }
}

impl<'a> Search<'a> {
    /// Does the next step of the search.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`] if an evaluation fails. The state is then the state before the step.
    pub(crate) fn step(&mut self) -> Result<Step, Fault> {
        let number = self.state.steps + 1;
        let drawn = self.prior.search.redraws.then(|| {
            let seed = Seed::new(self.seed.stream("remy.redraw").at(number).bits());
            self.prior.networks(seed).expect("as many as with any other seed")
        });
        let networks = drawn.as_deref().unwrap_or(self.networks);
        let evaluator = self.evaluator(networks, number, 1.0);
        let step = if self.state.generation < self.prior.search.generations {
            let evaluation = evaluator.score(&self.state.grown.table)?;
            match self.most_used(&evaluation.uses, self.state.generation) {
                Some(rule) => self.improve(rule, evaluation.score, &evaluator)?,
                None => {
                    self.state.generation += 1;
                    let least = self.state.generation;
                    let generations = &mut self.state.grown.generations;
                    generations.iter_mut().for_each(|it| *it = least.max(*it));
                    Step::Generation
                }
            }
        } else {
            self.split(&evaluator)?
        };
        self.state.steps += 1;
        let Grown { table, generations } = &self.state.grown;
        debug_assert_eq!(table.rules().len(), generations.len(), "each rule has its generation");
        Ok(step)
    }

    /// Returns the present table's score in the long run.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`] if an evaluation fails.
    pub(crate) fn long_score(&self) -> Result<f64, Fault> {
        self.state.long_score.map_or_else(|| self.check(&self.state.grown.table), Ok)
    }

    /// Returns a table's score on the held-out networks.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`] if an evaluation fails.
    pub(crate) fn held_out_score(&self, table: &Table) -> Result<f64, Fault> {
        Ok(self.evaluator(self.held_out, HELD_OUT, LONG_FACTOR).score(table)?.score)
    }

    /// Returns a table's score in the long run, which has the same random numbers for each table.
    fn check(&self, table: &Table) -> Result<f64, Fault> {
        Ok(self.evaluator(self.networks, CHECK, LONG_FACTOR).score(table)?.score)
    }

    fn evaluator<'b>(&self, on: &'b [TrainingNetwork], number: u64, length: f64) -> Evaluator<'b>
    where
        'a: 'b,
    {
        let seed = self.seed.stream("remy.evaluator").at(number).bits();
        let length_ms = self.prior.length_s * 1e3 * length;
        let terms = Terms { objective: self.objective, seed, length_ms };
        Evaluator { networks: on, terms, workers: self.workers }
    }

    /// Returns the most used rule that this generation has not improved. Among equally used rules, it is the last.
    fn most_used(&self, uses: &[u64], generation: u32) -> Option<usize> {
        let generations = &self.state.grown.generations;
        let candidates = (0..uses.len()).filter(|rule| uses[*rule] > 0);
        candidates.filter(|rule| generations[*rule] <= generation).max_by_key(|rule| uses[*rule])
    }

    /// Tries actions for a rule until none is better than the rule's own.
    fn improve(
        &mut self,
        rule: usize,
        first: f64,
        evaluator: &Evaluator<'_>,
    ) -> Result<Step, Fault> {
        let before = self.state.grown.table.rules()[rule].action;
        let (mut action, mut best) = (before, first);
        let mut known: BTreeMap<[u64; 3], f64> = BTreeMap::from([(key(&before), first)]);
        for _ in 0..ROUNDS_MAX {
            let candidates = self.prior.search.actions.candidates(&action);
            let better = self.best_candidate(rule, &candidates, evaluator, &mut known)?;
            let Some((next, score)) = better.filter(|(_, score)| *score > best) else { break };
            (action, best) = (next, score);
        }
        let long = if action == before { None } else { self.adopt(rule, action)? };
        self.state.grown.generations[rule] = self.state.generation + 1;
        let (actions, scores) = ([before, action], [first, best]);
        Ok(Step::Improved { rule: rule + 1, actions, scores, long })
    }

    /// Gives a rule an action, unless `check_each` is on and the long run is not better. Returns the long run's scores.
    fn adopt(&mut self, rule: usize, action: Action) -> Result<Option<[f64; 2]>, Fault> {
        let table = with_action(&self.state.grown.table, rule, action);
        let long = if self.prior.search.check_each {
            Some([self.long_score()?, self.check(&table)?])
        } else {
            None
        };
        if let Some([before, after]) = long
            && before >= after
        {
            self.state.long_score = Some(before);
            return Ok(long);
        }
        self.state.held_out = Some(self.held_out_score(&table)?);
        self.state.long_score = long.map(|[_, after]| after);
        self.state.grown.table = table;
        Ok(long)
    }

    /// Returns the best action for a rule. A short run tries all, and a full run those that come close to the best.
    fn best_candidate(
        &self,
        rule: usize,
        actions: &[Action],
        evaluator: &Evaluator<'_>,
        known: &mut BTreeMap<[u64; 3], f64>,
    ) -> Result<Option<(Action, f64)>, Fault> {
        let table = &self.state.grown.table;
        let length_ms = evaluator.terms.length_ms * TRIAL_PART;
        let trial =
            Evaluator { terms: Terms { length_ms, ..evaluator.terms }, ..evaluator.clone() };
        let unknown: Vec<Action> =
            actions.iter().filter(|action| !known.contains_key(&key(action))).copied().collect();
        let tables: Vec<Table> =
            unknown.iter().map(|action| with_action(table, rule, *action)).collect();
        let trials = trial.scores(&tables.iter().collect::<Vec<_>>())?;
        let least = least_of_trials(&trials);
        let survivors: Vec<usize> =
            (0..trials.len()).filter(|number| trials[*number].score >= least).collect();
        let runs: Vec<&Table> = survivors.iter().map(|number| &tables[*number]).collect();
        for (number, evaluation) in survivors.iter().zip(evaluator.scores(&runs)?) {
            known.insert(key(&unknown[*number]), evaluation.score);
        }
        let scores = actions.iter().filter_map(|it| Some((*it, *known.get(&key(it))?)));
        // If scores are equal, the first action wins.
        Ok(scores.reduce(|best, next| if next.1 > best.1 { next } else { best }))
    }

    /// Compares the present table with the table of the last split, and splits the most used rule of the better table.
    fn split(&mut self, evaluator: &Evaluator<'_>) -> Result<Step, Fault> {
        let backup_score = match self.state.backup_score {
            Some(score) => score,
            None => self.check(&self.state.backup.table)?,
        };
        let score = self.long_score()?;
        let is_reverted = backup_score >= score;
        let kept = if is_reverted { &self.state.backup.table } else { &self.state.grown.table };
        let mut generations = vec![0; kept.rules().len()];
        let uses = evaluator.score(kept)?.uses;
        let mut order: Vec<usize> = (0..uses.len()).filter(|rule| uses[*rule] > 0).collect();
        // The most used rule comes first. Among equally used rules, the last comes first.
        order.sort_by_key(|rule| core::cmp::Reverse((uses[*rule], *rule)));
        for rule in order {
            let memories = evaluator.memories(kept, rule)?;
            let parts = bisect(&kept.rules()[rule], &memories, self.prior.search.signals);
            let Some(table) = parts.as_ref().and_then(|it| kept.with_rules(rule, it.clone()).ok())
            else {
                continue;
            };
            let rules = table.rules().len();
            generations.resize(rules, 0);
            let backup = Grown { table, generations };
            self.state.grown = backup.clone();
            self.state.backup = backup;
            // A split gives all parts the same action, so the score stays the same.
            self.state.backup_score = Some(score.max(backup_score));
            self.state.long_score = self.state.backup_score;
            self.state.generation = 0;
            self.state.epoch += 1;
            return Ok(Step::Split { score: score.max(backup_score), is_reverted, rules });
        }
        Ok(Step::Done)
    }
}

/// Returns the least score that passes the short run: the median, or a score slightly below the best if that is higher.
fn least_of_trials(trials: &[Evaluation]) -> f64 {
    let mut scores: Vec<f64> = trials.iter().map(|trial| trial.score).collect();
    scores.sort_by(f64::total_cmp);
    let Some(best) = scores.last() else { return f64::NEG_INFINITY };
    let slack = (best * (1.0 + TRIAL_SLACK)).min(best * (1.0 - TRIAL_SLACK));
    slack.max(scores[scores.len() / 2])
}

fn with_action(table: &Table, rule: usize, action: Action) -> Table {
    table
        .with_action(rule, action)
        .expect("the ranges of a prior hold only actions that a table may have")
}

/// Returns an action as the key of a map.
fn key(action: &Action) -> [u64; 3] {
    let increment = i64::from(action.increment).cast_unsigned();
    [action.multiple.to_bits(), increment, action.intersend_ms.to_bits()]
}

#[cfg(test)]
mod tests;
