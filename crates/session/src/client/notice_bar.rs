//! The notices over the picture: the bar, the status and the edge of a shared session, and the facts that they tell.

use core::net::SocketAddr;

use rove_ssp::SidePath;
use rove_terminal::{Attributes, Pen, Position, Screen, Size};
use rove_units::Instant;

use super::company::Company;
use super::uplink::{ClientTransport, pending};
use crate::bar::Bar;
use crate::escape::{EscapeKey, Requests};
use crate::notice::{Contact, Notices};
use crate::parts::joined::Joined;
use crate::status::{Facts, StatusView, draw_lines};
use crate::wish::Wish;

/// The notices over a picture. Equal values look the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Overlay {
    bar: Option<Bar>,
    /// The lines of the status; empty while the status is not shown.
    status: Vec<String>,
    /// The size of a shared session, whose edge is drawn if the window is larger. `None` if nobody has joined.
    shared_size: Option<Size>,
}

/// The client's notices to the user, and the times at which they change.
#[derive(Default)]
pub(super) struct NoticeBar {
    pub(super) notices: Notices,
    pub(super) status: StatusView,
    pub(super) company: Company,
    /// The notices that the terminal should show at present.
    overlay: Overlay,
    /// When the bar next changes because time has passed. `None` if it does not.
    bar_due: Option<Instant>,
    pub(super) start: Instant,
    /// When the server was heard again after a silence long enough for a notice; at first the client's start.
    regained_at: Instant,
    /// When the server's host last refused a datagram. `None` if it never did.
    pub(super) refused_at: Option<Instant>,
    /// The local UDP port from which datagrams leave. `None` until the driver has told it.
    pub(super) local_port: Option<u16>,
    /// Lines about the forwarded connections, from the driver.
    pub(super) forwards: Vec<String>,
    /// The addresses at which the forwarder on a jump host listens; empty without a forwarder.
    pub(super) forwarder: Vec<SocketAddr>,
}

impl NoticeBar {
    pub(super) fn new(notices: Notices, company: Company, now: Instant) -> Self {
        Self { notices, company, start: now, regained_at: now, ..Self::default() }
    }

    /// Returns the facts about the contact with the server, for the notices.
    pub(super) fn contact(&self, transport: &ClientTransport) -> Contact {
        // After a silence, the server acknowledges waiting input piece by piece, although the path works. So the time
        // without an acknowledgment counts from when the server is heard again.
        let answered_until = transport.answered_until();
        Contact {
            start: self.start,
            heard_at: transport.remote_arrived_at(),
            due_at: transport.remote_due_at(),
            acknowledged_sent_at: answered_until.map(|at| at.max(self.regained_at)),
            server: server(transport),
            sent: transport.path().sent.datagrams,
            refused_at: self.refused_at,
        }
    }

    /// Records that the server was heard again after a silence.
    pub(super) fn regain(&mut self, now: Instant) {
        self.regained_at = now;
        tracing::info!("contact regained");
    }

    /// Tells the user which clients have joined or left. Returns whether another client has typed.
    pub(super) fn meet(&mut self, now: Instant, joined: &Joined) -> bool {
        let news = self.company.look(joined);
        news.texts.into_iter().for_each(|text| self.notices.announce(now, text));
        news.have_others_typed
    }

    /// Carries out the user's requests about other clients. Returns the wishes for the server.
    pub(super) fn decide(
        &mut self,
        now: Instant,
        requests: Requests,
        transport: &ClientTransport,
    ) -> impl Iterator<Item = Wish> + use<> {
        let dismissed = requests.dismiss.then(|| self.company.dismiss(transport));
        let locked = requests.lock.then(|| self.company.toggle_lock(transport));
        let decided = [dismissed, locked];
        for (wish, text) in decided.iter().flatten() {
            // The user is told the result of a wish once the server has acknowledged it.
            match wish {
                Some(_) => self.notices.say(now, *text),
                None => self.notices.answer(now, *text),
            }
        }
        decided.into_iter().flatten().filter_map(|(wish, _)| wish)
    }

    /// Tells the user the results of the wishes, after the server has acknowledged all of them.
    pub(super) fn handle_wishes_taken(&mut self, now: Instant) {
        let said: Vec<_> = self.company.handle_wishes_taken().collect();
        if !said.is_empty() {
            self.notices.answer(now, said.join(" "));
        }
    }

    /// Updates the bar, the status and the edge of a shared session. `is_hidden` says that the terminal is the shell's.
    pub(super) fn refresh(
        &mut self,
        now: Instant,
        transport: &ClientTransport,
        escape: &EscapeKey,
        is_hidden: bool,
    ) {
        let contact = self.contact(transport);
        self.notices.aside(now, aside_since(transport), contact);
        let (help, login_hints) = (escape.help(), escape.login_hints());
        self.notices.set_hidden(now, is_hidden || help.is_some());
        self.overlay.bar = self.notices.bar(now, contact, help, login_hints);
        self.bar_due = self.notices.poll_timeout(now, contact);
        debug_assert!(self.bar_due.is_none_or(|due| due > now), "a bar that is due is worked out");
        if self.status.is_due(now) {
            let facts = Facts { joined: self.company.lines(), ..self.facts(transport) };
            self.status.renew(now, &facts);
        }
        let size = transport.remote().screen().size();
        self.overlay.shared_size = self.company.is_shared().then_some(size);
        if self.overlay.status != self.status.lines() {
            self.overlay.status = self.status.lines().to_vec();
        }
    }

    /// Returns the notices that the terminal should show at present.
    pub(super) const fn overlay(&self) -> &Overlay {
        &self.overlay
    }

    /// Returns when the bar, and when the status, next changes without another event.
    pub(super) fn poll_timeout(&self) -> [Option<Instant>; 2] {
        [self.bar_due, self.status.poll_timeout()]
    }

    fn facts(&self, transport: &ClientTransport) -> Facts {
        Facts {
            path: transport.path(),
            frame_interval: transport.frame_interval(),
            peer: transport.peer(),
            capabilities: transport.capabilities(),
            server: server(transport),
            local_port: self.local_port,
            is_forwarded: self.forwarder.contains(&server(transport)),
            is_tunnelled: self.notices.is_tunnelled(),
            aside_since: aside_since(transport),
            changed_at: transport.side_path().and_then(SidePath::changed_at),
            pending_input: pending(transport),
            joined: Vec::new(),
            forwards: self.forwards.clone(),
        }
    }
}

impl Overlay {
    pub(super) fn draw(&self, frame: &mut Screen) {
        self.shared_size.into_iter().for_each(|size| draw_edge(size, frame));
        let bar = self.bar.iter().flat_map(|bar| bar.rows(frame.size()));
        let lines: Vec<String> = bar.chain(self.status.iter().cloned()).collect();
        draw_lines(&lines, frame);
    }
}

/// Draws the edge of a session that is smaller than the window.
fn draw_edge(size: Size, frame: &mut Screen) {
    let window = frame.size();
    let (columns, rows) = (size.columns().min(window.columns()), size.rows().min(window.rows()));
    let pen = Pen { attributes: Attributes::FAINT, ..Pen::default() };
    if columns < window.columns() {
        (0..rows).for_each(|row| frame.write_text(Position { row, column: columns }, "│", pen));
    }
    if rows < window.rows() {
        let corner = if columns < window.columns() { "┘" } else { "" };
        let line = "─".repeat(usize::from(columns)) + corner;
        frame.write_text(Position { row: rows, column: 0 }, &line, pen);
    }
}

/// Returns the address to which the client sends or, on a side path, last sent: the server's own or a forwarder's.
pub(super) fn server(transport: &ClientTransport) -> SocketAddr {
    let candidates = transport.candidates();
    candidates.expect("a client knows an address of its server from the start").current()
}

/// Returns since when datagrams go by the side path. `None` if they do not.
pub(super) fn aside_since(transport: &ClientTransport) -> Option<Instant> {
    transport.side_path().filter(|side| side.is_used()).and_then(SidePath::changed_at)
}
