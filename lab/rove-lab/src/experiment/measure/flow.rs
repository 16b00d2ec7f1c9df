//! A flow of a congestion controller by itself: its throughput, and the delay that it makes.

use anyhow::Result;
use rove_congestion::Begin;
use rove_flows::course::ABSENT;
use rove_flows::flow::controlled::Controlled;
use rove_flows::flow::program::{Limits, Program};
use rove_flows::flow::source::FULL;
use rove_flows::flow::{self, FlowOptions, FlowReport};
use rove_flows::path::Path;
use rove_runs::statistics::whole;
use rove_units::{Duration, Instant, Seed};

use crate::experiment::conditions::{Conditions, RunFigure, Samples};
use crate::experiment::measure::shared::{Controllers, controllers};
use crate::experiment::system::System;

/// Length over a link that has no recorded opportunities. Chosen: the slowest controller has settled in a tenth of it.
const LENGTH: Duration = Duration::from_secs(120);

/// The first part of a flow, which figures leave out. Source: Sprout paper, section 4.2: the first minute.
const SKIPPED: Duration = Duration::from_secs(60);

/// Figures of a run beside its self-inflicted delay.
pub(super) const FIGURES: [RunFigure; 4] = [
    RunFigure { name: "kbit/s", scale: 1e-3, is_compared: true },
    RunFigure { name: "use (%)", scale: 1e-4, is_compared: false },
    RunFigure::of_time("95 % delay"),
    RunFigure { name: "lost (%)", scale: 1e-4, is_compared: false },
];

/// The indices in [`FIGURES`] of the throughput, the utilisation and the end-to-end delay.
pub(in crate::experiment) const THROUGHPUT: usize = 0;
pub(in crate::experiment) const UTILISATION: usize = 1;
pub(in crate::experiment) const END_TO_END: usize = 2;

/// Returns whether the varied value can be a setting of this system's controller.
pub(super) fn has_setting(system: System) -> bool {
    match system {
        System::Flow(contender) => contender.setting().is_some(),
        System::File(file) => file.program(None, Limits::VIRTUAL).is_some(),
        _ => false,
    }
}

/// Runs a flow with the settings of the system's paper or RFC. `setting` replaces one of these settings.
pub(super) fn run(conditions: &Conditions<'_>, setting: Option<f64>) -> Result<Samples> {
    Ok(report(conditions, setting, 0)?.map_or_else(Samples::absent, |(report, program)| {
        samples(&report).unless_faulty(program.as_ref())
    }))
}

/// Runs a flow. Returns its report with `slots` slots, and a controller's program. `None` if the table is missing.
pub(super) fn report(
    conditions: &Conditions<'_>,
    setting: Option<f64>,
    slots: u32,
) -> Result<Option<(FlowReport, Option<Program>)>> {
    let options = options(conditions, conditions.path());
    let slot = if slots == 0 { Duration::ZERO } else { options.length / slots };
    let options = FlowOptions { slot, ..options };
    if let Some(contender) = conditions.system().contender() {
        return Ok(Some((contender.run(setting, options), None)));
    }
    let controllers = controllers(conditions, setting, (Begin::default(), FULL), Limits::VIRTUAL)?;
    Ok(controllers.map(|Controllers { make, program }| {
        (flow::run(Controlled::new(make()), options).0, program)
    }))
}

/// Returns the options of a flow over a path: as long as the conditions say, at most one pass of a recorded link.
pub(in crate::experiment) fn options(conditions: &Conditions<'_>, path: &Path) -> FlowOptions {
    let seed = Seed::new(conditions.seed);
    let [uplink, downlink] = path.links(Instant::ZERO, seed);
    let period = uplink.first().schedule.as_ref().map(|schedule| schedule.trace.period());
    let whole = period.unwrap_or(LENGTH);
    let length = conditions.length.map_or(whole, |length| length.min(whole));
    let skipped = SKIPPED.min(length / 2);
    FlowOptions { uplink, downlink, seed, length, skipped, slot: Duration::ZERO }
}

/// Returns a faulty result for a flow with more arrivals than are kept, and `None` for other flows.
pub(super) fn cut(report: &FlowReport) -> Option<Samples> {
    let fault = "10 million packets arrived, and no more are counted: give the link fewer seconds";
    report.is_cut.then(|| Samples { fault: Some(fault.to_owned()), ..Samples::empty() })
}

/// Returns the figures of a flow as those of a run.
pub(in crate::experiment) fn samples(report: &FlowReport) -> Samples {
    if let Some(cut) = cut(report) {
        return cut;
    }
    // Without a recording of the link, there is no least delay to subtract.
    let delay = report.self_inflicted_ms.or(report.end_to_end_p95_ms);
    let Some((delay, end_to_end)) = delay.zip(report.end_to_end_p95_ms) else {
        return Samples::empty();
    };
    #[expect(clippy::cast_precision_loss, reason = "packets of an hour")]
    let lost = report.lost as f64 / report.sent.max(1) as f64;
    let figures = vec![
        whole(report.bits_per_second),
        report.utilisation.map_or(ABSENT, |share| whole(share * 1e6)),
        whole(end_to_end * 1e6),
        whole(lost * 1e6),
    ];
    Samples { times: vec![whole(delay * 1e6)], missing: 0, figures, ..Samples::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::series::run_figures;
    use rove_flows::flow::contender::Contender;

    fn flow(system: System, path: &str, value: Option<f64>) -> Samples {
        let path: Path = path.parse().expect("a path");
        let length = Some(Duration::from_secs(20));
        let conditions = Conditions {
            system: Some(system),
            path: Some(&path),
            value,
            length,
            ..Conditions::NONE
        };
        run(&conditions, value).expect("a run")
    }

    #[test]
    fn a_flow_of_more_packets_than_are_kept_has_no_figures_and_says_why() {
        let path: Path = "rtt=40ms,rate=12Mbit".parse().expect("a path");
        let length = Some(Duration::from_secs(4));
        let system = Some(System::Flow(Contender::Aimd));
        let conditions = Conditions { system, path: Some(&path), length, ..Conditions::NONE };
        let (report, _) = report(&conditions, None, 0).expect("a run").expect("a report");
        assert_eq!(samples(&report).fault, None);
        let cut = samples(&FlowReport { is_cut: true, ..report });
        assert!(cut.fault.is_some_and(|it| it.contains("fewer seconds")) && cut.times.is_empty());
    }

    #[test]
    fn a_window_has_the_throughput_that_it_sets() {
        // A full packet in each millisecond, 41 ms of round trip.
        let path = "rtt=40ms,rate=12Mbit";
        for (packets, share) in [(10.0, 10.0 / 41.0), (30.0, 30.0 / 41.0), (200.0, 1.0)] {
            let samples = flow(System::Flow(Contender::FixedWindow), path, Some(packets));
            let expected = whole(share * 1e6);
            assert!(samples.figures[UTILISATION].abs_diff(expected) < 2_000, "{samples:?}");
        }
        assert_eq!(flow(System::Flow(Contender::Cubic), path, None).figures.len(), FIGURES.len());
        // This link has no bottleneck, so that its use is unknown.
        let boundless = flow(System::Flow(Contender::FixedWindow), "rtt=40ms", Some(10.0));
        let figures: Vec<_> = run_figures(&FIGURES, &boundless).collect();
        assert_eq!((figures[UTILISATION], figures[THROUGHPUT].is_some()), (None, true));
    }
}
