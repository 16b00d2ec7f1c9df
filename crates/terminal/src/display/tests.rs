use std::sync::Arc;

use super::{Vocabulary, diff};
use crate::screen::cell::{Attributes, Cell, Color, Pen};
use crate::screen::{Screen, Size};

/// Makes a screen of `columns` columns, with a row for each of `lines`. A `~` is an empty cell. The rest of each line
/// is empty too. The cursor stands after the text of the last line that is not empty.
fn page(columns: u16, lines: &[&str]) -> Screen {
    let rows = u16::try_from(lines.len()).expect("few lines");
    let mut screen = Screen::blank(Size::clamped(columns, rows));
    for (row, line) in lines.iter().enumerate() {
        let cells = &mut Arc::make_mut(&mut screen.rows[row]).cells;
        for (cell, c) in cells.iter_mut().zip(line.chars()) {
            cell.base = Some(c).filter(|&c| c != '~');
        }
        if !line.is_empty() {
            screen.cursor.row = u16::try_from(row).expect("few lines");
            screen.cursor.column =
                u16::try_from(line.chars().count()).expect("short lines").min(columns - 1);
        }
    }
    screen
}

fn change(old: &Screen, new: &Screen) -> String {
    let bytes = diff(old, new, Vocabulary::Rich);
    String::from_utf8(bytes).expect("diffs are UTF-8").replace('\x1b', "^").replace('\x07', "!")
}

#[test]
fn equal_screens_have_an_empty_diff() {
    let mut screen = page(10, &["$ ls", "~b", ""]);
    assert_eq!(change(&screen, &screen), "");
    screen.cursor.column = 9;
    assert_eq!(change(&screen, &screen.clone()), "");
}

#[test]
fn a_typed_key_is_one_byte() {
    assert_eq!(change(&page(80, &["$ l", ""]), &page(80, &["$ ls", ""])), "s");
}

#[test]
fn a_rubbed_out_key_is_erased_in_place() {
    assert_eq!(change(&page(80, &["$ ls", ""]), &page(80, &["$ l", ""])), "\x08^[K");
}

#[test]
fn output_and_a_prompt_follow_as_a_program_would_write_them() {
    let old = page(80, &["$ date", "", "", ""]);
    let new = page(80, &["$ date", "Fri Nov 20", "$ ", ""]);
    assert_eq!(change(&old, &new), "\r\nFri Nov 20\r\n$ ");
}

#[test]
fn a_scroll_by_one_is_one_line_feed() {
    let old = page(80, &["first line", "second line", "$ date"]);
    let new = page(80, &["second line", "$ date", "Fri Nov 20"]);
    assert_eq!(change(&old, &new), "\n\rFri Nov 20");
}

#[test]
fn scrolling_down_inserts_a_line() {
    let old = page(80, &["second line", "third line", "fourth line"]);
    let mut new = page(80, &["first line", "second line", "third line"]);
    new.cursor.row = 0;
    assert_eq!(change(&old, &new), "^[H^[Lfirst line");
}

#[test]
fn a_region_scrolls_within_margins_that_are_full_again_afterwards() {
    let old = page(80, &["title", "first line", "second line", "third line", "status"]);
    let new = page(80, &["title", "second line", "third line", "fourth line", "status"]);
    assert_eq!(change(&old, &new), "^[2;4r\n^[M^[r\n\n\nfourth line^[5D\n");
}

#[test]
fn clearing_the_screen_erases_below_the_prompt() {
    let old = page(80, &["one", "two", "three", "$ clear"]);
    assert_eq!(change(&old, &page(80, &["$ ", "", "", ""])), "^[2H^[J^[H$ ^[K");
}

#[test]
fn a_change_of_size_repaints_everything() {
    let old = page(20, &["one", "two"]);
    let mut new = page(10, &["one", ""]);
    new.pen.attributes = Attributes::BOLD;
    assert_eq!(change(&old, &new), "^[r^[m^[H^[2Jone^[1m");
}

#[test]
fn colours_and_erased_backgrounds_are_carried() {
    let old = page(10, &["ab"]);
    let mut new = page(10, &["ab"]);
    let blue = Pen { background: Color::Named(4), ..Pen::default() };
    let cells = &mut Arc::make_mut(&mut new.rows[0]).cells;
    cells[1].pen = Pen { foreground: Color::Named(1), ..Pen::default() };
    cells[5..].fill(Cell::erased(blue));
    assert_eq!(change(&old, &new), "\x08^[31mb^[3C^[0;44m^[K\x08\x08\x08^[m");
}

#[test]
fn a_stock_client_is_told_of_a_colour_by_its_name_alone() {
    let screen = |parameters: &str| {
        let mut host = crate::Terminal::host(Size::clamped(10, 2));
        host.write(format!("\x1b[{parameters}mx").as_bytes());
        host.snapshot()
    };
    for (named, numbered) in
        [("31", "38;5;1"), ("90", "38;5;8"), ("47", "48;5;7"), ("107", "48;5;15")]
    {
        let (blank, a, b) = (screen(""), screen(named), screen(numbered));
        let bytes = |old, new, vocabulary| {
            String::from_utf8(diff(old, new, vocabulary)).unwrap().replace('\x1b', "^")
        };
        for target in [&a, &b] {
            let stock = bytes(&blank, target, Vocabulary::Stock);
            assert_eq!(stock, format!("\r^[{named}mx"));
        }
        // A stock client stores named and numbered colours alike.
        assert_eq!(bytes(&a, &b, Vocabulary::Stock), "");
        assert_eq!(bytes(&a, &b, Vocabulary::Rich), format!("\r^[{numbered}mx"));
    }
}

#[test]
fn after_the_last_column_the_cursor_is_placed_absolutely() {
    let old = page(4, &["abc", ""]);
    let mut new = page(4, &["abcd", ""]);
    new.cursor.column = 3;
    assert_eq!(change(&old, &new), "^[4Gd^[4G");
    assert_eq!(change(&new, &old), "^[4G^[K");
    new.cursor.column = 2;
    assert_eq!(change(&old, &new), "^[4Gd^[3G");
}

#[test]
fn a_wrapped_row_is_left_to_the_terminal_to_wrap() {
    let old = page(4, &["", ""]);
    let mut new = page(4, &["abcd", "ef"]);
    Arc::make_mut(&mut new.rows[0]).wrapped = true;
    assert_eq!(change(&old, &new), "abcdef");
    let mut apart = new.clone();
    Arc::make_mut(&mut apart.rows[0]).wrapped = false;
    assert_eq!(change(&new, &apart), "^[;4Hd^[3G\n");
    assert_eq!(change(&apart, &new), "^[;4Hde^[C");
}

#[test]
fn text_of_unsettled_width_is_followed_by_an_absolute_motion() {
    let old = page(10, &["", ""]);
    let mut new = page(10, &["\u{1f600}~x", ""]);
    Arc::make_mut(&mut new.rows[0]).cells[0].wide = true;
    assert_eq!(change(&old, &new), "\u{1f600}^[;3Hx");
    let mut settled = page(10, &["\u{e9}\u{4e00}~", ""]);
    Arc::make_mut(&mut settled.rows[0]).cells[1].wide = true;
    assert_eq!(change(&old, &settled), "\u{e9}\u{4e00}");
}

#[test]
fn modes_titles_and_copied_text_are_carried_once() {
    let old = page(10, &["a"]);
    let mut new = old.clone();
    new.titles.given = true;
    new.titles.title = "t\x07".into();
    new.clipboard = "aGVsbG8=".into();
    new.bells = 7;
    new.input.bracketed_paste = true;
    new.input.mouse_reporting = crate::MouseReporting::AnyMotion;
    new.input.mouse_encoding = crate::MouseEncoding::Sgr;
    new.cursor.visible = false;
    assert_eq!(change(&old, &new), "!^]52;c;aGVsbG8=!^]2;t!^[?2004h^[?1003h^[?1006h^[?25l");
    let mut next = new.clone();
    next.titles.icon_name = "t".into();
    next.titles.title = "t".into();
    next.clipboard = "?".into();
    assert_eq!(change(&new, &next), "^]0;t!");
    let cleared = Screen { clipboard: "".into(), ..new.clone() };
    assert_eq!(change(&new, &cleared), "");
}

#[test]
fn overlong_titles_and_copied_text_keep_to_what_a_stock_client_takes() {
    let old = page(10, &["a"]);
    let mut new = old.clone();
    new.titles.given = true;
    for (length, sent) in [(254, 254), (255, 254)] {
        new.titles.title = "x".repeat(length).into();
        assert_eq!(diff(&old, &new, Vocabulary::Rich).len(), sent + 5);
    }
    let mut new = old.clone();
    for (length, bytes) in [(16_379, 16_379 + 8), (16_380, 0)] {
        new.clipboard = "x".repeat(length).into();
        assert_eq!(diff(&old, &new, Vocabulary::Rich).len(), bytes);
    }
}

#[test]
fn a_row_of_many_gaps_is_erased_first() {
    let old = page(40, &["some words that fill all of the row here"]);
    let new = page(40, &["some~~~~words~~~~with~~~~gaps"]);
    assert_eq!(change(&old, &new), "^[5G^[K^[4Cwords^[4Cwith^[4Cgaps");
}

#[test]
fn a_picture_of_another_kind_starts_from_a_clear_screen() {
    let text = "~some~words~that~fill~the~row~";
    let old = page(30, &[text; 6]);
    let new = page(30, &["one", "", "two", "", "three", "1"]);
    assert_eq!(change(&old, &new), "^[H^[Jone\r\n\ntwo\r\n\nthree\r\n1");
}

#[test]
fn rows_that_moved_away_from_a_cleared_part_are_scrolled() {
    let rows = ["the first row", "the second row", "the third row", "the fourth row"];
    let old = page(30, &["", "", "", "", rows[0], rows[1], rows[2], rows[3]]);
    let new = page(30, &[rows[0], rows[1], rows[2], rows[3], "", "", "", ""]);
    assert_eq!(change(&old, &new), "\n\n\n\n^[4A");
}

#[test]
fn typing_within_a_line_shifts_the_rest() {
    let mut old = page(60, &["$ cp a-file another-file somewhere"]);
    let mut new = page(60, &["$ cp -a-file another-file somewhere"]);
    (old.cursor.column, new.cursor.column) = (5, 6);
    assert_eq!(change(&old, &new), "^[@-");
    assert_eq!(change(&new, &old), "\x08^[P");
}
