//! The notice bar: what the client has to say, in one row over the top of the screen.

use std::net::SocketAddr;

use rove_terminal::{Attributes, Color, Pen, Position, Screen};
use rove_units::{Duration, Instant};

/// How long a start without an answer goes unmentioned.
/// Source, as for all times here unless chosen: Mosh 1.4.0 as observed.
const CONNECTING_AFTER: Duration = Duration::from_millis(250);
/// From when on such a start is told with where it goes and how often it was tried. Chosen: several round trips
/// of the worst path, and long before anybody gives up.
const NO_ANSWER_AFTER: Duration = Duration::from_secs(3);
/// Silence that is worth a notice: two heartbeats of 3 s lost, and half a second.
pub(crate) const CONTACT_LATE: Duration = Duration::from_millis(6_500);
/// How old the newest acknowledged state may be before the way up counts as failing.
const REPLY_LATE: Duration = Duration::from_secs(10);
/// From this much silence on the count goes on in steps of three.
const SLOW_COUNT_AFTER: u64 = 60;
/// How long a local network error stays after its last occurrence.
const NETWORK_ERROR_SHOWN: Duration = Duration::from_millis(3_100);
/// How long anything else that passes stays, and a network error once something is heard again.
const MESSAGE_SHOWN: Duration = Duration::from_secs(1);
/// Longest text. Chosen: wider than a glance takes in; bounds what an error message may bring.
const TEXT_CHARS_MAX: usize = 127;

/// White on blue, bold.
pub(crate) const PEN: Pen =
    Pen { foreground: Color::Named(7), background: Color::Named(4), attributes: Attributes::BOLD };

/// When the server was last heard from, as the notices need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Contact {
    /// When the client started.
    pub(crate) start: Instant,
    /// When the newest state of the server arrived; `None` before the first.
    pub(crate) heard_at: Option<Instant>,
    /// When our newest acknowledged state was sent; `None` before the first acknowledgment.
    pub(crate) acknowledged_sent_at: Option<Instant>,
    /// Where datagrams go.
    pub(crate) server: SocketAddr,
    /// How many have gone there.
    pub(crate) sent: u64,
}

/// What is to be said beside the state of the contact.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Message {
    text: String,
    /// `None` for as long as the client lives.
    until: Option<Instant>,
    network_error: bool,
}

/// Everything the client has to say.
#[derive(Clone, Debug)]
pub(crate) struct Notices {
    /// The program's name, in front of every notice.
    program: String,
    /// How to quit, at the end of most.
    quit_hint: Option<String>,
    message: Option<Message>,
    /// What keeps datagrams from the tunnel, if anything; `None` where they travel without one.
    tunnel: Option<Option<String>>,
    /// Why the client is ending; from then on nothing else is said.
    farewell: Option<String>,
}

impl Notices {
    /// Creates an empty bar for a program of this name.
    pub(crate) const fn new(program: String, quit_hint: Option<String>) -> Self {
        Self { program, quit_hint, message: None, tunnel: None, farewell: None }
    }

    /// Says something for a second.
    pub(crate) fn say(&mut self, now: Instant, text: impl Into<String>) {
        self.message = Some(Message {
            text: text.into(),
            until: Some(now + MESSAGE_SHOWN),
            network_error: false,
        });
    }

    /// Says what is wrong with the local network, for a few seconds after the last time.
    pub(crate) fn network_error(&mut self, now: Instant, text: &str) {
        self.message = Some(Message {
            text: text.to_owned(),
            until: Some(now + NETWORK_ERROR_SHOWN),
            network_error: true,
        });
    }

    /// Lets a network error go soon: something has been heard.
    pub(crate) fn heard(&mut self, now: Instant) {
        if let Some(message) = self.message.as_mut().filter(|message| message.network_error) {
            message.until = message.until.min(Some(now + MESSAGE_SHOWN));
        }
    }

    /// Takes word of the tunnel; returns whether it is news.
    pub(crate) fn tunnel(&mut self, trouble: Option<String>) -> bool {
        let trouble = Some(trouble);
        let is_news = self.tunnel != trouble;
        self.tunnel = trouble;
        is_news
    }

    /// Returns whether datagrams travel through a tunnel.
    pub(crate) const fn is_tunnelled(&self) -> bool {
        self.tunnel.is_some()
    }

    /// Says why the client is ending, until it has ended. The first reason stays.
    pub(crate) fn farewell(&mut self, text: impl Into<String>) {
        self.farewell.get_or_insert_with(|| text.into());
    }

    /// Returns the text of the bar, or `None` for no bar. `help` is what the escape key offers.
    pub(crate) fn text(
        &self,
        now: Instant,
        contact: Contact,
        help: Option<String>,
    ) -> Option<String> {
        let silence = Silence::at(now, contact);
        let message = self.message.as_ref().filter(|message| message.is_shown(now));
        let (body, hint) = if let Some(farewell) = &self.farewell {
            (with_silence(farewell, silence), None)
        } else if let Some(help) = help {
            (help, None)
        } else if let Some(message) = message {
            (with_silence(&message.text, silence), self.quit_hint.as_deref())
        } else if let Some(Some(trouble)) = &self.tunnel {
            (with_silence(trouble, silence), self.quit_hint.as_deref())
        } else if let Some(text) = connecting(now, contact, self.is_tunnelled()) {
            (text, self.quit_hint.as_deref())
        } else {
            (silence?.sentence(), self.quit_hint.as_deref())
        };
        let separator = if hint.is_some() { " " } else { "" };
        Some(format!("{}: {body}{separator}{}", self.program, hint.unwrap_or("")))
    }

    /// Returns when [`Notices::text`] next changes by itself; always after `now`.
    pub(crate) fn poll_timeout(&self, now: Instant, contact: Contact) -> Option<Instant> {
        let expiry = self.message.as_ref().and_then(|message| message.until);
        let connecting = contact.heard_at.is_none().then(|| {
            let waited = now.saturating_since(contact.start);
            if waited < CONNECTING_AFTER {
                contact.start + CONNECTING_AFTER
            } else if waited < NO_ANSWER_AFTER {
                contact.start + NO_ANSWER_AFTER
            } else {
                contact.start + Duration::from_secs(waited.as_secs() + 1)
            }
        });
        let contact_late = contact.heard_at() + CONTACT_LATE;
        let reply_late = contact.acknowledged_sent_at() + REPLY_LATE;
        let count = Silence::at(now, contact).map(|silence| silence.next_count());
        [expiry, connecting, Some(contact_late), Some(reply_late), count]
            .into_iter()
            .flatten()
            .filter(|at| *at > now)
            .min()
    }
}

impl Message {
    fn is_shown(&self, now: Instant) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}

impl Contact {
    /// Returns since when the server is silent.
    pub(crate) fn heard_at(self) -> Instant {
        self.heard_at.unwrap_or(self.start)
    }

    fn acknowledged_sent_at(self) -> Instant {
        self.acknowledged_sent_at.unwrap_or(self.start)
    }
}

/// For how long what has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Silence {
    since: Instant,
    seconds: u64,
    /// Whether we do hear the server, and only our own words do not arrive.
    only_reply: bool,
}

impl Silence {
    /// Returns the silence worth mentioning, if there is one.
    fn at(now: Instant, contact: Contact) -> Option<Self> {
        let late = |since: Instant, limit| now.saturating_since(since) >= limit;
        let (since, only_reply) = if late(contact.heard_at(), CONTACT_LATE) {
            (contact.heard_at(), false)
        } else if late(contact.acknowledged_sent_at(), REPLY_LATE) {
            (contact.acknowledged_sent_at(), true)
        } else {
            return None;
        };
        Some(Self { since, seconds: now.saturating_since(since).as_secs(), only_reply })
    }

    fn what(self) -> &'static str {
        if self.only_reply { "reply" } else { "contact" }
    }

    fn sentence(self) -> String {
        format!("Last {} {} ago.", self.what(), spelled(self.seconds, "seconds"))
    }

    /// Returns when the next number is due.
    fn next_count(self) -> Instant {
        let step = if self.seconds < SLOW_COUNT_AFTER { 1 } else { 3 };
        self.since + Duration::from_secs(self.seconds / step * step + step)
    }
}

/// Draws a bar over the top row.
pub(crate) fn draw(frame: &mut Screen, text: &str) {
    let background = Pen { attributes: Attributes::NONE, ..PEN };
    let text: String = text.chars().take(TEXT_CHARS_MAX).collect();
    frame.clear_row(0, background);
    frame.write_text(Position { row: 0, column: 0 }, &text, PEN);
    if frame.cursor().row == 0 {
        frame.show_cursor(false);
    }
}

/// Returns what to say of a start without an answer. The longest of it, with the hint, fits 80 columns.
fn connecting(now: Instant, contact: Contact, is_tunnelled: bool) -> Option<String> {
    let waited = now.saturating_since(contact.start);
    let Contact { server, sent, heard_at, .. } = contact;
    if heard_at.is_some() || waited < CONNECTING_AFTER {
        None
    } else if waited < NO_ANSWER_AFTER && is_tunnelled {
        Some("Nothing received from server through ssh.".to_owned())
    } else if waited < NO_ANSWER_AFTER {
        Some(format!("Nothing received from server on UDP port {}.", server.port()))
    } else {
        let waited = spelled(waited.as_secs(), "s");
        let server = if is_tunnelled { "through ssh".to_owned() } else { format!("from {server}") };
        Some(format!("No answer {server} ({sent} sent in {waited})"))
    }
}

fn with_silence(text: &str, silence: Option<Silence>) -> String {
    match silence {
        Some(silence) => {
            format!("{text} ({} without {}.)", spelled(silence.seconds, "s"), silence.what())
        }
        None => text.to_owned(),
    }
}

/// Returns seconds below a minute with their `unit`, then M:SS, then H:MM:SS.
fn spelled(seconds: u64, unit: &str) -> String {
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    if minutes == 0 {
        format!("{seconds} {unit}")
    } else if hours == 0 {
        format!("{minutes}:{:02}", seconds % 60)
    } else {
        format!("{hours}:{:02}:{:02}", minutes % 60, seconds % 60)
    }
}

#[cfg(test)]
mod tests;
