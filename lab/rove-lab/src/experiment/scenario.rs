//! A scenario file (TOML): the measurement, and its systems, links and recordings.

use std::path::{Path as FilePath, PathBuf};

use rove_replay::replay::Pace;
use serde::Deserialize;

use crate::experiment::catalogue::{self, BUILT_IN};
use crate::experiment::conditions::RunFigure;
use crate::experiment::link::{Direction, Link};
use crate::experiment::measure::{Measure, quantity, shared};
use crate::experiment::mistake::{advised, line};
use crate::experiment::published::{
    ALL_LINKS, Band, LEAST_AT, Number, OF_AVERAGES, OF_TIMES, ON_FRONTIER, Published, RATIO,
    THROUGHPUT,
};
use crate::experiment::system::{Clock, System};
use crate::experiment::traffic::{Traffic, VALUE};

/// Most repetitions of one scenario. Chosen: a thousand take a night, and more are a typing error.
const SEEDS_MAX: u64 = 1_000;

/// The byte offset of a fault in a scenario's text, and a sentence about it.
type Fault = (usize, String);

/// A scenario that passed all checks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scenario {
    /// The scenario's name: the file's name without the ending.
    pub(crate) name: String,
    /// The file's directory. Relative paths in the file start here.
    pub(crate) folder: PathBuf,
    /// The file's text, which is a part of the key of each kept result.
    pub(crate) text: String,
    /// The file's contents.
    pub(crate) body: Body,
}

/// The contents of a scenario file.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Body {
    /// The figure's title.
    pub(crate) title: String,
    /// A paragraph on the figure, for a reader without the sources.
    pub(crate) about: String,
    /// The kind of measurement.
    pub(crate) measure: Measure,
    /// The kind of picture.
    pub(crate) plot: Plot,
    /// The clock that the measurement runs by.
    #[serde(default)]
    pub(crate) clock: Clock,
    /// In real time: how many keys of each recording are typed in the quick profile; all of them where it is left out.
    pub(crate) keys: Option<usize>,
    /// How many keys of each recording are typed with `--full`.
    pub(crate) full_keys: Option<usize>,
    /// In real time: TCP downloads that share the link.
    #[serde(default)]
    pub(crate) downloads: u16,
    /// The systems that are compared; left out for a measure of the recordings by themselves.
    #[serde(default)]
    pub(crate) systems: Vec<System>,
    /// The paths.
    #[serde(default, rename = "link")]
    pub(crate) links: Vec<Link>,
    /// Names of recordings in the `--traces` directory, which are used if they are there.
    #[serde(default)]
    pub(crate) wanted: Vec<String>,
    /// The wanted recordings with `--full`. By default, those of the quick profile.
    #[serde(default)]
    pub(crate) full_wanted: Vec<String>,
    /// Names of built-in recordings, which are used if none of the wanted ones is there.
    #[serde(default)]
    pub(crate) recordings: Vec<String>,
    /// The answers that the user waits for before typing on.
    #[serde(default = "look")]
    pub(crate) pace: Pace,
    /// Repetitions in the quick profile; 1 where it is left out.
    #[serde(default = "one")]
    pub(crate) seeds: u64,
    /// Repetitions with `--full`; as many as `seeds` where it is left out.
    pub(crate) full_seeds: Option<u64>,
    /// The name of what is varied, with its unit.
    pub(crate) value: Option<String>,
    /// The values of the varied quantity.
    #[serde(default)]
    pub(crate) values: Vec<f64>,
    /// The traffic of senders that share a path.
    pub(crate) traffic: Option<Traffic>,
    /// The statistic that a picture by value shows in place of the mean.
    pub(crate) shown: Option<String>,
    /// The quantity that the picture of a course shows.
    pub(crate) quantity: Option<String>,
    /// The system that the others are compared with, run by run with the same seed: the table has ratios.
    pub(crate) baseline: Option<System>,
    /// The systems that the picture shows; all where it is left out.
    #[serde(default)]
    pub(crate) drawn: Vec<System>,
    /// Results that others published, or that rove claims.
    #[serde(default)]
    pub(crate) published: Vec<Published>,
    /// Why the scenario has no published results.
    pub(crate) unpublished: Option<String>,
}

/// How a figure is drawn.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Plot {
    /// The share of samples (y) that do not exceed a time (x): a cumulative distribution.
    Distribution,
    /// The mean time (y) by the value that is varied (x).
    MeanByValue,
    /// The throughput (y) by the queueing delay (x) of senders that share a path: the medians, each with the ellipse of
    /// one standard deviation.
    Ellipses,
    /// The share of the link that is used (y) by the mean time (x): a point for each system, link and value.
    UseByTime,
    /// A quantity of a run's slots (y) by time (x).
    Course,
    /// Boxes from the lower to the upper quartile of times (x), with the median, and lines to the 5th and the 95th percentile.
    Boxes,
    /// A film of Sprout's belief over the first link. It ends after the link's `seconds`, and lasts 12 s.
    Belief,
}

const fn look() -> Pace {
    Pace::Look
}

const fn one() -> u64 {
    1
}

impl Body {
    /// Returns the names of the `--traces` recordings that a profile wants.
    pub(crate) fn wanted(&self, is_full: bool) -> &[String] {
        if is_full && !self.full_wanted.is_empty() { &self.full_wanted } else { &self.wanted }
    }

    /// Returns every mention of a system.
    pub(super) fn named_systems(&mut self) -> impl Iterator<Item = &mut System> {
        let results = self.published.iter_mut().flat_map(|published| &mut published.results);
        let published = results.filter_map(|result| result.system.as_mut());
        let others = self.traffic.iter_mut().flat_map(|traffic| &mut traffic.others);
        let others = others.filter_map(|other| other.system.as_mut());
        let named = self.systems.iter_mut().chain(&mut self.drawn).chain(&mut self.baseline);
        named.chain(published).chain(others)
    }

    /// Returns the named systems of senders beside those that are measured.
    pub(crate) fn others(&self) -> impl Iterator<Item = System> {
        self.traffic.iter().flat_map(|traffic| &traffic.others).filter_map(|it| it.system)
    }

    /// Returns all systems in the runs: the measured ones, and those of the senders beside them.
    pub(crate) fn running(&self) -> impl Iterator<Item = System> {
        self.systems.iter().copied().chain(self.others())
    }

    /// Returns whether systems are compared with the baseline by this statistic.
    fn is_compared(&self, name: &str) -> bool {
        let is_of_runs = self.figures().iter().any(|it| it.is_compared && it.name == name);
        self.baseline.is_some() && (name == "mean" || is_of_runs)
    }

    /// Returns the index of the quantity that the picture of a course shows.
    pub(crate) fn shown_quantity(&self) -> usize {
        self.quantity.as_deref().and_then(|name| quantity(name).ok()).unwrap_or_default()
    }

    /// Returns the figures that the scenario's runs have in addition to times.
    pub(crate) fn figures(&self) -> &'static [RunFigure] {
        match &self.traffic {
            Some(traffic) if self.measure == Measure::Shared => {
                shared::figures(traffic.others.len())
            }
            _ => self.measure.figures(),
        }
    }

    /// Returns all values. If nothing is varied, returns a single `None`.
    pub(super) fn values(&self) -> Vec<Option<f64>> {
        match &self.values[..] {
            [] => vec![None],
            values => values.iter().copied().map(Some).collect(),
        }
    }
}

impl Scenario {
    /// Returns the built-in scenarios, in the order of their list.
    pub(crate) fn built_in() -> impl Iterator<Item = Self> {
        BUILT_IN.iter().map(|(name, text)| {
            Self::parse(name, &format!("{name}.toml"), text).expect("a test reads each of them")
        })
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// Returns a sentence with the file, the line and what is wrong.
    pub(crate) fn parse(name: &str, file: &str, text: &str) -> Result<Self, String> {
        let body: Body = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            format!("{file}:{}: {}", line(text, at), advised(&error.message().replace('\n', "; ")))
        })?;
        let folder = FilePath::new(file).parent().unwrap_or(FilePath::new(""));
        let folder = folder.strip_prefix(".").unwrap_or(folder);
        let (name, text_owned) = (name.to_owned(), text.to_owned());
        let mut scenario = Self { name, folder: folder.to_owned(), text: text_owned, body };
        for system in scenario.body.named_systems() {
            if let System::File(file) = system {
                file.look_in(folder);
            }
        }
        scenario
            .check()
            .map_err(|(at, sentence)| format!("{file}:{}: {sentence}", line(text, at)))?;
        Ok(scenario)
    }

    /// Returns the byte at which a word begins in the text, or 0 if the text lacks the word.
    fn at(&self, word: &str) -> usize {
        self.text.find(word).unwrap_or(0)
    }

    /// Finds a system, a measurement or an option that the scenario's clock does not allow.
    fn check_clock(&self) -> Result<(), Fault> {
        let body = &self.body;
        if let Some(system) = body.systems.iter().find(|system| !system.runs_by(body.clock)) {
            let sentence = format!("{} does not run by the {:?} clock", system.name(), body.clock);
            return Err((self.at("systems"), sentence.to_lowercase()));
        }
        let is_real = body.clock == Clock::Real;
        let sentence = format!("measure = \"{}\" does not run in real time", body.measure.name());
        refuse_if(is_real && !body.measure.runs_really(), self.at("measure"), sentence)?;
        let has_keys = body.keys.or(body.full_keys).is_some();
        for (name, is_there) in [("keys", has_keys), ("downloads", body.downloads > 0)] {
            let sentence = format!("{name} needs clock = \"real\"");
            refuse_if(is_there && !is_real, self.at(name), sentence)?;
        }
        for path in body.links.iter().filter_map(|link| link.path.as_ref()) {
            let is_wrong = is_real && path.get_ref().contains("download=");
            let sentence = "download= is for virtual time; in real time there is downloads = COUNT";
            refuse_if(is_wrong, path.span().start, sentence)?;
        }
        Ok(())
    }

    /// Finds a link, system or value that is listed twice, because its second row would have the first row's baseline.
    fn check_repeats(&self) -> Result<(), Fault> {
        let Body { links, systems, values, .. } = &self.body;
        let names: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
        let picture = |link: &Link| format!("{}.{}.svg", self.name, link.picture());
        let pictures = links.iter().filter(|_| self.body.plot == Plot::UseByTime).map(picture);
        let pictures: Vec<String> = pictures.collect();
        let repeats = [
            ("[[link]]", repeated(&names).map(|name| format!("{name:?}"))),
            ("[[link]]", repeated(&pictures).map(|name| format!("the picture {name}"))),
            ("systems", repeated(systems).map(|system| system.name().to_owned())),
            ("values", repeated(values).map(f64::to_string)),
        ];
        let has_break = names.iter().any(|name| name.contains('\n'));
        refuse_if(has_break, self.at("[[link]]"), "link: a name has no line break")?;
        for (word, repeat) in repeats {
            if let Some(name) = repeat {
                let at = self.text.rfind(word).unwrap_or(0);
                return Err((at, format!("{name} is there twice")));
            }
        }
        Ok(())
    }

    /// Finds a system that cannot be measured, or a baseline or drawn system that is not among the compared ones.
    fn check_systems(&self) -> Result<(), Fault> {
        let body = &self.body;
        for system in body.running() {
            if let System::File(file) = system {
                file.check().map_err(|error| (self.at(file.name()), format!("{error:#}")))?;
            }
        }
        if let Some(system) = body.running().find(|it| !body.measure.tells_apart(*it)) {
            let (name, measure) = (system.name(), body.measure.name());
            let sentence = format!("measure = \"{measure}\" has no system {name} of its own");
            return Err((self.at("systems"), sentence));
        }
        for (word, named) in [("baseline", body.baseline.as_slice()), ("drawn", &body.drawn)] {
            let is_other = named.iter().any(|system| !body.systems.contains(system));
            refuse_if(is_other, self.at(word), format!("{word} is one of the systems"))?;
        }
        Ok(())
    }

    /// Finds a picture, a quantity or a statistic that the measurement does not have.
    fn check_picture(&self) -> Result<(), Fault> {
        let body = &self.body;
        for (plot, measure, sentence) in [
            (
                Plot::Ellipses,
                Measure::Shared,
                "plot = \"ellipses\" is of senders that share a path: measure = \"shared\"",
            ),
            (Plot::Course, Measure::Course, "plot = \"course\" is of measure = \"course\""),
            (Plot::Belief, Measure::Belief, "plot = \"belief\" is of measure = \"belief\""),
        ] {
            refuse_if(body.plot == plot && body.measure != measure, self.at("plot"), sentence)?;
        }
        if let Some((name, Err(known))) = body.quantity.as_ref().map(|it| (it, quantity(it))) {
            let known = known.join(", ");
            let sentence = format!("there is no quantity {name:?}; there are {known}");
            return Err((self.at("quantity"), sentence));
        }
        let known = self.statistics();
        if let Some(shown) = body.shown.as_deref().filter(|shown| !known.contains(shown)) {
            let sentence =
                format!("there is no statistic {shown:?} here; there are {}", known.join(", "));
            return Err((self.at("shown"), sentence));
        }
        Ok(())
    }

    /// Finds the first fault of the scenario. Returns the fault's byte in the text, and a sentence.
    fn check(&self) -> Result<(), Fault> {
        let body = &self.body;
        for link in &body.links {
            self.check_link(link)?;
        }
        self.check_repeats()?;
        self.check_systems()?;
        let seeds = body.full_seeds.unwrap_or(body.seeds).max(body.seeds);
        let is_outside = body.seeds == 0 || body.full_seeds == Some(0) || seeds > SEEDS_MAX;
        refuse_if(is_outside, self.at("seeds"), format!("seeds are from 1 to {SEEDS_MAX}"))?;
        let needs = [
            (body.measure.needs_network() && body.links.is_empty(), "a [[link]] that it runs over"),
            (body.measure.needs_systems() && body.systems.is_empty(), "systems"),
            (body.measure.needs_recordings() && body.recordings.is_empty(), "recordings"),
            (body.measure.needs_values() && body.values.is_empty(), "values"),
            (
                body.plot == Plot::MeanByValue && body.value.is_none(),
                "value: what is varied, with its unit",
            ),
            (body.measure == Measure::Shared && body.traffic.is_none(), "[traffic]"),
            (body.plot == Plot::Course && body.quantity.is_none(), "a quantity that is drawn"),
        ];
        for (is_missing, what) in needs {
            let sentence = format!("measure = \"{}\" needs {what}", body.measure.name());
            refuse_if(is_missing, self.at("measure"), sentence)?;
        }
        if let Some(traffic) = &body.traffic {
            let check = |value| traffic.at(value).check();
            let checked = body.values().into_iter().try_for_each(check);
            checked.map_err(|sentence| (self.at("[traffic]"), format!("traffic: {sentence}")))?;
        }
        self.check_picture()?;
        self.check_clock()?;
        for value in &body.values {
            let sentence = format!("{value} is outside 0 to 1000000");
            refuse_if(!(0.0..=1e6).contains(value), self.at("values"), sentence)?;
        }
        for recording in &body.recordings {
            let sentence = format!("there is no recording {recording:?} in the laboratory");
            refuse_if(catalogue::recording(recording).is_none(), self.at(recording), sentence)?;
        }
        for published in &body.published {
            let place = format!("place = \"{}\"", published.place);
            if let Some(sentence) = self.misplaced(published) {
                return Err((self.at(&place), sentence));
            }
        }
        Ok(())
    }

    /// Returns the names of the statistics that a series has.
    fn statistics(&self) -> Vec<&'static str> {
        let body = &self.body;
        let figures = body.figures().iter().map(|figure| figure.name);
        let throughput = (body.measure == Measure::Shared).then_some(THROUGHPUT);
        let least_at = (!body.values.is_empty()).then_some(LEAST_AT);
        OF_TIMES.into_iter().chain(throughput).chain(least_at).chain(figures).collect()
    }

    /// Returns a sentence if the scenario cannot have these results.
    fn misplaced(&self, published: &Published) -> Option<String> {
        let (body, mut of_series) = (&self.body, self.statistics());
        of_series.extend((body.measure == Measure::Shared).then_some(ON_FRONTIER));
        published.results.iter().find_map(|result| {
            let is_average = result.link.as_deref() == Some(ALL_LINKS);
            let is_link = |name: &String| body.links.iter().any(|link| link.name == *name);
            if result.system.is_some_and(|system| !body.systems.contains(&system))
                || result.link.as_ref().is_some_and(|it| !is_link(it) && !is_average)
                || result.value.is_some_and(|value| !body.values.contains(&value))
            {
                let sentence = "it has a system, link or value that the scenario has not";
                return Some(sentence.to_owned());
            }
            if result.numbers.is_empty() {
                return Some("a result has no number".to_owned());
            }
            let is_ratio = result.numbers.keys().any(|name| name.ends_with(RATIO));
            if is_ratio && result.system.is_some() && result.system == body.baseline {
                return Some("the ratio of the baseline to itself is always 1".to_owned());
            }
            let is_boundless =
                |number: &Number| matches!(number, Number::Band(Band { from: None, to: None, .. }));
            if let Some((name, _)) = result.numbers.iter().find(|(_, it)| is_boundless(it)) {
                return Some(format!("the band of {name:?} has neither from nor to"));
            }
            let known = if is_average { &OF_AVERAGES[..] } else { &of_series[..] };
            let unknown = result.numbers.keys().find(|name| {
                let is_ratio = |of: &str| body.is_compared(of) && !is_average;
                let is_ratio = name.strip_suffix(RATIO).is_some_and(is_ratio);
                !known.contains(&name.as_str()) && !is_ratio
            })?;
            let known = known.join(", ");
            Some(format!("there is no statistic {unknown:?} here; there are {known}"))
        })
    }

    /// Finds a fault of a link, for each value that is varied.
    fn check_link(&self, link: &Link) -> Result<(), Fault> {
        let body = &self.body;
        let described = link.schedule.as_ref().or(link.path.as_ref());
        let start = described.map_or_else(|| self.at(&link.name), |text| text.span().start);
        let refuse_if = |is_wrong: bool, sentence: &str| {
            refuse_if(is_wrong, start, format!("link: {sentence}"))
        };
        let sentence = format!("{:?} needs a path or a schedule", link.name);
        refuse_if(described.is_none(), &sentence)?;
        let (has_schedule, is_shared) = (link.schedule.is_some(), body.measure == Measure::Shared);
        refuse_if(
            has_schedule && (link.path.is_some() || link.cellular.is_some()),
            "a schedule describes all of it: leave path and cellular out",
        )?;
        refuse_if(has_schedule && is_shared, "measure = \"shared\" takes a path, not a schedule")?;
        let of_cellular = link.packets.is_some() || link.until.is_some();
        let of_cellular = of_cellular || link.direction == Direction::Down;
        let has_packets = (1..=100).contains(&link.packets.unwrap_or(1));
        refuse_if(
            of_cellular && link.cellular.is_none() || !has_packets,
            "packets are 1 to 100; they and until are of cellular opportunities, as is direction",
        )?;
        refuse_if(
            [link.seconds, link.full_seconds, link.until].contains(&Some(0)),
            "a flow runs for at least a second",
        )?;
        let is_varied = link.path.as_ref().is_some_and(|path| path.get_ref().contains(VALUE));
        refuse_if(is_varied && body.values.is_empty(), &format!("{VALUE} needs values"))?;
        let is_study = matches!(body.measure, Measure::Study | Measure::StudyTimeout);
        for value in body.values() {
            let path = link.path(&self.folder, value);
            let path = path.map_err(|error| (start, format!("link: {error}")))?;
            refuse_if(
                is_study && !path.is_of_rtt_and_loss(),
                "measure = \"study\" takes rtt and loss alone, the same both ways",
            )?;
            refuse_if(
                is_shared && !path.has_plain_uplink(link.cellular.is_some()),
                "measure = \"shared\" gives acknowledgments the delay alone: write down.rate, down.loss and so on",
            )?;
            refuse_if(
                path.download.is_some() && body.measure != Measure::Response,
                "a download is beside sessions of measure = \"response\" only",
            )?;
        }
        Ok(())
    }
}

fn refuse_if(is_wrong: bool, at: usize, sentence: impl Into<String>) -> Result<(), Fault> {
    if is_wrong { Err((at, sentence.into())) } else { Ok(()) }
}

/// Returns the first item that repeats an earlier one.
fn repeated<T: PartialEq>(items: &[T]) -> Option<&T> {
    items.iter().enumerate().find(|(place, item)| items[..*place].contains(item)).map(|it| it.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::published::ROVE;

    #[test]
    fn every_scenario_that_we_bring_is_read() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/");
        for file in ["train.toml", "controller.toml"].map(|name| folder.to_owned() + name) {
            let text = std::fs::read_to_string(&file).expect("it is there");
            assert_eq!(Scenario::parse("s", &file, &text).err(), None);
        }
        for (name, text) in BUILT_IN {
            if let Err(error) = Scenario::parse(name, name, text) {
                panic!("{error}");
            }
        }
        assert_eq!(Scenario::built_in().count(), BUILT_IN.len());
    }

    #[test]
    fn every_scenario_has_published_results_or_says_why_there_are_none() {
        for Scenario { name, body, .. } in Scenario::built_in() {
            let is_either = body.published.is_empty() == body.unpublished.is_some();
            assert!(is_either, "{name} needs [[published]] or unpublished = \"WHY\"");
        }
    }

    #[test]
    fn a_run_over_a_recorded_link_has_several_starts_and_one_in_real_time_several_seeds() {
        let is_flow = |body: &Body| match body.measure {
            Measure::Flow | Measure::FlowSetting | Measure::Tunnel | Measure::Response => true,
            // A recording's rate does not depend on the place where it begins.
            Measure::Course => body.quantity.as_deref() != Some("capacity"),
            _ => false,
        };
        for Scenario { name, body, .. } in Scenario::built_in() {
            let is_recorded = body.links.iter().any(|link| link.cellular.is_some());
            let is_virtual = body.clock == Clock::Virtual;
            let is_sole = is_recorded && is_virtual && is_flow(&body) && body.seeds < 2;
            assert!(!is_sole, "{name}: one start of a recording decides it");
            let full = body.full_seeds.unwrap_or(body.seeds);
            assert!(is_virtual || full > 1, "{name}: one seed decides it even with --full");
        }
    }

    #[test]
    fn a_number_that_may_be_too_small_may_be_too_large_too() {
        for Scenario { name, body, .. } in Scenario::built_in() {
            let results = body.published.iter().flat_map(|group| &group.results);
            for (statistic, number) in results.flat_map(|result| &result.numbers) {
                let is_open = matches!(
                    number,
                    Number::Band(Band { number: Some(_), from: Some(_), to: None })
                );
                let is_share = statistic.ends_with("(%)");
                assert!(!is_open || is_share, "{name}: {statistic}: any number is enough");
            }
        }
    }

    #[test]
    fn a_comparison_with_another_program_is_a_ratio_within_the_same_runs() {
        for Scenario { name, body, .. } in Scenario::built_in() {
            let ours = body.published.iter().filter(|group| group.paper == ROVE);
            let is_comparison = |group: &&Published| {
                ["Mosh's rules", "stock"].iter().any(|it| group.place.contains(it))
            };
            for result in ours.filter(is_comparison).flat_map(|group| &group.results) {
                let is_ratio = result.numbers.keys().all(|name| name.ends_with(RATIO));
                assert!(is_ratio, "{name}: {:?} are constants", result.numbers);
            }
        }
    }

    const GOOD: &str = "title = \"t\"\nabout = \"a\"\nmeasure = \"response\"\nplot = \"distribution\"\n\
                        systems = [\"rove\"]\nrecordings = [\"fish\"]\nseeds = 1\n[[link]]\nname = \"l\"\npath = \"rtt=1ms\"\n";

    #[test]
    fn a_ratio_may_be_published_where_there_is_a_baseline() {
        let published = "seeds = 1\npublished = [{ paper = \"p\", place = \"1\", results = [{ system = \"rove\", \"mean: ratio\" = 1 }] }]";
        let text = GOOD.replacen("seeds = 1", published, 1);
        let error = Scenario::parse("s", "s.toml", &text).expect_err("no baseline");
        assert!(error.contains("no statistic \"mean: ratio\""), "{error}");
        let both = "systems = [\"rove\", \"mosh-rules\"]";
        let text = text.replacen("systems = [\"rove\"]", both, 1);
        let with = |baseline: &str| {
            let line = format!("seeds = 1\nbaseline = \"{baseline}\"");
            text.replacen("seeds = 1", &line, 1)
        };
        let error = Scenario::parse("s", "s.toml", &with("rove")).expect_err("rove beside rove");
        assert!(error.contains("the baseline to itself"), "{error}");
        let text = with("mosh-rules");
        assert!(Scenario::parse("s", "s.toml", &text).is_ok());
        let text = text.replacen("mean: ratio", "median: ratio", 1);
        assert!(Scenario::parse("s", "s.toml", &text).is_err());
    }

    #[test]
    fn a_part_of_a_link_that_its_measure_leaves_out_is_refused() {
        let refused = |measure: &str, system: &str, link: &str, more: &str| {
            let text = format!(
                "title = \"t\"\nabout = \"a\"\nmeasure = \"{measure}\"\nplot = \"distribution\"\nsystems = [\"{system}\"]\n\
                 recordings = [\"fish\"]\n{more}[[link]]\nname = \"l\"\n{link}\n"
            );
            Scenario::parse("s", "s.toml", &text).err()
        };
        let traffic = "[traffic]\nsenders = 2\nmean-pause = \"1s\"\nlength = \"9s\"\n";
        for (link, word) in [
            ("path = \"rtt=1ms,loss=2%\"", None),
            ("path = \"rtt=1ms,rate=1M\"", Some("rtt and loss")),
            ("path = \"rtt=9ms,jitter=1ms\"", Some("rtt and loss")),
            ("path = \"rtt=1ms,up.loss=2%\"", Some("rtt and loss")),
            ("path = \"rtt=1ms\"\ncellular = \"any\"", Some("rtt and loss")),
            ("schedule = \"FILE\"", Some("rtt and loss")),
        ] {
            let error = refused("study", "known-reference", link, "");
            let is_so =
                error.as_ref().map_or(word.is_none(), |it| it.contains(word.unwrap_or("?")));
            assert!(is_so, "{link}: {error:?}");
        }
        let error = refused("shared", "cubic", "schedule = \"FILE\"", traffic);
        assert!(error.as_ref().is_some_and(|it| it.contains("schedule")), "{error:?}");
        for (words, is_right) in [
            ("rtt=9ms,jitter=1ms,order=loss-delay-queue,down.rate=1M,down.loss=1%", true),
            ("rtt=1ms,down.queue=9p\"\ncellular = \"any", true),
            ("rtt=1ms,rate=1M", false),
            ("rtt=1ms,up.loss=2%", false),
            ("rtt=1ms,uplink=FILE", false),
        ] {
            let error = refused("shared", "cubic", &format!("path = \"{words}\""), traffic);
            let is_so = error.as_ref().map_or(is_right, |it| !is_right && it.contains("down.rate"));
            assert!(is_so, "{words}: {error:?}");
        }
    }

    #[test]
    fn a_mistake_is_named_with_its_line() {
        assert!(Scenario::parse("s", "s.toml", GOOD).is_ok());
        for (from, to, line, words) in [
            ("rtt=1ms", "rtt=x", 10, "link"),
            ("response", "speed", 3, "unknown variant"),
            ("title", "name", 1, "unknown field"),
            ("[\"rove\"]", "[\"telnet\"]", 5, "unknown system `telnet`, expected the file"),
            ("[\"rove\"]", "[\"roev\"]", 5, "did you mean `rove`? unknown system"),
            ("[\"rove\"]", "[\"no.dna\"]", 5, "cannot read ./no.dna"),
            ("seeds", "seds", 7, "did you mean `seeds`? unknown field"),
            ("[\"rove\"]", "[]", 3, "needs systems"),
            ("[\"rove\"]", "[\"rove\", \"rove\"]", 5, "rove is there twice"),
            ("seeds = 1", "values = [1, 2, 1]", 7, "1 is there twice"),
            (
                "rtt=1ms\"",
                "rtt=1ms\"\n[[link]]\nname = \"l\"\npath = \"rtt=2ms\"",
                11,
                "\"l\" is there twice",
            ),
            ("\"l\"", "\"l\\nm\"", 8, "a name has no line break"),
            ("fish", "cat", 6, "no recording"),
            ("seeds = 1", "seeds = 0", 7, "seeds are from 1"),
            ("seeds = 1", "seeds = 1\nfull-seeds = 0", 7, "seeds are from 1"),
            (
                "seeds = 1",
                "seeds = 1\npublished = [{ paper = \"p\", place = \"1\", results = [{ system = \"rove\" }] }]",
                8,
                "no number",
            ),
            (
                "seeds = 1",
                "seeds = 1\npublished = [{ paper = \"p\", place = \"1\", results = [{ system = \"rove\", mean = { number = 3 } }] }]",
                8,
                "neither from nor to",
            ),
            ("rtt=1ms\"", "rtt=1ms\"\nuntil = 9", 10, "until"),
            ("rtt=1ms\"", "rtt=1ms\"\ndirection = \"down\"", 10, "direction"),
            ("plot =", "plot", 4, ""),
            ("rtt=1ms", "rtt={value}ms", 10, "{value} needs values"),
            ("[\"rove\"]", "[\"known-reference\"]", 5, "no system lambda 1 of its own"),
            ("seeds = 1", "baseline = \"mosh-rules\"", 7, "one of the systems"),
            ("[\"rove\"]", "[\"mosh\"]", 5, "does not run by the virtual clock"),
            ("plot =", "downloads = 1\nplot =", 4, "downloads needs clock"),
            ("plot =", "clock = \"real\"\nkeys = -1\nplot =", 5, ""),
            (
                "seeds = 1",
                "seeds = 1\npublished = [{ paper = \"p\", place = \"1\", results = [{ system = \"rove\", speed = 1 }] }]",
                8,
                "there are median",
            ),
            (
                "seeds = 1",
                "seeds = 1\npublished = [{ paper = \"p\", place = \"1\", results = [{ system = \"mosh-rules\", mean = 1 }] }]",
                8,
                "that the scenario has not",
            ),
        ] {
            let text = GOOD.replacen(from, to, 1);
            let error = Scenario::parse("s", "s.toml", &text).expect_err(to);
            assert!(error.starts_with(&format!("s.toml:{line}: ")), "{error}");
            assert!(error.contains(words), "{error}");
        }
        let text = GOOD.replacen("distribution", "use-by-time", 1)
            + "[[link]]\nname = \"L\"\npath = \"rtt=1ms\"\n";
        let error = Scenario::parse("s", "s.toml", &text).expect_err("one file for both");
        assert!(error.contains("the picture s.l.svg is there twice"), "{error}");
    }
}
