//! The difference of two screens as terminal bytes that any stock client can parse.
//!
//! One algorithm draws for two readers, told apart by a `Dialect`: a *replica* at the far end, which
//! must come out equal to the cell, and the user's real terminal, which must come out looking the same
//! ([`crate::Renderer`]). What is drawn is decided in `canvas` (scroll, clear, rows), `edit`
//! (shifts within a row) and `line` (its cells); `brush` turns it into bytes and keeps account of the receiving terminal's state.
//!
//! A diff to a replica carries every field of [`Screen`], with these exceptions:
//! - to a stock client, what its screen cannot hold ([`Vocabulary::Stock`]);
//! - a hyperlink in a row that holds more than 256 KiB of them, each piece counted;
//! - the bell counter: the diff rings once, however far the counter moved;
//! - a wrap flag that printing cannot set for certain: on a row that ends empty, in combining
//!   characters or in a character whose width may be judged differently, and on the bottom row of a
//!   screen less than three rows high or hardly wider than a character;
//! - the title flag once set never goes back, and titles and copied text longer than a stock
//!   client takes are cut (`TITLE_CHARS_MAX`) or left out (`CLIPBOARD_CHARS_MAX`).

mod brush;
mod canvas;
mod colors;
mod doubt;
mod edit;
mod line;
mod lines;
mod modes;
mod motion;
#[cfg(test)]
pub(crate) mod properties;
pub(crate) mod rich;
mod scroll;
mod scrollback;
mod sgr;
mod status;
#[cfg(test)]
mod tests;

use crate::screen::Screen;

pub(crate) use canvas::picture;
pub(crate) use colors::{colors, reset_colors};
pub(crate) use lines::lines;
pub(crate) use modes::{MODES_OFF, clipboard, modes, private_mode, titles};
pub(crate) use scrollback::{make_room, scroll_off};
pub use sgr::Repertoire;
pub(crate) use status::{directory, progress};

/// Most code points of a title that are sent.
/// Source: Mosh 1.4.0 as observed, docs/terminal.md: 256 with the two of `2;`.
pub(crate) const TITLE_CHARS_MAX: usize = 254;

/// Most code points of copied text that are sent; longer text is left out.
/// Source: Mosh 1.4.0 as observed, docs/terminal.md: 16384 with the five of `52;c;`.
pub(crate) const CLIPBOARD_CHARS_MAX: usize = 16_379;

/// What the screen of a far end holds, and so which sequences a diff for it is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Vocabulary {
    /// What a stock 1.4.0 client understands. Source: Mosh 1.4.0 as observed, docs/terminal.md.
    #[default]
    Stock,
    /// Everything that a [`Screen`] is but clusters of other widths than their code points have.
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
    const fn replica(vocabulary: Vocabulary) -> Self {
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
    /// Only the lines that [`scroll_off`] is given.
    LinesOnly,
}

/// Returns bytes that, played into a replica showing `old`, make it show `new`; empty when equal.
///
/// Where the sizes differ the replica must have been resized before the bytes are played.
/// The bytes leave no margin or other hidden state behind, and hold whether or not the replica has a
/// wrap pending. See the module for what is not carried.
pub fn diff(old: &Screen, new: &Screen, vocabulary: Vocabulary) -> Vec<u8> {
    let mut out = Vec::new();
    if old.bells != new.bells {
        out.push(b'\x07');
    }
    if old.clipboard != new.clipboard {
        clipboard(&mut out, &new.clipboard);
    }
    out.extend(diff_without_events(old, new, vocabulary));
    out
}

/// Returns what [`diff`] returns but for the bell and copied text, which between two roves are told
/// apart from the picture.
pub fn diff_without_events(old: &Screen, new: &Screen, vocabulary: Vocabulary) -> Vec<u8> {
    let mut out = Vec::new();
    titles(&mut out, Some(old), new, "");
    let is_rich = vocabulary != Vocabulary::Stock;
    modes(&mut out, Some(old), new, is_rich);
    if is_rich {
        rich::rich_modes(&mut out, old.rich, new.rich);
        colors(&mut out, &old.colors, &new.colors);
        directory(&mut out, &old.directory, &new.directory);
        progress(&mut out, old.progress, new.progress);
    }
    if vocabulary == Vocabulary::Clusters && old.cluster_widths != new.cluster_widths {
        out.extend(format!("\x1b[={}w", new.cluster_widths.bits()).bytes());
    }
    let dialect = Dialect::replica(vocabulary);
    picture(out, old, new, old.size != new.size, dialect)
}
