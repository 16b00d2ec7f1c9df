//! A recording made ready to be played: its keys, the host's output with times, and the recorded screens. A recorded
//! screen is the one after a record of that output. docs/lab.md calls it a true screen.

use rove_session::{Tty, TtyModes};
use rove_terminal::{Cursor, Screen, Size, Terminal};
use rove_units::{Duration, Instant};

use crate::replay::flattener::Flattener;
use crate::replay::flicker::{Tally, Watch};
use crate::replay::picture::{Album, Picture};
use crate::replay::queries;
use crate::trace::{self, Event, Trace};

/// Longest gap between two records in a replay; longer gaps are shortened to it.
pub(crate) const GAP_MAX: Duration = Duration::from_secs(1);
/// Longest time from a key to the first record of its response, and between two records of the response.
const RESPONSE_GAP: Duration = Duration::from_millis(100);

/// Most rows of all recorded screens of a session together. Chosen: ten thousand records on a screen of a thousand
/// rows. A row takes 16 bytes.
const TRUE_ROWS_MAX: usize = 10_000_000;
/// Most cells of all different rows of a session's recorded screens. Chosen: half a gigabyte of memory.
const TRUE_CELLS_MAX: usize = 16 << 20;

/// The class of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// A typed character.
    Character,
    /// The key that deletes the character before the cursor.
    Backspace,
    /// An arrow.
    Arrow,
    /// Anything else.
    Other,
}

/// A record of the user's input: normally one key.
#[derive(Clone, Debug)]
pub struct Key {
    /// When the key was typed, after the gaps were shortened.
    pub(crate) at: Duration,
    /// The bytes that the key sends.
    pub bytes: Vec<u8>,
    pub(crate) class: Class,
    /// The number of the recorded screen before the key.
    pub(crate) before: usize,
    /// The number of the first recorded screen with the key's effect. `None` for a key without an effect.
    pub(crate) after: Option<usize>,
    /// Whether the host's terminal hid what was typed, as for a password.
    pub(crate) is_secret: bool,
}

/// A change of the modes of the host's terminal, such as its echo, or of whether the shell waits at its prompt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModeChange {
    /// The number of the host's output records before the change.
    pub(crate) behind: usize,
    /// How many bytes of the user the host must have received before the change.
    pub(crate) needs: usize,
    pub(crate) tty: Tty,
    /// Whether the shell waits at its prompt.
    pub(crate) prompt: bool,
}

/// A record of the host's output.
#[derive(Clone, Debug)]
pub struct Step {
    /// The bytes of the record.
    pub bytes: Vec<u8>,
    /// How many bytes of the user the host must have received before this output.
    pub needs: usize,
    /// The time since the record before it, at most 1 s.
    pub gap: Duration,
}

/// The abilities of the emulator between a program and its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repertoire {
    /// Everything that rove's emulator has.
    Whole,
    /// No alternate screen: Mosh 1.4.0's server ignores the switches to and from it (as observed).
    OneScreen,
}

/// A recording made ready to be played.
#[derive(Clone, Debug)]
pub struct Script {
    /// The recording's name.
    pub name: String,
    /// The terminal's size.
    pub size: Size,
    /// The keys, in order.
    pub keys: Vec<Key>,
    /// The host's output, in order.
    pub steps: Vec<Step>,
    pub(crate) mode_changes: Vec<ModeChange>,
    /// Everything the user typed.
    pub typed: Vec<u8>,
    /// The recorded screens: the blank screen before the first step, and the screen after each step.
    pub(crate) truth: Vec<Picture>,
    /// For each recorded screen, whether a terminal shows it: false in the middle of a synchronised update.
    is_whole: Vec<bool>,
    /// The flicker on a terminal that shows the recorded screens at their recorded times.
    pub(crate) flicker: Tally,
    /// For each number of sent keys, the last recorded screen that the host can have reached.
    reach: Vec<usize>,
    pub(crate) album: Album,
}

/// Why a recording cannot be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// The window's size changes.
    #[error("the window's size changes in it, and a replay has one size")]
    Resized,
    /// Nobody types a key.
    #[error("nobody types anything in it")]
    NoKeys,
    /// The recording would not fit into memory.
    #[error("its screens are too many and too large to be kept for comparison")]
    TooLarge,
}

impl Class {
    /// All classes of keys.
    pub(crate) const ALL: [Self; 4] = [Self::Character, Self::Backspace, Self::Arrow, Self::Other];

    /// Returns the class of a key that turned one screen into the other. A character that commands something instead of
    /// appearing, as in an editor's normal mode, is of the class `Other`. So is an arrow that does more than move the
    /// cursor, as in a shell's history.
    fn of(bytes: &[u8], before: &Screen, after: &Screen) -> Self {
        let (from, to) = (before.cursor(), after.cursor());
        let has_text_of = |row: u16| before.row_text(row) == after.row_text(row);
        let mut arrows = bytes.chunks_exact(3);
        let is_arrow = |key: &[u8]| matches!(key, [0x1b, b'[' | b'O', b'A'..=b'D']);
        if bytes.iter().all(|byte| *byte == 0x7f) {
            let goes_back = to.row == from.row && to.column < from.column || to.row < from.row;
            return if goes_back { Self::Backspace } else { Self::Other };
        }
        if arrows.all(is_arrow) && arrows.remainder().is_empty() {
            let only_moves = (0..before.size().rows()).all(has_text_of);
            return if only_moves { Self::Arrow } else { Self::Other };
        }
        match core::str::from_utf8(bytes) {
            Ok(text) if appears(text, from, after) => Self::Character,
            _ => Self::Other,
        }
    }

    /// Returns whether keys of this class count as typing: all but `Other`.
    pub const fn is_typing(self) -> bool {
        !matches!(self, Self::Other)
    }

    /// Returns the class's name in tables.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Character => "character",
            Self::Backspace => "backspace",
            Self::Arrow => "arrow",
            Self::Other => "other",
        }
    }
}

/// Returns whether the screen has `text` from the position of the cursor `from` on, and the cursor after the text.
fn appears(text: &str, from: Cursor, screen: &Screen) -> bool {
    let (mut row, mut column) = (from.row, from.column);
    for c in text.chars() {
        if c.is_control() {
            return false;
        }
        let Some(cell) = screen.row(row).and_then(|row| row.cells().get(usize::from(column)))
        else {
            return false;
        };
        if cell.base.unwrap_or(' ') != c {
            return false;
        }
        column += cell.width();
        if column >= screen.size().columns() {
            (row, column) = (row + 1, 0);
        }
    }
    let to = screen.cursor();
    (to.row, to.column) == (row, column)
}

impl Script {
    /// Makes a recording ready for an emulator like rove's. With `keys_max`, only this many keys are played.
    ///
    /// # Errors
    ///
    /// Returns an error if the recording cannot be played.
    pub(crate) fn new(
        name: String,
        trace: Trace,
        keys_max: Option<usize>,
    ) -> Result<Self, ScriptError> {
        Self::on(Repertoire::Whole, name, trace, keys_max)
    }

    /// Makes a recording ready for a server whose emulator has this repertoire.
    ///
    /// # Errors
    ///
    /// Returns an error if the recording cannot be played.
    pub fn on(
        repertoire: Repertoire,
        name: String,
        trace: Trace,
        keys_max: Option<usize>,
    ) -> Result<Self, ScriptError> {
        let size = trace.size;
        let mut script = Self {
            name,
            size,
            keys: Vec::new(),
            steps: Vec::new(),
            mode_changes: Vec::new(),
            typed: Vec::new(),
            truth: Vec::new(),
            is_whole: Vec::new(),
            flicker: Tally::default(),
            reach: vec![0],
            album: Album::default(),
        };
        let written = script.cut(trace, keys_max)?;
        if script.keys.is_empty() {
            return Err(ScriptError::NoKeys);
        }
        script.draw(repertoire)?;
        script.flicker = script.watch(&written);
        script.respond(&written);
        script.reach();
        Ok(script)
    }

    /// Returns the number of the last recorded screen that the host can have reached after the first `keys` keys.
    pub fn reached(&self, keys: usize) -> usize {
        self.reach[keys]
    }

    /// Returns the recorded screens from `first` on that a terminal may show after the first `keys` keys.
    pub(crate) fn whole_screens(
        &self,
        first: usize,
        keys: usize,
    ) -> impl Iterator<Item = &Picture> {
        let numbers = first..=self.reached(keys);
        numbers.filter(|number| self.is_whole[*number]).map(|number| &self.truth[number])
    }

    /// Returns the number of the last recorded screen.
    pub(crate) fn end(&self) -> usize {
        self.steps.len()
    }

    /// Returns how long the recording is after its gaps were shortened.
    pub(crate) fn duration(&self) -> Duration {
        let written: Duration = self.steps.iter().map(|step| step.gap).sum();
        written.max(self.keys.last().map_or(Duration::ZERO, |key| key.at))
    }

    /// Reads keys and steps from the recording, and shortens the gaps. Returns the times at which they were recorded.
    fn cut(&mut self, trace: Trace, keys_max: Option<usize>) -> Result<Recorded, ScriptError> {
        let mut recorded = Recorded::default();
        let (mut last, mut at) = (Instant::ZERO, Duration::ZERO);
        for record in queries::strip(trace.records) {
            let gap = record.at.saturating_since(last).min(GAP_MAX);
            match record.event {
                Event::User(bytes) => {
                    if keys_max == Some(self.keys.len()) {
                        break;
                    }
                    self.typed.extend_from_slice(&bytes);
                    self.keys.push(Key {
                        at: at + gap,
                        bytes,
                        class: Class::Other,
                        before: self.steps.len(),
                        after: None,
                        is_secret: self.mode_changes.last().is_some_and(|it| it.tty.hides_input()),
                    });
                    recorded.keys.push(record.at);
                }
                Event::Host(bytes) => {
                    self.steps.push(Step { bytes, needs: self.typed.len(), gap });
                    recorded.steps.push(record.at);
                }
                Event::Size(size) if size != self.size => return Err(ScriptError::Resized),
                // A record of the same size has neither key nor output. Its gap is a part of the next record's gap.
                Event::Size(_) => continue,
                Event::Tty(modes) => {
                    let (behind, needs) = (self.steps.len(), self.typed.len());
                    let (tty, prompt) = (tty(modes), modes.prompt);
                    self.mode_changes.push(ModeChange { behind, needs, tty, prompt });
                    continue;
                }
            }
            last = record.at;
            at += gap;
        }
        Ok(recorded)
    }

    /// Plays all steps into an emulator, and keeps the recorded screens.
    fn draw(&mut self, repertoire: Repertoire) -> Result<(), ScriptError> {
        let rows = usize::from(self.size.rows());
        if rows.saturating_mul(self.steps.len() + 1) > TRUE_ROWS_MAX {
            return Err(ScriptError::TooLarge);
        }
        let mut terminal = Terminal::host(self.size);
        self.truth.push(self.album.look(&terminal.snapshot(), None));
        self.is_whole.push(true);
        let mut flattener = Flattener::default();
        for step in &self.steps {
            match repertoire {
                Repertoire::Whole => terminal.write(&step.bytes),
                Repertoire::OneScreen => terminal.write(&flattener.flatten(&step.bytes)),
            }
            let picture = self.album.look(&terminal.snapshot(), self.truth.last());
            self.truth.push(picture);
            self.is_whole.push(!terminal.synchronized_output());
            if self.album.cells() > TRUE_CELLS_MAX {
                return Err(ScriptError::TooLarge);
            }
        }
        Ok(())
    }

    /// Counts the flicker on a terminal that shows the recorded screens at the recorded times.
    fn watch(&self, recorded: &Recorded) -> Tally {
        let mut watch = Watch::new(&self.album, &self.truth[0]);
        let screens = self.truth.iter().zip(&self.is_whole).skip(1).zip(&recorded.steps);
        let whole = screens.filter(|((_, is_whole), _)| **is_whole);
        whole.fold(Tally::default(), |sum, ((screen, _), at)| {
            sum.plus(Tally::of(&watch.look(*at, &self.album, screen, 0, 0)))
        })
    }

    /// Finds each key's response: what the host writes before the next key, without a pause.
    fn respond(&mut self, recorded: &Recorded) {
        let ends: Vec<usize> = self.keys.iter().skip(1).map(|key| key.before).collect();
        for (number, key) in self.keys.iter_mut().enumerate() {
            let mut last = recorded.keys[number];
            let mut after = key.before;
            let end = ends.get(number).copied().unwrap_or(self.steps.len());
            for at in &recorded.steps[key.before..end] {
                if at.saturating_since(last) > RESPONSE_GAP {
                    break;
                }
                last = *at;
                after += 1;
            }
            let (before, truth) = (&self.truth[key.before], &self.truth[after]);
            let has_effect = truth.id != before.id;
            // Later records of the response may change only colours, or move the cursor and back. The effect is on the
            // first screen with the last one's text and cursor.
            let first = (key.before..=after).find(|number| self.truth[*number].id == truth.id);
            key.after = first.filter(|_| has_effect);
            key.class = Class::of(&key.bytes, before.screen(), truth.screen());
        }
    }

    /// Finds, for each number of sent keys, the last recorded screen that the host can reach with these keys.
    fn reach(&mut self) {
        let mut sent = 0;
        self.reach.clear();
        for number in 0..=self.keys.len() {
            self.reach.push(self.steps.partition_point(|step| step.needs <= sent));
            sent += self.keys.get(number).map_or(0, |key| key.bytes.len());
        }
    }
}

/// Returns the state of a recording's terminal, with the usual modes where the recording does not tell them.
fn tty(modes: trace::TtyModes) -> Tty {
    let mut usual = Tty::USUAL;
    for (is_set, mode) in [(modes.echo, TtyModes::ECHO), (modes.icanon, TtyModes::CANONICAL)] {
        if !is_set {
            usual.modes = usual.modes.difference(mode);
        }
    }
    usual
}

/// When keys and steps were recorded.
#[derive(Debug, Default)]
struct Recorded {
    keys: Vec<Instant>,
    steps: Vec<Instant>,
}
