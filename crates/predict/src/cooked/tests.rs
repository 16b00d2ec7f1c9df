use proptest::prelude::*;
use rove_terminal::Size;
use rove_units::Duration;

use super::*;
use crate::policy::Preference;
use crate::tty::TtyModes;

/// Lines are read and nothing is echoed.
const SECRET: Tty = Tty { modes: TtyModes::USUAL.without(TtyModes::ECHO), ..Tty::USUAL };
/// A program reads keys.
const RAW: Tty =
    Tty { modes: TtyModes::USUAL.without(TtyModes::ECHO.union(TtyModes::CANONICAL)), ..Tty::USUAL };

/// Longer than any prompt is not believed.
const LONG: u64 = 2000;

/// An engine, and the terminal it predicts.
struct Session {
    cooked: Cooked,
    policy: Policy,
    now: Instant,
    host: Terminal,
    kernel: Discipline,
    /// What was typed, an input for each time, and how many of the inputs the host has.
    inputs: Vec<Vec<u8>>,
    delivered: usize,
    acknowledged: usize,
    shown: Screen,
}

impl Session {
    fn new(size: Size, prompt: &str) -> Self {
        let mut session = Self {
            cooked: Cooked::new(),
            policy: Policy::new(Preference::Always),
            now: Instant::from_millis(10_000),
            host: Terminal::host(size),
            kernel: Discipline::new(Tty::USUAL),
            inputs: Vec::new(),
            delivered: 0,
            acknowledged: 0,
            shown: Screen::blank(size),
        };
        session.kernel.type_byte(b'\n', &mut Vec::new());
        session.cooked.handle_tty(Some(Tty::USUAL));
        session.print(prompt);
        session.wait(LONG);
        session
    }

    fn wait(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
    }

    /// Types, and returns the cursor's row as the user sees it then.
    fn types(&mut self, text: &str) -> String {
        let sent = InputNum::new(self.inputs.len() as u64);
        self.cooked.handle_keys(self.now, sent, text.as_bytes());
        self.inputs.push(text.into());
        self.look()
    }

    /// Lets the host take the next input, echo it and send the screen.
    fn deliver(&mut self) -> String {
        let input = self.inputs[self.delivered].clone();
        self.delivered += 1;
        for byte in input {
            play(&mut self.host, &mut self.kernel, byte);
        }
        self.receive()
    }

    /// Lets all that was delivered be acknowledged.
    fn acknowledge(&mut self) -> String {
        self.acknowledged = self.delivered;
        self.receive()
    }

    fn print(&mut self, text: &str) -> String {
        self.host.write(text.as_bytes());
        self.receive()
    }

    fn receive(&mut self) -> String {
        self.cooked.handle_network(Network {
            echo_ack: InputNum::new(self.acknowledged as u64),
            arrived: InputNum::new(self.delivered as u64),
            send_interval: Duration::from_millis(100),
        });
        self.look()
    }

    fn look(&mut self) -> String {
        let screen = self.host.snapshot();
        let frame = self.cooked.frame(self.now, &screen, &mut self.policy);
        self.shown = frame.unwrap_or(screen);
        self.shown.row_text(self.shown.cursor().row)
    }

    /// Shows that the line echoes: a character comes and goes.
    fn prove(&mut self) {
        for key in ["q", "\x7f"] {
            self.types(key);
            self.deliver();
        }
        self.acknowledge();
    }

    fn cursor(&self) -> (u16, u16) {
        (self.shown.cursor().row, self.shown.cursor().column)
    }
}

fn session(prompt: &str) -> Session {
    Session::new(Size::DEFAULT, prompt)
}

#[test]
fn what_is_typed_in_a_line_that_echoes_is_seen_at_once_and_as_the_kernel_shows_it() {
    let mut session = session("> ");
    session.prove();
    for (typed, row) in [
        ("a", "> a"),
        ("bc", "> abc"),
        ("\x7f", "> ab"),
        (" de\x17", "> ab"),
        ("\x01", "> ab ^A"),
        ("\x7f", "> ab"),
        ("日本", "> ab 日本"),
    ] {
        assert_eq!(session.types(typed), row, "{typed:?}");
    }
    assert_eq!(session.types("\r"), "");
    assert_eq!((session.cursor(), session.shown.row_text(0)), ((1, 0), "> ab 日本".into()));
    assert_eq!(session.types("y"), "", "what is behind a line waits for its answer");
}

#[test]
fn nothing_is_seen_of_a_line_before_its_first_echo_however_long_the_prompt_stands() {
    for prompt in ["> ", ""] {
        let mut session = session("");
        session.print("\r\n");
        session.print(prompt);
        for key in ["a", "b"] {
            session.wait(LONG);
            assert_eq!(session.types(key), prompt.trim(), "{prompt:?}");
        }
        assert_eq!(session.deliver(), format!("{prompt}ab"));
        assert_eq!(session.types("c"), format!("{prompt}abc"));
    }
}

#[test]
fn what_is_typed_behind_a_line_is_seen_once_some_of_it_was_echoed() {
    let mut session = session("> ");
    session.prove();
    session.types("one\r");
    assert_eq!(session.types("tw"), "");
    session.deliver();
    session.print("answer\r\n> ");
    assert_eq!(session.look(), ">", "some may be on the screen already");
    assert_eq!(session.acknowledge(), ">");
    assert_eq!(session.types("o"), ">", "nothing of this line was echoed");
    assert_eq!(session.deliver(), "> two");
    assert_eq!(session.deliver(), "> two");
    assert_eq!(session.types("!"), "> two!");
}

#[test]
fn a_secret_is_seen_neither_when_typed_ahead_nor_at_its_prompt() {
    let mut session = session("$ ");
    session.types("login\r");
    session.types("jj");
    session.deliver();
    // The state before the program has come so far as to end the echo.
    assert_eq!(session.acknowledge(), "");
    session.cooked.handle_tty(Some(SECRET));
    session.host.write(b"Password: ");
    for _ in 0..3 {
        assert_eq!(session.receive(), "Password:");
        assert_eq!(session.types("jj"), "Password:");
        session.wait(LONG);
    }
    session.types("\r");
    session.kernel = Discipline::new(SECRET);
    session.delivered = session.inputs.len();
    session.cooked.handle_tty(Some(Tty::USUAL));
    assert_eq!(session.print("\r\nwelcome\r\n$ "), "$");
    assert_eq!(session.types("x"), "$", "what was typed before may still be on its way to it");
    assert_eq!(session.acknowledge(), "$");
}

#[test]
fn an_echo_at_a_prompt_for_a_secret_is_believed_when_it_is_seen() {
    let mut session = session("Password: ");
    session.wait(LONG);
    assert_eq!(session.types("j"), "Password:");
    assert_eq!(session.deliver(), "Password: j");
    assert_eq!(session.types("k"), "Password: jk");
}

#[test]
fn output_between_the_keys_takes_them_off_the_screen_until_they_are_acknowledged() {
    let mut session = session("> ");
    session.types("ab");
    session.deliver();
    session.types("cd");
    session.host.write(b"\r\nnews\r\n> ");
    session.deliver();
    assert_eq!(session.look(), "> cd");
    session.types("e");
    assert_eq!(session.look(), "> cd", "nobody knows yet how much of it is there");
    session.acknowledge();
    assert_eq!(session.types("f"), "> cd", "the prompt is new");
    session.deliver();
    assert_eq!(session.look(), "> cdef");
}

#[test]
fn lines_wrap_and_the_screen_scrolls() {
    let mut session = Session::new(Size::new(4, 2).unwrap(), "> ");
    session.prove();
    session.types("abc");
    assert_eq!((session.shown.row_text(0), session.shown.row_text(1)), ("> ab".into(), "c".into()));
    session.types("defg");
    assert_eq!((session.shown.row_text(0), session.shown.row_text(1)), ("cdef".into(), "g".into()));
    session.deliver();
    session.deliver();
    assert_eq!(session.cursor(), (1, 1));
    // Where the last column was reached before, only the terminal that was followed knows of the wrap.
    session.types("hij");
    session.deliver();
    session.types("k");
    assert_eq!((session.shown.row_text(0), session.shown.row_text(1)), ("ghij".into(), "k".into()));
}

#[test]
fn keys_that_a_line_editor_took_are_no_part_of_the_kernels_line() {
    let mut session = session("$ ");
    session.cooked.handle_tty(Some(RAW));
    session.types("ca");
    session.host.write(b"ca");
    session.delivered = 1;
    session.receive();
    session.cooked.handle_tty(Some(Tty::USUAL));
    session.print("\r\n> ");
    session.acknowledge();
    session.wait(LONG);
    session.kernel = Discipline::new(Tty::USUAL);
    session.kernel.type_byte(b'\n', &mut Vec::new());
    assert_eq!(session.types("\x7f"), ">", "the kernel's line is not known");
    session.deliver();
    session.acknowledge();
    session.types("q");
    session.deliver();
    assert_eq!(session.types("\x7f"), ">");
    assert_eq!(session.types("x"), "> x");
    assert_eq!(session.types("\x7f"), ">");
    assert_eq!(session.types("\x7f\x7f"), ">");
}

#[test]
fn a_flood_of_keys_is_not_predicted() {
    let mut session = session("> ");
    session.prove();
    let flood = "x".repeat(BYTES_MAX - 1);
    session.types(&flood);
    assert_eq!(session.types("y").chars().last(), Some('y'));
    assert_eq!(session.types("z"), ">");
    assert_eq!(session.cooked.typed.len(), 0);
    for _ in 0..3 {
        session.deliver();
    }
    session.acknowledge();
    session.types("v");
    session.deliver();
    assert_eq!(session.types("!").chars().last(), Some('!'));
}

#[test]
fn a_state_of_the_terminal_that_is_not_told_is_nothing_to_predict_from() {
    for tty in [None, Some(RAW)] {
        let mut session = session("> ");
        session.cooked.handle_tty(tty);
        let screen = session.host.snapshot();
        session.types("x");
        assert!(session.cooked.frame(session.now, &screen, &mut session.policy).is_none());
    }
}

/// What happens in a session.
#[derive(Clone, Debug)]
enum Happening {
    Types(&'static str),
    Delivers,
    Acknowledges,
    Waits(u64),
}

fn any_happening() -> impl Strategy<Value = Happening> {
    let typed = vec![
        "a", "bc ", "日", "é", "\x7f", "\x7f\x7f", "\x17", "\x15", "\t", "\x01", "\x16\x03", "\r",
        "0123456",
    ];
    prop_oneof![
        4 => prop::sample::select(typed).prop_map(Happening::Types),
        3 => Just(Happening::Delivers),
        1 => Just(Happening::Acknowledges),
        1 => (0..400_u64).prop_map(Happening::Waits),
    ]
}

proptest! {
    #[test]
    fn what_is_seen_is_what_the_host_will_show(happenings in prop::collection::vec(any_happening(), 0..60)) {
        let size = Size::new(10, 4).unwrap();
        let mut session = Session::new(size, "> ");
        let mut future = Session::new(size, "> ");
        // Every picture that the host goes through, one for each byte.
        let mut pictures = vec![future.host.snapshot()];
        for happening in happenings {
            match happening {
                Happening::Types(text) => {
                    for byte in text.bytes() {
                        play(&mut future.host, &mut future.kernel, byte);
                        pictures.push(future.host.snapshot());
                    }
                    session.types(text);
                }
                Happening::Delivers if session.delivered < session.inputs.len() => {
                    session.deliver();
                }
                Happening::Delivers => {}
                Happening::Acknowledges => {
                    session.acknowledge();
                }
                Happening::Waits(millis) => session.wait(millis),
            }
            let shown = session.shown.clone();
            let bare = |screen: &Screen| (0..4).map(|row| screen.row_text(row)).collect::<Vec<_>>();
            let is_future = pictures.iter().any(|picture| {
                bare(picture) == bare(&shown) && picture.cursor() == shown.cursor()
            });
            prop_assert!(is_future, "{:?}", bare(&shown));
        }
        while session.delivered < session.inputs.len() {
            session.deliver();
        }
        session.acknowledge();
        prop_assert!(agrees(&session.shown, pictures.last().expect("the first")));
        prop_assert!(!session.cooked.is_active());
    }
}
