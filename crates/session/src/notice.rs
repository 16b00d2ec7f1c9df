//! Notices: the client's messages to the user, in words for the bar.

use std::net::SocketAddr;

use rove_units::{Duration, Instant};

use crate::bar::Bar;

/// How long a start without an answer goes unmentioned.
/// Source, as for all times here unless chosen: Mosh 1.4.0 as observed.
const CONNECTING_AFTER: Duration = Duration::from_millis(250);
/// From when on such a start is told with where it goes and how often it was tried. Chosen: several round trips
/// of the worst path, and long before anybody gives up.
const NO_ANSWER_AFTER: Duration = Duration::from_secs(3);
/// How late a server's word may be that was due: with heartbeats of 3 s two are lost then, and half a second is over.
const CONTACT_LATE: Duration = Duration::from_millis(3_500);
/// How old the newest acknowledged state may be before the way up counts as failing.
const REPLY_LATE: Duration = Duration::from_secs(10);
/// From this much silence on the count goes on in steps of three.
const SLOW_COUNT_AFTER: u64 = 60;
/// How long a local network error stays after its last occurrence.
const NETWORK_ERROR_SHOWN: Duration = Duration::from_millis(3_100);
/// How late the word of a server must be, whose host refuses our datagrams, for it to count as gone. Chosen: 10 s after
/// its last heartbeat three of 3 s are refused, and a restart of the network is over.
const GONE_LATE: Duration = Duration::from_secs(7);
/// Greatest age of a refusal that still proves that the server is gone. Chosen: one heartbeat in three must be refused.
const REFUSAL_AGE_MAX: Duration = Duration::from_secs(10);
/// After this much time without an answer, the bar tells the remedy for blocked UDP. A block in one direction counts
/// too, as a server that hears nothing falls silent some time later. Chosen: a network that comes back has done so, and
/// the user has not given up.
const ADVICE_AFTER: Duration = Duration::from_secs(30);
/// How long the session goes through ssh until the user reads why. Chosen: UDP has been tried five times by then.
const ASIDE_AFTER: Duration = Duration::from_secs(3);
/// How long that stays. Chosen: long enough to read it twice.
const ASIDE_SHOWN: Duration = Duration::from_secs(8);
/// How long anything else that passes stays, and a network error once something is heard again.
const MESSAGE_SHOWN: Duration = Duration::from_secs(1);
/// How long the user is told that somebody has joined or left. Chosen: a user who has looked away for a moment sees it.
const ANNOUNCEMENT_SHOWN: Duration = Duration::from_secs(10);

/// When the server was last heard from, as the notices need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Contact {
    /// When the client started.
    pub(crate) start: Instant,
    /// When the newest state of the server arrived; `None` before the first.
    pub(crate) heard_at: Option<Instant>,
    /// When the next is due, at the latest.
    pub(crate) due_at: Instant,
    /// Until when the client's messages count as answered; `None` before the first acknowledgment.
    pub(crate) acknowledged_sent_at: Option<Instant>,
    /// Where datagrams go.
    pub(crate) server: SocketAddr,
    /// How many have gone there.
    pub(crate) sent: u64,
    /// When the host last refused one.
    pub(crate) refused_at: Option<Instant>,
}

/// A failure that keeps datagrams from a tunnel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The failure and its consequence, without the end of the sentence.
    pub text: String,
    /// Why.
    pub reason: String,
    /// Whether the tunnel stands again only when the user logs in.
    pub needs_login: bool,
}

/// A notice beside the state of the contact.
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
    /// Whether to name commands of rove's that help.
    advises: bool,
    /// The failure that keeps datagrams from the tunnel, if any; `None` where they travel without one.
    tunnel: Option<Option<Trouble>>,
    /// Since when datagrams go through ssh, as UDP does not answer, and whether the user has read why.
    aside: Option<(Instant, bool)>,
    /// Why the client is ending; from then on nothing else is said.
    farewell: Option<String>,
}

impl Notices {
    /// Creates no notices for a program of this name.
    pub(crate) const fn new(program: String, quit_hint: Option<String>, advises: bool) -> Self {
        let (message, tunnel, aside, farewell) = (None, None, None, None);
        Self { program, quit_hint, message, advises, tunnel, aside, farewell }
    }

    /// Says something for a second.
    pub(crate) fn say(&mut self, now: Instant, text: impl Into<String>) {
        self.message = Some(Message {
            text: text.into(),
            until: Some(now + MESSAGE_SHOWN),
            network_error: false,
        });
    }

    /// Says something for longer, as who has joined.
    pub(crate) fn announce(&mut self, now: Instant, text: impl Into<String>) {
        let until = Some(now + ANNOUNCEMENT_SHOWN);
        self.message = Some(Message { text: text.into(), until, network_error: false });
    }

    /// Shows an error of the local network, until a few seconds after its last occurrence.
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

    /// Notes the state of the tunnel. Returns whether it has changed.
    pub(crate) fn tunnel(&mut self, trouble: Option<Trouble>) -> bool {
        let trouble = Some(trouble);
        let is_news = self.tunnel != trouble;
        self.tunnel = trouble;
        is_news
    }

    /// Notes since when datagrams go through ssh, as UDP to this port does not answer. The user reads that once.
    pub(crate) fn aside(&mut self, now: Instant, since: Option<Instant>, port: u16) {
        if self.aside.map(|(since, _)| since) != since {
            self.aside = since.map(|since| (since, false));
        }
        let Some((since, is_told)) = &mut self.aside else { return };
        if !*is_told && now.saturating_since(*since) >= ASIDE_AFTER {
            *is_told = true;
            self.message = Some(Message {
                text: format!("UDP port {port} is silent: using ssh. See rove doctor."),
                until: Some(now + ASIDE_SHOWN),
                network_error: false,
            });
        }
    }

    /// Returns whether datagrams travel through a tunnel.
    pub(crate) const fn is_tunnelled(&self) -> bool {
        self.tunnel.is_some()
    }

    const fn goes_through_ssh(&self) -> bool {
        self.tunnel.is_some() || self.aside.is_some()
    }

    /// Says why the client is ending, until it has ended. The first reason stays.
    pub(crate) fn farewell(&mut self, text: impl Into<String>) {
        self.farewell.get_or_insert_with(|| text.into());
    }

    /// Returns whether the tunnel stands again only when the user logs in.
    pub(crate) fn needs_login(&self) -> bool {
        matches!(&self.tunnel, Some(Some(trouble)) if trouble.needs_login)
    }

    /// Returns the bar, if there is a message. `help` holds the escape key's help, and `login_hints` the ways to log in
    /// again.
    pub(crate) fn bar(
        &self,
        now: Instant,
        contact: Contact,
        help: Option<Vec<String>>,
        login_hints: Vec<String>,
    ) -> Option<Bar> {
        let silence = Silence::at(now, contact);
        let message = self.message.as_ref().filter(|message| message.is_shown(now));
        let quit = || self.quit_hint.iter().cloned().collect();
        let is_gone = self.is_gone(now, contact);
        let (texts, hints) = if let Some(farewell) = &self.farewell {
            (with_silence(farewell, silence), Vec::new())
        } else if let Some(help) = help {
            (help, Vec::new())
        } else if is_gone && message.is_none_or(|message| message.network_error) {
            (gone(contact.server, self.is_tunnelled()), quit())
        } else if let Some(message) = message {
            (with_silence(&message.text, silence), quit())
        } else if let Some(Some(trouble)) = &self.tunnel {
            let hints = if login_hints.is_empty() { quit() } else { login_hints };
            let Trouble { text, reason, .. } = trouble;
            let mut texts = with_silence(&format!("{text}: {reason}."), silence);
            texts.push(format!("{text}."));
            texts.push("The ssh tunnel has ended.".to_owned());
            texts.push("Tunnel ended.".to_owned());
            (texts, hints)
        } else if let Some(texts) = connecting(now, contact, self.goes_through_ssh()) {
            (texts, quit())
        } else {
            let hints = if login_hints.is_empty() { quit() } else { login_hints };
            (silence?.sentences(self.advises && !self.goes_through_ssh()), hints)
        };
        Some(Bar { program: self.program.clone(), texts, hints })
    }

    /// Returns whether the server that was heard once is gone, as far as the network tells.
    pub(crate) fn is_gone(&self, now: Instant, contact: Contact) -> bool {
        let (Some(heard_at), Some(refused_at)) = (contact.heard_at, contact.refused_at) else {
            return false;
        };
        self.advises
            && refused_at > heard_at
            && now.saturating_since(contact.due_at) >= GONE_LATE
            && now.saturating_since(refused_at) <= REFUSAL_AGE_MAX
    }

    /// Returns when [`Notices::bar`] next changes by itself; always after `now`.
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
        let contact_late = contact.due_at + CONTACT_LATE;
        let reply_late = contact.acknowledged_sent_at() + REPLY_LATE;
        let count = Silence::at(now, contact).map(|silence| silence.next_count());
        let gone = contact.refused_at.map(|_| contact.due_at + GONE_LATE);
        let aside = self.aside.filter(|(_, is_told)| !is_told);
        let aside = aside.map(|(since, _)| since + ASIDE_AFTER);
        [aside, expiry, connecting, Some(contact_late), Some(reply_late), count, gone]
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
    /// Returns whether the server is silent for so long that the user is told.
    pub(crate) fn is_late(self, now: Instant) -> bool {
        now.saturating_since(self.due_at) >= CONTACT_LATE
    }

    /// Returns since when the server is silent.
    pub(crate) fn heard_at(self) -> Instant {
        self.heard_at.unwrap_or(self.start)
    }

    fn acknowledged_sent_at(self) -> Instant {
        self.acknowledged_sent_at.unwrap_or(self.start)
    }
}

/// A silence that is worth a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Silence {
    since: Instant,
    seconds: u64,
    /// For how long the way to the server, or both ways, have failed.
    unanswered: Duration,
    /// Whether the server is heard, and only the client's messages do not arrive.
    only_reply: bool,
}

impl Silence {
    /// Returns the silence worth mentioning, if there is one.
    fn at(now: Instant, contact: Contact) -> Option<Self> {
        let late = |since: Instant, limit| now.saturating_since(since) >= limit;
        let (since, only_reply) = if contact.is_late(now) {
            (contact.heard_at(), false)
        } else if late(contact.acknowledged_sent_at(), REPLY_LATE) {
            (contact.acknowledged_sent_at(), true)
        } else {
            return None;
        };
        let unanswered = now.saturating_since(since.min(contact.acknowledged_sent_at()));
        Some(Self { since, seconds: now.saturating_since(since).as_secs(), unanswered, only_reply })
    }

    fn what(self) -> &'static str {
        if self.only_reply { "reply" } else { "contact" }
    }

    /// Returns the message about it, in fewer and fewer words.
    fn sentences(self, advises: bool) -> Vec<String> {
        let last = format!("Last {} {} ago.", self.what(), spelled(self.seconds, "seconds"));
        let short = if self.only_reply { "No reply" } else { "Silent" };
        let short = format!("{short} {}", spelled(self.seconds, "s"));
        if !advises || self.unanswered < ADVICE_AFTER {
            return vec![last, short];
        }
        vec![
            format!(
                "{last} If UDP is blocked here, try rove --tunnel; rove doctor names what fails."
            ),
            format!("{last} Try --tunnel, rove doctor"),
            last,
            short,
        ]
    }

    /// Returns when the next number is due.
    fn next_count(self) -> Instant {
        let step = if self.seconds < SLOW_COUNT_AFTER { 1 } else { 3 };
        self.since + Duration::from_secs(self.seconds / step * step + step)
    }
}

/// Returns the message about a server that is gone, in fewer and fewer words.
fn gone(server: SocketAddr, is_tunnelled: bool) -> Vec<String> {
    let port = server.port();
    let what = match is_tunnelled {
        true => "what comes through ssh".to_owned(),
        false => format!("UDP port {port}"),
    };
    let seen = format!("The server is gone: its host refuses {what}.");
    vec![
        format!("{seen} Quit and log in again; rove list HOST shows what runs there."),
        format!("Server gone: port {port} is refused. Log in again."),
        "Server is gone".to_owned(),
    ]
}

/// Returns the message about a start without an answer, in fewer and fewer words. The longest, with the hint, fits 80
/// columns.
fn connecting(now: Instant, contact: Contact, is_tunnelled: bool) -> Option<Vec<String>> {
    let waited = now.saturating_since(contact.start);
    let Contact { server, sent, heard_at, .. } = contact;
    if heard_at.is_some() || waited < CONNECTING_AFTER {
        return None;
    }
    let text = if waited < NO_ANSWER_AFTER && is_tunnelled {
        "Nothing received from server through ssh.".to_owned()
    } else if waited < NO_ANSWER_AFTER {
        format!("Nothing received from server on UDP port {}.", server.port())
    } else {
        let waited = spelled(waited.as_secs(), "s");
        let server = if is_tunnelled { "through ssh".to_owned() } else { format!("from {server}") };
        format!("No answer {server} ({sent} sent in {waited})")
    };
    Some(vec![text, "No answer yet.".to_owned()])
}

/// Returns a text with how long nothing has been heard, and without.
fn with_silence(text: &str, silence: Option<Silence>) -> Vec<String> {
    let with = silence.map(|silence| {
        format!("{text} ({} without {}.)", spelled(silence.seconds, "s"), silence.what())
    });
    with.into_iter().chain([text.to_owned()]).collect()
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
