//! Properties of drawing, tested with random programs at random sizes.

use std::sync::Arc;

use proptest::prelude::*;

use super::line::is_settled;
use super::sgr::Rendition;
use super::{Functions, Repertoire, Vocabulary, diff};
use crate::cluster_widths::ClusterWidths;
use crate::renderer::{AlternateScreen, OscSupport, Renderer, TerminalCapabilities};
use crate::screen::cell::{Cell, Color};
use crate::screen::decoration::{Decoration, Decorations};
use crate::screen::mode::{MouseEncoding, RichModes};
use crate::screen::row::Row;
use crate::screen::{Screen, Size};
use crate::terminal::Terminal;
use crate::user_terminal::UserTerminal;

/// The number of random cases for each property. Chosen: all properties together take a few seconds.
const CASES: u32 = 400;

/// Generates a piece of text or a sequence that a program may write.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-z ]{1,12}",
        2 => "[a-z]{20,60}",
        2 => prop::sample::select(vec!["\u{4e00}", "\u{4e8c}\u{4e09}", "\u{e9}", "\u{2500}\u{2500}", "\u{ad}"])
            .prop_map(str::to_owned),
        1 => prop::sample::select(vec![
            "\u{1f600}", "\u{301}", "e\u{301}", "a\u{200b}", "\u{2764}\u{fe0f}", "\u{1f468}\u{200d}\u{1f469}",
            "\u{1f1e9}\u{1f1ea}", "\u{4e00}\u{302}\u{303}", "1\u{fe0f}\u{20e3}",
        ])
        .prop_map(str::to_owned),
        3 => prop::sample::select(vec!["\r\n", "\n", "\r", "\x08", "\t", "\x1bM", "\r\n\r\n", "\x07"])
            .prop_map(str::to_owned),
        3 => (1_u16..45, 1_u16..110).prop_map(|(row, column)| format!("\x1b[{row};{column}H")),
        2 => (1_u16..6, prop::sample::select(vec!["A", "B", "C", "D", "@", "P", "L", "M", "S", "T", "X"]))
            .prop_map(|(count, last)| format!("\x1b[{count}{last}")),
        2 => (0_u16..3, prop::sample::select(vec!["J", "K"])).prop_map(|(what, last)| format!("\x1b[{what}{last}")),
        4 => prop::collection::vec(
            prop::sample::select(vec![
                "0", "1", "3", "4", "5", "7", "8", "22", "24", "27", "31", "42", "39", "49", "97", "103",
                "38;5;200", "48;5;17", "38;5;1", "48;5;9", "38;2;1;2;3", "48;2;9;8;7", "2", "9", "21", "53", "29", "55", "4:3", "4:5",
                "58:5:9", "58:2::1:2:3", "59",
            ]),
            0..4,
        )
        .prop_map(|codes| format!("\x1b[{}m", codes.join(";"))),
        1 => (1_u16..20, 1_u16..40).prop_map(|(top, bottom)| format!("\x1b[{top};{bottom}r")),
        1 => (1_u16..20, 1_u16..60).prop_map(|(left, right)| format!("\x1b[?69h\x1b[{left};{right}s")),
        1 => prop::sample::select(vec![
            "\x1b[2 @", "\x1b[ A", "\x1b['}", "\x1b[2'~", "\x1b6", "\x1b9", "\x1b[?69l", "\x1b[2;3;4;9$z",
            "\x1b[88;1;2;3;9$x", "\x1b[1;2;3;9;1;2;4;1$v",
        ])
        .prop_map(str::to_owned),
        1 => prop::sample::select(vec![
            "\x1b[?25l", "\x1b[?25h", "\x1b[?5h", "\x1b[?5l", "\x1b[?7l", "\x1b[?7h", "\x1b[4h", "\x1b[4l",
            "\x1b[?2004h", "\x1b[?2004l", "\x1b[?9h", "\x1b[?1000h", "\x1b[?1002h", "\x1b[?1003l", "\x1b[?1004h",
            "\x1b[?1005h", "\x1b[?1006h", "\x1b[?1015h", "\x1b[?1006l", "\x1b[?1049h", "\x1b[?1049l", "\x1b[r",
            "\x1b#8", "\x1bc", "\x1b[!p", "\x1b[?6h", "\x1b[?6l",
        ])
        .prop_map(str::to_owned),
        1 => prop::sample::select(vec![
            "\x1b[?1h", "\x1b[?1l", "\x1b=", "\x1b>", "\x1b[?66h", "\x1b[4 q", "\x1b[6 q", "\x1b[ q", "\x1b[?1007h",
            "\x1b[?1007l", "\x1b[?1016h", "\x1b[>1u", "\x1b[>31u", "\x1b[<u", "\x1b[=5u", "\x1b[=2;3u", "\x1b[>4;1m",
            "\x1b[>4;2m", "\x1b[>4m", "\x1b[?47h", "\x1b[?47l", "\x1b[?1047h",
        ])
        .prop_map(str::to_owned),
        1 => "[a-z]{0,5}".prop_map(|text| format!("\x1b]2;{text}\x07")),
        1 => "[a-z]{0,5}".prop_map(|text| format!("\x1b]0;{text}\x07")),
        1 => "[a-z]{0,5}".prop_map(|text| format!("\x1b]1;{text}\x07")),
        2 => prop::sample::select(vec![
            "\x1b]8;;http://a.example\x1b\\", "\x1b]8;id=x;http://b.example/c;d\x07", "\x1b]8;;\x07",
        ])
        .prop_map(str::to_owned),
        2 => prop::sample::select(vec![
            "\x1b]4;1;rgb:12/34/56\x07", "\x1b]4;200;#abc;1;#123456\x1b\\", "\x1b]10;#fff;#000;rgb:a/b/c\x07",
            "\x1b]11;#102030\x07", "\x1b]12;#405060\x07", "\x1b]104\x07", "\x1b]104;1\x07", "\x1b]110\x07",
            "\x1b]111\x07", "\x1b]112\x1b\\", "\x1b]7;file://host/a\x07", "\x1b]7;file://host/b%20c\x07", "\x1b]7;\x07",
            "\x1b]9;4;1;50\x07", "\x1b]9;4;2\x07", "\x1b]9;4;3\x07", "\x1b]9;4;0\x07",
        ])
        .prop_map(str::to_owned),
        1 => prop::sample::select(vec!["aGVsbG8=", "YQ==", ""]).prop_map(|text| format!("\x1b]52;c;{text}\x07")),
    ]
}

pub(crate) fn program() -> impl Strategy<Value = String> {
    prop::collection::vec(word(), 0..40).prop_map(|words| words.concat())
}

/// Generates a program whose text occupies the same cells on every terminal.
fn plain_program() -> impl Strategy<Value = String> {
    let settled =
        |c: char| c.is_ascii() || matches!(c, '\u{e9}' | '\u{2500}' | '\u{4e00}'..='\u{9fff}');
    program().prop_map(move |text| text.chars().filter(|&c| settled(c)).collect())
}

pub(crate) fn size() -> impl Strategy<Value = Size> {
    prop_oneof![(1_u16..8, 1_u16..5), (1_u16..=100, 1_u16..=40), Just((20, 6)),]
        .prop_map(|(columns, rows)| Size::clamped(columns, rows))
}

/// Plays a diff from `old` to `new` into `terminal` as a session does, and checks the screen.
fn follow(
    terminal: &mut Terminal,
    old: &Screen,
    new: &Screen,
    vocabulary: Vocabulary,
) -> Result<(), TestCaseError> {
    let bytes = diff(old, new, vocabulary);
    if old.size != new.size {
        terminal.resize(new.size);
    }
    terminal.write(&bytes);
    prop_assert_same(terminal.screen(), &degraded(new, vocabulary), &bytes)
}

/// Returns the part of a screen that the other end can store with this vocabulary.
fn degraded(screen: &Screen, vocabulary: Vocabulary) -> Screen {
    let mut screen = painted(screen, vocabulary.repertoire());
    if vocabulary == Vocabulary::Stock {
        screen.rich = RichModes::default();
        screen.colors = Arc::default();
        screen.directory = "".into();
        screen.progress = None;
        if screen.input.mouse_encoding == MouseEncoding::SgrPixels {
            screen.input.mouse_encoding = MouseEncoding::Sgr;
        }
    }
    screen
}

/// Returns a screen as a terminal with this repertoire displays it.
fn painted(screen: &Screen, repertoire: Repertoire) -> Screen {
    let mut screen = screen.clone();
    if repertoire == Repertoire::STOCK {
        screen.pen = repertoire.pen(screen.pen);
        screen.decoration = Decoration::default();
        for row in &mut screen.rows {
            let row = Arc::make_mut(row);
            row.decorations = Decorations::default();
            row.cells.iter_mut().for_each(|cell| cell.pen = repertoire.pen(cell.pen));
        }
    }
    screen
}

fn vocabulary() -> impl Strategy<Value = Vocabulary> {
    prop::sample::select(vec![Vocabulary::Stock, Vocabulary::Rich])
}

/// Returns a host terminal for programs. The user's terminal has kitty's keyboard and reports the mouse in pixels.
fn host(size: Size) -> Terminal {
    let mut host = Terminal::host(size);
    let able = UserTerminal { kitty_keyboard: true, pixel_mouse: true, ..UserTerminal::default() };
    host.set_user_terminal(able);
    host
}

fn functions() -> impl Strategy<Value = Functions> {
    any::<[bool; 5]>().prop_map(|[ech, bce, vpa, hpa, smkx]| Functions {
        erase_characters: ech,
        background_color_erase: bce,
        absolute_rows: vpa,
        absolute_columns: hpa,
        application_keypad: smkx,
    })
}

/// Generates the capabilities of a user's terminal.
fn capabilities() -> impl Strategy<Value = TerminalCapabilities> {
    let alternate_scroll = prop::sample::select(vec![None, Some(false), Some(true)]);
    (functions(), any::<[bool; 8]>(), alternate_scroll, vocabulary()).prop_map(
        |(
            functions,
            [
                init,
                cursor_styles,
                kitty_keyboard,
                modify_other_keys,
                pixel_mouse,
                frames,
                smcup,
                colors,
            ],
            alternate_scroll,
            vocabulary,
        )| TerminalCapabilities {
            functions,
            repertoire: vocabulary.repertoire(),
            osc: OscSupport { any: true, window: colors, progress: colors },
            title_prefix: String::new(),
            synchronized_output: frames,
            alternate_screen: match smcup {
                true => AlternateScreen::xterm(),
                false => AlternateScreen::default(),
            },
            init,
            scrollback: false,
            cursor_styles,
            kitty_keyboard,
            modify_other_keys,
            pixel_mouse,
            alternate_scroll,
            cluster_widths: ClusterWidths::CODE_POINTS,
        },
    )
}

/// Checks that two screens agree on everything that a diff carries.
fn prop_assert_same(shown: &Screen, wanted: &Screen, bytes: &[u8]) -> Result<(), TestCaseError> {
    let mut wanted = wanted.clone();
    wanted.bells = shown.bells;
    if wanted.clipboard.is_empty() {
        wanted.clipboard = Arc::clone(&shown.clipboard);
    }
    let context = format!("after {:?}", String::from_utf8_lossy(bytes));
    for (row, (a, b)) in shown.rows.iter().zip(&wanted.rows).enumerate() {
        for (column, (a, b)) in a.cells.iter().zip(b.cells.iter()).enumerate() {
            prop_assert_eq!(a, b, "row {} column {} {}", row, column, &context);
        }
        prop_assert_eq!(&a.marks, &b.marks, "row {} {}", row, &context);
        prop_assert_eq!(&a.decorations, &b.decorations, "row {} {}", row, &context);
        if carries_wrap(&wanted, row) {
            prop_assert_eq!(a.wrapped, b.wrapped, "row {} {}", row, &context);
        }
    }
    let rest = |screen: &Screen| {
        let mut rest = screen.clone();
        rest.rows.clear();
        rest
    };
    prop_assert_eq!(rest(shown), rest(&wanted), "{}", &context);
    prop_assert_eq!(diff(shown, &wanted, Vocabulary::Rich), Vec::<u8>::new());
    Ok(())
}

/// Returns whether a diff carries the wrap flag of `row`. The documentation of the parent module lists the exceptions.
fn carries_wrap(wanted: &Screen, row: usize) -> bool {
    let cells = &wanted.rows[row].cells;
    let last = usize::from(wanted.rows[row].last_glyph());
    let bottom = row + 1 == wanted.rows.len();
    let fits = last >= usize::from(cells[0].width()) && wanted.rows.len() >= 3;
    !wanted.rows[row].wrapped || is_settled(&cells[last]) && (fits || !bottom)
}

/// Makes a wrap pending if the cursor of `terminal` is in the last column, by writing this column's character again.
fn press_against_the_margin(terminal: &mut Terminal) {
    let screen = terminal.snapshot();
    let (row, column) = (usize::from(screen.cursor.row), usize::from(screen.cursor.column));
    let cell = screen.rows[row].cells[column];
    if column + 1 != usize::from(screen.size.columns()) || screen.rows[row].wrapped {
        return;
    }
    let Some(base) = cell.base.filter(|_| !cell.combined) else { return };
    let mut bytes = format!("\x1b[{};{}H", row + 1, column + 1).into_bytes();
    if !screen.decoration.is_none() || !screen.rows[row].decorations.is_empty() {
        return;
    }
    let rendition = |pen| Rendition { pen, ..Rendition::default() };
    super::sgr::write_sgr(&mut bytes, rendition(screen.pen), rendition(cell.pen));
    bytes.extend(base.to_string().as_bytes());
    super::sgr::write_sgr(&mut bytes, rendition(cell.pen), rendition(screen.pen));
    terminal.write(&bytes);
    assert_eq!(*terminal.screen(), screen);
}

/// Returns the text and the displayed pen of each cell.
pub(crate) fn look(screen: &Screen) -> Vec<String> {
    screen
        .rows
        .iter()
        .map(|row| {
            let mut text = String::new();
            let mut column = 0;
            while let Some(cell) = row.cells.get(usize::from(column)) {
                // The edge of a replica may hold the left half of a wide character, which is invisible.
                if cell.wide && row.cells.len() == usize::from(column) + 1 {
                    text += &format!(" {:?}{:?}", cell.pen.erased(), Decoration::default());
                    break;
                }
                let base = cell.base.unwrap_or(if cell.combined { '\u{a0}' } else { ' ' });
                let decoration = row.decoration(column);
                text += &format!("{base}{}{:?}{decoration:?}", row.marks(column), cell.pen);
                column += cell.width();
            }
            text
        })
        .collect()
}

/// Returns the text and background of each cell, without the right halves of wide characters.
fn plain_look(screen: &Screen) -> Vec<Vec<(String, Color)>> {
    let row = |row: &Row| {
        let mut right_half = false;
        let cell = |cell: &Cell| {
            let text = cell.base.filter(|&c| c != ' ').map(String::from).unwrap_or_default();
            let half = core::mem::replace(&mut right_half, cell.wide);
            let background = cell.pen.background;
            let background = background.palette_index().map_or(background, Color::Indexed);
            (text, if half { Color::Default } else { background })
        };
        row.cells.iter().map(cell).collect()
    };
    screen.rows.iter().map(|shared| row(shared)).collect()
}

/// Returns the text and background of each cell on another emulator's screen.
fn independent_look(screen: &vt100::Screen) -> Vec<Vec<(String, Color)>> {
    let (rows, columns) = screen.size();
    let (rows, columns) = (rows.get(), columns.get());
    let cell = |row, column| {
        let cell = screen.cell(row, column).expect("within the screen");
        let color = match cell.bgcolor() {
            _ if cell.is_wide_continuation() => Color::Default,
            vt100::Color::Default => Color::Default,
            vt100::Color::Idx(index) => Color::Indexed(index),
            vt100::Color::Rgb(red, green, blue) => Color::Rgb(red, green, blue),
        };
        (cell.contents().trim_end_matches(' ').to_owned(), color)
    };
    (0..rows).map(|row| (0..columns).map(|column| cell(row, column)).collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn a_diff_between_any_two_screens_carries_everything(
        (a, b) in (size(), size()), (one, two) in (program(), program()), same_size: bool,
        vocabulary in vocabulary(),
    ) {
        let mut first = host(a);
        first.write(one.as_bytes());
        let mut second = host(if same_size { a } else { b });
        second.write(two.as_bytes());
        second.write(b"\x1b]2;t\x07"); // a title once set cannot be unset
        let (first, second) = (first.snapshot(), second.snapshot());
        // Every terminal understands a stock diff; only a replica understands the others.
        let mut followers = vec![Terminal::replica(a)];
        if vocabulary == Vocabulary::Stock {
            followers.push(Terminal::host(a));
        }
        for mut replica in followers {
            follow(&mut replica, &Screen::blank(a), &first, vocabulary)?;
            let mut pressed = replica.clone();
            follow(&mut replica, &first, &second, vocabulary)?;
            press_against_the_margin(&mut pressed);
            follow(&mut pressed, &first, &second, vocabulary)?;
        }
    }

    #[test]
    fn a_chain_of_diffs_follows_a_running_program(
        size in size(), resized in prop::option::of(size()), parts in prop::collection::vec(program(), 1..6),
        vocabulary in vocabulary(),
    ) {
        let mut host = host(size);
        let mut replica = Terminal::replica(size);
        let mut last = host.snapshot();
        for (turn, part) in parts.iter().enumerate() {
            if let Some(size) = resized && turn == 2 {
                host.resize(size);
            }
            host.write(part.as_bytes());
            follow(&mut replica, &last, host.screen(), vocabulary)?;
            press_against_the_margin(&mut replica);
            last = host.snapshot();
        }
    }

    #[test]
    fn frames_read_the_same_on_an_independent_terminal(
        size in size(), parts in prop::collection::vec(plain_program(), 1..6), functions in functions(),
    ) {
        let capabilities = TerminalCapabilities { functions, ..TerminalCapabilities::default() };
        let mut host = host(size);
        let mut renderer = Renderer::new(capabilities);
        let known = |length| core::num::NonZeroU16::new(length).expect("a screen is not empty");
        let mut outside = vt100::Parser::new(known(size.rows()), known(size.columns()), 0);
        outside.process(&renderer.open());
        for part in parts {
            host.write(part.as_bytes());
            let bytes = renderer.frame(host.screen());
            outside.process(&bytes);
            prop_assert_eq!(
                independent_look(outside.screen()), plain_look(host.screen()), "{:?}", String::from_utf8_lossy(&bytes)
            );
        }
    }

    #[test]
    fn frames_look_the_same_on_any_terminal(
        size in size(), parts in prop::collection::vec(program(), 1..6), replica: bool,
        capabilities in capabilities(), vocabulary in vocabulary(), cut: prop::sample::Index,
    ) {
        // A stock server's result for a half overwritten wide character must be drawn too.
        let mut inside = if replica { Terminal::replica(size) } else { host(size) };
        let mut outside = host(size);
        // If the terminal's own alternate scroll setting is unknown, it counts as on.
        let is_scrolling = capabilities.alternate_scroll.unwrap_or(true);
        outside.write(if is_scrolling { b"\x1b[?1007h" } else { b"\x1b[?1007l" });
        let mut before = outside.snapshot();
        let mut renderer = Renderer::new(capabilities.clone());
        renderer.follow(vocabulary);
        outside.write(&renderer.open());
        let mut crashed = outside.clone();
        for part in parts {
            inside.write(part.as_bytes());
            let bytes = renderer.frame(inside.screen());
            crashed = outside.clone();
            let text = str::from_utf8(&bytes).expect("frames are UTF-8");
            crashed.write(&bytes[..text.floor_char_boundary(cut.index(text.len() + 1))]);
            outside.write(&bytes);
            let wanted = painted(inside.screen(), capabilities.repertoire);
            prop_assert_eq!(look(outside.screen()), look(&wanted), "{:?}", String::from_utf8_lossy(&bytes));
            prop_assert_eq!(outside.screen().cursor, inside.screen().cursor);
            if capabilities.osc.window {
                prop_assert_eq!(outside.screen().colors(), inside.screen().colors());
                prop_assert_eq!(outside.screen().directory(), inside.screen().directory());
                prop_assert_eq!(outside.screen().progress(), inside.screen().progress());
            }
            prop_assert_eq!(outside.screen().rich, settings(inside.screen(), &capabilities, vocabulary));
            prop_assert!(renderer.frame(inside.screen()).is_empty());
        }
        let place = crashed.screen().cursor.position();
        crashed.write(&capabilities.emergency_closing());
        prop_assert!(capabilities.init || crashed.screen().cursor.position() == place);
        outside.write(&renderer.close());
        prop_assert!(renderer.close().is_empty());
        for terminal in [&mut outside, &mut crashed] {
            terminal.take_replies();
            terminal.write(b"\x1bP$qr\x1b\\");
            let margins = format!("\x1bP1$r1;{}r\x1b\\", size.rows());
            prop_assert_eq!(terminal.take_replies(), margins.into_bytes());
        }
        for (after, is_orderly) in [(&outside, true), (&crashed, false)] {
            let after = after.screen();
            if !is_orderly {
                // The user's own colours are unknown, so no reset restores them.
                before.colors.clone_from(&after.colors);
                before.directory.clone_from(&after.directory);
                before.progress = after.progress;
            }
            before.rows.clone_from(&after.rows);
            before.cursor.row = after.cursor.row;
            before.cursor.column = after.cursor.column;
            before.bells = after.bells;
            (before.titles.title, before.titles.icon_name) = (after.titles.title.clone(), after.titles.icon_name.clone());
            before.clipboard = after.clipboard.clone();
            prop_assert_eq!(after, &before);
        }
    }
}

/// Returns the settings of the terminal after a frame, computed independently of the renderer.
fn settings(
    frame: &Screen,
    capabilities: &TerminalCapabilities,
    vocabulary: Vocabulary,
) -> RichModes {
    let has_screens = !capabilities.alternate_screen.enter.is_empty();
    let own_scroll = capabilities.alternate_scroll.unwrap_or(true);
    let mut settings = RichModes {
        application_cursor_keys: true,
        alternate_screen: capabilities.init && has_screens,
        alternate_scroll: Some(own_scroll),
        ..RichModes::default()
    };
    if vocabulary == Vocabulary::Stock {
        return settings;
    }
    settings.application_cursor_keys = frame.rich.application_cursor_keys;
    settings.application_keypad =
        capabilities.functions.application_keypad && frame.rich.application_keypad;
    if capabilities.init && !frame.rich.alternate_screen {
        settings.alternate_scroll = Some(false);
    } else if let (true, Some(asked)) = (capabilities.init, frame.rich.alternate_scroll) {
        settings.alternate_scroll = Some(asked);
    }
    if !capabilities.init && has_screens {
        settings.alternate_screen = frame.rich.alternate_screen;
    }
    if capabilities.cursor_styles {
        settings.cursor_style = frame.rich.cursor_style;
    }
    if capabilities.kitty_keyboard {
        settings.kitty_keyboard = frame.rich.kitty_keyboard;
    }
    if capabilities.modify_other_keys {
        settings.modify_other_keys = frame.rich.modify_other_keys;
    }
    settings
}
