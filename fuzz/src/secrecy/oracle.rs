//! The rules by which a letter of a secret may be shown, as SECURITY.md and docs/prediction.md state them. The rules
//! use the host's true state and the client's screens.
//!
//! A rule that depends on the engine's doubts permits more here. A letter is reported only if no reader of these pages
//! would expect it.

use rove_terminal::{MouseReporting, Screen, Size};
use rove_units::{Duration, Instant};

use super::texts::{SECRET, UNKNOWN};

/// Number of echoed lines after which a shell's prompt is known. Source: docs/prediction.md.
const LINES: usize = 3;

/// Time after a letter's acknowledgment at which the client has seen that the letter is unanswered. Source:
/// docs/prediction.md, because no prediction stays longer.
const SEEN_AFTER: Duration = Duration::from_secs(1);

/// A prompt as a client recognises it: its text without numbers and paths, and the terminal's modes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Prompt {
    text: String,
    modes: [bool; 3],
}

/// The cursor's place: its pane, its position, and the text left of it in the pane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Place {
    window: [u16; 4],
    at: (u16, u16),
    left: String,
}

/// A prompt, and the number of lines that were echoed at it.
#[derive(Clone, Debug)]
struct Known {
    prompt: Prompt,
    lines: usize,
    is_refused: bool,
}

/// The mode line of an editor in the cursor's pane, since the alternate screen began.
#[derive(Clone, Debug)]
struct Editor {
    place: Place,
    inserts: bool,
    /// Whether the mode line appeared in this pane, without a question after it.
    came: bool,
}

/// A key of unknown effect that was typed when all other keys were answered.
#[derive(Clone, Debug)]
struct Probe {
    place: Place,
    row: String,
}

/// Everything that determines whether a letter may be shown.
#[derive(Clone, Debug, Default)]
pub(super) struct Oracle {
    prompts: Vec<Known>,
    /// The prompt of the line that is being typed, after an echo in this line. `None` before.
    line: Option<Prompt>,
    /// The cursor's place after the newest echo in this line, and the number of the input that was echoed.
    echo: Option<(Place, u64)>,
    /// The number of the newest key that ends a line or has an unknown effect.
    barrier: u64,
    /// For each letter, the number of the input in which it was last typed.
    letters: [u64; SECRET.len()],
    /// For each letter, whether it was typed other than in a paste.
    typed: [bool; SECRET.len()],
    probe: Option<Probe>,
    /// The size of the newest screen.
    size: Option<Size>,
    /// Whether the window was resized without an echo afterwards.
    is_resized: bool,
    editor: Option<Editor>,
    /// The panes in which characters were echoed with a mode line.
    windows: Vec<[u16; 4]>,
    /// The first unanswered letter of the secret, and since when the client knows this.
    unanswered: Option<(u64, Option<Instant>)>,
    /// The place at which the client saw that a letter was not echoed.
    not_echoed: Option<Place>,
    visible: [usize; SECRET.len()],
}

impl Oracle {
    /// Records a typed key, or the keys of a paste. `is_quiet` tells whether all earlier keys were answered.
    pub(super) fn note_typed(
        &mut self,
        (key, is_paste): (&str, bool),
        input: u64,
        screen: &Screen,
        is_quiet: bool,
    ) {
        let is_unknown = UNKNOWN.contains(&key);
        if is_unknown || key == "\r" || key == "\x1b[A" {
            self.barrier = input;
        }
        // A recalled line replaces a letter that is on its way, echoed or not.
        if key == "\x1b[A" {
            self.unanswered = self.unanswered.filter(|(_, since)| since.is_some());
        }
        if is_unknown && is_quiet {
            self.probe = Some(Probe { place: Place::of(screen), row: cursor_row(screen) });
        }
        for letter in (0..SECRET.len()).filter(|letter| key.contains(SECRET[*letter])) {
            self.letters[letter] = input;
            self.typed[letter] |= !is_paste;
            self.unanswered.get_or_insert((input, None));
        }
    }

    /// Records that the program has read Enter.
    pub(super) fn note_enter(&mut self, input: u64, is_open: bool) {
        let line = self.line.take();
        if let Some(prompt) = line.filter(|_| is_open) {
            self.known(prompt).lines += 1;
        }
        self.echo = None;
        self.unanswered = self.unanswered.filter(|(letter, _)| *letter > input);
        if let Some(place) = self.not_echoed.take().filter(|_| !is_open) {
            let is_there = |it: &&mut Known| it.prompt.text == place.prompt_text();
            self.prompts.iter_mut().filter(is_there).for_each(|it| it.is_refused = true);
        }
    }

    /// Records that the program has written other text and moved the cursor.
    pub(super) fn note_turn(&mut self) {
        (self.line, self.echo) = (None, None);
    }

    /// Records that the window was resized.
    pub(super) fn note_resize(&mut self) {
        (self.is_resized, self.echo) = (true, None);
    }

    /// Records that a letter was echoed.
    pub(super) fn note_echo(&mut self, key: &str, input: u64, before: &Screen, after: &Screen) {
        let prompt = Prompt::of(before);
        self.line.get_or_insert(prompt);
        self.is_resized = false;
        if key != " " {
            self.echo = Some((Place::of(after), input));
            if inserts(after) {
                self.windows.push(window(after));
            }
        }
    }

    /// Records that the program has answered an editing key in a line with echo.
    pub(super) fn note_moved(&mut self, screen: &Screen) {
        if let Some((place, _)) = &mut self.echo {
            *place = Place::of(screen);
        }
    }

    /// Records the screen that the client has received.
    pub(super) fn observe(&mut self, now: Instant, arrived: u64, acked: u64, screen: &Screen) {
        let place = Place::of(screen);
        if self.size.replace(screen.size()).is_some_and(|size| size != screen.size()) {
            self.note_resize();
        }
        if let Some(probe) = &self.probe {
            let has_changed = probe.place != place || probe.row != cursor_row(screen);
            self.probe = self.probe.take().filter(|_| !has_changed);
        }
        if let Some((input, since)) = &mut self.unanswered
            && *input <= acked.min(arrived)
        {
            let since = *since.get_or_insert(now);
            if now.saturating_since(since) > SEEN_AFTER && self.not_echoed.is_none() {
                self.not_echoed = Some(place.clone());
            }
        }
        self.observe_editor(screen, place);
    }

    fn observe_editor(&mut self, screen: &Screen, place: Place) {
        if !screen.rich_modes().alternate_screen {
            self.editor = None;
            self.windows.clear();
            return;
        }
        let inserts = inserts(screen);
        let came = match self.editor.take().filter(|it| it.place.window == place.window) {
            _ if !inserts => true,
            None => false,
            Some(it) if !it.inserts => true,
            Some(it) => it.came && (it.place.at.0 == place.at.0 || place.left.trim().is_empty()),
        };
        self.editor = Some(Editor { place, inserts, came });
    }

    /// Searches a frame for letters of secrets that the previous frame lacked.
    pub(super) fn check(&mut self, frame: &Screen, screen: &Screen, arrived: u64) {
        let visible = count(frame);
        assert!(count(screen) == [0; SECRET.len()], "the host has drawn one");
        let new = (0..SECRET.len()).filter(|letter| visible[*letter] > self.visible[*letter]);
        let is_paste = new.clone().any(|letter| !self.typed[letter]);
        let newest = new.map(|letter| self.letters[letter]).max();
        self.visible = visible;
        if let Some(newest) = newest {
            let reason = format!("{self:#?}\n{}", text(frame));
            let may_show = self.may_show(newest, is_paste, screen, arrived);
            assert!(may_show, "a letter of a secret is seen: {reason}");
        }
    }

    /// Returns whether the letter of an input may be shown over the client's newest screen.
    fn may_show(&self, letter: u64, is_paste: bool, screen: &Screen, arrived: u64) -> bool {
        let place = Place::of(screen);
        let is_seen = self.not_echoed.as_ref() == Some(&place);
        // The client cannot know yet which program reads the letters after such a key.
        let is_pending = self.barrier > arrived && letter > self.barrier;
        if is_seen || is_pending || self.is_resized || self.probe.is_some() {
            return false;
        }
        // A paste is shown only after an echo in the same line.
        self.has_echoed(&place) || !is_paste && (self.is_known(screen) || self.is_edited())
    }

    /// Returns whether text was echoed in this line, and the cursor is still where the echo left it.
    fn has_echoed(&self, place: &Place) -> bool {
        self.echo.as_ref().is_some_and(|(at, input)| at == place && *input > self.barrier)
    }

    /// Returns whether enough lines were echoed at this prompt, and a second fact confirms that it is a shell's. Any
    /// other text may follow the prompt.
    fn is_known(&self, screen: &Screen) -> bool {
        let here = Prompt::of(screen);
        let is_it =
            |it: &Known| it.prompt.modes == here.modes && here.text.starts_with(&it.prompt.text);
        let is_enough = |it: &Known| it.prompt.is_shell() && it.lines >= LINES && !it.is_refused;
        let is_vouched = screen.input_modes().bracketed_paste || is_titled(screen);
        is_vouched && self.prompts.iter().any(|it| is_it(it) && is_enough(it))
    }

    /// Returns whether an editor inserts in this pane: its mode line appeared here, and it echoed characters.
    fn is_edited(&self) -> bool {
        let is_it = |it: &Editor| it.inserts && it.came && self.windows.contains(&it.place.window);
        self.editor.as_ref().is_some_and(is_it)
    }

    fn known(&mut self, prompt: Prompt) -> &mut Known {
        let index = self.prompts.iter().position(|it| it.prompt == prompt).unwrap_or_else(|| {
            self.prompts.push(Known { prompt, lines: 0, is_refused: false });
            self.prompts.len() - 1
        });
        &mut self.prompts[index]
    }
}

impl Prompt {
    fn of(screen: &Screen) -> Self {
        let modes = [
            screen.input_modes().bracketed_paste,
            screen.input_modes().mouse_reporting != MouseReporting::Off,
            screen.rich_modes().alternate_screen,
        ];
        Self { text: Place::of(screen).prompt_text(), modes }
    }

    fn is_shell(&self) -> bool {
        ["$", "#", ">>>", "\u{276f}"].iter().any(|sign| self.text.ends_with(sign))
    }
}

impl Place {
    fn of(screen: &Screen) -> Self {
        let cursor = screen.cursor();
        let window = window(screen);
        let row = row(screen, cursor.row);
        let left = row[usize::from(window[0])..usize::from(cursor.column)].iter().collect();
        Self { window, at: (cursor.row, cursor.column), left }
    }

    /// Returns the text left of the cursor, with the same sign for each number, and another sign for each path. The
    /// word after user and host is a path.
    fn prompt_text(&self) -> String {
        let is_separator = |c: char| !c.is_alphanumeric() && !"/~._-+,@".contains(c);
        let mut is_named = false;
        let short = self.left.split_inclusive(is_separator).map(|word| {
            let (name, separator) = word.split_at(word.trim_end_matches(is_separator).len());
            let is_path =
                name.contains('/') || name.starts_with('~') || is_named && !name.is_empty();
            is_named = matches!(name.as_bytes(), [_, inner @ .., _] if inner.contains(&b'@'));
            if is_path { format!("/{separator}") } else { word.to_owned() }
        });
        let mut text = String::new();
        for c in short.collect::<String>().trim_end().chars() {
            let c = if c.is_ascii_digit() { '0' } else { c };
            if c != '0' || !text.ends_with('0') {
                text.push(c);
            }
        }
        text
    }
}

/// Returns the bounds of the cursor's pane, which are the nearest lines around the cursor.
fn window(screen: &Screen) -> [u16; 4] {
    let (cursor, size) = (screen.cursor(), screen.size());
    let here = row(screen, cursor.row);
    let is_line = |column: &u16| here[usize::from(*column)] == '\u{2502}';
    let left = (0..cursor.column).rev().find(is_line).map_or(0, |line| line + 1);
    let right = (cursor.column + 1..size.columns()).find(is_line).unwrap_or(size.columns());
    let is_rule = |at: &u16| row(screen, *at)[usize::from(cursor.column)] == '\u{2500}';
    let top = (0..cursor.row).rev().find(is_rule).map_or(0, |line| line + 1);
    let bottom = (cursor.row + 1..size.rows()).find(is_rule).unwrap_or(size.rows());
    [left, right, top, bottom]
}

/// Returns whether the cursor's pane has an editor's mode line below the cursor.
fn inserts(screen: &Screen) -> bool {
    let [left, right, ..] = window(screen);
    let below = screen.cursor().row + 1..screen.size().rows();
    below.into_iter().any(|at| {
        let part: String = row(screen, at)[usize::from(left)..usize::from(right)].iter().collect();
        part.starts_with("-- INSERT --") || part.starts_with("-- REPLACE --")
    })
}

/// Returns whether the text left of the cursor has two words of the window's title.
fn is_titled(screen: &Screen) -> bool {
    let left = Place::of(screen).left;
    let mut words: Vec<&str> = screen.title().split([' ', '@', ':']).collect();
    words.retain(|word| !word.is_empty() && left.contains(word));
    words.dedup();
    words.len() >= 2
}

fn cursor_row(screen: &Screen) -> String {
    row(screen, screen.cursor().row).iter().collect()
}

fn row(screen: &Screen, row: u16) -> Vec<char> {
    let cells = screen.row(row).map_or(&[][..], |row| row.cells());
    cells.iter().map(|cell| cell.base.unwrap_or(' ')).collect()
}

fn text(screen: &Screen) -> String {
    (0..screen.size().rows())
        .map(|at| row(screen, at).into_iter().chain(['\n']).collect::<String>())
        .collect()
}

/// Returns how often each letter of secrets is on a screen.
fn count(screen: &Screen) -> [usize; SECRET.len()] {
    let rows = (0..screen.size().rows()).filter_map(|row| screen.row(row));
    let mut counts = [0; SECRET.len()];
    for c in rows.flat_map(|row| row.cells()).filter_map(|cell| cell.base) {
        if let Some(index) = SECRET.iter().position(|letter| *letter == c) {
            counts[index] += 1;
        }
    }
    counts
}
