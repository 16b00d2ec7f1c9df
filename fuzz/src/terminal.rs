//! The terminal: bytes that become a screen, and diffs of screens that become bytes.

use rove_session::HostScreen;
use rove_ssp::Object;
use rove_terminal::display::{self, Functions, Repertoire, Vocabulary};
use rove_terminal::{
    AlternateScreen, OscSupport, Renderer, Screen, Terminal, TerminalCapabilities,
};

use crate::script::{Script, Step, take_size};

/// Output that makes hidden state of a terminal visible.
const PROBE: &[u8] = "x一\r\n\ty\x1b8z\x1b[6n".as_bytes();

/// Any bytes must give the same screen, at any size and cut at any places.
pub fn takes_anything(data: &[u8]) {
    let [flags, data @ ..] = data else { return };
    let (size, data) = take_size(data);
    let fresh = if flags & 1 == 0 { Terminal::host(size) } else { Terminal::replica(size) };
    let (mut whole, mut pieces) = (fresh.clone(), fresh);
    let mut looks = Vec::new();
    for step in Script(data) {
        match step {
            Step::Write(bytes) => {
                whole.write(bytes);
                bytes.chunks(usize::from(flags >> 1) + 1).for_each(|piece| pieces.write(piece));
            }
            Step::Resize(size) => {
                whole.resize(size);
                pieces.resize(size);
            }
            Step::Look if looks.len() < 4 => looks.push(whole.snapshot()),
            Step::Look => {}
        }
    }
    for terminal in [&mut whole, &mut pieces] {
        terminal.ground();
        terminal.write(PROBE);
    }
    assert!(whole.screen() == pieces.screen(), "the cuts show");
    assert_eq!(whole.take_replies(), pieces.take_replies());
}

/// A replica that executes the diffs must have the same screen as the host, also after resizes.
pub fn diffs_carry_everything(data: &[u8]) {
    let (size, data) = take_size(data);
    let mut host = Terminal::host(size);
    let mut replica = Terminal::replica(size);
    let mut shown = host.snapshot();
    for step in Script(data).chain([Step::Look]) {
        match step {
            Step::Write(bytes) => host.write(bytes),
            Step::Resize(size) => host.resize(size),
            Step::Look => {
                let bytes = display::diff(&shown, host.screen(), Vocabulary::Clusters);
                if shown.size() != host.screen().size() {
                    replica.resize(host.screen().size());
                }
                replica.write(&bytes);
                assert_same(replica.screen(), host.screen(), Vocabulary::Clusters);
                shown = host.snapshot();
                assert!(display::diff(&shown, host.screen(), Vocabulary::Clusters).is_empty());
            }
        }
    }
}

/// Sets the hidden state that a diff assumes: soft reset, autowrap, line feeds that keep the column, and no margins.
const HIDDEN_STATE_RESET: &[u8] = b"\x1b[!p\x1b[?7h\x1b[20l\x1b[r";

/// A diff from any screen, even with halves of wide characters, must lead to the wanted screen.
pub fn any_base_will_do(data: &[u8]) {
    let [flags, data @ ..] = data else { return };
    let vocabulary = match flags & 3 {
        0 => Vocabulary::Rich,
        2 => Vocabulary::Clusters,
        _ => Vocabulary::Stock,
    };
    let (base, wanted) = data.split_at(data.len() * usize::from(*flags) / 256);
    let (size, base) = take_size(base);
    let mut replica = played(Terminal::replica(size), base);
    replica.ground();
    replica.write(HIDDEN_STATE_RESET);
    let (size, wanted) = take_size(wanted);
    let mut host = played(Terminal::host(size), wanted);
    // The wanted screen has a title, because a title can be changed but not removed.
    host.ground();
    host.write(b"\x1b[>0T\x1b]0;\x07");
    let shown = replica.snapshot();
    let bytes = display::diff(&shown, host.screen(), vocabulary);
    if shown.size() != host.screen().size() {
        replica.resize(host.screen().size());
    }
    replica.write(&bytes);
    if vocabulary != Vocabulary::Stock {
        assert_same(replica.screen(), host.screen(), vocabulary);
    } else {
        for row in 0..host.screen().size().rows() {
            assert_eq!(replica.screen().row_text(row), host.screen().row_text(row), "row {row}");
        }
    }
}

fn played(mut terminal: Terminal, script: &[u8]) -> Terminal {
    for step in Script(script) {
        match step {
            Step::Write(bytes) => terminal.write(bytes),
            Step::Resize(size) => terminal.resize(size),
            Step::Look => {}
        }
    }
    terminal
}

/// Panics unless both screens have the same content. Wrap flags are not compared, because they have exceptions.
fn assert_same(shown: &Screen, wanted: &Screen, vocabulary: Vocabulary) {
    assert_eq!(shown.size(), wanted.size());
    assert_eq!(shown.cursor(), wanted.cursor());
    assert_eq!(shown.pen(), wanted.pen());
    assert_eq!(shown.reverse_video(), wanted.reverse_video());
    assert_eq!(shown.input_modes().bracketed_paste, wanted.input_modes().bracketed_paste);
    assert_eq!(shown.input_modes().focus_reporting, wanted.input_modes().focus_reporting);
    assert_eq!(shown.input_modes().mouse_reporting, wanted.input_modes().mouse_reporting);
    assert_eq!(shown.input_modes().mouse_encoding, wanted.input_modes().mouse_encoding);
    assert_eq!(shown.rich_modes(), wanted.rich_modes());
    assert_eq!(shown.decoration(), wanted.decoration());
    assert_eq!(shown.colors(), wanted.colors());
    assert_eq!(shown.directory(), wanted.directory());
    assert_eq!(shown.progress(), wanted.progress());
    if vocabulary == Vocabulary::Clusters {
        assert_eq!(shown.cluster_widths(), wanted.cluster_widths());
    }
    assert_eq!(shown.title(), wanted.title());
    assert_eq!(shown.icon_name(), wanted.icon_name());
    assert_eq!(shown.clipboard(), wanted.clipboard());
    assert_same_rows(shown, wanted);
}

fn assert_same_rows(shown: &Screen, wanted: &Screen) {
    for row in 0..wanted.size().rows() {
        let (a, b) = (shown.row(row).expect("a row"), wanted.row(row).expect("a row"));
        if a == b {
            continue;
        }
        assert_eq!(a.cells(), b.cells(), "row {row}");
        for column in 0..wanted.size().columns() {
            assert_eq!(a.marks(column), b.marks(column), "row {row} column {column}");
            assert_eq!(a.decoration(column), b.decoration(column), "row {row} column {column}");
        }
    }
}

/// Checks that the renderer shows any server's screen with our own sequences. The terminal must then show the same.
pub fn frames_are_clean(data: &[u8]) {
    let [flags, data @ ..] = data else { return };
    let flag = |bit: u8| flags >> bit & 1 == 1;
    let (size, data) = take_size(data);
    let capabilities = TerminalCapabilities {
        functions: Functions {
            erase_characters: flag(0),
            background_color_erase: flag(1),
            ..Functions::ALL
        },
        osc: OscSupport { window: flag(2), ..OscSupport::default() },
        title_prefix: if flag(3) { "[rove] ".to_owned() } else { String::new() },
        synchronized_output: flag(4),
        repertoire: if flag(6) { Repertoire::FULL } else { Repertoire::STOCK },
        init: flag(7),
        alternate_screen: AlternateScreen::xterm(),
        cursor_styles: flag(0),
        kitty_keyboard: flag(1),
        modify_other_keys: flag(2),
        pixel_mouse: flag(3),
        alternate_scroll: Some(flag(4)),
        scrollback: flag(4) && !flag(7),
        ..TerminalCapabilities::default()
    };
    let mut host = if flag(5) { Terminal::host(size) } else { Terminal::replica(size) };
    let feeds = capabilities.scrollback && flag(6);
    let mut renderer = Renderer::new(capabilities);
    if flag(6) {
        renderer.follow(Vocabulary::Rich);
    }
    if feeds {
        renderer.follow_scrollback();
        host.keep_scrollback();
    }
    let mut outside = Terminal::host(size);
    outside.write(&renderer.open());
    for step in Script(data).chain([Step::Look]) {
        match step {
            Step::Write(bytes) => host.write(bytes),
            Step::Resize(size) => {
                host.resize(size);
                outside.resize(size);
                renderer.invalidate();
            }
            Step::Look => {
                let mut lines = Vec::new();
                while renderer.takes_lines(host.screen())
                    && let Some((_, line)) = host.take_scrollback_line()
                {
                    lines.push(line);
                }
                let frame = renderer.frame_below(&lines, host.screen());
                assert_clean(&frame);
                outside.write(&frame);
                let (ours, theirs) = (outside.screen(), host.screen());
                assert_eq!(ours.cursor(), theirs.cursor());
                // A replica may have half of a wide character, which is invisible.
                for row in 0..if flag(5) { size_rows(theirs) } else { 0 } {
                    assert_eq!(ours.row_text(row), theirs.row_text(row), "row {row}");
                }
                assert!(renderer.frame(host.screen()).is_empty(), "nothing is left to draw");
            }
        }
    }
    assert_clean(&renderer.close());
    // A client may also get any bytes as the diff of a server.
    let _ = HostScreen::replica(size).apply(data);
}

fn size_rows(screen: &Screen) -> u16 {
    screen.size().rows()
}

/// Panics unless `bytes` are UTF-8 text, controls that we use, and complete sequences of kinds that we use.
fn assert_clean(bytes: &[u8]) {
    let text = core::str::from_utf8(bytes).expect("UTF-8");
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\r' | '\n' | '\x08' | '\x07' | '\x0f' | '\t' => {}
            '\x1b' => match chars.next() {
                Some('[') => {
                    let last = chars.find(|c| !matches!(c, ' '..='?')).expect("a whole sequence");
                    assert!(matches!(last, '@'..='~'), "{last:?} ends a sequence");
                }
                Some(']') => {
                    let last = chars.find(|c| c.is_control()).expect("a whole string");
                    let ended = last == '\x07' || last == '\x1b' && chars.next() == Some('\\');
                    assert!(ended, "{last:?} in a string");
                }
                // Selects ASCII, whatever character set was selected before.
                Some('(') => assert_eq!(chars.next(), Some('B')),
                Some('M' | '=' | '>') => {}
                other => panic!("ESC {other:?}"),
            },
            c => assert!(!c.is_control(), "{c:?} as text"),
        }
    }
}
