//! The client end: a user who types the recording, and judges what the terminal shows.

use rove_headless::{Act, ClientEnd, User};
use rove_session::{Client, ClientConfig, Explanation};
use rove_ssp::ReceiveError;
use rove_terminal::{Screen, Terminal};
use rove_units::Instant;

use crate::replay::judge::{Cause, Judge, Verdict};
use crate::replay::pace::{Pace, Pacer};
use crate::replay::script::Script;

/// Beginning of the client's notices, by which the judge tells them from the host's text.
pub(super) const NOTICE: &str = "rove-lab-replay";

/// A user who types what was recorded.
pub(super) struct Typist<'a> {
    pacer: Pacer<'a>,
    pub(super) judge: Judge<'a>,
    cause: Cause,
    /// The record for an explanation, if the run is to be explained.
    pub(super) notes: Option<Notes>,
    /// Whether the view after the newest key is still to be noted.
    is_note_due: bool,
}

/// The record of a run that an explanation needs.
#[derive(Debug, Default)]
pub struct Notes {
    /// The two screens just after the client took each key.
    pub(super) keys: Vec<View>,
    /// The engine's reasons to show each key or not. `None` if the engine gives no reasons.
    pub(super) reasons: Vec<Option<Explanation>>,
    /// The drawings that were wrong.
    pub(super) drawings: Vec<Drawing>,
}

/// The user's and the host's screen at one instant.
#[derive(Clone, Debug)]
pub(crate) struct View {
    /// The screen of the user's terminal.
    pub(super) shown: Screen,
    /// The host's screen, as far as the client knew it.
    pub(super) host: Screen,
}

/// A drawing that was wrong.
#[derive(Clone, Debug)]
pub(crate) struct Drawing {
    pub(super) at: Instant,
    pub(super) cause: Cause,
    /// The last key before the drawing.
    pub(super) key: usize,
    pub(super) verdict: Verdict,
    pub(super) view: View,
    /// The first and the last recorded screen that would have been right.
    pub(super) possible: (Screen, Screen),
}

/// Creates the client end of a recording.
pub(super) fn client_end<'a>(
    config: ClientConfig,
    script: &'a Script,
    pace: Pace,
    notes: Option<Notes>,
) -> ClientEnd<Typist<'a>> {
    let typist = Typist {
        pacer: Pacer::new(&script.keys, pace),
        judge: Judge::new(script),
        cause: Cause::Own,
        notes,
        is_note_due: false,
    };
    ClientEnd::new(config, typist, Instant::ZERO)
}

/// Returns whether nothing is on its way to the host, and the user sees the host's screen with the cursor in `column`.
pub(super) fn is_settled(client: &ClientEnd<Typist<'_>>, column: u16) -> bool {
    let (host, shown) = (client.client.screen(), client.terminal.screen());
    client.client.pending_input() == 0
        && host.cursor().column == column
        && shown.cursor() == host.cursor()
        && client.shows_host_text()
}

impl Typist<'_> {
    /// Begins to type the recording.
    pub(super) fn start(&mut self, now: Instant) {
        self.pacer.start(now);
    }

    /// Returns whether everything is typed.
    pub(super) fn is_done(&self) -> bool {
        self.judge.sent() == self.pacer.keys().len()
    }

    /// Returns whether every key was typed, and the last recorded screen has arrived and is shown.
    pub(super) fn has_ended(&self) -> bool {
        self.is_done() && self.judge.is_at_end()
    }

    /// Returns when the next key is due. `None` if no key is left, or the client takes no key now.
    fn key_due(&self, client: &Client) -> Option<Instant> {
        self.pacer.due(&self.judge).filter(|_| client.wants_input())
    }
}

impl View {
    fn new(client: &Client, terminal: &Terminal) -> Self {
        Self { shown: terminal.snapshot(), host: client.screen().clone() }
    }
}

impl User for Typist<'_> {
    fn next_act(&mut self, now: Instant, client: &Client, terminal: &Terminal) -> Option<Act> {
        self.cause = Cause::Own;
        if core::mem::take(&mut self.is_note_due)
            && let Some(notes) = &mut self.notes
        {
            notes.keys.push(View::new(client, terminal));
            notes.reasons.push(client.explain_prediction(now));
        }
        self.key_due(client).filter(|due| *due <= now)?;
        let key = &self.pacer.keys()[self.judge.sent()];
        self.judge.handle_key(now);
        self.is_note_due = true;
        Some(Act::Type(key.bytes.clone()))
    }

    fn poll_timeout(&self, client: &Client) -> Option<Instant> {
        self.key_due(client)
    }

    fn handle_frame(&mut self, now: Instant, client: &Client, terminal: &mut Terminal) {
        if !self.pacer.has_started() {
            return;
        }
        let screen = terminal.screen();
        let notice_rows = u16::from(screen.row_text(0).contains(NOTICE));
        let verdict = self.judge.handle_screen(now, screen, self.cause, notice_rows);
        if let Some(notes) = &mut self.notes
            && let Some(verdict) = verdict.filter(|verdict| verdict.faults.any)
            && let Some(key) = self.judge.sent().checked_sub(1)
        {
            let possible = self.judge.possible();
            let ends = [possible.first(), possible.last()]
                .map(|truth| truth.expect("the matched screen is possible").screen().clone());
            let [first, last] = ends;
            notes.drawings.push(Drawing {
                at: now,
                cause: self.cause,
                key,
                verdict,
                view: View::new(client, terminal),
                possible: (first, last),
            });
        }
        self.cause = Cause::Own;
    }

    fn handle_datagram(
        &mut self,
        now: Instant,
        client: &Client,
        result: &Result<(), ReceiveError>,
    ) {
        if result.is_ok() {
            self.cause = Cause::Arrival;
        }
        if self.pacer.has_started() {
            self.judge.handle_host_screen(now, client.screen());
            if client.has_all_answers() {
                self.judge.handle_all_answers(now);
            }
        }
    }
}
