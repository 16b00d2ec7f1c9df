//! The surroundings of the cursor on the host's screen: where the input is, and what is not input.
//!
//! Programs do not say where their prompt ends, how far a field reaches or that text is only suggested, but people see
//! it, by lines, gaps and colours. So do these functions. Each reads the screen as the host drew it, without
//! predictions, and remembers nothing. Their callers draw the conclusions. A cursor outside the screen finds nothing.

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
