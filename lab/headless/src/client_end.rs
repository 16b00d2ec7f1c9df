//! The client end: the released client, the user's terminal, and a user.

use core::net::SocketAddr;

use rove_link::net::End;
use rove_session::{Client, ClientConfig, ClientEvent};
use rove_ssp::{Ecn, ReceiveError};
use rove_terminal::{Size, Terminal};
use rove_units::Instant;

use crate::traffic::Traffic;

/// An action of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Bytes that the user's terminal passes to the client at once.
    Type(Vec<u8>),
    /// The window gets another size.
    Resize(Size),
}

/// A user at the client end, who also measures what happens there.
pub trait User {
    /// Returns the user's next action. The caller carries out the action, and calls again until it gets `None`.
    fn next_act(&mut self, now: Instant, client: &Client, terminal: &Terminal) -> Option<Act>;

    /// Returns when the caller must call [`User::next_act`], even if nothing happens before.
    fn poll_timeout(&self, _client: &Client) -> Option<Instant> {
        None
    }

    /// Returns whether the terminal accepts output now. If not, frames wait in the client.
    fn takes_output(&self) -> bool {
        true
    }

    /// Handles a frame after the terminal has shown it. Afterwards the terminal drops its answers, copies and
    /// notifications.
    fn handle_frame(&mut self, _now: Instant, _client: &Client, _terminal: &mut Terminal) {}

    /// Handles a datagram that the client has received. `result` tells why the client refused it, if it did.
    fn handle_datagram(
        &mut self,
        _now: Instant,
        _client: &Client,
        _result: &Result<(), ReceiveError>,
    ) {
    }

    /// Handles a request of the client to its driver. A request for another port needs no action, as the path has none.
    fn handle_event(&mut self, _event: ClientEvent) {}
}

/// A user who does nothing. The code that runs the session may still type.
impl User for () {
    fn next_act(&mut self, _: Instant, _: &Client, _: &Terminal) -> Option<Act> {
        None
    }
}

/// A client, its user and the user's terminal.
pub struct ClientEnd<U> {
    /// The client.
    pub client: Client,
    /// The user's terminal.
    pub terminal: Terminal,
    /// The user at the terminal.
    pub user: U,
    /// Datagrams that the client has sent.
    pub traffic: Traffic,
    /// Datagrams that the client has received.
    pub received: Traffic,
}

impl<U: User> ClientEnd<U> {
    /// Creates a client and its terminal. `now` is the time on the end's own clock.
    pub fn new(config: ClientConfig, user: U, now: Instant) -> Self {
        let terminal = Terminal::host(config.size);
        let client = Client::new(config, now);
        Self { client, terminal, user, traffic: Traffic::default(), received: Traffic::default() }
    }

    /// Returns the text of a row on the user's terminal.
    pub fn row_text(&self, row: u16) -> String {
        self.terminal.screen().row_text(row)
    }

    /// Returns whether the user's terminal has the text of the host's screen, as far as the client knows that screen.
    pub fn shows_host_text(&self) -> bool {
        let (host, shown) = (self.client.screen(), self.terminal.screen());
        (0..host.size().rows()).all(|row| host.row_text(row) == shown.row_text(row))
    }

    /// Lets the client give the terminal back to the user, and take it again at the next turn. A client does that when
    /// it is suspended and continued.
    pub fn close_terminal(&mut self, now: Instant) {
        let closing = self.client.close_terminal();
        self.write(now, &closing);
    }

    /// Lets the user do everything that is due now, and the terminal show the results.
    fn act(&mut self, now: Instant) {
        loop {
            self.show(now);
            match self.user.next_act(now, &self.client, &self.terminal) {
                Some(Act::Type(bytes)) => self.client.handle_input(now, &bytes),
                Some(Act::Resize(size)) => {
                    self.terminal.resize(size);
                    self.client.handle_resize(now, size);
                }
                None => return,
            }
        }
    }

    fn show(&mut self, now: Instant) {
        while let Some(event) = self.client.poll_event() {
            self.user.handle_event(event);
        }
        if self.user.takes_output()
            && let Some(output) = self.client.poll_output(now)
        {
            self.write(now, &output);
        }
    }

    fn write(&mut self, now: Instant, output: &[u8]) {
        self.terminal.write(output);
        self.user.handle_frame(now, &self.client, &mut self.terminal);
        // The user's part is over: without this, the rest would pile up.
        self.terminal.take_replies();
        self.terminal.take_copied();
        drop(self.terminal.take_notifications());
    }
}

impl<U: User> End for ClientEnd<U> {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        self.received.count(now, payload);
        let result = self.client.handle_datagram(now, source, Ecn::Capable, payload);
        self.user.handle_datagram(now, &self.client, &result);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.client.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        self.act(now);
        let transmit = self.client.poll_transmit(now)?;
        self.traffic.count(now, &transmit.payload);
        Some((transmit.destination, transmit.payload))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        [self.client.poll_timeout(), self.user.poll_timeout(&self.client)]
            .into_iter()
            .flatten()
            .min()
    }
}
