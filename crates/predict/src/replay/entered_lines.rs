//! The bookkeeping of lines that are entered and of lines that come back, for the model of them.

use rove_terminal::Screen;

use crate::keystroke::Key;
use crate::network::InputNum;
use crate::replay::class::{Class, is_end};
use crate::replay::field::Kind;
use crate::replay::history::Sheet;
use crate::replay::history_cursor::HistoryCursor;
use crate::replay::match_result::Barrier;
use crate::replay::state::State;

/// Returns the line that a key is about to enter, unless it is known.
pub(super) fn sheet(state: &State, barrier: &Barrier) -> Option<Sheet> {
    let name = state.editor()?;
    state.learned.history.sheet(&state.pending_keys(), barrier, name)
}

/// Called when a key is answered that was sent with this input, which may have ended a line or the program.
pub(super) fn note_entered(state: &mut State, key: Key, input: InputNum, screen: &Screen) {
    let is_hidden = hides_lines(state);
    let (field, history) = (&state.base.field, &mut state.learned.history);
    let may_keep = field.is_line() && !field.prompt.is_secret || history.has_kind(field.kind);
    match key {
        Key::Enter | Key::LineFeed if may_keep || history.sheet.is_some() => {
            history.end_line(input, screen, is_hidden);
        }
        Key::ControlD if may_keep => history.forget(),
        _ => {}
    }
}

/// Records the lines that the oldest keys end, of which no more than the first was seen.
pub(super) fn note_taken(state: &mut State, count: usize, screen: &Screen) {
    let is_hidden = hides_lines(state);
    for event in state.log.iter().take(count).filter(|event| is_end(event.key)) {
        state.learned.history.end_line(event.input, screen, is_hidden);
    }
}

/// Returns whether the entered line differs from the text on the screen.
fn hides_lines(state: &State) -> bool {
    state.base.is_searching || state.echo_off.is_off()
}

/// Called when the oldest keys are retired, of which those after the last step may have changed the line.
pub(super) fn note_edits(state: &mut State, count: usize) {
    let classes = state.log.iter().take(count).map(|event| Class::of(event.key));
    let mut behind = classes.rev().take_while(|class| !class.is_recall());
    if behind.any(Class::is_change) {
        state.base.field.history_cursor.edit();
    }
}

/// Called when the effect of the oldest keys is unknown.
pub(super) fn note_missed(state: &mut State, count: usize) {
    for key in state.log.iter().take(count).map(|event| event.key) {
        if is_end(key) {
            state.learned.history.forget();
        }
        state.base.field.history_cursor.is_lost |= Class::of(key).is_recall();
    }
}

/// Handles the line that the last step has led to, which stands there since.
pub(super) fn observe_step(state: &mut State) {
    let history_cursor = core::mem::take(&mut state.base.field.history_cursor);
    state.base.field.history_cursor = HistoryCursor { is_open: false, ..history_cursor };
    // Most other programs on the whole screen are no line editors.
    let is_full = state.base.field.kind == Kind::Full;
    let may_keep = !is_full || state.learned.history.has_kind(Kind::Full);
    if !may_keep || !history_cursor.is_open || history_cursor.is_lost {
        return;
    }
    let Some(name) = state.editor() else { return };
    let simulation = state.pending_keys().start();
    if simulation.is_at_end() {
        let line = simulation.text().line();
        state.learned.history.observe(name, history_cursor.depth, &line);
    } else {
        state.base.field.history_cursor.is_lost = true;
    }
}
