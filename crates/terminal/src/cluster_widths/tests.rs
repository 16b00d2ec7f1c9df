use proptest::prelude::*;

use super::*;
use crate::display::properties::{program, size};
use crate::display::{Vocabulary, diff};
use crate::{
    NewerChar, NewerWide, Renderer, Screen, Size, Terminal, TerminalCapabilities, UserTerminal,
};

const WOMAN_SCIENTIST: &str = "\u{1f469}\u{200d}\u{1f52c}";
const DARK_THUMB: &str = "\u{1f44d}\u{1f3ff}";
const FLAG: &str = "\u{1f1e9}\u{1f1ea}";
const RED_HEART: &str = "\u{2764}\u{fe0f}";
const TEXT_WATCH: &str = "\u{231a}\u{fe0e}";
/// A syllable of Devanagari: three consonants.
const SYLLABLE: &str = "\u{915}\u{94d}\u{937}\u{94d}\u{92f}";
const NEWER: char = '\u{1faec}';
const NEWER_TEXT: &str = "\u{1faec}";
const BARE_COLOR: &str = "a\u{1f3fb}";
const VOWEL: &str = "\u{915}\u{93e}";
/// Marathi: two consonants with a joiner between them, and a vowel.
const JOINED_LETTERS: &str = "\u{930}\u{94d}\u{200d}\u{92f}\u{93e}";

fn host(size: Size, cluster_widths: ClusterWidths) -> Terminal {
    let mut terminal = Terminal::host(size);
    terminal.set_user_terminal(user_terminal(cluster_widths));
    terminal
}

/// Returns a user's terminal that has these widths of clusters, and gives two columns to [`NEWER`].
fn user_terminal(cluster_widths: ClusterWidths) -> UserTerminal {
    let mut newer_wide = NewerWide::NONE;
    newer_wide.insert(NewerChar::new(NEWER).unwrap());
    UserTerminal { cluster_widths, newer_wide, ..UserTerminal::default() }
}

/// Returns a screen of 10 columns on which `text` was printed.
fn screen(cluster_widths: ClusterWidths, text: &str) -> Screen {
    let mut terminal = host(Size::clamped(10, 3), cluster_widths);
    terminal.write(text.as_bytes());
    terminal.screen().assert_integrity();
    terminal.snapshot()
}

#[test]
fn each_kind_of_cluster_has_its_own_switch() {
    for (text, kind, without, with) in [
        (WOMAN_SCIENTIST, ClusterWidths::JOINED, 4, 2),
        (DARK_THUMB, ClusterWidths::MODIFIERS, 4, 2),
        ("\u{1f1e9}", ClusterWidths::FLAGS, 1, 2),
        (FLAG, ClusterWidths::FLAGS, 2, 2),
        (RED_HEART, ClusterWidths::EMOJI_SELECTOR, 1, 2),
        (TEXT_WATCH, ClusterWidths::TEXT_SELECTOR, 2, 1),
        (SYLLABLE, ClusterWidths::SYLLABLES, 3, 1),
        (SYLLABLE, ClusterWidths::SYLLABLES.union(ClusterWidths::EMOJI_SELECTOR), 3, 2),
        (VOWEL, ClusterWidths::MARKS, 2, 1),
        (JOINED_LETTERS, ClusterWidths::JOINED.union(ClusterWidths::EMOJI_SELECTOR), 3, 2),
        (BARE_COLOR, ClusterWidths::MODIFIERS, 3, 3),
        (BARE_COLOR, ClusterWidths::BARE_MODIFIERS, 3, 1),
        (BARE_COLOR, ClusterWidths::BARE_MODIFIERS.union(ClusterWidths::EMOJI_SELECTOR), 3, 2),
    ] {
        let columns = |kinds| screen(kinds, text).cursor().column;
        let columns = (columns(ClusterWidths::CODE_POINTS), columns(kind));
        assert_eq!(columns, (without, with), "{}", text.escape_unicode());
    }
}

#[test]
fn newer_and_rare_characters_have_the_columns_of_the_specification() {
    for (text, columns) in [
        ("#\u{fe0f}\u{20e3}", 2),                         // a keycap
        ("\u{26f9}\u{1f3fb}\u{200d}\u{2640}\u{fe0f}", 2), // a narrow sign with a colour
        ("\u{1f3f4}\u{e0067}\u{e0062}\u{e007f}", 2),      // a flag of tags
        ("\u{1f1e9}\u{1f1ea}\u{1f1eb}", 4),               // a flag and a half
        (BARE_COLOR, 3),
        ("e\u{301}\u{200d}x", 2),                // nothing to join
        ("\u{1a20}\u{1a6e}\u{1a60}\u{1a2f}", 2), // Tai Tham
        ("\u{a98f}\u{a9c0}", 1),                 // a virama that has a column of its own elsewhere
        ("\u{3248}\u{17d8}", 2),
        ("\u{ac00}\u{4e00}\u{3042}x", 7),
    ] {
        let cursor = screen(ClusterWidths::ALL, text).cursor();
        assert_eq!(cursor.column, columns, "{}", text.escape_unicode());
    }
}

#[test]
fn a_character_that_our_tables_do_not_know_is_as_wide_as_the_terminal_says() {
    for rule in [ClusterWidths::CODE_POINTS, ClusterWidths::ALL] {
        for (text, columns) in [
            ("ab\u{1faec}c", 5),
            ("\u{1faed}\u{1faec}", 3),
            ("\u{1faec}\u{301}\u{1faed}", 3),
            ("\u{1faec}\x1b[2b", 6),
        ] {
            assert_eq!(screen(rule, text).cursor().column, columns, "{}", text.escape_unicode());
        }
        assert_eq!(screen(rule, "123456789\u{1faec}").cursor().row, 1);
    }
}

#[test]
fn a_cluster_is_joined_only_where_it_is_printed_in_one_go() {
    for (text, row) in [
        ("\u{1f1e9}\x1b[1;3H\u{1f1ea}", "\u{1f1e9}\u{1f1ea}"),
        ("\u{2764}\x1b[mx", "\u{2764}x"),
        ("\u{1f469}\u{200d}\x1b[1;3H\u{1f52c}", "\u{1f469}\u{200d}\u{1f52c}"),
    ] {
        let screen = screen(ClusterWidths::ALL, text);
        assert_eq!(screen.row_text(0), row);
        assert!(screen.row(0).unwrap().cells()[2].base.is_some() || screen.cursor().column == 2);
    }
    // A pty may deliver the text byte by byte.
    let mut terminal = host(Size::clamped(10, 3), ClusterWidths::ALL);
    WOMAN_SCIENTIST.bytes().for_each(|byte| terminal.write(&[byte]));
    assert_eq!(terminal.screen(), &screen(ClusterWidths::ALL, WOMAN_SCIENTIST));
}

#[test]
fn a_character_that_is_widened_takes_the_next_column_and_none_at_the_edge() {
    for (text, row, column) in [
        // The letter under the new cell is gone, and so is the other half of a wide character that was cut.
        (format!("abc\r{RED_HEART}"), format!("{RED_HEART}c"), 2),
        (format!("a\u{4e00}c\r{RED_HEART}"), format!("{RED_HEART} c"), 2),
        (format!("\x1b[1;10H{RED_HEART}"), String::new(), 2),
        (format!("\x1b[?7l\x1b[1;10H{RED_HEART}"), "         \u{2764}".to_owned(), 9),
        (format!("\x1b[1;9H{RED_HEART}"), format!("        {RED_HEART}"), 9),
        (format!("\x1b[1;9H{TEXT_WATCH}x"), format!("        {TEXT_WATCH}x"), 9),
        (format!("ab\r\x1b[4h{RED_HEART}"), format!("{RED_HEART}ab"), 2),
    ] {
        let screen = screen(ClusterWidths::ALL, &text);
        assert_eq!((screen.row_text(0), screen.cursor().column), (row, column), "{text:?}");
    }
}

/// The first three members of this family and a joiner fill a cell.
#[test]
fn an_emoji_after_a_joiner_for_which_the_cell_has_no_room_gets_a_cell_of_its_own() {
    let member = |person| format!("{person}\u{1f3fb}\u{200d}");
    let three = ['\u{1f468}', '\u{1f469}', '\u{1f467}'].map(member).concat();
    let text = format!("{three}\u{1f466}\u{1f3fb}\u{1f389}\u{1f389}");
    let now = screen(ClusterWidths::ALL, &text);
    assert_eq!((now.row_text(0), now.cursor().column), (text, 8));
    let before = Screen::blank(now.size());
    let mut replica = Terminal::replica(now.size());
    replica.write(&diff(&before, &now, Vocabulary::Clusters));
    assert_eq!(*replica.screen(), now);
}

#[test]
fn another_rule_is_a_state_of_its_own_and_changes_nothing_that_is_printed() {
    let mut terminal = host(Size::clamped(10, 3), ClusterWidths::CODE_POINTS);
    terminal.write(RED_HEART.as_bytes());
    let before = terminal.snapshot();
    let able = UserTerminal { cluster_widths: ClusterWidths::ALL, ..UserTerminal::default() };
    terminal.set_user_terminal(able);
    assert_ne!(before, *terminal.screen());
    assert_eq!(diff(&before, terminal.screen(), Vocabulary::Clusters), b"\x1b[=63w");
    terminal.write(format!("\r\n{RED_HEART}\x1bc{RED_HEART}").as_bytes());
    assert_eq!(terminal.screen().cursor().column, 2, "a reset leaves the user's terminal as it is");
}

#[test]
fn programs_cannot_say_how_wide_a_character_is() {
    let mut terminal = host(Size::clamped(10, 3), ClusterWidths::CODE_POINTS);
    terminal.write(b"\x1b]66;w=2;x\x07\x1b[=63w");
    assert_eq!(*terminal.screen(), Screen::blank(Size::clamped(10, 3)));
}

#[test]
fn a_far_end_that_knows_no_clusters_gets_what_comes_nearest() {
    let now = screen(ClusterWidths::ALL, &format!("{RED_HEART}{FLAG}{TEXT_WATCH}{DARK_THUMB}x"));
    for vocabulary in [Vocabulary::Stock, Vocabulary::Rich] {
        let mut replica = Terminal::replica(now.size());
        let covered = screen(ClusterWidths::CODE_POINTS, "0123456789");
        replica.write(&diff(&Screen::blank(now.size()), &covered, vocabulary));
        replica.write(&diff(&covered, &now, vocabulary));
        let row = "\u{2764}\u{fe0f} \u{1f1e9} \u{fffd}\u{1f44d}x";
        assert_eq!(replica.screen().row_text(0), row);
    }
}

/// A text with many clusters and parts of clusters.
fn clusters() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        WOMAN_SCIENTIST,
        DARK_THUMB,
        FLAG,
        RED_HEART,
        TEXT_WATCH,
        SYLLABLE,
        VOWEL,
        NEWER_TEXT,
        "\u{1f1e9}",
        "\u{200d}",
        "\u{fe0f}",
        "\u{1f3fb}",
        "\u{93e}",
        "\u{94d}",
        "\u{1f469}",
        "a",
        "\u{4e00}",
        " ",
        "\r",
        "\r\n",
        "\x1b[C",
        "\x1b[2D",
        "\x1b[1P",
        "\x1b[2@",
        "\x1b[4h",
        "\x1b[4l",
        "\x1b[1;9H",
        "\x1b[K",
        "\x1b[X",
        "\x1b[?7l",
        "\x1b[?7h",
        "\u{301}",
        "\u{1100}",
        "\u{1161}",
        "\u{600}",
        "\x1b[2;3H",
    ]);
    prop::collection::vec(part, 0..25).prop_map(|parts| parts.concat())
}

fn rule() -> impl Strategy<Value = ClusterWidths> {
    prop_oneof![Just(ClusterWidths::ALL), (0_u8..=255).prop_map(ClusterWidths::from_bits_retain)]
}

proptest! {
    /// The cells of both screens may have been printed under any rules for clusters.
    #[test]
    fn clusters_come_out_at_the_far_end_as_they_are(
        size in size(), first in clusters(), second in clusters(), others in program(),
        rules in (rule(), rule()),
    ) {
        let mut host = host(size, rules.0);
        let mut replica = Terminal::replica(size);
        let mut shown = host.snapshot();
        replica.write(&diff(&Screen::blank(size), &shown, Vocabulary::Clusters));
        for (text, rule) in [(first, rules.0), (others, rules.1), (second, rules.1)] {
            host.set_user_terminal(user_terminal(rule));
            host.write(text.as_bytes());
            host.screen().assert_integrity();
            replica.write(&diff(&shown, host.screen(), Vocabulary::Clusters));
            shown = host.snapshot();
            for (ours, theirs) in shown.rows.iter().zip(&replica.screen().rows) {
                prop_assert_eq!(ours.cells(), theirs.cells());
                prop_assert_eq!(&ours.marks, &theirs.marks);
            }
            prop_assert_eq!(shown.cluster_widths, replica.screen().cluster_widths);
            prop_assert_eq!(shown.cursor(), replica.screen().cursor());
        }
    }

    /// If a user's terminal counts clusters as the host does, it shows the host's screen after each frame.
    #[test]
    fn a_terminal_that_counts_as_the_host_shows_the_same(
        first in clusters(), second in clusters(), rule in rule(),
    ) {
        let size = Size::clamped(12, 4);
        let (mut host, mut capabilities) = (host(size, rule), host(size, rule));
        let mut renderer = Renderer::new(TerminalCapabilities::default());
        capabilities.write(&renderer.open());
        for text in [first, second] {
            host.write(text.as_bytes());
            capabilities.write(&renderer.frame(host.screen()));
            for row in 0..size.rows() {
                let mut text = host.screen().row_text(row);
                let last = host.screen().row(row).unwrap().cells()[11];
                if let Some(base) = last.base.filter(|base| char_width(*base) > last.width()) {
                    // A terminal wraps before it reads the selector that makes the character narrow.
                    text.truncate(text.rfind(base).unwrap());
                    text.push('\u{fffd}');
                }
                prop_assert_eq!(capabilities.screen().row_text(row), text);
            }
        }
    }

    #[test]
    fn a_hostile_cluster_does_no_harm(sized in "w=[0-3];.{0,40}", size in size(), column in 1_u16..20) {
        let mut replica = Terminal::replica(size);
        replica.write(format!("\x1b[1;{column}H\x1b]66;{sized}\x07x").as_bytes());
    }
}

#[test]
fn a_character_that_begins_a_cluster_joins_none_that_does() {
    for c in ('\0'..=char::MAX).filter(|c| begins_cluster(*c)) {
        for before in ['a', '\u{2764}', '\u{1f469}', '\u{ac00}', '\u{4e00}', c] {
            assert!(!is_one_cluster(&before.to_string(), c), "{c:?} behind {before:?}");
        }
        assert_eq!(char_width(c), ClusterWidths::ALL.char_width(c), "{c:?} is printed in runs");
        assert!(char_width(c) > 0, "{c:?}");
    }
}
