//! Decorations: hyperlinks and the colours of underlines.

use rove_terminal::{Color, Decoration, Screen, Size};

use super::follow::Follow;
use super::{check, host, rows};

const OPEN: &str = "\x1b]8;;http://a.example/\x1b\\";
const CLOSE: &str = "\x1b]8;;\x1b\\";

/// Describes the decorations of a row: runs of columns from 1, each with its link (`id@address`) or colour.
fn decorations(screen: &Screen, row: u16) -> Vec<String> {
    let row = screen.row(row - 1).expect("a row of the screen");
    let mut runs: Vec<(u16, u16, String)> = Vec::new();
    for (column, cell) in (0..).zip(row.cells()) {
        let text = describe(row.decoration(column));
        match runs.last_mut() {
            _ if text.is_empty() => {}
            Some((_, end, last)) if *end == column && *last == text => *end += cell.width(),
            _ => runs.push((column + 1, column + cell.width(), text)),
        }
    }
    runs.iter().map(|(start, end, text)| format!("{start}-{end} {text}")).collect()
}

fn describe(decoration: &Decoration) -> String {
    let link = decoration.link.as_ref().map(|link| format!("{}@{}", link.id(), link.uri()));
    let color = match decoration.underline_color {
        Color::Default => None,
        Color::Named(n) | Color::Indexed(n) => Some(format!("color {n}")),
        Color::Rgb(r, g, b) => Some(format!("color {r:02x}{g:02x}{b:02x}")),
    };
    [link, color].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Runs a table on a screen of 20x4. Each case is the input, the rows of text, and the decorations of the first row. In
/// the input, `<` and `>` are the start and end of a link.
fn check_links(cases: &[(&str, &[&str], &[&str])]) {
    for (input, text, expected) in cases {
        let terminal = host(20, 4, input.replace('<', OPEN).replace('>', CLOSE));
        assert_eq!(rows(terminal.screen()), *text, "{input:?}");
        assert_eq!(decorations(terminal.screen(), 1), *expected, "{input:?}");
    }
}

#[test]
fn a_link_covers_the_text_between_its_ends() {
    check_links(&[
        ("<link> x", &["link x"], &["1-4 @http://a.example/"]),
        ("a <link>", &["a link"], &["3-6 @http://a.example/"]),
        ("<li\x1b[31mnk\x1b[m!>x", &["link!x"], &["1-5 @http://a.example/"]),
        ("<a b>c<d>", &["a bcd"], &["1-3 @http://a.example/", "5-5 @http://a.example/"]),
        ("<漢e\u{301}>字", &["漢e\u{301}字"], &["1-3 @http://a.example/"]),
        (
            "\x1b]8;id=foo;http://example.com\x07link\x1b]8;;\x07",
            &["link"],
            &["1-4 foo@http://example.com"],
        ),
        (
            "\x1b]8;a=b:id=foo:c=d;http://e/?q=1;2\x07l\x1b]8;;\x07",
            &["l"],
            &["1-1 foo@http://e/?q=1;2"],
        ),
        ("<a\x1b]8;id=2;http://b/\x07b>", &["ab"], &["1-1 @http://a.example/", "2-2 2@http://b/"]),
        ("<link\x1b[0m still", &["link still"], &["1-10 @http://a.example/"]),
        ("<one\r\ntwo>", &["one", "two"], &["1-3 @http://a.example/"]),
        ("<gap\x1b[3Cgap>", &["gap   gap"], &["1-3 @http://a.example/", "7-9 @http://a.example/"]),
        ("<\x1b(0q>", &["─"], &["1-1 @http://a.example/"]),
        ("<a\x1b[3b>", &["aaaa"], &["1-4 @http://a.example/"]),
    ]);
}

#[test]
fn a_link_ends_where_the_text_does() {
    check_links(&[
        ("<link>\x1b[1;2Hxx", &["lxxk"], &["1-1 @http://a.example/", "4-4 @http://a.example/"]),
        ("<link>\x1b[1;2H\x1b[X", &["l nk"], &["1-1 @http://a.example/", "3-4 @http://a.example/"]),
        ("<link>\x1b[1;3H\x1b[K", &["li"], &["1-2 @http://a.example/"]),
        ("<link\x1b[K", &["link"], &["1-4 @http://a.example/"]),
        ("<link>\x1b[2J", &[], &[]),
        (
            "<link>\x1b[1;2H\x1b[2@",
            &["l  ink"],
            &["1-1 @http://a.example/", "4-6 @http://a.example/"],
        ),
        ("x<link>\x1b[1;1H\x1b[2P", &["ink"], &["1-3 @http://a.example/"]),
        (
            "<link>\x1b[1;3H\x1b[4hxx",
            &["lixxnk"],
            &["1-2 @http://a.example/", "5-6 @http://a.example/"],
        ),
        ("<漢字>\x1b[1;2Hx", &[" x字"], &["3-4 @http://a.example/"]),
        ("<link>\x1b[1;1Hlink", &["link"], &[]),
        ("<link\x1bcx", &["x"], &[]),
    ]);
}

#[test]
fn links_move_with_their_rows() {
    let linked = &["1-4 @http://a.example/"];
    check_links(&[
        ("\r\n\n<link>\x1b[2S", &["link"], linked),
        ("x\r\n<link>\x1b[1;1H\x1b[M", &["link"], linked),
        ("x\r\n<link>\r\n\n\n", &["link"], linked),
        ("<link>\x1b[?1049halternate\x1b[?1049l", &["link"], linked),
        ("\x1b[2;3r\x1b[3;1H<link>\x1b[r\x1b[1;1H\x1b[2M", &["link"], linked),
    ]);
    let scrolled = host(20, 4, format!("{OPEN}link{CLOSE}\x1b[2T"));
    assert_eq!(decorations(scrolled.screen(), 3), linked);
}

#[test]
fn a_link_that_wraps_is_one_link_on_both_rows() {
    let terminal = host(8, 3, format!("{OPEN}0123456789{CLOSE}x"));
    assert_eq!(decorations(terminal.screen(), 1), ["1-8 @http://a.example/"]);
    assert_eq!(decorations(terminal.screen(), 2), ["1-2 @http://a.example/"]);
    let [first, second] = [0, 1].map(|row| {
        let row = terminal.screen().row(row).expect("a row of the screen");
        row.decoration(0).link.clone()
    });
    assert_eq!(first, second);
}

#[test]
fn links_survive_a_resize_as_far_as_their_text() {
    let mut follow = Follow::new(Size::new(20, 4).unwrap());
    follow.write(format!("{OPEN}0123456789{CLOSE}x").as_bytes());
    for (columns, rows, expected) in [(6, 4, "1-6"), (20, 4, "1-6"), (5, 1, "1-5"), (80, 24, "1-5")]
    {
        follow.resize(Size::new(columns, rows).unwrap());
        follow.assert_seen(format!("links at {columns}x{rows}").as_bytes());
        let expected = [format!("{expected} @http://a.example/")];
        for screen in [follow.host().screen(), follow.replica(), follow.user()] {
            assert_eq!(decorations(screen, 1), expected);
        }
    }
}

#[test]
fn an_address_no_terminal_should_open_leaves_the_text_alone() {
    let address = |len: usize| format!("http://{}", "x".repeat(len - 7));
    for (parameters, linked) in [
        (format!(";{}", address(2083)), true),
        (format!(";{}", address(2084)), false),
        (";http://\u{e9}/".to_owned(), false),
        (";http://a\tb/".to_owned(), true), // The control is dropped with the string's others.
        (";no scheme".to_owned(), false),
        (";javascript:alert(1)".to_owned(), false),
        ("id=\u{e9};http://a/".to_owned(), false),
        (format!("id={};http://a/", "i".repeat(250)), true),
        (format!("id={};http://a/", "i".repeat(251)), false),
        ("http://a/".to_owned(), false),
    ] {
        let terminal = host(20, 1, format!("\x1b]8;{parameters}\x1b\\text{CLOSE}!"));
        assert_eq!(rows(terminal.screen()), ["text!"]);
        let cells = if linked { 1 } else { 0 };
        assert_eq!(decorations(terminal.screen(), 1).len(), cells, "{parameters:.40}");
    }
    // A link that is refused ends the link before it.
    let terminal = host(20, 1, format!("{OPEN}a\x1b]8;;no\x1b\\b{CLOSE}"));
    assert_eq!(decorations(terminal.screen(), 1), ["1-1 @http://a.example/"]);
}

#[test]
fn underlines_have_colors_where_there_are_underlines() {
    for (input, expected) in [
        ("\x1b[4;58:2::1:2:3mA\x1b[59mB", &["1-1 color 010203"][..]),
        ("\x1b[4:3;58:5:9mA\x1b[24mB\x1b[4mC", &["1-1 color 9", "3-3 color 9"]),
        ("\x1b[4;58;5;200mA\x1b[58;2;1;2;3mB\x1b[mC", &["1-1 color 200", "2-2 color 010203"]),
        ("\x1b[58:5:1mA", &[]),
        ("\x1b[4;58:5:1;31mA\x1b[58:5mB", &["1-2 color 1"]),
        ("\x1b[4;58:5:1mA\x1b7\x1b[59mB\x1b8\x1b[1;3HC", &["1-1 color 1", "3-3 color 1"]),
    ] {
        let terminal = host(20, 1, input);
        assert_eq!(decorations(terminal.screen(), 1), expected, "{input:?}");
    }
    let both = host(20, 1, format!("\x1b[4:3;58:5:1m{OPEN}link\x1b[m{CLOSE}"));
    assert_eq!(decorations(both.screen(), 1), ["1-4 @http://a.example/ color 1"]);
}

#[test]
fn links_of_every_cell_stay_within_bounds() {
    // Each cell has a different link, up to the row's limit. No text is lost.
    let text: String =
        (0..40 * 2).map(|n| format!("\x1b]8;;http://{n:04}/{}\x07x", "y".repeat(2000))).collect();
    let terminal = host(40, 2, text);
    assert_eq!(rows(terminal.screen()), ["x".repeat(40), "x".repeat(40)]);
    for row in 1..=2 {
        let links = decorations(terminal.screen(), row).len();
        assert!((30..40).contains(&links), "{links} links in row {row}");
    }
}

#[test]
fn a_link_broken_off_is_none() {
    check(
        20,
        1,
        &[
            ("\x1b]8;;http://a/\x18text", &["text"], (1, 5)),
            ("\x1b]8;;http://a/\x1b[1mtext", &["text"], (1, 5)),
            ("\x1b]8;\x07text", &["text"], (1, 5)),
            ("\x1b]8\x07text", &["text"], (1, 5)),
        ],
    );
    let terminal = host(20, 1, "\x1b]8;;http://a/\x18text\x1b]8;;http://b/\x1b[mmore");
    assert_eq!(decorations(terminal.screen(), 1), [] as [String; 0]);
}
