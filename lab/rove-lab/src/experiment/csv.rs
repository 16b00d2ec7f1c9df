//! Results as comma-separated values, a number in each line, for other programs.

use core::iter;

use crate::experiment::conditions::Samples;
use crate::experiment::published::OF_TIMES;
use crate::experiment::series::{Run, Series, of_times, run_figures};
use crate::experiment::sweep::Figure;
use rove_flows::course::{QUANTITIES, Slot, quantity};
use rove_runs::statistics::Times;

/// The first lines of the files of runs and of figures.
pub(crate) const RUNS: &str = "figure,system,link,recording,value,seed,invalid,metric,number\n";
pub(crate) const FIGURES: &str =
    "figure,system,link,recording,value,invalid,metric,number,low95,high95\n";

/// Returns the first line of the file of courses.
pub(crate) fn course_heading() -> String {
    let names = QUANTITIES.map(|(name, _)| name);
    line(&[&["figure", "system", "link", "value", "seed"][..], &names].concat())
}

/// Returns a line. A field with a comma, a quotation mark or a line break is put in quotation marks (RFC 4180).
pub(crate) fn line(fields: &[&str]) -> String {
    let field = |field: &&str| {
        let is_plain = !field.contains([',', '"', '\n', '\r']);
        if is_plain { (*field).to_owned() } else { format!("\"{}\"", field.replace('"', "\"\"")) }
    };
    fields.iter().map(field).collect::<Vec<_>>().join(",") + "\n"
}

fn text(number: Option<f64>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

/// Returns the first reason why runs in real time are invalid, or why a run has no result. Empty if all is well.
fn first<'a>(invalid: &'a [String], fault: Option<&'a String>) -> &'a str {
    invalid.first().or(fault).map_or("", String::as_str)
}

/// Returns the lines of a figure's runs.
pub(crate) fn runs(figure: &Figure) -> String {
    let names = figure.scenario.body.figures();
    let of_run = |run: &Run| {
        let Samples { times, missing, .. } = &run.samples;
        let series = &figure.series[run.series];
        let mut numbers =
            vec![("samples", Some(times.len() as f64)), ("never", Some(*missing as f64))];
        let all = Times::new(run.samples.millis().collect(), *missing);
        numbers.extend(OF_TIMES.map(|name| (name, of_times(name).and_then(|of| of(&all)))));
        numbers.extend(names.iter().map(|it| it.name).zip(run_figures(names, &run.samples)));
        let known = numbers.into_iter().filter(|(_, number)| number.is_some());
        let lines = known.map(|(metric, number)| {
            let (system, value, seed) =
                (series.system_name(), text(series.value), run.seed.to_string());
            let (name, link, recording) = (&figure.scenario.name, &series.link, &run.recording);
            let invalid = first(&run.samples.invalid, run.samples.fault.as_ref());
            line(&[name, system, link, recording, &value, &seed, invalid, metric, &text(number)])
        });
        lines.collect::<String>()
    };
    figure.runs.iter().map(of_run).collect()
}

/// Returns the lines of the courses of a figure's runs, a slot in each.
pub(crate) fn course(figure: &Figure) -> String {
    let of_run = |run: &Run| {
        let (series, seed) = (&figure.series[run.series], run.seed.to_string());
        let of_slot = |slot: &Slot| {
            let numbers = (0..slot.len()).map(|place| text(quantity(slot, place)));
            let numbers: Vec<String> = numbers.collect();
            let value = text(series.value);
            let mut fields =
                vec![&figure.scenario.name, series.system_name(), &series.link, &value, &seed];
            fields.extend(numbers.iter().map(String::as_str));
            line(&fields)
        };
        run.samples.course.iter().map(of_slot).collect::<String>()
    };
    figure.runs.iter().map(of_run).collect()
}

/// Returns the lines of a figure, with 95 % intervals.
pub(crate) fn figures(figure: &Figure) -> String {
    let of_series = |series: &Series| {
        let figures = figure.scenario.body.figures();
        let own = figures.iter().map(|it| it.name);
        let known = OF_TIMES.into_iter().chain(own).filter_map(|name| {
            let number = series.statistic(figures, name)?;
            Some((name, Some(number), series.interval(figures, name)))
        });
        let lines = known.map(|(metric, number, range)| {
            let [low, high] = range.map_or([None; 2], |range| range.map(Some)).map(text);
            let (name, system, value) =
                (&figure.scenario.name, series.system_name(), text(series.value));
            let (link, recording) = (&series.link, series.recording.as_deref().unwrap_or_default());
            let (invalid, number) = (first(&series.invalid, series.fault.as_ref()), text(number));
            line(&[name, system, link, recording, &value, invalid, metric, &number, &low, &high])
        });
        lines.collect::<String>()
    };
    let all = figure.series.iter().flat_map(|pool| iter::once(pool).chain(&pool.recordings));
    all.map(of_series).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::scenario::Scenario;
    use crate::experiment::system::System;

    #[test]
    fn the_numbers_of_an_invalid_run_say_why_it_is() {
        let scenario = Scenario::built_in().find(|it| it.name == "programs-500ms");
        let mut figure = Figure::empty(scenario.expect("a scenario in real time"));
        let invalid = vec!["late, by 9 ms".to_owned()];
        let times = Times::new(vec![7.0], 0);
        let series = Series { system: Some(System::Ssh), times, ..Series::default() };
        figure.series = vec![series.clone(), Series { invalid: invalid.clone(), ..series }];
        let samples = Samples { times: vec![7_000_000], ..Samples::default() };
        let run = |series, invalid| {
            let samples = Samples { invalid, ..samples.clone() };
            Run { series, recording: "r".to_owned(), seed: 1, samples }
        };
        figure.runs = vec![run(0, Vec::new()), run(1, invalid)];
        for (lines, begin) in [
            (runs(&figure), "programs-500ms,ssh,,r,,1,"),
            (super::figures(&figure), "programs-500ms,ssh,,,,"),
        ] {
            assert!(lines.contains(&format!("{begin},median,7")), "{lines}");
            assert!(lines.contains(&format!("{begin}\"late, by 9 ms\",median,7")), "{lines}");
        }
    }

    #[test]
    fn the_numbers_of_a_program_that_failed_say_so_and_each_recording_has_its_own() {
        let scenario = Scenario::built_in().find(|it| it.name == "response-500ms");
        let mut figure = Figure::empty(scenario.expect("a scenario with recordings"));
        let times = Times::new(vec![7.0], 0);
        let series = Series { system: Some(System::Rove), times, ..Series::default() };
        let fish = Series { recording: Some("fish".to_owned()), ..series.clone() };
        let fault = Some("it hung".to_owned());
        figure.series = vec![Series { recordings: vec![fish], fault: fault.clone(), ..series }];
        let samples = Samples { fault, ..Samples::empty() };
        figure.runs = vec![Run { series: 0, recording: "fish".to_owned(), seed: 1, samples }];
        let lines = super::figures(&figure);
        assert!(lines.contains("response-500ms,rove,,,,it hung,median,7,,\n"), "{lines}");
        assert!(lines.contains("response-500ms,rove,,fish,,,median,7,,\n"), "{lines}");
        let lines = runs(&figure);
        assert!(lines.contains("response-500ms,rove,,fish,,1,it hung,never,1\n"), "{lines}");
    }

    #[test]
    fn a_field_that_would_break_its_line_is_quoted() {
        let fields = ["a", "Sprout, one way", "say \"x\"", "b\nc", ""];
        assert_eq!(line(&fields), "a,\"Sprout, one way\",\"say \"\"x\"\"\",\"b\nc\",\n");
    }
}
