//! Logins over a path of 100 ms, after a killed client and where the network drops UDP, compared with ssh's own.

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

/// Delay of each direction. It is half of the round-trip time.
const DELAY: Duration = Duration::from_millis(50);
/// Most milliseconds that rove's login may take beyond ssh's. Chosen: a round trip, and a delay that nobody notices.
const EXCESS_MAX: f64 = 150.0;
/// Largest ratio of a login's time to the time by UDP alone. Chosen: two runs of the same login differ by as much.
const SAME: f64 = 1.05;
/// A program that prints `ready` and stays. The terminal shows no command line that contains the whole word.
const PROGRAM: &str = "printf rea; printf 'dy\\n'; exec cat";
/// Routes all UDP to an interface that drops it, as a firewall does that sends no error.
const DROPS_UDP: &str = "ip link add sink type veth peer name drain && ip link set sink up && ip link set drain up && \
     ip neigh add HOST lladdr 02:00:00:00:00:01 nud permanent dev sink && \
     ip route add default dev sink table 66 && ip rule add ipproto udp table 66";

/// The times of a round's logins, in milliseconds.
#[derive(Clone, Copy)]
struct Turn {
    /// From the start of `ssh far true` to its end.
    ssh: f64,
    /// From the start of `rove attach far`, after SIGKILL of the client, until the screen appears.
    attach: f64,
    /// From the start of `ssh -tt far` with a program until the program is ready.
    program_by_ssh: f64,
    /// The same for rove, for rove with UDP alone, and for rove where UDP is dropped.
    program: f64,
    by_udp_alone: f64,
    udp_dropped: f64,
}

/// Measures one login in each way per round.
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

/// Logs in once in each way. `None` if the emulator was late, so that the path was slower than its settings.
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

/// Ends the program of a session. Returns the milliseconds that were measured.
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
