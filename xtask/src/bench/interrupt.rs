//! Ctrl-C under `yes` on a slow path: how long until the prompt, and what the server spends meanwhile.

use anyhow::Result;
use rove_lab::live::clock;
use rove_lab::live::scratch::Scratch;
use rove_lab::live::session::{Client, PROMPT, SHELL, Server};
use rove_lab::live::system::System;
use rove_lab::live::window::{Window, shows_prompt};
use rove_link::LinkConfig;
use rove_terminal::{Screen, Size};
use rove_units::{BitRate, Bytes, Duration, Seed};

use super::report::{Line, Target};
use super::stats;
use super::{Bench, path};

/// One way of the path; half of the round trip. Chosen, as the rate and the queue are: a terminal that
/// sent every byte would have eight seconds of output before the prompt.
const DELAY: Duration = Duration::from_millis(20);
const RATE: BitRate = BitRate::from_bits_per_second(1_000_000).expect("a megabit is not zero");
const QUEUE: Bytes = Bytes::new(1_000_000);

/// How long the server's processor time is watched.
const WATCH: Duration = Duration::from_secs(8);

/// Interruptions per session, each at its own moment between two frames. Chosen: their median moves
/// by a few milliseconds from round to round.
const INTERRUPTIONS: u64 = 11;

/// Least and most milliseconds that `yes` runs before an interruption. Chosen: the widest frame
/// interval fits in between.
const RUN_MILLIS: [u64; 2] = [300, 550];

/// What one session showed.
#[derive(Clone, Copy, Debug)]
struct Showing {
    milliseconds: f64,
    server_cpu: f64,
}

/// Interrupts `yes` in sessions of both systems.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Line>> {
    let [stock, rove] = bench.compare("yes", interrupt)?;
    let line = |what, unit, figure: fn(&Showing) -> f64| {
        Line::new(what, unit, rove.iter().map(figure).collect())
            .beside("stock", stock.iter().map(figure).collect())
    };
    Ok(vec![
        line("Ctrl-C under yes, until the prompt", "ms", |showing| showing.milliseconds)
            .target(Target::ExcessAtMost(10.0)),
        line("yes for 8 s, server CPU", "s", |showing| showing.server_cpu)
            .target(Target::RatioAtMost(0.5)),
    ])
}

fn interrupt(system: &System) -> Result<Showing> {
    let scratch = Scratch::new()?;
    let server = Server::start(system, scratch.path(), &SHELL)?;
    let link =
        LinkConfig { delay: DELAY, rate: Some(RATE), queue_max: QUEUE, ..LinkConfig::default() };
    let relay = path::in_front_of(&server, &link)?;
    let mut window = Window::open(Size::DEFAULT)?;
    let client =
        Client::start_at(system, &server, relay.address(), scratch.path(), &window.terminal)?;
    wait_for_prompt(&mut window)?;

    start_yes(&mut window)?;
    let (before, start) = (server.process.cpu_seconds()?, clock::now());
    window.watch(start + WATCH)?;
    let server_cpu = server.process.cpu_seconds()? - before;
    stop_yes(&mut window)?;

    let chance = Seed::new(1).stream("interruptions");
    let [least, most] = RUN_MILLIS;
    let mut waits = Vec::new();
    for number in 0..INTERRUPTIONS {
        start_yes(&mut window)?;
        let run = Duration::from_millis(least + chance.at(number).below(most - least));
        window.watch(clock::now() + run)?;
        waits.push(stop_yes(&mut window)? * 1e3);
    }
    window.terminal.send(b"exit\r")?;
    client.wait(&mut window.terminal)?;
    Ok(Showing { milliseconds: stats::median(&waits), server_cpu })
}

/// Starts `yes` and waits until the screen is full of it.
fn start_yes(window: &mut Window) -> Result<()> {
    window.terminal.send(b"yes\r")?;
    window.wait_for("a screen full of y", is_full_of_y)
}

/// Returns whether `yes` is all that is shown. What an earlier one has left above the prompt does not
/// count: a shell that is about to start a program may miss a Ctrl-C.
fn is_full_of_y(screen: &Screen) -> bool {
    let last = screen.size().rows() - 1;
    (0..last).all(|row| screen.row_text(row) == "y")
        && matches!(screen.row_text(last).as_str(), "" | "y")
}

/// Types Ctrl-C; returns the seconds until the prompt.
fn stop_yes(window: &mut Window) -> Result<f64> {
    let start = clock::now();
    window.terminal.send(b"\x03")?;
    wait_for_prompt(window)?;
    Ok(clock::seconds_since(start))
}

fn wait_for_prompt(window: &mut Window) -> Result<()> {
    window.wait_for("the prompt", |screen: &Screen| shows_prompt(screen, PROMPT))
}

#[cfg(test)]
mod tests {
    use rove_terminal::Terminal;

    use super::*;

    #[test]
    fn only_a_running_yes_fills_the_screen() {
        let screenful = "y\r\n".repeat(30);
        for (output, full) in [
            (screenful.clone(), true),
            (screenful.clone() + "y", true),
            (screenful.clone() + "bench$ ", false),
            (screenful.clone() + "bench$ yes", false),
            (screenful + "bench$ yes\r\ny\r\n", false),
            ("y\r\n".repeat(5), false),
        ] {
            let mut terminal = Terminal::host(Size::DEFAULT);
            terminal.write(output.as_bytes());
            assert_eq!(is_full_of_y(terminal.screen()), full, "{output:?}");
        }
    }
}
