//! Draws every picture of the screen that the client's output makes, and finds the letters of a secret in them.

use crate::support::{SIZE, emulator, lines};

/// Letters of a secret that were visible on the client's screen.
#[derive(Debug)]
pub(super) struct Leak {
    /// All letters that were visible in any picture, in the order of the secret.
    pub(super) letters: String,
    /// The rows of the first picture with the most letters of the secret.
    pub(super) rows: Vec<String>,
}

/// Draws the output byte by byte. Returns the letters of the secret in all pictures, or `None` if there are none.
pub(super) fn leak(output: &[u8], secret: &str) -> Option<Leak> {
    let (rows, columns) = SIZE;
    let mut parser = emulator(rows, columns);
    let mut seen = String::new();
    let mut most = 0;
    let mut worst = Vec::new();
    for byte in output {
        parser.process(&[*byte]);
        // A letter can first appear only when its own byte is drawn.
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

/// Returns the letters of the secret that are visible on the screen. Letters in the colour of their background are not.
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
