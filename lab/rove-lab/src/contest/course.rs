//! The links of a contest: recorded ones, each direction by itself, or drawn ones.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rove_link::{LinkConfig, Order, Schedule, Synthetic, Trace};
use rove_units::{Duration, Seed};

use crate::flow::FlowOptions;

/// The delay each way. Source: Sprout paper, section 4.2: 20 ms.
const DELAY: Duration = Duration::from_millis(20);

/// The begin that figures leave out. Source: as above: the first minute.
const SKIPPED: Duration = Duration::from_secs(60);

/// Links that are drawn where there are no recorded ones.
const DRAWN: u64 = 4;

/// Largest recorded link, in bytes. Chosen: as many opportunities as are read at all.
const COURSE_BYTES_MAX: u64 = 32 << 20;

/// A link to be sent over, one way.
#[derive(Clone, Debug)]
pub struct Course {
    /// Its name.
    pub name: String,
    /// The flow's options.
    pub options: FlowOptions,
}

impl Course {
    /// Returns all pairs of recorded links NAME.up and NAME.down of a directory, or of `links` in it, in both directions: one lap of
    /// the measured direction, without its first minute.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory or one of its links cannot be read, or there is no pair.
    pub fn recorded(directory: &Path, seed: Seed) -> Result<Vec<Self>> {
        let inner = directory.join("links");
        let directory = if inner.is_dir() { inner } else { directory.to_owned() };
        let shown = directory.display();
        let files = fs::read_dir(&directory).with_context(|| format!("cannot read {shown}"))?;
        let mut ups: Vec<PathBuf> = files
            .filter_map(|file| Some(file.ok()?.path()))
            .filter(|file| file.extension().is_some_and(|it| it == "up"))
            .collect();
        ups.sort();
        let mut courses = Vec::new();
        for up in ups.iter().filter(|up| up.with_extension("down").is_file()) {
            let name = up.file_stem().unwrap_or_default().to_string_lossy();
            let [up, down] = [read(up)?, read(&up.with_extension("down"))?];
            courses.push(Self::new(format!("{name} down"), down.clone(), up.clone(), seed));
            courses.push(Self::new(format!("{name} up"), up, down, seed));
        }
        if courses.is_empty() {
            bail!("{shown} has no recorded link: a pair of files NAME.up and NAME.down");
        }
        Ok(courses)
    }

    /// Returns random links of two minutes, as Sprout takes cellular links for, with shorter outages: those of its constants
    /// are most of a 95 % delay.
    pub fn drawn(seed: Seed) -> Vec<Self> {
        let draw = |number: u64| {
            let outage_mean = Duration::from_millis(300);
            let model = Synthetic { start: Some(400.0), outage_mean, ..Synthetic::default() };
            let trace = |way: &str| {
                let chance = seed.stream(way).fork(number);
                model.trace(chance).expect("two minutes of a bounded rate are a trace")
            };
            Self::new(format!("drawn {}", number + 1), trace("there"), trace("back"), seed)
        };
        (0..DRAWN).map(draw).collect()
    }

    fn new(name: String, there: Trace, back: Trace, seed: Seed) -> Self {
        let length = there.period();
        let link = |trace| LinkConfig {
            schedule: Some(Schedule::new(trace)),
            order: Order::LossDelayQueue,
            overhead: rove_headless::HEADERS,
            ..LinkConfig::lossless(DELAY)
        };
        let skipped = SKIPPED.min(length / 2);
        let [uplink, downlink] = [there, back].map(|trace| link(trace).into());
        Self { name, options: FlowOptions { uplink, downlink, seed, length, skipped } }
    }
}

fn read(file: &Path) -> Result<Trace> {
    let shown = file.display();
    let size = fs::metadata(file).with_context(|| format!("cannot read {shown}"))?.len();
    if size > COURSE_BYTES_MAX {
        bail!("{shown} has {size} bytes, more than any recorded link needs");
    }
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {shown}"))?;
    text.parse().with_context(|| format!("{shown} is no list of delivery opportunities"))
}
