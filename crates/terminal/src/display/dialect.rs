//! Properties of the terminal that a difference is drawn for.

use super::sgr::Repertoire;

/// The state that the far end's screen can hold, and so the sequences of a diff for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Vocabulary {
    /// The sequences of a stock 1.4.0 client. Source: Mosh 1.4.0 as observed, docs/terminal.md.
    #[default]
    Stock,
    /// All of a [`crate::Screen`], except clusters that are not as wide as their code points together.
    Rich,
    /// All of a [`crate::Screen`], with such clusters.
    Clusters,
}

impl Vocabulary {
    /// Returns the graphic renditions that this vocabulary has sequences for.
    pub const fn repertoire(self) -> Repertoire {
        match self {
            Self::Stock => Repertoire::STOCK,
            Self::Rich | Self::Clusters => Repertoire::FULL,
        }
    }
}

/// The abilities of the receiving terminal, and how exactly the picture must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// Whether the terminal is a replica. There cells must be equal, and an erased cell differs from a space. A real
    /// terminal must only look right, and its cursor is hidden while it moves.
    pub(crate) replica: bool,
    /// Which rows go to the history of a real terminal.
    pub(crate) history: History,
    /// Whether `CSI X` erases characters.
    pub(crate) erase_characters: bool,
    /// Whether erasing paints the current background.
    pub(crate) background_color_erase: bool,
    /// The graphic renditions that the terminal can show.
    pub(crate) repertoire: Repertoire,
    /// Whether a replica understands the width of a cluster (OSC 66), or a real terminal counts clusters as the screen
    /// does.
    pub(crate) clusters: bool,
    /// Whether a real terminal gives half of a flag two columns, while the screen gives it one.
    pub(crate) wide_flags: bool,
}

impl Dialect {
    /// Returns the dialect of a replica that knows `vocabulary`.
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

/// The rows that go to the history of a real terminal, which keeps lines that scroll off its top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum History {
    /// Rows that scroll off between two frames.
    Frames,
    /// Rows that scroll off between two frames. Screens are cleared so that no terminal keeps their rows.
    FramesOnly,
    /// Only the lines given to [`super::scroll_off`].
    LinesOnly,
}
