//! The peer's answer to a stream that this end has opened.

use rove_streams::{Answer, Exit, MessageReader, Mux, StreamError, StreamId, Target};
use rove_units::Instant;

/// A stream whose answer has not come.
#[derive(Debug)]
pub(crate) struct Opening {
    id: StreamId,
    reader: MessageReader,
}

/// The peer's answer to an opening.
pub(crate) enum Answered {
    /// The stream leads to this address.
    Opened(String),
    /// The opening failed, for this reason.
    Refused(String),
    /// The program has ended.
    Exited(Exit),
    /// The file is kept at this path. Its path was not typed for this reason; empty if it was typed.
    Kept(String, String),
    /// The host knows no such stream, or has closed all.
    Unknown(String),
}

impl Opening {
    /// Opens a stream to this place.
    ///
    /// # Errors
    ///
    /// Returns that there are too many streams, or that the layer is closed.
    pub(crate) fn begin(now: Instant, mux: &mut Mux, target: &Target) -> Result<Self, StreamError> {
        let id = mux.open(now)?;
        mux.write(id, &target.encode())?;
        Ok(Self { id, reader: MessageReader::default() })
    }

    /// Returns the stream.
    pub(crate) const fn id(&self) -> StreamId {
        self.id
    }

    /// Reads the answer. `None` while more of it is to come.
    pub(crate) fn answer(&mut self, now: Instant, mux: &mut Mux) -> Option<Answered> {
        Some(match self.reader.read(now, mux, self.id) {
            Ok(None) if mux.closed().is_none() => return None,
            Ok(None) => Answered::Unknown("streams are closed".to_owned()),
            Ok(Some(fields)) => match Answer::decode(&fields) {
                Ok(Answer::Opened { address }) => Answered::Opened(address),
                Ok(Answer::Refused { text, .. }) => Answered::Refused(text),
                Ok(Answer::Exited(exit)) => Answered::Exited(exit),
                Ok(Answer::Kept { path, untyped }) => Answered::Kept(path, untyped),
                Err(error) => Answered::Unknown(error.to_string()),
            },
            Err(error) => Answered::Unknown(error.to_string()),
        })
    }
}

impl Answered {
    /// Returns why a connection is not open. `None` if it is.
    pub(crate) fn into_refusal(self) -> Option<String> {
        match self {
            Self::Opened(_) => None,
            Self::Refused(reason) | Self::Unknown(reason) => Some(reason),
            Self::Exited(_) | Self::Kept(..) => Some("nothing like that was asked for".to_owned()),
        }
    }
}
