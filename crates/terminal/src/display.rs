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
mod dialect;
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
pub use dialect::Vocabulary;
pub(crate) use dialect::{Dialect, History};
pub(crate) use lines::lines;
pub(crate) use modes::{
    CLIPBOARD_CHARS_MAX, MODES_OFF, TITLE_CHARS_MAX, clipboard, modes, private_mode, titles,
};
pub(crate) use scrollback::{make_room, scroll_off};
pub use sgr::Repertoire;
pub(crate) use status::{directory, progress};

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
