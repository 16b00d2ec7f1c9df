//! `cargo xtask flood`: what a flood of output costs a session, beside stock Mosh in the same run.
//!
//! Each round runs every system once, one after the other, so that a change of the machine's speed hits
//! all alike; medians and ratios are printed, never a verdict.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Printed after a flood: when it is on the user's terminal the flood is over. One character, because a
/// frame may end between two.
const MARKER: &str = "\u{2603}";

/// How long a session may show nothing new before it is given up.
const HANG_GUARD: Timespec = Timespec { tv_sec: 120, tv_nsec: 0 };

/// What is poured through a session.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Load {
    /// Lines of text.
    Plain,
    /// Colours and cursor moves.
    Escapes,
}

/// A server and its client.
struct System {
    name: &'static str,
    server: PathBuf,
    server_args: &'static [&'static str],
    client: PathBuf,
    client_args: &'static [&'static str],
}

/// What one flood cost.
#[derive(Clone, Copy, Debug)]
struct Cost {
    server_cpu: f64,
    wall: f64,
    server_peak_kib: f64,
    client_peak_kib: f64,
}

/// One column of the costs.
type Figure = fn(&Cost) -> f64;

/// Measures a flood through rove and through stock Mosh, and prints the table.
///
/// # Errors
///
/// Returns an error when a program cannot be started or a session shows nothing for two minutes.
pub(crate) fn run(load: Load, mebibytes: usize, rounds: usize) -> Result<()> {
    let systems = [
        System {
            name: "stock",
            server: "mosh-server".into(),
            server_args: &[],
            client: "mosh-client".into(),
            client_args: &[],
        },
        System {
            name: "rove",
            server: release_binary()?,
            server_args: &["server"],
            client: release_binary()?,
            client_args: &["client"],
        },
    ];
    let file = write_load(load, mebibytes)?;
    let mut costs: [Vec<Cost>; 2] = [Vec::new(), Vec::new()];
    for round in 0..rounds {
        for (system, costs) in systems.iter().zip(&mut costs) {
            let cost = pour(system, &file.0).with_context(|| format!("{} failed", system.name))?;
            println!("round {} {:<6} {cost:.3?}", round + 1, system.name);
            costs.push(cost);
        }
    }
    println!("\n{mebibytes} MiB {load:?}, medians of {rounds} interleaved rounds");
    println!("{:<24}{:>10}{:>10}{:>10}", "", "stock", "rove", "ratio");
    let rows: [(&str, Figure); 4] = [
        ("server CPU, s", |cost| cost.server_cpu),
        ("until the marker, s", |cost| cost.wall),
        ("server peak, KiB", |cost| cost.server_peak_kib),
        ("client peak, KiB", |cost| cost.client_peak_kib),
    ];
    for (label, figure) in rows {
        let [stock, rove] = [0, 1].map(|system: usize| median(costs[system].iter().map(figure)));
        println!("{label:<24}{stock:>10.3}{rove:>10.3}{:>10.3}", rove / stock);
    }
    Ok(())
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Builds rove for release and returns where it lies.
fn release_binary() -> Result<PathBuf> {
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--release", "--locked", "--package", "rove-shell"])
        .current_dir(crate::workspace_root())
        .status()
        .context("cargo did not start")?;
    anyhow::ensure!(status.success(), "rove does not build");
    let xtask = std::env::current_exe().context("cannot tell where this program lies")?;
    let target = xtask.ancestors().nth(2).context("this program lies in no target folder")?;
    Ok(target.join("release/rove"))
}

/// The file that holds the flood; removed however the run ends.
struct LoadFile(PathBuf);

impl Drop for LoadFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn write_load(load: Load, mebibytes: usize) -> Result<LoadFile> {
    let path = std::env::temp_dir().join(format!("rove-flood-{}", std::process::id()));
    let mut text = Vec::with_capacity(mebibytes << 20);
    let mut number = 0_u32;
    while text.len() < mebibytes << 20 {
        number += 1;
        match load {
            Load::Plain => {
                writeln!(text, "{number:>8} the quick brown fox jumps over the lazy dog")?;
            }
            Load::Escapes => {
                let (row, column, color) = (number % 24 + 1, number % 71 + 1, number % 256);
                write!(text, "\x1b[{row};{column}H\x1b[38;5;{color}mword{}\x1b[0m", number % 10)?;
            }
        }
    }
    let file = LoadFile(path);
    std::fs::write(&file.0, text).context("cannot write the load")?;
    Ok(file)
}

/// Pours the load through one session.
fn pour(system: &System, load: &Path) -> Result<Cost> {
    let command = format!("stty -echo; cat {}; printf '\\r\\n{MARKER}'; read x", load.display());
    let (port, key, server_pid) = start_server(system, &command)?;
    let _server = ServerGuard(server_pid);
    let mut terminal = Terminal::open()?;
    let start = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let mut client = ClientGuard(start_client(system, &terminal, &port, &key)?);
    terminal.wait_for(MARKER.as_bytes())?;
    let end = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let cost = Cost {
        server_cpu: cpu_seconds(server_pid)?,
        wall: seconds(end) - seconds(start),
        server_peak_kib: peak_kib(server_pid)?,
        client_peak_kib: peak_kib(client.0.id())?,
    };
    terminal.master.write_all(b"\n")?;
    terminal.drain_until_exit(&mut client.0)?;
    Ok(cost)
}

fn seconds(time: Timespec) -> f64 {
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or_default(),
        u32::try_from(time.tv_nsec).unwrap_or_default(),
    )
    .as_secs_f64()
}

/// Ends the server however the run ends.
struct ServerGuard(u32);

impl Drop for ServerGuard {
    fn drop(&mut self) {
        if let Some(pid) = i32::try_from(self.0).ok().and_then(Pid::from_raw) {
            // It has usually ended by itself.
            let _ = kill_process(pid, Signal::TERM);
        }
    }
}

/// Ends the client however the run ends.
struct ClientGuard(Child);

impl Drop for ClientGuard {
    fn drop(&mut self) {
        // It has usually ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a server and returns its port, its key and the process that stays.
fn start_server(system: &System, command: &str) -> Result<(String, String, u32)> {
    let output = Command::new(&system.server)
        .args(system.server_args)
        .args(["new", "-i", "127.0.0.1", "-c", "256", "--", "sh", "-c", command])
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {}", system.server.display()))?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let words: Vec<&str> = stdout.split_whitespace().collect();
    let ["MOSH", "CONNECT", port, key] = words[..] else {
        bail!("the server said {stdout:?} and {stderr:?}")
    };
    let pid = stderr
        .split("pid = ")
        .nth(1)
        .and_then(|rest| rest.split(']').next()?.trim().parse().ok())
        .with_context(|| format!("no process id in {stderr:?}"))?;
    Ok((port.to_owned(), key.to_owned(), pid))
}

fn start_client(system: &System, terminal: &Terminal, port: &str, key: &str) -> Result<Child> {
    let stdio = || -> Result<Stdio> { Ok(terminal.slave.try_clone()?.into()) };
    Command::new(&system.client)
        .args(system.client_args)
        .args(["127.0.0.1", port])
        .env("MOSH_KEY", key)
        .env("MOSH_PREDICTION_DISPLAY", "never")
        .env("LC_ALL", "C.UTF-8")
        .env("TERM", "xterm-256color")
        .stdin(stdio()?)
        .stdout(stdio()?)
        .stderr(stdio()?)
        .spawn()
        .with_context(|| format!("cannot start {}", system.client.display()))
}

/// The user's terminal: a pty whose output is read and searched.
struct Terminal {
    master: File,
    slave: File,
}

impl Terminal {
    fn open() -> Result<Self> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = ptsname(&master, Vec::new())?;
        let slave = File::options().read(true).write(true).open(name.to_str()?)?;
        let size = rustix::termios::Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&master, size)?;
        Ok(Self { master: master.into(), slave })
    }

    /// Reads until `wanted` has been seen.
    fn wait_for(&mut self, wanted: &[u8]) -> Result<()> {
        let mut seen = Vec::new();
        let mut buffer = vec![0; 65_536];
        loop {
            let mut ready = [PollFd::new(&self.master, PollFlags::IN)];
            if poll(&mut ready, Some(&HANG_GUARD))? == 0 {
                bail!("the session shows nothing new: {}", String::from_utf8_lossy(&seen));
            }
            let count = self.master.read(&mut buffer)?;
            seen.extend_from_slice(&buffer[..count]);
            if seen.windows(wanted.len()).any(|window| window == wanted) {
                return Ok(());
            }
            // What is kept may hold the beginning of what is waited for.
            let surplus = seen.len().saturating_sub(wanted.len());
            seen.drain(..surplus);
        }
    }

    /// Reads what a client says while it leaves.
    fn drain_until_exit(&mut self, client: &mut Child) -> Result<()> {
        let mut buffer = vec![0; 65_536];
        loop {
            if client.try_wait()?.is_some() {
                return Ok(());
            }
            let mut ready = [PollFd::new(&self.master, PollFlags::IN)];
            let pause = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
            if poll(&mut ready, Some(&pause))? > 0 {
                let _ = self.master.read(&mut buffer)?;
            }
        }
    }
}

/// Returns the CPU time a process has used, user and system together, in seconds.
fn cpu_seconds(pid: u32) -> Result<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks: Vec<f64> =
        after_name.split_whitespace().skip(11).take(2).filter_map(|t| t.parse().ok()).collect();
    anyhow::ensure!(ticks.len() == 2, "unexpected /proc/{pid}/stat");
    #[expect(clippy::cast_precision_loss, reason = "a hundred or a thousand")]
    let rate = rustix::param::clock_ticks_per_second() as f64;
    Ok((ticks[0] + ticks[1]) / rate)
}

/// Returns the most memory a process has held, in KiB.
fn peak_kib(pid: u32) -> Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    status
        .lines()
        .find_map(|line| {
            line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.trim().parse().ok()
        })
        .with_context(|| format!("no VmHWM in /proc/{pid}/status"))
}
