//! The difference between two screens, as terminal bytes that every stock Mosh client can parse.
//!
//! The same code draws for two kinds of terminals, which a `Dialect` distinguishes. A *replica* is the client's copy of
//! the host's screen, and must get equal cells. The user's real terminal must only look the same ([`crate::Renderer`]).
//! `canvas` decides how to draw a frame (scroll, clear, rows). `edit` decides how to draw a row (perhaps by moving
//! cells), and `line` which cells to write. `brush` writes the bytes, and tracks the state of the receiving terminal.
//!
//! A diff to a replica carries every field of [`Screen`], with these exceptions:
//! - with [`Vocabulary::Stock`], the state that a stock Mosh client's screen cannot hold;
//! - the hyperlinks of a row beyond twice the bytes that programs may put into a row of this screen's size. Each run of
//!   linked cells counts its link. Only a row from a screen of another size has so many bytes;
//! - the number of bells: a diff rings once for any number of bells;
//! - a wrap flag (the row's text continues in the next row) that printing may fail to set. Such a row ends empty, in
//!   combining characters or in a character whose width varies between terminals. Another such row is the bottom row of
//!   a screen that has less than three rows or no room for two characters in a row;
//! - the removal of a title, because no sequence removes a title;
//! - the end of a long title (`TITLE_CHARS_MAX`), and the whole of a long copied text (`CLIPBOARD_CHARS_MAX`);
//! - an empty copied text.

mod brush;
mod canvas;
mod colors;
mod dialect;
mod doubt;
mod edit;
mod functions;
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

pub(crate) use brush::LINK_END;
pub(crate) use canvas::picture;
pub(crate) use colors::{colors, reset_colors};
pub use dialect::Vocabulary;
pub(crate) use dialect::{Dialect, History};
pub use functions::Functions;
pub(crate) use lines::lines;
pub(crate) use modes::{
    CLIPBOARD_CHARS_MAX, MODES_OFF, TITLE_CHARS_MAX, clipboard, modes, private_mode, titles,
};
pub(crate) use scrollback::{make_room, scroll_off};
pub use sgr::Repertoire;
pub(crate) use status::{directory, progress};

/// Returns the bytes that turn a replica's screen from `old` into `new`. They are empty if the screens are equal.
///
/// If the sizes differ, resize the replica before it reads the bytes. The bytes do not depend on a pending wrap in the
/// replica, and leave no margins or other hidden state. The module's documentation lists what a diff does not carry.
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

/// Returns the bytes of [`diff`] without bell and copied text, which rove's server sends to its client separately.
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
