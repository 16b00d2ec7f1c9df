//! A congestion controller as a program in any language. It reads a line for each event, and writes one as answer.
//!
//! The first word of an event is `start`, `ack`, `loss`, or `timeout` if everything was lost. Three times in ms follow:
//! now, when the newest packet was sent, and when it arrived. The last words count the packets, and those in flight.
//! An answer is the window in packets, and maybe the least time between two packets in ms. As with every controller, a flow has
//! at least a packet in flight, and at most the receiver's window.
//!
//! Simulated time stands still while the program thinks. In virtual time, only its answers decide a run.

use core::fmt::Write as _;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use rove_congestion::{Ack, Controller, Loss};
use rove_platform::clock::Clock;
use rove_runs::statistics::whole;
use rove_units::{Bytes, Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::AsFd;
use rustix::io::{Errno, ioctl_fionbio};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

/// Longest answer of a controller program, in bytes. Chosen: two numbers, ten times over.
const ANSWER_BYTES_MAX: usize = 512;

/// Largest window in packets, and the longest time between two packets in ms. Chosen: beyond any link here.
const ANSWER_MAX: [f64; 2] = [1e6, 60_000.0];

/// How often this process checks whether a program that closed its output has ended: each hundredth of a second.
const LOOKS: u32 = 100;

/// The processes of all programs, for [`end_all`]: a signal ends rove-lab without dropping their values.
static RUNNING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// How much real time a program may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The time for one answer.
    pub answer: Duration,
    /// The time for all answers of a flow.
    pub flow: Duration,
}

impl Limits {
    /// Limits of a run in virtual time. Chosen: on a busy computer an answer takes a hundredth of `answer`. Half of
    /// `flow` is enough for 20 Mbit/s over a quarter of an hour, at 100 us an answer.
    pub const VIRTUAL: Self =
        Self { answer: Duration::from_secs(10), flow: Duration::from_secs(300) };

    /// Returns the limits of a run of this length in real time. Chosen: if a flow waits longer, its figures measure the
    /// program and not the network. At 12 Mbit/s on a busy computer, answers of 133 us took 13 % of the time.
    pub fn real(length: Duration) -> Self {
        Self { answer: length / 10, flow: length / 4 }
    }
}

/// The reason why a program does not go on to control its flow.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The program could not be started.
    #[error("it cannot be run: {0}")]
    NotRun(io::Error),
    /// The program's output could not be read.
    #[error("it cannot be read: {0}")]
    NotRead(io::Error),
    /// The program has ended.
    #[error("it ended after {answers} answers ({status})")]
    Ended {
        /// How many answers the program gave.
        answers: u64,
        /// The program's exit status.
        status: ExitStatus,
    },
    /// The program has closed its output but goes on.
    #[error("it closed its output after {answers} answers")]
    Closed {
        /// How many answers the program gave.
        answers: u64,
    },
    /// An answer took too long.
    #[error("it hung: no answer within {limit:?}, after {answers} answers")]
    Hung {
        /// The longest time for an answer.
        limit: Duration,
        /// How many answers the program gave.
        answers: u64,
    },
    /// All answers together took too long.
    #[error("it was too slow: {answers} answers took more than {limit:?}")]
    Slow {
        /// The longest time for all answers of a flow.
        limit: Duration,
        /// How many answers the program gave.
        answers: u64,
    },
    /// The answer is not a window, with or without a spacing, within the limits.
    #[error(
        "it answered {0:?}, which is no window in packets and no time in ms, such as \"10 0.5\""
    )]
    Nonsense(String),
    /// The program wrote an answer although it had no event to answer.
    #[error("it answered before it was asked, after {answers} answers")]
    Unasked {
        /// How many answers the program gave.
        answers: u64,
    },
    /// The answer is longer than 512 bytes.
    #[error("it answered more than {ANSWER_BYTES_MAX} bytes in a line")]
    LongLine,
}

/// A controller program, and the first fault of any of its processes.
#[derive(Clone, Debug)]
pub struct Program {
    words: Vec<String>,
    limits: Limits,
    fault: Arc<OnceLock<Fault>>,
}

/// The process of the program for one flow.
#[derive(Debug)]
struct Process {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    unread: Vec<u8>,
    limits: Limits,
    answers: u64,
    waited: Duration,
}

/// A controller whose process decides window and spacing, until it has a fault.
#[derive(Debug)]
struct Driven {
    process: Option<Process>,
    fault: Arc<OnceLock<Fault>>,
    packet: Bytes,
    window: Bytes,
    spacing: Duration,
}

/// Ends the processes of all programs, because this process is about to end. No program starts after this call.
pub fn end_all() {
    let running = running();
    for pid in running.iter() {
        // Both can fail only if the program has ended.
        let _ = kill_process(*pid, Signal::KILL);
        let _ = waitpid(Some(*pid), WaitOptions::empty());
    }
    core::mem::forget(running);
}

fn running() -> MutexGuard<'static, Vec<Pid>> {
    RUNNING.lock().expect("no thread panics while it holds this")
}

impl Program {
    /// Creates a program from a path and arguments. No process runs yet.
    pub fn new(words: Vec<String>, limits: Limits) -> Self {
        Self { words, limits, fault: Arc::default() }
    }

    /// Starts a process for a flow, and returns the controller that asks it. `packet` is the payload of a full packet.
    pub fn controller(&self, packet: Bytes) -> Box<dyn Controller> {
        let process = Process::start(&self.words, self.limits);
        let process = process.map_err(|fault| self.fault.set(fault)).ok();
        let fault = Arc::clone(&self.fault);
        Box::new(Driven { process, fault, packet, window: packet, spacing: Duration::ZERO })
    }

    /// Returns the first fault of any process of the program.
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.get()
    }
}

impl Process {
    fn start(words: &[String], limits: Limits) -> Result<Self, Fault> {
        let (path, arguments) = words.split_first().expect("a program has a path");
        let mut command = Command::new(path);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut running = running();
        let mut child = command.spawn().map_err(Fault::NotRun)?;
        running.push(Pid::from_child(&child));
        drop(running);
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (input, output) = pipes.expect("both were asked for");
        ioctl_fionbio(&input, true).map_err(|error| Fault::NotRun(error.into()))?;
        let (unread, answers, waited) = (Vec::new(), 0, Duration::ZERO);
        Ok(Self { child, input, output, unread, limits, answers, waited })
    }

    /// Sends an event's line to the program, and returns the window and the spacing that it answers.
    fn ask(&mut self, line: &str, packet: Bytes) -> Result<(Bytes, Duration), Fault> {
        let clock = Clock::start();
        self.write(line, &clock)?;
        let answer = self.read_line(&clock)?;
        self.waited += clock.now().saturating_since(Instant::ZERO);
        if self.waited > self.limits.flow {
            let (limit, answers) = (self.limits.flow, self.answers + 1);
            return Err(Fault::Slow { limit, answers });
        }
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let numbers: Option<Vec<f64>> =
            answer.split_whitespace().map(|word| word.parse().ok()).collect();
        let [window, spacing_ms] = match numbers.as_deref() {
            Some([window]) => [*window, 0.0],
            Some([window, spacing_ms]) => [*window, *spacing_ms],
            _ => [f64::NAN; 2],
        };
        let [window_max, spacing_max] = ANSWER_MAX;
        if !(0.0..=window_max).contains(&window) || !(0.0..=spacing_max).contains(&spacing_ms) {
            return Err(Fault::Nonsense(answer));
        }
        self.answers += 1;
        let window = Bytes::new(whole((window * packet.get() as f64).floor()));
        Ok((window, Duration::from_secs_f64(spacing_ms * 1e-3)))
    }

    /// Writes an event's line. An answer that came before this line is a fault.
    fn write(&mut self, line: &str, clock: &Clock) -> Result<(), Fault> {
        let none_yet = Timespec::default();
        let mut output = [PollFd::new(&self.output, PollFlags::IN)];
        let is_there = poll(&mut output, Some(&none_yet)).is_ok_and(|count| count > 0)
            && output[0].revents().contains(PollFlags::IN);
        if is_there || !self.unread.is_empty() {
            return Err(Fault::Unasked { answers: self.answers });
        }
        let mut rest = line.as_bytes();
        while !rest.is_empty() {
            self.wait(&self.input, PollFlags::OUT, clock)?;
            match self.input.write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(error)
                    if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
                Err(_) => return Err(self.end()),
            }
        }
        Ok(())
    }

    fn read_line(&mut self, clock: &Clock) -> Result<Vec<u8>, Fault> {
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let rest = self.unread.split_off(end + 1);
                self.unread.truncate(end);
                return Ok(core::mem::replace(&mut self.unread, rest));
            }
            if self.unread.len() > ANSWER_BYTES_MAX {
                return Err(Fault::LongLine);
            }
            self.wait(&self.output, PollFlags::IN, clock)?;
            let mut bytes = [0; ANSWER_BYTES_MAX];
            match self.output.read(&mut bytes) {
                Ok(0) => return Err(self.end()),
                Ok(count) => self.unread.extend(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Fault::NotRead(error)),
            }
        }
    }

    /// Waits until a pipe is ready, at most until the time of an answer is over.
    fn wait(&self, pipe: impl AsFd, event: PollFlags, clock: &Clock) -> Result<(), Fault> {
        let (limit, answers) = (self.limits.answer, self.answers);
        let rest = limit.saturating_sub(clock.now().saturating_since(Instant::ZERO));
        let timeout = Timespec::try_from(rest).expect("a limit is no age");
        match poll(&mut [PollFd::new(&pipe, event)], Some(&timeout)) {
            Ok(0) => Err(Fault::Hung { limit, answers }),
            Err(error) if error != Errno::INTR => Err(Fault::NotRead(error.into())),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Returns the fault of a program that closed a pipe: either it has ended, or it goes on.
    fn end(&mut self) -> Fault {
        for _ in 0..LOOKS {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Fault::Ended { answers: self.answers, status };
            }
            let pause = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
            let _ = poll(&mut [], Some(&pause));
        }
        Fault::Closed { answers: self.answers }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let mut running = running();
        // Kill and wait can fail only if the program has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
        running.retain(|pid| *pid != Pid::from_child(&self.child));
    }
}

impl Driven {
    fn tell(&mut self, event: &str, times: [Instant; 3], packets: Bytes, in_flight: Bytes) {
        let Some(process) = &mut self.process else { return };
        let mut line = event.to_owned();
        for time in times {
            let _ =
                write!(line, " {:.6}", Duration::from_nanos(time.as_nanos()).as_secs_f64() * 1e3);
        }
        for bytes in [packets, in_flight] {
            let _ = write!(line, " {}", bytes.get().div_ceil(self.packet.get()));
        }
        line.push('\n');
        match process.ask(&line, self.packet) {
            Ok((window, spacing)) => (self.window, self.spacing) = (window, spacing),
            Err(fault) => {
                self.process = None;
                let _ = self.fault.set(fault);
            }
        }
    }
}

impl Controller for Driven {
    fn on_start(&mut self, now: Instant) {
        self.tell("start", [now; 3], Bytes::ZERO, Bytes::ZERO);
    }

    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        self.tell("ack", [now, ack.sent, ack.received], ack.size, ack.in_flight);
    }

    fn on_loss(&mut self, now: Instant, loss: &Loss) {
        let event = if loss.is_persistent { "timeout" } else { "loss" };
        self.tell(event, [now, loss.sent, now], loss.size, loss.in_flight);
    }

    fn on_mtu_update(&mut self, _: Bytes) {}

    fn window(&self) -> Bytes {
        self.window
    }

    fn spacing(&self) -> Duration {
        self.spacing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::source::FULL;

    /// Tells a program of the start and three acknowledgments. Returns window in packets, spacing, and fault.
    fn told(script: &str) -> (u64, Duration, Option<String>) {
        told_often(script, 3)
    }

    /// Does as [`told`] does, but with `acks` acknowledgments.
    fn told_often(script: &str, acks: u32) -> (u64, Duration, Option<String>) {
        let limits = Limits { answer: Duration::from_secs(5), flow: Duration::from_millis(7_500) };
        let words = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
        let program = Program::new(words, limits);
        let mut controller = program.controller(FULL);
        controller.on_start(Instant::ZERO);
        let ack = Ack {
            sent: Instant::from_millis(20),
            received: Instant::from_millis(40),
            size: FULL,
            rtt: Duration::from_millis(40),
            in_flight: FULL + FULL,
            is_app_limited: false,
        };
        for _ in 0..acks {
            controller.on_ack(Instant::from_millis(60), &ack);
        }
        let window = controller.window().get() / FULL.get();
        (window, controller.spacing(), program.fault().map(Fault::to_string))
    }

    #[test]
    fn a_program_hears_of_every_event_and_decides_on_window_and_spacing() {
        let script = "read event rest; echo 4; while read -r line; do case $line in \
                      'ack 60.000000 20.000000 40.000000 1 2') echo 7.5 0.25;; *) echo 1;; esac; done";
        assert_eq!(told(script), (7, Duration::from_micros(250), None));
    }

    #[test]
    fn answers_of_133_us_are_fast_enough_for_a_thousand_a_second_in_real_time() {
        let length = Duration::from_secs(10);
        assert!(Limits::real(length).flow > 10_000 * Duration::from_micros(133));
    }

    #[test]
    fn a_program_that_fails_is_named_with_the_reason() {
        for (script, words) in [
            ("read line; echo 4; exit 3", "it ended after 1 answers (exit status: 3)"),
            ("kill -9 $$", "it ended after 0 answers (signal: 9"),
            ("exec >&-; while read line; do :; done", "it closed its output after 0 answers"),
            ("read line; echo 4; sleep 60", "it hung: no answer within 5s, after 1 answers"),
            ("while read line; do sleep 3; echo 4; done", "it was too slow: 3 answers took"),
            ("read line; echo hello", "it answered \"hello\", which is no window"),
            ("read line; echo -1", "it answered \"-1\""),
            ("read line; echo 1 nan", "it answered \"1 nan\""),
            ("read line; echo", "it answered \"\""),
            ("read line; yes | tr -d '\\n'", "it answered more than 512 bytes"),
        ] {
            let (_, _, fault) = told(script);
            assert!(fault.as_ref().is_some_and(|it| it.contains(words)), "{script}: {fault:?}");
        }
        for script in ["yes 10", "while read line; do echo 10; echo 10; done"] {
            let (_, _, fault) = told_often(script, 3_000);
            let is_named = fault.as_ref().is_some_and(|it| it.contains("before it was asked"));
            assert!(is_named, "{script}: {fault:?}");
        }
        // A megabyte does not fit into a pipe.
        let words = ["/bin/sleep", "60"].map(str::to_owned);
        let limits = Limits::real(Duration::from_secs(5));
        let mut process = Process::start(&words, limits).expect("a program");
        let answer = process.ask(&"x".repeat(1 << 20), FULL);
        assert!(matches!(answer, Err(Fault::Hung { answers: 0, .. })), "{answer:?}");
        let program = Program::new(vec!["/nowhere/at/all".to_owned()], Limits::VIRTUAL);
        program.controller(FULL).on_start(Instant::ZERO);
        assert!(matches!(program.fault(), Some(Fault::NotRun(_))));
    }
}
