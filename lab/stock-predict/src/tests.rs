use proptest::prelude::*;
use rove_predict::Preference;
use rove_terminal::display::{self, Vocabulary};
use rove_terminal::{Color, Glyph, Terminal, Underline};

use super::*;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// An engine and a host's screen, with the present time and the number of the newest input.
struct Bench {
    engine: Stock,
    host: Terminal,
    now: Instant,
    sent: u64,
}

impl Bench {
    /// Starts with `printed` on the host's screen and in the newest frame, and with a confirmed first epoch.
    fn new(columns: u16, rows: u16, printed: &str) -> Self {
        Self::with(
            Prediction {
                preference: Preference::Always,
                overwrite: false,
                ..Prediction::default()
            },
            columns,
            rows,
            printed,
        )
    }

    fn with(prediction: Prediction, columns: u16, rows: u16, printed: &str) -> Self {
        let size = Size::new(columns, rows).unwrap();
        let mut bench = Self {
            engine: Stock::new(prediction, size),
            host: Terminal::host(size),
            now: Instant::from_millis(1000),
            sent: 0,
        };
        bench.host.write(printed.as_bytes());
        bench.engine.confirmed = Epoch(1);
        bench.network(0, 40);
        bench.frame();
        bench
    }

    /// Types keys, each in its own read.
    fn type_text(&mut self, keys: &str) {
        for byte in keys.bytes() {
            self.engine.handle_keys(self.now, InputNum::new(self.sent), &[byte]);
            self.sent += 1;
        }
    }

    fn network(&mut self, echo_ack: u64, send_interval: u64) {
        let echo_ack = InputNum::new(echo_ack);
        let send_interval = ms(send_interval);
        self.engine.handle_network(Network {
            echo_ack,
            arrived: echo_ack,
            send_interval,
            srtt: None,
        });
    }

    /// Writes `output` to the host's screen, and acknowledges all keys until now.
    fn answer(&mut self, output: &str) {
        self.host.write(output.as_bytes());
        self.network(self.sent, 40);
    }

    fn frame(&mut self) -> Screen {
        self.engine.frame(self.now, self.host.screen())
    }

    /// Returns the joined rows of the frame, and the position of its cursor.
    fn seen(&mut self) -> (String, (u16, u16)) {
        let frame = self.frame();
        let rows: Vec<String> = (0..frame.size().rows()).map(|row| frame.row_text(row)).collect();
        let cursor = frame.cursor();
        (rows.join("|").trim_end_matches('|').to_owned(), (cursor.row, cursor.column))
    }

    fn underlined(&mut self) -> String {
        let frame = self.frame();
        let cells = frame.row(0).unwrap().cells().iter();
        let is_underlined =
            |cell: &&rove_terminal::Cell| cell.pen.attributes.underline() != Underline::None;
        cells.filter(is_underlined).map(|cell| cell.base.unwrap_or('.')).collect()
    }
}

#[test]
fn each_key_does_what_it_mostly_does_or_makes_what_follows_tentative() {
    for (keys, row, column, is_tentative) in [
        ("x", "abxcd", 3, false),
        ("xy", "abxycd", 4, false),
        ("é", "abécd", 3, false),
        (" ", "ab cd", 3, false),
        ("\x7f", "acd", 1, false),
        ("\x7f\x7f", "cd", 0, false),
        ("\x7f\x7f\x7f", "cd", 0, false),
        ("x\x7f", "abcd", 2, false),
        ("一", "abcd", 2, true),
        ("\u{301}", "abcd", 2, true),
        ("\r", "abcd", 2, true),
        ("\rx", "abcd", 2, true),
        ("x\ry", "abxcd", 3, true),
        ("\t", "abcd", 2, true),
        ("\n", "abcd", 2, true),
        ("\x03", "abcd", 2, true),
        ("\x08", "abcd", 2, true),
        ("\x01x", "abcd", 2, true),
        ("\x1bb", "abcd", 2, true),
        ("\x1b\\", "abcd", 2, true),
        ("\x1b[C", "abcd", 3, false),
        ("\x1bOC", "abcd", 3, false),
        ("\x1b[1;5C", "abcd", 3, false),
        ("\x1b[D", "abcd", 1, false),
        ("\x1bOD\x1b[D\x1b[D", "abcd", 0, false),
        ("\x1b[Dx", "axbcd", 2, false),
        ("\x1b[A", "abcd", 2, true),
        ("\x1b[H", "abcd", 2, true),
        ("\x1b[3~", "abcd", 2, true),
        ("\x1b[I", "abcd", 2, true),
        ("\x1b[200~", "abcd", 2, true),
        ("\x1b[Mabc", "abcd", 2, true),
        ("\x1b]2;x\x07", "abcd", 2, false),
        ("\x1bP+q\u{9c}", "abcd", 2, false),
    ] {
        let mut bench = Bench::new(10, 3, "abcd\x1b[3G");
        bench.type_text(keys);
        assert_eq!(bench.seen(), (row.to_owned(), (0, column)), "{}", keys.escape_debug());
        assert_eq!(bench.engine.epoch > Epoch(1), is_tentative, "{}", keys.escape_debug());
    }
}

#[test]
fn keys_that_replace_leave_the_rest_of_the_line() {
    for (keys, row, column) in [("x", "abxd", 3), ("xyz", "abxyz", 5), ("\x7f", "a cd", 1)] {
        let prediction =
            Prediction { preference: Preference::Always, overwrite: true, ..Prediction::default() };
        let mut bench = Bench::with(prediction, 10, 3, "abcd\x1b[3G");
        bench.type_text(keys);
        assert_eq!(bench.seen(), (row.to_owned(), (0, column)), "{}", keys.escape_debug());
    }
}

#[test]
fn a_replacing_backspace_paints_like_the_cursors_cell_as_stock_does() {
    let prediction =
        Prediction { preference: Preference::Always, overwrite: true, ..Prediction::default() };
    let mut bench = Bench::with(prediction, 10, 3, "ab\x1b[41mc\x1b[md\x1b[3G");
    bench.type_text("\x7f");
    let cell = bench.frame().row(0).unwrap().cells()[1];
    assert_eq!((cell.base, cell.pen.background), (Some(' '), Color::Named(1)));
}

#[test]
fn a_cell_moved_to_the_edge_or_from_beyond_is_unknown() {
    for (keys, row) in [("x", "abxcdf"), ("\x7f", "acdeef"), ("xx", "abxxcf")] {
        let mut bench = Bench::new(6, 2, "abcdef\x1b[3G");
        bench.type_text(keys);
        assert_eq!(bench.seen().0, row, "{}", keys.escape_debug());
    }
}

#[test]
fn the_end_of_a_line_begins_the_next_one_tentatively() {
    let mut bench = Bench::new(4, 3, "ab");
    bench.type_text("xyz");
    assert_eq!(bench.seen(), ("abx".to_owned(), (0, 3)));
    bench.engine.confirmed = Epoch(9);
    assert_eq!(bench.seen(), ("abxy|z".to_owned(), (1, 1)));
}

#[test]
fn enter_on_the_bottom_row_blanks_it_and_scrolls_nothing() {
    let mut bench = Bench::new(4, 2, "ab\r\ncd");
    bench.type_text("\r");
    assert_eq!(bench.seen(), ("ab|cd".to_owned(), (1, 2)));
    bench.engine.confirmed = Epoch(9);
    assert_eq!(bench.seen(), ("ab".to_owned(), (1, 0)));
}

#[test]
fn a_character_is_painted_like_the_one_left_of_it() {
    for (printed, keys, column, color) in [
        ("\x1b[31ma\x1b[m", "x", 1, Color::Named(1)),
        ("\x1b[31ma\x1b[m", "xy", 2, Color::Named(1)),
        ("\x1b[32m", "x", 0, Color::Named(2)),
        ("\x1b[31ma\x1b[mb", "x", 2, Color::Default),
    ] {
        let mut bench = Bench::new(10, 2, printed);
        bench.type_text(keys);
        let cell = bench.frame().row(0).unwrap().cells()[column];
        assert_eq!(cell.pen.foreground, color, "{}", printed.escape_debug());
    }
}

#[test]
fn a_prediction_that_comes_true_paints_those_behind_it() {
    let mut bench = Bench::new(10, 2, "");
    bench.type_text("x");
    bench.network(0, 40);
    let echoed = bench.sent;
    bench.type_text("y");
    bench.host.write(b"\x1b[31mx");
    bench.network(echoed, 40);
    let cell = bench.frame().row(0).unwrap().cells()[1];
    assert_eq!((cell.base, cell.pen.foreground), (Some('y'), Color::Named(1)));
}

#[test]
fn the_first_that_comes_true_shows_all_of_its_epoch() {
    let mut bench = Bench::new(10, 2, "$ ");
    bench.engine.become_tentative();
    bench.type_text("l");
    let echoed = bench.sent;
    bench.type_text("s");
    assert_eq!(bench.seen(), ("$".to_owned(), (0, 2)));
    bench.host.write(b"l");
    bench.network(echoed, 40);
    assert_eq!(bench.seen(), ("$ ls".to_owned(), (0, 4)));
}

#[test]
fn text_that_was_there_before_earns_no_credit() {
    let mut bench = Bench::new(10, 2, "ab\x1b[1G");
    bench.engine.become_tentative();
    bench.type_text("a");
    // The host has only moved its cursor to the right. The letter was on the screen before the key.
    bench.answer("\x1b[2G");
    bench.frame();
    assert_eq!(bench.engine.confirmed, Epoch(1));
}

#[test]
fn a_wrong_guess_that_nobody_saw_costs_its_epoch_and_later_ones() {
    let mut bench = Bench::new(10, 2, "$ ");
    bench.type_text("\tx");
    let answered = bench.sent;
    bench.type_text("\ty");
    bench.host.write(b"q");
    bench.network(answered, 40);
    assert_eq!(bench.seen(), ("$ q".to_owned(), (0, 3)));
    assert!(bench.engine.rows.is_empty(), "all epochs behind the wrong one are gone");
    assert_eq!(bench.engine.cursors.len(), 1, "but for the cursor where it is");
    assert_eq!(bench.engine.poll_timeout(), None, "for which nobody waits");
}

#[test]
fn a_wrong_guess_that_was_seen_drops_everything() {
    let mut bench = Bench::new(10, 2, "$ ");
    bench.type_text("x");
    let answered = bench.sent;
    bench.type_text("yz");
    assert_eq!(bench.seen().0, "$ xyz");
    bench.host.write(b"q");
    bench.network(answered, 40);
    let before = bench.engine.epoch;
    assert_eq!(bench.seen(), ("$ q".to_owned(), (0, 3)));
    assert!(!bench.engine.is_active());
    assert_eq!(bench.engine.epoch, before.next());
}

#[test]
fn a_wrong_cursor_drops_everything() {
    let mut bench = Bench::new(10, 2, "abc");
    bench.type_text("\x1b[D\x1b[D");
    assert_eq!(bench.seen().1, (0, 1));
    bench.answer("\x1b[D");
    assert_eq!(bench.seen().1, (0, 2));
    assert!(!bench.engine.is_active());
}

#[test]
fn an_experiment_shows_at_once_and_loses_what_is_wrong_alone() {
    let prediction = Prediction {
        preference: Preference::Experimental,
        overwrite: false,
        ..Prediction::default()
    };
    let mut bench = Bench::with(prediction, 10, 2, "$ ");
    bench.type_text("\tx");
    let answered = bench.sent;
    bench.type_text("yz");
    assert_eq!(bench.seen().0, "$ xyz");
    bench.host.write(b"q\x1b[41G");
    bench.network(answered, 40);
    assert_eq!(bench.seen().0, "$ qyz");
}

#[test]
fn another_size_drops_everything() {
    let mut bench = Bench::new(10, 3, "$ ");
    bench.type_text("x");
    bench.host.resize(Size::new(10, 2).unwrap());
    assert_eq!(bench.seen().0, "$");
    assert!(!bench.engine.is_active());
}

#[test]
fn a_reset_leaves_nothing_and_no_confidence() {
    let mut bench = Bench::new(10, 3, "$ ");
    bench.type_text("x");
    bench.engine.reset();
    assert_eq!(bench.seen(), ("$".to_owned(), (0, 2)));
    bench.type_text("y");
    assert_eq!(bench.seen().0, "$");
}

#[test]
fn pasted_text_is_not_predicted() {
    for (len, is_predicted) in [(KEYS_MAX, true), (KEYS_MAX + 1, false)] {
        let mut bench = Bench::new(200, 3, "");
        bench.engine.handle_keys(bench.now, InputNum::new(1), &vec![b'x'; len]);
        assert_eq!(bench.engine.is_active(), is_predicted, "{len}");
    }
}

#[test]
fn underlines_mark_what_is_predicted_on_a_slow_path_but_for_blanks_and_the_edge() {
    for (printed, keys, interval, expected) in [
        ("ab\x1b[1G", "x", 80, ""),
        ("ab\x1b[1G", "x", 81, "xab"),
        ("ab\x1b[1G", " ", 81, " ab"),
        ("", " x", 81, "x"),
        ("abcdef\x1b[6G", "x", 81, ""),
    ] {
        let mut bench = Bench::new(6, 2, printed);
        bench.type_text(keys);
        bench.network(0, interval);
        assert_eq!(bench.underlined(), expected, "{printed:?} {keys:?} {interval}");
    }
}

#[test]
fn adaptive_predictions_are_seen_once_one_has_waited_too_long() {
    let mut bench = Bench::with(Prediction::default(), 10, 2, "");
    bench.network(0, 20);
    bench.frame();
    bench.type_text("x");
    assert_eq!(bench.seen().0, "");
    assert_eq!(bench.engine.poll_timeout(), Some(bench.now + ms(250)));
    bench.now += ms(250);
    assert_eq!(bench.seen().0, "x");
    assert_eq!(bench.underlined(), "");
    assert_eq!(bench.engine.poll_timeout(), Some(bench.now + ms(4750)));
    bench.now += ms(4750);
    bench.frame();
    assert_eq!(bench.underlined(), "x");
    assert_eq!(bench.engine.poll_timeout(), None);
}

#[test]
fn half_a_wide_character_is_never_shown() {
    for (keys, row) in [("x", "x一二"), ("xx", "xx一"), ("\x1b[Cx", " x 二")] {
        let mut bench = Bench::new(6, 2, "一二\x1b[1G");
        bench.type_text(keys);
        let frame = bench.frame();
        assert_eq!(glyphs(&replayed(&frame)), glyphs(&frame), "{}", keys.escape_debug());
        assert!(frame.row_text(0).starts_with(row.chars().next().unwrap()), "{row}");
    }
}

#[test]
fn cells_are_kept_up_to_a_limit() {
    let rows = u16::try_from(CELLS_MAX / 4096).unwrap();
    for (typed, is_kept) in [(rows, true), (rows + 1, false)] {
        let mut bench = Bench::new(4096, 20, "");
        (0..typed).for_each(|_| bench.type_text("\rx"));
        assert_eq!(bench.engine.is_active(), is_kept, "{typed}");
    }
}

#[test]
fn cursors_are_kept_up_to_a_limit() {
    for (typed, is_kept) in [(CURSORS_MAX, true), (CURSORS_MAX + 1, false)] {
        let mut bench = Bench::new(10, 2, "");
        (0..typed).for_each(|_| bench.type_text("一"));
        assert_eq!(bench.engine.is_active(), is_kept, "{typed}");
    }
}

/// Returns the screen of a terminal after the diff from a blank screen to `frame`.
fn replayed(frame: &Screen) -> Screen {
    let mut terminal = Terminal::replica(frame.size());
    terminal.write(&display::diff(&Screen::blank(frame.size()), frame, Vocabulary::Rich));
    terminal.snapshot()
}

/// Returns the glyph at each position of a screen.
fn glyphs(screen: &Screen) -> Vec<Glyph> {
    let (columns, rows) = (screen.size().columns(), screen.size().rows());
    let places = (0..rows).flat_map(|row| (0..columns).map(move |column| Position { row, column }));
    places.filter_map(|at| screen.glyph(at)).collect()
}

#[derive(Clone, Debug)]
enum Step {
    Keys(Vec<u8>),
    Output(String),
    Resize(u16, u16),
    Acknowledge(u64, u64),
    Wait(u64),
    Frame,
}

fn step() -> impl Strategy<Value = Step> {
    let keys = prop::sample::select(vec![
        "a", "b", " ", "\x7f", "\r", "\t", "\x1b[C", "\x1bOD", "\x1b[A", "一", "é", "\u{301}",
        "\x1b", "O",
    ]);
    let output = prop::sample::select(vec![
        "a",
        "b",
        "\x08 \x08",
        "\r\n",
        "一",
        "e\u{301}",
        "\x1b[C",
        "\x1b[31m",
        "\x1b[4h",
        "\x1b[2J",
        "\x1b[H",
        "\x1b]8;;https://example.org/\x1b\\x\x1b]8;;\x1b\\",
    ]);
    prop_oneof![
        6 => prop::collection::vec(keys, 1..5).prop_map(|keys| Step::Keys(keys.concat().into())),
        1 => prop::collection::vec(any::<u8>(), 1..120).prop_map(Step::Keys),
        5 => output.prop_map(|output| Step::Output(output.to_owned())),
        1 => (1u16..9, 1u16..4).prop_map(|(columns, rows)| Step::Resize(columns, rows)),
        3 => (0u64..30, 0u64..200).prop_map(|(ack, interval)| Step::Acknowledge(ack, interval)),
        1 => Just(Step::Acknowledge(u64::MAX, 20)),
        3 => (0u64..6000).prop_map(Step::Wait),
        3 => Just(Step::Frame),
    ]
}

fn prediction() -> impl Strategy<Value = Prediction> {
    let preference = prop::sample::select(Preference::ALL.to_vec());
    (preference, any::<bool>()).prop_map(|(preference, overwrite)| Prediction {
        preference,
        overwrite,
        ..Prediction::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// After any actions of host and user, a terminal can show the frame, and memory stays within its bounds. After the
    /// host has answered all input, the frame equals the host's screen.
    #[test]
    fn no_frame_is_broken_and_none_differs_once_everything_is_answered(
        prediction in prediction(),
        columns in 1u16..9,
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut bench = Bench::with(prediction, columns, 3, "");
        for step in steps {
            match step {
                Step::Keys(keys) => {
                    bench.engine.handle_keys(bench.now, InputNum::new(bench.sent), &keys);
                    bench.sent += 1;
                }
                Step::Output(output) => bench.host.write(output.as_bytes()),
                Step::Resize(columns, rows) => bench.host.resize(Size::new(columns, rows).unwrap()),
                Step::Acknowledge(ack, interval) => bench.network(ack, interval),
                Step::Wait(span) => bench.now += ms(span),
                Step::Frame => {
                    let frame = bench.frame();
                    prop_assert_eq!(glyphs(&replayed(&frame)), glyphs(&frame));
                }
            }
            prop_assert!(bench.engine.rows.len() <= 3);
            prop_assert!(bench.engine.cursors.len() <= CURSORS_MAX);
            prop_assert!(bench.engine.poll_timeout().is_none_or(|at| at > bench.engine.looked_at));
        }
        bench.network(bench.sent, 40);
        let frame = bench.frame();
        prop_assert_eq!(&frame, bench.host.screen());
        bench.engine.reset();
        prop_assert!(!bench.engine.is_active());
    }

    /// The engine assumes a line editor that echoes each key at the end of the line.
    #[test]
    fn an_honest_host_confirms_everything(
        keys in prop::collection::vec(prop::sample::select(vec!["a", "b", "c", " "]), 1..30),
        answered_each in any::<bool>(),
    ) {
        let mut bench = Bench::new(40, 3, "$ ");
        let mut typed = String::from("$ ");
        for key in keys {
            bench.type_text(key);
            typed.push_str(key);
            prop_assert_eq!(bench.seen().0, typed.trim_end());
            if answered_each {
                bench.answer(key);
            } else {
                bench.host.write(key.as_bytes());
            }
        }
        bench.answer("");
        prop_assert_eq!(&bench.frame(), bench.host.screen());
        prop_assert!(!bench.engine.is_active());
    }
}
