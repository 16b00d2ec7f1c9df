//! Whoever follows a host's screen sees it: the far end by diffs, the user by frames.

use rove_terminal::display::{self, Repertoire};
use rove_terminal::{
    Attributes, Cell, Color, Outer, Renderer, Row, Screen, Size, Terminal, Underline,
};

/// A host terminal, a far end's replica, and two users' terminals of unlike abilities.
pub(super) struct Follow {
    host: Terminal,
    replica: Terminal,
    users: [(Renderer, Terminal); 2],
}

impl Follow {
    pub(super) fn new(size: Size) -> Self {
        let plain = Outer { repertoire: Repertoire::FULL, colors: true, ..Outer::default() };
        let able = Outer { erase_characters: true, background_color_erase: true, ..plain.clone() };
        let users = [able, plain].map(|outer| {
            let mut renderer = Renderer::new(outer);
            let mut terminal = Terminal::host(size);
            terminal.write(&renderer.open());
            (renderer, terminal)
        });
        Self { host: Terminal::host(size), replica: Terminal::replica(size), users }
    }

    /// Lets the host take a piece of its bytes, and all the others one diff or frame of it.
    pub(super) fn write(&mut self, piece: &[u8]) {
        let before = self.host.snapshot();
        self.host.write(piece);
        self.pass_on(&before);
    }

    /// Changes every terminal's size.
    pub(super) fn resize(&mut self, size: Size) {
        let before = self.host.snapshot();
        self.host.resize(size);
        self.replica.resize(size);
        self.users.iter_mut().for_each(|(_, terminal)| terminal.resize(size));
        self.pass_on(&before);
    }

    pub(super) fn host(&self) -> &Terminal {
        &self.host
    }

    pub(super) fn replica(&self) -> &Screen {
        self.replica.screen()
    }

    /// Returns what the abler of the two users sees.
    pub(super) fn user(&self) -> &Screen {
        self.users[0].1.screen()
    }

    fn pass_on(&mut self, before: &Screen) {
        let now = self.host.screen();
        self.replica.write(&display::diff(before, now, Repertoire::FULL));
        for (renderer, terminal) in &mut self.users {
            terminal.write(&renderer.frame(now));
        }
    }

    /// Panics where somebody does not see what the host shows.
    #[track_caller]
    pub(super) fn assert_seen(&self, input: &[u8]) {
        let (name, host) = (input.escape_ascii(), self.host.screen());
        assert_same(self.replica.screen(), host, &format!("replica of {name}"));
        let mut late = Terminal::replica(host.size());
        late.write(&display::diff(late.screen(), host, Repertoire::FULL));
        assert_same(late.screen(), host, &format!("late replica of {name}"));
        for (_, terminal) in &self.users {
            assert_looks_the_same(terminal.screen(), host, &format!("user of {name}"));
        }
    }
}

/// Compares all that a diff carries.
#[track_caller]
fn assert_same(replica: &Screen, host: &Screen, name: &str) {
    let parts = |screen: &Screen| {
        (
            screen.size(),
            (screen.cursor(), screen.pen()),
            (screen.reverse_video(), screen.bracketed_paste(), screen.focus_reporting()),
            (screen.mouse_reporting(), screen.mouse_encoding()),
            screen.colors().clone(),
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
        assert!((0..host.size().columns()).all(|at| ours.marks(at) == theirs.marks(at)), "{name}");
    }
}

/// Compares what a person sees.
#[track_caller]
fn assert_looks_the_same(user: &Screen, host: &Screen, name: &str) {
    assert_eq!(user.reverse_video(), host.reverse_video(), "{name}");
    assert_eq!(user.colors(), host.colors(), "{name}");
    assert_eq!(user.cursor().visible, host.cursor().visible, "{name}");
    let place = |screen: &Screen| (screen.cursor().row, screen.cursor().column);
    assert!(!host.cursor().visible || place(user) == place(host), "{name}");
    for number in 0..host.size().rows() {
        assert_eq!(user.row_text(number), host.row_text(number), "{name}, row {number}");
        let cells = |screen: &Screen| row(screen, number).cells().to_vec();
        let mut covered = false;
        for (column, (a, b)) in cells(user).into_iter().zip(cells(host)).enumerate() {
            // What stands under the right half of a wide character is not seen.
            if !core::mem::replace(&mut covered, b.wide) {
                assert_eq!(look(a), look(b), "{name}, row {number}, column {column}");
            }
        }
    }
}

fn row(screen: &Screen, number: u16) -> &Row {
    screen.row(number).expect("a row of the screen")
}

/// Returns what is seen of a cell; nobody sees in which colour a blank is written.
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
