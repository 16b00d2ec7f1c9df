//! The host's answer to a stream that the client has opened.

use rove_streams::{Answer, MessageReader, Mux, PrefaceError, StreamError, StreamId, Target};
use rove_units::Instant;

/// A stream whose answer has not come.
#[derive(Debug)]
pub(super) struct Opening {
    id: StreamId,
    reader: MessageReader,
}

/// Why a stream is not open.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unopened {
    #[error("streams are closed")]
    Closed,
    /// The host has refused it, in these words.
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Answer(#[from] PrefaceError),
}

impl Opening {
    /// Opens a stream to this place.
    ///
    /// # Errors
    ///
    /// Returns that there are too many streams, or that the layer is closed.
    pub(super) fn begin(now: Instant, mux: &mut Mux, target: &Target) -> Result<Self, StreamError> {
        let id = mux.open(now)?;
        mux.write(id, &target.encode())?;
        Ok(Self { id, reader: MessageReader::default() })
    }

    /// Returns the stream.
    pub(super) const fn id(&self) -> StreamId {
        self.id
    }

    /// Reads the answer: whether the stream is open, or why it is not. `None` while more of it is to come.
    pub(super) fn answer(&mut self, now: Instant, mux: &mut Mux) -> Option<Result<(), Unopened>> {
        let answer = match self.reader.read(now, mux, self.id) {
            Ok(None) if mux.closed().is_none() => return None,
            Ok(None) => return Some(Err(Unopened::Closed)),
            Ok(Some(fields)) => Answer::decode(&fields),
            Err(error) => Err(error),
        };
        Some(match answer {
            Ok(Answer::Opened { .. }) => Ok(()),
            Ok(Answer::Refused { text, .. }) => Err(Unopened::Refused(text)),
            Err(error) => Err(error.into()),
        })
    }
}
