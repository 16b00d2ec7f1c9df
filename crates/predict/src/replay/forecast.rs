//! Selects the effects of pending keys that may be shown, and states why the next key's effect is hidden.

use core::cell::LazyCell;

use rove_terminal::Key;
use rove_units::{Duration, Instant};

use crate::reason::{Explanation, Reason, Stop};
use crate::replay::canvas::Canvas;
use crate::replay::class::Effect;
use crate::replay::log::Event;
use crate::replay::simulate::{Habits, Simulation};
use crate::replay::state::State;
use crate::replay::trust::Trust;
use crate::secrecy::{Prompt, Spot};

/// The effects of the oldest pending keys, up to the first key whose effect is not shown.
pub(super) struct Forecast<'a> {
    pub(super) canvas: Canvas<'a>,
    /// How many keys have effects that may be shown.
    pub(super) count: usize,
    /// When the first key that changes the canvas was typed. `None` if no key changes it.
    pub(super) oldest: Option<Instant>,
    /// The rule that hides the next key's effect. `None` if no further key is pending.
    stop: Option<Stop>,
}

impl<'a> Forecast<'a> {
    pub(super) fn of(state: &'a State) -> Self {
        let trust = state.trust();
        let wrap = state.base.field.wrap.filter(|wrap| wrap.is_shown(trust.threshold));
        let goes_on = wrap.is_some();
        let scrolls = wrap.is_some_and(|wrap| wrap.scrolls);
        let pending = state.pending_keys();
        let mut simulation = pending.with(Habits { goes_on, scrolls, ..pending.habits }).start();
        let gate = LazyCell::new(|| [false, true].map(|is_ahead| may_show(state, is_ahead)));
        let (exits, editor) = (&state.learned.exits, state.base.field.context.strong);
        let (mut count, mut oldest, mut stop) = (0, None, None);
        // Whether an earlier key, except characters, has no visible effect. It may start a program without echo.
        let mut has_idled = false;
        let mut events = state.log.iter().peekable();
        while let Some(event) = events.next() {
            let is_permitted = || {
                let is_safe = !has_idled || state.base.field.line.may_show();
                is_safe && gate[usize::from(simulation.motions.has_climbed())]
            };
            stop = withheld(state, event, &simulation, &trust, is_permitted);
            let is_held = state.base.is_held && state.log.len() == 1;
            if is_held || exits.may_end(editor, event.key, events.peek().map(|next| next.key)) {
                stop = Some(Stop::Distrusted);
            }
            if stop.is_some() {
                break;
            }
            match simulation.apply(event.key) {
                Effect::Unknown => {
                    stop = Some(Stop::UnknownEffect);
                    break;
                }
                Effect::Nothing => has_idled |= !matches!(event.key, Key::Text(_)),
                Effect::Drawn => oldest = oldest.or(Some(event.at)),
            }
            count += 1;
        }
        debug_assert!(count <= state.log.len(), "the keys that are forecast wait");
        let end = simulation.bounds.end;
        if let Some(at) = simulation.flash.filter(|_| pending.habits.flashes) {
            simulation.canvas.cursor = at;
        }
        state.learned.counters.draw(&state.base, end, &mut simulation.canvas);
        Self { canvas: simulation.canvas, count, oldest, stop }
    }
}

/// Returns the rule that hides a key's effect, or `None` if the effect may be shown. `simulation` has the effects of
/// all earlier keys. `is_permitted` returns whether secrecy permits a character at its cursor before the echo.
fn withheld(
    state: &State,
    event: &Event,
    simulation: &Simulation<'_>,
    trust: &Trust<'_>,
    is_permitted: impl FnOnce() -> bool,
) -> Option<Stop> {
    let is_motion = simulation.motion(event.key).is_some();
    let is_text = matches!(event.key, Key::Text(_));
    // The screen may already show the effect of the key, which must not be shown twice. In a field with confirmed
    // characters, [`Event::needs_echo`] decides about further characters.
    let is_confirmed = state.base.field.certainty.is_confirmed();
    let is_doubtful = event.is_doubtful && (is_motion || !is_confirmed || !is_text);
    if is_doubtful {
        return Some(Stop::Doubtful);
    }
    if state.policy.is_experimental() {
        // Text waits where a prompt or a command announces a secret. Text that the terminal hides is not in the log.
        let is_announced = state.base.field.prompt.is_secret || state.echo_off.is_off();
        let is_secret = is_text && is_announced && !state.base.field.line.may_show();
        return is_secret.then_some(Stop::MayBeSecret);
    }
    // If the echo of an earlier key is overdue, the program may have stopped echoing.
    if is_text && !event.shown && state.log.is_overdue() {
        return Some(Stop::MayBeSecret);
    }
    // If keys do not explain the screen, another program may have drawn it to ask for a secret.
    if is_text && state.unexplained_at.is_some() && !event.shown {
        return Some(Stop::UnexplainedScreen);
    }
    let needs_echo = event.needs_echo(state.base.arrived);
    if is_text && (needs_echo && !state.base.field.line.may_show() || !is_permitted()) {
        return Some(Stop::MayBeSecret);
    }
    let (context, column) = (state.base.field.context, simulation.canvas.cursor.column);
    let may_break = || state.learned.wraps.may_break(context, column);
    if is_text && (simulation.is_near_edge() || may_break()) {
        return Some(Stop::Distrusted);
    }
    let class = simulation.class_of(event.key);
    if !is_motion && !trust.shows(class) {
        return Some(Stop::Distrusted);
    }
    let is_elsewhere = simulation.motions.has_climbed() && !state.base.shows_mode();
    (!is_motion && is_elsewhere).then_some(Stop::OtherRow)
}

/// Returns whether a character may be shown before its echo. `is_ahead` is false for the row of the input, and true for
/// another row that the cursor is predicted to reach.
fn may_show(state: &State, is_ahead: bool) -> bool {
    let may_be_known =
        |prompt: &Prompt| !state.echo_off.is_off() && state.has(prompt.sort.mechanism());
    let spot = Spot {
        line: state.base.field.line,
        prompt: state.base.field.prompt_name().filter(may_be_known),
        is_ahead,
        is_vouched: state.base.field.is_vouched(&state.base.screen),
        screen: &state.base.screen,
    };
    state.secrecy.may_show(&spot)
}

/// Returns whether certainly no pending key is part of a secret. A character is safe if it may be shown before its
/// echo, no echo is overdue, and only characters precede it. Some characters need an echo in their line
/// ([`Event::needs_echo`]). Keys that are no characters are safe, except [`Key::Other`]. Nothing is safe while keys are
/// lost or a screen is unexplained.
pub(super) fn has_no_secret(state: &State) -> bool {
    let is_unknown = state.hides_input() || state.log.is_lost() || state.unexplained_at.is_some();
    // With `Preference::Experimental`, keys are shown without regard to most of the rules for secrets.
    if is_unknown || state.policy.is_experimental() {
        return false;
    }
    let may_show = may_show(state, false) && !state.log.is_overdue();
    let has_echoed = state.base.field.line.may_show();
    let mut is_behind_other = false;
    state.log.iter().all(|event| {
        let is_safe = match event.key {
            Key::Text(_) => {
                let needs_echo = event.needs_echo(state.base.arrived);
                may_show && !is_behind_other && (has_echoed || !needs_echo)
            }
            // The engine stores this key in place of a character that must be hidden.
            Key::Other => false,
            _ => true,
        };
        is_behind_other |= !matches!(event.key, Key::Text(_));
        is_safe
    })
}

/// Returns why the newest key is shown or not. `None` if no key is pending.
pub(super) fn explain(state: &State, now: Instant) -> Option<Explanation> {
    let last = state.log.len().checked_sub(1)?;
    let key = state.log.iter().nth(last)?.key;
    let Forecast { count, oldest, stop, .. } = Forecast::of(state);
    let age = oldest.map_or(Duration::ZERO, |at| now.saturating_since(at));
    let (trust, mut simulation) = (state.trust(), state.pending_keys().start());
    let unknown = state
        .log
        .iter()
        .take(last)
        .position(|event| simulation.apply(event.key) == Effect::Unknown);
    let is_motion = simulation.motion(key).is_some();
    let class = simulation.class_of(key);
    let score = trust.score(class);
    let may_be_seen = may_show(state, simulation.motions.has_climbed());
    let has_suggestion = simulation.suggestion.stands();
    let effect = if unknown.is_some() { Effect::Unknown } else { simulation.apply(key) };
    let navigation = state.navigation();
    Some(Explanation {
        waiting: last - count.min(last),
        stop: stop.filter(|_| count <= last),
        reasons: vec![
            Reason::Simulation { behind: unknown.map(|index| last - index), effect },
            Reason::Secrecy { may_be_seen, has_echoed: state.base.field.line.may_show() },
            Reason::Context {
                right: score.right,
                wrong: score.wrong,
                threshold: trust.threshold,
                is_trusted: trust.shows(class),
            },
            Reason::Suggestion { stands: has_suggestion },
            Reason::Wrap { crosses: simulation.crosses, is_known: state.base.field.wrap.is_some() },
            Reason::Navigation { is_motion, is_known_place: navigation.is_some() },
            Reason::DrawnCursor { is_found: state.base.has_drawn_cursor },
            Reason::Ruler { follows: navigation.is_some_and(|it| it.ruler.is_known()) },
            Reason::History { is_step: class.is_recall(), is_expected: effect == Effect::Drawn },
            Reason::Late { wait: state.echo_timeout(), is_awaited: !state.learned.late.is_empty() },
            Reason::Policy { shows: state.policy.shows_after(age) },
        ],
    })
}
