//! The faults of a run, key by key, for developers of an engine.

use std::io::{self, Write};

use rove_terminal::{Position, Screen};
use rove_units::Instant;

use crate::replay::client_end::{Drawing, Notes};
use crate::replay::figures::{INSTANT, millis};
use crate::replay::judge::{Cause, Flicker, Mistake};
use crate::replay::run::Run;
use crate::replay::script::{Key, Script};

/// How many columns of a row are shown around a fault or an answer.
const COLUMNS_SHOWN: u16 = 100;

/// Writes every typing key that was not instant and every wrong drawing, in order of time.
///
/// # Errors
///
/// Returns the I/O error of `output`.
pub(super) fn write(output: &mut impl Write, script: &Script, run: &Run) -> io::Result<()> {
    let Some(notes) = &run.notes else { return Ok(()) };
    let mut drawings = notes.drawings.iter().peekable();
    for number in 0..script.keys.len() {
        slow_key(output, script, run, notes, number)?;
        while let Some(drawing) = drawings.next_if(|drawing| drawing.key == number) {
            wrong(output, script, run, drawing)?;
        }
    }
    flickers(output, run)
}

/// Writes the flickers that the client alone made.
fn flickers(output: &mut impl Write, run: &Run) -> io::Result<()> {
    for Flicker { change, key, .. } in run.flickers.iter().filter(|flicker| flicker.is_ours) {
        let time = change.times[1].saturating_since(run.start).as_secs_f64();
        let key = key.map_or_else(|| "none".to_owned(), |key| key.to_string());
        let (part, old, new) = (change.part, change.old, change.new);
        writeln!(output, "{time:9.3} s  key {key:<4} {part} flickers: {old}, {new}, {old}")?;
    }
    Ok(())
}

fn slow_key(
    output: &mut impl Write,
    script: &Script,
    run: &Run,
    notes: &Notes,
    number: usize,
) -> io::Result<()> {
    let (key, outcome) = (&script.keys[number], &run.outcomes[number]);
    let (Some(after), Some(sent_at)) = (key.after, outcome.sent_at) else { return Ok(()) };
    let latency = outcome.latency();
    if !key.class.is_typing() || latency.is_some_and(|latency| latency < INSTANT) {
        return Ok(());
    }
    let Some(view) = notes.keys.get(number) else { return Ok(()) };
    let waited = match latency {
        Some(latency) => format!("waited {:.0} ms", millis(latency)),
        None => "was never seen".to_owned(),
    };
    title(output, run, sent_at, key, number, &format!("{waited}{}", held(outcome.was_held())))?;
    let expected = script.truth[after].screen();
    let before = script.truth[key.before].screen();
    let cursor = expected.cursor();
    let at = cursor.position();
    line(output, "before", before, at)?;
    line(output, "expected", expected, at)?;
    line(output, "shown", &view.shown, at)?;
    line(output, "host", &view.host, at)
}

fn held(was_held: bool) -> &'static str {
    if was_held { " (its answer was there before it, which does not count)" } else { "" }
}

fn wrong(output: &mut impl Write, script: &Script, run: &Run, drawing: &Drawing) -> io::Result<()> {
    let kind = if drawing.verdict.faults.text { "WRONG" } else { "wrong elsewhere" };
    let by = match drawing.cause {
        Cause::Own => "drawn by the client",
        Cause::Arrival => "shown after a datagram",
    };
    let is_of = |mistake: &&Mistake| mistake.since <= drawing.at;
    let mistake = run.mistakes.iter().rev().find(is_of);
    let corrected = mistake.and_then(|mistake| mistake.corrected_at).map_or_else(
        || "never a true screen after it".to_owned(),
        |at| format!("a true screen {:.0} ms later", millis(at.saturating_since(drawing.at))),
    );
    let (row, column) = drawing.verdict.place.unwrap_or_else(|| {
        let cursor = drawing.view.shown.cursor();
        (cursor.row, cursor.column)
    });
    let place = match drawing.verdict.place {
        Some(_) => format!("row {row}, column {column}"),
        None => "the cursor's place".to_owned(),
    };
    let sentence = format!("{kind}, {by}: {place}; {corrected}");
    title(output, run, drawing.at, &script.keys[drawing.key], drawing.key, &sentence)?;
    let at = Position { row, column };
    let (first, last) = &drawing.possible;
    line(output, "oldest", first, at)?;
    line(output, "newest", last, at)?;
    line(output, "shown", &drawing.view.shown, at)?;
    line(output, "host", &drawing.view.host, at)
}

fn title(
    output: &mut impl Write,
    run: &Run,
    at: Instant,
    key: &Key,
    number: usize,
    sentence: &str,
) -> io::Result<()> {
    let time = at.saturating_since(run.start).as_secs_f64();
    let (class, bytes) = (key.class.name(), key.bytes.escape_ascii());
    writeln!(output, "{time:9.3} s  key {number:<4} {class:<9} \"{bytes}\"  {sentence}")
}

/// Writes the part of a row around `at`, and the cursor if it is on that row.
fn line(output: &mut impl Write, name: &str, screen: &Screen, at: Position) -> io::Result<()> {
    let first = at.column.saturating_sub(COLUMNS_SHOWN / 2);
    let last = first.saturating_add(COLUMNS_SHOWN);
    let cursor = screen.cursor();
    let mut text = String::new();
    let mut is_half = false;
    for (column, cell) in (0..).zip(screen.row(at.row).map(|row| row.cells()).unwrap_or_default()) {
        if (first..last).contains(&column) {
            if cursor.visible && (cursor.row, cursor.column) == (at.row, column) {
                text.push('▏');
            }
            if !is_half {
                text.push(cell.base.unwrap_or(' '));
            }
        }
        is_half = cell.wide;
    }
    let text = text.trim_end();
    let elsewhere = match (cursor.visible, cursor.row == at.row) {
        (false, _) => "   (cursor hidden)".to_owned(),
        (true, true) => String::new(),
        (true, false) => format!("   (cursor at row {}, column {})", cursor.row, cursor.column),
    };
    let more = if first > 0 { "…" } else { "" };
    writeln!(output, "            {name:>9} |{more}{text}{elsewhere}")
}
