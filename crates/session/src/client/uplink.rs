//! The client's messages to the server: the window's size, keys, reports on the user's terminal, and wishes.

use rove_ssp::{Capabilities, Transport};
use rove_terminal::Size;
use rove_units::Instant;

use crate::announced::Announced;
use crate::host_screen::HostScreen;
use crate::report::TerminalReport;
use crate::user_stream::{UserEvent, UserStream};
use crate::wish::Wish;

/// Unacknowledged input, in events, above which the client does not read the user's terminal. Chosen: more than any
/// path carries between two reads. The rest of a longer paste waits in the terminal, at the network's pace.
const INPUT_PENDING_MAX: u64 = 1_048_576;

pub(super) type ClientTransport = Transport<UserStream, HostScreen>;

/// The messages that wait to be sent, and the window sizes that the server knows or will know.
#[derive(Debug)]
pub(super) struct Uplink {
    /// The window's size, if it has not been sent to the server.
    unsent_window: Option<Size>,
    /// The sizes that the server's screen may have.
    announced: Announced,
    /// Reports that wait to be sent to the server: at most one per answer of the terminal, and one for a permission.
    reports: Vec<TerminalReport>,
    /// Wishes that wait until the client knows whether the server supports them.
    wishes: Vec<Wish>,
    /// The position after the newest wish in the user input; 0 if none was sent.
    wished_until: u64,
    /// When the user last typed a key for the host. `None` before the first key.
    pub(super) typed_at: Option<Instant>,
}

impl Uplink {
    /// Creates the uplink of a client that has not sent the window's size to its server.
    pub(super) fn new(window: Size) -> Self {
        let (announced, reports) = (Announced::default(), Vec::new());
        let wishes = Vec::new();
        let unsent_window = Some(window);
        Self { unsent_window, announced, reports, wishes, wished_until: 0, typed_at: None }
    }

    /// Continues another client's session. The server's screen has the size `shown`, or a size in unacknowledged input.
    pub(super) fn resume(&mut self, shown: Size, transport: &mut ClientTransport) {
        self.announced.tell(shown, 0);
        for (position, event) in (1..).zip(transport.local().events_from(0)) {
            if let UserEvent::Resize(size) = event {
                self.announced.tell(size, position);
            }
        }
        self.allow_sizes(transport);
    }

    pub(super) fn handle_resize(&mut self, window: Size) {
        self.unsent_window = Some(window);
    }

    pub(super) fn report(&mut self, report: impl IntoIterator<Item = TerminalReport>) {
        self.reports.extend(report);
    }

    pub(super) fn wish(
        &mut self,
        wishes: impl IntoIterator<Item = Wish>,
        transport: &mut ClientTransport,
    ) {
        self.wishes.extend(wishes);
        self.flush(transport);
    }

    pub(super) fn send_keys(&self, keys: &[u8], transport: &mut ClientTransport) {
        append(transport, |stream| stream.push_bytes(keys));
    }

    /// Sends the waiting size, reports and wishes, as soon as the server has acknowledged enough input. Reports and
    /// wishes are sent only to a server whose hello has announced support for them. A Mosh 1.4.0 server gets neither.
    pub(super) fn flush(&mut self, transport: &mut ClientTransport) {
        if !has_room(transport) {
            return;
        }
        if let Some(window) = self.unsent_window.take() {
            append(transport, |stream| stream.push(UserEvent::Resize(window)));
            self.announced.tell(window, transport.local().end());
            self.allow_sizes(transport);
        }
        let capabilities = transport.capabilities();
        if capabilities.contains(Capabilities::TERMINAL_REPORT) && !self.reports.is_empty() {
            self.reports.retain(|report| report.is_known_with(capabilities));
            let events = self.reports.drain(..).map(UserEvent::Terminal);
            append(transport, |stream| events.for_each(|event| stream.push(event)));
        }
        if capabilities.contains(Capabilities::JOINED) && !self.wishes.is_empty() {
            let events = self.wishes.drain(..).map(|wish| UserEvent::Wish(wish.into()));
            append(transport, |stream| events.for_each(|event| stream.push(event)));
            self.wished_until = transport.local().end();
        }
    }

    /// Returns whether the server has acknowledged all wishes.
    pub(super) fn are_wishes_taken(&self, transport: &ClientTransport) -> bool {
        self.wishes.is_empty() && self.wished_until <= transport.known_receiver_state().end()
    }

    /// Drops the window sizes that the server's acknowledgments have outdated, and sends waiting messages.
    pub(super) fn handle_datagram(&mut self, transport: &mut ClientTransport) {
        let known = transport.known_receiver_state().end();
        debug_assert!(known <= transport.local().end(), "nothing is known before it is said");
        if self.announced.acknowledge(known, transport.remote().screen().size()) {
            self.allow_sizes(transport);
        }
        self.flush(transport);
    }

    /// Limits the size of received screens to the window sizes that the client has sent.
    fn allow_sizes(&self, transport: &mut ClientTransport) {
        let allowed = self.announced.allowed();
        transport.adjust_remote(|state| state.allow(&allowed));
    }
}

/// Returns how many events (keys, resizes, reports, wishes) the server has not acknowledged yet.
pub(super) fn pending(transport: &ClientTransport) -> u64 {
    transport.local().end() - transport.known_receiver_state().end()
}

/// Returns whether fewer than `INPUT_PENDING_MAX` events are unacknowledged, so that more may be sent.
pub(super) fn has_room(transport: &ClientTransport) -> bool {
    pending(transport) < INPUT_PENDING_MAX
}

fn append(transport: &mut ClientTransport, append: impl FnOnce(&mut UserStream)) {
    let mut stream = transport.local().clone();
    append(&mut stream);
    transport.publish(stream);
}
