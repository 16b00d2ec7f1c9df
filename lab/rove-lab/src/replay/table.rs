//! The summary that a person reads.

use std::io::{self, Write};

use rove_units::Duration;

use crate::replay::figures::{Figures, Latencies, millis, percent};
use crate::replay::flicker::Tally;
use crate::replay::script::Class;

/// Writes the heading of the tables.
///
/// # Errors
///
/// Returns the refusal of the output.
pub(super) fn heading(output: &mut impl Write) -> io::Result<()> {
    writeln!(
        output,
        "{:<22} {:>6} {:>6} | {:>6} {:>6} | {:>6} {:>6} {:>6} {:>6} | {:>7} {:>7} {:>7} | {:>6} {:>6} {:>6} {:>8} | {:>13} {:>4} | {:>16} {:>13} | {:>9} {:>9}",
        "trace",
        "keys",
        "judged",
        "all",
        "typing",
        "char",
        "bksp",
        "arrow",
        "other",
        "p50",
        "p90",
        "p99",
        "wrong",
        "any",
        "color",
        "revealed",
        "corrected",
        "late",
        "flicker",
        "blinks",
        "up",
        "down",
    )
}

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
    write!(
        output,
        "{:<22} {:>6} {:>6} | {:>6} {:>6} | {:>6} {:>6} {:>6} {:>6} | {:>7} {:>7} {:>7} | {:>6} {:>6} {:>6} {:>8} | {:>13} {:>4} | {:>16} {:>13} | {:>9} {:>9}",
        name,
        figures.keys,
        all.count(),
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
        figures.late,
        flicker(|it| it.cells),
        flicker(|it| it.blinks),
        figures.uplink.bytes().get() / figures.runs.max(1) as u64,
        figures.downlink.bytes().get() / figures.runs.max(1) as u64,
    )?;
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
