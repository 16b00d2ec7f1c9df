//! Keys that the kernel itself echoes, while a program reads lines and the server says so.
//!
//! What the kernel will do is known exactly ([`discipline`]), so there is nothing to learn. What must be
//! watched is time: the server's word is as old as the newest screen, and the program may have ended the
//! echo since, as those do that ask for a password. [`crate::secrecy`] decides what may be seen
//! for all that, and what is typed behind a finished line waits until its answer is there.

mod discipline;

use std::collections::VecDeque;

use rove_terminal::{Position, Screen, Terminal};
use rove_units::Instant;

use self::discipline::{Answer, Discipline};
use crate::engine::{InputNum, Network};
use crate::overlay::{self, Content};
use crate::policy::Policy;
use crate::secrecy::Line;
use crate::tty::Tty;

/// Most bytes on their way; with more nothing is predicted until the last of them was answered.
/// Chosen: a minute of fast typing.
const BYTES_MAX: usize = 512;

/// A byte on its way.
#[derive(Clone, Debug)]
struct Typed {
    byte: u8,
    /// The first input that holds it.
    input: InputNum,
    at: Instant,
    /// Whether the newest screen may show it already, nobody knows where.
    is_adrift: bool,
    /// Whether the terminal may have been in another state when it came there.
    is_foreign: bool,
}

/// What is predicted of keys that the kernel echoes.
#[derive(Clone, Debug)]
pub(crate) struct Cooked {
    tty: Option<Tty>,
    /// Whether its state is another than that of the screen before.
    has_changed: bool,
    network: Network,
    typed: VecDeque<Typed>,
    /// The last byte of more than are kept.
    lost: Option<InputNum>,
    /// The terminal on which the first byte is echoed, where that is known.
    ground: Option<Box<Terminal>>,
    discipline: Discipline,
    /// The newest screen.
    screen: Option<Screen>,
    /// The line that is typed at this prompt.
    line: Line,
    due: Option<Instant>,
}

impl Cooked {
    pub(crate) fn new() -> Self {
        Self {
            tty: None,
            has_changed: false,
            network: Network::UNHEARD,
            typed: VecDeque::new(),
            lost: None,
            ground: None,
            discipline: Discipline::new(Tty::USUAL),
            screen: None,
            line: Line::default(),
            due: None,
        }
    }

    /// Takes the state of the terminal that goes with the newest screen.
    pub(crate) fn handle_tty(&mut self, tty: Option<Tty>) {
        if self.tty == tty {
            return;
        }
        self.tty = tty;
        self.screen = None;
        self.ground = None;
        self.discipline = Discipline::new(tty.unwrap_or(Tty::USUAL));
        self.has_changed = true;
    }

    /// Takes what the network has told.
    pub(crate) fn handle_network(&mut self, network: Network) {
        self.network = network;
    }

    /// Takes keys on their way.
    pub(crate) fn handle_keys(&mut self, now: Instant, sent: InputNum, keys: &[u8]) {
        let input = sent.next();
        for &byte in keys {
            if self.typed.len() >= BYTES_MAX || self.lost.is_some() {
                self.lost = Some(input);
                self.forget(self.typed.len());
                self.ground = None;
            } else {
                self.typed.push_back(Typed {
                    byte,
                    input,
                    at: now,
                    is_adrift: false,
                    is_foreign: false,
                });
            }
        }
    }

    /// Forgets all predictions.
    pub(crate) fn reset(&mut self) {
        self.typed.iter_mut().for_each(|typed| typed.is_adrift = true);
        self.ground = None;
        self.screen = None;
    }

    /// Returns whether there is any key on its way.
    pub(crate) fn is_active(&self) -> bool {
        !self.typed.is_empty()
    }

    /// Returns when to make a new frame though nothing has happened.
    pub(crate) const fn poll_timeout(&self) -> Option<Instant> {
        self.due
    }

    /// Returns the newest screen with what is predicted on it, or `None` where the kernel echoes nothing and
    /// what is typed is no secret either.
    pub(crate) fn frame(
        &mut self,
        now: Instant,
        screen: &Screen,
        policy: &mut Policy,
    ) -> Option<Screen> {
        self.due = None;
        let tty = self.tty.filter(|tty| tty.echoes_lines() || tty.hides_input());
        if self.lost.is_some_and(|lost| lost <= self.network.echo_ack) {
            self.lost = None;
        }
        let (due, arrived) = (self.count(self.network.echo_ack), self.count(self.network.arrived));
        let arrived = arrived.max(due);
        if core::mem::take(&mut self.has_changed) {
            self.typed.iter_mut().take(arrived).for_each(|typed| typed.is_foreign = true);
        }
        let Some(tty) = tty.filter(|tty| tty.echoes_lines()) else {
            self.forget(due);
            return tty.map(|_| screen.clone());
        };
        if !self.settle(now, screen, due, arrived, policy) {
            self.lose_track(screen, tty, due, arrived);
        }
        self.screen = Some(screen.clone());
        Some(self.show(now, screen, policy))
    }

    /// Returns how many bytes an acknowledgment covers.
    fn count(&self, input: InputNum) -> usize {
        self.typed.iter().take_while(|typed| typed.input <= input).count()
    }

    /// Settles the bytes that the screen shows, of which there are `due` at least and `arrived` at most;
    /// returns whether their number could be told.
    fn settle(
        &mut self,
        now: Instant,
        screen: &Screen,
        due: usize,
        arrived: usize,
        policy: &mut Policy,
    ) -> bool {
        let Some(mut ground) = self.ground.clone() else { return false };
        let (mut discipline, mut line) = (self.discipline.clone(), self.line);
        let mut count = 0;
        // The least that agrees: what is left leads to the same picture.
        while count < due || !agrees(ground.screen(), screen) {
            let Some(typed) = self.typed.get(count).filter(|_| count < arrived) else {
                return false;
            };
            match play(&mut ground, &mut discipline, typed.byte) {
                Answer::Unknown => return false,
                Answer::HandedOver => line = Line::default(),
                Answer::Echoed => line.note_echo(char::from(typed.byte)),
            }
            count += 1;
        }
        for typed in self.typed.iter().take(count) {
            policy.handle_confirmation(now, now.saturating_since(typed.at));
        }
        self.forget(count);
        (self.ground, self.discipline, self.line) = (Some(ground), discipline, line);
        true
    }

    /// Gives up the bytes that are due, and begins anew on this screen once nothing more can be on it.
    fn lose_track(&mut self, screen: &Screen, tty: Tty, due: usize, arrived: usize) {
        let mut unseen = Vec::new();
        for typed in self.typed.iter().take(due) {
            if typed.is_foreign {
                self.discipline = Discipline::new(tty);
            } else {
                self.discipline.type_byte(typed.byte, &mut unseen);
                unseen.clear();
            }
        }
        self.forget(due);
        self.typed.iter_mut().take(arrived - due).for_each(|typed| typed.is_adrift = true);
        if self.screen.as_ref().is_none_or(|known| !agrees(known, screen)) {
            self.line = Line::default();
        }
        // In the last column nobody knows whether the next character wraps.
        let is_placed = screen.cursor().column + 1 < screen.size().columns();
        let is_adrift =
            self.lost.is_some() || self.typed.front().is_some_and(|typed| typed.is_adrift);
        self.ground =
            (is_placed && !is_adrift).then(|| Box::new(Terminal::showing(screen.clone())));
    }

    fn show(&mut self, now: Instant, screen: &Screen, policy: &mut Policy) -> Screen {
        let mut frame = screen.clone();
        let Some(mut terminal) = self.ground.clone() else { return frame };
        let mut discipline = self.discipline.clone();
        let mut oldest = None;
        for typed in &self.typed {
            if !self.line.may_show() {
                break;
            }
            let answer = play(&mut terminal, &mut discipline, typed.byte);
            if answer == Answer::Unknown {
                break;
            }
            oldest = oldest.or(Some(typed.at));
            if answer == Answer::HandedOver {
                break;
            }
        }
        if let Some(at) = oldest {
            policy.handle_wait(now.saturating_since(at));
            self.due = Policy::next_glitch(at, now);
            if policy.shows() {
                lay(&mut frame, terminal.screen(), policy.underlines());
            }
        }
        frame
    }

    /// Forgets the oldest bytes, which may be secret.
    fn forget(&mut self, count: usize) {
        for mut typed in self.typed.drain(..count) {
            typed.byte = 0;
            core::hint::black_box(&typed.byte);
        }
    }
}

/// Types a byte at a terminal; where the answer is unknown, it is left as it was.
fn play(terminal: &mut Terminal, discipline: &mut Discipline, byte: u8) -> Answer {
    let mut echo = Vec::new();
    let answer = discipline.type_byte(byte, &mut echo);
    if answer != Answer::Unknown {
        terminal.write(&echo);
    }
    answer
}

/// Returns whether two screens look the same.
fn agrees(ours: &Screen, theirs: &Screen) -> bool {
    let (a, b) = (ours.cursor(), theirs.cursor());
    (a.row, a.column) == (b.row, b.column)
        && ours.size() == theirs.size()
        && (0..ours.size().rows()).all(|row| same_cells(ours, theirs, row))
}

fn same_cells(ours: &Screen, theirs: &Screen, row: u16) -> bool {
    let (Some(ours), Some(theirs)) = (ours.row(row), theirs.row(row)) else { return true };
    core::ptr::eq(ours, theirs) || ours.cells() == theirs.cells()
}

/// Lays what is predicted over a screen.
fn lay(frame: &mut Screen, predicted: &Screen, underlines: bool) {
    for row in 0..predicted.size().rows() {
        if same_cells(frame, predicted, row) {
            continue;
        }
        for column in 0..predicted.size().columns() {
            let at = Position { row, column };
            if let Some(glyph) = predicted.glyph(at) {
                overlay::lay(frame, at, &Content { is_unknown: false, glyph }, underlines);
            }
        }
        frame.mend_row(row);
    }
    frame.place_cursor(predicted.cursor().position());
}

#[cfg(test)]
mod tests;
