//! The path between the two sides, as a command line describes it.

use core::str::FromStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path as FilePath, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use rove_link::{Distribution, LinkConfig, Schedule, Steps, Trace};
use rove_units::{Bytes, Duration, Instant, Seed};

use crate::path::parts::Parts;
use crate::path::schedule::StepSchedule;

mod parts;
mod schedule;

/// Longest round-trip time of a path. Chosen: longer than any that somebody would type on.
const RTT_MAX: Duration = Duration::from_secs(60);

/// Largest file of delivery opportunities, in bytes. Chosen: beyond the largest known, and enough for the most
/// opportunities that are read.
const TRACE_BYTES_MAX: u64 = 32 << 20;

/// Largest file of a schedule, in bytes. Chosen: enough for the most steps that are read.
const SCHEDULE_BYTES_MAX: u64 = 4 << 20;

/// The seed with which a run starts at the first recorded delivery opportunity. Other seeds start it at a random one.
const FIRST_SEED: Seed = Seed::new(1);

/// A path: one link in each direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The path's description, as it was given.
    pub text: String,
    /// The link from the near end to the far end.
    pub uplink: LinkConfig,
    /// The link from the far end to the near end.
    pub downlink: LinkConfig,
    /// Files of delivery opportunities: of the uplink, and of the downlink.
    files: [Option<PathBuf>; 2],
    /// The window of a bulk download that shares the path with a session in virtual time.
    pub download: Option<Bytes>,
    /// The file of a schedule.
    schedule_file: Option<PathBuf>,
    /// Steps of both directions, which replace `uplink` and `downlink`.
    schedule: Option<StepSchedule>,
}

impl Path {
    /// Reads the files of delivery opportunities, or that of a schedule.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read, or holds no opportunities or no schedule.
    pub fn load(&mut self) -> Result<()> {
        if let Some(file) = &self.schedule_file {
            let shown = file.display();
            let schedule = StepSchedule::parse(&read(file, SCHEDULE_BYTES_MAX)?)
                .map_err(|sentence| anyhow!("{shown} is no schedule of a link: {sentence}"))?;
            for link in [&mut self.uplink, &mut self.downlink] {
                let first = schedule.first();
                *link = LinkConfig { overhead: link.overhead, ..first };
            }
            self.schedule = Some(schedule);
        }
        for (file, link) in self.files.iter().zip([&mut self.uplink, &mut self.downlink]) {
            let Some(file) = file else { continue };
            let trace: Trace = read(file, TRACE_BYTES_MAX)?.parse().with_context(|| {
                format!("{} is no list of delivery opportunities", file.display())
            })?;
            link.schedule = Some(Schedule::new(trace));
        }
        Ok(())
    }

    /// Returns the files that [`Self::load`] reads: the opportunities of the uplink and of the downlink, or a schedule.
    pub fn files_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        self.files.iter_mut().chain([&mut self.schedule_file]).flatten()
    }

    /// Returns the links of a run that begins at `now`. Schedules, outages and periods begin at that time. With seed 1,
    /// recorded opportunities begin at the first one, and with any other seed at a random one.
    pub fn links(&self, now: Instant, seed: Seed) -> [Steps; 2] {
        if let Some(schedule) = &self.schedule {
            return [&self.uplink, &self.downlink].map(|link| schedule.steps(now, link.overhead));
        }
        [("uplink.trace", &self.uplink), ("downlink.trace", &self.downlink)].map(|(name, link)| {
            let mut link = link.clone();
            link.drops.start = now;
            if let Some(schedule) = &mut link.schedule {
                let share = if seed == FIRST_SEED { 0.0 } else { seed.stream(name).at(0).unit() };
                schedule.start = now;
                schedule.skipped = schedule.trace.period().mul_f64(share);
            }
            link.into()
        })
    }

    /// Returns a path without delay, loss or limit.
    pub fn wire() -> Self {
        let link = LinkConfig::default();
        Self {
            text: String::new(),
            uplink: link.clone(),
            downlink: link,
            files: [None, None],
            download: None,
            schedule_file: None,
            schedule: None,
        }
    }

    /// Returns the path for packets that already include their headers, as in an emulator. The links add no headers.
    pub fn of_whole_packets(mut self) -> Self {
        (self.uplink.overhead, self.downlink.overhead) = (Bytes::ZERO, Bytes::ZERO);
        self
    }

    /// Returns whether the path has a delay and a loss, the same both ways, and nothing else.
    pub fn is_of_rtt_and_loss(&self) -> bool {
        let LinkConfig { delay, loss, overhead, .. } = self.uplink;
        let plain = LinkConfig { delay, loss, overhead, ..LinkConfig::default() };
        [&self.uplink, &self.downlink] == [&plain; 2]
            && self.files == [None, None]
            && self.schedule_file.is_none()
    }

    /// Returns whether the uplink has the path's delay and nothing else, except maybe a file of opportunities.
    pub fn has_plain_uplink(&self, may_have_file: bool) -> bool {
        let LinkConfig { order, delay, jitter, jitter_distribution, reorder, overhead, .. } =
            self.uplink;
        let plain = LinkConfig { order, delay, jitter, ..LinkConfig::default() };
        self.uplink == LinkConfig { jitter_distribution, reorder, overhead, ..plain }
            && (may_have_file || self.files[0].is_none())
    }

    /// Returns the links on which a session starts up. They have the path's delay, but lose and queue nothing.
    pub fn settling(&self) -> [LinkConfig; 2] {
        [&self.uplink, &self.downlink].map(|link| LinkConfig {
            delay: link.delay,
            jitter: link.jitter,
            ..LinkConfig::default()
        })
    }
}

impl FromStr for Path {
    type Err = String;

    /// Reads `rtt=500ms,jitter=30ms,loss=5%,rate=1Mbit,queue=64k`, each part at most once.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = Parts::default();
        for part in text.split(',') {
            let (name, value) = part.split_once('=').ok_or_else(|| {
                format!("{part:?} is no part of a link, such as rtt=500ms or loss=5%")
            })?;
            parts.read(name, value)?;
        }
        if parts.schedule.is_some() && text.contains(',') {
            return Err("a schedule describes the whole link: nothing else goes with it".to_owned());
        }
        let (rtt, jitter) = (parts.rtt.unwrap_or_default(), parts.jitter.unwrap_or_default());
        if rtt > RTT_MAX {
            return Err("rtt is at most one minute".to_owned());
        }
        // Uniform jitter only lengthens a delay. Normal jitter shortens it as often.
        let (delay, jitter) = match parts.distribution.unwrap_or_default() {
            Distribution::Uniform => ((rtt / 2).checked_sub(jitter), jitter * 2),
            Distribution::Normal => (Some(rtt / 2), jitter),
        };
        let delay = delay.ok_or(
            "jitter is at most half of rtt: a datagram that is early by it cannot arrive before it \
             was sent",
        )?;
        for way in &parts.ways {
            if way.rate.is_some() && way.trace.is_some() {
                return Err(
                    "a bottleneck has a rate or recorded opportunities, not both".to_owned()
                );
            }
            if way.burst.is_some() && way.rate.is_none() {
                return Err("a burst is that of a rate: give both, or neither".to_owned());
            }
        }
        let overhead = rove_headless::HEADERS;
        let [uplink, downlink] = [0, 1].map(|way| LinkConfig {
            delay,
            jitter,
            overhead,
            ..parts.link(&parts.ways[way])
        });
        let (download, schedule_file) = (parts.download, parts.schedule);
        let files = parts.ways.map(|way| way.trace);
        let text = text.to_owned();
        Ok(Self { text, uplink, downlink, files, download, schedule_file, schedule: None })
    }
}

/// Reads a file of bounded length.
fn read(file: &FilePath, bytes_max: u64) -> Result<String> {
    let shown = file.display();
    let input = File::open(file).with_context(|| format!("cannot open {shown}"))?;
    let mut text = String::new();
    let read = input.take(bytes_max + 1).read_to_string(&mut text);
    read.with_context(|| format!("cannot read {shown}"))?;
    let is_whole = u64::try_from(text.len()).is_ok_and(|len| len <= bytes_max);
    ensure!(is_whole, "{shown} is longer than {bytes_max} bytes");
    Ok(text)
}

#[cfg(test)]
mod tests {
    use rove_link::{Discipline, DropCause, GilbertElliott, Link, Order};
    use rove_units::BitRate;

    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_path_is_read_and_jitter_is_around_the_delay() {
        let path: Path = "rtt=500ms,jitter=30ms,loss=5%,rate=1Mbit,queue=64k".parse().unwrap();
        assert_eq!(path.uplink, path.downlink);
        assert_eq!((path.uplink.delay, path.uplink.jitter), (ms(220), ms(60)));
        assert!((path.uplink.loss - 0.05).abs() < 1e-9);
        assert_eq!(path.uplink.rate, BitRate::from_bits_per_second(1_000_000));
        assert_eq!(path.uplink.queue_max, Bytes::kib(64));
        let [settling, _] = path.settling();
        assert_eq!((settling.delay, settling.jitter, settling.rate), (ms(220), ms(60), None));
        assert!(settling.loss.abs() < 1e-9);
    }

    #[test]
    fn each_direction_may_have_stages_of_its_own() {
        let text = "rtt=80ms,jitter=5ms,distribution=normal,reorder=yes,order=delay-queue-loss,up.loss=1%,\
                    down.ge=1%/25%/100%/0%,down.rate=8Mbit,down.burst=3k,down.queue=100p,down.discipline=codel,\
                    up.outage=1s-2s+4s-5s,down.onoff=5s/1s,duplicate=2%,uplink=FILE";
        let path: Path = text.parse().unwrap();
        assert_eq!((path.uplink.delay, path.uplink.jitter), (ms(40), ms(5)));
        assert_eq!((path.uplink.order, path.uplink.reorder), (Order::DelayQueueLoss, true));
        assert_eq!((path.uplink.loss, path.downlink.loss), (0.01, 0.0));
        assert_eq!((path.uplink.duplicate, path.downlink.duplicate), (0.02, 0.02));
        let bursts = GilbertElliott { p_bad: 0.01, p_good: 0.25, loss_bad: 1.0, loss_good: 0.0 };
        let by_length: Path = "bursts=10%/4".parse().expect("a path");
        let model = by_length.uplink.drops.gilbert_elliott.expect("bursts");
        let bad = model.p_bad / (model.p_bad + model.p_good);
        assert!((bad - 0.1).abs() < 1e-9 && (model.p_good - 0.25).abs() < 1e-9);
        assert_eq!((model.loss_bad, model.loss_good), (1.0, 0.0));
        for text in ["bursts=10%", "bursts=10%/0", "bursts=100%/4", "bursts=x/4", "bursts=60%/1"] {
            assert!(text.parse::<Path>().is_err(), "{text}");
        }
        assert_eq!(path.downlink.drops.gilbert_elliott, Some(bursts));
        assert_eq!((path.uplink.rate, path.downlink.burst), (None, Some(Bytes::kib(3))));
        assert_eq!(path.downlink.queue_packets_max, 100);
        assert!(matches!(path.downlink.queue, Discipline::CoDel(_)));
        assert!(path.uplink.drops.outages.covers(Instant::from_millis(4_500)));
        assert!(!path.uplink.drops.outages.covers(Instant::from_millis(3_500)));
        assert!(path.downlink.drops.on_off.is_some() && path.uplink.drops.on_off.is_none());
        assert_eq!(path.files, [Some("FILE".into()), None]);
        assert_eq!(path.of_whole_packets().uplink.overhead, Bytes::ZERO);
    }

    #[test]
    fn a_direction_may_drop_what_is_larger_than_its_mtu() {
        let Path { uplink, downlink, .. } = "rtt=50ms,down.mtu=1280".parse().unwrap();
        assert_eq!([uplink.drops.mtu, downlink.drops.mtu], [None, Some(Bytes::new(1_280))]);
    }

    #[test]
    fn jitter_is_at_most_the_delay() {
        assert_eq!("rtt=60ms,jitter=30ms".parse::<Path>().unwrap().uplink.delay, ms(0));
        assert!("rtt=60ms,jitter=31ms".parse::<Path>().is_err());
        assert!("rtt=60s".parse::<Path>().is_ok());
        assert!("rtt=60001ms".parse::<Path>().is_err());
    }

    #[test]
    fn recorded_opportunities_begin_with_the_run() {
        let mut path: Path = "rtt=120ms".parse().unwrap();
        let trace: Trace = "1\n1000".parse().unwrap();
        path.uplink.schedule = Some(Schedule::new(trace));
        let skipped_at = |seed| {
            let [uplink, downlink] = path.links(Instant::from_millis(7), Seed::new(seed));
            assert_eq!(downlink.first().schedule, None);
            let schedule = uplink.first().schedule.clone().unwrap();
            assert_eq!(schedule.start, Instant::from_millis(7));
            schedule.skipped
        };
        assert_eq!(skipped_at(1), Duration::ZERO);
        assert_ne!(skipped_at(2), skipped_at(3));
        assert!((2..100).all(|seed| skipped_at(seed) < ms(1000)));
    }

    #[test]
    fn outages_and_periods_begin_with_the_run() {
        let path: Path = "rtt=20ms,up.outage=1s-3s,down.intermittent=2s/1s".parse().unwrap();
        let begin = Instant::from_millis(700);
        let links = path.links(begin, Seed::new(1));
        let lost = links.map(|steps| {
            let mut link = Link::new(steps, Seed::new(1).stream("link"));
            [250, 750, 1_250, 1_750, 2_250, 2_750].map(|millis| {
                link.handle_packet(begin + ms(millis), Vec::new());
                link.stats().dropped_by(DropCause::Outage)
            })
        });
        assert_eq!(lost, [[0, 0, 1, 2, 3, 4], [0, 0, 0, 0, 1, 2]]);
    }

    #[test]
    fn a_schedule_stands_for_the_whole_path() {
        let mut path: Path = "schedule=FILE".parse().unwrap();
        assert!(path.load().unwrap_err().to_string().contains("cannot open FILE"));
        let file = std::env::temp_dir().join(format!("rove-lab-schedule-{}", std::process::id()));
        std::fs::write(&file, r#"[{"delay_ms": 30, "duration_s": 1}, {"loss_pct": 5}]"#).unwrap();
        path.schedule_file = Some(file.clone());
        path.load().unwrap();
        std::fs::remove_file(&file).unwrap();
        let [settling, _] = path.settling();
        assert_eq!(settling.delay, ms(30));
        let [uplink, downlink] = path.links(Instant::ZERO, Seed::new(1));
        assert_eq!(uplink, downlink);
        assert_eq!(uplink.first().overhead, Bytes::new(14 + 28), "Ethernet, IP and UDP");
        let [whole, _] = path.of_whole_packets().links(Instant::ZERO, Seed::new(1));
        assert_eq!(whole.first().overhead, Bytes::new(14));
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for text in [
            "",
            "rtt",
            "rtt=",
            "rtt=x",
            "rtt=1,rtt=2",
            "speed=3",
            "loss=101%",
            "loss=-1",
            "loss=x",
            "rate=0",
            "queue=-1",
            "rtt=1,,loss=0",
            "up.rtt=1",
            "sideways.loss=1%",
            "loss=1%,up.loss=2%",
            "burst=2k",
            "rate=1M,uplink=x",
            "queue=0p",
            "queue=16777217p",
            "ge=1%/2%/3%",
            "outage=5s",
            "outage=5s-4s",
            "outage=5s-9s+8s-10s",
            "onoff=0s/1s",
            "intermittent=1s",
            "distribution=flat",
            "order=delay",
            "reorder=maybe",
            "discipline=red",
            "schedule=x,rtt=1ms",
            "up.schedule=x",
        ] {
            assert!(text.parse::<Path>().is_err(), "{text}");
        }
    }
}
