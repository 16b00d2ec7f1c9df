//! A part: something that travels with the picture, in a member of its own of a `HostMessage`.

use rove_ssp::{ApplyError, Capabilities};
use rove_terminal::Screen;
use rove_terminal::display::Vocabulary;

/// Something that a state of the server's holds beside its picture. [`crate::parts`] lists all parts.
pub(crate) trait Part: Clone + Default {
    /// The number of its member, which no other part has.
    const MEMBER: u32;

    /// The extension that a receiver must understand to be told.
    const EXTENSION: Capabilities;

    /// Whether the member comes before the picture's, because it depends on the screen that the receiver shows.
    const IS_BEFORE_PICTURE: bool = false;

    /// Whether the user waits for a change: it shows, or something happens.
    const IS_SHOWN: bool = true;

    /// Returns the bodies of the members that lead here from `base`; none if both are the same.
    fn diff_from(&self, base: &Self, receiver: &Receiver<'_>) -> Vec<Vec<u8>>;

    /// Applies the body of a member.
    ///
    /// # Errors
    ///
    /// Returns the rule that the body breaks.
    fn apply(&mut self, body: &[u8], replica: &mut Replica<'_>) -> Result<(), ApplyError>;

    /// Returns whether both are the same.
    fn same_as(&self, other: &Self) -> bool;

    /// Returns the part of a state about half way from the state of `base` to its own.
    fn midpoint(&self, base: &Self) -> Self {
        base.clone()
    }

    /// Forgets contents that both ends are `known` to hold.
    fn drop_known(&mut self, known: &Self) {
        let _ = known;
    }

    /// Returns the memory that this takes on the heap beyond what it shares with `neighbour`.
    fn bytes_beyond(&self, neighbour: Option<&Self>) -> usize {
        let _ = neighbour;
        0
    }
}

/// The end that a diff is made for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receiver<'a> {
    /// The extensions that it understands.
    pub(crate) understands: Capabilities,
    /// The screen that it shows with the old state, if that is known.
    pub(crate) shows: Option<&'a Screen>,
}

impl Receiver<'_> {
    /// Returns what the receiver's replica understands.
    pub(crate) const fn vocabulary(&self) -> Vocabulary {
        if !self.understands.contains(Capabilities::RICH_SCREEN) {
            Vocabulary::Stock
        } else if self.understands.contains(Capabilities::CLUSTERS) {
            Vocabulary::Clusters
        } else {
            Vocabulary::Rich
        }
    }
}

/// The end that a diff is applied at.
#[derive(Debug)]
pub(crate) struct Replica<'a> {
    /// The screen, as far as the diff has come.
    pub(crate) screen: &'a Screen,
    /// The cost of the diff so far.
    pub(crate) work: &'a mut Work,
}

/// The cost of a diff so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work {
    effort: u64,
    /// Cells of the lines that came as text.
    pub(crate) line_cells: usize,
}

impl Work {
    /// Returns the work, in cells (`Terminal::effort`).
    pub(crate) const fn effort(&self) -> u64 {
        self.effort
    }

    pub(crate) fn spend(&mut self, effort: impl TryInto<u64>) {
        self.effort = self.effort.saturating_add(effort.try_into().unwrap_or(u64::MAX));
    }
}
