//! Records the lines that the user enters and recalls, for [`history`](super::history).

use rove_terminal::{InputNum, Key, Screen};

use crate::replay::class::{Class, is_end};
use crate::replay::field::Kind;
use crate::replay::history::Sheet;
use crate::replay::history_cursor::HistoryCursor;
use crate::replay::match_result::Barrier;
use crate::replay::state::State;

/// Returns the line that a key of unknown effect is about to enter. `None` if there is no such line, or if it is
/// already recorded. Also `None` if the engine remembers no lines of this program.
pub(super) fn sheet(state: &State, barrier: &Barrier) -> Option<Sheet> {
    let name = state.editor()?;
    state.learned.history.sheet(&state.pending_keys(), barrier, name)
}

/// Records that `key`, sent with `input`, was answered. Enter has ended a line, and Ctrl-D may have ended the program.
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

/// Records the lines that the `count` oldest keys have ended, although the effect of some of these keys was never seen.
pub(super) fn note_taken(state: &mut State, count: usize, screen: &Screen) {
    let is_hidden = hides_lines(state);
    for event in state.log.iter().take(count).filter(|event| is_end(event.key)) {
        state.learned.history.end_line(event.input, screen, is_hidden);
    }
}

/// Returns whether the entered line may differ from the text on the screen.
fn hides_lines(state: &State) -> bool {
    state.base.is_searching || state.echo_off.is_off()
}

/// Records that the `count` oldest keys were answered. Keys after the last recall (Up, Down) may have changed its line.
pub(super) fn note_edits(state: &mut State, count: usize) {
    let classes = state.log.iter().take(count).map(|event| Class::of(event.key));
    let mut behind = classes.rev().take_while(|class| !class.is_recall());
    if behind.any(Class::is_change) {
        state.base.field.history_cursor.edit();
    }
}

/// Records that the effects of the `count` oldest keys are unknown. If they ended a line, forgets all lines.
pub(super) fn note_missed(state: &mut State, count: usize) {
    for key in state.log.iter().take(count).map(|event| event.key) {
        if is_end(key) {
            state.learned.history.forget();
        }
        state.base.field.history_cursor.is_lost |= Class::of(key).is_recall();
    }
}

/// Records that `key` was dropped unanswered. `is_overflow`: so were all earlier keys, because there were too many.
pub(super) fn note_lost(state: &mut State, key: Key, is_overflow: bool) {
    if is_overflow || is_end(key) {
        state.learned.history.forget();
    }
    state.base.field.history_cursor.is_lost |= Class::of(key).is_recall();
}

/// Compares a newly recalled line on the screen with the remembered one, and learns from it.
pub(super) fn observe_step(state: &mut State) {
    let history_cursor = core::mem::take(&mut state.base.field.history_cursor);
    state.base.field.history_cursor = HistoryCursor { is_open: false, ..history_cursor };
    // Most full-screen programs are not line editors.
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
