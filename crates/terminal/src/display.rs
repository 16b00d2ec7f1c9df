//! The difference of two screens as terminal bytes that any stock client can parse.

use crate::screen::Screen;

/// Returns bytes that, played into a replica showing `old`, make it show `new`; empty when equal.
pub fn diff(old: &Screen, new: &Screen) -> Vec<u8> {
    let _ = (old, new);
    todo!()
}
