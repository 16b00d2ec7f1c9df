//! A run in real time: a recording typed at a real client, over a testbed of its own.

use std::io::ErrorKind;
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;
use std::path::Path as FilePath;

use anyhow::{Context, Result, bail, ensure};
use rove_flows::path::Path;
use rove_host::program::own_file;
use rove_replay::replay::judge::{Cause, Judge};
use rove_replay::replay::pace::{PATIENCE, Pacer};
use rove_replay::replay::script::Script;
use rove_replay::replay::{CLEAR, Run, SETTLING, TAIL};
use rove_runs::statistics::to_float;
use rove_terminal::Screen;
use rove_units::{Duration, Instant, Seed};

use crate::compare::bulk::Bulk;
use crate::compare::cost::{self, Cost};
use crate::compare::film::Film;
use crate::compare::observed_client::{Interrupt, ObservedClient, RunOptions};
use crate::compare::replayed_program::{self, Control, Progress};
use rove_net::Offered;
use rove_net::testbed::{End, Testbed, TestbedOptions, bounded};
use rove_rig::clock;
use rove_rig::scratch::Scratch;
use rove_rig::window::{Observed, last_words};

/// Longest time from a packet's arrival to a drawing that counts as its effect. A later drawing counts as the client's
/// own. Source: the judge's definitions, docs/lab.md.
const CAUSE: Duration = Duration::from_millis(12);

/// How long a server may take, without the way to the client, to tell the client that a key was echoed. Chosen: Mosh's
/// 50 ms until its echo acknowledgment, and its longest acknowledgment delay of 100 ms.
const ACKNOWLEDGED: Duration = Duration::from_millis(150);

/// How long after the host's last write a screen equal to the host's counts as the answer to all keys. Chosen: Mosh's
/// longest frame interval, and some time to draw.
const FRAME: Duration = Duration::from_millis(300);

/// How long downloads run before the recording begins. Chosen: by then slow start is over, and the queue is full.
const WARM_UP: Duration = Duration::from_secs(5);

/// The beginnings of the notices that clients show in the first row.
const NOTICES: [&str; 2] = ["mosh: ", "rove: "];

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) run: Run,
    /// Packets from the first key to the end: up, down.
    pub(crate) offered: [Offered; 2],
    /// The costs of the client's side and the server's side.
    pub(crate) costs: [Cost; 2],
    /// The number of keys that were sent when the far side hung. `None` if it did not hang.
    pub(crate) hung_after: Option<usize>,
    /// Bits per second of all downloads together.
    pub(crate) bulk_rate: Option<f64>,
    /// The client's screens of the whole run, if the options ask for a film.
    pub(crate) film: Option<Film>,
    /// How long it took from the first key to the end.
    pub(crate) took: Duration,
    /// Why the run is invalid, as on a computer that was too busy. Empty if it is valid.
    pub(crate) invalid: Vec<String>,
}

/// Makes a testbed on which a session begins. Its links have the path's delay, but lose and queue nothing.
pub(super) fn settling_testbed(path: &Path, seed: u64) -> Result<Testbed> {
    let [uplink, downlink] = path.settling().map(bounded);
    Testbed::new(TestbedOptions::new(uplink, downlink, Seed::new(seed)))
}

/// Replaces a testbed's links by those of the run, which may lose and queue packets.
pub(super) fn begin_links(testbed: &Testbed, path: &Path, seed: u64) -> Result<()> {
    testbed.reconfigure(path.links(testbed.clock().now(), Seed::new(seed)).map(bounded))
}

/// Plays a recording.
///
/// # Errors
///
/// Returns an error if the session does not begin, its client ends, the user interrupts, or the link fails.
pub(crate) fn play(
    script: &Script,
    options: RunOptions<'_>,
    interrupt: &Interrupt,
) -> Result<Played> {
    let scratch = Scratch::create()?;
    let part = scratch.keep("part", &replayed_program::part(script)?)?;
    let socket = scratch.path("control");
    let listener = UnixListener::bind(&socket).context("cannot make a socket")?;
    listener.set_nonblocking(true)?;
    let testbed = settling_testbed(options.path, options.seed)?;
    let own = own_file().context("cannot tell where this program lies")?;
    let words = [own, FilePath::new(replayed_program::WORD), &part, &socket];
    let words: Vec<&str> = words
        .iter()
        .map(|word| word.to_str().context("the temporary folder's name is no UTF-8"))
        .collect::<Result<_>>()?;
    let mut client = ObservedClient::open(&testbed, options, script.size, &words, interrupt)?;
    let control = accept(&mut client, &listener, options.timeout)?;
    let mut stage = Stage { client, control, testbed: &testbed, script, options };
    let mut bulk = options.bulk.map(|options| Bulk::connect(&testbed, options)).transpose()?;
    stage.settle()?;
    begin_links(&testbed, options.path, options.seed)?;
    if let Some(bulk) = &mut bulk {
        bulk.start()?;
        stage.rest(WARM_UP)?;
    }
    let mut played = stage.play(bulk.as_ref())?;
    drop((stage, bulk));
    played.invalid = testbed.finish()?.invalid;
    Ok(played)
}

/// Waits until the far side's program has connected. Returns the near end of its socket.
fn accept(
    client: &mut ObservedClient,
    listener: &UnixListener,
    timeout: Duration,
) -> Result<Control> {
    let deadline = clock::now() + timeout;
    loop {
        match listener.accept() {
            Ok((stream, _)) => return Control::new(stream),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error).context("cannot hear the far side's program"),
        }
        ensure!(
            clock::now() < deadline,
            "the session did not begin in {:.0} s, and its terminal shows {}",
            timeout.as_secs_f64(),
            last_words(client.screen())
        );
        client.wait(deadline, Some(listener.as_fd()))?;
    }
}

/// A running session, and the parts that play a recording through it.
struct Stage<'a> {
    client: ObservedClient,
    control: Control,
    testbed: &'a Testbed,
    script: &'a Script,
    options: RunOptions<'a>,
}

impl Stage<'_> {
    /// Waits for the client, the far side's program or `deadline`. Returns when the client drew, or `None`.
    fn wait(&mut self, deadline: Instant) -> Result<Option<Instant>> {
        let drawn_at = self.client.wait(deadline, Some(self.control.socket().as_fd()))?;
        ensure!(self.control.read()?, "the far side's program has ended");
        Ok(drawn_at)
    }

    /// Waits for `time`, and reads what the client draws meanwhile.
    fn rest(&mut self, time: Duration) -> Result<()> {
        let deadline = clock::now() + time;
        while clock::now() < deadline {
            self.wait(deadline)?;
        }
        Ok(())
    }

    /// Types some keys that are echoed, which settles the estimates of the round trip, and clears the screen.
    fn settle(&mut self) -> Result<()> {
        self.expect("a blank screen", |screen| shows(screen, b""))?;
        for count in 1..=SETTLING.len() {
            self.client.send(&SETTLING[count - 1..count])?;
            self.expect_answer(count, "an echo", |screen| shows(screen, &SETTLING[..count]))?;
        }
        self.client.send(&[CLEAR])?;
        self.expect_answer(SETTLING.len() + 1, "a clear screen", |screen| shows(screen, b""))
    }

    /// Waits until the far side has `received` bytes, the client must have learned that, and the screen is as `wanted`.
    fn expect_answer(
        &mut self,
        received: usize,
        what: &str,
        wanted: impl Fn(&Screen) -> bool,
    ) -> Result<()> {
        let deadline = clock::now() + self.options.timeout;
        while self.control.progress.received < received && clock::now() < deadline {
            self.wait(deadline)?;
        }
        let back = self.way_back() + ACKNOWLEDGED;
        self.rest(back)?;
        self.expect(what, wanted)
    }

    fn expect(&mut self, what: &str, wanted: impl Fn(&Screen) -> bool) -> Result<()> {
        self.client.wait_for(what, wanted)
    }

    /// Returns how long a datagram takes from the server to the client if no queue delays it.
    fn way_back(&self) -> Duration {
        let downlink = &self.options.path.downlink;
        downlink.delay + downlink.jitter
    }

    /// Plays the recording, and judges what the client shows.
    fn play(&mut self, bulk: Option<&Bulk>) -> Result<Played> {
        let script = self.script;
        let usages = cost::usages(self.testbed)?;
        let mut performance = Performance {
            judge: Judge::new(script),
            pacer: Pacer::new(&script.keys, self.options.pace),
            typed: 0,
            progress: Progress::default(),
            progress_at: clock::now(),
            first: None,
            film: self.options.films.then(Film::default),
        };
        self.control.go()?;
        let start = clock::now();
        performance.pacer.start(start);
        let mut hung_after = None;
        while !performance.is_over(self) {
            if performance.is_hung(self) {
                hung_after = Some(performance.judge.sent());
                break;
            }
            performance.turn(self, bulk)?;
        }
        let end = clock::now();
        let first = performance.first.context("a recording has keys")?;
        let offered = self.testbed.offered();
        let took = end.saturating_since(first.at);
        let seconds = took.as_secs_f64().max(1e-3);
        let costs = cost::since(self.testbed, &usages)?;
        let judge = &performance.judge;
        Ok(Played {
            run: Run {
                start,
                outcomes: judge.outcomes().to_vec(),
                mistakes: judge.mistakes().to_vec(),
                flickers: judge.flickers().to_vec(),
                ends_true: judge.shows_newest() && judge.sent() == script.keys.len(),
                unexpected: self.control.progress.unexpected,
                ..Run::default()
            },
            offered: [0, 1].map(|way| offered[way].since(first.offered[way])),
            costs,
            hung_after,
            film: performance.film,
            bulk_rate: bulk.map(|bulk| to_float(bulk.received() - first.bulk) * 8.0 / seconds),
            took,
            invalid: Vec::new(),
        })
    }
}

/// The values of counters when the first key is typed.
#[derive(Clone, Copy)]
struct First {
    at: Instant,
    offered: [Offered; 2],
    bulk: u64,
}

/// A recording that is being played.
struct Performance<'a> {
    judge: Judge<'a>,
    pacer: Pacer<'a>,
    /// Bytes that were typed.
    typed: usize,
    progress: Progress,
    /// When the far side last made progress, or had nothing to do.
    progress_at: Instant,
    first: Option<First>,
    film: Option<Film>,
}

impl Performance<'_> {
    /// Types the keys that are due, or waits and judges the screen.
    fn turn(&mut self, stage: &mut Stage<'_>, bulk: Option<&Bulk>) -> Result<()> {
        let now = clock::now();
        let due = self.pacer.due(&self.judge);
        if due.is_some_and(|due| due <= now) {
            return self.type_key(stage, bulk);
        }
        let settles = self.settles_at(stage);
        let deadline = [due, settles].into_iter().flatten().min().unwrap_or(now + PATIENCE);
        if let Some(drawn_at) = stage.wait(deadline)? {
            self.look(stage, drawn_at);
        }
        self.note_progress(stage);
        if self.settles_at(stage).is_some_and(|at| at <= clock::now()) {
            self.judge.handle_all_answers(clock::now());
        }
        Ok(())
    }

    fn type_key(&mut self, stage: &mut Stage<'_>, bulk: Option<&Bulk>) -> Result<()> {
        let key = &self.pacer.keys()[self.judge.sent()];
        self.first.get_or_insert_with(|| First {
            at: clock::now(),
            offered: stage.testbed.offered(),
            bulk: bulk.map_or(0, Bulk::received),
        });
        self.note_progress(stage);
        if !self.is_behind(stage) {
            // A far side that has had nothing to do does not hang.
            self.progress_at = clock::now();
        }
        self.judge.handle_key(clock::now());
        if let Some(film) = &mut self.film {
            film.note_key(clock::now(), &key.bytes, stage.client.screen());
        }
        self.typed += key.bytes.len();
        stage.client.send(&key.bytes)
    }

    /// Lets the judge compare the screen, drawn at `now`, with the host's.
    fn look(&mut self, stage: &Stage<'_>, now: Instant) {
        let delivered_at = stage.testbed.delivered_at(End::Near);
        let since = |at| stage.testbed.clock().now().saturating_since(at);
        let is_arrival = delivered_at.is_some_and(|at| since(at) <= CAUSE);
        let cause = if is_arrival { Cause::Arrival } else { Cause::Own };
        let screen = stage.client.screen();
        let first = screen.row_text(0);
        let notice_rows = u16::from(NOTICES.iter().any(|notice| first.contains(notice)));
        self.judge.handle_screen(now, screen, cause, notice_rows);
        if let Some(film) = &mut self.film {
            film.note_screen(now, screen);
        }
        if let Some(number) = self.judge.matched().filter(|_| is_arrival) {
            self.judge.handle_host_number(now, number);
        }
    }

    /// Returns whether the far side has yet to read sent keys, or to write what the recording has after them.
    fn is_behind(&self, stage: &Stage<'_>) -> bool {
        let progress = stage.control.progress;
        progress.received < self.typed || progress.written < stage.script.reached(self.judge.sent())
    }

    fn note_progress(&mut self, stage: &Stage<'_>) {
        let found = stage.control.progress;
        if found != self.progress {
            (self.progress, self.progress_at) = (found, clock::now());
        }
    }

    /// Returns when a screen equal to the host's newest screen counts as the answer to all sent keys. The screen alone
    /// does not show which key it answers, because screens repeat, as after a character that was rubbed out.
    fn settles_at(&self, stage: &Stage<'_>) -> Option<Instant> {
        let is_open = self.judge.settled_at().is_none() && !self.judge.has_seen_all();
        let is_there = is_open && !self.is_behind(stage) && self.judge.shows_newest();
        is_there.then(|| self.progress_at + stage.way_back() + FRAME)
    }

    /// Returns whether all keys were typed, and no answer is expected.
    fn is_over(&self, stage: &Stage<'_>) -> bool {
        let judge = &self.judge;
        if judge.sent() < self.pacer.keys().len() || self.is_behind(stage) {
            return false;
        }
        let sent_at = judge.outcomes().last().and_then(|outcome| outcome.sent_at);
        let last = self.progress_at.max(sent_at.unwrap_or(Instant::ZERO));
        judge.has_seen_all() && judge.shows_newest() || clock::now() >= last + TAIL
    }

    /// Returns whether the far side has made no progress for too long.
    fn is_hung(&self, stage: &Stage<'_>) -> bool {
        let idle = || clock::now().saturating_since(self.progress_at);
        self.is_behind(stage) && idle() >= stage.options.timeout
    }
}

/// Returns whether the screen has this text in its first row, with the cursor after it.
fn shows(screen: &Screen, text: &[u8]) -> bool {
    let cursor = screen.cursor();
    let is_right = (cursor.row, usize::from(cursor.column)) == (0, text.len());
    is_right && screen.row_text(0).as_bytes() == text
}

/// Refuses a recording with Ctrl-^, which a client would take for the start of its own commands.
pub(super) fn check_escape(script: &Script) -> Result<()> {
    /// Ctrl-^, after which the clients of Mosh and rove take commands.
    const ESCAPE: u8 = 0x1e;
    if script.typed.contains(&ESCAPE) {
        bail!(
            "{} has a Ctrl-^ in it, which the clients of Mosh and rove take for themselves",
            script.name
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rove_terminal::{Size, Terminal};

    use super::*;

    #[test]
    fn an_echo_counts_with_the_cursor_after_it() {
        for (output, text, shown) in [
            ("", "", true),
            ("set", "set", true),
            ("set", "se", false),
            ("set\x08", "set", false),
            ("\r\nset", "set", false),
            ("x\r", "", false),
        ] {
            let mut terminal = Terminal::host(Size::DEFAULT);
            terminal.write(output.as_bytes());
            assert_eq!(shows(terminal.screen(), text.as_bytes()), shown, "{output:?}");
        }
    }
}
