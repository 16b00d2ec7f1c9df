//! Predicted keys: what the user sees while the server has not answered, and when.

use rove_link::LinkConfig;
use rove_session::{ClientConfig, ClientEvent, Prediction, Preference};
use rove_ssp::Config;
use rove_terminal::{Terminal, Underline};
use rove_units::Duration;

use crate::common::*;

/// A time that is shorter than the one-way delay of these tests' path.
const AT_ONCE: Duration = Duration::from_millis(1);

const HALF_RTT: Duration = Duration::from_millis(150);

/// The use that the program on the host makes of its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    /// The program shows the characters that it reads, as a terminal in canonical mode does.
    Echoes,
    /// The program shows nothing.
    Silent,
    /// The program shows other characters than it reads.
    Contradicts,
}

/// Two ends over a path, and a program that answers as soon as it has read a key.
struct Session {
    pair: Pair,
    program: Program,
    /// How many bytes of its input the program has answered.
    answered: usize,
}

impl Session {
    /// Starts a session with a prompt on both screens.
    fn start(preference: Preference, one_way: Duration) -> Self {
        Self::with(
            Prediction { preference, overwrite: false, ..Prediction::default() },
            one_way,
            rove(Config::client()),
        )
    }

    fn with(prediction: Prediction, one_way: Duration, transport: Config) -> Self {
        let config = ClientConfig { prediction, ..client_config(transport) };
        let link = LinkConfig::lossless(one_way);
        let right = far(rove(Config::server()));
        let pair = join(near(config), right, &link);
        let mut session = Self { pair, program: Program::Echoes, answered: 0 };
        session.run(secs(2));
        print(&mut session.pair, b"$ ");
        session.run(secs(2));
        assert_eq!(session.row(0), "$");
        session
    }

    /// Lets time pass, in steps short enough for the program to answer at once.
    fn run(&mut self, span: Duration) {
        let end = self.pair.now() + span;
        while self.pair.now() < end {
            self.pair.run_for(ms(1));
            let typed = self.pair.right.program.typed[self.answered..].to_vec();
            self.answered += typed.len();
            for byte in typed {
                match (self.program, byte) {
                    (_, b'\r') => print(&mut self.pair, b"\r\n"),
                    (Program::Echoes, 0x7f) => print(&mut self.pair, b"\x08 \x08"),
                    (Program::Echoes, _) => print(&mut self.pair, &[byte]),
                    (Program::Silent, _) => {}
                    (Program::Contradicts, _) => print(&mut self.pair, &[byte + 1]),
                }
            }
        }
    }

    fn type_text(&mut self, text: &[u8]) {
        type_text(&mut self.pair, text);
        self.run(AT_ONCE);
    }

    /// Types a letter and waits for its echo, so that the engine knows the prompt.
    fn confirm(&mut self) {
        self.type_text(b"l");
        self.run(secs(2));
        assert_eq!(self.row(0), "$ l");
    }

    /// Returns a row as the user sees it.
    fn row(&self, row: u16) -> String {
        self.tty().screen().row_text(row)
    }

    fn tty(&self) -> &Terminal {
        &self.pair.left.terminal
    }

    fn assert_in_sync(&self) {
        assert!(in_sync(&self.pair.left, &self.pair.right), "the user sees what is there");
    }
}

#[test]
fn keys_appear_at_once_after_the_first_that_came_true() {
    for preference in [Preference::Adaptive, Preference::Always] {
        let mut session = Session::start(preference, HALF_RTT);
        session.type_text(b"l");
        assert_eq!(session.row(0), "$", "{preference:?}: nothing has come true yet");
        session.run(secs(2));
        for (key, row) in [(b"s", "$ ls"), (b" ", "$ ls"), (b"x", "$ ls x"), (b"\x7f", "$ ls")] {
            session.type_text(key);
            assert_eq!(session.row(0), row, "{preference:?}");
        }
        assert_eq!(session.tty().screen().cursor().column, 5, "{preference:?}");
        session.run(secs(2));
        assert_eq!(session.row(0), "$ ls", "{preference:?}");
        session.assert_in_sync();
    }
}

#[test]
fn on_a_slow_path_predictions_are_underlined_until_they_come_true() {
    let mut session = Session::start(Preference::Adaptive, HALF_RTT);
    session.confirm();
    session.type_text(b"s");
    let underline = |session: &Session| {
        let cell = session.tty().screen().row(0).unwrap().cells()[3];
        (cell.base, cell.pen.attributes.underline())
    };
    assert_eq!(underline(&session), (Some('s'), Underline::Straight));
    session.run(secs(2));
    assert_eq!(underline(&session), (Some('s'), Underline::None));
}

#[test]
fn experimental_predictions_do_not_wait_for_any_to_come_true() {
    let mut session = Session::start(Preference::Experimental, HALF_RTT);
    session.type_text(b"ls");
    assert_eq!(session.row(0), "$ ls");
}

#[test]
fn never_means_never() {
    let mut session = Session::start(Preference::Never, HALF_RTT);
    session.confirm();
    session.type_text(b"s");
    session.run(HALF_RTT);
    assert_eq!(session.row(0), "$ l");
}

#[test]
fn adaptive_predictions_stay_hidden_on_a_fast_path() {
    let mut session = Session::start(Preference::Adaptive, ms(10));
    // Until the path is known to be fast, the client shows predictions. After `confirm`, no key is unanswered.
    session.confirm();
    session.type_text(b"s");
    session.run(ms(8));
    assert_eq!(session.row(0), "$ l");
    session.run(secs(1));
    assert_eq!(session.row(0), "$ ls");
}

#[test]
fn a_client_that_is_strict_predicts() {
    let prediction = Prediction::default();
    let mut session = Session::with(prediction, HALF_RTT, stock(Config::client()));
    session.confirm();
    session.type_text(b"s");
    assert_eq!(session.row(0), "$ ls");
}

#[test]
fn a_password_behind_enter_is_never_shown() {
    let mut session = Session::start(Preference::Always, HALF_RTT);
    session.confirm();
    session.type_text(b"\r");
    session.program = Program::Silent;
    for key in b"jjkkjj" {
        session.type_text(&[*key]);
        for _ in 0..5 {
            let seen: String = (0..24).map(|row| session.row(row)).collect();
            assert!(!seen.contains(['j', 'k']), "{seen:?}");
            session.run(ms(60));
        }
    }
    session.run(secs(2));
    session.assert_in_sync();
}

#[test]
fn a_wrong_guess_is_gone_within_a_round_trip_and_the_echo_delay() {
    let mut session = Session::start(Preference::Always, HALF_RTT);
    session.confirm();
    session.program = Program::Contradicts;
    session.type_text(b"s");
    assert_eq!(session.row(0), "$ ls");
    // The sum is a round trip, the echo delay (50 ms), and a send interval (half a round trip).
    session.run(HALF_RTT * 2 + ms(50) + HALF_RTT);
    assert_eq!(session.row(0), "$ lt");
    session.run(secs(2));
    session.assert_in_sync();
}

#[test]
fn in_the_middle_of_a_line_predictions_make_room_or_overwrite() {
    // The program inserts typed text (mode 4) or overwrites with it, as the user's configuration says.
    for (overwrite, mode, confirmed, predicted) in
        [(false, "\x1b[4h", "$ labcdef", "$ lsabcdef"), (true, "", "$ lbcdef", "$ lscdef")]
    {
        let prediction =
            Prediction { preference: Preference::Always, overwrite, ..Prediction::default() };
        let mut session = Session::with(prediction, HALF_RTT, rove(Config::client()));
        print(&mut session.pair, format!("abcdef\x1b[6D{mode}").as_bytes());
        session.run(secs(2));
        session.type_text(b"l");
        session.run(secs(2));
        assert_eq!(session.row(0), confirmed);
        session.type_text(b"s");
        assert_eq!(session.row(0), predicted);
        session.run(secs(2));
        assert_eq!(session.row(0), predicted);
        session.assert_in_sync();
    }
}

#[test]
fn stock_predicts_no_paste_and_what_follows_one_is_tentative() {
    for (len, is_predicted) in [(60, true), (101, false)] {
        let prediction = Prediction {
            preference: Preference::Always,
            overwrite: false,
            engine: Some(rove_stock_predict::engine),
            ..Prediction::default()
        };
        let mut session = Session::with(prediction, HALF_RTT, rove(Config::client()));
        session.confirm();
        session.type_text(&vec![b'x'; len]);
        assert_eq!(session.row(0).contains('x'), is_predicted, "{len} bytes");
        session.type_text(b"y");
        assert_eq!(session.row(0).contains('y'), is_predicted, "{len} bytes");
        session.run(secs(3));
        session.assert_in_sync();
    }
}

#[test]
fn pastes_of_any_size_leave_nothing_behind() {
    for len in [101, 511, 512, 513, 5000] {
        let mut session = Session::start(Preference::Always, HALF_RTT);
        session.confirm();
        session.type_text(&vec![b'x'; len]);
        session.type_text(b"y");
        session.run(secs(4));
        session.assert_in_sync();
    }
}

#[test]
fn keys_meant_for_the_client_are_not_predicted() {
    let mut session = Session::start(Preference::Always, HALF_RTT);
    session.confirm();
    session.type_text(b"\x1e");
    session.type_text(b"\x1a");
    assert_eq!(session.pair.left.user.events, [ClientEvent::Suspend]);
    session.type_text(b"s");
    assert_eq!(session.row(0), "$ ls", "the epoch is still the confirmed one");
}

#[test]
fn a_resize_forgets_what_was_predicted() {
    let mut session = Session::start(Preference::Always, HALF_RTT);
    session.confirm();
    session.type_text(b"s");
    let now = session.pair.now();
    session.pair.left.client.handle_resize(now, size(60, 20));
    session.pair.left.terminal.resize(size(60, 20));
    session.run(AT_ONCE);
    assert_eq!(session.row(0), "$ l");
    session.run(secs(2));
    assert_eq!(session.row(0), "$ ls");
}

#[test]
fn the_notice_bar_covers_predictions_and_gives_none_of_itself() {
    let mut session = Session::start(Preference::Always, HALF_RTT);
    session.confirm();
    session.pair.stop_right(true);
    session.run(secs(8));
    assert!(session.row(0).contains("Last contact"), "{}", session.row(0));
    session.type_text(b"s");
    assert!(session.row(0).contains("Last contact"), "{}", session.row(0));
    assert!(!session.tty().screen().cursor().visible);
    session.pair.stop_right(false);
    session.run(secs(4));
    assert_eq!(session.row(0), "$ ls");
    session.assert_in_sync();
}

#[test]
fn the_terminal_is_given_back_without_predictions() {
    let mut session = Session::start(Preference::Always, HALF_RTT);
    session.confirm();
    session.type_text(b"sxyz");
    assert_eq!(session.row(0), "$ lsxyz");
    let closing = session.pair.left.client.close_terminal();
    session.pair.left.terminal.write(&closing);
    let seen: String = (0..24).map(|row| session.row(row)).collect();
    assert!(!seen.contains("xyz"), "{seen:?}");
}

#[test]
fn a_slow_host_is_predicted_once_it_is_known_to_be_slow() {
    for client in [stock(Config::client()), rove(Config::client())] {
        let prediction = Prediction {
            preference: Preference::Always,
            overwrite: false,
            engine: Some(rove_stock_predict::engine),
            ..Prediction::default()
        };
        let mut session = Session::with(prediction, HALF_RTT, client);
        session.program = Program::Silent;
        let mut row = String::from("$ ");
        let mut at_once = Vec::new();
        for letter in 'a'..='z' {
            session.type_text(letter.to_string().as_bytes());
            row.push(letter);
            at_once.push(session.row(0) == row);
            // The key has arrived, but the program has not echoed it yet.
            session.run(HALF_RTT + ms(100));
            print(&mut session.pair, letter.to_string().as_bytes());
            session.run(secs(1));
            assert_eq!(session.row(0), row);
        }
        assert_eq!(at_once.iter().position(|at_once| *at_once), Some(9), "{at_once:?}");
        assert!(at_once[9..].iter().all(|at_once| *at_once), "{at_once:?}");
    }
}
