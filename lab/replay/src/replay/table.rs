//! The summary that a person reads.

use std::io::{self, Write};

use rove_headless::Traffic;
use rove_runs::report::line;
use rove_runs::statistics::percent;
use rove_units::Duration;

use crate::replay::figures::{Figures, Latencies, millis};
use crate::replay::flicker::Tally;
use crate::replay::script::Class;

/// The columns.
pub(super) const LAYOUT: &str = "trace<22 keys>6 judged>6 | all>6 typing>6 | char>6 bksp>6 arrow>6 other>6 | p50>7 p90>7 p99>7 | \
                                 wrong>6 any>6 color>6 revealed>8 | corrected>13 late>4 | flicker>16 blinks>13 | up>9 down>9";

/// Writes the figures of one trace, or of several.
///
/// # Errors
///
/// Returns the refusal of the output.
pub(super) fn row(output: &mut impl Write, name: &str, figures: &Figures) -> io::Result<()> {
    let all = figures.latencies(|_| true);
    let instant = |latencies: &Latencies| {
        if latencies.count() == 0 {
            return "-".to_owned();
        }
        format!("{:.1}%", percent(latencies.instant(), latencies.count()))
    };
    let class = |class: Class| instant(&figures.by_class[class as usize]);
    let share = |count: usize| format!("{:.2}%", percent(count, figures.keys));
    let quantile = |percent: u32| time(&all, percent);
    let corrected = match figures.corrected.count() {
        0 => "-".to_owned(),
        _ => format!("{} / {}", time(&figures.corrected, 50), time(&figures.corrected, 100)),
    };
    let flicker = |count: fn(Tally) -> usize| {
        let tallies = [figures.own_flicker, figures.flicker, figures.local_flicker];
        tallies.map(|tally| count(tally).to_string()).join(" / ")
    };
    let per_run = |traffic: Traffic| traffic.bytes().get() / figures.runs.max(1) as u64;
    let cells = [
        name.to_owned(),
        figures.keys.to_string(),
        all.count().to_string(),
        instant(&all),
        instant(&figures.latencies(Class::is_typing)),
        class(Class::Character),
        class(Class::Backspace),
        class(Class::Arrow),
        class(Class::Other),
        quantile(50),
        quantile(90),
        quantile(99),
        share(figures.wrong),
        share(figures.wrong_any),
        share(figures.wrong_paint),
        share(figures.revealed),
        corrected,
        figures.late.to_string(),
        flicker(|it| it.cells),
        flicker(|it| it.blinks),
        per_run(figures.uplink).to_string(),
        per_run(figures.downlink).to_string(),
    ];
    write!(output, "{}", line(LAYOUT, cells))?;
    if figures.true_ends < figures.runs {
        write!(output, "  {} of {} ended untrue", figures.runs - figures.true_ends, figures.runs)?;
    }
    if figures.unexpected > 0 {
        write!(output, "  {} bytes unexpected", figures.unexpected)?;
    }
    if figures.secrets_shown > 0 {
        write!(output, "  {} of {} SECRET keys shown", figures.secrets_shown, figures.secrets)?;
    }
    writeln!(output)
}

fn time(latencies: &Latencies, percent: u32) -> String {
    let whole = |latency: Duration| format!("{:.0}", millis(latency));
    latencies.quantile(percent).map_or_else(|| "never".to_owned(), whole)
}
