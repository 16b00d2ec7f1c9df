//! The host's screen with its echo acknowledgment: the object the server owns.

mod allowed;
mod play;

use rove_predict::Tty;
use rove_ssp::{ApplyError, Capabilities, Object, Part, StateNum};
use rove_terminal::display::{self, Vocabulary};
use rove_terminal::{Screen, Size, Terminal};
use rove_units::Bytes;

pub(crate) use self::allowed::Allowed;
use self::play::Play;
use crate::message::{MessageWriter, WireTty};
use crate::parts::clipboard::Clipboard;
use crate::parts::exit_status::ExitStatus;
use crate::parts::notifications::Notifications;
use crate::parts::scrollback::Scrolled;

/// Memory that the received states may need together, whatever the window is, and for each of its cells besides.
/// Chosen: 32 screens of 80x24 that share nothing, or ten of 500x200, in cells alone; and some megabytes for copied text
/// and lines on their way.
const RECEIVED_BYTES: Bytes = Bytes::mib(8);
const CELL_RECEIVED_BYTES: u64 = 160;

/// The screen, the echo ack, and what two roves add to it.
#[derive(Clone, Debug)]
pub struct HostScreen {
    picture: Picture,
    echo_ack: StateNum,
    exit_status: Option<ExitStatus>,
    /// The newest copy, and how often the bell rang: what a picture cannot say once and for all.
    clipboard: Clipboard,
    bells: u64,
    notifications: Notifications,
    /// The terminal that the programs run on, as it was when the picture was taken or later.
    tty: Option<Tty>,
    /// The lines that scrolled off.
    scrolled: Scrolled,
    /// Whether this is still the state numbered 0, whose size the two ends have not agreed on.
    initial: bool,
    /// The sizes that the replica may have.
    allowed: Allowed,
    /// How far the diff has been played that is being applied.
    play: Play,
}

/// The two ends keep the picture differently: the server publishes it, the client plays diffs into it.
#[derive(Clone, Debug)]
enum Picture {
    /// A published picture: no parser, so no state ends inside a sequence.
    Snapshot(Screen),
    /// A terminal that follows the far end, hidden state and parser included.
    Replica(Box<Terminal>),
}

impl HostScreen {
    /// Creates a server's state 0: blank.
    pub fn initial(size: Size) -> Self {
        let initial = Self::published(Screen::blank(size), StateNum::INITIAL, None);
        Self { initial: true, ..initial }
    }

    /// Creates a client's copy of state 0: blank, in the size of the user's window.
    pub fn replica(size: Size) -> Self {
        let picture = Picture::Replica(Box::new(Terminal::replica(size)));
        Self {
            picture,
            echo_ack: StateNum::INITIAL,
            exit_status: None,
            clipboard: Clipboard::default(),
            bells: 0,
            notifications: Notifications::default(),
            tty: None,
            scrolled: Scrolled::default(),
            initial: true,
            allowed: Allowed::new([size]),
            play: Play::default(),
        }
    }

    /// Creates a state to publish.
    pub fn published(screen: Screen, echo_ack: StateNum, exit_status: Option<ExitStatus>) -> Self {
        let bells = screen.bells();
        Self {
            picture: Picture::Snapshot(screen),
            echo_ack,
            exit_status,
            clipboard: Clipboard::default(),
            bells,
            notifications: Notifications::default(),
            tty: None,
            scrolled: Scrolled::default(),
            initial: false,
            allowed: Allowed::new([]),
            play: Play::default(),
        }
    }

    /// Sets the sizes that the replica may have.
    pub(crate) fn allow(&mut self, allowed: &Allowed) {
        self.allowed = allowed.clone();
    }

    /// Returns this state with notifications.
    pub(crate) fn with_notifications(self, notifications: Notifications) -> Self {
        Self { notifications, ..self }
    }

    /// Returns this state with a copy.
    pub(crate) fn with_clipboard(self, clipboard: Clipboard) -> Self {
        Self { clipboard, ..self }
    }

    /// Returns this state with the terminal that the programs run on.
    pub(crate) fn with_tty(self, tty: Option<Tty>) -> Self {
        Self { tty, ..self }
    }

    /// Returns this state with lines that scrolled off.
    pub(crate) fn with_scrolled(self, scrolled: Scrolled) -> Self {
        Self { scrolled, ..self }
    }

    /// Returns the picture.
    pub fn screen(&self) -> &Screen {
        match &self.picture {
            Picture::Snapshot(screen) => screen,
            Picture::Replica(terminal) => terminal.screen(),
        }
    }

    /// Returns the newest state of the client's whose input the screen shows the effect of.
    pub const fn echo_ack(&self) -> StateNum {
        self.echo_ack
    }

    /// Returns how the remote command ended, where it has and the server is a rove.
    pub const fn exit_status(&self) -> Option<ExitStatus> {
        self.exit_status
    }

    /// Returns the newest copy.
    pub(crate) const fn clipboard(&self) -> &Clipboard {
        &self.clipboard
    }

    /// Returns the newest notifications.
    pub(crate) const fn notifications(&self) -> &Notifications {
        &self.notifications
    }

    /// Returns the terminal that the programs run on, where the server is a rove that tells.
    pub(crate) const fn tty(&self) -> Option<Tty> {
        self.tty
    }

    /// Returns the lines that scrolled off, where the server is a rove that was asked for them.
    pub(crate) const fn scrolled(&self) -> &Scrolled {
        &self.scrolled
    }

    /// Returns how often the bell rang; of a stock server's screen always 0.
    pub(crate) const fn bells(&self) -> u64 {
        self.bells
    }
}

impl HostScreen {
    /// Called when a diff has been applied as a whole; refuses a screen of a size that is not allowed.
    fn finish_diff(&mut self, diff: &[u8]) -> Result<(), ApplyError> {
        self.initial &= diff.is_empty();
        let is_allowed = self.allowed.holds(self.screen().size());
        is_allowed.then_some(()).ok_or_else(|| refused("a screen larger than the window"))
    }
}

impl Object for HostScreen {
    fn diff_from(&self, base: &Self, peer: Capabilities) -> Vec<u8> {
        let (old, new) = (base.screen(), self.screen());
        let vocabulary = vocabulary(peer);
        let mut message = MessageWriter::default();
        if self.echo_ack != base.echo_ack {
            message.echo_ack(self.echo_ack);
        }
        if peer.contains(Capabilities::SCROLLBACK) {
            // Before anything changes the screen that they may be on.
            // What the client shows as state 0 is not known.
            let shown = Some(old).filter(|_| !base.initial);
            self.scrolled.write_diff(&base.scrolled, shown, vocabulary, &mut message);
        }
        // The client's state 0 may have another size than ours, and be blank all the same.
        if old.size() != new.size() || (base.initial && !self.initial) {
            message.resize(new.size());
        }
        let is_rich = vocabulary != Vocabulary::Stock;
        let bytes = if is_rich {
            display::diff_without_events(old, new, vocabulary)
        } else {
            display::diff(old, new, vocabulary)
        };
        if !bytes.is_empty() {
            message.host_bytes(&bytes);
        }
        if let Some(status) = self.exit_status
            && base.exit_status != self.exit_status
            && peer.contains(Capabilities::EXIT_STATUS)
        {
            message.exit_status(status);
        }
        if is_rich && self.bells != base.bells {
            message.bells(self.bells);
        }
        if is_rich && let Some(piece) = self.clipboard.diff_from(&base.clipboard) {
            message.copy(&piece);
        }
        let notifications = self.notifications.after(base.notifications.newest());
        if is_rich && !notifications.is_empty() {
            message.notifications(self.notifications.newest(), notifications);
        }
        if let Some(tty) = self.tty
            && base.tty != self.tty
            && peer.contains(Capabilities::TTY)
        {
            message.tty(WireTty::between(base.tty, tty));
        }
        message.finish()
    }

    fn apply(&mut self, diff: &[u8]) -> Result<(), ApplyError> {
        self.apply_part(diff, u64::MAX).map(|_| ())
    }

    fn apply_part(&mut self, diff: &[u8], effort: u64) -> Result<Part, ApplyError> {
        if matches!(self.picture, Picture::Snapshot(_)) {
            return Err(refused("a published picture follows no diff"));
        }
        let mut play = core::mem::take(&mut self.play);
        let before = play.effort();
        let is_whole = play.go_on(self, diff, before.saturating_add(effort))?;
        let effort = play.effort() - before;
        if is_whole {
            self.finish_diff(diff)?;
        } else {
            self.play = play;
        }
        Ok(Part { is_whole, effort })
    }

    fn check(&self, base: &Self, diff: &[u8], peer: Capabilities) -> Result<(), ApplyError> {
        let size = base.screen().size();
        let mut replica = Self::replica(size);
        let picture = Self::published(base.screen().clone(), base.echo_ack, None);
        replica.apply(&picture.diff_from(&Self::initial(size), peer))?;
        let mut followed = Self { picture: replica.picture, ..base.clone() };
        followed.allow(&Allowed::new([size, self.screen().size()]));
        followed.apply(diff)?;
        let (ours, theirs) = (self.screen(), followed.screen());
        let vocabulary = vocabulary(peer);
        let is_rich = vocabulary != Vocabulary::Stock;
        // A stock peer cannot be told of everything, but there must be nothing left to tell it.
        let is_same = ours.size() == theirs.size()
            && ours.cursor() == theirs.cursor()
            && self.scrolled.end() == followed.scrolled.end()
            && display::diff_without_events(theirs, ours, vocabulary).is_empty()
            && (!is_rich || (0..ours.size().rows()).all(|row| same_cells(ours, theirs, row)));
        is_same.then_some(()).ok_or_else(|| refused("it leads to another picture"))
    }

    fn same_as(&self, other: &Self) -> bool {
        self.echo_ack == other.echo_ack && self.shows_same(other)
    }

    fn shows_same(&self, other: &Self) -> bool {
        self.exit_status == other.exit_status
            && self.initial == other.initial
            && self.bells == other.bells
            && self.tty == other.tty
            && self.notifications.newest() == other.notifications.newest()
            && self.scrolled.end() == other.scrolled.end()
            && self.clipboard.same_as(&other.clipboard)
            && self.screen() == other.screen()
    }

    /// A client that asks for the terminal's modes predicts, and learns from each echo ack.
    fn is_urgent_to(&self, peer: Capabilities, before: &Self) -> bool {
        peer.contains(Capabilities::TTY) || !self.shows_same(before)
    }

    fn drop_prefix(&mut self, known: &Self) {
        self.clipboard.drop_known(&known.clipboard);
        self.scrolled.drop_known(&known.scrolled);
    }

    fn bytes_beyond(&self, neighbour: Option<&Self>) -> Bytes {
        let clipboard = self.clipboard.bytes_beyond(neighbour.map(|state| &state.clipboard));
        let theirs = neighbour.map(|state| &state.notifications);
        let notifications = self.notifications.bytes_beyond(theirs);
        let scrolled = self.scrolled.bytes_beyond(neighbour.map(|state| &state.scrolled));
        let own = Bytes::from(size_of::<Self>() + clipboard + notifications + scrolled);
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
        // Half of a picture shows no effect of anything yet.
        let screen = Screen::midpoint(base.screen(), self.screen())?;
        let middle = Self::published(screen, base.echo_ack, base.exit_status);
        let (clipboard, notifications) = (base.clipboard.clone(), base.notifications.clone());
        let scrolled = base.scrolled.clone();
        // That nothing is echoed any more must not come later than what is to be answered unseen.
        // That a shell waits at its prompt must not come sooner than the prompt.
        let tty = self.tty.map(|tty| Tty { prompt: None, ..tty });
        Some(Self { bells: base.bells, clipboard, notifications, tty, scrolled, ..middle })
    }
}

/// Returns whether a row looks the same on both. Whether it goes on in the next row is no matter of its
/// looks, and not always to be told.
fn same_cells(ours: &Screen, theirs: &Screen, row: u16) -> bool {
    ours.row(row).map(|row| row.cells()) == theirs.row(row).map(|row| row.cells())
}

/// Returns what a peer's replica understands.
const fn vocabulary(peer: Capabilities) -> Vocabulary {
    if !peer.contains(Capabilities::RICH_SCREEN) {
        Vocabulary::Stock
    } else if peer.contains(Capabilities::CLUSTERS) {
        Vocabulary::Clusters
    } else {
        Vocabulary::Rich
    }
}

fn refused(what: &str) -> ApplyError {
    ApplyError { reason: what.to_owned() }
}

#[cfg(test)]
mod tests;
