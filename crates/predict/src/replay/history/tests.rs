use super::*;
use crate::replay::evidence::ERROR_FACTOR;

const NAME: Name = Name { prompt: 1, kind: 1 };
const OTHER: Name = Name { prompt: 2, kind: 1 };
const BACK: Way = Way { is_back: true, is_control: false };
const FORTH: Way = Way { is_back: false, is_control: false };

/// Returns a walk of so many steps back from a line that was begun.
fn walk(depth: u16, begun: &str) -> Walk {
    let mut walk = Walk::default();
    for _ in 0..depth {
        assert!(walk.step(BACK, || begun.to_owned()));
    }
    walk
}

fn entered(lines: &[&str]) -> Histories {
    let mut histories = Histories::default();
    for line in lines {
        histories.enter(NAME, Entered::of(line));
    }
    histories
}

/// Returns what is expected in the first depths, up to the first that is not known.
fn expected(histories: &Histories, name: Name) -> Vec<String> {
    let line = |depth| histories.expect(name, &walk(depth, "")).map(str::to_owned);
    (1..).map_while(line).collect()
}

#[test]
fn lines_are_expected_as_far_as_all_editors_would_give_them_back() {
    for (lines, known) in [
        (&["a", "b", "c"][..], &["c", "b", "a"][..]),
        (&["a", "b", "b"], &["b"]),
        (&["a", "b", "a"], &["a", "b"]),
        (&["a", " b", "c"], &["c"]),
        (&["a", "b ", "c"], &["c"]),
        (&["a", "echo !!", "c"], &["c"]),
        (&["a", "x != y", "c"], &["c", "x != y", "a"]),
        (&["a", "sudo -i"], &[]),
        (&["ssh relay", "a"], &["a"]),
        (&[], &[]),
    ] {
        assert_eq!(expected(&entered(lines), NAME), known, "{lines:?}");
    }
}

#[test]
fn a_line_is_seen_once_two_were_expected() {
    let mut histories = entered(&["a", "b", "c"]);
    for depth in 1..=2 {
        assert_eq!(histories.recall(NAME, &walk(depth, ""), BACK), None);
        histories.observe(NAME, &walk(depth, ""), BACK, ["c", "b"][usize::from(depth) - 1]);
    }
    assert_eq!(histories.recall(NAME, &walk(3, ""), BACK), Some("a"));
    // Keys with Ctrl may do something else, and so may all where a line was begun.
    assert_eq!(histories.recall(NAME, &walk(3, ""), Way { is_control: true, ..BACK }), None);
    assert_eq!(histories.recall(NAME, &walk(3, "x"), BACK), None);
    // After an error more of them have to be.
    histories.miss(NAME, &walk(3, ""), BACK, true);
    for hits in 0..HITS_NEEDED * ERROR_FACTOR {
        assert_eq!(histories.recall(NAME, &walk(3, ""), BACK), None, "{hits}");
        histories.hit(NAME, &walk(3, ""), BACK);
    }
    assert_eq!(histories.recall(NAME, &walk(3, ""), BACK), Some("a"));
}

#[test]
fn what_an_editor_does_with_doubles_and_beginnings_is_learned() {
    for (second, known) in [("b", &["b", "b", "a", "c", "a"][..]), ("a", &["b", "a", "c"])] {
        let mut histories = entered(&["a", "c", "a", "b", "b"]);
        assert_eq!(expected(&histories, NAME), ["b"]);
        histories.observe(NAME, &walk(2, ""), BACK, second);
        assert_eq!(expected(&histories, NAME), known, "{second}");
    }
    for (second, third) in [("ls", "rebuild"), ("burn", "bu"), ("rebuild", "burn")] {
        let mut histories = entered(&["bu", "burn", "rebuild", "ls", "build"]);
        assert_eq!(histories.expect(NAME, &walk(1, "bu")), Some("build"));
        assert_eq!(histories.expect(NAME, &walk(2, "bu")), None);
        histories.observe(NAME, &walk(2, "bu"), BACK, second);
        assert_eq!(histories.expect(NAME, &walk(3, "bu")), Some(third));
    }
}

#[test]
fn a_line_that_was_not_expected_is_believed() {
    let mut histories = entered(&["a", "b"]);
    histories.observe(NAME, &walk(1, ""), BACK, "other");
    assert_eq!(expected(&histories, NAME), ["other"]);
    histories.observe(NAME, &walk(2, ""), BACK, "older");
    assert_eq!(expected(&histories, NAME), ["other", "older"]);
    // Behind the first line there is no other.
    histories.observe(NAME, &walk(3, ""), BACK, "older");
    assert_eq!(expected(&histories, NAME), ["other", "older"]);
}

#[test]
fn whether_two_prompts_belong_together_is_learned() {
    for (given_back, first, second) in [("b", &["b", "a"][..], &["b"][..]), ("a", &["a"], &["b"])] {
        let mut histories = entered(&["a"]);
        histories.enter(OTHER, Entered::of("b"));
        assert_eq!(expected(&histories, NAME), [""; 0]);
        histories.observe(NAME, &walk(1, ""), BACK, given_back);
        assert_eq!(expected(&histories, NAME), first);
        assert_eq!(expected(&histories, OTHER), second);
    }
    let mut histories = entered(&["a"]);
    histories.enter(Name { kind: 2, ..OTHER }, Entered::of("b"));
    assert_eq!(expected(&histories, NAME), ["a"]);
}

#[test]
fn nothing_is_expected_behind_lines_that_nobody_knows() {
    for (unknown, given_back, known) in [
        (Entered::Unclear, "b", &["b", "a"][..]),
        (Entered::Unclear, "a", &["a"]),
        (Entered::Gap, "b", &["b"]),
        (Entered::Gap, "a", &["a"]),
    ] {
        let mut histories = entered(&["a"]);
        match unknown {
            Entered::Gap => histories.miss_lines(),
            _ => histories.enter(NAME, unknown.clone()),
        }
        assert_eq!(expected(&histories, NAME), [""; 0]);
        histories.observe(NAME, &walk(1, ""), BACK, given_back);
        assert_eq!(expected(&histories, NAME), known, "{unknown:?}, {given_back}");
    }
}

#[test]
fn a_walk_is_lost_where_the_line_was_changed() {
    let mut walk = walk(2, "begun");
    assert!(walk.step(FORTH, String::new));
    walk.edit();
    assert!(!walk.step(BACK, String::new));
    assert!(!Walk::default().step(FORTH, String::new), "nothing is newer");
    assert_eq!(Histories::default().expect(NAME, &walk), None);
}

#[test]
fn no_more_is_remembered_than_there_is_room_for() {
    let mut histories = Histories::default();
    for number in 0..=LINES_MAX {
        histories.enter(NAME, Entered::of(&format!("line {number}")));
        assert_eq!(histories.lines.len(), (number + 1).min(LINES_MAX));
    }
    assert_eq!(expected(&histories, NAME).len(), LINES_MAX);
    for prompt in 0..=EDITORS_MAX {
        let name = Name { prompt: u64::try_from(prompt).unwrap(), kind: 7 };
        histories.enter(name, Entered::of("a"));
        assert!(histories.lines.len() <= LINES_MAX);
    }
    for (len, is_known) in [(CHARACTERS_MAX, true), (CHARACTERS_MAX + 1, false)] {
        let entered = Entered::of(&"x".repeat(len));
        assert_eq!(matches!(entered, Entered::Line(_)), is_known, "{len}");
    }
}
