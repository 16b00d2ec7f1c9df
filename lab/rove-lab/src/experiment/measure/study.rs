//! Age of information in the published study of reference states, made again.

use rove_link::Netem;
use rove_ssp::ReferencePolicy;
use rove_units::{Duration, Instant, Seed};

use crate::aoi::Study;
use crate::experiment::conditions::{Conditions, RunFigure, Samples, nanos};
use crate::experiment::system::System;

/// Length of a run. Source: the notes on the study.
const LENGTH: Duration = Duration::from_secs(120);

/// Figures of a run beside its mean age.
pub(super) const FIGURES: [RunFigure; 5] = [
    RunFigure::of_time("peak age"),
    RunFigure::of_time("95 % of age"),
    RunFigure::of_time("median catch-up"),
    RunFigure::of_time("catch-up"),
    RunFigure { is_compared: true, ..RunFigure::of_time("95 % catch-up") },
];

/// Returns the probability with which a system starts from the known state. `None` if the study has no such system.
pub(super) fn known_share(system: System) -> Option<f64> {
    match system.reference()? {
        ReferencePolicy::Assumed => Some(0.0),
        ReferencePolicy::Mixture { known_percent } => Some(f64::from(known_percent) / 100.0),
        ReferencePolicy::Known => Some(1.0),
        _ => None,
    }
}

/// Runs the study with a timeout in ms, or with the timeout of the study's estimator.
pub(super) fn run(conditions: &Conditions<'_>, timeout: Option<f64>) -> Samples {
    let share = known_share(conditions.system()).expect("a checked scenario has the study's");
    let link = &conditions.path().uplink;
    let netem = Netem { delay: link.delay, loss: link.loss, ..Netem::default() };
    let timeout = timeout.map(|millis| Duration::from_secs_f64(millis / 1e3));
    let mut study = Study::over(netem, LENGTH, share);
    study.timeout = timeout;
    let age = study.run(Seed::new(conditions.seed), Instant::ZERO);
    let Some(age) = age else { return Samples::empty() };
    let [median, mean, high] =
        [age.catch_up.percentile(50), age.catch_up.mean(), age.catch_up.percentile(95)]
            .map(|time| nanos(time.unwrap_or_default()));
    let figures = vec![nanos(age.mean_peak), nanos(age.percentile_95), median, mean, high];
    Samples { times: vec![nanos(age.mean)], missing: 0, figures, ..Samples::default() }
}

#[cfg(test)]
mod tests {
    use rove_flows::path::Path;

    use super::*;
    use crate::experiment::scenario::Scenario;
    use rove_runs::statistics::to_float;

    #[test]
    fn the_seeds_of_the_study_tell_a_closed_form_from_one_that_is_two_percent_off() {
        let path: Path = "rtt=200ms,loss=75%".parse().expect("a path");
        let system = Some(System::KnownReference);
        let of = |seed| {
            let conditions = Conditions { system, path: Some(&path), seed, ..Conditions::NONE };
            run(&conditions, None).millis().next().expect("states arrive")
        };
        let scenario = Scenario::built_in().find(|it| it.name == "aoi-study").expect("it is there");
        let ages: Vec<f64> = (1..=scenario.body.seeds).map(of).collect();
        let count = to_float(scenario.body.seeds);
        let mean = ages.iter().sum::<f64>() / count;
        let squares: f64 = ages.iter().map(|age| (age - mean).powi(2)).sum();
        let error = (squares / (count - 1.0) / count).sqrt();
        // Of a thousand first seeds, three have a mean that is three standard errors off.
        assert!(
            3.0 * error < 0.02 * 275.0,
            "{count} seeds: {mean} has a standard error of {error}"
        );
    }

    #[test]
    fn the_known_reference_has_the_age_of_its_closed_form() {
        let path: Path = "rtt=200ms,loss=10%".parse().expect("a path");
        let of = |system| {
            let conditions =
                Conditions { system: Some(system), path: Some(&path), ..Conditions::NONE };
            let samples = run(&conditions, None);
            assert_eq!(samples.figures.len(), FIGURES.len());
            samples.millis().next().expect("states arrive")
        };
        let of_timeout = |timeout| {
            let system = Some(System::AssumedReference);
            let conditions = Conditions { system, path: Some(&path), ..Conditions::NONE };
            run(&conditions, Some(timeout)).times[0]
        };
        assert!(of_timeout(1_000.0) > of_timeout(250.0), "a late timeout is dear");
        let (known, assumed) = (of(System::KnownReference), of(System::AssumedReference));
        assert!((known - 130.6).abs() < 3.0, "100 + 50 * 1.1 / 1.8: {known}");
        assert!(assumed > 1.3 * known, "{assumed}");
        assert_eq!(known_share(System::QuarterReference), Some(0.25));
        assert_eq!(known_share(System::AdaptiveReference), None);
        assert_eq!(known_share(System::Rove), None);
    }
}
