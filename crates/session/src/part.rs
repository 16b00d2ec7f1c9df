//! The trait of a part: data that a server state holds beside its picture, with its own field in a `HostMessage`.

use rove_ssp::{ApplyError, Capabilities};
use rove_terminal::Screen;
use rove_terminal::display::Vocabulary;

/// A kind of data that a server state holds beside its picture. [`crate::parts`] lists all parts.
pub(crate) trait Part: Clone + Default {
    /// The part's field number in a `HostMessage` instruction. No two parts share a number.
    const MEMBER: u32;

    /// The protocol extension to which this part belongs. The part is sent only to a receiver that supports it.
    const EXTENSION: Capabilities;

    /// Whether the part's instructions precede the picture in a diff, because it refers to the receiver's screen.
    const IS_BEFORE_PICTURE: bool = false;

    /// Whether a change of this part is visible or audible to the user, so that it must be sent soon.
    const IS_SHOWN: bool = true;

    /// Returns the bodies of the fields that turn `base` into this part. The list is empty if the two are equal.
    fn diff_from(&self, base: &Self, receiver: &Receiver<'_>) -> Vec<Vec<u8>>;

    /// Applies the body of one of this part's fields in a received diff.
    ///
    /// # Errors
    ///
    /// Returns the rule that the body breaks.
    fn apply(&mut self, body: &[u8], replica: &mut Replica<'_>) -> Result<(), ApplyError>;

    /// Returns whether this part and `other` are equal, so that nothing has to be sent.
    fn same_as(&self, other: &Self) -> bool;

    /// Returns a part about half way from `base` to this part. Parts without intermediate steps return `base`.
    fn midpoint(&self, base: &Self) -> Self {
        base.clone()
    }

    /// Drops contents that both ends hold: those of `known`, which the client has acknowledged. By default, nothing.
    fn drop_known(&mut self, known: &Self) {
        let _ = known;
    }

    /// Returns the heap memory of this part, in bytes, without memory shared with `neighbour`, another state's part.
    fn bytes_beyond(&self, neighbour: Option<&Self>) -> usize {
        let _ = neighbour;
        0
    }
}

/// The receiving end for which a diff is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receiver<'a> {
    /// The protocol extensions that the receiver supports.
    pub(crate) understands: Capabilities,
    /// The screen that the receiver shows for the diff's base state. `None` if the sender does not know it.
    pub(crate) shows: Option<&'a Screen>,
}

impl Receiver<'_> {
    /// Returns which terminal sequences the receiver's copy of the screen understands.
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

/// The receiving end's context while a diff is applied.
#[derive(Debug)]
pub(crate) struct Replica<'a> {
    /// The receiver's screen after the diff's earlier instructions were applied.
    pub(crate) screen: &'a Screen,
    /// The cost of applying the diff's earlier instructions.
    pub(crate) work: &'a mut Work,
}

/// The cost of applying a diff up to its present instruction. Limits on it bound the work that a peer can cause.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work {
    effort: u64,
    /// Cells in the scrolled-off lines that the diff has carried as text.
    pub(crate) line_cells: usize,
}

impl Work {
    /// Returns the cost of the diff up to this point, in cells (`Terminal::effort`).
    pub(crate) const fn effort(&self) -> u64 {
        self.effort
    }

    pub(crate) fn spend(&mut self, effort: impl TryInto<u64>) {
        self.effort = self.effort.saturating_add(effort.try_into().unwrap_or(u64::MAX));
    }
}
