//! A login over a path of 100 ms: a session whose client was killed, and one whose network drops UDP, beside ssh's own.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use rove_link::LinkConfig;
use rove_net::testbed::{End, Testbed, TestbedOptions};
use rove_rig::clock;
use rove_rig::place::Place;
use rove_rig::scratch::Scratch;
use rove_rig::session::{Client, in_known_environment};
use rove_rig::sshd::Sshd;
use rove_rig::system::System;
use rove_rig::window::{Observed, Window};
use rove_terminal::Size;
use rove_units::{Duration, Seed};

use super::report::{Line, Target};
use super::turns::Bench;

/// The delay of one direction: half of the round trip.
const DELAY: Duration = Duration::from_millis(50);
/// Most milliseconds beyond ssh's own login. Chosen: a round trip, and what nobody notices.
const EXCESS_MAX: f64 = 150.0;
/// Most of a first screen beside one by UDP alone, as a ratio. Chosen: two runs of the same differ by as much.
const SAME: f64 = 1.05;
/// A program that says that it is there, and stays. The word is in no command line that a terminal shows.
const PROGRAM: &str = "printf rea; printf 'dy\\n'; exec cat";
/// Routes all UDP to an interface that drops it, as a firewall does without a word.
const DROPS_UDP: &str = "ip link add sink type veth peer name drain && ip link set sink up && ip link set drain up && \
     ip neigh add HOST lladdr 02:00:00:00:00:01 nud permanent dev sink && \
     ip route add default dev sink table 66 && ip rule add ipproto udp table 66";

/// Two computers joined by the path, of which the far one has rove.
struct Pair {
    sshd: Sshd,
    home: Scratch,
    program: std::path::PathBuf,
    testbed: Testbed,
}

/// Milliseconds of the logins of a round.
#[derive(Clone, Copy)]
struct Turn {
    /// `ssh far true`, until its end.
    ssh: f64,
    /// `rove attach far` after SIGKILL of the client, until the screen is there.
    attach: f64,
    /// `ssh -tt far` and a program, until that is there.
    program_by_ssh: f64,
    /// The same by rove, by rove with UDP alone, and by rove where UDP is dropped.
    program: f64,
    by_udp_alone: f64,
    udp_dropped: f64,
}

/// Logs in by each way once in a round.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Line>> {
    let mut turns = Vec::new();
    for round in 1..=bench.rounds {
        bench.progress("logins over 100 ms", "rove and ssh", round);
        turns.push(turn(bench.programs.systems()[1], Seed::new(round as u64))?);
    }
    let of = |figure: fn(&Turn) -> f64| turns.iter().map(figure).collect::<Vec<f64>>();
    let line = |what: &str, ours, name, other, target| {
        Line::new(what, "ms", of(ours)).beside(name, of(other)).target(target)
    };
    let excess = Target::ExcessAtMost(EXCESS_MAX);
    Ok(vec![
        line(
            "attach after SIGKILL of the client",
            |it| it.attach,
            "ssh far true",
            |it| it.ssh,
            excess,
        ),
        line(
            "first screen, UDP dropped",
            |it| it.udp_dropped,
            "ssh",
            |it| it.program_by_ssh,
            excess,
        ),
        line(
            "first screen, UDP open",
            |it| it.program,
            "UDP alone",
            |it| it.by_udp_alone,
            Target::RatioAtMost(SAME),
        ),
    ])
}

fn turn(system: &System, seed: Seed) -> Result<Turn> {
    let pair = Pair::new(system, seed)?;
    let ssh = ["-F", &pair.sshd.client_config().display().to_string()].map(str::to_owned);
    let start = clock::now();
    let status = pair.near("ssh")?.args(&ssh).args(["far", "true"]).status();
    ensure!(status.context("cannot start ssh")?.success(), "ssh does not log in");
    let by_ssh = clock::seconds_since(start) * 1e3;

    let mut by_program = pair.near("ssh")?;
    by_program.args(&ssh).args(["-tt", "far", PROGRAM]);
    let program_by_ssh = pair.end(pair.show(by_program)?)?;
    let by_udp_alone = pair.end(pair.show(pair.session(&["--no-tunnel"])?)?)?;
    let (program, killed) = pair.show(pair.session(&[])?)?;
    drop(killed);
    let attach = pair.end(pair.show(pair.rove("attach", &[])?)?)?;
    pair.drop_udp()?;
    let udp_dropped = pair.end(pair.show(pair.session(&[])?)?)?;
    Ok(Turn { ssh: by_ssh, attach, program_by_ssh, program, by_udp_alone, udp_dropped })
}

impl Pair {
    fn new(system: &System, seed: Seed) -> Result<Self> {
        let link = LinkConfig { delay: DELAY, ..LinkConfig::default() };
        let testbed = Testbed::new(TestbedOptions::new(link.clone(), link, seed))?;
        let home = Scratch::create()?;
        let program = std::path::PathBuf::from(system.wrapper().get_program());
        let folder = home.folder().display();
        std::os::unix::fs::symlink(&program, home.path("rove")).context("cannot make a link")?;
        let environment = format!(
            "ForceCommand exec env HOME={folder} PATH={folder}:$PATH LANG=C.UTF-8 \
             ROVE_RUNTIME_DIR={folder}/sockets sh -c \"$SSH_ORIGINAL_COMMAND\"\n"
        );
        let sshd = Sshd::start_with(Place::At(&testbed, End::Far), &environment)?;
        Ok(Self { sshd, home, program, testbed })
    }

    /// Prepares a command of the near computer's user.
    fn near(&self, program: impl AsRef<std::ffi::OsStr>) -> Result<Command> {
        let mut command = self.testbed.command(End::Near, program)?;
        in_known_environment(&mut command, self.home.folder()).stdin(Stdio::null());
        command.env("ROVE_RUNTIME_DIR", self.home.path("run"));
        Ok(command)
    }

    /// Prepares one of rove's commands for the far computer.
    fn rove(&self, word: &str, options: &[&str]) -> Result<Command> {
        let mut command = self.near(&self.program)?;
        command.args([word]).args(options).arg(format!("--ssh={}", self.sshd.ssh())).arg("far");
        Ok(command)
    }

    /// Prepares a session of the program.
    fn session(&self, options: &[&str]) -> Result<Command> {
        let mut command = self.near(&self.program)?;
        command.args(options).arg(format!("--ssh={}", self.sshd.ssh()));
        command.args(["far", "--", "sh", "-c", PROGRAM]);
        Ok(command)
    }

    /// Starts a command on a terminal. Returns the milliseconds until it shows the program, and the client.
    fn show(&self, mut command: Command) -> Result<(f64, (Client, Window))> {
        let mut window = Window::open(Size::DEFAULT)?;
        let start = clock::now();
        let client = Client::on(&mut command, &window.terminal)?;
        let shows = |screen: &rove_terminal::Screen| {
            (0..screen.size().rows()).any(|row| screen.row_text(row).starts_with("ready"))
        };
        window.wait_for("the program", shows)?;
        Ok((clock::seconds_since(start) * 1e3, (client, window)))
    }

    /// Ends the program of a session, and returns the milliseconds.
    fn end(&self, (millis, (client, mut window)): (f64, (Client, Window))) -> Result<f64> {
        window.terminal.send(b"\x04")?;
        client.wait(&mut window.terminal)?;
        Ok(millis)
    }

    fn drop_udp(&self) -> Result<()> {
        let script = DROPS_UDP.replace("HOST", &self.testbed.address(End::Far).to_string());
        let status = self.near("sh")?.args(["-c", &script]).status().context("cannot start sh")?;
        ensure!(status.success(), "the testbed cannot drop UDP");
        Ok(())
    }
}
