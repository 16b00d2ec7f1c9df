//! Terminals that follow a host's screen: replicas at the far end by diffs, and users' terminals by frames.

use rove_terminal::display::{self, Functions, Repertoire, Vocabulary};
use rove_terminal::{
    Attributes, Cell, Color, OscSupport, Renderer, Row, Screen, Size, Terminal,
    TerminalCapabilities, Underline,
};

/// A host terminal, a replica at the far end, a replica of a stock client, and two users' terminals with different
/// capabilities.
pub(super) struct Follow {
    host: Terminal,
    replica: Terminal,
    stock: Terminal,
    users: [(Renderer, Terminal); 2],
}

impl Follow {
    pub(super) fn new(size: Size) -> Self {
        let plain = TerminalCapabilities {
            repertoire: Repertoire::FULL,
            osc: OscSupport::ALL,
            ..TerminalCapabilities::default()
        };
        let able = TerminalCapabilities { functions: Functions::ALL, ..plain.clone() };
        let users = [able, plain].map(|capabilities| {
            let mut renderer = Renderer::new(capabilities);
            let mut terminal = Terminal::host(size);
            terminal.write(&renderer.open());
            (renderer, terminal)
        });
        let [replica, stock] = [Terminal::replica(size), Terminal::replica(size)];
        Self { host: Terminal::host(size), replica, stock, users }
    }

    /// Lets the host perform `piece`, and passes the change on to all other terminals as diffs and frames.
    pub(super) fn write(&mut self, piece: &[u8]) {
        let before = self.host.snapshot();
        self.host.write(piece);
        self.pass_on(&before);
    }

    pub(super) fn resize(&mut self, size: Size) {
        let before = self.host.snapshot();
        self.host.resize(size);
        self.replica.resize(size);
        self.stock.resize(size);
        self.users.iter_mut().for_each(|(_, terminal)| terminal.resize(size));
        self.pass_on(&before);
    }

    pub(super) fn host(&self) -> &Terminal {
        &self.host
    }

    pub(super) fn replica(&self) -> &Screen {
        self.replica.screen()
    }

    /// Returns the screen of the user's terminal that has more capabilities.
    pub(super) fn user(&self) -> &Screen {
        self.users[0].1.screen()
    }

    fn pass_on(&mut self, before: &Screen) {
        let now = self.host.screen();
        self.replica.write(&display::diff(before, now, Vocabulary::Rich));
        self.stock.write(&display::diff(before, now, Vocabulary::Stock));
        for (renderer, terminal) in &mut self.users {
            terminal.write(&renderer.frame(now));
        }
    }

    /// Panics if a terminal does not show the host's screen.
    #[track_caller]
    pub(super) fn assert_seen(&self, input: &[u8]) {
        let (name, host) = (input.escape_ascii(), self.host.screen());
        assert_same(self.replica.screen(), host, &format!("replica of {name}"));
        let mut late = Terminal::replica(host.size());
        late.write(&display::diff(late.screen(), host, Vocabulary::Rich));
        assert_same(late.screen(), host, &format!("late replica of {name}"));
        assert_degraded(self.stock.screen(), host, &format!("stock replica of {name}"));
        for (_, terminal) in &self.users {
            assert_looks_the_same(terminal.screen(), host, &format!("user of {name}"));
        }
    }
}

/// Compares everything that a diff carries.
#[track_caller]
fn assert_same(replica: &Screen, host: &Screen, name: &str) {
    let parts = |screen: &Screen| {
        (
            screen.size(),
            (screen.cursor(), screen.pen(), screen.decoration().clone()),
            (screen.reverse_video(), screen.input_modes()),
            (screen.colors().clone(), screen.directory().to_owned(), screen.progress()),
            (screen.title().to_owned(), screen.icon_name().to_owned()),
            screen.clipboard().to_owned(),
            screen.bells() > 0,
        )
    };
    assert_eq!(parts(replica), parts(host), "{name}");
    for number in 0..host.size().rows() {
        let [ours, theirs] = [replica, host].map(|screen| row(screen, number));
        assert_eq!(replica.row_text(number), host.row_text(number), "{name}, row {number}");
        assert!(ours.cells() == theirs.cells(), "{name}, row {number}");
        for at in 0..host.size().columns() {
            assert_eq!(ours.marks(at), theirs.marks(at), "{name}, row {number}, column {at}");
            assert_eq!(ours.decoration(at), theirs.decoration(at), "{name}, row {number}");
        }
    }
}

/// Compares the state that a stock client can hold: everything except newer attributes and decorations.
#[track_caller]
fn assert_degraded(stock: &Screen, host: &Screen, name: &str) {
    assert_eq!(stock.cursor(), host.cursor(), "{name}");
    for number in 0..host.size().rows() {
        assert_eq!(stock.row_text(number), host.row_text(number), "{name}, row {number}");
        let [ours, theirs] = [stock, host].map(|screen| row(screen, number));
        for (at, (ours, theirs)) in (0..).zip(ours.cells().iter().zip(theirs.cells())) {
            assert_eq!(*ours, degraded(*theirs), "{name}, row {number}, column {at}");
        }
        assert!((0..host.size().columns()).all(|at| ours.decoration(at).is_none()), "{name}");
    }
}

/// Returns a cell as stock Mosh can hold it.
fn degraded(mut cell: Cell) -> Cell {
    let newer = Attributes::FAINT.with(Attributes::STRIKE).with(Attributes::OVERLINE);
    cell.pen.attributes = cell.pen.attributes.without(newer);
    if cell.pen.attributes.underline() != Underline::None {
        cell.pen.attributes = cell.pen.attributes.underlined(Underline::Straight);
    }
    let named = |color: Color| match color {
        Color::Indexed(index @ 0..=15) => Color::Named(index),
        color => color,
    };
    cell.pen.foreground = named(cell.pen.foreground);
    cell.pen.background = named(cell.pen.background);
    cell
}

/// Compares the visible part of two screens.
#[track_caller]
fn assert_looks_the_same(user: &Screen, host: &Screen, name: &str) {
    assert_eq!(user.reverse_video(), host.reverse_video(), "{name}");
    assert_eq!(user.colors(), host.colors(), "{name}");
    assert_eq!((user.directory(), user.progress()), (host.directory(), host.progress()), "{name}");
    assert_eq!(user.cursor().visible, host.cursor().visible, "{name}");
    let place = |screen: &Screen| (screen.cursor().row, screen.cursor().column);
    assert!(!host.cursor().visible || place(user) == place(host), "{name}");
    for number in 0..host.size().rows() {
        assert_eq!(user.row_text(number), host.row_text(number), "{name}, row {number}");
        let cells = |screen: &Screen| row(screen, number).cells().to_vec();
        let mut covered = false;
        for (column, (a, b)) in cells(user).into_iter().zip(cells(host)).enumerate() {
            // The cell under the right half of a wide character is invisible.
            if !core::mem::replace(&mut covered, b.wide) {
                assert_eq!(look(a), look(b), "{name}, row {number}, column {column}");
                let column = u16::try_from(column).expect("a screen has at most 4096 columns");
                let [ours, theirs] = [user, host].map(|screen| row(screen, number));
                assert_eq!(ours.decoration(column), theirs.decoration(column), "{name}");
            }
        }
    }
}

fn row(screen: &Screen, number: u16) -> &Row {
    screen.row(number).expect("a row of the screen")
}

/// Returns the visible part of a cell. The text colour of a blank is invisible.
fn look(mut cell: Cell) -> Cell {
    let alone = cell.base.is_none() && cell.combined;
    cell.base = Some(cell.base.unwrap_or(if alone { '\u{a0}' } else { ' ' }));
    let shows_ink = cell.base != Some(' ')
        || cell.pen.attributes.contains(Attributes::INVERSE)
        || cell.pen.attributes.underline() != Underline::None;
    if !shows_ink {
        cell.pen.foreground = Color::Default;
        cell.pen.attributes = Attributes::NONE;
    }
    cell
}
