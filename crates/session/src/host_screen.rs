//! The host's screen with its echo acknowledgment: the object the server owns.

/// The screen, the echo ack, and what two roves add to it.
#[derive(Clone, Debug)]
pub struct HostScreen {
    _stub: (),
}
