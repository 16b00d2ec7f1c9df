//! Notices: the client's messages to the user about the connection, for the notice bar.

use std::net::SocketAddr;

use rove_terminal::Size;
use rove_units::{Duration, Instant};

use self::announcements::Announcements;
use crate::bar::Bar;

mod announcements;

/// How long the client waits for the server's first answer without a notice. Source, as for all constants of this file
/// without "Chosen": Mosh 1.4.0 as observed.
const CONNECTING_AFTER: Duration = Duration::from_millis(250);
/// How long the client waits for the server's first answer until the notice tells the address and the number of
/// datagrams sent. Chosen: several round trips of the worst path, and long before anybody gives up.
const NO_ANSWER_AFTER: Duration = Duration::from_secs(3);
/// How long the server's next state or heartbeat may be overdue until a notice says so. If heartbeats come every 3 s,
/// the notice comes 6.5 s after the last one.
const CONTACT_LATE: Duration = Duration::from_millis(3_500);
/// Time since the newest acknowledged client state was sent, after which the path to the server counts as failing.
const REPLY_LATE: Duration = Duration::from_secs(10);
/// The seconds of silence after which the count in the notice rises in steps of three.
const SLOW_COUNT_AFTER: u64 = 60;
/// How long the notice of a local network error stays after the error's last occurrence.
const NETWORK_ERROR_SHOWN: Duration = Duration::from_millis(3_100);
/// A server counts as gone if its host refuses datagrams, and its next state or heartbeat is overdue for this long.
/// Chosen: with heartbeats every 3 s, 10 s after the last one. By then the host has mostly refused several datagrams,
/// and a restart of the network is over.
const GONE_LATE: Duration = Duration::from_secs(7);
/// Longest time since the host refused a datagram at which the server still counts as gone. Chosen: the host must
/// refuse at least one in three of the client's heartbeats.
const REFUSAL_AGE_MAX: Duration = Duration::from_secs(10);
/// How long the server acknowledges nothing until the bar tells the remedy for blocked UDP. This covers UDP that is
/// blocked only towards the server: that server hears nothing and falls silent too. Chosen: a network that comes back
/// has mostly done so by then, and the user has not given up yet.
const ADVICE_AFTER: Duration = Duration::from_secs(30);
/// How long ssh carries the session, because UDP is silent, until the bar tells the user the reason. Chosen: in this
/// time the client tries UDP four times.
const ASIDE_AFTER: Duration = Duration::from_secs(3);
/// How long a notice such as "Bad datagram" stays. A network error's notice stays as long after the server is heard.
const MESSAGE_SHOWN: Duration = Duration::from_secs(1);

/// The times and counts of the contact with the server, from which the notices are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Contact {
    /// When the client started.
    pub(crate) start: Instant,
    /// When the newest state of the server arrived. `None` before the first.
    pub(crate) heard_at: Option<Instant>,
    /// The latest time at which the server's next state or heartbeat is due.
    pub(crate) due_at: Instant,
    /// The send time up to which the client's messages count as answered. `None` if the server has acknowledged none.
    pub(crate) acknowledged_sent_at: Option<Instant>,
    pub(crate) server: SocketAddr,
    /// How many datagrams the client has sent to the server.
    pub(crate) sent: u64,
    /// When the server's host last refused a datagram (ICMP). `None` if it never did.
    pub(crate) refused_at: Option<Instant>,
}

/// Advice to a user whose network may block UDP: a sentence, and short forms for a narrow bar.
const LONG_ADVICE: &str =
    "If UDP is blocked here, try rove --tunnel; rove doctor names what fails.";
const ADVICE: &str = "Try --tunnel, rove doctor";
const SHORT_ADVICE: &str = "Try rove doctor";

/// The system's error if a firewall of this computer refuses to send, and the bar's text for it.
const FORBIDDEN: &str = "Operation not permitted";
const FIREWALL: &str = "Sending failed: firewall?";

/// The text of the network error on a computer without a network. Advice to use ssh would not help there.
const OFFLINE: &str = "Network is unreachable";

/// A failure of the ssh tunnel that keeps the client's datagrams from the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The failure and its consequence, as a sentence without the full stop.
    pub text: String,
    /// The reason for the failure, in words for the user.
    pub reason: String,
    /// Whether the tunnel works again only after the user has logged in.
    pub needs_login: bool,
}

impl Trouble {
    /// Returns sentences about the failure, from the longest to the shortest.
    fn texts(&self, silence: Option<Silence>) -> Vec<String> {
        let Self { text, reason, .. } = self;
        let mut texts = with_silence(&format!("{text}: {reason}."), silence);
        texts.extend([
            format!("{text}."),
            "The ssh tunnel has ended.".into(),
            "Tunnel ended.".into(),
        ]);
        texts
    }
}

/// A notice that disappears after a while, such as a network error. Notices of silence follow from [`Contact`].
#[derive(Clone, Debug, PartialEq, Eq)]
struct Message {
    text: String,
    /// When the notice disappears.
    until: Instant,
    network_error: bool,
}

/// The messages that the client may show in the bar, of which the most important is shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notices {
    /// The program's name, shown at the start of every notice.
    program: String,
    /// The hint how to quit, shown at the end of most notices. `None` without an escape key.
    quit_hint: Option<String>,
    message: Option<Message>,
    announcements: Announcements,
    /// Whether notices may name commands of rove as a remedy, and may call a server gone. False for the program `mosh`.
    advises: bool,
    /// The tunnel's failure, or `Some(None)` while the tunnel works. `None` if the session uses no tunnel.
    tunnel: Option<Option<Trouble>>,
    /// Since when ssh replaces silent UDP, and whether the bar has told the user. `None` while UDP carries the session.
    aside: Option<(Instant, bool)>,
    /// The bar with the driver's question to the user. `None` without a question.
    question: Option<Bar>,
    /// The reason why the client ends, if it does. Once it is set, no other notice is shown.
    farewell: Option<String>,
}

impl Notices {
    pub(crate) fn new(program: String, quit_hint: Option<String>, advises: bool) -> Self {
        Self { program, quit_hint, advises, ..Self::default() }
    }

    /// Shows `text` for a second.
    pub(crate) fn say(&mut self, now: Instant, text: impl Into<String>) {
        let until = now + MESSAGE_SHOWN;
        self.message = Some(Message { text: text.into(), until, network_error: false });
    }

    /// Shows `text`, an event such as a client that joins, for ten seconds, or for three if another event waits.
    pub(crate) fn announce(&mut self, now: Instant, text: impl Into<String>) {
        self.announcements.push(now, text.into());
    }

    /// Shows `text`, the answer to an action of the user, before all waiting events.
    pub(crate) fn answer(&mut self, now: Instant, text: impl Into<String>) {
        self.announcements.answer(now, text.into());
    }

    /// Shows an error of the local network for about three seconds after its last occurrence.
    pub(crate) fn network_error(&mut self, now: Instant, text: &str) {
        let until = now + NETWORK_ERROR_SHOWN;
        let text = if self.advises && text == FORBIDDEN { FIREWALL } else { text };
        self.message = Some(Message { text: text.to_owned(), until, network_error: true });
    }

    /// Shortens the display of a network error to a second, because the server has been heard again.
    pub(crate) fn heard(&mut self, now: Instant) {
        if let Some(message) = self.message.as_mut().filter(|message| message.network_error) {
            message.until = message.until.min(now + MESSAGE_SHOWN);
        }
    }

    /// Sets the tunnel's failure, or `None` for a tunnel that works. Returns whether that changed.
    pub(crate) fn tunnel(&mut self, trouble: Option<Trouble>) -> bool {
        let trouble = Some(trouble);
        let is_news = self.tunnel != trouble;
        self.tunnel = trouble;
        is_news
    }

    /// Sets since when ssh carries the session because UDP is silent. `None`: UDP carries the session. The bar
    /// tells the reason once, but not while the host refuses datagrams: UDP then works, and the server is gone.
    pub(crate) fn aside(&mut self, now: Instant, since: Option<Instant>, contact: Contact) {
        if self.aside.map(|(since, _)| since) != since {
            self.aside = since.map(|since| (since, false));
        }
        let Some((since, is_told)) = &mut self.aside else { return };
        let is_due = !*is_told && now.saturating_since(*since) >= ASIDE_AFTER;
        if is_due && !contact.is_refused() {
            *is_told = true;
            let port = contact.server.port();
            let text = format!("UDP port {port} is silent: using ssh. See rove doctor.");
            self.announce(now, text);
        }
    }

    /// Returns whether the session uses an ssh tunnel.
    pub(crate) const fn is_tunnelled(&self) -> bool {
        self.tunnel.is_some()
    }

    const fn goes_through_ssh(&self) -> bool {
        self.tunnel.is_some() || self.aside.is_some()
    }

    /// Sets the question to show until the next call, with the hints how to answer it. `None` removes the question.
    pub(crate) fn ask(&mut self, question: Option<String>, hints: Vec<String>) {
        let program = self.program.clone();
        self.question =
            question.map(|it| Bar { program, texts: vec![it], hints, is_question: true });
    }

    /// Returns whether the user may agree: a window of this size shows the whole question, if there is one.
    pub(crate) fn is_question_whole(&self, window: Size) -> bool {
        self.question.as_ref().is_some_and(|bar| bar.whole(window).is_some())
    }

    /// Notes whether anything but a question hides the announcements. While they are hidden, their display time stops.
    pub(crate) fn set_hidden(&mut self, now: Instant, is_hidden: bool) {
        self.announcements.set_hidden(now, is_hidden || self.question.is_some());
    }

    /// Shows the reason why the client ends, until the client has ended. The first reason remains.
    pub(crate) fn farewell(&mut self, text: impl Into<String>) {
        self.farewell.get_or_insert_with(|| text.into());
    }

    /// Returns whether the tunnel has failed and works again only after the user has logged in.
    pub(crate) fn needs_login(&self) -> bool {
        matches!(&self.tunnel, Some(Some(trouble)) if trouble.needs_login)
    }

    /// Returns the bar with the most important notice, or `None` if there is none. `help` holds the escape key's help,
    /// and `login_hints` the hints how to log in again.
    pub(crate) fn bar(
        &self,
        now: Instant,
        contact: Contact,
        help: Option<Vec<String>>,
        login_hints: Vec<String>,
    ) -> Option<Bar> {
        let silence = Silence::at(now, contact);
        let message = self.message.as_ref().filter(|message| now < message.until);
        let announcement = self.announcements.current(now);
        let quit = || self.quit_hint.iter().cloned().collect();
        let is_gone = self.is_gone(now, contact);
        let (texts, hints) = if let Some(farewell) = &self.farewell {
            (with_silence(farewell, silence), Vec::new())
        } else if let Some(help) = help {
            (help, Vec::new())
        } else if let Some(bar) = &self.question {
            return Some(bar.clone());
        } else if let Some(text) = announcement {
            // An event must be readable whole, so the quit hint is left out first.
            let hints = self.quit_hint.iter().cloned().chain([String::new()]);
            (with_silence(&text, silence), hints.collect())
        } else if is_gone && message.is_none_or(|message| message.network_error) {
            (gone(contact.server, self.is_tunnelled()), quit())
        } else if let Some(message) = message {
            let advises = self.advises && message.network_error && !self.goes_through_ssh();
            let logs_in = message.network_error && !login_hints.is_empty();
            (message.texts(silence, advises), if logs_in { login_hints } else { quit() })
        } else if let Some(Some(trouble)) = &self.tunnel {
            let hints = if login_hints.is_empty() { quit() } else { login_hints };
            (trouble.texts(silence), hints)
        } else if let Some(texts) = connecting(now, contact, self.goes_through_ssh()) {
            (texts, quit())
        } else {
            let hints = if login_hints.is_empty() { quit() } else { login_hints };
            (silence?.sentences(self.advises && !self.goes_through_ssh()), hints)
        };
        Some(Bar { program: self.program.clone(), texts, hints, is_question: false })
    }

    /// Returns whether a once heard server (except of `mosh`) counts as gone: it is overdue, and its host refuses
    /// datagrams.
    pub(crate) fn is_gone(&self, now: Instant, contact: Contact) -> bool {
        let (Some(_), Some(refused_at)) = (contact.heard_at, contact.refused_at) else {
            return false;
        };
        self.advises
            && contact.is_refused()
            && now.saturating_since(contact.due_at) >= GONE_LATE
            && now.saturating_since(refused_at) <= REFUSAL_AGE_MAX
    }

    /// Returns when the result of [`Notices::bar`] next changes by itself, always after `now`. `None` for never.
    pub(crate) fn poll_timeout(&self, now: Instant, contact: Contact) -> Option<Instant> {
        let expiry = self.message.as_ref().map(|message| message.until);
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
        let announcement = self.announcements.poll_timeout(now);
        [aside, expiry, announcement, connecting, Some(contact_late), Some(reply_late), count, gone]
            .into_iter()
            .flatten()
            .filter(|at| *at > now)
            .min()
    }
}

impl Message {
    /// Returns the notice from the longest version to the shortest. `advises` adds the remedy for blocked UDP.
    fn texts(&self, silence: Option<Silence>, advises: bool) -> Vec<String> {
        let texts = with_silence(&self.text, silence);
        let is_long = silence.is_some_and(Silence::is_long);
        let is_blocked = self.text == FIREWALL || is_long && self.text != OFFLINE;
        if !advises || !is_blocked {
            return texts;
        }
        let time = silence.map(|it| format!(" ({}.)", spelled(it.seconds, "s")));
        let brief = self.text.clone() + &time.unwrap_or_default();
        let [long, short] = [&texts[0], &brief].map(|text| format!("{text} {ADVICE}"));
        let advised =
            [format!("{} {LONG_ADVICE}", texts[0]), long, short, format!("{brief} {SHORT_ADVICE}")];
        advised.into_iter().chain(texts).collect()
    }
}

impl Contact {
    /// Returns whether the server's silence is long enough for a notice.
    pub(crate) fn is_late(self, now: Instant) -> bool {
        now.saturating_since(self.due_at) >= CONTACT_LATE
    }

    /// Returns whether the server's host has refused a datagram since the server was last heard.
    fn is_refused(self) -> bool {
        self.refused_at > self.heard_at
    }

    /// Returns when the newest state of the server arrived, or else the client's start.
    pub(crate) fn heard_at(self) -> Instant {
        self.heard_at.unwrap_or(self.start)
    }

    fn acknowledged_sent_at(self) -> Instant {
        self.acknowledged_sent_at.unwrap_or(self.start)
    }
}

/// A silence of the server, or a lack of its acknowledgments, that is long enough for a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Silence {
    since: Instant,
    seconds: u64,
    /// How long acknowledgments have been missing, or the server has been silent if that is longer.
    unanswered: Duration,
    /// Whether the client hears the server, and only the acknowledgments of its own messages are missing.
    only_reply: bool,
}

impl Silence {
    /// Returns the silence to mention in a notice, or `None` if contact and acknowledgments are recent.
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

    /// Returns the notice about the silence, the longest version first. `advises` adds the remedy for blocked UDP.
    fn sentences(self, advises: bool) -> Vec<String> {
        let last = format!("Last {} {} ago.", self.what(), spelled(self.seconds, "seconds"));
        let short = if self.only_reply { "No reply" } else { "Silent" };
        let short = format!("{short} {}", spelled(self.seconds, "s"));
        if !advises || !self.is_long() {
            return vec![last, short];
        }
        vec![format!("{last} {LONG_ADVICE}"), format!("{last} {ADVICE}"), last, short]
    }

    /// Returns whether the silence is so long that UDP may be blocked.
    fn is_long(self) -> bool {
        self.unanswered >= ADVICE_AFTER
    }

    /// Returns when the count of seconds in the notice next changes.
    fn next_count(self) -> Instant {
        let step = if self.seconds < SLOW_COUNT_AFTER { 1 } else { 3 };
        self.since + Duration::from_secs(self.seconds / step * step + step)
    }
}

/// Returns the notice about a server that is gone, from the longest version to the shortest.
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

/// Returns the notice about a server that has not answered since the start, from the longest version to the shortest.
/// The longest fits into 80 columns with the hint and an IPv4 address. `None` if it has answered, or need not have yet.
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

/// Returns the text in two versions: with the length of the silence, if there is a silence, and without it.
fn with_silence(text: &str, silence: Option<Silence>) -> Vec<String> {
    let with = silence.map(|silence| {
        format!("{text} ({} without {}.)", spelled(silence.seconds, "s"), silence.what())
    });
    with.into_iter().chain([text.to_owned()]).collect()
}

/// Returns a duration as text: below a minute in seconds with `unit`, below an hour as M:SS, else as H:MM:SS.
pub(crate) fn spelled(seconds: u64, unit: &str) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} {unit}"),
        (0, minutes, seconds) => format!("{minutes}:{seconds:02}"),
        (hours, minutes, seconds) => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

#[cfg(test)]
mod tests;
