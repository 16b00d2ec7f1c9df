//! The times that a server, a client, and a session through sshd take to start, and the time of the shortest session.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use rove_rig::clock;
use rove_rig::place::Place;
use rove_rig::scratch::Scratch;
use rove_rig::session::{Client, PROMPT, SHELL, Server, in_known_environment};
use rove_rig::sshd::Sshd;
use rove_rig::system::System;
use rove_rig::terminal::Terminal;
use rove_rig::window::Window;
use rove_rig::yes;
use rove_runs::statistics as stats;
use rove_terminal::Size;

use super::report::{Line, Target};
use super::turns::Bench;

/// Starts in a turn. Their median counts.
const STARTS: usize = 10;

/// Largest ratio of a login's time to ssh's. Chosen: a difference that no user notices.
const SSH_RATIO_MAX: f64 = 1.1;

/// A function that starts a program of a system, and returns the seconds until it is ready.
type Start = fn(&System) -> Result<f64>;

/// Measures the starts of both systems.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    let parts: [(&str, Start); 3] = [
        ("server new, until the CONNECT line", announcement),
        ("client, until the first picture", first_picture),
        ("the shortest session, no answers from the terminal", shortest),
    ];
    for (what, start) in parts {
        let turn = |system: &System| {
            let waits: Result<Vec<f64>> = (0..STARTS).map(|_| start(system)).collect();
            Ok(stats::median(&waits?) * 1e3)
        };
        let [stock, rove] = bench.compare(what, turn)?;
        let line = Line::new(what, "ms", rove).beside("stock", stock);
        lines.push(line.target(Target::RatioAtMost(1.0)));
    }
    let what = "through sshd on this computer, until the prompt";
    let turn = |system: &System| {
        // Logins by rove or Mosh and by ssh take turns, so that other work on the computer slows both.
        let waits: Result<Vec<_>> =
            (0..STARTS).map(|_| Ok((login(system)?, login_by_ssh()?))).collect();
        let (ours, by_ssh): (Vec<f64>, Vec<f64>) = waits?.into_iter().unzip();
        Ok((stats::median(&ours) * 1e3, stats::median(&by_ssh) * 1e3))
    };
    let [stock, rove] = bench.compare(what, turn)?;
    let (stock, _): (Vec<f64>, Vec<f64>) = stock.into_iter().unzip();
    let (rove, ssh): (Vec<f64>, Vec<f64>) = rove.into_iter().unzip();
    let beside = |name, other, most| {
        Line::new(what, "ms", rove.clone()).beside(name, other).target(Target::RatioAtMost(most))
    };
    lines.extend([beside("stock", stock, 1.0), beside("ssh", ssh, SSH_RATIO_MAX)]);
    Ok(lines)
}

/// Returns the seconds from a server's start until it prints its port and key.
fn announcement(system: &System) -> Result<f64> {
    let scratch = Scratch::create()?;
    let mut call = system.server(Place::Here)?;
    call.args(["new", "-i", "127.0.0.1", "--", "true"]);
    let call = in_known_environment(&mut call, scratch.folder());
    call.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let start = clock::now();
    let mut server = Parent(call.spawn().context("cannot start a server")?);
    let stdout = server.0.stdout.take().context("it has an output")?;
    for line in BufReader::new(stdout).lines() {
        if line?.starts_with("MOSH CONNECT ") {
            let seconds = clock::seconds_since(start);
            server.end_what_it_left()?;
            return Ok(seconds);
        }
    }
    bail!("a server announced nothing")
}

/// The first process of a server. When it ends, it leaves the serving process in the background.
struct Parent(Child);

impl Parent {
    /// Waits for the first process, and ends the server that it has left in the background.
    fn end_what_it_left(&mut self) -> Result<()> {
        let stderr = self.0.stderr.take().context("it has an error output")?;
        let text = std::io::read_to_string(stderr)?;
        self.0.wait()?;
        drop(Server::left_behind(&text)?);
        Ok(())
    }
}

/// Returns the seconds from a client's start until its terminal shows the program's first text.
fn first_picture(system: &System) -> Result<f64> {
    let scratch = Scratch::create()?;
    let server = Server::start(system, scratch.folder(), &["sh", "-c", "printf ready; exec cat"])?;
    let mut terminal = Terminal::open(Size::DEFAULT)?;
    let start = clock::now();
    let client = Client::start(system, &server, scratch.folder(), &terminal)?;
    terminal.read_past("ready")?;
    let seconds = clock::seconds_since(start);
    terminal.send(b"\x04")?;
    client.wait(&mut terminal)?;
    Ok(seconds)
}

/// Returns the seconds of a session whose program ends at once.
fn shortest(system: &System) -> Result<f64> {
    let scratch = Scratch::create()?;
    let server = Server::start(system, scratch.folder(), &["true"])?;
    let mut terminal = Terminal::open(Size::DEFAULT)?;
    let start = clock::now();
    let client = Client::start(system, &server, scratch.folder(), &terminal)?;
    client.wait(&mut terminal)?;
    Ok(clock::seconds_since(start))
}

/// Returns the seconds that the system's wrapper takes to start a session through an sshd.
fn login(system: &System) -> Result<f64> {
    let sshd = Sshd::start(Place::Here)?;
    let mut call = system.wrapper();
    call.arg(format!("--ssh={}", sshd.ssh()))
        .arg(format!("--server={}", system.server_words()))
        .args(["far", "--", "env", &format!("PS1={PROMPT} ")]);
    until_prompt(&sshd, call)
}

/// Returns the seconds that ssh takes to log in without rove or Mosh.
fn login_by_ssh() -> Result<f64> {
    let sshd = Sshd::start(Place::Here)?;
    let mut call = Command::new("ssh");
    call.arg("-F").arg(sshd.client_config());
    call.args(["-t", "far", "--", "env", &format!("'PS1={PROMPT} '")]);
    until_prompt(&sshd, call)
}

/// Returns the seconds from the start of a command, which runs a shell, to the shell's prompt.
fn until_prompt(sshd: &Sshd, mut call: Command) -> Result<f64> {
    let mut window = Window::open(Size::DEFAULT)?;
    in_known_environment(call.args(SHELL), &sshd.scratch);
    let start = clock::now();
    let client = Client::on(&mut call, &window.terminal)?;
    yes::wait_for_prompt(&mut window)?;
    let seconds = clock::seconds_since(start);
    window.terminal.send(b"exit\r")?;
    client.wait(&mut window.terminal)?;
    Ok(seconds)
}
