//! Publishes server states to one client: decides when the screen is published, and which parts travel with it.
//!
//! Each client has its own publisher, because the contents to send depend on the states that the client has.

use std::sync::Arc;

use rove_ssp::{Capabilities, Object, Transport};
use rove_terminal::{Copied, ExitStatus, InputNum, Notification, Size, Terminal, Tty};
use rove_units::{Duration, Instant};

use crate::echo::{EchoHistory, EchoWait};
use crate::host_screen::HostScreen;
use crate::parts::Parts;
use crate::parts::clipboard::Outbox;
use crate::parts::echo_ack::EchoAck;
use crate::parts::joined::Joined;
use crate::parts::notifications::Recent;
use crate::parts::scrollback::Outbox as ScrollbackOutbox;
use crate::user_stream::UserStream;

/// How long a program may hold back a half-drawn screen (synchronized output, mode 2026). Chosen: as terminals with
/// this mode do, so that a crashed program does not freeze the screen.
const SYNCHRONIZED_OUTPUT_MAX: Duration = Duration::from_millis(150);

/// How long programs must have written nothing until scrolled-off lines are sent. Chosen: a flood of output has no such
/// pauses, even if it leaves the same screen again and again. The lines of a flood are sent after it.
const QUIET: Duration = Duration::from_millis(50);

/// A server's transport: it sends host screens and receives the user's events.
pub(super) type ServerTransport = Transport<HostScreen, UserStream>;

/// The state published to one client: the picture of the screen and the parts beside it.
pub(super) struct Publisher {
    pub(super) transport: ServerTransport,
    echo: EchoHistory,
    clipboard: Outbox,
    notifications: Recent,
    scrollback: ScrollbackOutbox,
    /// The data beside the picture that is published as a whole as soon as it changes.
    parts: Parts,
    /// The client's window, through which it sees the session's screen. `None` for the whole screen.
    pub(super) window: Option<Size>,
    /// The terminal's count of bells and its copied text when the client connected. The client gets only later ones.
    events_before: (u64, Arc<str>),
    /// Whether the client receives text that programs copy, beside the picture or in it.
    takes_copies: bool,
    /// Whether all clients get the protocol and the timing of Mosh 1.4.0 (`--strict`).
    is_strict: bool,
    /// Whether echo acks wait, so that echoes can come first.
    awaits_echo: bool,
    /// When programs count as quiet. `None` if they are quiet already, or the client takes no scrolled-off lines.
    busy_until: Option<Instant>,
    /// Until when the server holds back a half-drawn screen. `None` if the newest screen is published.
    held_until: Option<Instant>,
    /// When the acknowledgment of sent clipboard text and scrolled-off lines becomes overdue, so that the server
    /// withdraws most of both. `None` if all are acknowledged.
    overdue_at: Option<Instant>,
}

impl Publisher {
    pub(super) fn new(
        transport: ServerTransport,
        is_strict: bool,
        awaits_echo: bool,
        takes_copies: bool,
    ) -> Self {
        Self {
            transport,
            echo: EchoHistory::default(),
            clipboard: Outbox::default(),
            notifications: Recent::default(),
            scrollback: ScrollbackOutbox::default(),
            parts: Parts::default(),
            window: None,
            events_before: (0, Arc::default()),
            takes_copies,
            is_strict,
            awaits_echo,
            busy_until: None,
            held_until: None,
            overdue_at: None,
        }
    }

    /// Records that the client has connected. Earlier bells and copied texts are not sent to it.
    pub(super) fn come(&mut self, terminal: &Terminal) {
        let screen = terminal.screen();
        self.events_before = (screen.bells(), Arc::clone(screen.clipboard()));
    }

    /// Returns the scrolled-off lines to send to the client that takes the session over from this one.
    pub(super) fn lines_for_successor(&mut self, terminal: &Terminal) -> ScrollbackOutbox {
        self.scrollback.for_successor(terminal)
    }

    /// Records that this client has taken the session over, and sends it the former client's scrolled-off `lines`.
    pub(super) fn succeed(&mut self, lines: ScrollbackOutbox, terminal: &Terminal) {
        self.scrollback = lines;
        self.come(terminal);
    }

    /// Handles output of programs, with copied text and notifications. Mosh 1.4.0 gets copied text with the screen.
    pub(super) fn handle_output(
        &mut self,
        now: Instant,
        terminal: &mut Terminal,
        (copied, notifications): (Option<&Copied>, &[Notification]),
    ) {
        self.echo.handle_output(now);
        self.busy_until = self.tells_scrollback().then(|| now + QUIET);
        let is_rich = self.transport.capabilities().contains(Capabilities::RICH_SCREEN);
        if let Some(copied) = copied.filter(|_| is_rich && self.takes_copies) {
            self.clipboard.push(copied);
        }
        for notification in notifications.iter().filter(|_| is_rich) {
            self.notifications.push(now, notification.clone());
        }
        self.publish_when_drawn(now, terminal);
    }

    /// Records that the client's newest state brought keys or a size, which were delivered to the pty.
    pub(super) fn handle_input(&mut self, now: Instant) {
        self.echo.set_wait(if !self.awaits_echo {
            EchoWait::Nothing
        } else if self.is_strict {
            EchoWait::Fixed
        } else if self.tells_tty() {
            EchoWait::Adaptive
        } else {
            EchoWait::Patient
        });
        self.echo.delivered(self.transport.remote_num(), now);
    }

    /// Publishes changed modes of the pty to a client that wants them. `tty.prompt` is the number of the newest input
    /// that the shell had read while it waited at its prompt. `input_num` is the number of this client's newest input.
    pub(super) fn handle_tty(&mut self, tty: Tty, input_num: InputNum) {
        let before = self.parts.tty.replace(tty);
        if before == Some(tty) || !self.tells_tty() || self.transport.is_shutting_down() {
            return;
        }
        // If newer input has made a prompt report untrue, the next screen withdraws it, without a separate diff.
        let is_ended = before.is_some_and(|before| {
            tty == Tty { prompt: None, ..before } && before.prompt < Some(input_num)
        });
        if !is_ended || !self.transport.local().same_as(self.transport.sent_state()) {
            // The modes are published at once, even while a program is drawing.
            self.publish_change(|parts| parts.tty = Some(tty));
        }
    }

    /// Handles a change of the joined clients, and tells this client at once if it shows them.
    pub(super) fn handle_joined(&mut self, joined: Joined) {
        self.parts.joined = Joined { inputs: self.parts.joined.inputs, ..joined };
        if self.tells_joined() && !self.transport.is_shutting_down() {
            let joined = self.parts.joined.clone();
            self.publish_change(|parts| parts.joined = joined);
        }
    }

    /// Counts input of another client. The next screen carries the count along with the effect of the keys.
    pub(super) fn handle_others_keys(&mut self) {
        self.parts.joined.inputs += 1;
    }

    pub(super) fn handle_timeout(&mut self, now: Instant, terminal: &mut Terminal) {
        self.advance_echo(now, terminal);
        if self.notifications.handle_timeout(now) {
            self.publish_when_drawn(now, terminal);
        }
        if self.held_until.is_some_and(|at| at <= now) {
            self.publish(terminal);
        }
        self.busy_until.take_if(|at| *at <= now);
    }

    /// Returns the times at which to call [`Publisher::handle_timeout`]; each is `None` if its timer is not set.
    pub(super) fn poll_timeout(&self) -> [Option<Instant>; 5] {
        let (echo, notifications) = (self.echo.poll_timeout(), self.notifications.poll_timeout());
        [echo, notifications, self.held_until, self.busy_until, self.overdue_at]
    }

    /// Returns whether the newest screen is published and not held back.
    pub(super) const fn is_published(&self) -> bool {
        self.held_until.is_none()
    }

    /// Advances the echo ack to input that has had time to be echoed, and publishes it.
    pub(super) fn advance_echo(&mut self, now: Instant, terminal: &mut Terminal) {
        if self.echo.advance(now) {
            self.publish_when_drawn(now, terminal);
        }
    }

    /// Publishes the screen, unless a program is drawing it (synchronized output).
    pub(super) fn publish_when_drawn(&mut self, now: Instant, terminal: &mut Terminal) {
        let drawing = terminal.synchronized_output();
        if drawing && *self.held_until.get_or_insert(now + SYNCHRONIZED_OUTPUT_MAX) > now {
            return;
        }
        self.publish(terminal);
    }

    /// Returns the exit status that the client is being told at the session's end. `None` while the session goes on.
    pub(super) fn ended(&self) -> Option<Option<ExitStatus>> {
        self.transport.is_shutting_down().then_some(self.parts.exit_status)
    }

    /// Tells a client that another one has taken the session over, and starts its shutdown.
    pub(super) fn leave(&mut self, now: Instant, status: ExitStatus) {
        self.publish_change(|parts| parts.exit_status = Some(status));
        self.transport.start_shutdown(now);
    }

    /// Publishes the screen, with the scrolled-off lines that were already sent or are on the newest sent screen.
    fn publish(&mut self, terminal: &mut Terminal) {
        if self.tells_scrollback() {
            let sent = self.transport.sent_state();
            self.scrollback.yield_to_screen(&sent.parts().scrolled);
            self.scrollback.ride(sent.screen(), terminal);
        }
        self.publish_screen(terminal);
    }

    /// Returns whether the last state would have to drop scrolled-off lines that are not sent yet.
    pub(super) fn owes_lines(&mut self, terminal: &mut Terminal) -> bool {
        let sent = &self.transport.sent_state().parts().scrolled;
        self.tells_scrollback() && self.scrollback.exceeds_last(sent, terminal)
    }

    /// Returns the number of the first scrolled-off line that the client has not acknowledged.
    pub(super) const fn arrived_lines(&self) -> u64 {
        self.scrollback.arrived()
    }

    /// Records that the program has ended, so that only scrolled-off lines remain to be sent.
    pub(super) const fn hurry_lines(&mut self) {
        self.scrollback.hurry();
    }

    /// Publishes the screen of a program that has ended, and the next scrolled-off lines.
    pub(super) fn send_lines(&mut self, now: Instant, terminal: &mut Terminal) {
        self.publish(terminal);
        self.prepare(now, terminal);
    }

    /// Publishes the last screen and the exit status, and starts the shutdown. A second call keeps the first status.
    pub(super) fn finish(
        &mut self,
        now: Instant,
        status: Option<ExitStatus>,
        terminal: &mut Terminal,
    ) {
        self.parts.exit_status = self.parts.exit_status.or(status);
        self.publish_last(terminal);
        self.transport.start_shutdown(now);
    }

    /// Publishes the last screen, with as much of the remaining copied text and lines as their limits allow.
    fn publish_last(&mut self, terminal: &mut Terminal) {
        self.clipboard.finish(&self.transport.known_receiver_state().parts().clipboard);
        if self.tells_scrollback() {
            self.scrollback.finish(&self.transport.sent_state().parts().scrolled, terminal);
        }
        self.publish_screen(terminal);
    }

    fn publish_screen(&mut self, terminal: &Terminal) {
        self.held_until = None;
        let parts = Parts {
            echo_ack: EchoAck(self.echo.acknowledged()),
            scrolled: self.scrollback.state(),
            clipboard: self.clipboard.newest().clone(),
            notifications: self.notifications.state().clone(),
            tty: self.parts.tty.filter(|_| self.tells_tty()),
            ..self.parts.clone()
        };
        debug_assert!(
            parts.echo_ack.0 >= self.transport.local().echo_ack(),
            "an echo ack never goes back"
        );
        let screen = terminal.screen();
        let mut screen = self.window.map_or_else(|| screen.clone(), |it| screen.seen_through(it));
        let (bells, copied) = &self.events_before;
        // A later copy of an equal text is another allocation.
        let is_new = !Arc::ptr_eq(screen.clipboard(), copied);
        screen.forget_events(*bells, is_new && self.takes_copies);
        self.transport.publish(HostScreen::new(screen, parts));
    }

    /// Publishes more of a copied text and, while the screen does not change, more scrolled-off lines. After a loss,
    /// publishes less of both. Call this after each change and each send.
    pub(super) fn prepare(&mut self, now: Instant, terminal: &mut Terminal) {
        self.overdue_at = None;
        if self.transport.is_shutting_down() {
            return;
        }
        let overdue_at = self.transport.overdue_at();
        let is_overdue = overdue_at.is_some_and(|at| at <= now);
        let known = self.transport.known_receiver_state().parts();
        if self.clipboard.flush(&known.clipboard, self.transport.sent_num(), is_overdue) {
            let clipboard = self.clipboard.newest().clone();
            self.publish_change(|parts| parts.clipboard = clipboard);
        }
        if self.tells_scrollback() {
            self.prepare_lines(is_overdue, terminal);
        }
        let is_on_its_way = self.clipboard.is_on_its_way() || self.scrollback.is_on_its_way();
        self.overdue_at = overdue_at.filter(|at| *at > now && is_on_its_way);
    }

    fn prepare_lines(&mut self, is_overdue: bool, terminal: &mut Terminal) {
        self.scrollback.acknowledge(&self.transport.known_receiver_state().parts().scrolled);
        // No echo or output follows a program's end, so lines need not wait for either.
        let is_quiet = self.busy_until.is_none() && self.echo.poll_timeout().is_none();
        let is_idle = (is_quiet || self.scrollback.is_hurried())
            && self.held_until.is_none()
            && self.transport.local().same_as(self.transport.sent_state());
        let has_changed = match is_overdue {
            true => self.scrollback.shrink(),
            false => is_idle && self.scrollback.extend(terminal),
        };
        if has_changed {
            let scrolled = self.scrollback.state();
            self.publish_change(|parts| parts.scrolled = scrolled);
        }
    }

    /// Returns whether the client wants scrolled-off lines.
    pub(super) fn tells_scrollback(&self) -> bool {
        self.transport.capabilities().contains(Capabilities::SCROLLBACK)
    }

    /// Returns whether the client is sent the modes of the pty.
    pub(super) fn tells_tty(&self) -> bool {
        self.transport.capabilities().contains(Capabilities::TTY)
    }

    /// Returns whether the client shows the joined clients to its user.
    pub(super) fn tells_joined(&self) -> bool {
        self.transport.capabilities().contains(Capabilities::JOINED)
    }

    /// Publishes the newest state after `change` has changed its parts.
    fn publish_change(&mut self, change: impl FnOnce(&mut Parts)) {
        self.transport.publish(self.transport.local().clone().with(change));
    }
}
