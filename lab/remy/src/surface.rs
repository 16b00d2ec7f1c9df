//! Surface: draws the actions of a table by two signals, as a picture.
//!
//! In most cases, packets arrive with the same gaps with which they were sent. The averages of both gaps are then
//! equal, and are the horizontal axis. The vertical axis is the ratio of round trips. Each panel shows a part of an
//! action, with large values dark.

use anyhow::{Result, anyhow};
use plotters::prelude::*;
use rove_congestion::remy::{Action, Memory, Table};
use rove_runs::statistics::whole;

/// The picture's size, in pixels.
const SIZE: (u32, u32) = (1_100, 400);

/// Cells of a panel along each axis.
const CELLS: u32 = 64;

/// Limits of the horizontal axis, in ms. Chosen: 1 Gbit/s to 10 kbit/s with full packets.
const GAPS: (f64, f64) = (0.01, 1_000.0);

/// Limits of the vertical axis. Chosen: few tables distinguish ratios above this.
const RATIOS: (f64, f64) = (1.0, 4.0);

/// A panel: its title, and a function that returns the part of an action that it shows.
type Panel = (&'static str, fn(&Action) -> f64);

const PANELS: [Panel; 3] = [
    ("window multiple", |action| action.multiple),
    ("window increment (packets)", |action| action.increment as f64),
    ("time between packets (ms)", |action| action.intersend_ms),
];

/// Draws a table as SVG.
///
/// # Errors
///
/// Returns an error if the plotting crate does.
pub(crate) fn draw(table: &Table) -> Result<String> {
    let mut svg = String::new();
    paint(table, &mut svg).map_err(|error| anyhow!("cannot draw the table: {error}"))?;
    Ok(svg)
}

fn paint(table: &Table, svg: &mut String) -> Result<(), Box<dyn core::error::Error>> {
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    for ((title, part), area) in PANELS.iter().zip(root.split_evenly((1, 3))) {
        let values: Vec<f64> = table.rules().iter().map(|rule| part(&rule.action)).collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut chart = ChartBuilder::on(&area)
            .caption(format!("{title}: {least} to {most}"), ("sans-serif", 14))
            .margin(8)
            .x_label_area_size(36)
            .y_label_area_size(40)
            .build_cartesian_2d((GAPS.0..GAPS.1).log_scale(), RATIOS.0..RATIOS.1)?;
        chart
            .configure_mesh()
            .disable_mesh()
            .x_desc("time between packets and acknowledgments (ms)")
            .y_desc("rtt_ratio")
            .draw()?;
        let gap = |cell: u32| GAPS.0 * (GAPS.1 / GAPS.0).powf(f64::from(cell) / f64::from(CELLS));
        let ratio =
            |cell: u32| RATIOS.0 + (RATIOS.1 - RATIOS.0) * f64::from(cell) / f64::from(CELLS);
        for column in 0..CELLS {
            for row in 0..CELLS {
                let corners = [(gap(column), ratio(row)), (gap(column + 1), ratio(row + 1))];
                let [(x, y), (right, top)] = corners;
                let middle = (x * right).sqrt();
                let memory = Memory([middle, middle, f64::midpoint(y, top), middle]);
                let value = part(table.action(&memory));
                let share = if most > least { (value - least) / (most - least) } else { 0.5 };
                chart.draw_series([Rectangle::new(corners, shade(share).filled())])?;
            }
        }
    }
    root.present()?;
    Ok(())
}

/// Returns a colour between a light colour and a dark one.
fn shade(share: f64) -> RGBColor {
    let mix = |light: f64, dark: f64| {
        u8::try_from(whole(light + (dark - light) * share)).unwrap_or(u8::MAX)
    };
    RGBColor(mix(235.0, 0.0), mix(243.0, 60.0), mix(250.0, 110.0))
}
