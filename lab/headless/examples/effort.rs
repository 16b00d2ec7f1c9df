//! Measures what a unit of effort costs. Streams that a hostile server might send are played into a replica. The time of
//! each is printed beside the effort that was counted for it.
//!
//!     cargo run --release -p rove-headless --example effort
#![allow(
    clippy::cast_possible_truncation,
    clippy::disallowed_methods,
    reason = "a benchmark is a table, and measures real time"
)]

use std::time::Instant;

use rove_terminal::{OscSupport, Renderer, Size, Terminal, TerminalCapabilities};

const COLUMNS: usize = 500;
const ROWS: usize = 200;
/// Bytes of each stream. Chosen: about as many as an instruction can hold.
const BYTES: usize = 4 << 20;
/// Time after which a stream is stopped.
const PATIENCE_MS: u128 = 1500;

/// The streams: a name, the text that is played first, and the text that is repeated. [`samples`] defines the words in
/// braces.
const STREAMS: [[&str; 3]; 74] = [
    ["text", "", "x"],
    ["text and line feeds", "", "x\n"],
    ["line feeds", "{plain}", "\n"],
    ["letters from everywhere", "", "e\u{4e00}"],
    ["truecolor repaint", "", "{repaint}"],
    ["SGR", "", "\x1b[m"],
    ["SGR, long", "", "\x1b[38;2;1;2;3;48;2;1;2;3;58;2;1;2;3;1;2;3;4;5;6;7m"],
    ["cursor", "", "\x1b[H"],
    ["CR", "", "\r"],
    ["tabs", "\x1b[3g", "\r\t"],
    ["tabs back", "\x1b[3g", "\x1b[999G\x1b[Z"],
    ["tabs cleared", "", "\x1b[3g"],
    ["marks", "{marked}", "\x1b[H{marks}"],
    ["marks alone", "", "\x1b[C\u{301}"],
    ["letters into marks", "{marked}", "\x1b[Hx\x1b[He\u{301}"],
    ["insert into marks", "{marked}", "\x1b[H\x1b[@\x1b[P"],
    ["erase and marks", "", "\x1b[H{marks}\x1b[2K"],
    ["links", "", "\x1b[H{links}"],
    ["links, long", "", "\x1b]8;;http:{uri}\x07x"],
    ["links overwritten at the front", "{linked}", "\x1b[H\x1b]8;;ftp:\x07x\x1b]8;;\x07\x1b[Hy"],
    ["insert into links", "{linked}", "\x1b[H\x1b[@"],
    ["delete in links", "{linked}", "\x1b[H\x1b[P"],
    ["copy links", "{linked}", "\x1b[1;1;200;500;1;1;2$v"],
    ["copy curls", "{curled}", "\x1b[1;1;200;500;1;1;2$v"],
    ["copy marks", "{marked}", "\x1b[1;1;200;500;1;1;2$v"],
    ["copy", "{plain}", "\x1b[1;1;200;500;1;1;2$v"],
    ["copy one cell", "{plain}", "\x1b[1;1;200;1;1;1;2$v"],
    ["fill", "{plain}", "\x1b[65$x"],
    ["fill one column", "{plain}", "\x1b[65;1;1;200;1$x"],
    ["fill with links", "{plain}\x1b]8;;ftp:\x07", "\x1b[65$x"],
    ["erase rectangles", "{plain}", "\x1b[65$x\x1b[$z"],
    ["erase one column", "{marked}", "\x1b[1;1;200;1$z\x1b[65;1;1;200;1$x"],
    ["SR", "{plain}", "\x1b[ A"],
    ["SR marks", "{marked}", "\x1b[ A"],
    ["SL", "{plain}", "\x1b[ @"],
    ["DECIC", "{plain}", "\x1b['}"],
    ["DECIC between margins", "{plain}\x1b[?69h\x1b[2;499s\x1b[r\x1b[H\x1b[1;2H", "\x1b['}"],
    [
        "DECIC of links between margins",
        "{linked}\x1b[?69h\x1b[2;499s\x1b[r\x1b[H\x1b[1;2H",
        "\x1b['}",
    ],
    ["DECBI", "{plain}", "\r\x1b6"],
    ["ICH", "{plain}", "\x1b[@"],
    ["DCH", "{plain}", "\x1b[P"],
    ["IL", "{plain}", "\x1b[L"],
    ["DL", "{plain}", "\x1b[M"],
    ["RI", "{plain}", "\x1b[H\x1bM"],
    ["scroll between margins", "{plain}\x1b[?69h\x1b[2;499s\x1b[r\x1b[H", "\x1b[S"],
    ["scroll marks between margins", "{marked}\x1b[?69h\x1b[2;499s\x1b[r\x1b[H", "\x1b[S"],
    ["ED", "", "x\x1b[2J"],
    ["ED up", "", "\x1b[200;500Hx\x1b[1J"],
    ["EL", "{plain}", "x\x1b[2K"],
    ["EL to the cursor", "{plain}", "\x1b[1;499H\x1b[41m\x1b[1K\x1b[42m\x1b[1K"],
    ["ECH", "{plain}", "\x1b[H\x1b[41m\x1b[499X\x1b[42m\x1b[499X"],
    ["DECALN", "", "\x1b#8"],
    ["DECALN and text", "", "\x1b#8x\x1b[2;1Hx"],
    ["RIS", "", "\x1bc"],
    ["DECSTR", "", "\x1b[!p"],
    ["alternate screen", "", "\x1b[?47h\x1b[?47l"],
    ["alternate screen, cleared", "{plain}", "\x1b[?1049h\x1b[?1049l"],
    ["DECCOLM", "{plain}", "\x1b[?3h\x1b[?3l"],
    ["cursor saved", "", "\x1b7\x1b8"],
    ["titles", "", "\x1b]0;t\x07"],
    ["titles, long", "", "\x1b]0;{title}\x07"],
    ["titles aside", "\x1b]0;t\x07", "\x1b[22t"],
    ["colors", "", "\x1b]4;1;#123\x07\x1b]4;1;#124\x07"],
    ["colors reset", "\x1b]4;1;#123\x07", "\x1b]104\x07"],
    ["colors, many", "", "\x1b]4{colors}\x07"],
    ["clipboard", "", "\x1b]52;c;aGk=\x07"],
    ["clipboard, long", "", "\x1b]52;c;{long}\x07"],
    ["directory", "", "\x1b]7;file:///\x07"],
    ["strings ignored", "", "\x1b_x\x1b\\"],
    ["malformed text", "", "\u{80}\u{81}"],
    ["insert mode", "{plain}\x1b[4h", "\x1b[Hx"],
    ["insert mode, a row", "{plain}\x1b[4h", "{row}"],
    ["insert mode, marks", "{marked}\x1b[4h", "\x1b[H\u{e9}"],
    ["autowrap off", "{plain}\x1b[?7l", "\x1b[1;500Hxy"],
];

fn main() {
    println!("{:32} {:>9} {:>12} {:>9} {:>9}", "stream", "ms", "effort", "ns/unit", "ns/byte");
    let (only, samples) = (std::env::args().nth(1), samples());
    let filled = |text: &str| {
        let fill = |text: String, (name, sample): &(_, String)| text.replace(name, sample);
        samples.iter().fold(text.to_owned(), fill)
    };
    for [name, before, unit] in STREAMS {
        if only.as_ref().is_none_or(|only| name.contains(only.as_str())) {
            play(name, &filled(before), &filled(unit));
        }
    }
}

/// Returns the texts that words in braces stand for.
fn samples() -> [(&'static str, String); 12] {
    let cell = |n: usize| {
        format!("\x1b[38;2;{};{};{};48;2;9;{};7m\u{1f600}", n % 251, n % 241, n % 239, n % 233)
    };
    let marks = format!("e{}", "\u{301}".repeat(16));
    let links: String = (0..COLUMNS).map(|n| format!("\x1b]8;;http:{n}\x07x")).collect();
    let curls: String = (0..COLUMNS).map(|n| format!("\x1b[4;58:5:{}mx", n % 256)).collect();
    [
        ("{plain}", format!("\x1b[H{}", "x".repeat(COLUMNS * ROWS))),
        ("{marked}", format!("\x1b[H{}", marks.repeat(COLUMNS * ROWS))),
        ("{linked}", format!("\x1b[H{}", links.repeat(ROWS))),
        ("{curled}", format!("\x1b[H{}", curls.repeat(ROWS))),
        ("{repaint}", (0..COLUMNS * ROWS / 2).map(cell).collect()),
        ("{marks}", marks.repeat(500)),
        ("{links}", links),
        ("{row}", "x".repeat(500)),
        ("{uri}", "y".repeat(2000)),
        ("{title}", "t".repeat(254)),
        ("{long}", "A".repeat(16_000)),
        ("{colors}", ";1;#123;1;#124".repeat(1000)),
    ]
}

/// Plays a stream, and prints its time beside its effort.
fn play(name: &str, before: &str, unit: &str) {
    let mut terminal = Terminal::replica(Size::clamped(COLUMNS as u16, ROWS as u16));
    terminal.write(before.as_bytes());
    let kept = terminal.clone();
    let unit = unit.repeat(1 + 4096 / unit.len());
    let effort = terminal.effort();
    let start = Instant::now();
    let mut bytes = 0;
    while bytes < BYTES && start.elapsed().as_millis() < PATIENCE_MS {
        terminal.write(unit.as_bytes());
        bytes += unit.len();
    }
    let nanos = start.elapsed().as_nanos() as f64;
    let effort = (terminal.effort() - effort) as f64;
    println!(
        "{name:32} {:9.1} {effort:12.0} {:9.2} {:9.2}",
        nanos / 1e6,
        nanos / effort,
        nanos / bytes as f64,
    );
    let mut renderer = Renderer::new(TerminalCapabilities {
        osc: OscSupport { any: true, ..OscSupport::default() },
        ..TerminalCapabilities::default()
    });
    renderer.frame(kept.screen());
    let start = Instant::now();
    let out = renderer.frame(terminal.screen());
    let all = start.elapsed();
    if all.as_millis() > 5 {
        println!("    drawn in {:.1} ms, {} bytes", all.as_secs_f64() * 1e3, out.len());
    }
}
