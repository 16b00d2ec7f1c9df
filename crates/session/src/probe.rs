//! Asks the user's terminal for its capabilities, and separates its answers from the user's keys.
//!
//! The terminal's answers arrive in the same input as the user's keys. The probe removes only answers that it awaits,
//! each once and in a single form. All other bytes pass unchanged and in order.

mod answer;
mod columns;
mod learned;

use std::collections::VecDeque;

use rove_terminal::{NewerChar, Screen};
use rove_units::{Duration, Instant};

pub(crate) use self::answer::Answer;
use self::answer::{Question, Reading};
pub(crate) use self::columns::blank_row;
use self::columns::{concealed, newer_chars, question};

const ESC: u8 = 0x1b;

/// How long after the questions the probe still recognises answers. Chosen: longer than a terminal at the end of a bad
/// ssh connection needs.
const LISTEN: Duration = Duration::from_secs(5);

/// How long the probe holds back bytes that a user may have typed: ESC, or ESC and one byte. Chosen: nobody notices
/// such a delay of a key just after the start.
const KEY_HOLD: Duration = Duration::from_millis(50);
/// Longest beginning of an answer that a user may also have typed, in bytes.
const KEY_LEN: usize = 2;
/// How long the probe waits for the rest of an answer after more than [`KEY_LEN`] bytes. Chosen: the terminal writes an
/// answer at once, and a connection in between may pause.
const ANSWER_HOLD: Duration = Duration::from_millis(250);

/// How long the end of a session waits for the rest of the answers, counted from the questions. Later answers would
/// appear on the prompt of the user's shell. Chosen: longer than the round trip to most terminals; a session longer
/// than this does not wait.
const FAREWELL_WAIT: Duration = Duration::from_millis(500);
/// How long the end of a session waits for the first answer, counted from the questions. Chosen: in a script no
/// terminal answers. With this wait the shortest session still takes less than the 0.3 s of Mosh 1.4.0. Most terminals
/// answer sooner.
const FAREWELL_WAIT_UNANSWERED: Duration = Duration::from_millis(250);

/// Maximum number of characters whose width a session asks the terminal for. Chosen: twice as many as a server keeps.
const LOOKED_UP_MAX: usize = 64;

/// The questions to the terminal, and the input bytes that may begin an answer.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    /// Whether the terminal is known to ignore unknown questions silently, so that it may be asked.
    enabled: bool,
    /// The questions, asked or still to be asked, that the terminal has not answered.
    awaited: Vec<Question>,
    /// When the newest questions were asked. `None` before the first.
    asked_at: Option<Instant>,
    /// Whether the terminal has answered anything.
    answered: bool,
    /// Whether the terminal has answered the last of the questions, device attributes.
    complete: bool,
    /// Whether the terminal has reported its cursor position after a sample ([`columns`]).
    has_measured: bool,
    /// Characters of newer Unicode versions than rove's width table, for whose width the terminal was asked.
    looked_up: Vec<NewerChar>,
    /// Whether answers may still arrive. If so, the end of the session waits for them a short time.
    owes_answers: bool,
    /// Input bytes that may be the beginning of an answer. `held_since` is the time of the first.
    held: Vec<u8>,
    held_since: Instant,
    answers: VecDeque<Answer>,
}

impl Probe {
    /// Creates a probe that has asked nothing. It never asks if `enabled` is false.
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

    /// Returns the questions to write to the terminal, which the client has just taken over. Empty if the client may
    /// not ask, or if the terminal has answered or may still answer. `sets_alternate_scroll` states that the session
    /// has set mode 1007, so that the terminal cannot report its own setting. The questions print samples in
    /// `blank_row`, where a terminal also prints unknown questions. Without a blank row, the caller repaints.
    pub(crate) fn ask(
        &mut self,
        now: Instant,
        sets_alternate_scroll: bool,
        blank_row: Option<u16>,
    ) -> Vec<u8> {
        // At a stray SIGCONT the client takes the terminal over again, perhaps before the terminal has answered. Each
        // question may have only one answer: the probe would take a second one for keys.
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
                question => match blank_row.filter(|_| question.may_be_printed()) {
                    Some(row) => questions.extend(concealed(question.text(), row)),
                    None => questions.extend(question.text().as_bytes()),
                },
            }
        }
        questions
    }

    /// Returns the question for the width of one character in `frame` of a newer Unicode version than rove's width
    /// table. Each character is asked for once. The result is empty while answers are awaited, without a blank row, or
    /// if the terminal did not answer the [`columns`] samples.
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

    /// Removes the answers from the terminal's input, and appends all other bytes to `keys`.
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

    /// Appends to `keys` the bytes that were held for too long, and stops waiting for answers that are too late.
    pub(crate) fn handle_timeout(&mut self, now: Instant, keys: &mut Vec<u8>) {
        if self.held_until().is_some_and(|due| due <= now) {
            keys.append(&mut self.held);
        }
        if self.farewell_at().is_some_and(|due| due <= now) {
            self.owes_answers = false;
        }
    }

    /// Returns when to call [`Probe::handle_timeout`]. `None` if nothing is held or awaited.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.held_until().into_iter().chain(self.farewell_at()).min()
    }

    pub(crate) fn poll_answer(&mut self) -> Option<Answer> {
        self.answers.pop_front()
    }

    /// Returns whether the end of the session should wait for answers, so that they do not go to the shell.
    pub(crate) const fn owes_answers(&self) -> bool {
        self.owes_answers
    }

    /// Returns whether the probe awaits answers and recognises them in the input.
    fn is_listening(&self, now: Instant) -> bool {
        !self.awaited.is_empty() && self.asked_at.is_some_and(|asked| now < asked + LISTEN)
    }

    /// Divides the held bytes into answers and keys, as far as both are complete.
    fn settle(&mut self, keys: &mut Vec<u8>) {
        while !self.held.is_empty() {
            match self.read_held() {
                Reading::Beginning => return,
                Reading::Answer(answer) => {
                    self.answered = true;
                    match answer {
                        Answer::End => {
                            self.complete = true;
                            // A terminal reports its cursor at once, so missing reports of samples will not come.
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
                // These bytes are no answer, but an answer may begin at a later ESC.
                Reading::Other => {
                    let next = self.held.iter().skip(1).position(|&byte| byte == ESC);
                    let end = next.map_or(self.held.len(), |at| at + 1);
                    keys.extend(self.held.drain(..end));
                }
            }
        }
    }

    /// Reads the held bytes as an answer or its beginning. Removes an answered question from the awaited ones.
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

    /// Returns when the held bytes count as keys. `None` if no bytes are held.
    fn held_until(&self) -> Option<Instant> {
        let hold = if self.held.len() > KEY_LEN { ANSWER_HOLD } else { KEY_HOLD };
        (!self.held.is_empty()).then(|| self.held_since + hold)
    }

    /// Returns when the end of the session stops waiting for answers. `None` if it does not wait.
    fn farewell_at(&self) -> Option<Instant> {
        let wait = if self.answered { FAREWELL_WAIT } else { FAREWELL_WAIT_UNANSWERED };
        Some(self.asked_at.filter(|_| self.owes_answers)? + wait)
    }
}

#[cfg(test)]
mod tests;
