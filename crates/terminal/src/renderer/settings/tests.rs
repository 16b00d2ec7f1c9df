use crate::display::{Functions, Vocabulary};
use crate::renderer::{AlternateScreen, Renderer, TerminalCapabilities};
use crate::{Size, Terminal, UserTerminal};

/// A terminal with all capabilities, on the alternate screen.
fn able() -> TerminalCapabilities {
    TerminalCapabilities {
        functions: Functions::ALL,
        alternate_screen: AlternateScreen {
            enter: b"<enter>".to_vec(),
            leave: b"<leave>".to_vec(),
        },
        init: true,
        cursor_styles: true,
        kitty_keyboard: true,
        modify_other_keys: true,
        pixel_mouse: true,
        ..TerminalCapabilities::default()
    }
}

/// A program at the far end, and a user's terminal that performs the bytes of its frames.
struct Session {
    host: Terminal,
    renderer: Renderer,
}

impl Session {
    fn begin(capabilities: TerminalCapabilities, vocabulary: Vocabulary) -> Self {
        let mut host = Terminal::host(Size::clamped(8, 2));
        host.set_user_terminal(UserTerminal {
            kitty_keyboard: true,
            pixel_mouse: true,
            ..UserTerminal::default()
        });
        let mut renderer = Renderer::new(capabilities);
        renderer.follow(vocabulary);
        renderer.open();
        renderer.frame(host.screen());
        Self { host, renderer }
    }

    /// Returns the bytes of the frame after the program has written `input`.
    fn after(&mut self, input: &str) -> String {
        self.host.write(input.as_bytes());
        let frame = self.renderer.frame(self.host.screen());
        assert_eq!(self.renderer.frame(self.host.screen()), b"", "nothing is left to write");
        readable(&frame)
    }

    fn repainted(&mut self) -> String {
        self.renderer.invalidate();
        self.after("")
    }

    fn closed(&mut self) -> String {
        readable(&self.renderer.close())
    }

    fn opened(&mut self) -> String {
        readable(&self.renderer.open()) + &self.after("")
    }
}

fn readable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\x1b', "^")
}

/// For each mode: the program's sequences that set and reset it, and the renderer's bytes for each. Then follow the
/// bytes of a repaint or resumed session, and the bytes that restore the mode.
const MODES: [[&str; 6]; 8] = [
    ["\x1b[6 q", "\x1b[0 q", "^[6 q", "^[0 q", "^[6 q", "^[0 q"],
    ["\x1b[?1h", "\x1b[?1l", "^[?1h", "^[?1l", "^[?1h", "^[?1l"],
    ["\x1b=", "\x1b>", "^=", "^>", "^=", "^>"],
    ["\x1b[?1049h", "\x1b[?1049l", "^[?1007h", "^[?1007l", "^[?1007h", "^[?1007h"],
    ["\x1b[>4;2m", "\x1b[>4m", "^[>4;2m", "^[>4m", "^[>4;2m", "^[>4m"],
    ["\x1b[>5u", "\x1b[<u", "^[>0u^[=5;1u", "^[=0;1u", "^[=5;1u", "^[<u"],
    ["\x1b[?1016h", "\x1b[?1016l", "^[?1016h", "^[?1016l", "^[?1016h", "^[?1016l"],
    ["\x1b[?1006h", "\x1b[?1006l", "^[?1006h", "^[?1006l", "^[?1006h", "^[?1006l"],
];

#[test]
fn a_mode_follows_the_program_and_is_given_back() {
    for [set, reset, on, off, again, back] in MODES {
        let mut session = Session::begin(able(), Vocabulary::Rich);
        assert_eq!(session.after(set), on, "{set:?}");
        assert!(session.repainted().contains(again), "{set:?}");
        let closed = session.closed();
        assert!(closed.contains(back) && closed.ends_with("<leave>"), "{set:?}: {closed}");
        let opened = session.opened();
        assert!(opened.starts_with("<enter>") && opened.contains(on), "{set:?}: {opened}");
        assert_eq!(session.after(reset), off, "{set:?}");
        assert_eq!(session.after(set).replace("^[>0u", ""), on.replace("^[>0u", ""), "{set:?}");
    }
}

#[test]
fn settings_that_are_unknown_or_never_asked_for_are_never_sent() {
    let unable = TerminalCapabilities { init: true, ..TerminalCapabilities::default() };
    let all = MODES.map(|[set, ..]| set).concat();
    let mut session = Session::begin(unable, Vocabulary::Rich);
    let written = session.after(&all) + &session.repainted() + &session.closed();
    for absent in [" q", "u", "[>", "1016h"] {
        assert!(!written.contains(absent), "{absent} in {written}");
    }
    let mut session = Session::begin(able(), Vocabulary::Rich);
    let written = session.after("x") + &session.repainted() + &session.closed();
    for absent in [" q", "u", "[>"] {
        assert!(!written.contains(absent), "{absent} in {written}");
    }
}

#[test]
fn the_terminal_of_a_stock_servers_session_sends_cursor_keys_in_application_form() {
    for input in MODES.map(|[set, ..]| set) {
        let mut session = Session::begin(able(), Vocabulary::Stock);
        let frame = session.after(input);
        assert!(frame.is_empty() || input.contains("100") || input.contains("101"), "{frame}");
        let repainted = session.repainted();
        assert!(repainted.contains("^[?1h^>"), "{repainted}");
        assert!(session.closed().contains("^[?1l^>"));
    }
    // After the client has found out that the server is rove's, the setting follows the program.
    let mut session = Session::begin(able(), Vocabulary::Stock);
    session.renderer.follow(Vocabulary::Rich);
    assert_eq!(session.after(""), "^[?1l^[?1007l");
}

#[test]
fn the_wheel_is_the_terminals_own_only_while_a_program_has_the_alternate_screen() {
    for (own, program, primary, alternate, closed) in [
        (None, "", "l", "h", "h"),
        (Some(true), "", "l", "h", "h"),
        (Some(false), "", "l", "l", "l"),
        (Some(true), "\x1b[?1007l", "l", "l", "h"),
        (Some(false), "\x1b[?1007h", "l", "h", "l"),
    ] {
        let capabilities = TerminalCapabilities { alternate_scroll: own, ..able() };
        let mut session = Session::begin(capabilities, Vocabulary::Rich);
        session.after(program);
        let name = format!("{own:?} {program:?}");
        assert!(session.repainted().contains(&format!("^[?1007{primary}")), "{name}");
        session.after("\x1b[?1049h");
        assert!(session.repainted().contains(&format!("^[?1007{alternate}")), "{name}");
        assert!(session.closed().contains(&format!("^[?1007{closed}")), "{name}");
    }
}

#[test]
fn without_init_the_terminal_goes_to_its_alternate_screen_with_the_program() {
    let mut session =
        Session::begin(TerminalCapabilities { init: false, ..able() }, Vocabulary::Rich);
    assert_eq!(session.after("\x1b[>1u$ "), "^[>0u^[=1;1u$ ");
    let entered = session.after("\x1b[?1049hvi");
    assert!(entered.starts_with("^[<u^[m<enter>"), "{entered}");
    assert!(entered.ends_with("^[2J^[2Cvi^[?25h"), "{entered}");
    assert_eq!(session.after("\x1b[=4u"), "^[>0u^[=4;1u");
    let left = session.after("\x1b[?1049l");
    assert!(left.starts_with("^[<u^[m<leave>"), "{left}");
    assert!(left.contains("^[>0u^[=1;1u") && left.ends_with("^[2J$ ^[?25h"), "{left}");
    assert!(!(entered + &left).contains("1007"));
    assert!(!session.closed().ends_with("<leave>"));

    session.opened();
    session.after("\x1b[?1049h");
    let closed = session.closed();
    assert!(closed.ends_with("<leave>") && !closed.contains("1007"), "{closed}");
    assert!(session.opened().contains("<enter>"), "the program is still there");
    let no_screens = TerminalCapabilities {
        init: false,
        alternate_screen: AlternateScreen::default(),
        ..able()
    };
    let mut session = Session::begin(no_screens, Vocabulary::Rich);
    assert_eq!(session.after("\x1b[?1049h"), "", "a terminal without an alternate screen");
}

#[test]
fn abilities_learned_late_take_effect_with_the_next_frame() {
    let unknown = TerminalCapabilities { kitty_keyboard: false, pixel_mouse: false, ..able() };
    let mut session = Session::begin(unknown, Vocabulary::Rich);
    assert_eq!(session.after("\x1b[>5u\x1b[?1016h"), "^[?1006h");
    session.renderer.learn(|capabilities| capabilities.kitty_keyboard = true);
    assert_eq!(session.after(""), "^[>0u^[=5;1u");
    session.renderer.learn(|capabilities| capabilities.pixel_mouse = true);
    assert!(session.after("").contains("^[?1016h"));
}

#[test]
fn an_unforeseen_end_gives_back_what_a_session_may_have_changed() {
    let closing = readable(&able().emergency_closing());
    for back in ["^[<u", "^[>4m", "^[0 q", "^[?1l", "^>", "^[?1016l", "^[?1007h<leave>"] {
        assert!(closing.contains(back), "{back} in {closing}");
    }
    let closing = readable(&TerminalCapabilities { init: false, ..able() }.emergency_closing());
    assert!(closing.ends_with("^[?1047l") && !closing.contains("1007"), "{closing}");
    let closing = readable(&TerminalCapabilities::default().emergency_closing());
    for foreign in [" q", "u", "[>", "1047"] {
        assert!(!closing.contains(foreign), "{foreign} in {closing}");
    }
}
