//! How fast three emulators take output: `cargo run --release -p rove-oracle --example throughput [ROUNDS] [KIND]`.
//!
//! The emulators take turns on the same bytes, so that a busy machine slows all of them; printed are
//! the medians in MB/s, and how much faster ours is, with `--json` the figures of every round. A kind
//! named as argument is the only one.

use std::hint::black_box;

use rove_oracle::{Alacritty, Emulator, Ours, Vt100};
use rove_terminal::Size;

/// Bytes fed per turn. Chosen: a tenth of a second or so for the slowest.
const BYTES: usize = 8_000_000;

/// Turns of each emulator for each kind, unless another number is given. Odd, so that there is a median.
const ROUNDS: usize = 9;

/// Bytes given at once: what a read of a pty returns at most on Linux.
const PIECE: usize = 4096;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let rounds = words.iter().find_map(|word| word.parse().ok()).unwrap_or(ROUNDS);
    let json = words.iter().any(|word| word == "--json");
    let wanted = words.iter().find(|word| *word != "--json" && word.parse::<usize>().is_err());
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
    if !json {
        println!("{:18}{:>8}{:>12}{:>8}   ours / theirs", "MB/s", "ours", "alacritty", "vt100");
    }
    for (name, text) in kinds {
        if wanted.is_some_and(|wanted| wanted != name) {
            continue;
        }
        let input: Vec<u8> = text.bytes().cycle().take(BYTES).collect();
        let mut turns: [Vec<f64>; 3] = Default::default();
        for _ in 0..rounds {
            turns[0].push(speed::<Ours>(&input));
            turns[1].push(speed::<Alacritty>(&input));
            turns[2].push(speed::<Vt100>(&input));
        }
        if json {
            let [ours, alacritty, vt100] = turns;
            println!(
                "{{\"kind\":\"{name}\",\"rove\":{ours:?},\"alacritty\":{alacritty:?},\"vt100\":{vt100:?}}}"
            );
            continue;
        }
        let [ours, alacritty, vt100] = turns.map(|mut speeds| {
            speeds.sort_by(f64::total_cmp);
            speeds[rounds / 2]
        });
        println!(
            "{name:18}{ours:8.0}{alacritty:12.0}{vt100:8.0}   {:.2} {:.2}",
            ours / alacritty,
            ours / vt100
        );
    }
}

/// Returns the megabytes per second of one turn.
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
