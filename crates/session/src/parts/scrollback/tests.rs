use proptest::prelude::*;
use rove_terminal::{ClusterWidths, SCROLLBACK_LINES_MAX, Size, UserTerminal};

use super::inbox::WAITING_BYTES_MAX;
use super::*;
use crate::message;

fn line(columns: u16, text: &str) -> ScrollbackLine {
    ScrollbackLine::text(columns, text, rove_terminal::Pen::default())
}

fn text(line: &ScrollbackLine) -> String {
    Screen::of_lines(line.columns(), [line].into_iter()).unwrap().row_text(0)
}

fn texts(scrolled: &Scrolled) -> Vec<(u64, String)> {
    scrolled.held.iter().map(|held| (held.number, text(&held.line))).collect()
}

fn host(columns: u16, rows: u16) -> Terminal {
    let mut terminal = Terminal::host(Size::new(columns, rows).unwrap());
    terminal.keep_scrollback();
    terminal
}

/// Returns lines with these numbers.
fn scrolled(numbers: impl IntoIterator<Item = u64>) -> Scrolled {
    let mut scrolled = Scrolled::default();
    for number in numbers {
        let line = Arc::new(line(20, &format!("line {number}")));
        scrolled.push(Numbered { number, line });
    }
    scrolled
}

fn diff(base: &Scrolled, new: &Scrolled, shows: Option<&Screen>) -> Vec<u8> {
    let receiver = Receiver { understands: crate::CAPABILITIES, shows };
    let mut message = Vec::new();
    new.diff_from(base, &receiver)
        .iter()
        .for_each(|body| message::put_member(&mut message, Scrolled::MEMBER, body));
    message
}

fn members(diff: &[u8]) -> Vec<WireLines<'_>> {
    let member = |instruction| message::member(instruction, |number| number == Scrolled::MEMBER);
    let body = |instruction| member(instruction).unwrap().unwrap().1;
    let bodies = message::instructions(diff).map(|instruction| body(instruction.unwrap()));
    bodies.map(|body| WireLines::read(body).unwrap()).collect()
}

fn apply(base: &Scrolled, diff: &[u8], screen: &Screen) -> Result<Scrolled, &'static str> {
    let mut applied = base.clone();
    let mut work = Work::default();
    members(diff).iter().try_for_each(|lines| applied.take(lines, screen, &mut work))?;
    Ok(applied)
}

fn blank() -> Screen {
    Screen::blank(Size::DEFAULT)
}

#[test]
fn a_diff_leads_to_what_the_new_state_reaches() {
    for (old, new) in [
        (0..0, 0..0),
        (0..0, 0..3),
        (0..3, 0..3),
        (0..3, 0..10),
        (0..300, 0..700),
        // The new state holds fewer lines than the old one, as after a loss.
        (0..10, 0..4),
        (0..10, 0..0),
    ] {
        let (old, new) = (scrolled(old), scrolled(new));
        let bytes = diff(&old, &new, None);
        let applied = apply(&old, &bytes, &blank()).unwrap();
        assert_eq!((applied.end(), texts(&applied)), (new.end(), texts(&new)));
        assert_eq!(bytes.is_empty(), old.end() == new.end());
        assert_eq!(applied.cells, applied.held.len() * 20);
    }
    // The server dropped the lines in between, or they have arrived with another state.
    let (old, new) = (scrolled(0..3), scrolled((0..3).chain(7..9)));
    let applied = apply(&old, &diff(&old, &new, None), &blank()).unwrap();
    assert_eq!(texts(&applied), texts(&new));
    let mut skipping = scrolled(0..3);
    skipping.end = 5;
    let applied = apply(&old, &diff(&old, &skipping, None), &blank()).unwrap();
    assert_eq!((applied.end(), applied.held.len()), (5, 3));
}

#[test]
fn clusters_of_a_line_keep_their_columns() {
    let mut terminal = host(20, 2);
    let cluster_widths = ClusterWidths::ALL;
    terminal.set_user_terminal(UserTerminal { cluster_widths, ..UserTerminal::default() });
    terminal.write("\u{1f469}\u{200d}\u{1f52c} \u{2764}\u{fe0f} x\r\n\r\n".as_bytes());
    let (number, line) = terminal.take_scrollback_line().unwrap();
    let mut new = Scrolled::default();
    new.push(Numbered { number, line: Arc::new(line) });
    let old = Scrolled::default();
    let applied = apply(&old, &diff(&old, &new, None), &blank()).unwrap();
    assert_eq!(texts(&applied), texts(&new));
    assert!(*applied.held[0].line == *new.held[0].line);
}

#[test]
fn a_line_that_is_on_the_screen_is_named_and_not_sent() {
    let mut terminal = host(20, 4);
    terminal.write(b"\x1b[31mfirst line\x1b[m\r\nsecond line\r\nabcdefghijklmnopqrstuvwxyz");
    let seen = terminal.snapshot();
    terminal.write(b"\r\n\r\n\r\nlast");
    let mut new = Scrolled::default();
    while let Some((number, line)) = terminal.take_scrollback_line() {
        new.push(Numbered { number, line: Arc::new(line) });
    }
    let bytes = diff(&Scrolled::default(), &new, Some(&seen));
    let head = WireLines::default();
    let wanted = [WireLines { count: 3, row: 1, wraps: true, ..head }];
    assert_eq!(members(&bytes), wanted);
    assert!(bytes.len() < 16);
    let applied = apply(&Scrolled::default(), &bytes, &seen).unwrap();
    assert_eq!(texts(&applied), texts(&new));
    assert!(applied.held[2].line.wrapped());

    // Lines that the client does not show come as text, before and after the shown ones.
    let mut more = scrolled(0..2);
    for (number, held) in (2..).zip(&new.held) {
        more.push(Numbered { number, line: Arc::clone(&held.line) });
    }
    more.push(Numbered { number: 5, line: Arc::new(line(20, "unseen")) });
    let bytes = diff(&Scrolled::default(), &more, Some(&seen));
    let rows: Vec<_> = members(&bytes).iter().map(|lines| (lines.first, lines.row)).collect();
    assert_eq!(rows, [(0, 0), (2, 1), (5, 0)]);
    let applied = apply(&Scrolled::default(), &bytes, &seen).unwrap();
    assert_eq!(texts(&applied), texts(&more));
}

#[test]
fn a_state_holds_so_many_cells_and_no_more() {
    let most = u64::try_from(CELLS_MAX / 4096).unwrap();
    let wide = |numbers: core::ops::Range<u64>| {
        let mut scrolled = Scrolled::default();
        numbers.for_each(|number| {
            scrolled.push(Numbered { number, line: Arc::new(line(4096, "x")) });
        });
        scrolled
    };
    let bytes = diff(&Scrolled::default(), &wide(0..most), None);
    let applied = apply(&Scrolled::default(), &bytes, &blank()).unwrap();
    assert_eq!(applied.cells, CELLS_MAX);
    let more = diff(&wide(0..most), &wide(0..most + 1), None);
    assert_eq!(
        apply(&applied, &more, &blank()).err(),
        Some("more lines than are ever on their way")
    );
    // A diff that replaces a line again and again cannot exceed the limit either.
    let line = WireLines { count: 1, columns: 4096, ..WireLines::default() };
    let (mut scrolled, mut work) = (Scrolled::default(), Work::default());
    let result = (0..=most).try_for_each(|_| scrolled.take(&line, &blank(), &mut work));
    assert_eq!(result.err(), Some("more lines than are ever on their way"));
    // Lines that both ends hold no longer count towards the limit.
    let mut known = applied.clone();
    known.drop_known(&applied);
    assert_eq!((known.cells, known.held.len(), known.end()), (0, 0, most));
    assert!(apply(&known, &more, &blank()).is_ok());
}

#[test]
fn lines_that_break_a_rule_are_refused() {
    let head = WireLines { count: 1, columns: 80, ..WireLines::default() };
    let reset = b"\x1bc".repeat(1_000_000);
    for lines in [
        WireLines { count: 129, ..head },
        WireLines { count: u64::MAX, ..head },
        WireLines { first: u64::MAX, ..head },
        WireLines { columns: 0, ..head },
        WireLines { columns: 4097, ..head },
        WireLines { columns: u64::MAX, ..head },
        WireLines { row: 25, ..head },
        WireLines { row: 24, count: 2, ..head },
        WireLines { row: u64::MAX, ..head },
        WireLines { columns: 4096, text: &reset, ..head },
    ] {
        let mut scrolled = Scrolled::default();
        assert!(scrolled.take(&lines, &blank(), &mut Work::default()).is_err(), "{}", lines.count);
    }
    for lines in [
        WireLines { count: 128, columns: 4096, ..head },
        WireLines { first: u64::MAX - 1, ..head },
        WireLines { row: 24, ..head },
        WireLines { text: b"\xff\x1b[999;999H\x1b[9S\x1b]0;", ..head },
    ] {
        let mut scrolled = Scrolled::default();
        assert_eq!(scrolled.take(&lines, &blank(), &mut Work::default()), Ok(()));
    }
}

#[test]
fn the_server_sends_a_little_at_a_time() {
    let mut terminal = host(80, 1);
    let lines: String = (0..1000).map(|number| format!("{number:060}\r\n")).collect();
    terminal.write(lines.as_bytes());
    let mut outbox = Outbox::default();
    assert!(outbox.extend(&mut terminal));
    let first = outbox.state();
    assert!((40..70).contains(&first.end()), "{}", first.end());
    // The queue withdraws unsent lines for a change of the screen.
    outbox.yield_to_screen(&Scrolled::default());
    assert_eq!(outbox.state().end(), 0);
    assert!(outbox.extend(&mut terminal) && outbox.extend(&mut terminal));
    let second = outbox.state();
    assert_eq!(second.end(), 2 * first.end());
    assert!(!outbox.extend(&mut terminal), "the window is full");
    // After a loss, the queue withdraws most lines.
    assert!(outbox.shrink());
    assert!((1..10).contains(&outbox.state().end()), "{}", outbox.state().end());
    assert!(!outbox.shrink());
    // All lines have arrived after all. Later the client acknowledges a state with fewer lines.
    outbox.acknowledge(&second);
    outbox.acknowledge(&scrolled(0..5));
    outbox.yield_to_screen(&scrolled(0..5));
    assert_eq!((outbox.state().end(), outbox.state().held.len()), (second.end(), 0));
    assert!(outbox.extend(&mut terminal));
    assert_eq!(outbox.state().held[0].number, second.end());
}

#[test]
fn a_line_longer_than_any_piece_goes_alone() {
    let mut terminal = host(4096, 1);
    let colored: String = (0..4096).map(|at| format!("\x1b[3{}mx", at % 8)).collect();
    terminal.write(format!("{colored}\n{colored}\n").as_bytes());
    let mut outbox = Outbox::default();
    assert!(outbox.extend(&mut terminal));
    assert_eq!(outbox.state().end(), 1);
    assert!(!outbox.extend(&mut terminal));
    outbox.acknowledge(&outbox.state());
    assert!(outbox.extend(&mut terminal));
    assert_eq!(outbox.state().end(), 2);
}

#[test]
fn at_the_end_the_newest_are_published_and_those_that_were_sent() {
    let mut terminal = host(80, 1);
    let lines: String = (0..9000).map(|number| format!("{number:060}\r\n")).collect();
    terminal.write(lines.as_bytes());
    let mut outbox = Outbox::default();
    assert!(outbox.extend(&mut terminal));
    let sent = outbox.state();
    outbox.finish(&sent, &mut terminal);
    let last = outbox.state();
    assert_eq!(last.end(), 9000);
    let sent = usize::try_from(sent.end()).unwrap();
    let numbers: Vec<u64> = last.held.iter().map(|held| held.number).collect();
    assert!(numbers[..sent].iter().zip(0..).all(|(number, at)| *number == at));
    assert!((900..1100).contains(&(numbers.len() - sent)), "{}", numbers.len());
    assert!(numbers[sent..].windows(2).all(|pair| pair[1] == pair[0] + 1));
    assert!(last.cells <= CELLS_MAX / 2);
    let bytes = diff(&Scrolled::default(), &last, None);
    assert!(bytes.len() < 80_000, "{}", bytes.len());
}

#[test]
fn the_last_state_has_room_for_so_many_lines_and_not_for_one_more() {
    // A line of 59 characters costs 66 bytes: with its end and a sixteenth of its 80 columns.
    for (count, exceeds) in [(62, false), (63, true)] {
        let mut terminal = host(80, 1);
        let lines: String = (0..count).map(|number| format!("{number:059}\r\n")).collect();
        terminal.write(lines.as_bytes());
        let mut outbox = Outbox::default();
        outbox.hurry();
        assert_eq!(outbox.exceeds_last(&Scrolled::default(), &mut terminal), exceeds, "{count}");
        assert!(!outbox.exceeds_last(&scrolled(0..1), &mut terminal), "{count}, with 1 sent");
    }
}

#[test]
fn after_the_programs_end_more_lines_are_sent_at_a_time() {
    let mut terminal = host(80, 1);
    let lines: String = (0..1000).map(|number| format!("{number:059}\r\n")).collect();
    terminal.write(lines.as_bytes());
    let mut outbox = Outbox::default();
    outbox.hurry();
    for end in [62, 124, 186, 248] {
        assert!(outbox.extend(&mut terminal));
        assert_eq!(outbox.state().end(), end);
    }
    assert!(!outbox.extend(&mut terminal), "the window is full");
    outbox.acknowledge(&outbox.state());
    assert!(outbox.extend(&mut terminal));
    // The last state adds one piece of the newest lines to those that were sent.
    let sent = outbox.state();
    outbox.finish(&sent, &mut terminal);
    let last = outbox.state();
    assert_eq!((sent.end(), last.end(), last.held.len()), (310, 1000, 2 * 62));
    assert!(outbox.for_successor(&terminal).is_hurried());
}

#[test]
fn the_client_takes_each_line_once_and_says_what_is_missing() {
    let mut inbox = Inbox::default();
    let taken = |inbox: &mut Inbox| inbox.take(20).iter().map(text).collect::<Vec<_>>();
    inbox.look(&scrolled(0..2));
    inbox.look(&scrolled(0..3));
    // A state holds fewer lines than the one before, and the next state adds lines to it.
    inbox.look(&scrolled(0..1));
    inbox.look(&scrolled(0..4));
    assert_eq!(taken(&mut inbox), ["line 0", "line 1", "line 2", "line 3"]);
    inbox.look(&scrolled([5, 7, 8, 107]));
    let wanted = [
        "[… 1 row not kept]",
        "line 5",
        "[… 1 row not kept]",
        "line 7",
        "line 8",
        "[… 98 rows not kept]",
        "line 107",
    ];
    assert_eq!(taken(&mut inbox), wanted);
    assert!(!inbox.is_due());
}

#[test]
fn lines_that_wait_for_the_terminal_are_bounded() {
    let max = u64::try_from(SCROLLBACK_LINES_MAX).unwrap();
    let mut inbox = Inbox::default();
    inbox.look(&scrolled(0..max));
    let mut lines = Vec::new();
    let mut look = |inbox: &mut Inbox| {
        lines.clear();
        while inbox.is_due() {
            lines.extend(inbox.take(40).iter().map(text));
        }
        (lines.len(), lines[0].clone(), lines[1].clone())
    };
    assert_eq!(look(&mut inbox), (SCROLLBACK_LINES_MAX, "line 0".into(), "line 1".into()));
    let (first, end) = (max, 2 * max + 1);
    inbox.look(&scrolled(first..end));
    let notice = "[… 2 rows not kept]".into();
    let next = format!("line {}", first + 2);
    assert_eq!(look(&mut inbox), (SCROLLBACK_LINES_MAX, notice, next));
    inbox.look(&scrolled(end..end + 3 * max));
    assert_eq!(look(&mut inbox).1, format!("[… {} rows not kept]", 2 * max + 1));
}

#[test]
fn lines_with_gaps_and_lines_of_any_width_are_bounded_as_they_wait() {
    let (count, bytes) = (u64::try_from(SCROLLBACK_LINES_MAX).unwrap(), WAITING_BYTES_MAX);
    let mut inbox = Inbox::default();
    // Each line brings an entry for the gap before it.
    inbox.look(&scrolled((1..4 * count).step_by(2)));
    assert_eq!(inbox.waiting(), (SCROLLBACK_LINES_MAX, inbox.waiting().1));
    assert!(inbox.waiting().1 <= bytes);
    // A wide line needs the room of many short ones.
    for _ in 0..2 * count {
        inbox.push(Arc::new(line(4096, "x")));
        assert!(inbox.waiting().1 <= bytes);
    }
    assert_eq!(inbox.missing(), 6 * count);
}

proptest! {
    /// A diff leads to its state after any order of publishing, withdrawing and acknowledging, and from any base state.
    #[test]
    fn any_state_leads_to_any_later_one(
        steps in prop::collection::vec((0_u8..7, 1_usize..60), 1..40), pairs in any::<[(u16, u16); 8]>(),
    ) {
        let mut terminal = host(20, 5);
        let mut outbox = Outbox::default();
        let mut states = vec![(Scrolled::default(), terminal.snapshot())];
        let mut number = 0;
        for (step, count) in steps {
            match step {
                0 | 1 => for _ in 0..count {
                    terminal.write(format!("{number} \x1b[3{}mwrapped text\r\n", number % 8).as_bytes());
                    number += 1;
                },
                2 => { outbox.extend(&mut terminal); }
                3 => outbox.ride(&states.last().unwrap().1, &mut terminal),
                4 => { outbox.shrink(); }
                5 => outbox.yield_to_screen(&states.last().unwrap().0),
                _ => {
                    let known = states[count % states.len()].0.clone();
                    outbox.acknowledge(&known);
                }
            }
            states.push((outbox.state(), terminal.snapshot()));
        }
        for (old, new) in pairs {
            let (old, new) = (usize::from(old) % states.len(), usize::from(new) % states.len());
            let ((base, screen), (target, _)) = (&states[old.min(new)], &states[old.max(new)]);
            let applied = apply(base, &diff(base, target, Some(screen)), screen).unwrap();
            prop_assert_eq!(applied.end(), target.end());
            // The client has the lines that the new state holds and the old one did not reach.
            let added = |scrolled: &Scrolled| {
                let beyond = scrolled.from(base.end().min(target.end()));
                beyond.map(|held| (held.number, held.line.clone())).collect::<Vec<_>>()
            };
            prop_assert_eq!(added(&applied), added(target));
        }
    }
}

#[test]
fn lines_come_back() {
    for lines in [
        WireLines::default(),
        WireLines { first: u64::MAX, ..WireLines::default() },
        WireLines { first: 7, count: 2, columns: 80, text: b"a\r\nb", ..WireLines::default() },
        WireLines { first: 1 << 40, count: 3, row: 1, wraps: true, ..WireLines::default() },
    ] {
        assert_eq!(WireLines::read(&lines.body()), Ok(lines));
    }
}
