//! The near side: the client that ships, the user's terminal, and a user who types the recording.

use std::net::SocketAddr;

use rove_link::net::End;
use rove_session::{Client, ClientConfig};
use rove_ssp::Ecn;
use rove_terminal::{Screen, Terminal};
use rove_units::{Duration, Instant};

use crate::replay::judge::{Cause, Judge, Verdict};
use crate::replay::script::{Key, Script};
use crate::replay::traffic::Traffic;

/// Recorded pauses from here on begin only when the answer is there, at pace look: a person reads.
const PAUSE: Duration = Duration::from_millis(250);

/// How long a user waits for an answer before typing on. Chosen: far beyond any answer on a path that lets
/// anything through; it only keeps a replay from waiting forever.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// What notices begin with, so that they are told from what the host shows.
pub(super) const NOTICE: &str = "rove-lab-replay";

/// What the user waits for before typing on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Pace {
    /// Before a recorded pause of 250 ms or more, for the answer to the last key
    Look,
    /// For nothing: the recorded times
    Open,
    /// For the answer to each key
    Closed,
}

/// The client, the user's terminal and the user.
pub(super) struct NearEnd<'a> {
    client: Client,
    terminal: Terminal,
    keys: &'a [Key],
    pace: Pace,
    pub(super) judge: Judge<'a>,
    /// When the recording began.
    start: Option<Instant>,
    cause: Cause,
    pub(super) traffic: Traffic,
    /// What there is to explain, if it is to be explained.
    pub(super) notes: Option<Notes>,
}

/// What an explanation needs.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// What was shown when each key had been taken.
    pub(super) keys: Vec<View>,
    /// Wrong drawings.
    pub(super) drawings: Vec<Drawing>,
}

/// What was to be seen at one instant.
#[derive(Clone, Debug)]
pub(super) struct View {
    /// What the user's terminal showed.
    pub(super) shown: Screen,
    /// What the host's screen was, as far as the client knew.
    pub(super) host: Screen,
}

/// A drawing that was wrong.
#[derive(Clone, Debug)]
pub(super) struct Drawing {
    pub(super) at: Instant,
    pub(super) cause: Cause,
    /// The last key before it.
    pub(super) key: usize,
    pub(super) verdict: Verdict,
    pub(super) view: View,
    /// The true screens that were possible: the first and the last.
    pub(super) possible: (Screen, Screen),
}

impl<'a> NearEnd<'a> {
    pub(super) fn new(
        config: ClientConfig,
        script: &'a Script,
        pace: Pace,
        notes: Option<Notes>,
    ) -> Self {
        Self {
            client: Client::new(config, Instant::ZERO),
            terminal: Terminal::host(script.size),
            keys: &script.keys,
            pace,
            judge: Judge::new(script),
            start: None,
            cause: Cause::Own,
            traffic: Traffic::default(),
            notes,
        }
    }

    /// Types before the recording begins.
    pub(super) fn type_ahead(&mut self, now: Instant, byte: u8) {
        self.client.handle_input(now, &[byte]);
    }

    /// Returns whether nothing is on its way to the host, and the user sees what the host shows, which has
    /// its cursor in this column.
    pub(super) fn is_settled(&self, column: u16) -> bool {
        let (host, shown) = (self.client.screen(), self.terminal.screen());
        self.client.pending_input() == 0
            && host.cursor().column == column
            && shown.cursor() == host.cursor()
            && (0..host.size().rows()).all(|row| host.row_text(row) == shown.row_text(row))
    }

    /// Begins with the recording.
    pub(super) fn start(&mut self, now: Instant) {
        self.start = Some(now);
    }

    /// Returns whether everything is typed.
    pub(super) fn is_done(&self) -> bool {
        self.judge.sent() == self.keys.len()
    }

    /// Returns whether every answer was seen, and the last true screen is shown.
    pub(super) fn has_ended(&self) -> bool {
        self.is_done() && self.judge.is_at_end()
    }

    /// Lets the user's terminal show what is to be shown, and the user type what is due.
    fn advance(&mut self, now: Instant) {
        self.show(now);
        while self.key_due().is_some_and(|due| due <= now) {
            let key = &self.keys[self.judge.sent()];
            self.judge.handle_key(now);
            self.client.handle_input(now, &key.bytes);
            self.cause = Cause::Own;
            self.show(now);
            if let Some(notes) = &mut self.notes {
                notes.keys.push(View::new(&self.client, &self.terminal));
            }
        }
        self.cause = Cause::Own;
    }

    fn show(&mut self, now: Instant) {
        while self.client.poll_event().is_some() {}
        let Some(output) = self.client.poll_output(now) else { return };
        self.terminal.write(&output);
        // Nobody reads these here, and they would pile up.
        self.terminal.take_replies();
        self.terminal.take_copied();
        drop(self.terminal.take_notifications());
        if self.start.is_none() {
            return;
        }
        let notice_rows = u16::from(self.terminal.screen().row_text(0).contains(NOTICE));
        let screen = self.terminal.screen();
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
                view: View::new(&self.client, &self.terminal),
                possible: (first, last),
            });
        }
        self.cause = Cause::Own;
    }

    /// Returns when the next key is due; `None` if there is none, or the client takes none now.
    fn key_due(&self) -> Option<Instant> {
        let (start, next) = (self.start.filter(|_| self.client.wants_input())?, self.judge.sent());
        let key = self.keys.get(next)?;
        let Some(last) = next.checked_sub(1) else { return Some(start + key.at) };
        let pause = key.at - self.keys[last].at;
        let waits = match self.pace {
            Pace::Open => return Some(start + key.at),
            Pace::Look => pause >= PAUSE,
            Pace::Closed => true,
        };
        let sent_at = self.judge.outcomes()[last].sent_at?;
        if !waits {
            return Some(sent_at + pause);
        }
        let base = self.judge.answered_at().unwrap_or(sent_at + PATIENCE);
        Some(base + pause)
    }
}

impl View {
    fn new(client: &Client, terminal: &Terminal) -> Self {
        Self { shown: terminal.snapshot(), host: client.screen().clone() }
    }
}

impl End for NearEnd<'_> {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        let result = self.client.handle_datagram(now, source, Ecn::Capable, payload);
        if result.is_ok() {
            self.cause = Cause::Arrival;
        }
        if self.start.is_some() {
            self.judge.handle_host_screen(now, self.client.screen());
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.client.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        self.advance(now);
        let transmit = self.client.poll_transmit(now)?;
        self.traffic.count(now, &transmit.payload);
        Some((transmit.destination, transmit.payload))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        [self.client.poll_timeout(), self.key_due()].into_iter().flatten().min()
    }
}
