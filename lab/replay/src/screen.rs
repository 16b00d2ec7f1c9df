//! `rove-lab screen`: shows the screen that the emulator makes from a program's output.
//!
//! The input is processed piece by piece, and never held in memory as a whole. The screen is written row by row.

use std::io::{self, BufWriter, Read, Write};

use anyhow::{Context, Result, anyhow};
use clap::Args;
use rove_terminal::{ClusterWidths, NewerWide, Screen, Size, Terminal, UserTerminal};
use rove_units::{Bytes, Duration};

use crate::clock::Stopwatch;
use crate::screen::report::write_json;

mod report;
#[cfg(test)]
mod tests;

/// Bytes read at once. Chosen: what a Linux pipe holds.
const READ_BYTES: usize = 64 * 1024;

/// Bytes given to the emulator between two reads of its replies. The emulator keeps 4096 bytes of replies. Chosen: no
/// reply is lost, because none is eighteen times as long as its query (DECID's comes closest).
const PIECE_BYTES: usize = 128;

/// Most bytes of the emulator's replies that are shown; later bytes are only counted. Chosen: a program asks a dozen
/// questions, and a flood of them must not fill the memory.
const REPLIES_BYTES_MAX: usize = 64 * 1024;

/// The user's terminal that the emulator assumes. It supports everything that a program may ask for.
const ABLE: UserTerminal = UserTerminal {
    kitty_keyboard: true,
    pixel_mouse: true,
    screen_checksums: true,
    // A reply with the copied text could be as long as all replies that are kept.
    read_copied: false,
    foreground: None,
    background: None,
    cursor: None,
    cell_pixels: None,
    cluster_widths: ClusterWidths::CODE_POINTS,
    newer_wide: NewerWide::NONE,
};

/// Shows the screen that a program's output makes: bytes on standard input, the screen on standard
/// output
#[derive(Clone, Copy, Debug, Args)]
pub struct ScreenOptions {
    /// Columns and rows of the terminal the output was meant for, from 1x1 to 4096x2048
    #[arg(long, value_name = "COLSxROWS", value_parser = parse_size)]
    pub(crate) size: Size,
    /// Write JSON: colours, attributes, cursor, modes, title and replies too
    #[arg(long)]
    pub(crate) json: bool,
    /// Say on standard error how many bytes were read and how fast the emulator took them
    #[arg(long)]
    pub(crate) stats: bool,
}

/// The state after all of the input was played.
#[derive(Debug)]
struct Played {
    terminal: Terminal,
    replies: Replies,
    bytes: Bytes,
    /// The processor time that the emulator took.
    time: Duration,
}

/// The emulator's replies: the first bytes of them, and the length of all.
#[derive(Debug, Default)]
struct Replies {
    kept: Vec<u8>,
    bytes: Bytes,
}

impl Replies {
    fn push(&mut self, reply: &[u8]) {
        self.bytes += Bytes::from(reply.len());
        let room = REPLIES_BYTES_MAX - self.kept.len();
        self.kept.extend_from_slice(&reply[..reply.len().min(room)]);
    }
}

/// Plays `input` to its end. Writes the screen to `output`, and the emulator's speed to `log`.
///
/// # Errors
///
/// Returns an error if `input` cannot be read, or `output` cannot be written.
pub fn run(
    options: ScreenOptions,
    input: impl Read,
    output: impl Write,
    mut log: impl Write,
) -> Result<()> {
    let played = play(options.size, input).context("cannot read standard input")?;
    let mut output = BufWriter::new(output);
    let written = if options.json {
        write_json(&played, &mut output)
    } else {
        write_text(played.terminal.screen(), &mut output)
    };
    written.and_then(|()| output.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => {
            anyhow!("standard output was closed by its reader before the screen was written")
        }
        _ => anyhow!(error).context("cannot write standard output"),
    })?;
    if options.stats {
        // A closed standard error is no failure of the command.
        let _ = writeln!(log, "rove-lab: {}", stats(played.bytes, played.time));
    }
    Ok(())
}

fn play(size: Size, mut input: impl Read) -> io::Result<Played> {
    let mut terminal = Terminal::host(size);
    terminal.set_user_terminal(ABLE);
    let mut replies = Replies::default();
    let mut bytes = Bytes::ZERO;
    let mut watch = Stopwatch::default();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let len = match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(len) => len,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        bytes += Bytes::from(len);
        watch.time(|| {
            for piece in buffer[..len].chunks(PIECE_BYTES) {
                terminal.write(piece);
                replies.push(&terminal.take_replies());
            }
        });
    }
    Ok(Played { terminal, replies, bytes, time: watch.total() })
}

/// Writes a line for each row, even a blank one, so that line and row have the same number.
fn write_text(screen: &Screen, mut output: impl Write) -> io::Result<()> {
    (0..screen.size().rows()).try_for_each(|row| writeln!(output, "{}", screen.row_text(row)))
}

/// Describes how fast the emulator took its input.
fn stats(bytes: Bytes, time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let bytes = bytes.get();
    let rate = match bytes {
        1.. if seconds > 0.0 => format!("{:.1} MB/s", bytes as f64 / 1e6 / seconds),
        _ => "too little to tell a rate".to_owned(),
    };
    format!("{bytes} bytes, {seconds:.3} s of processor time in the emulator, {rate}")
}

/// Reads a size: `80x24`.
pub(crate) fn parse_size(text: &str) -> Result<Size, String> {
    let number = |text: &str| text.parse::<i64>().ok();
    let (columns, rows) = text
        .split_once('x')
        .and_then(|(columns, rows)| Some((number(columns)?, number(rows)?)))
        .ok_or("a size is columns and rows, such as 80x24")?;
    Size::new(columns, rows).map_err(|error| error.to_string())
}
