//! Follows a script: decides from the time and the screen when each key is pressed.

use std::collections::VecDeque;

use rove_terminal::{Screen, Size};
use rove_units::{Duration, Instant, Seed};

use crate::record::script::{Script, Step};
use crate::record::typing_model::{Hit, Stroke, TypingModel};

/// Share of letters that are mistyped until a script says otherwise. Chosen: a practised hand.
const SLIPS: f64 = 0.025;
/// How long program and typist must be silent before the screen counts as complete. Chosen: programs pause for less
/// between the parts of an answer.
const SETTLED: Duration = Duration::from_millis(60);
/// Longest wait for a text on the screen, or for the beginning of a silence. Chosen: programs start faster.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// Someone who types what a script says.
#[derive(Debug)]
pub(crate) struct Typist {
    steps: VecDeque<(usize, Step)>,
    model: TypingModel,
    slips: f64,
    /// The strokes that the current step still has to press.
    strokes: VecDeque<Stroke>,
    /// When the typist last pressed a key or finished a step.
    last: Instant,
    /// Whether the typist reads the screen before the next key.
    reads: bool,
}

/// An action of the typist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Sends these bytes.
    Keys(Vec<u8>),
    /// Gives the window another size.
    Resize(Size),
}

/// The error of a typist who has waited in vain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the script waited {} s in vain", waited.as_secs())]
pub(crate) struct Stuck {
    /// The number of the script's line, from 1.
    pub(crate) line: usize,
    /// How long the typist has waited.
    pub(crate) waited: Duration,
}

/// The typist's view of the session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observation<'a> {
    pub(crate) screen: &'a Screen,
    /// When the program wrote last.
    pub(crate) written_at: Instant,
}

impl Typist {
    /// Creates a typist who begins at `now`. `seed` decides on pauses and slips.
    pub(crate) fn new(script: Script, seed: Seed, now: Instant) -> Self {
        Self {
            steps: script.steps.into(),
            model: TypingModel::new(seed),
            slips: SLIPS,
            strokes: VecDeque::new(),
            last: now,
            reads: true,
        }
    }

    /// Returns the action that is due now. `None` if no action is due yet.
    ///
    /// # Errors
    ///
    /// Returns the script's line if its step has waited for longer than its [`patience`].
    pub(crate) fn poll(
        &mut self,
        now: Instant,
        seen: Observation<'_>,
    ) -> Result<Option<Action>, Stuck> {
        loop {
            if let Some(stroke) = self.strokes.front() {
                if now < self.last + stroke.after {
                    return Ok(None);
                }
                let keys = bytes(&stroke.hit, seen.screen);
                self.strokes.pop_front();
                self.last = now;
                return Ok(Some(Action::Keys(keys)));
            }
            let Some((line, step)) = self.steps.front() else { return Ok(None) };
            if !is_met(step, self.last, now, seen) {
                // A program that never answers must not stop the script for ever.
                let in_vain = patience(step).filter(|waited| now >= self.last + *waited);
                return in_vain.map_or(Ok(None), |waited| Err(Stuck { line: *line, waited }));
            }
            let Some((_, step)) = self.steps.pop_front() else { return Ok(None) };
            if let Some(action) = self.begin(step, now) {
                self.last = now;
                return Ok(Some(action));
            }
        }
    }

    /// Returns when [`Typist::poll`] has an action or an error, if the program writes nothing until then.
    pub(crate) fn poll_timeout(&self, now: Instant, written_at: Instant) -> Option<Instant> {
        if let Some(stroke) = self.strokes.front() {
            return Some(self.last + stroke.after);
        }
        let (_, step) = self.steps.front()?;
        let quiet_since = self.last.max(written_at);
        let settled = quiet_since + SETTLED;
        Some(match step {
            Step::Quiet(time) => quiet_since + *time,
            Step::Pause(time) => self.last + *time,
            Step::WaitPrompt(_) | Step::WaitText(_) if now < settled => settled,
            Step::WaitPrompt(_) | Step::WaitText(_) => self.last + WAIT_MAX,
            _ => now,
        })
    }

    /// Returns whether the script has come to its end.
    pub(crate) fn is_done(&self) -> bool {
        self.strokes.is_empty() && self.steps.is_empty()
    }

    /// Returns the line of the script that is followed now, from 1. `None` at its end.
    pub(crate) fn line(&self) -> Option<usize> {
        self.steps.front().map(|(line, _)| *line)
    }

    /// Begins a step whose condition is met. Returns the action of a resize. Keys become strokes, which follow in time.
    fn begin(&mut self, step: Step, now: Instant) -> Option<Action> {
        match step {
            Step::Type { text, slips } => {
                let slips = if slips { self.slips } else { 0.0 };
                self.strokes = self.model.type_text(&text, slips).into();
            }
            Step::Press(key, times) => self.strokes = self.model.press(key, times).into(),
            Step::Hold(key, times, every) => {
                self.strokes = TypingModel::hold(key, times, every).into();
            }
            Step::Burst(text) => self.strokes = [self.model.burst(text)].into(),
            Step::Resize(size) => return Some(Action::Resize(size)),
            Step::Slips(share) => self.slips = share,
            Step::WaitPrompt(_) | Step::WaitText(_) | Step::Quiet(_) | Step::Pause(_) => {
                self.reads = true;
                self.last = now;
            }
        }
        if let Some(first) = self.strokes.front_mut()
            && std::mem::take(&mut self.reads)
        {
            first.after += self.model.reading();
        }
        None
    }
}

/// Returns whether `step` can begin. The typist last did something at `last`.
fn is_met(step: &Step, last: Instant, now: Instant, seen: Observation<'_>) -> bool {
    let quiet_since = last.max(seen.written_at);
    let is_settled = now >= quiet_since + SETTLED;
    match step {
        Step::WaitPrompt(text) => is_settled && left_of_cursor(seen.screen).ends_with(text),
        Step::WaitText(text) => {
            let rows = 0..seen.screen.size().rows();
            is_settled && rows.into_iter().any(|row| seen.screen.row_text(row).contains(text))
        }
        Step::Quiet(time) => now >= quiet_since + *time,
        Step::Pause(time) => now >= last + *time,
        _ => true,
    }
}

/// Returns how long `step` may wait for the program. `None` if the step does not wait for it.
fn patience(step: &Step) -> Option<Duration> {
    match step {
        Step::WaitPrompt(_) | Step::WaitText(_) => Some(WAIT_MAX),
        Step::Quiet(time) => Some(*time + WAIT_MAX),
        _ => None,
    }
}

/// Returns the text of the cursor's row as far as the cursor.
fn left_of_cursor(screen: &Screen) -> String {
    let cursor = screen.cursor();
    let Some(row) = screen.row(cursor.row) else { return String::new() };
    let mut text = String::new();
    let mut covered = false;
    for cell in row.cells().iter().take(usize::from(cursor.column)) {
        if !std::mem::replace(&mut covered, cell.wide) {
            text.push(cell.base.unwrap_or(' '));
        }
    }
    text
}

/// Returns what the terminal sends for a key.
fn bytes(hit: &Hit, screen: &Screen) -> Vec<u8> {
    match hit {
        Hit::Character(character) => character.to_string().into_bytes(),
        Hit::Burst(text) => text.clone().into_bytes(),
        Hit::Key(key) => key.bytes(screen.rich_modes().application_cursor_keys),
    }
}

#[cfg(test)]
mod tests;
