//! The judge: when each key's answer was seen, and which drawings were wrong.
//!
//! It knows the true screens: those that the recorded output makes, one after each record. It is shown what the user's
//! terminal shows after each write, and is told what made the client write.

use rove_terminal::{Position, Screen};
use rove_units::{Duration, Instant};

use crate::replay::flicker::{Change, Watch};
use crate::replay::picture::{Album, Picture, PictureId, TextId};
use crate::replay::script::{Key, Script};

/// How much later than the host's own answer a mistake may be gone without being late.
const CORRECTION_GRACE: Duration = Duration::from_millis(100);

/// The reason why the client wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A key or the time: the drawing is the client's own.
    Own,
    /// A datagram that has just arrived.
    Arrival,
}

/// The outcome of one key.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// When the key was typed.
    pub sent_at: Option<Instant>,
    pub(crate) seen_at: Option<Instant>,
    /// When the host's own answer had reached the client.
    pub(crate) answered_at: Option<Instant>,
    /// Faults of what the client drew for a key or for the time, and not for a datagram, while this was the last key.
    pub(crate) own: Faults,
    /// Faults of predictions that an arriving datagram made the client show while this was the last key.
    pub(crate) revealed: Faults,
    /// Whether the key's answer was, at least in part, on the screen already when the key was sent.
    held: bool,
}

impl Outcome {
    /// Returns how long the user waited for the key's answer. `None` if it was never seen.
    pub(crate) fn latency(&self) -> Option<Duration> {
        Some(self.seen_at?.saturating_since(self.sent_at?))
    }

    /// Returns whether the key's answer was on the screen before the key, and has not appeared anew since.
    pub(crate) const fn was_held(&self) -> bool {
        self.held
    }
}

/// The faults that a drawing can have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Faults {
    /// Text left of the cursor is wrong.
    pub(crate) text: bool,
    /// Text anywhere, or the cursor's place, is wrong.
    pub(crate) any: bool,
    /// The text is right, but its colours or attributes are not.
    pub(crate) paint: bool,
}

/// Something wrong on the screen, from the drawing that brought it on.
#[derive(Clone, Copy, Debug)]
pub struct Mistake {
    /// The last key before the mistake.
    pub(crate) key: usize,
    pub(crate) since: Instant,
    /// When the whole screen was first a true one again.
    pub(crate) corrected_at: Option<Instant>,
    /// When the screen first had no wrong text and no wrong place of the cursor.
    pub(crate) gone_at: Option<Instant>,
}

impl Mistake {
    /// Returns whether the mistake stayed for more than 100 ms after the host's answer to its key.
    pub(crate) fn is_late(&self, answered_at: Option<Instant>) -> bool {
        let in_time =
            |answer: Instant| self.gone_at.is_some_and(|gone| gone <= answer + CORRECTION_GRACE);
        answered_at.is_some_and(|answer| !in_time(answer))
    }
}

/// A change on the user's screen that was taken back at once.
#[derive(Clone, Copy, Debug)]
pub struct Flicker {
    pub(crate) change: Change,
    /// The last key before the flicker. `None` before the first key.
    pub(crate) key: Option<usize>,
    /// Whether the client alone made the flicker. Two keys may make a change and take it back, as for a character that
    /// is rubbed out. Or the program's own screens go this way, for a key's change maybe in another row.
    pub(crate) is_ours: bool,
}

/// The faults of a screen, and where they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    pub(crate) faults: Faults,
    /// The first row with a wrong text, and the first wrong column in it.
    pub(crate) place: Option<(u16, u16)>,
}

/// Judges one run.
pub struct Judge<'a> {
    script: &'a Script,
    album: Album,
    outcomes: Vec<Outcome>,
    mistakes: Vec<Mistake>,
    watch: Watch,
    flickers: Vec<Flicker>,
    /// The number of the client's copy of the host's screen at the last write.
    watched_host: usize,
    sent: usize,
    /// The numbers of keys that were sent and whose answers were not seen yet, in order.
    unseen: Vec<usize>,
    /// The number of the true screen that the user's screen last was.
    matched: usize,
    /// Whether the user's screen is a true one now.
    is_true: bool,
    shown: Picture,
    /// The client's copy of the host's screen, and the number of the true screen that it is.
    host: (Picture, usize),
    /// The first key whose answer has not reached the client.
    answered: usize,
    /// When the client knew by the echo ack that it has the host's answers to all keys.
    settled_at: Option<Instant>,
    /// Rows at the top that the client's own notices cover.
    notice_rows: u16,
    verdict: Verdict,
}

impl<'a> Judge<'a> {
    /// Creates a judge of a session whose screen is blank.
    pub fn new(script: &'a Script) -> Self {
        let blank = script.truth[0].clone();
        Self {
            script,
            album: script.album.clone(),
            outcomes: vec![Outcome::default(); script.keys.len()],
            mistakes: Vec::new(),
            watch: Watch::new(&script.album, &blank),
            flickers: Vec::new(),
            watched_host: 0,
            sent: 0,
            unseen: Vec::new(),
            matched: 0,
            is_true: true,
            shown: blank.clone(),
            host: (blank, 0),
            answered: 0,
            settled_at: None,
            notice_rows: 0,
            verdict: Verdict::default(),
        }
    }

    /// Records that the next key is sent.
    pub fn handle_key(&mut self, now: Instant) {
        let number = self.sent;
        self.sent += 1;
        self.settled_at = None;
        let key = &self.script.keys[number];
        let held = key.after.is_some_and(|after| self.holds(key, after));
        let outcome = &mut self.outcomes[number];
        outcome.sent_at = Some(now);
        outcome.held = held;
        if key.after.is_some() {
            self.unseen.push(number);
        }
    }

    /// Stores the client's copy of the host's screen, and finds the true screen that it is.
    pub(crate) fn handle_host_screen(&mut self, now: Instant, screen: &Screen) {
        let picture = self.album.look(screen, Some(&self.host.0));
        let number = self.find(picture.id, self.host.1).unwrap_or(self.host.1);
        self.host = (picture, number);
        self.answer(now);
    }

    /// Marks all keys as answered whose answers are on the client's copy of the host's screen.
    fn answer(&mut self, now: Instant) {
        let number = self.host.1;
        while self.answered < self.sent {
            match self.script.keys[self.answered].after {
                Some(after) if after > number => break,
                Some(_) => self.outcomes[self.answered].answered_at = Some(now),
                None => {}
            }
            self.answered += 1;
        }
    }

    /// Records that the client has received the true screen `number`, if that is newer than the last. For a client such
    /// as stock's, the caller infers the number from what the client draws after a datagram.
    pub fn handle_host_number(&mut self, now: Instant, number: usize) {
        if number > self.host.1 {
            self.host = (self.script.truth[number].clone(), number);
            self.answer(now);
        }
    }

    /// Tells that the client has the host's answers to all keys that were sent, whether they have changed the screen or
    /// not.
    pub fn handle_all_answers(&mut self, now: Instant) {
        if self.settled_at.is_none() {
            self.settled_at = Some(now);
            self.see_settled(now);
        }
    }

    /// Judges the user's terminal after a write; `notice_rows` at the top are covered by notices.
    /// Returns what is wrong with it, if it has changed.
    pub fn handle_screen(
        &mut self,
        now: Instant,
        screen: &Screen,
        cause: Cause,
        notice_rows: u16,
    ) -> Option<Verdict> {
        let picture = self.album.look(screen, Some(&self.shown));
        self.watch(now, &picture, notice_rows);
        let is_same = picture.id == self.shown.id;
        if is_same && picture.paints == self.shown.paints {
            return None;
        }
        self.notice_rows = notice_rows;
        self.shown = picture;
        if !is_same {
            let found = self.find(self.shown.id, self.matched);
            self.is_true = found.is_some();
            match found {
                Some(number) => {
                    self.matched = number;
                    self.see(now, |key, _| key.after.is_some_and(|after| after <= number));
                }
                None => self.see_parts(now),
            }
            if self.settled_at.is_some() {
                self.see_settled(now);
            }
            self.release();
        }
        let verdict = self.examine();
        self.count(now, cause, verdict);
        let is_news = verdict != self.verdict;
        self.verdict = verdict;
        (is_news || !is_same).then_some(verdict)
    }

    /// Records the parts of the screen that flicker.
    fn watch(&mut self, now: Instant, shown: &Picture, notice_rows: u16) {
        let (key, since) = (self.sent.checked_sub(1), self.watched_host);
        for change in self.watch.look(now, &self.album, shown, notice_rows, since) {
            let screens: Vec<_> = self.script.whole_screens(change.since, self.sent).collect();
            let is_typed = |at| self.outcomes[..self.sent].iter().any(|it| it.sent_at == Some(at));
            let is_moved = || {
                change.times.into_iter().any(is_typed)
                    && change.is_in_moved_row(&self.album, &self.shown, &screens)
            };
            let is_ours = !change.times.into_iter().all(is_typed)
                && !change.is_in(&self.album, &screens)
                && !is_moved();
            self.flickers.push(Flicker { change, key, is_ours });
        }
        self.watched_host = self.host.1;
    }

    /// Returns how many keys were sent.
    pub const fn sent(&self) -> usize {
        self.sent
    }

    /// Returns the outcome of each key, in the order of typing.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// Returns the mistakes, in order.
    pub fn mistakes(&self) -> &[Mistake] {
        &self.mistakes
    }

    /// Returns the flickers, in order.
    pub fn flickers(&self) -> &[Flicker] {
        &self.flickers
    }

    /// Returns the true screens that the user may see now: from the last one seen up to the newest possible one.
    pub(crate) fn possible(&self) -> &'a [Picture] {
        &self.script.truth[self.matched..=self.script.reached(self.sent)]
    }

    /// Returns the possible true screens and, if the user's screen was ahead of the host's, those from the host's on.
    fn painted(&self) -> &'a [Picture] {
        &self.script.truth[self.matched.min(self.host.1)..=self.script.reached(self.sent)]
    }

    /// Returns whether the last true screen has reached the client, and is shown.
    pub(crate) fn is_at_end(&self) -> bool {
        let end = self.script.truth[self.script.end()].id;
        self.shown.id == end && self.host.0.id == end
    }

    /// Returns the number of the true screen that is shown. `None` if it is no true one.
    pub const fn matched(&self) -> Option<usize> {
        if self.is_true { Some(self.matched) } else { None }
    }

    /// Returns whether the screen is as the host leaves it after all keys that were sent.
    pub fn shows_newest(&self) -> bool {
        self.script.truth[self.script.reached(self.sent)].id == self.shown.id
    }

    /// Returns whether the user has seen the answer to every sent key that has one.
    pub const fn has_seen_all(&self) -> bool {
        self.unseen.is_empty()
    }

    /// Returns when the client had the host's answers to all keys that were sent.
    pub const fn settled_at(&self) -> Option<Instant> {
        self.settled_at
    }

    /// Returns when the answer to the newest key that has one was seen, or else when the newest key was
    /// sent. `None` while it is still to be seen.
    pub(crate) fn answered_at(&self) -> Option<Instant> {
        let last = self.sent.checked_sub(1)?;
        let sent_at = self.outcomes[last].sent_at?;
        let answered = (0..=last).rev().find(|key| self.script.keys[*key].after.is_some());
        let seen_at = match answered {
            Some(key) => self.outcomes[key].seen_at?,
            None => sent_at,
        };
        Some(seen_at.max(sent_at))
    }

    /// Finds the number of the first true screen from `first` on that looks like this.
    fn find(&self, id: PictureId, first: usize) -> Option<usize> {
        let last = self.script.reached(self.sent);
        (first..=last).find(|number| self.script.truth[*number].id == id)
    }

    /// Marks all unseen keys for which `is_seen` holds as seen now.
    fn see(&mut self, now: Instant, is_seen: impl Fn(&Key, usize) -> bool) {
        let (script, outcomes) = (self.script, &mut self.outcomes);
        self.unseen.retain(|&number| {
            let seen = is_seen(&script.keys[number], number);
            if seen {
                outcomes[number].seen_at = Some(now);
            }
            !seen
        });
    }

    /// Marks all keys as seen if the host has answered all, and the screen is as the last answer leaves it. A screen
    /// may look like an earlier one, as when a character was rubbed out, and alone does not tell that.
    fn see_settled(&mut self, now: Instant) {
        let last = self.script.keys[..self.sent].iter().rev().find_map(|key| key.after);
        if let Some(last) = last.filter(|last| self.script.truth[*last].id == self.shown.id) {
            self.see(now, |key, _| key.after.is_some_and(|after| after <= last));
        }
    }

    /// Marks keys as seen whose answers are on a screen that is no true one: a prediction without side effects.
    fn see_parts(&mut self, now: Instant) {
        let held: Vec<usize> = self
            .unseen
            .iter()
            .copied()
            .filter(|&number| {
                let key = &self.script.keys[number];
                !self.outcomes[number].held && key.after.is_some_and(|after| self.holds(key, after))
            })
            .collect();
        // The answer to a typing key covers those to earlier keys on its row.
        let script = self.script;
        let row_of = |number: usize| {
            let after = script.keys[number].after?;
            Some(script.truth[after].cursor.row)
        };
        self.see(now, |key, number| {
            held.contains(&number)
                || key.class.is_typing()
                    && held.iter().any(|&other| {
                        other > number
                            && script.keys[other].class.is_typing()
                            && row_of(other) == row_of(number)
                    })
        });
    }

    /// Lets answers count again that were on the screen when their keys were sent, and are gone since.
    fn release(&mut self) {
        for index in 0..self.unseen.len() {
            let number = self.unseen[index];
            let key = &self.script.keys[number];
            if self.outcomes[number].held && !key.after.is_some_and(|after| self.holds(key, after))
            {
                self.outcomes[number].held = false;
            }
        }
    }

    /// Returns whether the screen has the answer to a key, true screen `after`. It may lack other parts of that screen.
    fn holds(&self, key: &Key, after: usize) -> bool {
        let (before, after) = (&self.script.truth[key.before], &self.script.truth[after]);
        let cursor_holds = self.shown.cursor == after.cursor;
        if key.class.is_typing() {
            let Position { row, column } = after.cursor;
            let (row, end) = (usize::from(row), usize::from(column));
            let (shown, right) = (self.shown.texts[row], after.texts[row]);
            let has_text = || self.album.glyphs(shown)[..end] == self.album.glyphs(right)[..end];
            return cursor_holds && (shown == right || has_text());
        }
        if before.texts == after.texts {
            return cursor_holds;
        }
        let rows = before.texts.iter().zip(&after.texts).zip(&self.shown.texts);
        rows.into_iter().all(|((before, after), shown)| self.has_change(*before, *after, *shown))
    }

    /// Returns whether all cells that differ between two texts are as in the second one.
    fn has_change(&self, before: TextId, after: TextId, shown: TextId) -> bool {
        if before == after || shown == after {
            return true;
        }
        let [before, after, shown] = [before, after, shown].map(|text| self.album.glyphs(text));
        before.iter().zip(after).zip(shown).all(|((old, new), shown)| old == new || shown == new)
    }

    /// Compares the screen with the true screens that are possible.
    fn examine(&self) -> Verdict {
        let mut verdict = Verdict::default();
        let rows = u16::try_from(self.shown.texts.len()).expect("a screen has at most 2048 rows");
        for row in self.notice_rows..rows {
            self.examine_row(row, &mut verdict);
        }
        if self.is_true {
            return Verdict {
                faults: Faults { paint: verdict.faults.paint, ..Faults::default() },
                place: None,
            };
        }
        let cursor = self.shown.cursor;
        // Nobody sees a hidden cursor, but its place tells where the program takes text.
        let is_misplaced =
            self.shown.shows_cursor() && self.possible().iter().all(|truth| truth.cursor != cursor);
        verdict.faults.any |= is_misplaced;
        verdict
    }

    fn examine_row(&self, row: u16, verdict: &mut Verdict) {
        let index = usize::from(row);
        let (text, paint) = (self.shown.texts[index], self.shown.paints[index]);
        let is_as_in = |truth: &Picture| truth.texts[index] == text && truth.paints[index] == paint;
        if self.possible().iter().any(is_as_in) {
            return;
        }
        let (glyphs, pens) = (self.album.glyphs(text), self.album.pens(paint));
        let cursor = Some(self.shown.cursor).filter(|cursor| cursor.row == row);
        for (column, (glyph, pen)) in (0..).zip(glyphs.iter().zip(pens)) {
            let at = usize::from(column);
            let is_text = |truth: &&Picture| self.album.glyphs(truth.texts[index])[at] == *glyph;
            let is_paint = |truth: &Picture| self.album.pens(truth.paints[index])[at] == *pen;
            if !self.possible().iter().any(|truth| is_text(&truth)) {
                let is_left = cursor.is_some_and(|cursor| column < cursor.column);
                // Predictions may be ahead of the host by what was typed and rubbed out. Then a ruler from the host's
                // last screen is older than the rest, but no mistake.
                if is_left || !is_text(&&self.host.0) {
                    verdict.faults.any = true;
                    verdict.faults.text |= is_left;
                    verdict.place.get_or_insert((row, column));
                }
            } else if !self.painted().iter().filter(is_text).any(is_paint) {
                verdict.faults.paint = true;
            }
        }
    }

    /// Records the mistakes that a verdict begins or ends, and the faults of the last key.
    fn count(&mut self, now: Instant, cause: Cause, verdict: Verdict) {
        let faults = verdict.faults;
        if self.is_true {
            let open = self.mistakes.iter_mut().rev();
            for mistake in open.take_while(|mistake| mistake.corrected_at.is_none()) {
                mistake.corrected_at = Some(now);
            }
        }
        if !faults.any {
            let open = self.mistakes.iter_mut().rev();
            for mistake in open.take_while(|mistake| mistake.gone_at.is_none()) {
                mistake.gone_at = Some(now);
            }
        }
        let Some(key) = self.sent.checked_sub(1) else { return };
        let before = self.verdict.faults;
        let outcome = &mut self.outcomes[key];
        match cause {
            Cause::Own => outcome.own.add(faults),
            // A fault from before the datagram is not revealed by it.
            Cause::Arrival => outcome.revealed.add(Faults {
                text: faults.text && !before.text,
                any: faults.any && !before.any,
                paint: faults.paint && !before.paint,
            }),
        }
        if faults.any && !before.any {
            self.mistakes.push(Mistake { key, since: now, corrected_at: None, gone_at: None });
        }
    }
}

impl Faults {
    fn add(&mut self, other: Self) {
        self.text |= other.text;
        self.any |= other.any;
        self.paint |= other.paint;
    }
}

#[cfg(test)]
mod tests;
