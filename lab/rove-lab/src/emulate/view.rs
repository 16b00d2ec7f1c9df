//! A line that shows the state of the link to a person during a run.

use core::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use rove_units::Duration;

use rove_net::Flow;

/// Interval between two changes of the line. Chosen: a person can read it, and rates do not jump.
pub(super) const EVERY: Duration = Duration::from_millis(500);

/// The texts before and after each line, and the text that removes the last line.
type Frame = [&'static str; 3];

/// Frames of the three places. Each line overwrites the last in a terminal and in its title. A file keeps all lines.
const LINE: Frame = ["\r", "\x1b[K", "\r\x1b[K"];
const TITLE: Frame = ["\x1b]2;", "\x07", "\x1b]2;\x07"];
const FILE: Frame = ["", "\n", ""];

/// The line's output, and the counts at the last line.
pub(super) struct View {
    output: Box<dyn Write>,
    frame: Frame,
    last: [Flow; 2],
}

impl View {
    /// Opens a file, the terminal's title (`title`), or by default standard error. `None` if the line would go to standard
    /// error, and that is no terminal.
    ///
    /// # Errors
    ///
    /// Returns the I/O error if the file cannot be opened.
    pub(super) fn open(place: Option<&Path>) -> io::Result<Option<Self>> {
        let file = place.filter(|place| place.as_os_str() != "title");
        let (output, frame): (Box<dyn Write>, Frame) = match file {
            None if !io::stderr().is_terminal() => return Ok(None),
            None => (Box::new(io::stderr()), if place.is_some() { TITLE } else { LINE }),
            Some(file) => {
                let file = OpenOptions::new().create(true).append(true).open(file)?;
                let frame = if file.is_terminal() { LINE } else { FILE };
                (Box::new(file), frame)
            }
        };
        Ok(Some(Self { output, frame, last: Default::default() }))
    }

    /// Shows what has happened in the time since the last line.
    pub(super) fn show(&mut self, now: [Flow; 2], elapsed: Duration) {
        let (line, [before, after, _]) = (line(&self.last, &now, elapsed), self.frame);
        self.last = now;
        // A write fails after the reader has gone, who needs no further lines.
        let _ = write!(self.output, "{before}{line}{after}");
    }
}

impl Drop for View {
    fn drop(&mut self) {
        let [.., removal] = self.frame;
        let _ = self.output.write_all(removal.as_bytes());
    }
}

/// Returns the line: for each direction rate, queue, delay and drops.
fn line(last: &[Flow; 2], now: &[Flow; 2], elapsed: Duration) -> String {
    let mut line = String::new();
    for (which, name) in ["up", "down"].into_iter().enumerate() {
        let (last, now) = (&last[which], &now[which]);
        let separator = if which == 0 { "" } else { "  |  " };
        let _ = write!(line, "{separator}{name} {}", direction(last, now, elapsed));
    }
    line
}

fn direction(last: &Flow, now: &Flow, elapsed: Duration) -> String {
    let bytes = now.delivered.get().saturating_sub(last.delivered.get());
    let bytes = f64::from(u32::try_from(bytes).unwrap_or(u32::MAX));
    let megabits = bytes * 8e-6 / elapsed.as_secs_f64().max(1e-3);
    let packets = now.stats.delivered.saturating_sub(last.stats.delivered);
    let delay = match u32::try_from(packets) {
        Ok(packets @ 1..) => {
            let mean = now.delay.saturating_sub(last.delay) / packets;
            format!("{:.1} ms", mean.as_secs_f64() * 1e3)
        }
        _ => "-".to_owned(),
    };
    let dropped = now.stats.dropped();
    let queued = now.queued.get().div_ceil(1024);
    format!("{megabits:.2} Mbit/s, queue {queued} KiB, delay {delay}, dropped {dropped}")
}

#[cfg(test)]
mod tests {
    use rove_link::{Link, LinkConfig};
    use rove_units::{Bytes, Instant, Seed};

    use super::*;

    #[test]
    fn the_line_tells_rate_queue_delay_and_drops_since_the_last() {
        let quiet = Flow::default();
        let mut link = Link::new(LinkConfig::outage(), Seed::new(1).stream("view"));
        link.handle_packet(Instant::ZERO, vec![0_u8; 10]);
        let mut delivered = Link::new(LinkConfig::default(), Seed::new(1).stream("view"));
        for _ in 0..4 {
            delivered.handle_packet(Instant::ZERO, vec![0_u8; 10]);
            assert!(delivered.poll_packet(Instant::ZERO).is_some());
        }
        let busy = Flow {
            stats: delivered.stats(),
            delivered: Bytes::new(125_000),
            queued: Bytes::new(2_049),
            delay: Duration::from_millis(90),
            refused: 0,
        };
        let lossy = Flow { stats: link.stats(), ..quiet };
        assert_eq!(
            line(&[quiet, quiet], &[busy, lossy], Duration::from_millis(500)),
            "up 2.00 Mbit/s, queue 3 KiB, delay 22.5 ms, dropped 0  |  down 0.00 Mbit/s, queue 0 KiB, delay -, \
             dropped 1"
        );
    }
}
