//! The command line of `rove-lab trace`.

use std::fs;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, ValueHint};
use rove_flows::flow::saturator::{self, Place};
use rove_link::Trace;
use rove_runs::files::{check_writable, write_whole};
use rove_runs::report::{self, Table};
use rove_runs::shown;
use rove_units::{Duration, parse_duration};
use serde::Serialize;

use crate::link_trace::{self, Statistics};

/// The port of the end that listens. Chosen: the one after that of `rove-lab sprout`.
const PORT: u16 = 61_014;

/// Prints statistics of recorded links, cuts, scales and draws them, and records new ones
#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    /// Traces of links
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["call", "listen", "length"])]
    files: Vec<PathBuf>,
    /// Leaves out what is earlier
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    from: Option<Duration>,
    /// Leaves out what is later
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    to: Option<Duration>,
    /// Multiplies the rate
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    scale: f64,
    /// Writes the trace to this file: the only one that is given, or the recording
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    out: Option<PathBuf>,
    /// Draws the rates over time (SVG)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    draw: Option<PathBuf>,
    /// Writes JSON in place of a table
    #[arg(long)]
    json: bool,
    /// Records the way to this computer
    #[arg(long = "receive", requires = "out", conflicts_with_all = ["files", "is_saturating", "from", "to", "scale", "length"])]
    is_receiving: bool,
    /// Saturates the way to the other computer
    #[arg(long = "saturate", conflicts_with_all = ["files", "out", "draw", "json", "from", "to", "scale"])]
    is_saturating: bool,
    /// The other computer, which listens
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "listen")]
    call: Option<SocketAddr>,
    /// Address and port at which a call is waited for
    #[arg(long, value_name = "ADDRESS:PORT", default_value_t = SocketAddr::from((Ipv4Addr::UNSPECIFIED, PORT)))]
    listen: SocketAddr,
    /// How long the way is saturated
    #[arg(long = "for", value_name = "TIME", default_value = "60s", value_parser = parse_duration)]
    length: Duration,
}

#[derive(Serialize)]
struct Row {
    trace: String,
    statistics: Statistics,
}

impl TraceArgs {
    /// Returns a sentence if options exclude each other.
    pub(crate) fn refusal(&self) -> Option<String> {
        let is_remote = self.is_receiving || self.is_saturating;
        let sentence = if self.files.is_empty() && !is_remote {
            "name a FILE, or record one by --receive"
        } else if self.out.is_some() && self.files.len() > 1 {
            "--out takes one FILE at a time"
        } else {
            return None;
        };
        Some(sentence.to_owned())
    }

    /// Prints, changes, draws, records or saturates, as the options ask. A listening end writes its address to `notes`.
    pub(crate) fn run(&self, mut output: impl Write, mut notes: impl Write) -> Result<()> {
        let place = self.call.map_or(Place::Listen(self.listen), Place::Call);
        let mut ready = |own: SocketAddr| {
            let told = match place {
                Place::Call(peer) => writeln!(notes, "calls {peer}"),
                Place::Listen(_) => writeln!(notes, "listens at {own}"),
            };
            told.context("cannot write standard error")
        };
        if self.is_saturating {
            return saturator::saturate(place, self.length, ready);
        }
        for file in [&self.out, &self.draw].into_iter().flatten() {
            check_writable(file)?;
        }
        let traces = if self.is_receiving {
            vec![("recorded".to_owned(), saturator::record(place, &mut ready)?)]
        } else {
            self.files.iter().map(|file| self.read(file)).collect::<Result<_>>()?
        };
        if let (Some(file), [(_, trace)]) = (&self.out, &traces[..]) {
            write_whole(file, &trace.to_string())?;
        }
        if let Some(file) = &self.draw {
            write_whole(file, &link_trace::draw(&traces))?;
        }
        let row = |(trace, of): &(String, Trace)| Row {
            trace: trace.clone(),
            statistics: Statistics::of(of),
        };
        let rows: Vec<Row> = traces.iter().map(row).collect();
        let text = if self.json {
            report::json(&rows)
        } else {
            let cells = rows.iter().map(|row| row.statistics.row(&row.trace));
            Table::new(Statistics::HEADINGS.split(','), cells).text(0)
        };
        shown::written(output.write_all(text.as_bytes()))
    }

    /// Reads a trace, and cuts and scales it as the options say. Returns the file's name and the trace.
    fn read(&self, file: &Path) -> Result<(String, Trace)> {
        let shown = file.display().to_string();
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {shown}"))?;
        let mut trace: Trace =
            text.parse().with_context(|| format!("{shown} is no trace of a link"))?;
        if self.from.is_some() || self.to.is_some() {
            let (from, to) = (self.from.unwrap_or_default(), self.to.unwrap_or(trace.period()));
            trace = link_trace::cut(&trace, from, to).with_context(|| shown.clone())?;
        }
        if self.scale.to_bits() != 1.0_f64.to_bits() {
            trace = link_trace::scaled(&trace, self.scale).with_context(|| shown.clone())?;
        }
        Ok((shown, trace))
    }
}
