//! Every picture that bytes draw, and the letters of a secret in them.

use crate::support::{SIZE, emulator, lines};

/// Letters of a secret that were seen.
#[derive(Debug)]
pub(super) struct Leak {
    /// The letters that were in any picture, in the order of the secret.
    pub(super) letters: String,
    /// The rows of the first of the pictures with the most letters.
    pub(super) rows: Vec<String>,
}

/// Draws the bytes one by one and returns what the pictures show of the secret, if any shows a letter of it.
pub(super) fn leak(output: &[u8], secret: &str) -> Option<Leak> {
    let (rows, columns) = SIZE;
    let mut parser = emulator(rows, columns);
    let mut seen = String::new();
    let mut most = 0;
    let mut worst = Vec::new();
    for byte in output {
        parser.process(&[*byte]);
        // Only a letter that is drawn can be the first to be there.
        if !secret.as_bytes().contains(byte) {
            continue;
        }
        let letters = letters(parser.screen(), secret);
        if letters.len() > most {
            most = letters.len();
            worst = lines(parser.screen());
        }
        seen.push_str(&letters);
    }
    let letters: String = secret.chars().filter(|letter| seen.contains(*letter)).collect();
    (!letters.is_empty()).then_some(Leak { letters, rows: worst })
}

/// Returns the letters of the secret that are seen on the screen: not those in the colour of their background.
pub(super) fn letters(screen: &vt100::Screen, secret: &str) -> String {
    let (rows, columns) = screen.size();
    let places =
        (0..rows.get()).flat_map(|row| (0..columns.get()).map(move |column| (row, column)));
    let cells = places.filter_map(|(row, column)| screen.cell(row, column));
    let is_seen = |cell: &&vt100::Cell| {
        cell.fgcolor() == vt100::Color::Default || cell.fgcolor() != cell.bgcolor()
    };
    let seen: String = cells.filter(is_seen).map(vt100::Cell::contents).collect();
    seen.chars().filter(|letter| secret.contains(*letter)).collect()
}

#[test]
fn a_letter_that_stands_for_a_moment_is_found() {
    let leak = leak(b"name\x1b[5Xpin: Q\x08 \x08**", "ZQ").expect("the letter was there");
    assert_eq!(leak.letters, "Q");
    assert_eq!(leak.rows, ["namepin: Q"]);
}

#[test]
fn a_letter_in_the_colour_of_its_ground_is_not_found() {
    assert!(super::picture::leak(b"pin: \x1b[30;40mZQ\x1b[m", "ZQ").is_none());
}

#[test]
fn a_letter_of_an_escape_sequence_is_not_found() {
    assert!(super::picture::leak(b"name\x1b[2J\x1b[3X\x1b]0;JX\x07", "JX").is_none());
}
