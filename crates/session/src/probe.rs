//! Asks the user's terminal what it can do, and tells its answers from the user's keys.
//!
//! The answers come in where the keys do. Only awaited answers are taken out, each once and in its one form. All other
//! bytes pass unchanged and in order.

mod answer;
mod columns;
mod learned;

use std::collections::VecDeque;

use rove_terminal::{NewerChar, Screen};
use rove_units::{Duration, Instant};

pub(crate) use self::answer::Answer;
use self::answer::{Question, Reading};
pub(crate) use self::columns::blank_row;
use self::columns::{newer_chars, question};

const ESC: u8 = 0x1b;

/// How long after the questions an answer is still taken for one.
/// Chosen: more than a terminal behind a bad ssh connection takes.
const LISTEN: Duration = Duration::from_secs(5);

/// How long the probe waits for more after bytes that a user may have typed: ESC, or ESC and one byte. Chosen: what
/// nobody notices on a key, in the moments after the start.
const KEY_HOLD: Duration = Duration::from_millis(50);
/// Longest beginning of an answer that a user may have typed.
const KEY_LEN: usize = 2;
/// How long the probe waits for the rest of an answer, once it has more than a key begins with. Chosen: the terminal
/// writes an answer at once, and a connection between may pause.
const ANSWER_HOLD: Duration = Duration::from_millis(250);

/// How long the end of a session waits for the rest of the answers, counted from the questions: they
/// would appear on the prompt of the user's shell. Chosen: more than most terminals' round trip; a
/// session that lasts longer does not wait.
const FAREWELL_WAIT: Duration = Duration::from_millis(500);
/// How long it waits for the first answer. Chosen: under a script nobody answers, and the shortest
/// session is then still over sooner than with stock Mosh 1.4.0, which takes 0.3 s; a terminal that
/// answers at all is nearer.
const FAREWELL_WAIT_UNANSWERED: Duration = Duration::from_millis(250);

/// Most characters that the terminal is asked for in a session. Chosen: twice what a server keeps.
const LOOKED_UP_MAX: usize = 64;

/// The questions to the terminal, and the bytes that may begin an answer.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    /// Whether the terminal surely swallows a question that it does not know.
    enabled: bool,
    /// The questions without an answer yet.
    awaited: Vec<Question>,
    /// When the questions were asked.
    asked_at: Option<Instant>,
    /// Whether the terminal has answered anything.
    answered: bool,
    /// Whether the terminal has given its last answer.
    complete: bool,
    /// Whether the terminal has reported its cursor after a sample.
    has_measured: bool,
    /// The characters that it was asked for because our tables do not know them.
    looked_up: Vec<NewerChar>,
    /// Whether the terminal may still be about to answer.
    owes_answers: bool,
    /// Bytes that may be the beginning of an answer, and since when.
    held: Vec<u8>,
    held_since: Instant,
    answers: VecDeque<Answer>,
}

impl Probe {
    /// Creates a probe that has asked nothing yet, and will not unless `enabled`.
    pub(crate) fn new(enabled: bool) -> Self {
        Self {
            enabled,
            awaited: Question::all(),
            asked_at: None,
            answered: false,
            complete: false,
            has_measured: false,
            looked_up: Vec::new(),
            owes_answers: false,
            held: Vec::new(),
            held_since: Instant::ZERO,
            answers: VecDeque::new(),
        }
    }

    /// Returns the questions for a terminal just taken over; none once it has answered, or is about to. With
    /// `sets_alternate_scroll`, the session has already changed that mode, so the terminal could not tell its earlier
    /// value. Samples to be measured are printed in `blank_row`.
    pub(crate) fn ask(
        &mut self,
        now: Instant,
        sets_alternate_scroll: bool,
        blank_row: Option<u16>,
    ) -> Vec<u8> {
        // Taken over again before it could answer, as a stray SIGCONT makes it: each question has one
        // answer, and a second would be typed into the program.
        if !self.enabled || self.complete || self.owes_answers {
            return Vec::new();
        }
        self.asked_at = Some(now);
        self.owes_answers = true;
        let mut questions = Vec::new();
        for question in &self.awaited {
            match question {
                Question::AlternateScroll if sets_alternate_scroll => {}
                Question::Columns(sample) => questions.extend(sample.question(blank_row)),
                question => questions.extend(question.text()),
            }
        }
        questions
    }

    /// Returns the question for one character of a frame that the terminal shows and our tables do not know, each once; none
    /// while answers are awaited, without a blank row, or where the samples of the start have found no answer.
    pub(crate) fn ask_newer(&mut self, now: Instant, frame: &Screen) -> Vec<u8> {
        let is_able = self.complete && self.has_measured && self.looked_up.len() < LOOKED_UP_MAX;
        if !is_able || self.is_listening(now) {
            return Vec::new();
        }
        let Some(c) = newer_chars(frame).find(|c| !self.looked_up.contains(c)) else {
            return Vec::new();
        };
        let Some(row) = blank_row(frame) else { return Vec::new() };
        self.looked_up.push(c);
        self.awaited = vec![Question::Newer(c)];
        self.asked_at = Some(now);
        self.owes_answers = true;
        question(c.char().encode_utf8(&mut [0; 4]), row)
    }

    /// Removes the answers from the terminal's bytes, and appends the rest to `keys`.
    pub(crate) fn handle_input(&mut self, now: Instant, bytes: &[u8], keys: &mut Vec<u8>) {
        self.handle_timeout(now, keys);
        for &byte in bytes {
            if self.held.is_empty() {
                if byte != ESC || !self.is_listening(now) {
                    keys.push(byte);
                    continue;
                }
                self.held_since = now;
            }
            self.held.push(byte);
            self.settle(keys);
        }
    }

    /// Does what is due: bytes held for too long are keys.
    pub(crate) fn handle_timeout(&mut self, now: Instant, keys: &mut Vec<u8>) {
        if self.held_until().is_some_and(|due| due <= now) {
            keys.append(&mut self.held);
        }
        if self.farewell_at().is_some_and(|due| due <= now) {
            self.owes_answers = false;
        }
    }

    /// Returns when to call [`Probe::handle_timeout`].
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.held_until().into_iter().chain(self.farewell_at()).min()
    }

    pub(crate) fn poll_answer(&mut self) -> Option<Answer> {
        self.answers.pop_front()
    }

    /// Returns whether the session should wait with its end, so that the terminal's answers do not go to its next
    /// reader.
    pub(crate) const fn owes_answers(&self) -> bool {
        self.owes_answers
    }

    /// Returns whether answers are still taken for such.
    fn is_listening(&self, now: Instant) -> bool {
        !self.awaited.is_empty() && self.asked_at.is_some_and(|asked| now < asked + LISTEN)
    }

    /// Decides on the held bytes, as far as possible.
    fn settle(&mut self, keys: &mut Vec<u8>) {
        while !self.held.is_empty() {
            match self.read_held() {
                Reading::Beginning => return,
                Reading::Answer(answer) => {
                    self.answered = true;
                    match answer {
                        Answer::End => {
                            self.complete = true;
                            // A terminal reports its cursor at once.
                            self.awaited.retain(|it| !matches!(it, Question::Columns(_)));
                            self.owes_answers = false;
                        }
                        Answer::Columns(_) => self.has_measured = true,
                        Answer::Newer(..) => self.owes_answers = false,
                        _ => {}
                    }
                    self.answers.push_back(answer);
                    self.held.clear();
                }
                // An answer may begin at a later ESC.
                Reading::Other => {
                    let next = self.held.iter().skip(1).position(|&byte| byte == ESC);
                    let end = next.map_or(self.held.len(), |at| at + 1);
                    keys.extend(self.held.drain(..end));
                }
            }
        }
    }

    /// Reads the held bytes; a question that they answer is awaited no more.
    fn read_held(&mut self) -> Reading {
        let mut reading = Reading::Other;
        for (at, question) in self.awaited.iter().enumerate() {
            match question.read(&self.held) {
                Reading::Answer(answer) => {
                    self.awaited.remove(at);
                    return Reading::Answer(answer);
                }
                Reading::Beginning => reading = Reading::Beginning,
                Reading::Other => {}
            }
        }
        reading
    }

    /// Returns when the held bytes count as keys.
    fn held_until(&self) -> Option<Instant> {
        let hold = if self.held.len() > KEY_LEN { ANSWER_HOLD } else { KEY_HOLD };
        (!self.held.is_empty()).then(|| self.held_since + hold)
    }

    /// Returns when the session's end waits for answers no more.
    fn farewell_at(&self) -> Option<Instant> {
        let wait = if self.answered { FAREWELL_WAIT } else { FAREWELL_WAIT_UNANSWERED };
        Some(self.asked_at.filter(|_| self.owes_answers)? + wait)
    }
}

#[cfg(test)]
mod tests;
