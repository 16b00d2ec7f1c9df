//! The streams of an interactive client. They serve listeners on this computer (`-L`, `-D`), listeners on the host
//! (`-R`), the agent, copied files, and calls of other processes.
//!
//! For each connection to a listener on this computer, the client opens a stream, and the host connects to the target.
//! `layer` copies bytes between connection and stream. While the host is silent, a new connection waits.

use std::os::fd::AsFd;

use rove_bootstrap::{ForwardLine, Forwards};
use rove_platform::event_loop::Interest;
use rove_session::Client;
use rove_streams::{CONNECTS_MAX, STREAMS_MAX};
use rove_udp::Refusal;
use rove_units::{Duration, Instant};

use super::agent::AgentLoan;
use super::asking::{Asking, room_at};
use super::controller_choice::ControllerChoice;
use super::file_sender::FileSender;
use super::lender::Lender;
use super::login_callback::LoginCallbacks;
use super::remote_forwards::{self, News, RemoteForwards};
use super::wire::Wire;
use crate::listeners::Listeners;
use crate::share::Gate;
use crate::socks::{REQUESTS_MAX, Step};
use crate::splice::Splice;

mod layer;
mod purpose;
mod sentences;

use layer::{Layer, Origin, Waiting};
pub(super) use purpose::Purpose;
use sentences::{NO_CALLBACK, carries_nothing, ended, not_forwarded, to_ask};

/// Pause after `accept` has failed. Chosen: the loop does not spin, and the pause is shorter than a user's patience.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);

/// The streams of an interactive client, and all that uses them.
#[derive(Debug, Default)]
pub(super) struct ClientStreams {
    listeners: Listeners,
    remote: RemoteForwards,
    /// The user's rules for all listeners. The lists of listeners in this value are empty.
    rules: Forwards,
    purpose: Purpose,
    /// Whether the session's status shows the newest list of listeners.
    is_told: bool,
    /// Why the client ended the session, if it did so because connections cannot be forwarded.
    failure: Option<String>,
    /// The end of a pause in accepting connections.
    paused_until: Option<Instant>,
    /// The incomplete requests of SOCKS clients, the oldest first.
    requests: Vec<Asking>,
    /// The user's agent, if the host may use it.
    agent: Option<Box<AgentLoan>>,
    callbacks: LoginCallbacks,
    files: FileSender,
    /// The question that the user sees.
    asked: Option<String>,
    /// Lets calls of other processes use this session, if they may.
    lender: Option<Box<Lender>>,
    layer: Option<Box<Layer>>,
    /// The congestion controller of the layer, if the user has chosen one.
    controller: ControllerChoice,
}

impl ClientStreams {
    /// Creates the streams for `listeners` on this computer and for the listeners of `wanted` on the host.
    pub(super) fn new(listeners: Listeners, wanted: &Forwards) -> Self {
        Self {
            listeners,
            remote: RemoteForwards::new(wanted),
            rules: Forwards { all: Vec::new(), remote: Vec::new(), ..wanted.clone() },
            ..Self::default()
        }
    }

    /// Adds an agent to lend to the host, and lets calls to this gate (the same host and login) use the session.
    pub(super) fn lending(self, agent: Option<AgentLoan>, gate: Option<Gate>) -> Self {
        let lender = gate.map(|gate| Box::new(Lender::new(gate)));
        Self { agent: agent.map(Box::new), lender, ..self }
    }

    /// Closes the socket for other calls, which log in by themselves while this process is suspended. Returns the `-L`
    /// and `-D` options whose connections must wait. Their ports stay open, so that no other program takes them.
    pub(super) fn handle_suspension(&mut self) -> String {
        self.lender.iter_mut().for_each(|lender| lender.rest());
        self.listeners.options().collect::<Vec<_>>().join(" ")
    }

    /// Adds the session's purpose, the ports for web logins, and the user's choice of a congestion controller.
    pub(super) fn with(
        self,
        purpose: Purpose,
        callbacks: LoginCallbacks,
        controller: ControllerChoice,
    ) -> Self {
        Self { purpose, callbacks, controller, ..self }
    }

    /// Handles the user's yes to the question that is shown.
    pub(super) fn handle_yes(&mut self, now: Instant, session: &mut Client) {
        let shown = self.asked.as_deref();
        if let Some(agent) = &mut self.agent
            && agent.question().is_some_and(|it| Some(it) == shown)
        {
            return agent.decide(true);
        }
        if self.callbacks.question() != shown {
            return;
        }
        let said = match self.callbacks.handle_yes(now) {
            Ok(None) => return,
            Ok(Some(forward)) => match self.listeners.add(&forward, &self.rules) {
                Ok(()) => format!("{forward}: open here for 10 minutes"),
                Err(error) => {
                    self.callbacks.forget(&forward.listen);
                    error.to_string()
                }
            },
            Err(error) => error.to_string(),
        };
        self.is_told = false;
        session.answer(now, said);
        // `serve` withdraws the answered question at once.
        self.serve(now, session);
    }

    /// Starts the question about a web login whose address is on the screen, or tells the user why not.
    pub(super) fn ask_for_callback(&mut self, now: Instant, session: &mut Client) {
        let begun = match session.callback() {
            _ if session.carries_streams() != Some(true) => Err(carries_nothing(session)),
            None => Err(NO_CALLBACK.to_owned()),
            Some(callback) => {
                let layer = self.layer.get_or_insert_with(|| Box::new(Layer::new(now)));
                let begun = self.callbacks.begin(now, &mut layer.streams.mux, callback);
                begun.map_err(|error| error.to_string())
            }
        };
        if let Err(reason) = begun {
            session.answer(now, reason);
        }
        self.serve(now, session);
    }

    /// Begins to copy the files that a typed line names, or tells the user why not.
    pub(super) fn put(&mut self, now: Instant, session: &mut Client, line: &str) {
        let begun = match session.carries_streams() {
            Some(true) => self.files.add(line).map_err(|error| error.to_string()),
            _ => Err(carries_nothing(session)),
        };
        if let Err(reason) = begun {
            session.answer(now, reason);
        }
        self.serve(now, session);
    }

    /// Returns whether these keys end the session: they contain Ctrl-C, and the session is `rove -N` on a terminal.
    pub(super) fn end_by(&self, keys: &[u8]) -> bool {
        self.purpose.ends_by(keys)
    }

    /// Returns whether the client goes to the background (`-f`) now, because the host has answered for each listener.
    pub(super) fn are_settled(&self, session: &Client) -> bool {
        let carries = session.carries_streams() == Some(true) && self.failure.is_none();
        self.purpose == Purpose::Departing && carries && !self.remote.is_asking()
    }

    /// Continues in the background, in the child process after a fork.
    pub(super) fn handle_split(&mut self) {
        self.purpose = Purpose::Unseen;
        self.lender.iter_mut().for_each(|lender| lender.open_again());
    }

    /// Returns why forwarding failed, if the client therefore ended the session, else `None`.
    pub(super) fn into_failure(self) -> Option<String> {
        self.failure
    }

    /// Does all work that needs no waiting. Call this after datagrams have arrived, and after a wait.
    pub(super) fn turn(&mut self, now: Instant, session: &mut Client) {
        self.serve(now, session);
        self.tell(session);
    }

    fn serve(&mut self, now: Instant, session: &mut Client) {
        if session.carries_streams() == Some(false) {
            return self.give_up(now, session);
        }
        let is_dark = session.is_server_late(now);
        let Some(carriage) = session.carriage() else { return };
        let is_used = self.look_for_use(now, is_dark) || carriage.has_packets();
        if self.is_empty() && self.layer.is_none() && !is_used {
            return;
        }
        if is_used {
            self.layer.get_or_insert_with(|| Box::new(Layer::new(now)));
        }
        self.ask(now);
        self.accept(now);
        let Some(layer) = &mut self.layer else { return };
        // `handle_arrivals` also tells a new layer the size limit of packets, so it is called even without packets.
        layer.streams.handle_arrivals(now, carriage);
        layer.handle_events(now, &mut self.remote, self.lender.as_deref_mut());
        let mut refused = layer.take_answers(now);
        refused.extend(self.controller.turn(now, &mut layer.streams));
        let (lent, news) = layer.lend(now, self.agent.as_deref_mut(), &mut self.remote);
        refused.extend(lent);
        refused.extend(self.files.turn(now, &mut layer.streams.mux).map(|sent| sent.sentence()));
        self.callbacks.turn(now, &mut layer.streams.mux);
        layer.move_bytes(now, self.lender.as_deref_mut());
        if let Some(closed) = layer.streams.mux.closed() {
            tracing::info!(?closed, "streams are closed");
            self.close(now, session, "the host has broken the rules of streams");
        }
        self.is_told &= news.is_empty() && !self.lender.as_mut().is_some_and(|it| it.has_news());
        for sentence in refused {
            self.purpose.say(now, session, sentence);
        }
        news.into_iter().for_each(|it| self.announce(now, session, it));
        self.show_question(now, session);
    }

    /// Reads the requests of other calls. Returns whether a call, the agent, a new `-R` or a file needs streams.
    fn look_for_use(&mut self, now: Instant, is_dark: bool) -> bool {
        let is_lent = self.lender.as_mut().is_some_and(|lender| {
            lender.open();
            lender.handle_silence(is_dark);
            lender.take(now)
        });
        let is_used = self.agent.is_some() || self.remote.has_wishes() || self.files.is_active();
        is_lent || is_used
    }

    /// Closes the login ports that have been open for ten minutes.
    fn close_expired(&mut self, now: Instant) {
        while let Some(place) = self.callbacks.poll_expired(now) {
            self.listeners.remove(&place, false);
            self.is_told = false;
        }
    }

    /// Shows the user the question about the agent or else about a login port, if it has changed.
    fn show_question(&mut self, now: Instant, session: &mut Client) {
        let question = self.agent.as_ref().and_then(|agent| agent.question());
        let question = to_ask(self.asked.as_deref(), question, self.callbacks.question());
        if question != self.asked.as_deref() {
            self.asked = question.map(str::to_owned);
            session.ask(now, self.asked.clone());
        }
    }

    /// Tells the user the news of a listener on the host. Ends the session if a required listener failed.
    fn announce(&mut self, now: Instant, session: &mut Client, news: News) {
        match news {
            News::Failed(sentence) if self.rules.are_required => self.fail(now, session, &sentence),
            News::Failed(said) | News::Said(said) | News::Opened(Some(said)) => {
                self.purpose.say(now, session, said);
            }
            News::Opened(None) | News::Agent(_) => {}
        }
    }

    /// Passes a changed list of listeners to the session, whose status shows the list.
    fn tell(&mut self, session: &mut Client) {
        if !std::mem::replace(&mut self.is_told, true) {
            let here = self.listeners.options().map(str::to_owned);
            let lent = self.lender.as_ref().and_then(|lender| lender.line());
            session.show_forwards(here.chain(self.remote.lines()).chain(lent).collect());
        }
    }

    /// Handles a line, typed by the user, that adds or removes a listener. Answers the user.
    pub(super) fn obey(&mut self, now: Instant, session: &mut Client, line: &str) {
        self.is_told = false;
        let said = match ForwardLine::parse(line) {
            Some(ForwardLine::Help) => ForwardLine::FORMS.to_owned(),
            None => format!("not one of {}", ForwardLine::FORMS),
            Some(_) if session.carries_streams() != Some(true) => carries_nothing(session),
            Some(ForwardLine::Add(forward)) => match self.listeners.add(&forward, &self.rules) {
                Ok(()) => format!("{forward}: listening here"),
                Err(error) => error.to_string(),
            },
            Some(ForwardLine::AddRemote(forward)) => {
                let said = format!("{forward}: the host is asked to listen");
                let layer = self.layer.get_or_insert_with(|| Box::new(Layer::new(now)));
                let mux = &mut layer.streams.mux;
                self.remote.add(mux, forward, remote_forwards::Purpose::Added);
                said
            }
            Some(ForwardLine::Remove(place, is_socks)) => {
                let removed = self.listeners.remove(&place, is_socks);
                if removed.is_some() && !is_socks {
                    self.callbacks.forget(&place);
                }
                ended(&place, removed)
            }
            Some(ForwardLine::RemoveRemote(place)) => {
                let layer = self.layer.get_or_insert_with(|| Box::new(Layer::new(now)));
                ended(&place, self.remote.remove(&mut layer.streams.mux, &place))
            }
        };
        session.answer(now, said);
        self.serve(now, session);
    }

    /// Returns whether there is no listener at either end, and no SOCKS client whose request is incomplete.
    fn is_empty(&self) -> bool {
        self.listeners.is_empty() && self.remote.is_empty() && self.requests.is_empty()
    }

    /// Ends all uses of streams, because the server carries none, and tells the user.
    fn give_up(&mut self, now: Instant, session: &mut Client) {
        let host = session.server();
        if self.agent.take().is_some() {
            let text = format!("-A: the server at {host} carries no agent; use ssh -A");
            self.purpose.say(now, session, text);
        }
        self.close(now, session, &format!("the server at {host} carries no connections"));
    }

    /// Ends all uses of streams for this reason, and tells the user about listeners and agent. Also ends the session if
    /// it had listeners, and they are required or the session has no terminal.
    fn close(&mut self, now: Instant, session: &mut Client, reason: &str) {
        self.lender.iter_mut().for_each(|lender| lender.close());
        if let Some(sentence) = self.agent.as_mut().and_then(|agent| agent.end(reason)) {
            self.purpose.say(now, session, sentence);
        }
        self.callbacks.clear();
        self.files.clear();
        let options = self.listeners.options().map(str::to_owned).chain(self.remote.options());
        let options: Vec<String> = options.collect();
        self.is_told = false;
        self.requests.clear();
        self.remote.clear();
        if options.is_empty() {
            return;
        }
        let sentence = format!("{}: {reason}", options.join(" "));
        self.listeners = Listeners::default();
        if self.rules.are_required || self.purpose.is_unseen() {
            self.fail(now, session, &sentence);
        } else {
            self.purpose.say(now, session, sentence);
        }
    }

    /// Ends the session at the first failure to forward. Another `shutdown` would count as the user's second request.
    fn fail(&mut self, now: Instant, session: &mut Client, sentence: &str) {
        if self.failure.is_none() {
            self.failure = Some(not_forwarded(sentence, self.rules.are_required));
            session.shutdown(now, "No connections are carried, shutting down...");
        }
    }

    /// Returns whether there is room for another connection's stream.
    fn has_room(&self) -> bool {
        let layer = self.layer.as_ref();
        let lent = self.lender.as_ref().map_or(0, |lender| lender.waiting());
        let waiting = layer.map_or(0, |it| it.waiting.len()) + lent;
        let open = layer.map_or(0, |it| it.streams.mux.open_streams());
        waiting < CONNECTS_MAX && open < STREAMS_MAX
    }

    /// Accepts waiting connections while there is room, after closing expired login ports. The number per turn is
    /// bounded, because SOCKS clients that have sent no request do not count in `has_room`.
    fn accept(&mut self, now: Instant) {
        self.close_expired(now);
        self.listeners.pause_socks(None);
        if self.paused_until.is_some_and(|until| now < until) {
            return;
        }
        self.paused_until = None;
        for _ in 0..CONNECTS_MAX {
            if !self.has_room() {
                return;
            }
            self.listeners.pause_socks(room_at(now, &self.requests));
            let (socket, target, option) = match self.listeners.accept() {
                Ok(Some(accepted)) => accepted,
                Ok(None) => return,
                Err(error) => {
                    tracing::debug!(%error, "cannot accept");
                    self.paused_until = Some(now + ACCEPT_PAUSE);
                    return;
                }
            };
            match target {
                Some(target) => {
                    let layer = self.layer.get_or_insert_with(|| Box::new(Layer::new(now)));
                    layer.open(now, socket, target, Origin::Listener(option.to_owned()));
                }
                None => {
                    if self.requests.len() >= REQUESTS_MAX {
                        self.requests.remove(0);
                    }
                    self.requests.push(Asking::new(now, socket));
                    debug_assert!(self.requests.len() <= REQUESTS_MAX);
                }
            }
        }
    }

    /// Reads the requests of SOCKS clients, and opens their streams. Without room, the requests stay unread.
    fn ask(&mut self, now: Instant) {
        for mut asking in std::mem::take(&mut self.requests) {
            if !self.has_room() {
                self.requests.push(asking);
                continue;
            }
            match asking.turn() {
                Some(Step::More) if now < asking.until() => self.requests.push(asking),
                Some(Step::Connect { target, version, rest }) => {
                    let layer = self.layer.get_or_insert_with(|| Box::new(Layer::new(now)));
                    let id = layer.open(now, asking.socket, &target, Origin::Socks(version));
                    if let Some(id) = id {
                        // The few bytes after a request fit into a new stream.
                        let _ = layer.streams.mux.write(id, &rest);
                        let waiting = layer.waiting.get_mut(&id);
                        waiting.into_iter().for_each(|it| it.is_watched = rest.is_empty());
                    }
                }
                Some(Step::More | Step::End) | None => {}
            }
        }
    }

    /// Sends packets of streams, and returns the error of [`Wire::send_packets`]. `None` without error or before the
    /// first use of streams. The caller must have sent the session's datagrams.
    pub(super) fn send(
        &mut self,
        now: Instant,
        session: &mut Client,
        wire: &mut Wire,
    ) -> Option<Refusal> {
        let layer = self.layer.as_mut()?;
        wire.send_packets(now, session, &mut layer.streams, &mut layer.queue)
    }

    /// Returns whether the client may write to a closed connection, which raises SIGPIPE.
    pub(super) const fn write_to_others(&self) -> bool {
        self.layer.is_some() || !self.requests.is_empty() || self.lender.is_some()
    }

    /// Returns whether to call [`ClientStreams::turn`] again without waiting.
    pub(super) fn has_work(&self) -> bool {
        self.files.has_work()
            || self.splices().any(Splice::has_work)
            || self.lender.as_ref().is_some_and(|lender| lender.has_work())
    }

    /// Returns when to call [`ClientStreams::turn`] and [`ClientStreams::send`] again. `None` without a deadline.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let packets = self.layer.as_ref().and_then(|layer| layer.poll_timeout());
        let requests = self.requests.first().map(Asking::until).into_iter();
        let requests = requests.chain(self.listeners.poll_socks()).filter(|_| self.has_room());
        let agent = self.agent.as_ref().and_then(|agent| agent.poll_timeout());
        let own = requests.chain(self.remote.poll_timeout()).chain(self.paused_until);
        let lender = self.lender.as_ref().and_then(|lender| lender.poll_timeout());
        own.chain(self.callbacks.poll_timeout()).chain(packets).chain(agent).chain(lender).min()
    }

    /// Returns the descriptors to wait for. The listeners are among them only once the host is known to carry streams.
    pub(super) fn interests(&self, session: &Client) -> impl Iterator<Item = Interest<'_>> {
        let has_room = self.has_room();
        let accepts =
            session.carries_streams() == Some(true) && self.paused_until.is_none() && has_room;
        let listeners = self.listeners.sockets().filter(move |_| accepts);
        let requests = self.requests.iter().filter(move |_| has_room).map(|it| it.socket.as_fd());
        let sockets = listeners.chain(requests).map(|it| Interest::new(it, true, false));
        let agent = self.agent.iter().flat_map(|agent| agent.interests());
        let waiting = self.layer.iter().flat_map(|layer| layer.waiting.values());
        let sockets = sockets.chain(waiting.filter_map(Waiting::interest));
        let sockets = sockets.chain(self.remote.interests()).chain(agent);
        let lent = self.lender.iter().flat_map(|lender| lender.interests());
        sockets.chain(self.splices().flat_map(Splice::interests)).chain(lent)
    }

    /// Notes which of [`ClientStreams::interests`] are ready, in their order. Connections joined to streams and the
    /// lender (calls of other processes) need this. [`ClientStreams::turn`] tries all others without waiting.
    pub(super) fn handle_ready(&mut self, ready: &[bool]) {
        let joined = self.splices().flat_map(Splice::interests).count();
        let lent = self.lender.as_ref().map_or(0, |lender| lender.interests().count());
        debug_assert!(joined + lent <= ready.len(), "joined connections come last");
        let mut ready = ready.iter().copied().skip(ready.len().saturating_sub(joined + lent));
        if let Some(layer) = &mut self.layer {
            layer.splices.values_mut().for_each(|it| it.handle_ready(&mut ready));
        }
        self.lender.iter_mut().for_each(|lender| lender.handle_ready(&mut ready));
    }

    fn splices(&self) -> impl Iterator<Item = &Splice> {
        self.layer.iter().flat_map(|layer| layer.splices.values())
    }
}

#[cfg(test)]
mod tests;
