//! Properties of the terminal for which a screen is drawn.

use super::functions::Functions;
use super::sgr::Repertoire;

/// The parts of a screen that the other end can store. A diff contains only sequences for these parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Vocabulary {
    /// The other end stores the same parts as a stock Mosh client. Source: Mosh 1.4.0 as observed, docs/terminal.md.
    #[default]
    Stock,
    /// The other end stores all of a [`crate::Screen`], except clusters whose width differs from the sum of their code
    /// points' widths.
    Rich,
    /// The other end stores all of a [`crate::Screen`], including the widths of clusters.
    Clusters,
}

impl Vocabulary {
    /// Returns the graphic renditions (SGR) for which this vocabulary has sequences.
    pub const fn repertoire(self) -> Repertoire {
        match self {
            Self::Stock => Repertoire::STOCK,
            Self::Rich | Self::Clusters => Repertoire::FULL,
        }
    }
}

/// The capabilities of the receiving terminal, and whether its cells must be equal or only look alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// Whether the terminal is a replica, whose cells must be equal: an erased cell differs from a space. A real
    /// terminal must only look the same, and its cursor is hidden while it moves.
    pub(crate) replica: bool,
    /// The rows that enter the scrollback history of a real terminal.
    pub(crate) history: History,
    pub(crate) functions: Functions,
    /// The graphic renditions (SGR) that the terminal can show.
    pub(crate) repertoire: Repertoire,
    /// Whether a replica reads cluster widths (OSC 66), or a real terminal gives clusters the screen's widths.
    pub(crate) clusters: bool,
    /// Whether a real terminal gives a lone regional indicator (half of a flag emoji) two columns, but the screen one.
    pub(crate) wide_flags: bool,
}

impl Dialect {
    /// Returns the dialect of a replica that can store `vocabulary`.
    pub(super) const fn replica(vocabulary: Vocabulary) -> Self {
        Self {
            replica: true,
            history: History::Frames,
            functions: Functions::ALL,
            repertoire: vocabulary.repertoire(),
            clusters: matches!(vocabulary, Vocabulary::Clusters),
            wide_flags: false,
        }
    }
}

/// The rows that enter the scrollback history of a real terminal, which keeps lines that scroll off the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum History {
    /// Rows that scroll off between two frames enter the history. Rows of a cleared screen may enter it, too.
    Frames,
    /// Rows that scroll off between two frames enter the history. Rows of a cleared screen never do.
    FramesOnly,
    /// Only the lines that [`super::scroll_off`] writes enter the history. Rows of frames never do.
    LinesOnly,
}
