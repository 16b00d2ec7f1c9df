//! The user's keys, window sizes and other events, in order: the SSP object that the client sends.

mod wire;

use std::collections::VecDeque;
use std::sync::Arc;

use rove_ssp::{ApplyError, Capabilities, Object};
use rove_terminal::Size;
use rove_units::Bytes;

use self::wire::{
    KEYSTROKE, KEYSTROKE_KEYS, TERMINAL, WISH, read_report, read_wish, write_keys, write_report,
    write_wish,
};
use crate::message::{RESIZE, instructions, member, put_resize, read_resize, string};
use crate::report::TerminalReport;
use crate::wish::PackedWish;

/// Number of events in one shared chunk. Chosen: 12 KiB, so that writing to a chunk that a clone shares costs about a
/// microsecond. A clone of the million events that may wait at a client copies 512 pointers.
const CHUNK_EVENTS: u64 = 2048;

/// Largest diff of the user's input, in bytes. Chosen: 27 fragments. A larger paste travels as states of this size,
/// each of which crosses a lossy path separately.
const DIFF_MAX: usize = 32 * 1024;

/// Maximum number of user events in one step towards a state whose diff would be too long. A step that has only keys is
/// then at most [`DIFF_MAX`] bytes.
const STEP_EVENTS_MAX: u64 = 32 * 1024 - 32;

/// An event that the client sends to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserEvent {
    /// A byte from the keyboard.
    Byte(u8),
    /// The new size of the user's window.
    Resize(Size),
    /// A fact about the user's terminal, or a permission of the user. It is sent only to a server that supports such
    /// reports, because both ends must count the same events.
    Terminal(TerminalReport),
    /// A wish about other clients or the session's size. It is sent only to a server that supports wishes.
    Wish(PackedWish),
}

/// Each byte of a paste is an event, so events must be small in memory.
const _: () = assert!(size_of::<UserEvent>() <= 6);

/// An append-only sequence of the user's events. Clones share their contents.
///
/// Every event has a position, counted from the session's start. Events that both ends hold are dropped from the front,
/// and the positions of the others stay. The held events are in chunks that end at multiples of `CHUNK_EVENTS`. The
/// first and the last chunk may reach beyond the held events, because another stream that shares them holds more.
#[derive(Clone, Debug, Default)]
pub struct UserStream {
    chunks: VecDeque<Arc<Vec<UserEvent>>>,
    /// Position of the first held event.
    start: u64,
    /// Position after the last event: the number of all events.
    end: u64,
    /// Whether the stream is that of a client that only views.
    is_viewer: bool,
    /// The newest window size of a client that only views. `None` before its first size, and for other clients.
    viewer_window: Option<Size>,
}

impl UserStream {
    /// Creates an empty stream, the initial state that both ends agree on.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates the empty stream of a client that may only view. The stream counts events and keeps only the newest
    /// window size, so that no key reaches a program.
    pub(crate) fn of_viewer() -> Self {
        Self { is_viewer: true, ..Self::default() }
    }

    /// Returns the newest window size of a client that only views. `None` before that, and for other clients.
    pub(crate) const fn viewer_window(&self) -> Option<Size> {
        self.viewer_window
    }

    /// Appends one event at the end of the stream.
    pub fn push(&mut self, event: UserEvent) {
        if let (true, UserEvent::Resize(size)) = (self.is_viewer, event) {
            self.viewer_window = Some(size);
        }
        self.extend(&[event], |event| *event);
    }

    /// Appends each byte from the keyboard as an event.
    pub fn push_bytes(&mut self, bytes: &[u8]) {
        self.extend(bytes, |byte| UserEvent::Byte(*byte));
    }

    /// Appends the events that `to_event` makes of `items`, chunk by chunk. The stream of a viewer only counts them.
    fn extend<T>(&mut self, mut items: &[T], to_event: impl Fn(&T) -> UserEvent) {
        if self.is_viewer {
            self.end += u64::try_from(items.len()).expect("a length fits 64 bits");
            self.start = self.end;
            return;
        }
        while !items.is_empty() {
            let at = index(self.end % CHUNK_EVENTS);
            if at == 0 {
                self.chunks.push_back(Arc::default());
            }
            let chunk = Arc::make_mut(
                self.chunks.back_mut().expect("a chunk holds the last event's place"),
            );
            // Another stream that shares the chunk may have appended events beyond this stream's end.
            chunk.truncate(at);
            let room = index(CHUNK_EVENTS) - at;
            let (now, later) = items.split_at(room.min(items.len()));
            chunk.extend(now.iter().map(&to_event));
            self.end += u64::try_from(now.len()).expect("a length fits 64 bits");
            items = later;
        }
    }

    /// Returns the position after the last event: the number of all events.
    pub const fn end(&self) -> u64 {
        self.end
    }

    /// Returns the events from `position` on. Events that were dropped are left out.
    pub fn events_from(&self, position: u64) -> impl Iterator<Item = UserEvent> {
        self.runs(position, self.end).flatten().copied()
    }

    /// Returns the held events from position `from` to before `to`, as slices of chunks.
    fn runs(&self, from: u64, to: u64) -> impl Iterator<Item = &[UserEvent]> {
        let (from, to) = (from.max(self.start), to.min(self.end));
        let first = self.start / CHUNK_EVENTS;
        let skip = index((from / CHUNK_EVENTS).saturating_sub(first));
        (first..).zip(&self.chunks).skip(skip).map_while(move |(number, chunk)| {
            let base = number * CHUNK_EVENTS;
            let low = from.saturating_sub(base).min(CHUNK_EVENTS);
            let high = to.saturating_sub(base).min(CHUNK_EVENTS);
            (low < high).then(|| &chunk[index(low)..index(high)])
        })
    }

    /// Returns whether both streams have the same events up to position `to`, as far as both still hold them.
    fn agrees_with(&self, other: &Self, to: u64) -> bool {
        let from = self.start.max(other.start);
        // The chunks of both streams end at the same positions, so the slices pair up.
        self.runs(from, to)
            .zip(other.runs(from, to))
            .all(|(ours, theirs)| core::ptr::eq(ours, theirs) || ours == theirs)
    }

    /// Returns the beginning of the stream, up to position `end`.
    pub(crate) fn prefix(&self, end: u64) -> Self {
        let mut prefix = self.clone();
        debug_assert!(self.start <= self.end);
        prefix.end = end.clamp(self.start, self.end);
        let first = prefix.start / CHUNK_EVENTS;
        prefix.chunks.truncate(index(prefix.end.div_ceil(CHUNK_EVENTS).saturating_sub(first)));
        prefix
    }
}

impl Object for UserStream {
    const DIFF_MAX: usize = DIFF_MAX;

    fn diff_from(&self, base: &Self, _peer: Capabilities) -> Vec<u8> {
        debug_assert!(base.end <= self.end, "a diff is made from a prefix");
        let mut message = Vec::new();
        // After a paste, a million keys may wait, so the list gets its capacity at once.
        let mut keys = Vec::with_capacity(index(self.end.saturating_sub(base.end)));
        for event in self.runs(base.end, self.end).flatten() {
            match *event {
                UserEvent::Byte(byte) => keys.push(byte),
                UserEvent::Resize(size) => {
                    write_keys(&mut message, &mut keys);
                    put_resize(&mut message, size);
                }
                UserEvent::Terminal(report) => {
                    write_keys(&mut message, &mut keys);
                    write_report(&mut message, report);
                }
                UserEvent::Wish(wish) => {
                    write_keys(&mut message, &mut keys);
                    write_wish(&mut message, wish.into());
                }
            }
        }
        write_keys(&mut message, &mut keys);
        message
    }

    fn is_far_from(&self, base: &Self) -> bool {
        // Every event needs at least one byte in the diff.
        index(self.end.saturating_sub(base.end)) > DIFF_MAX
    }

    fn apply(&mut self, diff: &[u8]) -> Result<(), ApplyError> {
        let is_known = |number| matches!(number, KEYSTROKE | RESIZE | TERMINAL | WISH);
        for instruction in instructions(diff) {
            let event = match member(instruction?, is_known)? {
                Some((KEYSTROKE, body)) => {
                    self.push_bytes(string(body, KEYSTROKE_KEYS)?);
                    continue;
                }
                // A resize to a size of zero is ignored.
                Some((RESIZE, body)) => read_resize(body)?.map(UserEvent::Resize),
                Some((WISH, body)) => read_wish(body)?.map(|wish| UserEvent::Wish(wish.into())),
                Some((_, body)) => read_report(body)?.map(UserEvent::Terminal),
                None => None,
            };
            event.into_iter().for_each(|event| self.push(event));
        }
        Ok(())
    }

    fn same_as(&self, other: &Self) -> bool {
        self.end == other.end && self.agrees_with(other, self.end)
    }

    fn follows(&self, newest: &Self) -> bool {
        self.end >= newest.end && self.agrees_with(newest, newest.end)
    }

    fn drop_prefix(&mut self, known: &Self) {
        let start = known.end.clamp(self.start, self.end);
        let chunks = index(start / CHUNK_EVENTS - self.start / CHUNK_EVENTS);
        self.chunks.drain(..chunks.min(self.chunks.len()));
        self.start = start;
        debug_assert!(self.start <= self.end);
    }

    fn bytes_beyond(&self, neighbour: Option<&Self>) -> Bytes {
        let theirs = |number: u64| {
            let other = neighbour?;
            other.chunks.get(index(number.checked_sub(other.start / CHUNK_EVENTS)?))
        };
        let pointers = self.chunks.capacity() * size_of::<Arc<Vec<UserEvent>>>();
        let own = (self.start / CHUNK_EVENTS..)
            .zip(&self.chunks)
            .filter(|(number, chunk)| {
                !theirs(*number).is_some_and(|other| Arc::ptr_eq(chunk, other))
            })
            .map(|(_, chunk)| chunk.capacity() * size_of::<UserEvent>());
        Bytes::from(size_of::<Self>() + pointers + own.sum::<usize>())
    }

    fn midpoint(&self, base: &Self) -> Option<Self> {
        let beyond = self.end.checked_sub(base.end)?;
        // A step that has only keys fits into one diff, so a step is rarely halved again.
        let step = (beyond / 2).min(STEP_EVENTS_MAX);
        (beyond >= 2).then(|| self.prefix(base.end + step))
    }
}

fn index(events: u64) -> usize {
    usize::try_from(events).expect("events in memory are fewer than addresses")
}

#[cfg(test)]
mod tests;
