//! The study's paths: those it published, and a grid of delays and losses.

use rove_link::Netem;
use rove_units::{BitRate, Duration};

use crate::aoi::study::{Artefacts, Study};

/// Length of the runs that the study reported.
const REPORTED_LENGTH: Duration = Duration::from_secs(30);

/// Time of each step of a path that changes. Chosen: the study gives none; each of them holds hundreds of states.
const STEP: Duration = Duration::from_secs(15);

/// Paths and mistakes to be studied, with a name each.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// The name.
    pub(crate) name: String,
    /// Delay and loss in one direction, where they never change, for the closed forms.
    pub(crate) constant: Option<Netem>,
    steps: Vec<(Duration, Netem)>,
    length: Duration,
    artefacts: Artefacts,
}

impl Case {
    /// Returns a path of a delay and a loss each way.
    pub(crate) fn of(delay: Duration, loss: f64, length: Duration, artefacts: Artefacts) -> Self {
        let netem = Netem { delay, loss, ..Netem::default() };
        Self {
            name: format!("{} ms, {} %", delay.as_secs_f64() * 1e3, percent(loss)),
            constant: (artefacts == Artefacts::default()).then_some(netem),
            steps: vec![(length, netem)],
            length,
            artefacts,
        }
    }

    /// Returns the scenarios that the study published, and the one it reported with mistakes that its programs may have
    /// made. The delay holds each way.
    pub(crate) fn published() -> Vec<Self> {
        let netem = |millis, loss, megabits: u64| Netem {
            delay: Duration::from_millis(millis),
            loss,
            rate: BitRate::from_bits_per_second(megabits * 1_000_000),
            ..Netem::default()
        };
        let named = |name: &str, steps: Vec<(Duration, Netem)>, artefacts| Self {
            name: name.to_owned(),
            constant: (steps.len() == 1 && artefacts == Artefacts::default()).then(|| steps[0].1),
            steps,
            length: REPORTED_LENGTH,
            artefacts,
        };
        let always = |netem| vec![(REPORTED_LENGTH, netem)];
        let reported = || always(netem(1000, 0.75, 0));
        let late = |seconds| Artefacts {
            listens_after: Duration::from_secs(seconds),
            ..Artefacts::default()
        };
        let on_receipt = Artefacts { logs_on_receipt: true, ..Artefacts::default() };
        let changing = vec![(STEP, netem(150, 0.0, 0)), (STEP, netem(200, 0.05, 0))];
        let mut all = vec![
            named("baseline: 10 ms, 10 Mbit/s", always(netem(10, 0.0, 10)), Artefacts::default()),
            named("changing: 150 ms, then 200 ms and 5 %", changing, Artefacts::default()),
        ];
        all.extend([0.0, 0.1, 0.25, 0.5].map(|loss| {
            let name = format!("loss sweep: 100 ms, {} %", percent(loss));
            named(&name, always(netem(100, loss, 0)), Artefacts::default())
        }));
        all.extend([
            named("reported: 1 s, 75 %", reported(), Artefacts::default()),
            named("reported, logged on receipt", reported(), on_receipt),
            named("reported, heard 3 s late", reported(), late(3)),
            named("reported, heard 6 s late", reported(), late(6)),
        ]);
        all
    }

    /// Returns the run of a share of diffs from the known state.
    pub(crate) fn study(&self, known_share: f64) -> Study {
        Study {
            steps: self.steps.clone(),
            length: self.length,
            known_share,
            timeout: None,
            has_handling: true,
            artefacts: self.artefacts,
        }
    }
}

/// Returns a share in percent, to a thousandth of one.
pub(crate) fn percent(share: f64) -> f64 {
    (share * 1e5).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_scenarios_are_there_with_their_mistakes() {
        let all = Case::published();
        let reported = all.iter().find(|case| case.name == "reported: 1 s, 75 %").expect("it is");
        let netem = reported.constant.expect("it never changes");
        assert_eq!((netem.delay, netem.loss), (Duration::from_secs(1), 0.75));
        assert_eq!(reported.study(0.5).known_share, 0.5);
        let with_closed_form = all.iter().filter(|case| case.constant.is_some()).count();
        assert_eq!((all.len(), with_closed_form), (10, 6));
        let artefacts = Artefacts::default();
        let grid = Case::of(Duration::from_millis(1000), 0.1, STEP, artefacts);
        assert_eq!(grid.name, "1000 ms, 10 %");
    }
}
