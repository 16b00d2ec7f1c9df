//! Measures what a unit of effort costs: plays streams that a hostile server might send into a replica, and
//! prints the time of each beside the effort that was counted for it.
//!
//!     cargo run --release -p rove-terminal --example effort
#![allow(
    clippy::too_many_lines,
    clippy::cast_possible_truncation,
    clippy::disallowed_methods,
    reason = "a benchmark is a table, and measures real time"
)]

use std::time::Instant;

use rove_terminal::{Renderer, Size, Terminal, TerminalCapabilities};

const COLUMNS: usize = 500;
const ROWS: usize = 200;
/// Bytes of each stream. Chosen: about what one instruction holds at most.
const BYTES: usize = 4 << 20;
/// Time after which a stream is broken off.
const PATIENCE_MS: u128 = 1500;

fn main() {
    let cell = |n: usize| {
        format!("\x1b[38;2;{};{};{};48;2;9;{};7m\u{1f600}", n % 251, n % 241, n % 239, n % 233)
    };
    let marks = format!("e{}", "\u{301}".repeat(16));
    let links: String = (0..COLUMNS).map(|n| format!("\x1b]8;;http:{n}\x07x")).collect();
    let curls: String = (0..COLUMNS).map(|n| format!("\x1b[4;58:5:{}mx", n % 256)).collect();
    let marked = format!("\x1b[H{}", marks.repeat(COLUMNS * ROWS));
    let linked = format!("\x1b[H{}", links.repeat(ROWS));
    let curled = format!("\x1b[H{}", curls.repeat(ROWS));
    let plain = format!("\x1b[H{}", "x".repeat(COLUMNS * ROWS));
    let repaint: String = (0..COLUMNS * ROWS / 2).map(cell).collect();
    let side = "\x1b[?69h\x1b[2;499s\x1b[r\x1b[H";
    let streams: Vec<(&str, String, String)> = vec![
        ("text", String::new(), "x".repeat(4096)),
        ("text and line feeds", String::new(), "x\n".into()),
        ("line feeds", plain.clone(), "\n".into()),
        ("letters from everywhere", String::new(), "e\u{4e00}".repeat(100)),
        ("truecolor repaint", String::new(), repaint),
        ("SGR", String::new(), "\x1b[m".into()),
        ("SGR, long", String::new(), "\x1b[38;2;1;2;3;48;2;1;2;3;58;2;1;2;3;1;2;3;4;5;6;7m".into()),
        ("cursor", String::new(), "\x1b[H".into()),
        ("CR", String::new(), "\r".into()),
        ("tabs", "\x1b[3g".into(), "\r\t".into()),
        ("tabs back", "\x1b[3g".into(), "\x1b[999G\x1b[Z".into()),
        ("tabs cleared", String::new(), "\x1b[3g".into()),
        ("marks", marked.clone(), format!("\x1b[H{}", marks.repeat(500))),
        ("marks alone", String::new(), "\x1b[C\u{301}".into()),
        ("letters into marks", marked.clone(), "\x1b[Hx\x1b[He\u{301}".into()),
        ("insert into marks", marked.clone(), "\x1b[H\x1b[@\x1b[P".into()),
        ("erase and marks", String::new(), format!("\x1b[H{}\x1b[2K", marks.repeat(500))),
        ("links", String::new(), format!("\x1b[H{links}")),
        ("links, long", String::new(), format!("\x1b]8;;http:{}\x07x", "y".repeat(2000))),
        (
            "links overwritten at the front",
            linked.clone(),
            "\x1b[H\x1b]8;;ftp:\x07x\x1b]8;;\x07\x1b[Hy".into(),
        ),
        ("insert into links", linked.clone(), "\x1b[H\x1b[@".into()),
        ("delete in links", linked.clone(), "\x1b[H\x1b[P".into()),
        ("copy links", linked.clone(), "\x1b[1;1;200;500;1;1;2$v".into()),
        ("copy curls", curled.clone(), "\x1b[1;1;200;500;1;1;2$v".into()),
        ("copy marks", marked.clone(), "\x1b[1;1;200;500;1;1;2$v".into()),
        ("copy", plain.clone(), "\x1b[1;1;200;500;1;1;2$v".into()),
        ("copy one cell", plain.clone(), "\x1b[1;1;200;1;1;1;2$v".into()),
        ("fill", plain.clone(), "\x1b[65$x".into()),
        ("fill one column", plain.clone(), "\x1b[65;1;1;200;1$x".into()),
        ("fill with links", format!("{plain}\x1b]8;;ftp:\x07"), "\x1b[65$x".into()),
        ("erase rectangles", plain.clone(), "\x1b[65$x\x1b[$z".into()),
        ("erase one column", marked.clone(), "\x1b[1;1;200;1$z\x1b[65;1;1;200;1$x".into()),
        ("SR", plain.clone(), "\x1b[ A".into()),
        ("SR marks", marked.clone(), "\x1b[ A".into()),
        ("SL", plain.clone(), "\x1b[ @".into()),
        ("DECIC", plain.clone(), "\x1b['}".into()),
        ("DECIC between margins", format!("{plain}{side}\x1b[1;2H"), "\x1b['}".into()),
        ("DECIC of links between margins", format!("{linked}{side}\x1b[1;2H"), "\x1b['}".into()),
        ("DECBI", plain.clone(), "\r\x1b6".into()),
        ("ICH", plain.clone(), "\x1b[@".into()),
        ("DCH", plain.clone(), "\x1b[P".into()),
        ("IL", plain.clone(), "\x1b[L".into()),
        ("DL", plain.clone(), "\x1b[M".into()),
        ("RI", plain.clone(), "\x1b[H\x1bM".into()),
        ("scroll between margins", format!("{plain}{side}"), "\x1b[S".into()),
        ("scroll marks between margins", format!("{marked}{side}"), "\x1b[S".into()),
        ("ED", String::new(), "x\x1b[2J".into()),
        ("ED up", String::new(), "\x1b[200;500Hx\x1b[1J".into()),
        ("EL", plain.clone(), "x\x1b[2K".into()),
        ("EL to the cursor", plain.clone(), "\x1b[1;499H\x1b[41m\x1b[1K\x1b[42m\x1b[1K".into()),
        ("ECH", plain.clone(), "\x1b[H\x1b[41m\x1b[499X\x1b[42m\x1b[499X".into()),
        ("DECALN", String::new(), "\x1b#8".into()),
        ("DECALN and text", String::new(), "\x1b#8x\x1b[2;1Hx".into()),
        ("RIS", String::new(), "\x1bc".into()),
        ("DECSTR", String::new(), "\x1b[!p".into()),
        ("alternate screen", String::new(), "\x1b[?47h\x1b[?47l".into()),
        ("alternate screen, cleared", plain.clone(), "\x1b[?1049h\x1b[?1049l".into()),
        ("DECCOLM", plain.clone(), "\x1b[?3h\x1b[?3l".into()),
        ("cursor saved", String::new(), "\x1b7\x1b8".into()),
        ("titles", String::new(), "\x1b]0;t\x07".into()),
        ("titles, long", String::new(), format!("\x1b]0;{}\x07", "t".repeat(254))),
        ("titles aside", "\x1b]0;t\x07".into(), "\x1b[22t".into()),
        ("colors", String::new(), "\x1b]4;1;#123\x07\x1b]4;1;#124\x07".into()),
        ("colors reset", "\x1b]4;1;#123\x07".into(), "\x1b]104\x07".into()),
        ("colors, many", String::new(), format!("\x1b]4{}\x07", ";1;#123;1;#124".repeat(1000))),
        ("clipboard", String::new(), "\x1b]52;c;aGk=\x07".into()),
        ("clipboard, long", String::new(), format!("\x1b]52;c;{}\x07", "A".repeat(16_000))),
        ("directory", String::new(), "\x1b]7;file:///\x07".into()),
        ("strings ignored", String::new(), "\x1b_x\x1b\\".into()),
        ("malformed text", String::new(), "\u{80}\u{81}".into()),
        ("insert mode", format!("{plain}\x1b[4h"), "\x1b[Hx".into()),
        ("insert mode, a row", format!("{plain}\x1b[4h"), "x".repeat(500)),
        ("insert mode, marks", format!("{marked}\x1b[4h"), "\x1b[H\u{e9}".into()),
        ("autowrap off", format!("{plain}\x1b[?7l"), "\x1b[1;500Hxy".into()),
    ];
    println!("{:32} {:>9} {:>12} {:>9} {:>9}", "stream", "ms", "effort", "ns/unit", "ns/byte");
    let size = Size::clamped(COLUMNS as u16, ROWS as u16);
    let only = std::env::args().nth(1);
    for (name, before, unit) in &streams {
        if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        let mut terminal = Terminal::replica(size);
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
            operating_system_commands: true,
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
}
