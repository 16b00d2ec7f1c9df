//! Sizes of the differences between recorded screens, plain and compressed.

use flate2::{Compress, Compression, FlushCompress};
use rove_session::{CAPABILITIES, HostScreen};
use rove_ssp::{Object, StateNum};
use rove_terminal::Terminal;

use crate::experiment::conditions::{Conditions, RunFigure, Samples};
use crate::experiment::measure::age::pictures;

/// Nanoseconds that a byte takes on the link. Chosen: 64 kbit/s, a slow link.
const BYTE_NANOS: u64 = 125_000;

/// The ways to compress: the level, and whether all diffs of a session are one stream. The first way is the protocol's.
const WAYS: [(u32, bool); 3] = [(6, false), (9, false), (6, true)];

/// Mean bytes of a picture: as the program wrote it, as a plain difference, and compressed in each of the [`WAYS`].
pub(super) const FIGURES: [RunFigure; 5] = [
    RunFigure { name: "written (B)", scale: 1e-3, is_compared: false },
    RunFigure { name: "plain (B)", scale: 1e-3, is_compared: false },
    RunFigure { name: "deflate (B)", scale: 1e-3, is_compared: false },
    RunFigure { name: "best (B)", scale: 1e-3, is_compared: false },
    RunFigure { name: "one stream (B)", scale: 1e-3, is_compared: false },
];

/// A way to compress differences.
struct Deflate {
    state: Compress,
    is_stream: bool,
}

impl Deflate {
    fn new((level, is_stream): (u32, bool)) -> Self {
        Self { state: Compress::new(Compression::new(level), true), is_stream }
    }

    /// Returns the compressed size of a difference in bytes.
    fn len(&mut self, diff: &[u8]) -> u64 {
        if !self.is_stream {
            self.state.reset();
        }
        let before = self.state.total_out();
        let flush = if self.is_stream { FlushCompress::Sync } else { FlushCompress::Finish };
        let mut out = Vec::with_capacity(diff.len() * 2 + 64);
        self.state.compress_vec(diff, &mut out, flush).expect("a state that takes anything");
        self.state.total_out() - before
    }
}

/// Returns how long the link takes to carry each difference, compressed in the protocol's way.
pub(super) fn run(conditions: &Conditions<'_>) -> Samples {
    let trace = &conditions.recording().trace;
    let mut terminal = Terminal::host(trace.size);
    let mut shown = HostScreen::initial(trace.size);
    let mut ways = WAYS.map(Deflate::new);
    let (mut sums, mut times) = ([0; FIGURES.len()], Vec::new());
    for written in pictures(trace) {
        terminal.write(&written);
        terminal.take_replies();
        let screen = HostScreen::published(terminal.snapshot(), StateNum::INITIAL);
        let diff = screen.diff_from(&shown, CAPABILITIES);
        let [deflate, best, stream] = ways.each_mut().map(|way| way.len(&diff));
        let sizes = [written.len() as u64, diff.len() as u64, deflate, best, stream];
        for (sum, size) in sums.iter_mut().zip(sizes) {
            *sum += size;
        }
        times.push(deflate * BYTE_NANOS);
        shown = screen;
    }
    let mean = |sum| sum * 1_000 / (times.len() as u64).max(1);
    Samples { figures: sums.map(mean).to_vec(), times, ..Samples::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::catalogue::recording;

    #[test]
    fn each_way_is_at_most_as_long_as_the_one_before() {
        let recording = recording("listing").expect("it is there");
        let conditions = Conditions { recording: Some(&recording), ..Conditions::NONE };
        let samples = run(&conditions);
        let [_, plain, deflate, best, stream] = samples.figures[..] else { panic!("five figures") };
        assert!(plain > deflate && deflate >= best && best > stream, "{:?}", samples.figures);
    }

    #[test]
    fn a_stream_knows_what_came_before_and_a_state_that_is_reset_does_not() {
        let text = b"the same words, none of which repeats here";
        let lens = WAYS.map(|way| {
            let mut way = Deflate::new(way);
            [way.len(text), way.len(text)]
        });
        assert!(lens[0][0] == lens[0][1] && lens[2][1] * 2 < lens[2][0], "{lens:?}");
    }
}
