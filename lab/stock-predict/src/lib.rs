//! The prediction engine of stock Mosh, with the rules and the faults that were observed in Mosh 1.4.0. The laboratory
//! runs it in place of rove's own engine ([`Prediction::engine`]), to compare both.
//!
//! Each prediction belongs to an *epoch*. Until a prediction of an epoch is confirmed, all predictions of the epoch are
//! *tentative*: they are kept and judged, but not shown. A key that may change the screen in unknown ways begins an
//! epoch. The first letter after Enter is thus never shown before its echo, nor is a password without echo.
//!
//! `keys` predicts the effect of each key. `cell` and `cursor` are predictions, and `cull` judges them. `tests` plays
//! sessions.

#![forbid(unsafe_code)]

mod cell;
mod cull;
mod cursor;
mod keys;

use rove_predict::overlay;
use rove_predict::{Engine, Network, Policy, Prediction};
use rove_terminal::{ActionReader, InputNum, Position, Screen, Size};
use rove_units::{Duration, Instant};

use self::cell::{CellPrediction, Epoch, Stamp};
use self::cursor::CursorPrediction;

/// Most bytes of a read that counts as typed, and not as a paste. Source: Mosh 1.4.0 as observed.
const KEYS_MAX: usize = 100;

/// Most cells in rows with predictions. With more, the engine drops all predictions. Chosen: 800 lines of 80 columns,
/// typed without an answer, and at most some megabytes.
const CELLS_MAX: usize = 65_536;

/// Most predictions of the cursor, which each epoch has at most once. With more, the engine drops all predictions.
/// Chosen: 256 lines, or 256 keys of unknown effect, typed while the host answers none of them.
const CURSORS_MAX: usize = 256;

const _: () = assert!(CELLS_MAX >= rove_terminal::COLUMNS_MAX as usize);

/// Creates an engine with these settings, for a blank screen of this size.
pub fn engine(prediction: Prediction, size: Size) -> Box<dyn Engine> {
    Box::new(Stock::new(prediction, size))
}

/// An engine with stock Mosh's rules, and its predictions.
#[derive(Clone, Debug)]
struct Stock {
    policy: Policy,
    /// Whether a typed character replaces the character under the cursor. If not, it shifts the row's end to the right.
    overwrites: bool,
    /// The epoch of new predictions.
    epoch: Epoch,
    /// The newest epoch with a confirmed prediction. Predictions of later epochs are tentative.
    confirmed: Epoch,
    /// The predictions of the cursor. The newest is last.
    cursors: Vec<CursorPrediction>,
    /// The rows with predictions, in the order of their first predictions.
    rows: Vec<PredictedRow>,
    reader: ActionReader,
    last_byte: Option<u8>,
    network: Network,
    /// The number of inputs that the client had sent when the latest keys were typed.
    sent: InputNum,
    /// The engine's newest frame. New predictions start from this frame and are judged by it, because the user sees it.
    /// Stock's frame includes its notices, which are on no screen of the host.
    shown: Screen,
    /// The size of the newest screen of the host.
    size: Size,
    /// The time of the latest call of [`Stock::frame`] or [`Stock::handle_keys`].
    looked_at: Instant,
}

/// The predictions of a row, with an entry for each cell.
#[derive(Clone, Debug)]
struct PredictedRow {
    row: u16,
    cells: Vec<CellPrediction>,
}

impl Stock {
    /// Creates an engine without predictions, for a blank screen.
    fn new(prediction: Prediction, size: Size) -> Self {
        Self {
            policy: Policy::new(prediction.preference),
            overwrites: prediction.overwrite,
            epoch: Epoch(1),
            confirmed: Epoch(0),
            cursors: Vec::new(),
            rows: Vec::new(),
            reader: ActionReader::default(),
            last_byte: None,
            network: Network::UNHEARD,
            sent: InputNum::default(),
            shown: Screen::blank(size),
            size,
            looked_at: Instant::ZERO,
        }
    }

    fn lay_over(&self, frame: &mut Screen) {
        let seen = self.cursors.iter().rfind(|cursor| !self.is_tentative(cursor.stamp.epoch));
        if let Some(cursor) = seen {
            frame.place_cursor(cursor.at);
        }
        for row in &self.rows {
            for (at, cell) in row.places() {
                if cell.stamp.is_some_and(|stamp| !self.is_tentative(stamp.epoch)) {
                    overlay::lay(frame, at, &cell.content, self.policy.underlines());
                }
            }
            frame.mend_row(row.row);
        }
    }

    fn is_tentative(&self, epoch: Epoch) -> bool {
        epoch > self.confirmed
    }

    /// Begins an epoch, whose predictions are not shown before one is confirmed. An experimental policy stays in its
    /// epoch.
    fn become_tentative(&mut self) {
        if !self.policy.is_experimental() {
            self.epoch = self.epoch.next();
        }
        debug_assert!(self.confirmed <= self.epoch, "no epoch is confirmed before it begins");
    }

    /// Returns the stamp of a new prediction. It is judged after the host has answered the input with the newest key.
    fn stamp(&self, now: Instant) -> Stamp {
        Stamp { epoch: self.epoch, deadline: self.sent.next(), at: now }
    }

    /// Drops all predictions if there are more than the limits allow.
    fn limit(&mut self) {
        let cells: usize = self.rows.iter().map(|row| row.cells.len()).sum();
        if cells > CELLS_MAX || self.cursors.len() > CURSORS_MAX {
            self.reset();
        }
        debug_assert!(self.cursors.len() <= CURSORS_MAX, "no more cursors wait than the most");
    }

    /// Returns the predictions of a row, and creates them if the row has none.
    fn row(&mut self, row: u16) -> &mut PredictedRow {
        let index = self.rows.iter().position(|known| known.row == row).unwrap_or_else(|| {
            let columns = usize::from(self.size.columns());
            self.rows.push(PredictedRow { row, cells: vec![CellPrediction::default(); columns] });
            self.rows.len() - 1
        });
        let row = &mut self.rows[index];
        debug_assert_eq!(
            row.cells.len(),
            usize::from(self.size.columns()),
            "a row has all columns"
        );
        row
    }
}

impl Engine for Stock {
    fn handle_keys(&mut self, now: Instant, sent: InputNum, keys: &[u8]) {
        self.looked_at = now;
        self.sent = sent;
        if keys.len() > KEYS_MAX {
            self.reset();
            return;
        }
        let shown = self.shown.clone();
        let mut actions = Vec::new();
        for &byte in keys {
            if self.policy.is_experimental() {
                self.epoch = self.confirmed;
            }
            self.cull(now, &shown);
            // Programs may request cursor keys with `O` (SS3) in place of `[`.
            let is_ss3 = self.last_byte == Some(0x1b) && byte == b'O';
            self.last_byte = Some(byte);
            self.reader.read(if is_ss3 { b'[' } else { byte }, &mut actions);
            for action in actions.drain(..) {
                self.handle_action(now, &shown, action);
            }
            self.limit();
        }
    }

    fn handle_network(&mut self, network: Network) {
        self.network = network;
    }

    fn reset(&mut self) {
        self.rows.clear();
        self.cursors.clear();
        self.become_tentative();
    }

    fn frame(&mut self, now: Instant, screen: &Screen) -> Screen {
        self.looked_at = now;
        self.cull(now, screen);
        self.limit();
        debug_assert_eq!(self.size, screen.size(), "predictions follow the size of the screen");
        let mut frame = screen.clone();
        if self.policy.shows_after(Duration::ZERO) {
            self.lay_over(&mut frame);
        }
        self.shown = frame.clone();
        frame
    }

    fn is_active(&self) -> bool {
        !self.cursors.is_empty() || self.rows.iter().any(PredictedRow::is_active)
    }

    /// Returns when a prediction's age next matters. Stock itself checks every 50 ms while there are predictions.
    fn poll_timeout(&self) -> Option<Instant> {
        let stamps = self.rows.iter().flat_map(|row| &row.cells).filter_map(|cell| cell.stamp);
        stamps.filter_map(|stamp| Policy::next_glitch(stamp.at, self.looked_at)).min()
    }
}

impl PredictedRow {
    fn is_active(&self) -> bool {
        self.cells.iter().any(|cell| cell.stamp.is_some())
    }

    fn places(&self) -> impl Iterator<Item = (Position, &CellPrediction)> {
        (0..).zip(&self.cells).map(|(column, cell)| (Position { row: self.row, column }, cell))
    }
}

#[cfg(test)]
mod tests;
