//! Reads a screen around the cursor: finds the input, and the text that is not input.
//!
//! Programs do not state where their prompt ends, how far a field reaches or that text is only suggested. People infer
//! this from lines, gaps and colours, and so do these functions. They read the screen as the host drew it, without
//! predictions, and keep no state. For a cursor outside the screen they find nothing. Callers draw the conclusions.

mod editor;
mod fingerprint;
mod input;
mod mode_line;
mod pane;
mod rendition;
mod row;
mod secret;
pub(crate) mod text;
mod title;

pub(crate) use self::editor::{EditorMode, editor_mode, gutter};
pub(crate) use self::fingerprint::{ends_as_shell, fingerprint};
pub(crate) use self::input::{input_end, right_bound, suggestion};
pub(crate) use self::mode_line::mode_line;
pub(crate) use self::pane::{Pane, pane};
pub(crate) use self::rendition::{continued, is_in_word, surrounding, usual, word_pen};
pub(crate) use self::row::character;
pub use self::secret::asks_for_secret;
pub(crate) use self::secret::{is_mask, mentions_secret};
pub(crate) use self::title::is_titled;

#[cfg(test)]
mod tests;
