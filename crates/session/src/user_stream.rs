//! What the user did, in order: the object the client owns.

use rove_terminal::Size;

/// One thing the user did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserEvent {
    /// One byte from the keyboard.
    Byte(u8),
    /// The window has a new size.
    Resize(Size),
}

/// An append-only sequence of events. Clones share their contents.
#[derive(Clone, Debug)]
pub struct UserStream {
    _stub: (),
}
