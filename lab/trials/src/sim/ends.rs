//! The client and the server of a simulated session, with a user and a program.

use rove_headless::{Act, Program, User, client_config, server_config};
use rove_session::{Client, ClientConfig, Server, ServerEvent};
use rove_ssp::Config;
use rove_terminal::{Attributes, Cell, Color, Pen, Screen, Size, Terminal, Underline};
use rove_units::{Instant, Seed};

use super::machine::Machine;
use super::scenario::Scenario;

/// Bytes that the driver of an end reads at once. Source: Mosh 1.4.0 as observed.
const READ_MAX: usize = 16_384;
/// Most bytes of unacknowledged input that the client holds: its bound, and one read beyond it.
pub(super) const PENDING_MAX: u64 = 1_048_576 + 16_384;
/// Most bytes that the server holds for the pty: its bound, and one message of the client beyond it.
pub(super) const WAITING_MAX: usize = 1_048_576 + 65_536;

/// A client, its user, and the user's terminal.
pub(super) type ClientEnd = rove_headless::ClientEnd<Typist>;

/// A server and the program on its pty.
pub(super) type ServerEnd = rove_headless::ServerEnd<Printer>;

/// A user who types, resizes the window, and looks away now and then.
pub(super) struct Typist {
    /// All bytes that the user has typed, and how many of them the client has read.
    typed: Vec<u8>,
    read: usize,
    /// Answers of the terminal that the client has yet to read.
    answers: Vec<u8>,
    window: Size,
    shown: Size,
    /// Whether the terminal accepts no output.
    pub(super) jammed: bool,
    /// Whether the client has returned the terminal to the user.
    returned: bool,
    pub(super) pending_max: u64,
    /// The numbers in the copies and in the notifications that the terminal received, in order.
    pub(super) copied: Vec<u64>,
    pub(super) told: Vec<u64>,
}

/// A program that prints and reads.
pub(super) struct Printer {
    pub(super) started: bool,
    /// The bytes that the program has printed, and how many of them the server has read.
    printed: Vec<u8>,
    handled: usize,
    /// The bytes that the program has read.
    pub(super) read: Vec<u8>,
    pty_size: Size,
    /// Whether the program stops reading.
    pub(super) jammed: bool,
    pub(super) waiting_max: usize,
}

/// Creates the client for a scenario.
pub(super) fn client_end(scenario: &Scenario, seed: Seed) -> ClientEnd {
    let transport = Config { capabilities: scenario.client_capabilities, ..Config::client() };
    let config = ClientConfig {
        size: scenario.size,
        terminal: scenario.terminal.clone(),
        query: scenario.query,
        prediction: scenario.prediction,
        ..client_config(transport, seed)
    };
    let typist = Typist {
        typed: Vec::new(),
        read: 0,
        answers: Vec::new(),
        window: scenario.size,
        shown: scenario.size,
        jammed: false,
        returned: false,
        pending_max: 0,
        copied: Vec::new(),
        told: Vec::new(),
    };
    let start = Machine::<ClientEnd>::start(scenario.client_ahead);
    let mut client = ClientEnd::new(config, typist, start);
    client.terminal.set_user_terminal(scenario.user_terminal);
    client
}

/// Creates the server for a scenario.
pub(super) fn server_end(scenario: &Scenario, seed: Seed) -> ServerEnd {
    let transport = Config { capabilities: scenario.server_capabilities, ..Config::server() };
    let printer = Printer {
        started: false,
        printed: Vec::new(),
        handled: 0,
        read: Vec::new(),
        pty_size: Size::DEFAULT,
        jammed: false,
        waiting_max: 0,
    };
    let start = Machine::<ServerEnd>::start(scenario.server_ahead);
    ServerEnd::new(server_config(transport, seed), printer, start)
}

/// Lets the client return its terminal to the user (`returned`), or take it again.
pub(super) fn give_back(client: &mut ClientEnd, now: Instant, returned: bool) {
    if returned != client.user.returned {
        client.user.returned = returned;
        if returned {
            client.close_terminal(now);
        } else {
            client.client.handle_resume(now);
        }
    }
}

/// Returns how often the bell of the user's terminal rang.
pub(super) fn bells(client: &ClientEnd) -> u64 {
    client.terminal.screen().bells()
}

impl Typist {
    pub(super) fn type_text(&mut self, text: &[u8]) {
        self.typed.extend_from_slice(text);
    }

    pub(super) fn resize(&mut self, size: Size) {
        self.window = size;
    }
}

impl User for Typist {
    fn next_act(&mut self, _: Instant, client: &Client, _: &Terminal) -> Option<Act> {
        self.pending_max = self.pending_max.max(client.pending_input());
        if !self.answers.is_empty() {
            return Some(Act::Type(core::mem::take(&mut self.answers)));
        }
        if self.shown != self.window {
            self.shown = self.window;
            return Some(Act::Resize(self.window));
        }
        if self.read == self.typed.len() || !client.wants_input() {
            return None;
        }
        let end = self.typed.len().min(self.read + READ_MAX);
        let bytes = self.typed[self.read..end].to_vec();
        self.read = end;
        Some(Act::Type(bytes))
    }

    fn takes_output(&self) -> bool {
        !self.jammed
    }

    fn handle_frame(&mut self, _: Instant, _: &Client, terminal: &mut Terminal) {
        self.copied.extend(terminal.take_copied().map(|copied| number(copied.text())));
        let told = terminal.take_notifications();
        self.told.extend(told.map(|told| number(told.command().trim_start_matches("9;told "))));
        self.answers.extend(terminal.take_replies());
    }
}

/// Returns the number that is the text of a copy or a notification.
fn number(digits: &str) -> u64 {
    digits.parse().expect("programs copy and tell numbers")
}

impl Printer {
    pub(super) fn print(&mut self, bytes: &[u8]) {
        self.printed.extend_from_slice(bytes);
    }
}

impl Program for Printer {
    fn turn(&mut self, now: Instant, server: &mut Server) {
        while self.handled < self.printed.len() {
            let end = self.printed.len().min(self.handled + READ_MAX);
            server.handle_host_output(now, &self.printed[self.handled..end]);
            self.handled = end;
        }
        self.waiting_max = self.waiting_max.max(server.host_input().len());
        if !self.jammed {
            let waiting = server.host_input();
            self.read.extend_from_slice(waiting);
            server.consume_host_input(waiting.len());
        }
    }

    fn handle_event(&mut self, event: ServerEvent) {
        match event {
            ServerEvent::Start => self.started = true,
            ServerEvent::Resize(size) => self.pty_size = size,
            ServerEvent::ClientMoved(_)
            | ServerEvent::ClientLost
            | ServerEvent::ClientChanged
            | ServerEvent::Joined(_) => {}
        }
    }
}

/// Returns how the two ends disagree, or `None` if they agree. If both ends are `rich`, they must agree about
/// everything, and if not, about the parts of a stock screen.
pub(super) fn disagreement(client: &ClientEnd, server: &ServerEnd, rich: bool) -> Option<String> {
    let (ours, theirs) = (client.client.screen(), server.server.screen());
    if server.program.read != client.user.typed {
        let same =
            server.program.read.iter().zip(&client.user.typed).take_while(|(a, b)| a == b).count();
        let (read, typed) = (server.program.read.len(), client.user.typed.len());
        return Some(format!("{typed} bytes typed, {read} read, alike up to byte {same}"));
    }
    if client.client.pending_input() > 0 {
        return Some("the client holds input that was never acknowledged".to_owned());
    }
    for (what, size) in [("pty", server.program.pty_size), ("screen", theirs.size())] {
        if size != client.user.window {
            return Some(format!("the window is {:?}, the {what} {size:?}", client.user.window));
        }
    }
    if let Some(what) = difference(ours, theirs, rich) {
        return Some(format!("the client's screen differs from the server's in {what}"));
    }
    for (what, numbers) in [("copies", &client.user.copied), ("notifications", &client.user.told)] {
        if !numbers.is_sorted_by(|a, b| a < b) {
            return Some(format!("{what} came twice or out of order: {numbers:?}"));
        }
    }
    if rich && bells(client) > theirs.bells() {
        return Some(format!("{} bells rang, not {}", bells(client), theirs.bells()));
    }
    shown_difference(client.terminal.screen(), ours)
}

/// Returns a difference between the user's terminal and the client's screen, or `None`.
fn shown_difference(tty: &Screen, screen: &Screen) -> Option<String> {
    for row in 0..screen.size().rows() {
        let (shown, wanted) = (tty.row_text(row), screen.row_text(row));
        if shown != wanted {
            return Some(format!("row {row} of the terminal shows {shown:?}, not {wanted:?}"));
        }
        let (shown, wanted) = (tty.row(row)?, screen.row(row)?);
        let cells = (0_u16..).zip(shown.cells().iter().zip(wanted.cells()));
        for (column, (shown, wanted)) in cells {
            let (shown, wanted) = (look(shown), look(wanted));
            if shown != wanted {
                return Some(format!(
                    "row {row}, column {column} of the terminal looks as {shown:?}, not {wanted:?}"
                ));
            }
        }
    }
    let (shown, wanted) = (tty.cursor(), screen.cursor());
    let is_same = shown.visible == wanted.visible
        && (!wanted.visible || shown.position() == wanted.position());
    (!is_same).then(|| format!("the terminal's cursor is {shown:?}, not {wanted:?}"))
}

/// Returns the visible pen of a cell, without attributes that some terminals lack. A blank cell has only the attributes
/// that are visible without a character.
fn look(cell: &Cell) -> Pen {
    let pen = as_shown(cell.pen);
    let is_blank = matches!(cell.base, None | Some(' ')) && !cell.combined;
    if !is_blank {
        return pen;
    }
    let inverse = pen.attributes.intersection(Attributes::INVERSE);
    let attributes = inverse.underlined(pen.attributes.underline());
    if attributes == Attributes::NONE { pen.erased() } else { Pen { attributes, ..pen } }
}

/// Returns a synchronised field in which two screens differ, or `None`. The number of bells is not compared.
fn difference(a: &Screen, b: &Screen, rich: bool) -> Option<String> {
    if a.size() != b.size() {
        return Some("size".to_owned());
    }
    if let Some(what) = (0..a.size().rows()).find_map(|row| row_difference(a, b, row, rich)) {
        return Some(what);
    }
    [
        ("cursor", a.cursor() == b.cursor()),
        ("pen", as_carried(a.pen(), rich) == as_carried(b.pen(), rich)),
        ("reverse video", a.reverse_video() == b.reverse_video()),
        ("input modes", a.input_modes() == b.input_modes()),
        ("title", a.title() == b.title()),
        ("icon name", a.icon_name() == b.icon_name()),
        ("decoration", !rich || a.decoration() == b.decoration()),
        ("rich modes", !rich || a.rich_modes() == b.rich_modes()),
        ("colors", !rich || a.colors() == b.colors()),
        ("directory", !rich || a.directory() == b.directory()),
        ("progress", !rich || a.progress() == b.progress()),
        ("clipboard", rich || a.clipboard() == b.clipboard()),
    ]
    .into_iter()
    .find_map(|(what, same)| (!same).then(|| what.to_owned()))
}

/// Returns a difference between the rows `row` of two screens, or `None`.
fn row_difference(a: &Screen, b: &Screen, row: u16, rich: bool) -> Option<String> {
    let (a, b) = (a.row(row)?, b.row(row)?);
    let cells = (0_u16..).zip(a.cells().iter().zip(b.cells()));
    for (column, (ours, theirs)) in cells {
        let is_same = Cell { pen: as_carried(ours.pen, rich), ..*ours }
            == Cell { pen: as_carried(theirs.pen, rich), ..*theirs }
            && a.marks(column) == b.marks(column)
            && (!rich || a.decoration(column) == b.decoration(column));
        if !is_same {
            return Some(format!("row {row}, column {column}: {ours:?}, {theirs:?}"));
        }
    }
    // The server sends a wrap only if printing sets it in every case, so the client may lack a wrap.
    (a.wrapped() && !b.wrapped()).then(|| format!("row {row}, which wraps at the client only"))
}

/// Returns the parts of a pen that a client's screen holds. A stock screen names the first sixteen colours of the
/// palette, and otherwise holds only what every terminal shows.
fn as_carried(pen: Pen, rich: bool) -> Pen {
    if rich {
        return pen;
    }
    let named = |color| match color {
        Color::Indexed(index @ 0..=15) => Color::Named(index),
        color => color,
    };
    let Pen { foreground, background, attributes } = as_shown(pen);
    Pen { foreground: named(foreground), background: named(background), attributes }
}

/// Returns the parts of a pen that every terminal shows: a single kind of underline, and only some attributes.
fn as_shown(pen: Pen) -> Pen {
    let extra = Attributes::FAINT.with(Attributes::STRIKE).with(Attributes::OVERLINE);
    let underline = match pen.attributes.underline() {
        Underline::None => Underline::None,
        _ => Underline::Straight,
    };
    Pen { attributes: pen.attributes.without(extra).underlined(underline), ..pen }
}
