use rove_terminal::{Size, Terminal};

use super::*;
use crate::replay::flicker::Tally;
use crate::replay::origin::Origin;
use crate::trace::{Event, Record, Trace};

const fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// A recording on a small screen: each key with what it makes the host write.
fn script(prompt: &str, keys: &[(&str, &str)]) -> Script {
    let answers: Vec<[&str; 1]> = keys.iter().map(|(_, answer)| [*answer]).collect();
    let keys = keys.iter().zip(&answers).map(|((key, _), answers)| (*key, &answers[..]));
    script_of_records(prompt, &keys.collect::<Vec<_>>())
}

/// Makes a recording as `script` does, but with several records of the host for a key, a millisecond apart.
fn script_of_records(prompt: &str, keys: &[(&str, &[&str])]) -> Script {
    let record = |millis, event| Record { at: at(millis), event };
    let mut records = vec![record(0, Event::Host(prompt.into()))];
    for (millis, (key, answers)) in (1..).step_by(1000).zip(keys) {
        records.push(record(millis, Event::User((*key).into())));
        for (later, answer) in (0..).zip(*answers) {
            records.push(record(millis + later, Event::Host((*answer).into())));
        }
    }
    let trace = Trace { size: Size::clamped(20, 4), records };
    Script::new("made".to_owned(), trace, None).expect("a recording that can be played")
}

/// A judge, and the user's terminal that it looks at, which shows the host's prompt.
struct Court<'a> {
    judge: Judge<'a>,
    terminal: Terminal,
    now: Instant,
}

impl<'a> Court<'a> {
    fn new(script: &'a Script) -> Self {
        let terminal = Terminal::host(script.size);
        let mut court = Self { judge: Judge::new(script), terminal, now: at(1000) };
        court.arrival(core::str::from_utf8(&script.steps[0].bytes).expect("prompts are text"));
        court
    }

    fn key(&mut self) {
        self.judge.handle_key(self.now);
    }

    /// Draws on the terminal, without any datagram, a millisecond later.
    fn draw(&mut self, text: &str) -> Option<Verdict> {
        self.show(text, Cause::Own, 0)
    }

    fn arrival(&mut self, text: &str) -> Option<Verdict> {
        self.show(text, Cause::Arrival, 0)
    }

    fn show(&mut self, text: &str, cause: Cause, notice_rows: u16) -> Option<Verdict> {
        self.now += Duration::from_millis(1);
        self.terminal.write(text.as_bytes());
        self.judge.handle_screen(self.now, self.terminal.screen(), cause, notice_rows)
    }

    /// Types a key, which the client draws at once.
    fn key_drawn(&mut self, text: &str) {
        self.judge.handle_key(self.now + Duration::from_millis(1));
        self.draw(text);
    }

    /// Gives the judge a host's screen with `text`, and shows the same on the user's terminal, as after a datagram.
    fn host(&mut self, text: &str) {
        let mut host = Terminal::host(self.terminal.screen().size());
        host.write(text.as_bytes());
        self.judge.handle_host_screen(self.now, host.screen());
        self.arrival(&format!("\x1bc{text}"));
    }

    /// Returns how often cells flickered and the cursor blinked, and how much of that the client alone made.
    fn flicker(&self) -> ((usize, usize), (usize, usize)) {
        let count = |counted: fn(&&Flicker) -> bool| {
            let flickers = self.judge.flickers().iter().filter(counted);
            let tally = Tally::of(flickers.map(|flicker| &flicker.change));
            (tally.cells, tally.blinks)
        };
        (count(|_| true), count(|flicker| flicker.is_ours))
    }

    fn faults(&mut self, text: &str) -> Faults {
        self.draw(text).expect("something has changed").faults
    }

    fn seen(&self) -> Vec<bool> {
        self.judge.outcomes().iter().map(|outcome| outcome.seen_at.is_some()).collect()
    }
}

const NO_FAULTS: Faults = Faults { text: false, any: false, paint: false };

/// Returns an editor's output for a character: the character itself, and a ruler at the bottom.
fn ruled(c: char, column: usize) -> String {
    format!("{c}\x1b7\x1b[4;1Hcolumn {column}\x1b8")
}

#[test]
fn a_typing_key_is_seen_without_its_side_effects_and_covers_those_before_it() {
    let keys = [("a", ruled('a', 1)), ("b", ruled('b', 2)), ("c", ruled('c', 3))];
    let keys = keys.each_ref().map(|(key, answer)| (*key, answer.as_str()));
    let script = script("> ", &keys);
    let mut court = Court::new(&script);
    (0..3).for_each(|_| court.key());
    assert_eq!(court.faults("ab"), NO_FAULTS);
    assert_eq!(court.seen(), [true, true, false]);
    // After a wrong text, a cursor at the right place is no answer.
    assert!(court.faults("\x1b[1;1H>-ab\x1b[1;6H").text);
    assert_eq!(court.seen(), [true, true, false]);
}

#[test]
fn a_typing_key_is_seen_where_the_program_hides_the_cursor_and_draws_its_own() {
    // A reversed blank is the program's cursor, as kakoune draws it. The terminal's cursor is hidden at the same place.
    let answer = |c, column| format!("{}\x1b[7m \x1b[27m\x08", ruled(c, column));
    let keys = [("a", answer('a', 1)), ("b", answer('b', 2)), ("c", answer('c', 3))];
    let keys = keys.each_ref().map(|(key, answer)| (*key, answer.as_str()));
    let script = script("\x1b[?25l> ", &keys);
    let mut court = Court::new(&script);
    (0..3).for_each(|_| court.key());
    assert!(!court.faults("ab").any);
    assert_eq!(court.seen(), [true, true, false]);
    assert!(court.faults("\x1b[1;1H>-ab\x1b[1;6H").text, "wrong left of where characters go");
    assert!(!court.faults("\x1b[1;1H> ab\x1b[1;9H").any, "nobody sees where a hidden cursor is");
}

#[test]
fn an_answer_is_seen_with_the_first_screen_that_looks_like_it() {
    // After the echo the host only paints, and puts the cursor back where it was.
    let script = script_of_records(
        "> ",
        &[("a", &["a", "\x08\x1b[1ma"]), ("b", &["b", "\x1b[2;1H", "\x1b[1;5H"])],
    );
    let mut court = Court::new(&script);
    court.key();
    court.draw("a");
    assert_eq!(court.seen(), [true, false]);
    court.key();
    court.draw("b");
    assert_eq!(court.seen(), [true, true]);
}

#[test]
fn another_key_is_seen_when_all_that_it_changes_is_right() {
    let script =
        script("one two\r\n", &[("\x01", "\x1b[2;1Hx\x1b[3;1Hy\x1b[1;1H"), ("\x05", "\x1b[1;8H")]);
    let mut court = Court::new(&script);
    court.key();
    assert!(court.faults("\x1b[2;1Hx\x1b[3;9H").any, "the cursor is at no true place");
    assert_eq!(court.seen(), [false, false]);
    court.draw("\x1b[3;1Hy\x1b[3;9H");
    assert_eq!(court.seen(), [true, false]);
    // A key that only moves the cursor is seen when the cursor has moved.
    court.key();
    court.draw("\x1b[4;1Hz\x1b[1;8H");
    assert_eq!(court.seen(), [true, true]);
}

#[test]
fn a_true_screen_shows_all_keys_up_to_it_but_none_that_was_not_sent() {
    let script = script("> ", &[("a", "a"), ("b", "b"), ("c", "c")]);
    let mut court = Court::new(&script);
    court.key();
    court.key();
    assert_eq!(court.faults("abc"), Faults { text: true, any: true, paint: false });
    court.key();
    assert_eq!(court.seen(), [false; 3]);
    court.draw("\x08 \x08");
    assert_eq!(court.seen(), [true, true, false]);
}

#[test]
fn what_held_before_a_key_was_sent_counts_only_anew() {
    let keys = [("a", ruled('a', 1)), ("\x7f", "\x08 \x08\x1b7\x1b[4;8H0\x1b8".to_owned())];
    let keys = keys.each_ref().map(|(key, answer)| (*key, answer.as_str()));
    let script = script("> ", &keys);
    let mut court = Court::new(&script);
    court.key();
    // The character is rubbed out before it was drawn, so that row and cursor already are as at the end.
    court.key();
    court.draw("\x1b[3;1H?\x1b[1;3H");
    assert_eq!(court.seen(), [false, false]);
    court.draw("a");
    assert_eq!(court.seen(), [true, false]);
    court.draw("\x08 \x08");
    assert_eq!(court.seen(), [true, true]);
}

#[test]
fn wrong_is_left_of_the_cursor_and_any_is_anywhere() {
    let script = script("> ab\x1b[1;4H", &[("x", "x\x1b[1;5H"), ("y", "y")]);
    for (text, faults) in [
        ("?", Faults { text: true, any: true, paint: false }),
        ("x?\x08", Faults { text: false, any: true, paint: false }),
        ("x\x1b[2;1H?\x1b[1;5H", Faults { text: false, any: true, paint: false }),
        ("x\x1b[1;9H", Faults { text: false, any: true, paint: false }),
        ("x\x1b[?25l", NO_FAULTS),
        ("\x1b[4mx", NO_FAULTS),
        ("\x1b[1mx", Faults { text: false, any: false, paint: true }),
    ] {
        let mut court = Court::new(&script);
        court.key();
        assert_eq!(court.faults(text), faults, "{}", text.escape_debug());
        let outcome = &court.judge.outcomes()[0];
        assert_eq!((outcome.own, outcome.revealed), (faults, NO_FAULTS));
    }
}

#[test]
fn a_datagram_reveals_only_what_was_not_wrong_before() {
    let script = script("> ", &[("a", "a"), ("b", "b")]);
    let mut court = Court::new(&script);
    court.key();
    court.arrival("?");
    court.arrival("?");
    let outcome = &court.judge.outcomes()[0];
    assert!(outcome.revealed.text && !outcome.own.text);
    court.key();
    court.arrival("?");
    assert_eq!(court.judge.outcomes()[1].revealed, NO_FAULTS);
    assert_eq!(court.judge.mistakes().len(), 1);
}

#[test]
fn a_mistake_is_corrected_by_a_true_screen_and_gone_when_nothing_is_wrong() {
    let script = script("> ", &[("a", "a"), ("b", &ruled('b', 2))]);
    let mut court = Court::new(&script);
    court.key();
    court.key();
    court.draw("?");
    let since = court.now;
    // A prediction without its side effect has no fault, but equals no recorded screen.
    court.draw("\x08ab");
    let gone = court.now;
    court.arrival("\x1b[4;1Hcolumn 2\x1b[1;5H");
    let [mistake] = court.judge.mistakes() else { panic!("{:?}", court.judge.mistakes()) };
    assert_eq!((mistake.key, mistake.since), (1, since));
    assert_eq!((mistake.gone_at, mistake.corrected_at), (Some(gone), Some(court.now)));
    let late = |answer| mistake.is_late(Some(answer));
    assert!(
        !late(gone - CORRECTION_GRACE) && late(gone - CORRECTION_GRACE - Duration::from_nanos(1))
    );
    assert!(!mistake.is_late(None), "nobody answered");
}

#[test]
fn a_mistakes_origin_is_how_the_host_answered_the_key() {
    for (prompt, answer, origin) in [
        ("> ab\x1b[1;3H", "", Origin::LateEcho),
        ("> ab\x1b[1;3H", "x", Origin::Overwriting),
        ("> ab\x1b[1;4H", "x", Origin::Overwriting),
        ("> xb\x1b[1;3H", "x", Origin::Overwriting),
        ("> ab  |\x1b[1;3H", "xab\x1b[1;4H", Origin::Field),
        ("> ab  |\x1b[1;5H", "x", Origin::Field),
        ("> ab\x1b[1;3H", "xab\x1b[1;4H", Origin::Other),
        ("> ab", "x", Origin::Other),
        ("> ab\x1b[1;3H", "\x1b[2;1Hno", Origin::Other),
    ] {
        let script = script(prompt, &[("x", answer)]);
        assert_eq!(Origin::of(&script.keys[0], &script), origin, "{prompt:?} {answer:?}");
    }
}

#[test]
fn what_the_host_said_last_is_not_wrong_behind_a_prediction_that_is_ahead_of_it() {
    let keys = [("a", ruled('a', 1)), ("\x7f", "\x08 \x08\x1b7\x1b[4;8H0\x1b8".to_owned())];
    let keys = [&keys[..], &[("y", ruled('y', 1))]].concat();
    let keys: Vec<_> = keys.iter().map(|(key, answer)| (*key, answer.as_str())).collect();
    let script = script("> ", &keys);
    let mut court = Court::new(&script);
    let mut host = Terminal::host(script.size);
    for (_, answer) in [("", "> "), keys[0]] {
        host.write(answer.as_bytes());
    }
    court.key();
    court.judge.handle_host_screen(court.now, host.screen());
    court.arrival(keys[0].1);
    court.key();
    court.draw("\x08 \x08");
    court.key();
    // This screen equals the third answer, but the host has answered only the first key.
    court.draw("y");
    assert!(court.seen()[2]);
    host.write(keys[1].1.as_bytes());
    court.judge.handle_host_screen(court.now, host.screen());
    let verdict = court.arrival("\x1b7\x1b[4;8H0\x1b8").expect("the ruler changes");
    assert_eq!(verdict.faults, NO_FAULTS);
    let verdict = court.arrival("\x1b7\x1b[4;8H7\x1b8").expect("the ruler changes");
    assert!(verdict.faults.any, "nobody said so");
}

#[test]
fn notices_are_not_judged() {
    let script = script("\r\n> ", &[("a", "a")]);
    let mut court = Court::new(&script);
    court.key();
    let verdict = court.show("\x1b7\x1b[1;1Hno contact\x1b8a", Cause::Own, 1);
    assert_eq!(verdict.map(|verdict| verdict.faults), Some(NO_FAULTS));
    assert_eq!(court.seen(), [true]);
}

#[test]
fn the_hosts_answer_is_the_first_screen_that_has_it() {
    let script = script("> ", &[("a", "a"), ("b", "b")]);
    let mut court = Court::new(&script);
    court.key();
    court.key();
    let mut host = Terminal::host(script.size);
    for (millis, text) in [(100, "> "), (200, "a"), (300, "b")] {
        host.write(text.as_bytes());
        court.judge.handle_host_screen(at(millis), host.screen());
    }
    let answered: Vec<_> = court.judge.outcomes().iter().map(|it| it.answered_at).collect();
    assert_eq!(answered, [Some(at(200)), Some(at(300))]);
}

#[test]
fn what_changes_and_changes_back_within_a_moment_flickers() {
    let script = script("> ", &[("a", "a")]);
    for (millis, times) in [(198, 1), (199, 0)] {
        let mut court = Court::new(&script);
        court.key();
        court.draw("xy");
        court.now += Duration::from_millis(millis);
        court.draw("\x1b[1;3H  \x1b[1;3H");
        assert_eq!(court.flicker(), ((2 * times, times), (2 * times, times)), "{millis} ms");
    }
    let mut court = Court::new(&script);
    for text in ["\x1b[?25l", "\x1b[?25h", "\x1b[7m \x08", "\x1b[m \x08", "\x1b[4m \x08"] {
        court.draw(text);
    }
    assert_eq!(court.flicker().1, (1, 1), "reverse video, and a cursor that is hidden");
}

#[test]
fn two_keys_and_the_program_itself_may_change_and_change_back() {
    let answers: [(&str, &[&str]); 3] = [("a", &["a", "\x08 \x08"]), ("b", &["b"]), ("c", &["c"])];
    let script = script_of_records("> ", &answers);
    let mut court = Court::new(&script);
    court.key();
    court.host("> a");
    court.host("> ");
    assert_eq!(court.flicker(), ((1, 1), (0, 0)), "the program");
    court.key_drawn("x");
    court.key_drawn("\x08 \x08");
    assert_eq!(court.flicker(), ((2, 3), (0, 0)), "a character that is rubbed out");
}

#[test]
fn a_cursor_that_a_program_draws_may_pass_a_cell_before_its_line_moves_down() {
    let prompt = "\x1b[?25l> \x1b[7m \x1b[m";
    let moved = "\x1b[2J\x1b[2;1H> a\x1b[7m \x1b[m";
    let script = script(prompt, &[("a", moved), (" ", "\x1b[2;1H> a \x1b[7m \x1b[m")]);
    // The program itself never draws the second line.
    for (letter, ours) in [("a", 0), ("x", 1)] {
        let mut court = Court::new(&script);
        court.key();
        court.draw(&format!("\x1b[H> {letter}\x1b[7m \x1b[m"));
        court.key_drawn(&format!("\x1b[H> {letter} \x1b[7m \x1b[m"));
        assert_eq!(court.flicker(), ((1, 0), (ours, 0)), "{letter}");
    }
}

#[test]
fn half_of_a_synchronised_update_is_no_screen_of_the_program() {
    let half = ["\x1b[?2026h\x1b[?25l\x1b[1;3Hxx", "\x1b[1;3Ha \x1b[1;4H\x1b[?25h\x1b[?2026l"];
    let script = script_of_records("> ", &[("a", &half), ("b", &["b"])]);
    assert_eq!(script.flicker, Tally::default(), "nothing flickers where the program is");
    let mut court = Court::new(&script);
    court.key();
    court.key();
    court.draw("\x1b[?25lxx");
    court.draw("\x1b[1;3H  \x1b[1;3H\x1b[?25h");
    assert_eq!(court.flicker(), ((2, 1), (2, 1)));
}

#[test]
fn a_program_that_flickers_does_so_on_any_path() {
    let script = script_of_records(
        "> ",
        &[("a", &["\x1b[?25l", "xx", "\x1b[1;3H  ", "\x1b[1;3H\x1b[?25h"])],
    );
    assert_eq!(script.flicker, Tally { cells: 2, blinks: 1 });
}
