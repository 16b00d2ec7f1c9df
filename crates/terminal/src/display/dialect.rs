//! For which terminal a difference is written: its vocabulary, and what its bytes may rely on.

use super::sgr::Repertoire;

/// What the screen of a far end holds, and so which sequences a diff for it is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Vocabulary {
    /// What a stock 1.4.0 client understands. Source: Mosh 1.4.0 as observed, docs/terminal.md.
    #[default]
    Stock,
    /// Everything that a [`crate::Screen`] is but clusters of other widths than their code points have.
    Rich,
    /// These, too.
    Clusters,
}

impl Vocabulary {
    /// Returns the graphic renditions it has sequences for.
    pub const fn repertoire(self) -> Repertoire {
        match self {
            Self::Stock => Repertoire::STOCK,
            Self::Rich | Self::Clusters => Repertoire::FULL,
        }
    }
}

/// What the receiving terminal can do, and how exactly the picture must come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// Whether a replica receives: cells come out equal, an erased cell differs from a space, and
    /// only what the bytes name changes. A real terminal only has to look right; there the cursor
    /// is hidden while it moves.
    pub(crate) replica: bool,
    /// What goes to the history of a real terminal.
    pub(crate) history: History,
    /// Whether `CSI X` erases characters.
    pub(crate) erase_characters: bool,
    /// Whether erasing paints the current background.
    pub(crate) background_color_erase: bool,
    /// What it can paint.
    pub(crate) repertoire: Repertoire,
    /// Whether a replica can be told how wide a cluster is, or a real terminal counts clusters as the screen does.
    pub(crate) clusters: bool,
    /// Whether a real terminal gives half of a flag two columns, and the screen one.
    pub(crate) wide_flags: bool,
}

impl Dialect {
    /// A replica at a far end that knows this vocabulary.
    pub(super) const fn replica(vocabulary: Vocabulary) -> Self {
        Self {
            replica: true,
            history: History::Frames,
            erase_characters: true,
            background_color_erase: true,
            repertoire: vocabulary.repertoire(),
            clusters: matches!(vocabulary, Vocabulary::Clusters),
            wide_flags: false,
        }
    }
}

/// What goes to the history of a real terminal, where it keeps the lines that scroll off its top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum History {
    /// The rows that scroll off from one frame to the next.
    Frames,
    /// The same, and never a row that is cleared, as some terminals have it.
    FramesOnly,
    /// Only the lines that [`super::scroll_off`] is given.
    LinesOnly,
}
