//! Lets other calls of rove (`-W`, `exec`) to the same host use this client's session instead of logging in again. A
//! call is another process. It connects to the client's socket and sends a request with descriptors.
//!
//! A call's descriptors are ends of pipes in non-blocking mode, so the call cannot delay the client's event loop. If
//! the client ends, each call notices and tells its user. If a call ends, the client cuts the call's streams.

use std::os::fd::{AsFd, OwnedFd};

use rove_platform::event_loop::Interest;
use rove_streams::{CONNECTS_MAX, Mux, STREAMS_MAX, StreamId};
use rove_units::Instant;
use rustix::io::{Errno, read, write};

use super::forward::joined::load;
use super::forward::load::{Ends, Load};
use crate::agent::socket::PrivateSocket;
use crate::share::Gate;
use crate::share::message::{Asked, Asking, Word, line};
use crate::splice::Splice;

/// Most calls of other rove processes that use a session at a time. Chosen: half of the streams that a session has.
const LOANS_MAX: usize = STREAMS_MAX / 2;

/// Most `rove exec` calls of other processes that use a session at a time. Chosen: more than a user runs at once. Each
/// program's input waits for an answer of the host, which is the exit status.
const PROGRAMS_MAX: usize = 16;

/// Most calls of other processes whose streams wait for the host's first answer. Chosen: these streams and the running
/// programs' inputs together are fewer than may wait for an answer.
const OPENING_MAX: usize = 15;
const _: () = assert!(PROGRAMS_MAX + PROGRAM_STREAMS * OPENING_MAX < CONNECTS_MAX);

/// Streams of a program: its input, output and errors.
const PROGRAM_STREAMS: usize = 3;

/// Most connections of other rove processes whose requests have not arrived. Chosen: more than usually call at once.
const ASKING_MAX: usize = 16;

/// The code that resets a stream whose call has ended. Chosen: unlike the stream layer's own codes.
pub(super) const UNWANTED: u64 = 18;

/// The calls of other processes that use this session, and the socket at which such processes connect.
#[derive(Debug)]
pub(super) struct Lender {
    gate: Gate,
    /// The socket for requests. `None` before [`Lender::open`], after `rest` or `close`, or if it cannot be made.
    socket: Option<PrivateSocket>,
    /// Whether [`Lender::open`] must not make a socket, because it has tried or the lender is closed.
    is_open: bool,
    asking: Vec<Asking>,
    loans: Vec<Loan>,
    /// The number of calls when [`Lender::has_news`] was last called.
    told: usize,
    /// Whether no datagrams arrive from the host.
    is_dark: bool,
}

/// A `rove -W` or `exec` call of another process that uses this session.
struct Loan {
    call: OwnedFd,
    /// Whether the connection to the calling process is readable, usually because that process has ended.
    is_ready: bool,
    is_program: bool,
    load: Box<dyn Load>,
    state: State,
    splices: Vec<Splice>,
}

/// The progress of another process's call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The client has not opened the call's streams.
    Waiting,
    /// The client has opened the streams, and the host has not answered.
    Opening,
    Open,
    Over,
}

impl std::fmt::Debug for Loan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loan").field("state", &self.state).finish_non_exhaustive()
    }
}

impl Lender {
    /// Creates a lender that accepts calls for this gate: the session's account, host and ssh route.
    pub(super) fn new(gate: Gate) -> Self {
        let (asking, loans) = (Vec::new(), Vec::new());
        Self { gate, socket: None, is_open: false, asking, loans, told: 0, is_dark: false }
    }

    /// Listens for other processes' calls, unless this was tried already. Call this while the session carries streams.
    pub(super) fn open(&mut self) {
        if !std::mem::replace(&mut self.is_open, true) {
            debug_assert!(self.socket.is_none(), "one socket is open at a time");
            let socket = PrivateSocket::open(&self.gate.purpose());
            let refused = |error: &std::io::Error| tracing::warn!(%error, "streams are not lent");
            self.socket = socket.inspect_err(refused).ok();
        }
    }

    /// Replaces the socket after a fork, because the socket's name contains the process number.
    pub(super) fn open_again(&mut self) {
        self.rest();
        self.open();
    }

    /// Closes the socket, until [`Lender::open`] makes another.
    pub(super) fn rest(&mut self) {
        (self.socket, self.is_open) = (None, false);
    }

    /// Returns whether `rove -W` or `exec` calls of other processes use this session.
    pub(super) fn has_calls(&self) -> bool {
        !self.loans.is_empty()
    }

    /// Returns whether calls use this session, or processes have connected and not yet sent their whole request.
    pub(super) fn is_used(&self) -> bool {
        !self.asking.is_empty() || !self.loans.is_empty()
    }

    /// Returns whether the number of calls, and so [`Lender::line`], has changed since this method was last called.
    pub(super) fn has_news(&mut self) -> bool {
        std::mem::replace(&mut self.told, self.loans.len()) != self.loans.len()
    }

    /// Returns the line about the calls in the session's status. `None` without calls.
    pub(super) fn line(&self) -> Option<String> {
        match self.loans.len() {
            0 => None,
            1 => Some("1 call of rove here (-W, exec)".to_owned()),
            calls => Some(format!("{calls} calls of rove here (-W, exec)")),
        }
    }

    /// Returns how many streams of all calls wait for the host's answer. A running program's input counts, because it
    /// waits for the exit status.
    pub(super) fn waiting(&self) -> usize {
        let waiting = self.loans.iter().map(|loan| match (loan.state, loan.is_program) {
            (State::Opening, true) => PROGRAM_STREAMS,
            (State::Opening, false) | (State::Open, true) => 1,
            _ => 0,
        });
        waiting.sum()
    }

    /// Accepts connections and begins requested calls, without blocking. Returns the result of [`Lender::is_used`].
    pub(super) fn take(&mut self, now: Instant) -> bool {
        if let Some(socket) = &mut self.socket {
            socket.unmute();
            while self.asking.len() < ASKING_MAX {
                let Some(call) = socket.accept() else { break };
                self.asking.push(Asking::new(now, call));
            }
        }
        for asking in std::mem::take(&mut self.asking) {
            match asking.turn(now) {
                Some(Ok(asked)) => self.begin(asked),
                Some(Err(asking)) => self.asking.push(asking),
                None => tracing::debug!("no request"),
            }
        }
        debug_assert!(self.asking.len() <= ASKING_MAX);
        self.is_used()
    }

    /// Accepts a call if it asks for this gate, the limits on calls permit it, and the host is not silent. A process
    /// whose call is refused logs in by itself.
    fn begin(&mut self, (request, call, descriptors): Asked) {
        if request.gate != self.gate || self.loans.len() >= LOANS_MAX || self.is_dark {
            return;
        }
        let Some(joined) = request.into_joined() else { return };
        let is_program = matches!(joined, rove_bootstrap::Joined::Program { .. });
        let programs = self.loans.iter().filter(|loan| loan.is_program).count();
        if is_program && programs >= PROGRAMS_MAX {
            return;
        }
        let ends = Ends::Passed(descriptors.into_iter().map(Some).collect());
        let Ok(load) = load(&joined, ends, true) else { return };
        if say(&call, &Word::Taken) {
            let (state, splices) = (State::Waiting, Vec::new());
            self.loans.push(Loan { call, is_ready: false, is_program, load, state, splices });
        }
    }

    /// Copies bytes for the calls, opens streams for calls that wait, and removes calls that have ended. `others` is
    /// the number of the client's connections whose streams wait for the host's answer.
    pub(super) fn turn(&mut self, now: Instant, mux: &mut Mux, others: usize, buffer: &mut [u8]) {
        self.loans.iter_mut().for_each(|loan| loan.turn(now, mux, buffer));
        // The calls' turns come first, because a call that has just ended makes room for a waiting call.
        let (mut opening, mut waiting) = (self.count(State::Opening), others + self.waiting());
        for loan in &mut self.loans {
            let has_room = opening < OPENING_MAX && waiting + PROGRAM_STREAMS <= CONNECTS_MAX;
            if loan.state == State::Waiting && has_room {
                loan.open(now, mux);
                opening += usize::from(loan.state == State::Opening);
                waiting += PROGRAM_STREAMS;
            }
            if loan.state == State::Over {
                loan.load.streams().into_iter().for_each(|id| mux.reset_and_stop(id, UNWANTED));
            }
        }
        self.loans.retain(|loan| loan.state != State::Over);
        debug_assert!(self.loans.len() <= LOANS_MAX);
        debug_assert!(self.count(State::Opening) <= OPENING_MAX);
        debug_assert!(self.loans.iter().filter(|loan| loan.is_program).count() <= PROGRAMS_MAX);
    }

    /// Tells calling processes when datagrams from the host stop or arrive again. Ends a call to which a write fails.
    pub(super) fn handle_silence(&mut self, is_dark: bool) {
        if std::mem::replace(&mut self.is_dark, is_dark) != is_dark {
            let word = if is_dark { Word::Dark } else { Word::Back };
            let untold = self.loans.iter_mut().filter(|loan| !say(&loan.call, &word));
            untold.for_each(|loan| loan.state = State::Over);
        }
    }

    /// Notes that the host has received a stream's end, or has stopped reading the stream.
    pub(super) fn handle_delivered(&mut self, id: StreamId) {
        self.loans.iter_mut().for_each(|it| it.load.handle_delivered(id));
    }

    /// Ends all calls and accepts no others, because the session carries no streams.
    pub(super) fn close(&mut self) {
        (self.socket, self.is_open) = (None, true);
        self.asking.clear();
        self.loans.clear();
    }

    /// Returns whether to call [`Lender::turn`] again without waiting.
    pub(super) fn has_work(&self) -> bool {
        self.loans.iter().flat_map(|loan| &loan.splices).any(Splice::has_work)
    }

    /// Returns the time by which to call [`Lender::take`] again. `None` if no request is incomplete.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.asking.iter().map(Asking::until).min()
    }

    /// Returns the descriptors to wait for, in the order that [`Lender::handle_ready`] expects.
    pub(super) fn interests(&self) -> impl Iterator<Item = Interest<'_>> {
        let has_room = self.asking.len() < ASKING_MAX;
        let socket = self.socket.iter().filter(move |_| has_room);
        let socket = socket.filter_map(PrivateSocket::interest);
        let asking = self.asking.iter().map(Asking::interest);
        let loans = self.loans.iter().flat_map(|loan| {
            let call = Interest::new(loan.call.as_fd(), true, false);
            std::iter::once(call).chain(loan.splices.iter().flat_map(Splice::interests))
        });
        socket.chain(asking).chain(loans)
    }

    /// Notes which of [`Lender::interests`] are ready. The socket and the requests are skipped, because
    /// [`Lender::take`] always reads them.
    pub(super) fn handle_ready(&mut self, ready: &mut impl Iterator<Item = bool>) {
        let lent =
            self.loans.iter().map(|it| 1 + it.splices.iter().flat_map(Splice::interests).count());
        let others = self.interests().count() - lent.sum::<usize>();
        let mut ready = ready.skip(others);
        for loan in &mut self.loans {
            loan.is_ready = ready.next().unwrap_or_default();
            loan.splices.iter_mut().for_each(|it| it.handle_ready(&mut ready));
        }
    }

    fn count(&self, state: State) -> usize {
        self.loans.iter().filter(|loan| loan.state == state).count()
    }
}

impl Loan {
    fn open(&mut self, now: Instant, mux: &mut Mux) {
        self.state = State::Opening;
        if let Err(error) = self.load.open(now, mux) {
            tracing::debug!(%error, "no streams for a call");
            self.end(&Word::NotCarried);
        }
    }

    fn turn(&mut self, now: Instant, mux: &mut Mux, buffer: &mut [u8]) {
        if std::mem::take(&mut self.is_ready) && self.has_ended() {
            self.state = State::Over;
        }
        if !matches!(self.state, State::Opening | State::Open) {
            return;
        }
        self.splices.iter_mut().for_each(|it| it.turn(now, mux, buffer));
        let carried = self.load.turn(now, mux, &mut self.splices);
        if self.state == State::Opening && !self.splices.is_empty() {
            self.state = State::Open;
            say(&self.call, &Word::Opened);
        }
        match carried {
            Ok(None) => {}
            Ok(Some(carried)) => self.end(&carried.into_word()),
            Err(error) => self.end(&Word::Failed(vec![error.to_string()])),
        }
    }

    fn end(&mut self, word: &Word) {
        say(&self.call, word);
        self.state = State::Over;
    }

    /// Returns whether the calling process has ended. It sends nothing after its request, so any result of a read but
    /// "no data" means the end.
    fn has_ended(&self) -> bool {
        !matches!(read(&self.call, &mut [0]), Err(Errno::AGAIN | Errno::INTR))
    }
}

/// Writes a message to a calling process. Returns `false` if the connection is closed or its buffer is full.
fn say(call: &OwnedFd, word: &Word) -> bool {
    let line = line(word);
    write(call, &line) == Ok(line.len())
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::Shutdown;
    use std::os::unix::net::UnixStream;

    use rove_bootstrap::{Joined, Sharing, ssh_config};
    use rove_rig::guard::HANG_GUARD;
    use rove_session::Streams;
    use rove_streams::Side;
    use rove_units::Duration;

    use super::*;
    use crate::share::message::Request;
    use crate::splice::BYTES_PER_TURN;

    fn gate(port: u16) -> Gate {
        let answer = format!("user me\nhostname a.example\nport {port}\n");
        let config = ssh_config::parse(&answer, |_| Sharing::Unknown);
        Gate::of("a".as_ref(), &config).expect("ssh tells all of it")
    }

    fn program() -> Joined {
        Joined::Program { command: "x".into(), is_subsystem: false }
    }

    /// Sends a request to a lender. Returns the call's end of the connection.
    fn ask(lender: &mut Lender, gate: &Gate, joined: &Joined) -> UnixStream {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        theirs.set_nonblocking(true).expect("it is ours");
        ours.set_nonblocking(true).expect("it is ours");
        Request::new(gate.clone(), joined).send(&ours, &[]).expect("there is room");
        lender.asking.push(Asking::new(Instant::ZERO, theirs.into()));
        lender.take(Instant::ZERO);
        ours
    }

    /// Returns the messages to a call. `None` if the lender has closed the connection without a message. Waits for the
    /// messages, because a child that another test has just forked may hold the connection.
    fn told(call: &mut UnixStream) -> Option<String> {
        call.set_nonblocking(false).expect("it is ours");
        call.set_read_timeout(Some(HANG_GUARD)).expect("it is ours");
        let mut bytes = [0; 4096];
        let len = call.read(&mut bytes).expect("a word, or the end");
        (len > 0).then(|| String::from_utf8_lossy(&bytes[..len]).into_owned())
    }

    #[test]
    fn calls_are_bounded_and_one_more_logs_in_by_itself() {
        for (joined, max) in
            [(program(), PROGRAMS_MAX), (Joined::Port("h:1".to_owned()), LOANS_MAX)]
        {
            let mut lender = Lender::new(gate(22));
            let mut calls: Vec<UnixStream> =
                (0..max).map(|_| ask(&mut lender, &gate(22), &joined)).collect();
            for call in &mut calls {
                assert_eq!(told(call).as_deref(), Some("\"taken\"\n"));
            }
            let mut more = ask(&mut lender, &gate(22), &joined);
            assert_eq!((told(&mut more), lender.loans.len()), (None, max));
            // At most `OPENING_MAX` calls wait for the host at a time. The end of a call makes room for another.
            let mut mux = Streams::new(Side::Client, Instant::ZERO).mux;
            lender.turn(Instant::ZERO, &mut mux, 0, &mut [0; BYTES_PER_TURN]);
            assert_eq!(lender.count(State::Opening), max.min(OPENING_MAX));
            calls[max - 1].shutdown(Shutdown::Both).expect("it is open");
            let ready = lender.interests().count();
            lender.handle_ready(&mut std::iter::repeat_n(true, ready));
            lender.turn(Instant::ZERO, &mut mux, 0, &mut [0; BYTES_PER_TURN]);
            assert_eq!(lender.loans.len(), max - 1);
            assert!(told(&mut ask(&mut lender, &gate(22), &joined)).is_some());
        }
    }

    #[test]
    fn a_call_that_waits_for_room_is_opened_in_the_turn_in_which_another_ends() {
        let mut lender = Lender::new(gate(22));
        let port = Joined::Port("h:1".to_owned());
        let ask = |lender: &mut Lender| ask(lender, &gate(22), &port);
        let calls: Vec<UnixStream> = (0..=OPENING_MAX).map(|_| ask(&mut lender)).collect();
        let mut mux = Streams::new(Side::Client, Instant::ZERO).mux;
        let mut turn = |lender: &mut Lender| {
            lender.turn(Instant::ZERO, &mut mux, 0, &mut [0; BYTES_PER_TURN]);
            (lender.count(State::Opening), lender.count(State::Waiting))
        };
        assert_eq!(turn(&mut lender), (OPENING_MAX, 1));
        calls[0].shutdown(Shutdown::Both).expect("it is open");
        let ready = lender.interests().count();
        lender.handle_ready(&mut std::iter::repeat_n(true, ready));
        assert_eq!(turn(&mut lender), (OPENING_MAX, 0));
    }

    #[test]
    fn a_call_waits_while_the_host_would_refuse_one_of_its_streams() {
        let mut mux = Streams::new(Side::Client, Instant::ZERO).mux;
        for (others, opened) in [(CONNECTS_MAX - 2, 0), (CONNECTS_MAX - 3, 1), (0, OPENING_MAX)] {
            let mut lender = Lender::new(gate(22));
            let _calls: Vec<UnixStream> =
                (0..PROGRAMS_MAX).map(|_| ask(&mut lender, &gate(22), &program())).collect();
            lender.turn(Instant::ZERO, &mut mux, others, &mut [0; BYTES_PER_TURN]);
            assert_eq!(lender.count(State::Opening), opened, "{others}");
            assert_eq!(lender.waiting(), PROGRAM_STREAMS * opened, "{others}");
            lender.loans.iter_mut().for_each(|loan| loan.state = State::Open);
            assert_eq!(lender.waiting(), PROGRAMS_MAX, "the inputs wait until the programs end");
        }
    }

    #[test]
    fn a_call_for_another_gate_and_one_that_is_malformed_are_told_nothing() {
        let mut lender = Lender::new(gate(22));
        assert_eq!(told(&mut ask(&mut lender, &gate(23), &program())), None);
        for port in ["", "h", "h:0", "-h:1"] {
            let joined = Joined::Port(port.to_owned());
            assert_eq!(told(&mut ask(&mut lender, &gate(22), &joined)), None, "{port}");
        }
        assert!(!lender.is_used());
    }

    #[test]
    fn a_connection_that_asks_nothing_is_closed_in_time() {
        let mut lender = Lender::new(gate(22));
        let (_silent, theirs) = UnixStream::pair().expect("a pair");
        theirs.set_nonblocking(true).expect("it is ours");
        lender.asking.push(Asking::new(Instant::ZERO, theirs.into()));
        let until = lender.poll_timeout().expect("it is waited for");
        assert!(until <= Instant::ZERO + Duration::from_secs(10));
        assert!(lender.take(Instant::ZERO) && !lender.take(until));
        assert_eq!(lender.poll_timeout(), None);
    }

    #[test]
    fn calls_learn_once_when_the_host_falls_silent_and_when_it_is_back() {
        let mut lender = Lender::new(gate(22));
        let mut call = ask(&mut lender, &gate(22), &program());
        for is_dark in [false, true, true, false, false] {
            lender.handle_silence(is_dark);
        }
        assert_eq!(told(&mut call).as_deref(), Some("\"taken\"\n\"dark\"\n\"back\"\n"));
        lender.handle_silence(true);
        let mut late = ask(&mut lender, &gate(22), &program());
        assert_eq!(told(&mut late), None, "it logs in by itself, and ssh says why it cannot");
    }
}
