//! Opens a stream, and reads the peer's answer about its target.

use rove_streams::{
    Answer, BUSY, Exit, MessageReader, Mux, PrefaceError, StreamError, StreamId, Target, UNREACHED,
};
use rove_units::Instant;

/// A stream that this end has opened, and that the peer has not answered.
#[derive(Debug)]
pub(crate) struct Opening {
    id: StreamId,
    reader: MessageReader,
}

/// The peer's answer about the stream's target.
pub(crate) enum Answered {
    /// The peer has accepted the target. The text is the address connected to, or the path, port or name asked for.
    Opened(String),
    /// The peer refused the target, for this reason.
    Refused(String),
    /// The peer refused the target, because too many streams wait for its answer. The text says so.
    Busy(String),
    /// The program has ended, with this status.
    Exited(Exit),
    /// The peer has stored the file. The first text is the file's path. The second text says why the peer did not type
    /// the path, or is empty.
    Kept(String, String),
    /// The peer has ended the stream without an answer, as it does for an unknown kind of target.
    Unknown,
    /// The stream was cut, for this reason.
    Cut(String),
}

impl Opening {
    /// Opens a stream for this target.
    ///
    /// # Errors
    ///
    /// Returns an error if there are too many streams, or the stream layer is closed.
    pub(crate) fn begin(now: Instant, mux: &mut Mux, target: &Target) -> Result<Self, StreamError> {
        let id = mux.open(now)?;
        mux.write(id, &target.encode())?;
        Ok(Self { id, reader: MessageReader::default() })
    }

    pub(crate) const fn id(&self) -> StreamId {
        self.id
    }

    /// Reads the answer. `None` while the answer is incomplete. A stream that the peer has not connected is closed at
    /// once, to make room for another.
    pub(crate) fn answer(&mut self, now: Instant, mux: &mut Mux) -> Option<Answered> {
        let answered = self.read(now, mux)?;
        if !matches!(answered, Answered::Opened(_) | Answered::Exited(_)) {
            mux.reset_and_stop(self.id, UNREACHED);
        }
        Some(answered)
    }

    fn read(&mut self, now: Instant, mux: &mut Mux) -> Option<Answered> {
        let answer = match self.reader.read(now, mux, self.id) {
            Ok(None) if mux.closed().is_none() => return None,
            Ok(None) => {
                return Some(Answered::Cut("all streams of the session were closed".into()));
            }
            Ok(Some(fields)) => Answer::decode(&fields),
            Err(error) => Err(error),
        };
        Some(match answer {
            Ok(Answer::Opened { address }) => Answered::Opened(address),
            Ok(Answer::Refused { code: BUSY, text }) => Answered::Busy(text),
            Ok(Answer::Refused { text, .. }) => Answered::Refused(text),
            Ok(Answer::Exited(exit)) => Answered::Exited(exit),
            Ok(Answer::Kept { path, untyped }) => Answered::Kept(path, untyped),
            Err(PrefaceError::Ended) if mux.closed().is_none() => Answered::Unknown,
            Err(error) => Answered::Cut(error.to_string()),
        })
    }
}

impl Answered {
    /// Returns why the stream is not connected. `None` if the stream is connected.
    pub(crate) fn into_refusal(self) -> Option<String> {
        match self {
            Self::Opened(_) => None,
            Self::Refused(reason) | Self::Busy(reason) | Self::Cut(reason) => Some(reason),
            Self::Unknown => Some("it has ended the stream".to_owned()),
            Self::Exited(_) | Self::Kept(..) => Some("nothing like that was asked for".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use rove_streams::{Reception, STREAMS_MAX};
    use rove_units::Duration;

    use super::*;
    use crate::tests::muxes::{deliver, muxes};

    #[test]
    fn a_stream_that_leads_nowhere_makes_room_for_another() {
        let (mut client, mut server) = muxes();
        let mut reception = Reception::default();
        let mut now = Instant::ZERO;
        let answers = [
            Answer::Refused { code: UNREACHED, text: "nobody listens".to_owned() },
            Answer::Kept { path: "~/a".to_owned(), untyped: String::new() },
        ];
        for answer in std::iter::repeat_n(answers, STREAMS_MAX).flatten() {
            let opening = Opening::begin(now, &mut client, &Target::Foreground);
            let mut opening = opening.expect("there is room for one stream");
            let begun = now;
            while opening.answer(now, &mut client).is_none() {
                assert!(now < begun + Duration::from_secs(9), "the answer comes");
                now += Duration::from_millis(50);
                deliver(now, &mut client, &mut server);
                reception.handle_incoming(&mut server);
                if reception.handle_readable(now, &mut server, opening.id()).is_some() {
                    reception.answer(&mut server, opening.id(), &answer);
                }
                deliver(now, &mut server, &mut client);
            }
        }
    }
}
