//! A listener that the client wants on the host. The host may refuse it, for example because a killed client's session
//! still has the port. The client then asks again from time to time.

use rove_bootstrap::{Place, RemoteForward};
use rove_streams::{Listen, Mux, Read, StreamId, Target, UNREACHED};
use rove_units::{Duration, Instant};

use super::UNWANTED;
use crate::opening::{Answered, Opening};

/// Pause before the client asks again for a listener that the host has refused. Chosen: a host frees the ports of a
/// killed client after 9 to 33 s of silence. This pause seldom wakes an idle computer up.
const REFUSED_PAUSE: Duration = Duration::from_secs(30);

/// The sentence about a host that ends the first stream for a listener without an answer.
const SILENT_END: &str =
    "the host has ended the stream: either it was cut off, or its rove is too old to listen";

/// An entry of the client's table of listeners.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) forward: RemoteForward,
    pub(super) state: State,
    pub(super) purpose: Purpose,
    /// When to ask the host again for a listener that it has refused. `None` for other listeners.
    asks_again: Option<Instant>,
    /// Whether the host has ever listened. From then on, a failure does not end the session.
    was_open: bool,
}

/// The reason for a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::client) enum Purpose {
    /// The user set the listener by `-R`, or by `RemoteForward` in ssh's configuration.
    Option,
    /// The user typed a line for the listener during the session. A failure to listen does not end the session.
    Added,
    /// The relay of the user's agent needs the listener.
    Agent,
}

/// The progress of a listener.
#[derive(Debug)]
pub(super) enum State {
    /// The client has not asked the host for the listener.
    New,
    /// The client has asked, and the host has not answered.
    Asked(Opening),
    /// The host listens as long as this stream is open.
    Open { stream: StreamId, port: String },
}

/// A message for the user about listeners on the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::client) enum News {
    /// The host listens. The sentence, if any, is for the user.
    Opened(Option<String>),
    /// A connection to a fixed target has failed. Or a listener has failed that was open, or that the user added during
    /// the session. The text is for the user.
    Said(String),
    /// A listener of the user's options was never opened, for this reason.
    Failed(String),
    /// Why the host does not listen for the relay of the agent. `None` if the host listens.
    Agent(Option<String>),
}

impl Entry {
    pub(super) const fn new(forward: RemoteForward, purpose: Purpose) -> Self {
        Self { forward, state: State::New, purpose, asks_again: None, was_open: false }
    }

    /// Closes the listener, and returns its description.
    pub(super) fn close(self, mux: &mut Mux) -> RemoteForward {
        let stream = match self.state {
            State::New => None,
            State::Asked(opening) => Some(opening.id()),
            State::Open { stream, .. } => Some(stream),
        };
        if let Some(stream) = stream {
            mux.reset_and_stop(stream, UNWANTED);
        }
        self.forward
    }

    /// Returns whether the host's answer is awaited: the listener is neither open nor refused.
    pub(super) const fn is_asking(&self) -> bool {
        !matches!(self.state, State::Open { .. }) && !self.is_refused()
    }

    /// Returns the time by which to call [`Entry::turn`] again. `None` unless the next request follows a refusal.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.asks_again.filter(|_| matches!(self.state, State::New))
    }

    /// Returns whether the host has refused the listener, and has not opened it since.
    pub(super) const fn is_refused(&self) -> bool {
        self.asks_again.is_some()
    }

    /// Asks the host for the listener, when that is due, or reads the host's answer. Returns the news for the user, and
    /// whether the client still wants the listener.
    pub(super) fn turn(
        &mut self,
        now: Instant,
        mux: &mut Mux,
        wanted: impl FnOnce() -> Listen,
    ) -> (Option<News>, bool) {
        // The host resets the stream if another program took the port while the client was silent.
        if let State::Open { stream, .. } = self.state
            && mux.closed().is_none()
            && mux.read(now, stream, &mut [0; 1]) != Ok(Read::Blocked)
        {
            mux.reset_and_stop(stream, UNREACHED);
            self.state = State::New;
        }
        let news = match self.state {
            State::New if self.asks_again > Some(now) => None,
            State::New => self.begin(now, mux, wanted()),
            State::Asked(_) | State::Open { .. } => self.answer(now, mux),
        };
        let is_well = matches!(news, None | Some(News::Opened(_) | News::Agent(None)));
        (news, is_well || self.asks_again > Some(now))
    }

    /// Asks the host for the listener. Returns the news if that fails at this end, else `None`.
    fn begin(&mut self, now: Instant, mux: &mut Mux, wanted: Listen) -> Option<News> {
        let wanted = Target::Listen(wanted);
        let begun = wanted.check().map_err(|error| error.to_string());
        let begun = begun
            .and_then(|()| Opening::begin(now, mux, &wanted).map_err(|error| error.to_string()));
        match begun {
            Ok(opening) => {
                self.state = State::Asked(opening);
                None
            }
            Err(error) => Some(self.failed(&error)),
        }
    }

    /// Reads the host's answer. Returns the news for the user. `None` without an answer, or after a repeated refusal.
    fn answer(&mut self, now: Instant, mux: &mut Mux) -> Option<News> {
        let State::Asked(opening) = &mut self.state else { return None };
        Some(match opening.answer(now, mux)? {
            Answered::Opened(port) => {
                let said = allocated(&self.forward, &port);
                self.was_open = true;
                let was_refused = self.asks_again.take().is_some();
                let is_news = was_refused || self.purpose == Purpose::Added;
                let usual = || is_news.then(|| format!("{}: the host listens", self.forward));
                let said = said.or_else(usual);
                self.state = State::Open { stream: opening.id(), port };
                match self.purpose {
                    Purpose::Agent => News::Agent(None),
                    _ => News::Opened(said),
                }
            }
            Answered::Refused(reason) | Answered::Busy(reason) => {
                return self.refused(now, &format!("the host cannot listen: {reason}"));
            }
            // The host has listened or refused before, so its rove is not too old.
            Answered::Unknown if self.was_open || self.is_refused() => {
                return self.refused(now, "the host has ended the stream");
            }
            Answered::Cut(reason) => self.failed(&reason),
            Answered::Unknown | Answered::Exited(_) | Answered::Kept(..) => self.failed(SILENT_END),
        })
    }

    /// Lets the client ask again later, except for the agent's relay. Returns the news of the first refusal in a row.
    fn refused(&mut self, now: Instant, reason: &str) -> Option<News> {
        let news = self.failed(reason);
        if self.purpose == Purpose::Agent {
            return Some(news);
        }
        self.state = State::New;
        let former = self.asks_again.replace(now + REFUSED_PAUSE);
        former.is_none().then_some(news)
    }

    fn failed(&self, reason: &str) -> News {
        let said = format!("{}: {reason}", self.forward);
        match self.purpose {
            Purpose::Option if !self.was_open => News::Failed(said),
            Purpose::Option | Purpose::Added => News::Said(said),
            Purpose::Agent => News::Agent(Some(reason.to_owned())),
        }
    }
}

/// Returns the sentence about a port that the host chose, in ssh's words. `None` if the user chose the port or path.
fn allocated(forward: &RemoteForward, port: &str) -> Option<String> {
    let Place::Port(_, 0) = forward.listen else { return None };
    let target = forward.target.as_ref().map_or("SOCKS".to_owned(), Place::to_string);
    Some(format!("Allocated port {port} for remote forward to {target}"))
}
