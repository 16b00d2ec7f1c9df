//! Attributes, colours, and the background of erased cells.

use rove_terminal::display::{self, Vocabulary};

use super::{cell, host, paint, rows};

/// Describes the cells of the first row that have a character.
fn paints(input: &str) -> Vec<String> {
    let terminal = host(40, 4, input);
    let row = terminal.screen().row(0).expect("a row of the screen");
    row.cells().iter().filter(|cell| cell.base.is_some()).map(|cell| paint(*cell)).collect()
}

#[test]
fn attributes_are_set_and_taken_back_one_by_one() {
    assert_eq!(
        paints("\x1b[0mE\x1b[1mE\x1b[m\x1b[4mE\x1b[m\x1b[5mE\x1b[m\x1b[7mE"),
        ["", "b", "u", "k", "r"]
    );
    assert_eq!(
        paints("\x1b[1;3;4;5;7;8mA\x1b[22mB\x1b[23mC\x1b[24mD\x1b[25mE\x1b[27mF\x1b[28mG"),
        ["bikrhu", "ikrhu", "krhu", "krh", "rh", "h", ""]
    );
}

#[test]
fn colors_come_in_three_kinds() {
    for n in 0..8 {
        assert_eq!(paints(&format!("\x1b[3{n};4{n}mE")), [format!("on {n} at {n}")]);
        assert_eq!(paints(&format!("\x1b[9{n};10{n}mE")), [format!("on {} at {}", n + 8, n + 8)]);
    }
    for n in 0..=255 {
        assert_eq!(
            paints(&format!("\x1b[38;5;{n}mE\x1b[m\x1b[48;5;{n}mM")),
            [format!("on {n}"), format!("at {n}")]
        );
    }
    assert_eq!(paints("\x1b[38;2;1;2;255;48;2;0;254;3mE"), ["on 0102ff at 00fe03"]);
    assert_eq!(paints("\x1b[31;42mA\x1b[39mB\x1b[49mC"), ["on 1 at 2", "at 2", ""]);
}

#[test]
fn a_colour_by_number_is_told_from_its_name_except_to_a_stock_peer() {
    for n in 0..16 {
        let (foreground, background) = if n < 8 { (30 + n, 40 + n) } else { (82 + n, 92 + n) };
        let named = host(8, 1, format!("\x1b[{foreground};{background}mA"));
        let numbered = host(8, 1, format!("\x1b[38;5;{n};48;5;{n}mA"));
        let (named, numbered) = (named.screen(), numbered.screen());
        assert!(named != numbered);
        for (old, new) in [(named, numbered), (numbered, named)] {
            assert_eq!(display::diff(old, new, Vocabulary::Stock), b"");
            assert_ne!(display::diff(old, new, Vocabulary::Rich), b"");
        }
    }
}

/// Returns a rainbow of 77 cells: red falls, green rises and falls, blue rises.
fn rainbow(attributes: &str) -> String {
    let mut row = format!("\x1b[{attributes}m");
    for i in 0..=76 {
        let (red, green, blue) = (255 - 255 * i / 76, 510 * i / 76, 255 * i / 76);
        let green = if green > 255 { 510 - green } else { green };
        row.push_str(&format!("\x1b[48;2;{red};{green};{blue}m"));
        row.push_str(&format!("\x1b[38;2;{};{};{}mE", 255 - red, 255 - green, 255 - blue));
    }
    row + "\x1b[m\r\n"
}

#[test]
fn rainbows_arrive_with_every_attribute() {
    let attributes = ["", "1", "3", "4", "5", "7", "8", "1;3;4"];
    let terminal = host(80, 9, attributes.map(rainbow).concat());
    for (row, letters) in (1..).zip(["", "b", "i", "u", "k", "r", "h", "biu"]) {
        for (column, colors) in
            [(1, "on 00ffff at ff0000"), (39, "on 7f0080 at 80ff7f"), (77, "on ffff00 at 0000ff")]
        {
            let expected = format!("{letters} {colors}");
            assert_eq!(paint(cell(terminal.screen(), row, column)), expected.trim());
        }
        assert_eq!(paint(cell(terminal.screen(), row, 78)), "");
    }
}

#[test]
fn unfinished_colors_hurt_nothing_else() {
    assert_eq!(paints("\x1b[31mA\x1b[;mB\x1b[31;mC"), ["on 1", "", ""]);
    assert_eq!(paints("\x1b[38;2;1;2mA\x1b[38;5mC"), ["", ""]);
    assert_eq!(
        paints("\x1b[38;5;256mA\x1b[38;2;999;1;2mB\x1b[38mC"),
        ["", "on ff0102", "on ff0102"]
    );
    assert_eq!(paints("\x1b[38:2::255:0:0mA\x1b[0m\x1b[4:3mB\x1b[0mC"), ["on ff0000", "u3", ""]);
}

#[test]
fn newer_attributes_are_set_and_taken_back_one_by_one() {
    assert_eq!(
        paints("\x1b[2;9;21;53mA\x1b[22mB\x1b[29mC\x1b[55mD\x1b[24mE"),
        ["fsou2", "sou2", "ou2", "u2", ""]
    );
    assert_eq!(
        paints("\x1b[4:0mA\x1b[4:1mB\x1b[4:2mC\x1b[4:3mD\x1b[4:4mE\x1b[4:5mF\x1b[4:6mG\x1b[4:0mH"),
        ["", "u", "u2", "u3", "u4", "u5", "u5", ""]
    );
    assert_eq!(paints("\x1b[1;2mA\x1b[22mB"), ["bf", ""]);
}

#[test]
fn sequences_that_look_like_sgr_are_not() {
    assert_eq!(paints("\x1b[>4;1mA\x1b[?4mB\x1b[>1uC\x1b[=1;1uD\x1b[<uE"), [""; 5]);
}

#[test]
fn erasing_leaves_the_background() {
    let terminal = host(
        20,
        6,
        "\x1b[48;2;255;0;255m\x1b[H\x1b[JTrue\r\n\x1b[48;5;32m\x1b[J256\r\n\x1b[42m\x1b[J16\r\n\x1b[0mdone\r\n",
    );
    assert_eq!(rows(terminal.screen()), ["True", "256", "16", "done"]);
    for (row, column, expected) in [
        (1, 1, "at ff00ff"),
        (1, 20, "at ff00ff"),
        (2, 20, "at 32"),
        (3, 20, "at 2"),
        (4, 1, ""),
        (4, 5, "at 2"),
        (4, 20, "at 2"),
        (6, 20, "at 2"),
    ] {
        assert_eq!(paint(cell(terminal.screen(), row, column)), expected, "{row},{column}");
    }
}

#[test]
fn editing_fills_with_the_background() {
    for (input, row, column, expected) in [
        ("abc\x1b[1;1H\x1b[41m\x1b[2@\x1b[m", 1, 2, "at 1"),
        ("abc\x1b[1;1H\x1b[41m\x1b[2@\x1b[m", 1, 3, ""),
        ("abc\x1b[1;1H\x1b[41m\x1b[P", 1, 20, "at 1"),
        ("abc\x1b[1;1H\x1b[41m\x1b[1L\x1b[m", 1, 20, "at 1"),
        ("abc\x1b[1;1H\x1b[41m\x1b[1M\x1b[m", 4, 20, "at 1"),
        ("\x1b[4;1H\x1b[42m\nq\x1b[m", 4, 20, "at 2"),
        ("\x1b[1;4;35;42m\x1b[X", 1, 1, "at 2"),
    ] {
        let terminal = host(20, 4, input);
        assert_eq!(paint(cell(terminal.screen(), row, column)), expected, "{input:?}");
    }
}

#[test]
fn the_alignment_pattern_has_no_colors() {
    let terminal = host(6, 2, "\x1b[1;31;42m\x1b#8x");
    assert_eq!(rows(terminal.screen()), ["xEEEEE", "EEEEEE"]);
    assert_eq!(paint(cell(terminal.screen(), 1, 1)), "b on 1 at 2");
    assert_eq!(paint(cell(terminal.screen(), 2, 1)), "");
}

#[test]
fn erased_cells_are_not_spaces() {
    let (erased, spaces) = (host(4, 1, "    \r\x1b[K"), host(4, 1, "    \r"));
    assert!(erased.screen() != spaces.screen());
    assert_eq!(cell(erased.screen(), 1, 1).base, None);
}
