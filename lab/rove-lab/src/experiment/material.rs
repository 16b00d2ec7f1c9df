//! Material of experiments: recorded sessions and recorded links, or stand-ins for missing recordings.

use std::collections::BTreeSet;
use std::fs;
use std::io::BufReader;
use std::path::{Path as FilePath, PathBuf};

use anyhow::{Context, Result};
use rove_flows::path::Path;
use rove_link::Synthetic;
use rove_replay::trace::Trace;
use rove_runs::files::write_whole;
use rove_units::{Bytes, Duration, Seed};
use sha2::{Digest, Sha256};

use crate::experiment::catalogue;
use crate::experiment::conditions::Recording;
use crate::experiment::link::{Direction, Link};
use crate::experiment::measure::shared::{is_published, table_of};
use crate::experiment::scenario::Scenario;
use crate::experiment::system::System;
use crate::link_trace::cut;

/// The random link that replaces a missing recorded one. Its mean rate is that of the public LTE traces.
const STAND_IN: Synthetic = Synthetic {
    start: Some(400.0),
    rate_max: 1_000.0,
    volatility: 200.0,
    outage_mean: Duration::from_millis(300),
    length: Duration::from_secs(120),
};

/// The directories of recordings of others, and of their stand-ins.
#[derive(Clone, Debug)]
pub(crate) struct Material {
    /// The directory of recordings, or one with the directories `keys` and `links` in it.
    pub(crate) traces: Option<PathBuf>,
    /// The directory of congestion controllers that others have published.
    pub(crate) tables: Option<PathBuf>,
    /// The directory into which random links, the substitutes for recorded ones, are written.
    pub(crate) drawn: PathBuf,
}

impl Material {
    /// Returns the recordings of a scenario, and a text on how they differ from the wanted ones, if they do.
    ///
    /// # Errors
    ///
    /// Returns an error if a recording that is there cannot be read.
    pub(crate) fn recordings(
        &self,
        scenario: &Scenario,
        is_full: bool,
    ) -> Result<(Vec<Recording>, Option<String>)> {
        let (mut found, mut absent) = (Vec::new(), Vec::new());
        for name in scenario.body.wanted(is_full) {
            let Some(file) = self.find("keys", &format!("{name}.jsonl")) else {
                absent.push(name.as_str());
                continue;
            };
            let shown = file.display();
            let input = fs::File::open(&file).with_context(|| format!("cannot open {shown}"))?;
            let trace = Trace::read(BufReader::new(input)).with_context(|| format!("{shown}"))?;
            found.push(Recording { name: name.clone(), trace });
        }
        if found.is_empty() {
            let own = scenario.body.recordings.iter();
            let own = own.filter_map(|name| catalogue::recording(name)).collect();
            return Ok((own, Some("the laboratory's own recordings".to_owned())));
        }
        let absent = absent.join(", ");
        Ok((found, (!absent.is_empty()).then(|| format!("the recordings but {absent}"))))
    }

    /// Returns the names of the files of others that a scenario uses, each with the first digits of its SHA-256.
    pub(crate) fn digests(&self, scenario: &Scenario, is_full: bool) -> Vec<String> {
        let body = &scenario.body;
        let keys = body.wanted(is_full).iter().map(|name| ("keys", format!("{name}.jsonl")));
        let cellular = body.links.iter().filter_map(|link| link.cellular.as_ref());
        let links =
            cellular.flat_map(|name| ["up", "down"].map(|way| ("links", format!("{name}.{way}"))));
        let files: BTreeSet<_> = keys.chain(links).collect();
        let recorded = files.into_iter().filter_map(|(kind, name)| {
            let bytes = fs::read(self.find(kind, &name)?).ok()?;
            Some((name, bytes))
        });
        let mut systems: Vec<System> = Vec::new();
        for system in body.running().filter(|system| is_published(*system)) {
            systems.extend((!systems.contains(&system)).then_some(system));
        }
        let tables = systems.into_iter().filter_map(|it| table_of(it, self.tables.as_deref()));
        let tables = tables.map(|(name, bytes)| (name.to_owned(), bytes));
        let digest = |(name, bytes): (String, Vec<u8>)| {
            let hash = Sha256::digest(bytes);
            let digits: String = hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
            format!("{name} {digits}")
        };
        recorded.chain(tables).map(digest).collect()
    }

    /// Returns the path of a scenario's link, and false if random opportunities replace recorded ones. The link's files
    /// are in `folder`, and `value` replaces `{value}` in the path.
    ///
    /// # Errors
    ///
    /// Returns an error if recorded opportunities cannot be read, or drawn ones not be written.
    pub(crate) fn path(
        &self,
        link: &Link,
        folder: &FilePath,
        value: Option<f64>,
    ) -> Result<(Path, bool)> {
        let mut path = link.path(folder, value)?;
        let mut is_recorded = true;
        if let Some(name) = &link.cellular {
            let endings = match link.direction {
                Direction::Up => ["up", "down"],
                Direction::Down => ["down", "up"],
            };
            for (place, ending) in path.files_mut().zip(endings) {
                *place = match self.find("links", &format!("{name}.{ending}")) {
                    Some(file) => file,
                    None => {
                        is_recorded = false;
                        self.draw(ending)?
                    }
                };
            }
        }
        path.load()?;
        for way in [&mut path.uplink, &mut path.downlink] {
            if let Some(schedule) = &mut way.schedule {
                let packet = schedule.opportunity.get();
                schedule.opportunity = Bytes::new(packet * link.packets.unwrap_or(1));
                if let Some(until) = link.until {
                    let until = Duration::from_secs(until);
                    schedule.trace = cut(&schedule.trace, Duration::ZERO, until)?;
                }
            }
        }
        Ok((path, is_recorded))
    }

    /// Finds a file in the directory of recordings, or in its subdirectory `kind`.
    fn find(&self, kind: &str, file: &str) -> Option<PathBuf> {
        let traces = self.traces.as_ref()?;
        [traces.join(kind).join(file), traces.join(file)].into_iter().find(|file| file.is_file())
    }

    /// Writes one direction of the random link to a file, unless the file has this content already. Returns the file.
    fn draw(&self, ending: &str) -> Result<PathBuf> {
        let file = self.drawn.join(format!("drawn.{ending}"));
        let trace = STAND_IN.trace(Seed::new(1).stream(ending)).context("drawing a link")?;
        let lines: String = trace.times().map(|time| format!("{}\n", time.as_millis())).collect();
        if fs::read_to_string(&file).is_ok_and(|text| text == lines) {
            return Ok(file);
        }
        write_whole(&file, &lines)?;
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use rove_flows::flow::contender::Contender;

    use super::*;
    use crate::experiment::conditions::Conditions;
    use crate::experiment::measure::{END_TO_END, Measure};

    #[test]
    fn an_opportunity_carries_as_many_packets_as_the_link_says() {
        let name = format!("rove-lab-opportunities-{}", std::process::id());
        let drawn = std::env::temp_dir().join(name);
        fs::create_dir_all(&drawn).expect("a folder");
        let material = Material { traces: None, tables: None, drawn: drawn.clone() };
        let opportunity = |more: &str| {
            let text = format!("name = \"l\"\npath = \"rtt=50ms\"\ncellular = \"any\"\n{more}");
            let link: Link = toml::from_str(&text).expect("a link");
            let (path, is_recorded) =
                material.path(&link, FilePath::new(""), None).expect("a path");
            assert!(!is_recorded);
            path.downlink.schedule.expect("opportunities").opportunity
        };
        let one = opportunity("");
        let kept = drawn.join("drawn.up");
        fs::set_permissions(&kept, fs::Permissions::from_mode(0o400)).expect("it is there");
        let three = opportunity("packets = 3");
        let mode = fs::metadata(&kept).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o400, "a drawn link that is there is not written again");
        assert_eq!(three.get(), 3 * one.get());
        fs::remove_dir_all(&drawn).expect("it is ours");
    }

    #[test]
    fn no_seed_meets_the_part_of_a_recording_after_its_cut() {
        let traces = std::env::temp_dir().join(format!("rove-lab-cut-{}", std::process::id()));
        fs::create_dir_all(&traces).expect("a folder");
        // 100 opportunities a second, but for a gap from the tenth to the twentieth second.
        let times = (0..10_000_u32).chain(20_000..30_000).step_by(10).skip(1);
        let lines: String = times.map(|time| format!("{time}\n")).collect();
        for way in ["up", "down"] {
            fs::write(traces.join(format!("gap.{way}")), &lines).expect("a file");
        }
        let text = "name = \"l\"\npath = \"rtt=50ms\"\ncellular = \"gap\"\nuntil = 10\n";
        let link: Link = toml::from_str(text).expect("a link");
        let material =
            Material { traces: Some(traces.clone()), tables: None, drawn: traces.clone() };
        let (path, _) = material.path(&link, FilePath::new(""), None).expect("a path");
        for seed in 1..=6 {
            let (system, path) = (Some(System::Flow(Contender::Vegas)), Some(&path));
            let conditions = Conditions { system, path, seed, ..Conditions::NONE };
            let samples = Measure::Flow.run(&conditions).expect("a run");
            assert!(samples.figures[END_TO_END] < 1_000_000_000, "seed {seed}: {samples:?}");
        }
        fs::remove_dir_all(&traces).expect("it is ours");
    }

    #[test]
    fn the_long_profile_may_want_more_recordings() {
        let name = format!("rove-lab-wanted-{}", std::process::id());
        let traces = std::env::temp_dir().join(name);
        fs::create_dir_all(&traces).expect("a folder");
        for name in ["one", "two"] {
            let size = "{\"t\":0.0,\"dir\":\"size\",\"cols\":80,\"rows\":24}\n";
            fs::write(traces.join(format!("{name}.jsonl")), size).expect("a file");
        }
        let material =
            Material { traces: Some(traces.clone()), tables: None, drawn: traces.clone() };
        let text = "title = \"t\"\nabout = \"a\"\nmeasure = \"host-response\"\nplot = \"distribution\"\n\
                    recordings = [\"fish\"]\nwanted = [\"one\"]\n";
        let names = |text: &str, is_full| {
            let scenario = Scenario::parse("s", "s.toml", text).expect("a scenario");
            let (recordings, stand_in) =
                material.recordings(&scenario, is_full).expect("they are there");
            assert_eq!(stand_in, None);
            assert_eq!(material.digests(&scenario, is_full).len(), recordings.len());
            recordings.into_iter().map(|it| it.name).collect::<Vec<_>>()
        };
        assert_eq!([false, true].map(|is_full| names(text, is_full)), [["one"], ["one"]]);
        let more = format!("{text}full-wanted = [\"one\", \"two\"]\n");
        assert_eq!(names(&more, false), ["one"]);
        assert_eq!(names(&more, true), ["one", "two"]);
        fs::remove_dir_all(&traces).expect("it is ours");
    }
}
