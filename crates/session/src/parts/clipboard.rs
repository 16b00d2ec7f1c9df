//! Text that a program has copied (OSC 52), sent in pieces from a rove server to a rove client for the user's terminal.
//!
//! A server state holds the number of the newest copied text, and its beginning. Each new state holds a little more
//! than the client has acknowledged. So a large text travels beside the picture, in diffs that are hardly larger. The
//! client copies the text to the terminal's clipboard when it is whole ([`crate::one_shot_effects`]).

use std::sync::Arc;

use rove_ssp::{ApplyError, Capabilities, StateNum};
use rove_terminal::{COPY_CHARS_MAX, Copied};

use crate::message::{number, put_bytes_field, put_varint_field, refused, string};
use crate::part::{Part, Receiver, Replica};

const NUMBER: u32 = 1;
const OFFSET: u32 = 2;
const TEXT: u32 = 3;
const SELECTIONS: u32 = 4;
const LENGTH: u32 = 5;

/// Maximum length of copied text that one frame (a sent diff) adds, in bytes. Chosen: with RTT 100 ms such pieces fill
/// a line of 1 Mbit/s. A key's echo never waits for more than one piece.
pub(crate) const PIECE_MAX: usize = 8 * 1024;

/// Largest window: maximum length of copied text that is sent and not acknowledged, in bytes. Chosen: four pieces cover
/// the round trip and the delayed acknowledgment.
pub(crate) const WINDOW_MAX: usize = 4 * PIECE_MAX;

/// Smallest window, in bytes: at the start, and after any number of losses. Chosen: a quarter of a second of 128
/// kbit/s. The queue of a slow line then does not grow faster than the measured round-trip time shows.
const WINDOW_MIN: usize = 4 * 1024;

/// Divisor of the window's steps: it grows by a quarter of the newly acknowledged text, and shrinks by a quarter of
/// itself after a loss. Chosen: 1 MiB at 1 Mbit/s and RTT 100 ms takes 11 s, at 5 % loss 40 s. Half of the keys typed
/// meanwhile are echoed within 0.2 s, and all within 0.7 s, at 128 kbit/s too.
const WINDOW_STEP: usize = 4;

/// Bytes of copied text that are sent first after a loss. Chosen: it leaves most of the first datagram to the picture.
const REPAIR_PIECE: usize = 512;

/// Size of the shared chunks in which a client gathers text, in bytes. Chosen: a state that adds a piece copies at most
/// one chunk, and the longest text has 64 chunks.
const CHUNK_BYTES: usize = 16 * 1024;

/// Longest list of the selections to copy to (clipboard, primary and others), in characters. Source: xterm's control
/// sequences, OSC 52: c, p, q, s and 0 to 7.
const SELECTIONS_MAX: usize = 12;

/// The newest text that a program has copied, as far as a server state holds it.
#[derive(Clone, Debug)]
pub(crate) struct Clipboard {
    /// The copied text's number in the session, from 1; 0 before the first.
    number: u64,
    selections: Arc<str>,
    /// Length of the whole copied text, in bytes of base64.
    total: usize,
    /// How many bytes of the text this state holds, from the beginning.
    held: usize,
    text: Text,
}

/// The copied text in memory, while this end still needs it.
#[derive(Clone, Debug)]
enum Text {
    /// The server's form: the whole text, even if the state holds less of it.
    Whole(Arc<str>),
    /// The client's form: the text that has arrived, in chunks of [`CHUNK_BYTES`]. Only the last chunk may be shorter.
    Gathered(Vec<Arc<Vec<u8>>>),
}

/// A piece of a copied text, as a diff carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CopyPiece<'a> {
    pub(crate) number: u64,
    /// The selections to copy to, and the length of the whole text in bytes. `None` after the first piece.
    pub(crate) head: Option<(&'a str, u64)>,
    /// Offset of this piece in the copied text, in bytes.
    pub(crate) offset: u64,
    pub(crate) text: &'a [u8],
}

impl Default for Clipboard {
    fn default() -> Self {
        let text = Text::Gathered(Vec::new());
        Self { number: 0, selections: "".into(), total: 0, held: 0, text }
    }
}

impl Clipboard {
    pub(crate) const fn number(&self) -> u64 {
        self.number
    }

    /// Returns the piece that turns `base`, which may hold more text, into this state. `None` if nothing is to be sent.
    pub(crate) fn piece_after(&self, base: &Self) -> Option<CopyPiece<'_>> {
        if self.same_as(base) {
            return None;
        }
        let is_begun = self.number == base.number && base.held > 0;
        let offset = if is_begun { base.held.min(self.held) } else { 0 };
        // A client never sends the text that it has gathered.
        let Text::Whole(text) = &self.text else { return None };
        let text = text.as_bytes().get(offset..self.held)?;
        let head = (!is_begun).then(|| (&*self.selections, len(self.total)));
        Some(CopyPiece { number: self.number, head, offset: len(offset), text })
    }

    /// Applies one piece of a received diff.
    ///
    /// # Errors
    ///
    /// Returns the rule that the piece breaks.
    pub(crate) fn take(&mut self, piece: &CopyPiece<'_>) -> Result<(), &'static str> {
        if piece.number < self.number {
            return Err("a copy that goes back");
        }
        if piece.number > self.number {
            let (selections, total) = piece.head.ok_or("a copy without a beginning")?;
            let total = usize::try_from(total).unwrap_or(usize::MAX);
            if total == 0 || total > COPY_CHARS_MAX || selections.len() > SELECTIONS_MAX {
                return Err("a copy out of bounds");
            }
            let selections = Arc::from(selections);
            *self = Self { number: piece.number, selections, total, ..Self::default() };
        }
        let offset = usize::try_from(piece.offset).unwrap_or(usize::MAX);
        if offset > self.held || piece.text.len() > self.total - offset {
            return Err("a piece that does not fit its copy");
        }
        let base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
        if !piece.text.iter().all(base64) {
            return Err("copied text that is no base64");
        }
        if offset < self.held {
            self.go_back(offset)?;
        }
        self.gather(piece.text);
        Ok(())
    }

    /// Returns whether all of the copied text has arrived, even if it has since been dropped.
    pub(crate) const fn is_whole(&self) -> bool {
        self.total > 0 && self.held == self.total
    }

    /// Returns the copied text for the user's terminal. `None` until it is whole, and after it has been dropped.
    pub(crate) fn whole(&self) -> Option<Copied> {
        if !self.is_whole() {
            return None;
        }
        let Text::Gathered(chunks) = &self.text else { return None };
        let text: Vec<u8> = chunks.iter().flat_map(|chunk| &**chunk).copied().collect();
        let text = String::from_utf8(text).ok().filter(|text| !text.is_empty())?;
        Copied::new(&self.selections, &text)
    }

    /// Returns how much of this text the client holds by its acknowledged state `known`, in bytes; 0 for another text.
    const fn acknowledged(&self, known: &Self) -> usize {
        if known.number == self.number { known.held } else { 0 }
    }

    /// Returns this copied text as a state that holds its first `held` bytes.
    #[cfg(test)]
    pub(crate) fn holding(&self, held: usize) -> Self {
        Self { held: held.min(self.total), ..self.clone() }
    }

    /// Drops the text from the byte `offset` on. Returns an error if the text before it has been dropped already.
    fn go_back(&mut self, offset: usize) -> Result<(), &'static str> {
        let Text::Gathered(chunks) = &mut self.text else { return Ok(()) };
        chunks.truncate(offset.div_ceil(CHUNK_BYTES));
        let Some(last) = chunks.last_mut().filter(|_| offset > 0) else {
            self.held = 0;
            return if offset == 0 { Ok(()) } else { Err("a text that both ends had forgotten") };
        };
        Arc::make_mut(last)
            .truncate(offset - offset.div_ceil(CHUNK_BYTES).saturating_sub(1) * CHUNK_BYTES);
        self.held = offset;
        Ok(())
    }

    fn gather(&mut self, mut text: &[u8]) {
        self.held += text.len();
        debug_assert!(self.held <= self.total, "a piece fits its copy");
        let Text::Gathered(chunks) = &mut self.text else { return };
        while !text.is_empty() {
            if chunks.last().is_none_or(|last| last.len() == CHUNK_BYTES) {
                chunks.push(Arc::default());
            }
            let last = Arc::make_mut(chunks.last_mut().expect("one was added"));
            let (piece, rest) = text.split_at(text.len().min(CHUNK_BYTES - last.len()));
            last.extend_from_slice(piece);
            text = rest;
        }
    }
}

impl Part for Clipboard {
    const MEMBER: u32 = 17;
    const EXTENSION: Capabilities = Capabilities::RICH_SCREEN;

    fn diff_from(&self, base: &Self, _: &Receiver<'_>) -> Vec<Vec<u8>> {
        self.piece_after(base).iter().map(CopyPiece::body).collect()
    }

    fn apply(&mut self, body: &[u8], _: &mut Replica<'_>) -> Result<(), ApplyError> {
        self.take(&CopyPiece::read(body)?).map_err(refused)
    }

    fn same_as(&self, other: &Self) -> bool {
        self.number == other.number && self.total == other.total && self.held == other.held
    }

    /// Drops the text once both ends hold all of it.
    fn drop_known(&mut self, known: &Self) {
        if known.number == self.number && known.held == known.total {
            self.text = Text::Gathered(Vec::new());
        }
    }

    fn bytes_beyond(&self, neighbour: Option<&Self>) -> usize {
        match (&self.text, neighbour.map(|neighbour| &neighbour.text)) {
            (Text::Whole(ours), Some(Text::Whole(theirs))) if Arc::ptr_eq(ours, theirs) => 0,
            (Text::Whole(ours), _) => ours.len(),
            (Text::Gathered(ours), theirs) => {
                let theirs = match theirs {
                    Some(Text::Gathered(theirs)) => theirs.as_slice(),
                    _ => &[],
                };
                let is_own = |at: usize, chunk: &Arc<Vec<u8>>| {
                    !theirs.get(at).is_some_and(|other| Arc::ptr_eq(chunk, other))
                };
                let own = ours.iter().enumerate().filter(|(at, chunk)| is_own(*at, chunk));
                let chunks: usize = own.map(|(_, chunk)| chunk.capacity()).sum();
                chunks + ours.capacity() * size_of::<Arc<Vec<u8>>>()
            }
        }
    }
}

impl<'a> CopyPiece<'a> {
    fn body(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(self.text.len() + 64);
        put_varint_field(&mut body, NUMBER, self.number);
        put_varint_field(&mut body, OFFSET, self.offset);
        put_bytes_field(&mut body, TEXT, self.text);
        if let Some((selections, length)) = self.head {
            put_bytes_field(&mut body, SELECTIONS, selections.as_bytes());
            put_varint_field(&mut body, LENGTH, length);
        }
        body
    }

    /// Reads the body of the clipboard's field. Selections that are not UTF-8 are read as `?`, which no terminal knows.
    fn read(body: &'a [u8]) -> Result<Self, ApplyError> {
        let selections = core::str::from_utf8(string(body, SELECTIONS)?).unwrap_or("?");
        let length = number(body, LENGTH)?;
        Ok(Self {
            number: number(body, NUMBER)?,
            head: (length > 0).then_some((selections, length)),
            offset: number(body, OFFSET)?,
            text: string(body, TEXT)?,
        })
    }
}

fn len(bytes: usize) -> u64 {
    u64::try_from(bytes).expect("a length fits 64 bits")
}

/// The server's newest copied text, and the window that decides how much of it to send.
#[derive(Debug)]
pub(crate) struct Outbox {
    newest: Clipboard,
    /// The newest state sent when the length of the published text last changed. `None` if it has not changed.
    changed_after: Option<StateNum>,
    /// The current window: maximum length in bytes of the text that is sent and not acknowledged.
    window: usize,
    /// How many bytes the client was known to hold at the last [`Outbox::flush`].
    acknowledged: usize,
    is_repairing: bool,
}

impl Default for Outbox {
    fn default() -> Self {
        Self {
            newest: Clipboard::default(),
            changed_after: None,
            window: WINDOW_MIN,
            acknowledged: 0,
            is_repairing: false,
        }
    }
}

impl Outbox {
    /// Replaces the newest copied text. The server never sends the rest of an earlier one.
    pub(crate) fn push(&mut self, copied: &Copied) {
        self.newest = Clipboard {
            number: self.newest.number + 1,
            selections: Arc::clone(copied.selections()),
            total: copied.text().len(),
            held: 0,
            text: Text::Whole(Arc::clone(copied.text())),
        };
        (self.acknowledged, self.changed_after) = (0, None);
    }

    /// Returns the newest copied text, as far as the next state publishes it.
    pub(crate) const fn newest(&self) -> &Clipboard {
        &self.newest
    }

    /// Updates how much of the text is published, and returns whether this changed. Call it before and after a send.
    ///
    /// Publishes a further piece once the last piece was sent, if less than a window is unacknowledged. `known` is the
    /// state that the client has acknowledged. After a loss (`is_overdue`), the published text fits into one datagram
    /// with the screen. A key's echo then never waits for text that is sent again.
    pub(crate) fn flush(&mut self, known: &Clipboard, sent: StateNum, is_overdue: bool) -> bool {
        let newest = &mut self.newest;
        let acknowledged = newest.acknowledged(known);
        if acknowledged == newest.total {
            // The client has the whole text, so no later diff contains any of it.
            newest.text = Text::Gathered(Vec::new());
            return false;
        }
        if acknowledged > self.acknowledged && !is_overdue {
            let step = (acknowledged - self.acknowledged) / WINDOW_STEP;
            self.window = WINDOW_MAX.min(self.window + step);
        }
        self.acknowledged = acknowledged;
        if is_overdue && !self.is_repairing {
            self.window = WINDOW_MIN.max(self.window - self.window / WINDOW_STEP);
        }
        self.is_repairing = is_overdue;
        let held = if is_overdue {
            acknowledged + REPAIR_PIECE
        } else if self.changed_after == Some(sent) {
            newest.held
        } else {
            newest.held.max((newest.held + PIECE_MAX).min(acknowledged + self.window))
        };
        let held = held.min(newest.total);
        if held == newest.held {
            return false;
        }
        newest.held = held;
        debug_assert!(acknowledged <= newest.total && newest.held <= newest.total);
        debug_assert!((WINDOW_MIN..=WINDOW_MAX).contains(&self.window));
        self.changed_after = Some(sent);
        true
    }

    /// Returns whether the client has not yet acknowledged all of the copied text.
    pub(crate) const fn is_on_its_way(&self) -> bool {
        matches!(self.newest.text, Text::Whole(_))
    }

    /// Publishes a whole window of text with the last state of the session. So a short text still arrives, and a long
    /// one does not delay the end.
    pub(crate) fn finish(&mut self, known: &Clipboard) {
        let newest = &mut self.newest;
        newest.held = newest.held.max(newest.total.min(newest.acknowledged(known) + WINDOW_MAX));
    }
}

#[cfg(test)]
mod tests;
