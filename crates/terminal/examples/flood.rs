//! Measures the speed of the emulator: `cargo run --release -p rove-terminal --example flood`.
//!
//! Prints megabytes per second for several kinds of text, or for a single kind if it is named. With `scrollback` after
//! the name, the lines that scroll off are kept and never taken.

use std::hint::black_box;

use rove_terminal::{Size, Terminal};

/// Bytes of each kind. Chosen: long enough for a steady figure, short enough to wait for.
const BYTES: usize = 50_000_000;

/// Bytes of each write: the most that a read of a pty returns on Linux.
const PIECE: usize = 4096;

fn main() {
    let kinds: [(&str, String); 6] = [
        ("plain", format!("{}\r\n", "the quick brown fox ".repeat(4))),
        ("long lines", "the quick brown fox ".repeat(50)),
        ("yes", "y\r\n".to_owned()),
        (
            "sgr heavy",
            (0..40).map(|n| format!("\x1b[1;38;5;{n}mword\x1b[0m ")).collect::<String>() + "\r\n",
        ),
        (
            "full screen",
            (1..=24).map(|row| format!("\x1b[{row};1H\x1b[7mstatus\x1b[m line\x1b[K")).collect(),
        ),
        ("wide", format!("{}\r\n", "端末は画面を送る".repeat(4))),
    ];
    let wanted = std::env::args().nth(1);
    for (name, text) in kinds {
        if wanted.as_ref().is_some_and(|wanted| wanted != name) {
            continue;
        }
        let input: Vec<u8> = text.bytes().cycle().take(BYTES).collect();
        let mut terminal = Terminal::host(Size::DEFAULT);
        if std::env::args().nth(2).is_some_and(|word| word == "scrollback") {
            terminal.keep_scrollback();
        }
        #[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
        let start = std::time::Instant::now();
        for (number, piece) in input.chunks(PIECE).enumerate() {
            terminal.write(piece);
            // A frame is taken now and then, as by a server.
            if number % 64 == 0 {
                black_box(terminal.snapshot());
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        println!("{name:12} {:7.0} MB/s", 50.0 / seconds);
        black_box(terminal);
    }
}
