//! The course of a flow, or of a session with a flood of output. It has figures for each slot of time.

use anyhow::Result;
use rove_flows::course::{
    self, ABSENT, CAPACITY, Come, DELAY, IN_FLIGHT, QUANTITIES, QUEUE, RATE, Slot, Slots,
};
use rove_flows::flow::contender::Contender;
use rove_headless::Program;
use rove_session::Server;
use rove_units::{Bytes, Duration, Instant, Seed, Stream};

use crate::experiment::conditions::{Conditions, RunFigure, Samples};
use crate::experiment::measure::flow;
use crate::experiment::measure::session::session;
use crate::experiment::system::System;

/// Slots of a run. Chosen: as many as a picture can show.
const SLOTS: u32 = 200;

/// Length of a session that the link does not limit. Chosen: some hundred frames.
const SESSION: Duration = Duration::from_secs(20);

/// How often the flood writes, and how many lines. Chosen: five screens in the shortest frame interval.
const WRITE_INTERVAL: Duration = Duration::from_millis(4);
const WRITE_LINES: u64 = 24;

/// The screen row, counted from 0, of the newest whole line.
const NEWEST_ROW: u16 = 22;

/// Figures of a run beside the delay at the end of each slot.
pub(super) const FIGURES: [RunFigure; 6] = [
    RunFigure { name: "rate (kbit/s)", scale: 1e-3, is_compared: true },
    RunFigure { name: "capacity (kbit/s)", scale: 1e-3, is_compared: false },
    RunFigure { name: "in flight", scale: 1e-3, is_compared: false },
    RunFigure { name: "queue (kB)", scale: 1e-3, is_compared: false },
    RunFigure { name: "most queue (kB)", scale: 1e-3, is_compared: false },
    RunFigure::of_time("last delay"),
];

/// Returns the index of a quantity in [`QUANTITIES`], by its name without the unit. The error has the known names.
pub(in crate::experiment) fn quantity(name: &str) -> Result<usize, Vec<&'static str>> {
    let names = QUANTITIES.iter().map(|(name, _)| name.split_once(" (").map_or(*name, |it| it.0));
    let names: Vec<&str> = names.skip(1).collect();
    names.iter().position(|known| *known == name).map(|place| place + 1).ok_or(names)
}

/// Returns whether a system has a course.
pub(super) fn is_measured(system: System) -> bool {
    system.contender() != Some(Contender::CubicTunnel)
        && (system.is_controller() || system.reference().is_none())
}

/// A program that writes lines without end, each with the time and digits that do not compress.
struct Flood {
    next: Instant,
    written: u64,
    digits: Stream,
}

impl Program for Flood {
    fn turn(&mut self, now: Instant, server: &mut Server) {
        while self.next <= now {
            let lines: String = (0..WRITE_LINES)
                .map(|line| {
                    let digits = |place| self.digits.at(3 * (self.written + line) + place).unit();
                    let digits = [0, 1, 2].map(digits).map(|it| format!("{it:.17}")).join(" ");
                    format!("{} {digits}\r\n", now.as_nanos())
                })
                .collect();
            server.handle_host_output(now, lines.as_bytes());
            self.written += WRITE_LINES;
            self.next += WRITE_INTERVAL;
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        Some(self.next)
    }
}

pub(super) fn run(conditions: &Conditions<'_>) -> Result<Samples> {
    if !conditions.system().is_controller() {
        return Ok(samples(of_session(conditions)));
    }
    let report = flow::report(conditions, None, SLOTS)?;
    Ok(report.map_or_else(Samples::absent, |(report, program)| {
        let samples = flow::cut(&report).unwrap_or_else(|| samples(report.course));
        samples.unless_faulty(program.as_ref())
    }))
}

fn of_session(conditions: &Conditions<'_>) -> Vec<Slot> {
    let digits = Seed::new(conditions.seed).stream("flood");
    let flood = Flood { next: Instant::from_millis(1_000), written: 0, digits };
    let mut net = session(conditions, (), flood);
    let length = conditions.length.unwrap_or(SESSION);
    let [_, link] = conditions.path().links(Instant::ZERO, Seed::new(conditions.seed));
    let slots = Slots { length: length / SLOTS, link: &link, is_up: false };
    course::watch(&mut net, length, slots, |net| {
        let line = net.left.row_text(NEWEST_ROW);
        let written = line.split(' ').next().and_then(|word| word.parse().ok());
        let newest = Instant::from_nanos(written.unwrap_or_default());
        Come { newest, bytes: net.left.received.bytes(), window: Bytes::ZERO }
    })
}

fn samples(course: Vec<Slot>) -> Samples {
    let Some(last) = course.last() else { return Samples::empty() };
    let slots = u64::try_from(course.len()).unwrap_or(u64::MAX);
    let of = |place: usize| course.iter().map(move |slot| slot[place]);
    let mean = |place| of(place).sum::<u64>() / slots;
    let in_flight = of(IN_FLIGHT).sum::<u64>() * 1_000 / slots;
    let most = of(QUEUE).max().unwrap_or_default();
    let is_bound = of(CAPACITY).all(|bits| bits != ABSENT);
    let capacity = if is_bound { mean(CAPACITY) } else { ABSENT };
    let figures = vec![mean(RATE), capacity, in_flight, mean(QUEUE), most, last[DELAY]];
    Samples { times: of(DELAY).collect(), figures, course, ..Samples::default() }
}

#[cfg(test)]
mod tests {
    use rove_flows::path::Path;

    use super::*;

    fn course(system: System, path: &str, seconds: u64) -> Samples {
        let path: Path = path.parse().expect("a path");
        let length = Some(Duration::from_secs(seconds));
        let system = Some(system);
        run(&Conditions { system, path: Some(&path), length, ..Conditions::NONE }).expect("a run")
    }

    #[test]
    fn a_session_jumps_to_the_newest_screen_and_a_flow_fills_the_queue() {
        let session = course(System::MoshRules, "rtt=100ms,rate=1Mbit,outage=3s-9s", 10);
        let at = |second: usize| session.course[second * 20 - 1];
        assert!(at(9)[DELAY] > 5_900_000_000, "nothing came: {:?}", at(9));
        assert!(at(2)[RATE] > 100_000 && at(6)[RATE] == 0, "{:?} {:?}", at(2), at(6));
        assert!(at(10)[DELAY] < 500_000_000, "the newest came: {:?}", at(10));
        let flow = course(System::Flow(Contender::Cubic), "rtt=100ms,rate=1Mbit", 10);
        let queue = FIGURES.iter().position(|it| it.name == "most queue (kB)").expect("a figure");
        assert!(flow.figures[queue] > 10 * session.figures[queue], "{flow:?}");
        assert_eq!(session.figures.len(), FIGURES.len());
    }

    #[test]
    fn a_quantity_is_found_by_its_name() {
        assert_eq!([quantity("rate"), quantity("in flight")], [Ok(RATE), Ok(IN_FLIGHT)]);
        assert!(quantity("time").is_err_and(|known| known.contains(&"in flight")));
    }
}
