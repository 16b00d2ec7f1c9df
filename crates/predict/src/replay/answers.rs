//! What keys were seen to do, in which part of which program.

use crate::replay::answer::Answer;

/// Most answers that are remembered; the one that was seen least recently goes. Chosen: some for each of a handful
/// of programs.
const ANSWERS_MAX: usize = 64;

/// How often the same must have been seen again before it is believed, and how many times more often after each
/// error.
const NEEDED: u16 = 1;
const NEEDED_FACTOR: u16 = 4;
/// Most proofs that an answer may need.
const PROOFS_MAX: u16 = 256;

/// In so many runs of programs the same must have been seen, before it is believed at the start of another one,
/// which may be of another program.
const VISITS_MIN: u16 = 2;

/// What tells an answer from others: the key, and the scene that it was pressed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) scene: u64,
    pub(super) key: u64,
}

/// All answers that were seen, the one seen last at the end.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    known: Vec<Known>,
    /// How often another program may have been called.
    visit: u64,
    has_screen: bool,
}

#[derive(Clone, Debug)]
struct Known {
    question: Question,
    answer: Answer,
    /// Whether the key is a character.
    is_text: bool,
    /// How often in a row it was seen again, and how often is enough.
    streak: u16,
    needed: u16,
    /// When it was seen last, and in how many runs of programs.
    visit: u64,
    visits: u16,
}

impl Answers {
    /// Takes whether a program has a screen of its own.
    pub(super) fn note_screen(&mut self, has_screen: bool) {
        let is_new = core::mem::replace(&mut self.has_screen, has_screen) != has_screen;
        self.visit += u64::from(is_new);
    }

    /// Takes that a line was entered that may call another program.
    pub(super) const fn note_call(&mut self) {
        self.visit += 1;
    }

    /// Returns whether anything was seen of a key, wherever it was pressed.
    pub(super) fn knows(&self, key: u64) -> bool {
        self.known.iter().any(|known| known.question.key == key)
    }

    /// Returns what was seen.
    pub(super) fn seen(&self, question: Question) -> Option<&Answer> {
        self.find(question).map(|known| &known.answer)
    }

    /// Returns what is believed to be seen again.
    pub(super) fn believed(&self, question: Question, is_text: bool) -> Option<&Answer> {
        let known = self.find(question)?;
        // What is text in other programs must have been a command in this one.
        let is_command = |other: &Known| {
            other.question.scene == question.scene && other.is_text && other.visit == self.visit
        };
        let is_here = known.visit == self.visit
            || known.visits >= VISITS_MIN && (!is_text || self.known.iter().any(is_command));
        (is_here && known.streak >= known.needed).then_some(&known.answer)
    }

    /// Takes that a key has done again what it did before, which is now known as this.
    pub(super) fn hit(&mut self, question: Question, answer: Answer) {
        let Some(mut known) = self.take(question) else { return };
        if known.visit != self.visit {
            known.visits = known.visits.saturating_add(1);
        }
        known.visit = self.visit;
        known.streak = known.streak.saturating_add(1);
        known.answer = answer;
        self.known.push(known);
    }

    /// Takes that a key has done something else than before, or not been seen before. What was
    /// thought of before it was seen counts as seen again.
    pub(super) fn learn(
        &mut self,
        question: Question,
        answer: Option<Answer>,
        is_text: bool,
        is_foreseen: bool,
    ) {
        let needed = self.take(question).map_or(NEEDED, |known| known.needed);
        let Some(answer) = answer else { return };
        if self.known.len() >= ANSWERS_MAX {
            self.known.remove(0);
        }
        let (visit, streak) = (self.visit, u16::from(is_foreseen));
        self.known.push(Known { question, answer, is_text, streak, needed, visit, visits: 1 });
    }

    /// Takes that the user has seen something that a key has not done.
    pub(super) fn miss(&mut self, question: Question) {
        let known = self.known.iter_mut().find(|known| known.question == question);
        if let Some(known) = known {
            known.streak = 0;
            known.needed = known.needed.saturating_mul(NEEDED_FACTOR).min(PROOFS_MAX);
        }
    }

    fn find(&self, question: Question) -> Option<&Known> {
        self.known.iter().find(|known| known.question == question)
    }

    fn take(&mut self, question: Question) -> Option<Known> {
        let index = self.known.iter().position(|known| known.question == question)?;
        Some(self.known.remove(index))
    }
}

#[cfg(test)]
mod tests {
    use rove_terminal::{Position, Screen, Size, Terminal};

    use super::*;
    use crate::replay::answer::Place;
    use crate::scene;

    /// Returns a screen on which this was printed.
    fn screen(output: &str) -> Screen {
        let mut terminal = Terminal::host(Size::new(20, 12).unwrap());
        terminal.write(output.as_bytes());
        terminal.snapshot()
    }

    fn answer(output: &str) -> Option<Answer> {
        let (before, after) = (screen("text\x1b[H"), screen(&format!("text{output}")));
        let pane = scene::pane(&before, Position { row: 0, column: 0 });
        Answer::between(&before, &after, Place { pane, left: 0 }, None)
    }

    fn question(key: u64) -> Question {
        Question { scene: 1, key }
    }

    #[test]
    fn an_answer_changes_a_few_rows_at_most() {
        let rows = |count: u16| -> String {
            let row = |row: u16| format!("\x1b[{}Hx", 12 - row);
            (1..count).map(row).collect::<String>() + "\x1b[12H:"
        };
        assert!(answer(&rows(4)).is_some_and(|answer| answer.opens_line()));
        assert_eq!(answer(&rows(5)), None);
    }

    #[test]
    fn the_answer_seen_least_recently_is_forgotten() {
        let mut answers = Answers::default();
        let last = u64::try_from(ANSWERS_MAX).unwrap();
        for key in 0..=last {
            answers.learn(question(key), answer("\x1b[12H:"), false, true);
            assert_eq!(answers.known.len(), ANSWERS_MAX.min(usize::try_from(key).unwrap() + 1));
        }
        assert_eq!(answers.seen(question(0)), None);
        assert!(answers.believed(question(last), false).is_some());
    }

    #[test]
    fn an_error_makes_more_proofs_needed_each_time() {
        let mut answers = Answers::default();
        let seen = answer("\x1b[12H:").unwrap();
        answers.learn(question(0), Some(seen.clone()), false, true);
        for needed in [4, 16, 64, 256, 256] {
            answers.miss(question(0));
            for count in 1..=needed {
                assert!(answers.believed(question(0), false).is_none(), "{count} of {needed}");
                answers.hit(question(0), seen.clone());
            }
            assert!(answers.believed(question(0), false).is_some());
        }
    }
}
