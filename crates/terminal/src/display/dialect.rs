//! Properties of the terminal that a screen is drawn for.

use super::sgr::Repertoire;

/// The parts of a screen that the other end can store, which limit the sequences of a diff to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Vocabulary {
    /// The parts that a stock Mosh 1.4.0 client stores. Source: Mosh 1.4.0 as observed, docs/terminal.md.
    #[default]
    Stock,
    /// All of a [`crate::Screen`], except clusters whose width is not the sum of their code points' widths.
    Rich,
    /// All of a [`crate::Screen`], including the widths of clusters.
    Clusters,
}

impl Vocabulary {
    /// Returns the graphic renditions (SGR) that this vocabulary has sequences for.
    pub const fn repertoire(self) -> Repertoire {
        match self {
            Self::Stock => Repertoire::STOCK,
            Self::Rich | Self::Clusters => Repertoire::FULL,
        }
    }
}

/// The abilities of the receiving terminal, and whether its cells must be equal or only look alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// Whether the terminal is a replica, whose cells must be equal; an erased cell differs from a space. A real
    /// terminal must only look right, and its cursor is hidden while it moves.
    pub(crate) replica: bool,
    /// The rows that enter the scrollback history of a real terminal.
    pub(crate) history: History,
    /// Whether `CSI X` erases characters (`ech`).
    pub(crate) erase_characters: bool,
    /// Whether erasing paints the current background (`bce`).
    pub(crate) background_color_erase: bool,
    /// The graphic renditions (SGR) that the terminal can show.
    pub(crate) repertoire: Repertoire,
    /// Whether a replica understands the width of a cluster (OSC 66), or a real terminal counts clusters as the screen
    /// does.
    pub(crate) clusters: bool,
    /// Whether a real terminal gives half of a flag two columns, while the screen gives it one.
    pub(crate) wide_flags: bool,
}

impl Dialect {
    /// Returns the dialect of a replica whose other end knows `vocabulary`.
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

/// The rows that enter the scrollback history of a real terminal. Terminals keep lines that scroll off the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum History {
    /// Rows that scroll off between two frames, and perhaps rows of a screen that is cleared.
    Frames,
    /// Rows that scroll off between two frames. Screens are cleared in such a way that no terminal keeps their rows.
    FramesOnly,
    /// Only the lines given to [`super::scroll_off`], and no rows of frames.
    LinesOnly,
}
