//! The speed at which three emulators process output, for `cargo xtask bench emulator`.
//!
//! The emulators take turns with the same bytes, so that a busy machine slows all of them. The program prints each
//! round's MB/s, as JSON.

use std::hint::black_box;

use rove_oracle::{Alacritty, Emulator, Ours, Vt100};
use rove_terminal::Size;

/// Bytes in a turn. Chosen: about a tenth of a second for the slowest emulator.
const BYTES: usize = 8_000_000;

/// Bytes in a write to an emulator: the most that a read of a pty returns on Linux.
const PIECE: usize = 4096;

fn main() {
    let rounds = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(1);
    let escapes = |n: u32| {
        let (row, column) = (n * 7 % 24 + 1, n * 13 % 72 + 1);
        format!("\x1b[{row};{column}H\x1b[1;38;2;{n};80;160mword\x1b[0m\x1b[K")
    };
    let kinds = [
        ("plain", "the quick brown fox ".repeat(4) + "\r\n"),
        ("escapes", (0..240).map(escapes).collect()),
        ("CJK, emoji", "端末は画面😀を送る🎉".repeat(3) + "\r\n"),
        ("scrolling region", "\x1b[5;20r\x1b[20;1H".to_owned() + &"a line\r\n\x1b[2M".repeat(200)),
    ];
    for (name, text) in kinds {
        let input: Vec<u8> = text.bytes().cycle().take(BYTES).collect();
        let mut turns: [Vec<f64>; 3] = Default::default();
        for _ in 0..rounds {
            turns[0].push(speed::<Ours>(&input));
            turns[1].push(speed::<Alacritty>(&input));
            turns[2].push(speed::<Vt100>(&input));
        }
        let [ours, alacritty, vt100] = turns;
        println!(
            "{{\"kind\":\"{name}\",\"rove\":{ours:?},\"alacritty\":{alacritty:?},\"vt100\":{vt100:?}}}"
        );
    }
}

/// Returns the MB/s of an emulator's turn.
fn speed<T: Emulator>(input: &[u8]) -> f64 {
    let mut emulator = T::blank(Size::DEFAULT);
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
    let start = std::time::Instant::now();
    for piece in input.chunks(PIECE) {
        emulator.write(piece);
    }
    let seconds = start.elapsed().as_secs_f64();
    black_box(emulator.picture());
    input.len() as f64 / 1e6 / seconds
}
