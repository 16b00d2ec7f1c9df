//! A login over a path of 100 ms: a session whose client was killed, and one whose network drops UDP, beside ssh's own.

use anyhow::{Context, Result, ensure};
use rove_link::LinkConfig;
use rove_net::testbed::End;
use rove_rig::clock;
use rove_rig::session::Client;
use rove_rig::system::System;
use rove_rig::window::Window;
use rove_units::{Duration, Seed};

use super::pair::{Pair, show};
use super::report::{Line, Target};
use super::turns::Bench;

/// The delay of one direction: half of the round trip.
const DELAY: Duration = Duration::from_millis(50);
/// Most milliseconds beyond ssh's own login. Chosen: a round trip, and what nobody notices.
const EXCESS_MAX: f64 = 150.0;
/// Largest ratio of a first screen's time to that by UDP alone. Chosen: two runs of the same differ by as much.
const SAME: f64 = 1.05;
/// A program that prints a word and stays. No command line that a terminal shows has the whole word.
const PROGRAM: &str = "printf rea; printf 'dy\\n'; exec cat";
/// Routes all UDP to an interface that drops it, like a firewall that sends no error.
const DROPS_UDP: &str = "ip link add sink type veth peer name drain && ip link set sink up && ip link set drain up && \
     ip neigh add HOST lladdr 02:00:00:00:00:01 nud permanent dev sink && \
     ip route add default dev sink table 66 && ip rule add ipproto udp table 66";

/// The times of a round's logins, in milliseconds.
#[derive(Clone, Copy)]
struct Turn {
    /// `ssh far true`, until its end.
    ssh: f64,
    /// `rove attach far` after SIGKILL of the client, until the screen is there.
    attach: f64,
    /// `ssh -tt far` and a program, until that is there.
    program_by_ssh: f64,
    /// The same program by rove, by rove with UDP alone, and by rove where UDP is dropped.
    program: f64,
    by_udp_alone: f64,
    udp_dropped: f64,
}

/// Logs in by each way once in a round.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Line>> {
    let mut turns = Vec::new();
    for round in 1..=bench.rounds {
        bench.progress("logins over 100 ms", "rove and ssh", round);
        turns.extend(turn(bench.programs.systems()[1], Seed::new(round as u64))?);
    }
    ensure!(!turns.is_empty(), "no round counts: the computer is busy");
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

/// Logs in by each way once. `None` if the emulator was too late, so that the path was not as slow as it says.
fn turn(system: &System, seed: Seed) -> Result<Option<Turn>> {
    let link = LinkConfig { delay: DELAY, ..LinkConfig::default() };
    let pair = Pair::new(system, [link.clone(), link], seed)?;
    let start = clock::now();
    let status = pair.near_ssh("ssh")?.args(["far", "true"]).status();
    ensure!(status.context("cannot start ssh")?.success(), "ssh does not log in");
    let ssh = clock::seconds_since(start) * 1e3;

    let mut by_program = pair.near_ssh("ssh")?;
    by_program.args(["-tt", "far", PROGRAM]);
    let program_by_ssh = end(show(by_program)?)?;
    let by_udp_alone = end(show(pair.session(&["--no-tunnel"], PROGRAM)?)?)?;
    let (program, killed) = show(pair.session(&[], PROGRAM)?)?;
    drop(killed);
    let attach = end(show(pair.rove(&["attach"])?)?)?;
    drop_udp(&pair)?;
    let udp_dropped = end(show(pair.session(&[], PROGRAM)?)?)?;
    let turn = Turn { ssh, attach, program_by_ssh, program, by_udp_alone, udp_dropped };
    Ok(pair.finish("logins over 100 ms")?.then_some(turn))
}

/// Ends the program of a session, and returns the milliseconds.
fn end((millis, (client, mut window)): (f64, (Client, Window))) -> Result<f64> {
    window.terminal.send(b"\x04")?;
    client.wait(&mut window.terminal)?;
    Ok(millis)
}

fn drop_udp(pair: &Pair) -> Result<()> {
    let script = DROPS_UDP.replace("HOST", &pair.testbed.address(End::Far).to_string());
    let status = pair.near("sh")?.args(["-c", &script]).status().context("cannot start sh")?;
    ensure!(status.success(), "the testbed cannot drop UDP");
    Ok(())
}
