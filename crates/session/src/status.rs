//! The status panel: facts about the network path and the server, shown over the top of the screen.

use core::fmt::Write;
use core::net::SocketAddr;

use rove_ssp::{Capabilities, Loss, Path, Peer, Traffic};
use rove_terminal::{Attributes, Pen, Position, Screen};
use rove_units::{Duration, Instant};

use crate::bar::PEN;
use crate::notice;

/// How long the panel stays if the user hits no key. Chosen: long enough to read it twice.
const SHOWN: Duration = Duration::from_secs(15);
/// Interval at which the panel's numbers are updated. Chosen: as fast as a user can read them.
const RENEWED: Duration = Duration::from_secs(1);
/// Longest line of the status panel, in characters. Chosen: all extensions or an IPv6 address fit.
const LINE_CHARS_MAX: usize = 160;

/// The name of each extension in [`crate::CAPABILITIES`], in the order of the bits. All names together fit into a line
/// of 80 columns.
const EXTENSIONS: [(Capabilities, &str); 10] = [
    (Capabilities::EXIT_STATUS, "exit"),
    (Capabilities::RICH_SCREEN, "screen"),
    (Capabilities::TERMINAL_REPORT, "term"),
    (Capabilities::TTY, "tty"),
    (Capabilities::SCROLLBACK, "history"),
    (Capabilities::LOSS_REPORT, "loss"),
    (Capabilities::ANNOUNCED_HEARTBEAT, "pauses"),
    (Capabilities::LATE_ACK, "acks"),
    (Capabilities::CLUSTERS, "widths"),
    (Capabilities::JOINED, "join"),
];

/// The facts that the panel shows.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// The round-trip time, loss and traffic of the network path, as the client measures them.
    pub(crate) path: Path,
    /// The send interval between frames.
    pub(crate) frame_interval: Duration,
    /// The kind of server: Mosh 1.4.0, rove or unknown.
    pub(crate) peer: Peer,
    /// The protocol extensions in use.
    pub(crate) capabilities: Capabilities,
    /// The address and UDP port to which the client sends or, on a side path, last sent.
    pub(crate) server: SocketAddr,
    /// The client's local UDP port. `None` if it is unknown.
    pub(crate) local_port: Option<u16>,
    /// Whether the server's address is that of a forwarder on a jump host.
    pub(crate) is_forwarded: bool,
    /// Whether the client's datagrams travel through an ssh tunnel.
    pub(crate) is_tunnelled: bool,
    /// Since when ssh carries the session because UDP is silent. `None` while UDP carries it.
    pub(crate) aside_since: Option<Instant>,
    /// When the session last changed between UDP, ssh and a jump host's forwarder. `None` if it never did.
    pub(crate) changed_at: Option<Instant>,
    /// The number of keys and other events that the server has not acknowledged.
    pub(crate) pending_input: u64,
    /// Lines about the joined clients, and about the lock of the session; empty without either.
    pub(crate) joined: Vec<String>,
    /// Lines about the forwarded connections; empty if there are none.
    pub(crate) forwards: Vec<String>,
}

/// The status panel, whether it is shown or not.
#[derive(Clone, Debug, Default)]
pub(crate) struct StatusView {
    shown: Option<Shown>,
}

#[derive(Clone, Debug)]
struct Shown {
    until: Instant,
    renew_at: Instant,
    lines: Vec<String>,
}

impl StatusView {
    /// Opens the panel, which shows the facts of the next [`StatusView::renew`].
    pub(crate) fn open(&mut self, now: Instant) {
        self.shown = Some(Shown { until: now + SHOWN, renew_at: now, lines: Vec::new() });
    }

    pub(crate) fn close(&mut self) {
        self.shown = None;
    }

    pub(crate) const fn is_shown(&self) -> bool {
        self.shown.is_some()
    }

    /// Returns whether the panel needs an update of its facts. Closes the panel when its time is over.
    pub(crate) fn is_due(&mut self, now: Instant) -> bool {
        if self.shown.as_ref().is_some_and(|shown| shown.until <= now) {
            self.close();
        }
        self.shown.as_ref().is_some_and(|shown| shown.renew_at <= now)
    }

    pub(crate) fn renew(&mut self, now: Instant, facts: &Facts) {
        if let Some(shown) = &mut self.shown {
            shown.renew_at = now + RENEWED;
            shown.lines = lines(now, facts);
        }
    }

    /// Returns the panel's lines; empty while it is not shown.
    pub(crate) fn lines(&self) -> &[String] {
        self.shown.as_ref().map_or(&[], |shown| &shown.lines)
    }

    /// Returns when the panel next needs an update or closes. `None` while it is not shown.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.shown.as_ref().map(|shown| shown.renew_at.min(shown.until))
    }
}

/// Draws the lines of bar and panel over the top rows of a frame, and hides a cursor that they cover.
pub(crate) fn draw_lines(lines: &[String], frame: &mut Screen) {
    let background = Pen { attributes: Attributes::NONE, ..PEN };
    for (row, line) in (0..).zip(lines) {
        frame.clear_row(row, background);
        frame.write_text(Position { row, column: 0 }, line, PEN);
        if frame.cursor().row == row {
            frame.show_cursor(false);
        }
    }
}

fn lines(now: Instant, facts: &Facts) -> Vec<String> {
    let Facts { path, .. } = facts;
    let mut lines = vec!["rove: Status (any key closes this)".to_owned()];
    let mut line = |label: &str, text: String| {
        let line = format!("  {label:<10}  {text}");
        lines.push(line.chars().take(LINE_CHARS_MAX).collect());
    };
    match facts.peer {
        Peer::Unknown => line("Server", "not known, or stock Mosh is to be spoken".to_owned()),
        Peer::Stock => line("Server", "stock Mosh".to_owned()),
        Peer::Rove(hello) => {
            line("Server", format!("rove, extensions of version {}", hello.version));
            line("Extensions", extensions(facts.capabilities));
        }
    }
    line("Path", route(now, facts));
    line("Last heard", path.heard_at.map_or("never".to_owned(), |at| ago(now, at)));
    line("Round trip", round_trip(facts));
    line("Loss", format!("inbound  {}", loss(path.loss_in)));
    line("", format!("outbound {}", loss_out(facts)));
    line("Received", traffic(path.received));
    line("Sent", traffic(path.sent));
    line("Waiting", counted(facts.pending_input, "key or resize", "keys and resizes"));
    for (label, texts) in [("Joined", &facts.joined), ("Forwards", &facts.forwards)] {
        for (at, text) in texts.iter().enumerate() {
            line(if at == 0 { label } else { "" }, text.clone());
        }
    }
    lines
}

fn extensions(used: Capabilities) -> String {
    let used: Vec<&str> = EXTENSIONS
        .iter()
        .filter(|(capability, _)| used.contains(*capability))
        .map(|(_, name)| *name)
        .collect();
    if used.is_empty() { "none".to_owned() } else { used.join(", ") }
}

fn route(now: Instant, facts: &Facts) -> String {
    if let Some(since) = facts.aside_since {
        let (span, server) = (spelled(now.saturating_since(since)), facts.server);
        return format!("through ssh for {span}, as {server} is silent");
    }
    if facts.is_tunnelled {
        return format!("through ssh, to UDP port {} of the host", facts.server.port());
    }
    let by = if facts.is_forwarded { "UDP by jump host" } else { "to" };
    let mut text = format!("{by} {}", facts.server);
    if let Some(port) = facts.local_port {
        let _ = write!(text, " from UDP port {port}");
    }
    if facts.path.hops > 0 {
        let _ = write!(text, ", changed {}", counted(facts.path.hops, "time", "times"));
    }
    if let Some(changed_at) = facts.changed_at {
        let _ = write!(text, ", for {}", spelled(now.saturating_since(changed_at)));
    }
    text
}

fn round_trip(facts: &Facts) -> String {
    let (Some(srtt), Some(rttvar)) = (facts.path.srtt, facts.path.rttvar) else {
        return "not measured yet".to_owned();
    };
    let (srtt, rttvar) = (millis(srtt), millis(rttvar));
    format!("{srtt}, varies by {rttvar}; a frame every {}", millis(facts.frame_interval))
}

fn loss(loss: Loss) -> String {
    let recent = u64::from(loss.recent_sent);
    format!(
        "{} of the last {recent} ({}), {} of all {} ({})",
        loss.recent_missing,
        percent(u64::from(loss.recent_missing), recent),
        loss.missing,
        loss.sent,
        percent(loss.missing, loss.sent),
    )
}

fn loss_out(facts: &Facts) -> String {
    match facts.path.loss_out {
        Some(told) => loss(told),
        None if facts.peer == Peer::Stock => "not known: stock Mosh does not tell it".to_owned(),
        None if facts.capabilities.contains(Capabilities::LOSS_REPORT) => "not told yet".to_owned(),
        None => "not known: the server does not tell it".to_owned(),
    }
}

fn traffic(traffic: Traffic) -> String {
    let bytes = traffic.bytes.get();
    let mut text = format!("{}, ", counted(traffic.datagrams, "datagram", "datagrams"));
    let _ = match [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
        .into_iter()
        .find(|(scale, _)| bytes >= *scale)
    {
        Some((scale, unit)) => {
            write!(text, "{}.{} {unit}", bytes / scale, bytes % scale * 10 / scale)
        }
        None => write!(text, "{bytes} B"),
    };
    text
}

/// Returns the share `part / whole` in percent with one decimal, rounded down.
fn percent(part: u64, whole: u64) -> String {
    let tenths = u128::from(part) * 1000 / u128::from(whole.max(1));
    format!("{}.{}%", tenths / 10, tenths % 10)
}

fn millis(duration: Duration) -> String {
    let tenths = duration.as_micros() / 100;
    format!("{}.{} ms", tenths / 10, tenths % 10)
}

fn ago(now: Instant, at: Instant) -> String {
    let silence = now.saturating_since(at);
    if silence.as_secs() == 0 { "just now".to_owned() } else { format!("{} ago", spelled(silence)) }
}

/// Returns a duration in words, or as M:SS or H:MM:SS from a minute on.
fn spelled(duration: Duration) -> String {
    let seconds = duration.as_secs();
    notice::spelled(seconds, if seconds == 1 { "second" } else { "seconds" })
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use rove_units::Bytes;

    use super::*;

    #[test]
    fn every_extension_has_its_name_within_80_columns() {
        let all = extensions(crate::CAPABILITIES);
        assert_eq!(all, "exit, screen, term, tty, history, loss, pauses, acks, widths, join");
        assert!("  Extensions  ".len() + all.len() <= 80);
    }

    #[test]
    fn numbers_are_written_as_people_read_them() {
        for (datagrams, bytes, text) in [
            (0, 0, "0 datagrams, 0 B"),
            (1, 1023, "1 datagram, 1023 B"),
            (2, 1024, "2 datagrams, 1.0 KiB"),
            (3, 1_572_864, "3 datagrams, 1.5 MiB"),
            (4, u64::MAX, "4 datagrams, 17179869183.9 GiB"),
        ] {
            assert_eq!(traffic(Traffic { datagrams, bytes: Bytes::new(bytes) }), text);
        }
        for (part, whole, text) in
            [(0, 0, "0.0%"), (1, 3, "33.3%"), (128, 128, "100.0%"), (u64::MAX, u64::MAX, "100.0%")]
        {
            assert_eq!(percent(part, whole), text);
        }
        for (seconds, text) in
            [(1, "1 second"), (59, "59 seconds"), (60, "1:00"), (3_661, "1:01:01")]
        {
            assert_eq!(spelled(Duration::from_secs(seconds)), text);
        }
        assert_eq!(millis(Duration::from_micros(12_345)), "12.3 ms");
    }
}
