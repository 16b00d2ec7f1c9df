//! The judge: when each key's answer was seen, and which drawings were wrong.
//!
//! The judge knows the recorded screens, which the recorded output makes, one after each record. After each write of
//! the client it gets the screen of the user's terminal, and the cause of the write.

use rove_terminal::{Position, Screen};
use rove_units::{Duration, Instant};

use crate::replay::flicker::{Change, Watch};
use crate::replay::picture::{Album, Picture, PictureId, TextId};
use crate::replay::script::{Key, Script};

/// A mistake is late if it stays for longer than this after the host's own answer.
const CORRECTION_GRACE: Duration = Duration::from_millis(100);

/// The reason why the client wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A key or a timer: the drawing is the client's own.
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
    /// When the host's own answer reached the client.
    pub(crate) answered_at: Option<Instant>,
    /// Faults of drawings whose cause was [`Cause::Own`], while this was the last key.
    pub(crate) own: Faults,
    /// Faults of predictions that an arriving datagram made the client show while this was the last key.
    pub(crate) revealed: Faults,
    /// Whether the answer was on the screen before the key was sent, and has been there since.
    held: bool,
}

impl Outcome {
    /// Returns how long the user waited for the key's answer. `None` if the user never saw it.
    pub(crate) fn latency(&self) -> Option<Duration> {
        Some(self.seen_at?.saturating_since(self.sent_at?))
    }

    /// Returns whether the key's answer was on the screen before the key, and has stayed there.
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

/// Something wrong on the screen, and how long it stayed there.
#[derive(Clone, Copy, Debug)]
pub struct Mistake {
    /// The last key before the mistake.
    pub(crate) key: usize,
    pub(crate) since: Instant,
    /// When the whole screen first was a recorded one again.
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

/// A change on the user's screen that was taken back within a moment.
#[derive(Clone, Copy, Debug)]
pub struct Flicker {
    pub(crate) change: Change,
    /// The last key before the flicker. `None` before the first key.
    pub(crate) key: Option<usize>,
    /// Whether the client alone made the flicker. It did not if two keys made the change and took it back, or if the
    /// recorded screens do the same, maybe in another row.
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
    /// The number of the recorded screen that the client had at the last write.
    watched_host: usize,
    sent: usize,
    /// The indices of the sent keys whose answers the user has not seen yet, in order.
    unseen: Vec<usize>,
    /// The number of the recorded screen that the user saw last.
    matched: usize,
    /// Whether the user sees a recorded screen now.
    is_true: bool,
    shown: Picture,
    /// The client's copy of the host's screen, and its number among the recorded screens.
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

    /// Notes that the next key is sent.
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

    /// Stores the client's copy of the host's screen, and finds its number among the recorded screens.
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

    /// Records that the client has received the recorded screen `number`, if it is newer than the last. For another
    /// project's client, such as stock Mosh's, the caller infers the number from the client's drawings.
    pub fn handle_host_number(&mut self, now: Instant, number: usize) {
        if number > self.host.1 {
            self.host = (self.script.truth[number].clone(), number);
            self.answer(now);
        }
    }

    /// Notes that the client has the host's answers to all keys that were sent, even those that did not change the
    /// screen.
    pub fn handle_all_answers(&mut self, now: Instant) {
        if self.settled_at.is_none() {
            self.settled_at = Some(now);
            self.see_settled(now);
        }
    }

    /// Judges the user's terminal after a write. Notices cover `notice_rows` at the top. Returns the screen's faults.
    /// `None` if neither the screen nor its faults have changed.
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

    /// Records the parts of the screen that have flickered.
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

    /// Returns the recorded screens that count as right at this time: from the last one seen to the newest possible.
    pub(crate) fn possible(&self) -> &'a [Picture] {
        &self.script.truth[self.matched..=self.script.reached(self.sent)]
    }

    /// Returns the recorded screens whose colours are right: [`Self::possible`], and those from the host screen on.
    fn painted(&self) -> &'a [Picture] {
        &self.script.truth[self.matched.min(self.host.1)..=self.script.reached(self.sent)]
    }

    /// Returns whether the last recorded screen has reached the client, and is shown.
    pub(crate) fn is_at_end(&self) -> bool {
        let end = self.script.truth[self.script.end()].id;
        self.shown.id == end && self.host.0.id == end
    }

    /// Returns the number of the recorded screen that is shown. `None` if the user sees another screen.
    pub const fn matched(&self) -> Option<usize> {
        if self.is_true { Some(self.matched) } else { None }
    }

    /// Returns whether the user sees the screen that the host leaves after all keys that were sent.
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

    /// Returns when the user saw the answer to the newest key with an answer, or when the newest key was sent if that
    /// was later. `None` while that answer is still to be seen.
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

    /// Finds the number of the first recorded screen from `first` on with this picture.
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

    /// Marks the answers to all keys as seen if the screen is the one after the last answer. The host must have
    /// answered all keys. Before that, an equal screen may be older, as when a character was rubbed out.
    fn see_settled(&mut self, now: Instant) {
        let last = self.script.keys[..self.sent].iter().rev().find_map(|key| key.after);
        if let Some(last) = last.filter(|last| self.script.truth[*last].id == self.shown.id) {
            self.see(now, |key, _| key.after.is_some_and(|after| after <= last));
        }
    }

    /// Marks answers as seen that are on a screen unlike every recorded one, such as a prediction without side effects.
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
        // The answer to a typing key covers the answers to earlier typing keys on its row.
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

    /// Clears the mark of answers that were on the screen when their keys were sent, but have gone since.
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

    /// Returns whether the screen has a key's answer: the change that leads to the recorded screen `after`.
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

    /// Returns whether `shown` has the text of `after` in every cell in which `before` and `after` differ.
    fn has_change(&self, before: TextId, after: TextId, shown: TextId) -> bool {
        if before == after || shown == after {
            return true;
        }
        let [before, after, shown] = [before, after, shown].map(|text| self.album.glyphs(text));
        before.iter().zip(after).zip(shown).all(|((old, new), shown)| old == new || shown == new)
    }

    /// Compares the user's screen with the recorded screens that count as right at this time.
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
        // Only a visible cursor can be seen at a wrong place.
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
                // A prediction that is ahead of the host may lack side effects, such as a ruler. A cell that is still
                // as on the host's screen is then old, but no mistake.
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
