//! Further methods for the driver, about the paths to the server, predictions, the screen and the input.

use core::net::SocketAddr;

use rove_predict::{Explanation, Network, PromptMemory};
use rove_ssp::{Candidates, Capabilities, Carriage, Peer, SidePath};
use rove_terminal::{Screen, Tty};
use rove_units::{Duration, Instant};

use super::display::network;
use super::uplink::pending;
use super::{Client, ClientOutcome, notice_bar};
use crate::callback::Callback;
use crate::notice::Trouble;
use crate::wish::{SizeRule, Wish};

/// The panic message that states why a client's transport always has addresses.
const CLIENT: &str = "a client has an address of its server from the start";

impl Client {
    /// Returns the address to which the client sends or, on a side path, last sent: the server's own or a forwarder's.
    pub fn server(&self) -> SocketAddr {
        notice_bar::server(&self.transport)
    }

    /// Returns whether the server's silence is long enough for a notice. It becomes so at a [`Client::poll_timeout`].
    pub fn is_server_late(&self, now: Instant) -> bool {
        self.notice_bar.contact(&self.transport).is_late(now)
    }

    /// Returns the addresses at which the server may be reached.
    pub fn candidates(&self) -> &Candidates {
        self.transport.candidates().expect(CLIENT)
    }

    /// Returns the interface for stream packets (forwarded connections). `None` unless both ends have offered streams.
    pub fn carriage(&mut self) -> Option<Carriage<'_>> {
        let typed_at = self.uplink.typed_at;
        self.transport.carriage().map(|it| it.with_typed_at(typed_at))
    }

    /// Returns whether both ends have offered streams. `None` until that is known.
    pub fn carries_streams(&self) -> Option<bool> {
        let is_known = self.transport.peer() != Peer::Unknown;
        is_known.then(|| self.transport.capabilities().contains(Capabilities::STREAMS))
    }

    /// Tells the server which window decides the session's size, if the server is rove. Call this before any input.
    pub fn set_size_rule(&mut self, rule: SizeRule) {
        self.uplink.wish(Some(Wish::Size(rule)), &mut self.transport);
    }

    /// Returns whether the server offers streams, even if this client does not. `None` until that is known.
    pub fn server_offers_streams(&self) -> Option<bool> {
        match self.transport.peer() {
            Peer::Unknown => None,
            Peer::Stock => Some(false),
            Peer::Rove(hello) => Some(hello.capabilities.contains(Capabilities::STREAMS)),
        }
    }

    /// Returns whether this client has joined the session beside the session's own client.
    pub fn has_joined(&self) -> bool {
        self.notice_bar.company.own() != 0
    }

    /// Shows the user an event that the driver reports, for ten seconds, or for three if another event waits.
    pub fn announce(&mut self, now: Instant, text: String) {
        self.notice_bar.notices.announce(now, text);
        self.refresh(now);
    }

    /// Shows the outcome of an action of the user for ten seconds, or for three if an event waits.
    pub fn answer(&mut self, now: Instant, text: String) {
        self.notice_bar.notices.answer(now, text);
        self.refresh(now);
    }

    /// Asks the user a question in the notice bar until the next call; `None` asks nothing.
    /// [`ClientEvent::Yes`](super::ClientEvent::Yes) reports that the user said yes.
    pub fn ask(&mut self, now: Instant, question: Option<String>) {
        self.escape.ask(now, question.is_some());
        self.wishes.forget_yes();
        self.notice_bar.notices.ask(question, self.escape.yes_hints());
        self.refresh(now);
    }

    /// Sets the lines about forwarded connections that the status shows.
    pub fn show_forwards(&mut self, lines: Vec<String>) {
        self.notice_bar.forwards = lines;
    }

    /// Returns the server's addresses, so that the driver can add one, or mark one to which the system has no route.
    pub fn candidates_mut(&mut self) -> &mut Candidates {
        self.transport.candidates_mut().expect(CLIENT)
    }

    /// Records whether the driver carries datagrams for [`SIDE_PATH`](rove_ssp::SIDE_PATH) to the server, for example
    /// by ssh. The client uses this side path at once if it has sent nothing yet, otherwise once the network fails.
    pub fn handle_side_path(&mut self, now: Instant, is_open: bool) {
        self.transport.handle_side_path(now, is_open);
        self.refresh(now);
    }

    /// Returns whether datagrams go by the side path. The client then only probes the server's addresses.
    pub fn uses_side_path(&self) -> bool {
        self.side_path().is_used()
    }

    /// Returns when the driver should open a side path, because the network does not answer. `None` if it need not.
    pub fn side_path_wanted_at(&self) -> Option<Instant> {
        self.transport.side_path_wanted_at().filter(|_| !self.is_connecting() && !self.is_ending())
    }

    /// Returns when the driver should open another side path, because this one is slow or dead. `None` if it need not.
    pub fn side_path_late_at(&self) -> Option<Instant> {
        self.transport.side_path_late_at().filter(|_| !self.is_ending())
    }

    /// Returns when the side path counts as dead unless a datagram arrives by it. `None` while it is unused or answers.
    pub fn side_path_dead_at(&self) -> Option<Instant> {
        self.side_path().dead_at()
    }

    /// Returns since when datagrams go by the side path. `None` if they do not.
    pub fn side_path_since(&self) -> Option<Instant> {
        notice_bar::aside_since(&self.transport)
    }

    /// Sets the addresses at which the forwarder on a jump host listens, in place of earlier ones; empty without one.
    pub fn handle_forwarder(&mut self, now: Instant, ends: &[SocketAddr]) {
        let former = core::mem::replace(&mut self.notice_bar.forwarder, ends.to_vec());
        former.iter().for_each(|end| self.transport.remove_candidate(now, *end));
        ends.iter().for_each(|end| self.candidates_mut().add_detour(*end));
        self.refresh(now);
    }

    /// Returns whether datagrams go by the forwarder on a jump host.
    pub fn uses_forwarder(&self) -> bool {
        !self.uses_side_path() && self.notice_bar.forwarder.contains(&self.server())
    }

    /// Sets whether the client offers the user a login that opens a side path.
    pub fn offer_login(&mut self, now: Instant, is_offered: bool) {
        if self.escape.offer_login(is_offered) {
            self.refresh(now);
        }
    }

    fn side_path(&self) -> &SidePath {
        self.transport.side_path().expect(CLIENT)
    }

    /// Records that an interface, an address or a route of this computer has changed. The client sends a datagram to
    /// the server at once, but in the long run at most one a second.
    pub fn handle_network_change(&mut self, now: Instant) {
        self.transport.handle_network_change(now);
    }

    /// Records that the server's host has refused a datagram (ICMP port unreachable).
    pub fn handle_refusal(&mut self, now: Instant) {
        self.notice_bar.refused_at = Some(now);
        self.refresh(now);
    }

    /// Called when the system has refused a datagram of `len` bytes as too long. Later ones are smaller.
    pub fn handle_message_too_long(&mut self, now: Instant, len: usize) {
        self.transport.handle_message_too_long(now, len);
    }

    /// Shows a local network error (send or receive) to the user, for about three seconds after its last occurrence.
    pub fn handle_network_error(&mut self, now: Instant, text: &str) {
        self.notice_bar.notices.network_error(now, text);
        self.refresh(now);
    }

    /// Sets the local UDP port from which datagrams leave, for the status.
    pub fn handle_local_port(&mut self, port: u16) {
        self.notice_bar.local_port = Some(port);
    }

    /// Records that datagrams travel through a tunnel. Until the next call, the client shows the `trouble` that stops
    /// these datagrams; `None` means that the tunnel works.
    pub fn handle_tunnel(&mut self, now: Instant, trouble: Option<Trouble>) {
        if self.notice_bar.notices.tunnel(trouble) {
            self.escape.offer_login(self.notice_bar.notices.needs_login());
            self.refresh(now);
        }
    }

    /// Returns the pty's modes at the time of the newest screen or later. `None` if the server does not send them.
    pub fn tty(&self) -> Option<Tty> {
        self.transport.remote().parts().tty
    }

    /// Returns whether predictions have a use for [`Client::handle_prompt_memory`].
    pub fn uses_prompt_memory(&self) -> bool {
        self.display.engine.uses_prompt_memory()
    }

    /// Loads the prompts that were learned in earlier sessions with this host. Call it once, before the first key.
    pub fn handle_prompt_memory(&mut self, memory: PromptMemory) {
        self.display.engine.handle_prompt_memory(memory);
    }

    /// Returns the prompts that were learned in this session and earlier ones. `None` if predictions do not use
    /// prompts, or the driver has loaded none.
    pub fn prompt_memory(&self) -> Option<&PromptMemory> {
        self.display.engine.prompt_memory()
    }

    /// Returns the reason why the prediction of the newest key is shown or not, for developers of predictions. `None`
    /// if no key waits for its answer or no reason is known.
    pub fn explain_prediction(&self, now: Instant) -> Option<Explanation> {
        self.display.engine.explain(now)
    }

    /// Returns the server's newest screen, without notices.
    pub fn screen(&self) -> &Screen {
        self.transport.remote().screen()
    }

    /// Returns the login on the screen that redirects a browser to this computer, if there is one.
    pub fn callback(&self) -> Option<Callback> {
        crate::callback::find(self.screen())
    }

    /// Returns the smoothed round-trip time; `None` before the first sample.
    pub fn srtt(&self) -> Option<Duration> {
        self.transport.srtt()
    }

    /// Returns how many events (keys, resizes, reports, wishes) the server has not acknowledged yet.
    pub fn pending_input(&self) -> u64 {
        pending(&self.transport)
    }

    /// Returns whether programs have had time to answer all of the client's input, as the server's echo ack says.
    pub fn has_all_answers(&self) -> bool {
        let Network { echo_ack, arrived, .. } = network(&self.transport);
        self.pending_input() == 0 && echo_ack >= arrived
    }

    /// Returns when to end the session without the server's answer, and the outcome in that case. `None` if no such end
    /// is planned, or the server was heard after all. The client then waits for the server's answer.
    pub(super) fn pending_farewell(&self) -> Option<(Instant, ClientOutcome)> {
        let is_unheard = |outcome| match outcome {
            ClientOutcome::NeverConnected => self.is_connecting(),
            _ => self.notice_bar.refused_at > self.transport.remote_arrived_at(),
        };
        self.farewell.filter(|&(_, outcome)| self.given_up.is_none() && is_unheard(outcome))
    }
}
