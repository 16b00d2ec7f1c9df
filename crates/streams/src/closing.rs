//! Closes the stream layer, and decides when to tell the peer.

use crate::frame::{CLOSE_TEXT_MAX, Frame};

/// Maximum number of frames that tell the peer that the layer has closed: the first at once, the others in answer to
/// packets that still come. Chosen: one of eight messages arrives almost certainly, and a peer cannot cause more.
const TOLD_MAX: u8 = 8;

/// The reason why the stream layer has closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    /// Whether the peer has closed the layer.
    pub is_by_peer: bool,
    /// The reason as a number, for example [`PROTOCOL`](crate::PROTOCOL).
    pub code: u64,
    /// The reason in words. A text of the peer must be shown with [`char::escape_debug`].
    pub text: String,
}

/// Whether the stream layer has closed, and whether a close frame has to be sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Closing {
    closed: Option<Closed>,
    is_due: bool,
    told: u8,
}

impl Closing {
    pub(crate) const fn closed(&self) -> Option<&Closed> {
        self.closed.as_ref()
    }

    pub(crate) const fn is_due(&self) -> bool {
        self.is_due
    }

    /// Closes the layer; returns whether it was open.
    pub(crate) fn close(&mut self, closed: Closed) -> bool {
        let is_first = self.closed.is_none();
        if is_first {
            tracing::info!(code = closed.code, by_peer = closed.is_by_peer, "streams closed");
            self.is_due = !closed.is_by_peer;
            self.closed = Some(closed);
        }
        is_first
    }

    /// Handles a packet that came after the layer has closed. Unless the peer closed it, the peer is told again.
    pub(crate) fn handle_packet(&mut self) {
        self.is_due = self.closed.as_ref().is_some_and(|it| !it.is_by_peer);
    }

    /// Returns the close frame if it is due and was sent fewer than [`TOLD_MAX`] times, or else `None`.
    pub(crate) fn take(&mut self) -> Option<Frame<'_>> {
        let closed = self.closed.as_ref()?;
        if !core::mem::take(&mut self.is_due) || self.told == TOLD_MAX {
            return None;
        }
        self.told += 1;
        let text = closed.text.as_bytes();
        let text = text.get(..CLOSE_TEXT_MAX).unwrap_or(text);
        Some(Frame::Close { code: closed.code, text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed(is_by_peer: bool) -> Closed {
        Closed { is_by_peer, code: 7, text: "x".repeat(200) }
    }

    #[test]
    fn the_peer_is_told_at_once_and_for_some_packets_more() {
        let mut closing = Closing::default();
        assert!(
            closing.take().is_none()
                && closing.close(closed(false))
                && !closing.close(closed(true))
        );
        let text = "x".repeat(CLOSE_TEXT_MAX);
        assert_eq!(closing.take(), Some(Frame::Close { code: 7, text: text.as_bytes() }));
        assert!(closing.take().is_none());
        let mut told = 0;
        for _ in 0..100 {
            closing.handle_packet();
            told += u8::from(closing.take().is_some());
        }
        assert_eq!(told, TOLD_MAX - 1);
        let mut by_peer = Closing::default();
        assert!(by_peer.close(closed(true)));
        by_peer.handle_packet();
        assert!(by_peer.take().is_none(), "the peer knows");
    }
}
