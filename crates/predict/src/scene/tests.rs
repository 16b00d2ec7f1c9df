use rove_terminal::{Color, Pen, Position, Screen, Size, Terminal};

use super::row::cells;
use super::*;

/// Returns the screen after a program has written `bytes`, and the cursor's position on it.
fn drawn(columns: u16, rows: u16, bytes: &str) -> (Screen, Position) {
    let mut terminal = Terminal::host(Size::new(columns, rows).unwrap());
    terminal.write(bytes.as_bytes());
    let screen = terminal.snapshot();
    let cursor = screen.cursor();
    (screen, Position { row: cursor.row, column: cursor.column })
}

/// Returns the screen of one row of 40 columns, with the cursor at `^`.
fn line(bytes: &str) -> (Screen, Position) {
    let (before, behind) = bytes.split_once('^').expect("a cursor");
    drawn(40, 1, &format!("{before}\x1b7{behind}\x1b8"))
}

const TMUX: &str = "left │right\r\n     │     \r\n─────┼─────\r\n     │below\x1b[3;2H";

#[test]
fn lines_and_bars_bound_a_pane() {
    for (name, bytes, columns, rows) in [
        ("nothing", "abc", (0, 12), (0, 5)),
        ("left of a line", "a │\r\nb │\r\n  │\r\n  │\r\n  │\x1b[2;1H", (0, 2), (0, 5)),
        ("right of it", "a │\r\nb │\r\n  │\r\n\x1b[44m\x1b[K\x1b[2;4H", (3, 12), (0, 3)),
        ("a line between two", "─┬─\r\nb│\r\n │\r\n─┴─\x1b[2;1H", (0, 1), (0, 5)),
        ("a table in a text", "a│b\r\nb│\r\n │\r\n │\r\nx\x1b[2;1H", (0, 12), (0, 5)),
        ("a short line", "a│\r\nb│\x1b[1;1H", (0, 12), (0, 5)),
        ("a pipe thrice", "a|\r\na|\r\na|\x1b[2;1H", (0, 12), (0, 5)),
        ("a line of ASCII", "a|\r\n |\r\n |\r\n |\r\n |\x1b[2;1H", (0, 1), (0, 5)),
        ("not in this row", "  │\r\n  │\r\n  │\r\nab│\r\nabc\x1b[5;1H", (0, 12), (0, 5)),
        ("a box with a title", "┌─ab───┐\r\n│      │\r\n└──────┘\x1b[2;4H", (1, 7), (1, 2)),
        ("a bar", "ab\x1b[4;1H\x1b[42m\x1b[K\x1b[5;1H\x1b[0m\x1b[K\x1b[2;3H", (0, 12), (0, 3)),
        ("a bar below a window", "\x1b[3;1H\x1b[7mfile        \x1b[0m\x1b[1;1H", (0, 12), (0, 2)),
        ("the bar itself", "\x1b[3;1H\x1b[42m\x1b[K\x1b[3;2H", (0, 12), (0, 5)),
        ("half a bar", "\x1b[3;1H\x1b[7mfile\x1b[0m\x1b[1;1H", (0, 12), (0, 5)),
    ] {
        let (screen, at) = drawn(12, 5, bytes);
        let Pane { left, right, top, bottom } = pane(&screen, at);
        assert_eq!(((left, right), (top, bottom)), (columns, rows), "{name}");
    }
    let (screen, _) = drawn(11, 4, TMUX);
    for (row, column, expected) in [
        (0, 0, Pane { left: 0, right: 5, top: 0, bottom: 2 }),
        (1, 8, Pane { left: 6, right: 11, top: 0, bottom: 2 }),
        (3, 8, Pane { left: 6, right: 11, top: 3, bottom: 4 }),
    ] {
        assert_eq!(pane(&screen, Position { row, column }), expected);
    }
}

#[test]
fn an_insert_moves_nothing_behind_a_gap_or_outside_the_field() {
    for (bytes, bound, end) in [
        ("$ ls^", 40, 4),
        ("$ ^ls -l", 40, 7),
        ("$ l^s  right", 6, 4),
        ("$ ls^   right", 7, 4),
        ("$ ls^ right", 40, 10),
        ("$ 一^二", 40, 6),
        // The background of these fields ends at their right edge.
        ("To: \x1b[44mab^cd    \x1b[0m more", 12, 8),
        ("To: \x1b[7m^        \x1b[0m", 12, 4),
        ("To: \x1b[31;7m^        \x1b[0m\x1b[7m  ", 12, 4),
        // A highlight (a search match, brackets, a drawn cursor) is part of the text around it, and no field.
        ("a^b \x1b[43mfound\x1b[0m more", 40, 13),
        ("a^b \x1b[43mbar                                  ", 3, 2),
        ("f^\x1b[46m(\x1b[0ma\x1b[46m)\x1b[0m b", 40, 6),
        ("^\x1b[46m(\x1b[0ma\x1b[46m)\x1b[0m b", 40, 5),
        ("ab^\x1b[7m \x1b[0m", 40, 2),
        // Underscores or underlined blanks form these fields, and underlined text forms none.
        ("To: ab^______ more", 12, 12),
        ("To: a^b_c", 40, 8),
        ("To: \x1b[4mab^c     \x1b[0m more", 12, 7),
        ("cd \x1b[4m/^tmp\x1b[0m/x", 40, 9),
        ("^", 40, 0),
        ("                                      ab^", 40, 40),
    ] {
        let (screen, at) = line(bytes);
        let pane = pane(&screen, at);
        let right = right_bound(&screen, at, &pane);
        let found = (right, input_end(&screen, at, right));
        assert_eq!(found, (bound, end), "{bytes:?}");
    }
}

#[test]
fn a_box_bounds_its_field() {
    for (bytes, bound) in [
        ("┌────┐\r\n│ab  │ x\r\n└────┘\x1b[2;3H", 5),
        ("+----+\r\n|ab  |x\r\n+----+\x1b[2;3H", 5),
        // Two equal pipelines in a column form no box.
        ("ls | wc\r\nls | wc\r\n\x1b[2;1H", 12),
        ("┌────┐\r\n│ab  │ x\r\n└────┘\x1b[2;7H", 12),
    ] {
        let (screen, at) = drawn(12, 5, bytes);
        let whole = Pane { left: 0, right: 12, top: 0, bottom: 5 };
        assert_eq!(right_bound(&screen, at, &whole), bound, "{bytes:?}");
    }
}

#[test]
fn a_suggestion_is_painted_apart_from_the_cursor_to_the_end() {
    let plain = Some(Pen::default());
    for (bytes, typed, expected) in [
        ("$ gi^\x1b[90mt status\x1b[0m", None, Some(4..12)),
        ("$ git^\x1b[90m status\x1b[0m", None, Some(5..12)),
        ("$ gi^\x1b[2mt  x\x1b[0m", None, Some(4..8)),
        ("$ gi^\x1b[90mt 港\x1b[0m", None, Some(4..8)),
        ("$ 港^\x1b[90mの灯台\x1b[0m", None, Some(4..10)),
        ("$ gi^\x1b[38;5;240mt\x1b[0m", plain, Some(4..5)),
        ("$ gi^\x1b[38;2;85;85;85mt\x1b[0m\x1b[1;30Hright", None, Some(4..5)),
        ("$ gi^\x1b[38;2;200;85;85mt\x1b[0m", None, None),
        ("$ gi^\x1b[32mt status\x1b[0m", plain, Some(4..12)),
        ("$ gi^\x1b[32mt status\x1b[0m", None, None),
        ("$ gi^\x1b[38;2;98;114;164mt status\x1b[0m", None, Some(4..12)),
        // The shell colours the typed word, so plain text after it is no suggestion.
        (
            "$ \x1b[32mgit\x1b[0m^ status",
            Some(Pen { foreground: Color::Named(2), ..Pen::default() }),
            None,
        ),
        ("$ git ^\x1b[4m/tmp\x1b[0m", plain, None),
        // A closing bracket that is highlighted with its opening bracket is no suggestion.
        ("$ f\x1b[30;46m(\x1b[0mx^\x1b[31;41m)\x1b[0m", plain, None),
        ("$ gi^t status", plain, None),
        ("$ gi^\x1b[90mt\x1b[0m status", None, None),
        ("$ gi^ \x1b[90mt\x1b[0m", None, None),
        ("$ gi^", None, None),
    ] {
        let (screen, at) = line(bytes);
        assert_eq!(suggestion(&screen, at, typed), expected, "{bytes:?}");
    }
}

#[test]
fn questions_for_secrets_are_known() {
    for (bytes, expected) in [
        ("[sudo] password for ann: ^", true),
        ("Password:^", true),
        ("Enter PIN for 'key': ^", true),
        ("Mot de passe : ^", true),
        ("пароль: ^", true),
        ("密码：^", true),
        ("AWS Secret Access Key [None]: ^", true),
        ("Verification code? ^", true),
        ("ann@host's password: abc^", false),
        ("shopping: ^", false),
        ("login: ^", false),
        ("password $ ^", false),
        ("^password:", false),
        ("^", false),
    ] {
        let (screen, at) = line(bytes);
        assert_eq!(asks_for_secret(&screen, at), expected, "{bytes:?}");
    }
    let long = "Enter passphrase for key '/home/ann/.ssh/id_ed25519': ";
    let (screen, at) = drawn(20, 4, long);
    assert!(asks_for_secret(&screen, at));
}

#[test]
fn prompts_are_known_again() {
    let print = |bytes: &str| {
        let (screen, at) = line(&format!("{bytes}^"));
        fingerprint(&screen, 0, 0..at.column)
    };
    let known = print("ann@host:~/src$ ").unwrap();
    for (bytes, strong, weak) in [
        ("ann@host:~$ ", true, true),
        ("ann@host:/usr/share/doc$ ", true, true),
        ("bob@host:~/src$ ", false, true),
        ("ann@host:~/src# ", false, false),
        ("ann@host:~/src\x1b[31m$\x1b[0m ", false, false),
    ] {
        let found = print(bytes).unwrap();
        assert_eq!(
            (found.strong == known.strong, found.weak == known.weak),
            (strong, weak),
            "{bytes}"
        );
    }
    for (one, other, is_same) in [
        ("[12:59:01] > ", "[1:00:00] > ", true),
        ("In [9]: ", "In [10]: ", true),
        ("[ann@host ~]$ ", "[ann@host src]$ ", true),
        ("ann@host:src# ", "ann@host:/usr/doc# ", true),
        ("ann@host src % ", "ann@host doc % ", true),
        ("ann@host  src % ", "ann@host  doc % ", false),
        ("ann@host(src)$ ", "ann@host(doc)$ ", true),
        ("ann@host [src]$ ", "ann@host [doc]$ ", false),
        ("ann@ src$ ", "ann@ doc$ ", false),
        ("@host src$ ", "@host doc$ ", false),
        ("ann src$ ", "ann doc$ ", false),
    ] {
        let [one, other] = [one, other].map(|bytes| print(bytes).unwrap().strong);
        assert_eq!(one == other, is_same);
    }
    assert_eq!(print("  "), None);
}

#[test]
fn line_numbers_are_no_text() {
    let numbered = |rows: [&str; 5]| format!("{}\x1b[3;8H", rows.join("\r\n"));
    for (name, rows, expected) in [
        ("vim", ["  1 one", "  2 two", "  3 three", "  4 x", "~"], 4),
        ("relative", ["  2 one", "  1 two", "3   three", "  1 x", "  2 y"], 4),
        (
            "painted",
            ["\x1b[33m  7 \x1b[0ma", "\x1b[33m 12 \x1b[0mb", "\x1b[33m 13 \x1b[0mc", "", ""],
            4,
        ),
        ("wrapped", ["  1 one", "  2 two", "    three", "  3 x", "  4 y"], 4),
        ("a table", ["  5 one", "  5 two", "  5 three", "  5 x", ""], 0),
        ("a prompt below numbers", ["  1 one", "  2 two", "$ prompt", "", ""], 0),
        ("text", ["one", "two", "three", "four", "five"], 0),
    ] {
        let (screen, at) = drawn(20, 5, &numbered(rows));
        assert_eq!(gutter(&screen, at, &pane(&screen, at)), expected, "{name}");
    }
}

#[test]
fn editors_show_their_mode() {
    use EditorMode::{Command, Insert, Replace};
    for (bytes, expected) in [
        ("\x1b[6;1H\x1b[1m-- INSERT --\x1b[0m\x1b[1;1H", Some(Insert)),
        ("\x1b[6;1H-- REPLACE --recording @q\x1b[1;1H", Some(Replace)),
        ("\x1b[6;1H-- EINFÜGEN --\x1b[1;1H", Some(Insert)),
        ("\x1b[6;1H-- 插入 --\x1b[1;1H", Some(Insert)),
        ("\x1b[6;1H-- (insert) --\x1b[1;1H", Some(Command)),
        ("\x1b[6;1H-- (insert) VISUAL --\x1b[1;1H", Some(Command)),
        ("\x1b[5;1H-- INSERT --\x1b[6;1H\x1b[42m\x1b[K\x1b[1;1H", Some(Insert)),
        ("\x1b[5;1H\x1b[42m NORMAL  file\x1b[K\x1b[1;1H", Some(Command)),
        ("\x1b[5;1H NORMAL  file\x1b[1;1H", None),
        ("\x1b[5;1H\x1b[7m-UU-:**-F1  a.txt  (Text Ovwrt) \x1b[0m\x1b[1;1H", Some(Replace)),
        ("-- INSERT --\x1b[2;1H", None),
        ("\x1b[6;1H-- \x1b[1;1H", None),
    ] {
        let (screen, at) = drawn(40, 6, bytes);
        assert_eq!(editor_mode(&screen, &pane(&screen, at)), expected, "{bytes:?}");
    }
}

#[test]
fn words_strings_and_comments_go_on_in_their_colour() {
    let red = Pen { foreground: Color::Named(1), ..Pen::default() };
    let green = Pen { foreground: Color::Named(2), ..Pen::default() };
    for (bytes, c, word, around) in [
        ("\x1b[32mls^", 's', Some(green), None),
        ("\x1b[32mls^", ' ', None, None),
        ("\x1b[32m(^", 'x', None, None),
        ("\x1b[32m\"ab ^", 'c', None, Some(green)),
        ("\x1b[31m\"\x1b[32mab ^", 'c', None, Some(green)),
        ("\x1b[32m\"ab\"\x1b[m ^", 'c', None, None),
        ("\x1b[32m\"a\\\"\x1b[m ^", 'c', None, Some(green)),
        ("don't ^", 'c', None, None),
        ("x = 1 \x1b[31m# so ^", 'c', None, Some(red)),
        ("\x1b[31mnot in^", ' ', None, None),
        ("^", 'x', None, None),
    ] {
        let (screen, at) = line(bytes);
        let before = &cells(&screen, 0)[..usize::from(at.column)];
        assert_eq!((continued(before, c), surrounding(before)), (word, around), "{bytes:?}");
    }
}

#[test]
fn a_word_is_painted_as_most_of_its_like() {
    let green = Pen { foreground: Color::Named(2), ..Pen::default() };
    let (screen, _) = drawn(20, 4, "\x1b[32mfor\x1b[m forty\r\n\x1b[32mfor\x1b[m x\r\nfor a");
    let pen = |word: &str, rows| word_pen(&screen, rows, &word.chars().collect::<Vec<_>>());
    for (word, rows, expected) in [
        ("for", 0..4, Some(green)),
        ("for", 2..u16::MAX, Some(Pen::default())),
        ("forty", 0..4, Some(Pen::default())),
        ("fort", 0..4, None),
        ("", 0..4, None),
    ] {
        assert_eq!(pen(word, rows.clone()), expected, "{word:?} in {rows:?}");
    }
}

#[test]
fn no_screen_and_no_place_is_too_small_or_far() {
    let wide = "一二\r\n三\r\n│\r\n│\r\n─\x1b[2;2H";
    for (columns, rows) in [(1, 1), (2, 1), (1, 5), (3, 3), (80, 24)] {
        for bytes in ["", "x", wide, TMUX, "\x1b[7m   \x1b[4m__", "密码：", "  1 \r\n  2 \r\n  3 "]
        {
            let (screen, _) = drawn(columns, rows, bytes);
            for row in [0, 1, rows - 1, rows, u16::MAX] {
                for column in [0, 1, columns - 1, columns, u16::MAX] {
                    let at = Position { row, column };
                    let pane = pane(&screen, at);
                    let whole = Pane { left: 0, right: u16::MAX, top: 0, bottom: u16::MAX };
                    for pane in [pane, whole] {
                        assert!(right_bound(&screen, at, &pane) <= columns.max(column));
                        assert!(input_end(&screen, at, right_bound(&screen, at, &pane)) >= column);
                        gutter(&screen, at, &pane);
                        editor_mode(&screen, &pane);
                    }
                    suggestion(&screen, at, None);
                    suggestion(&screen, at, Some(Pen::default()));
                    asks_for_secret(&screen, at);
                    fingerprint(&screen, row, 0..column);
                    fingerprint(&screen, row, column..0);
                    continued(cells(&screen, row), 'x');
                    surrounding(cells(&screen, row));
                    usual(cells(&screen, row), 'x');
                }
            }
        }
    }
}
