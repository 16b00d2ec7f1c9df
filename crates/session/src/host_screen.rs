//! The host's screen and the data beside it: the object that SSP synchronises from the server to the client.

mod allowed;
mod play;

use rove_ssp::{ApplyError, Capabilities, Object, StateNum};
use rove_terminal::display::{self, Vocabulary};
use rove_terminal::{Screen, Size, Terminal};
use rove_units::Bytes;

pub(crate) use self::allowed::Allowed;
use self::play::Play;
use crate::message::{bytes_field, put_member, put_resize, refused};
use crate::part::{Part, Receiver};
use crate::parts::Parts;
use crate::parts::bells::Bells;
use crate::parts::echo_ack::EchoAck;

/// The protobuf field of a `HostMessage` instruction with terminal bytes for the screen, and (`HOST_BYTES_STRING`) the
/// bytes' field in it. A resize is another instruction. Source: Mosh 1.4.0 as observed, docs/wire.md.
const HOST_BYTES: u32 = 2;
const HOST_BYTES_STRING: u32 = 4;

/// Memory limit of all received states together: a fixed part, and a part for each cell of the window. Chosen: 32
/// screens of 80x24 that share no rows, or ten of 500x200, counting cells alone. A few megabytes more are for copied
/// text and lines that are being sent.
const RECEIVED_BYTES: Bytes = Bytes::mib(8);
const CELL_RECEIVED_BYTES: u64 = 160;

/// A server state: the picture of the screen, the echo ack, and further parts that only rove knows.
#[derive(Clone, Debug)]
pub struct HostScreen {
    picture: Picture,
    parts: Parts,
    /// Whether this is state 0, on whose size the two ends have not agreed.
    initial: bool,
    /// The sizes that a client's copy of the screen may have.
    allowed: Allowed,
    /// The progress of the diff that is being applied to a client's copy.
    play: Play,
}

/// The picture of the screen. The server publishes a finished picture; the client applies diffs to its copy.
#[derive(Clone, Debug)]
enum Picture {
    /// A picture published by the server. It has no parser, so no state ends inside an escape sequence.
    Snapshot(Screen),
    /// The client's copy: a terminal with its hidden state and parser, which follows the server's diffs.
    Replica(Box<Terminal>),
}

impl HostScreen {
    /// Creates a server's state 0: blank.
    pub fn initial(size: Size) -> Self {
        let initial = Self::new(Screen::blank(size), Parts::default());
        Self { initial: true, ..initial }
    }

    /// Creates a client's copy of state 0: blank, in the size of the user's window.
    pub fn replica(size: Size) -> Self {
        Self {
            picture: Picture::Replica(Box::new(Terminal::replica(size))),
            parts: Parts::default(),
            initial: true,
            allowed: Allowed::new([size]),
            play: Play::default(),
        }
    }

    /// Creates a server state with a picture, its count of bells and an echo ack, and no other part.
    pub fn published(screen: Screen, echo_ack: StateNum) -> Self {
        Self::new(screen, Parts { echo_ack: EchoAck(echo_ack), ..Parts::default() })
    }

    /// Creates a server state. Its count of bells is that of the picture.
    pub(crate) fn new(screen: Screen, parts: Parts) -> Self {
        let parts = Parts { bells: Bells(screen.bells()), ..parts };
        Self::snapshot(screen, parts)
    }

    fn snapshot(screen: Screen, parts: Parts) -> Self {
        Self {
            picture: Picture::Snapshot(screen),
            parts,
            initial: false,
            allowed: Allowed::new([]),
            play: Play::default(),
        }
    }

    /// Returns this state after `change` has changed the data beside the picture.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Parts)) -> Self {
        change(&mut self.parts);
        self
    }

    /// Sets the sizes that a client's copy of the screen may have.
    pub(crate) fn allow(&mut self, allowed: &Allowed) {
        self.allowed = allowed.clone();
    }

    /// Returns the picture of the screen.
    pub fn screen(&self) -> &Screen {
        match &self.picture {
            Picture::Snapshot(screen) => screen,
            Picture::Replica(terminal) => terminal.screen(),
        }
    }

    /// Returns the newest client state whose input has had time to show its effect on the screen.
    pub const fn echo_ack(&self) -> StateNum {
        self.parts.echo_ack.0
    }

    pub(crate) const fn parts(&self) -> &Parts {
        &self.parts
    }
}

impl Object for HostScreen {
    fn diff_from(&self, base: &Self, peer: Capabilities) -> Vec<u8> {
        let (old, new) = (base.screen(), self.screen());
        // The server does not know which screen a client shows for state 0.
        let receiver = Receiver { understands: peer, shows: Some(old).filter(|_| !base.initial) };
        let vocabulary = receiver.vocabulary();
        let mut message = Vec::new();
        self.parts.write_diff(&base.parts, &receiver, true, &mut message);
        // The client's blank state 0 may have another size than the server's, so a diff from it states the size.
        if old.size() != new.size() || (base.initial && !self.initial) {
            put_resize(&mut message, new.size());
        }
        let bytes = match vocabulary {
            Vocabulary::Stock => display::diff(old, new, vocabulary),
            _ => display::diff_without_events(old, new, vocabulary),
        };
        if !bytes.is_empty() {
            put_member(&mut message, HOST_BYTES, &bytes_field(HOST_BYTES_STRING, &bytes));
        }
        self.parts.write_diff(&base.parts, &receiver, false, &mut message);
        message
    }

    fn apply(&mut self, diff: &[u8]) -> Result<(), ApplyError> {
        self.apply_part(diff, u64::MAX).map(|_| ())
    }

    fn apply_part(&mut self, diff: &[u8], effort: u64) -> Result<rove_ssp::Part, ApplyError> {
        if matches!(self.picture, Picture::Snapshot(_)) {
            return Err(refused("a published picture follows no diff"));
        }
        let mut play = core::mem::take(&mut self.play);
        let before = play.effort();
        let is_whole = play.go_on(self, diff, before.saturating_add(effort))?;
        let effort = play.effort() - before;
        if !is_whole {
            self.play = play;
        } else if self.allowed.holds(self.screen().size()) {
            self.initial &= diff.is_empty();
        } else {
            return Err(refused("a screen larger than the window"));
        }
        Ok(rove_ssp::Part { is_whole, effort })
    }

    fn check(&self, base: &Self, diff: &[u8], peer: Capabilities) -> Result<(), ApplyError> {
        let size = base.screen().size();
        let mut replica = Self::replica(size);
        let picture = Self::published(base.screen().clone(), base.echo_ack());
        replica.apply(&picture.diff_from(&Self::initial(size), peer))?;
        let mut followed = Self { picture: replica.picture, ..base.clone() };
        followed.allow(&Allowed::new([size, self.screen().size()]));
        followed.apply(diff)?;
        let (ours, theirs) = (self.screen(), followed.screen());
        let vocabulary = Receiver { understands: peer, shows: None }.vocabulary();
        let is_rich = vocabulary != Vocabulary::Stock;
        // A Mosh 1.4.0 client does not understand every attribute. A diff must carry all that it understands.
        let is_same = ours.size() == theirs.size()
            && ours.cursor() == theirs.cursor()
            && self.parts.scrolled.same_as(&followed.parts.scrolled)
            && display::diff_without_events(theirs, ours, vocabulary).is_empty()
            && (!is_rich || (0..ours.size().rows()).all(|row| same_cells(ours, theirs, row)));
        is_same.then_some(()).ok_or_else(|| refused("it leads to another picture"))
    }

    fn same_as(&self, other: &Self) -> bool {
        self.echo_ack() == other.echo_ack() && self.shows_same(other)
    }

    fn shows_same(&self, other: &Self) -> bool {
        self.initial == other.initial
            && self.parts.shows_same(&other.parts)
            && self.screen() == other.screen()
    }

    /// A client that asks for the pty's modes predicts, and learns from each echo ack. So each new echo ack is urgent.
    fn is_urgent_to(&self, peer: Capabilities, before: &Self) -> bool {
        peer.contains(Capabilities::TTY) || !self.shows_same(before)
    }

    fn drop_prefix(&mut self, known: &Self) {
        self.parts.drop_known(&known.parts);
    }

    fn bytes_beyond(&self, neighbour: Option<&Self>) -> Bytes {
        let parts = self.parts.bytes_beyond(neighbour.map(|state| &state.parts));
        let own = Bytes::from(size_of::<Self>() + parts);
        match (&self.picture, neighbour.map(|neighbour| &neighbour.picture)) {
            (Picture::Replica(terminal), Some(Picture::Replica(theirs))) => {
                own + terminal.bytes_beyond(Some(theirs))
            }
            (Picture::Replica(terminal), None) => own + terminal.bytes_beyond(None),
            _ => own + self.screen().bytes_beyond(neighbour.map(Self::screen)),
        }
    }

    fn received_bytes_max(&self) -> Bytes {
        RECEIVED_BYTES + Bytes::new(self.allowed.cells_max() * CELL_RECEIVED_BYTES)
    }

    fn midpoint(&self, base: &Self) -> Option<Self> {
        let screen = Screen::midpoint(base.screen(), self.screen())?;
        // A midpoint picture shows no effect of any input, so it advances no echo ack.
        Some(Self::snapshot(screen, self.parts.midpoint(&base.parts)))
    }
}

/// Returns whether a row has the same cells on both screens. The comparison ignores whether the row wraps into the
/// next. A wrap is not visible, and a diff cannot always express it.
fn same_cells(ours: &Screen, theirs: &Screen, row: u16) -> bool {
    ours.row(row).map(|row| row.cells()) == theirs.row(row).map(|row| row.cells())
}

#[cfg(test)]
mod tests;
