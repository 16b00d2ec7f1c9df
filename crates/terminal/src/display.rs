//! The difference of two screens as terminal bytes that any stock Mosh client can parse.
//!
//! The same code draws for two kinds of terminal, which a `Dialect` tells apart. A *replica* at the other end of the
//! connection must end with equal cells. The user's real terminal must end with the same look ([`crate::Renderer`]).
//! `canvas` decides how a frame is drawn (scroll, clear, rows), `edit` how a row is (cells moved within it), and `line`
//! which cells are written. `brush` writes the bytes, and tracks the state of the terminal that receives them.
//!
//! A diff to a replica carries every field of [`Screen`], with these exceptions:
//! - the state that a stock Mosh client's screen cannot hold ([`Vocabulary::Stock`]);
//! - a hyperlink in a row that holds more than 256 KiB of them, each piece counted;
//! - the number of bells: a diff rings once, however many bells there were;
//! - a wrap flag that printing does not set for certain: on a row that ends empty, in combining characters or in a
//!   character whose width terminals judge differently; on the bottom row of a screen with less than three rows, or
//!   without room for two characters in a row;
//! - the end of a title: once a title was set, there is always one;
//! - the end of a long title (`TITLE_CHARS_MAX`), and all of a long copied text (`CLIPBOARD_CHARS_MAX`).

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

/// Returns the bytes that make a replica which shows `old` show `new`. They are empty if the screens are equal.
///
/// If the sizes differ, resize the replica before it reads the bytes. The bytes leave no margin or other hidden state,
/// and they work whether or not the replica has a wrap pending. The documentation of this module lists what a diff does
/// not carry.
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

/// Returns the bytes of [`diff`] without the bell and copied text. Two roves send these apart from the screen.
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
