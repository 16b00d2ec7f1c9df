//! `rove-lab emulate`: a command in a network namespace of its own, behind an emulated link in real time.
//!
//! The link and its two ends are a [`rove_net::testbed`].

use std::env;
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};

use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, ValueHint};
use rove_flows::path::Path;
use rove_host::program::candidates;
use rove_platform::event_loop::{EventLoop, Interest};
use rove_runs::files::{check_writable, write_whole};
use rove_units::{Instant, Seed};
use rustix::fs::{Access, access};
use rustix::process::{Pid, Signal, getpgrp, kill_process};
use rustix::termios::tcgetpgrp;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

use crate::validate::Check;
use rove_net::testbed::{DirectionReport, End, Report, Testbed, TestbedOptions, bounded};
use rove_net::{DIRECTIONS, Device, Far, acquire_rights};

/// The environment variable with the far side's address. In nested emulators it has that of the outermost far side.
const PEER: &str = "ROVE_PEER";

/// The terminal whose keys send signals to this process. Source: tty(4).
const TERMINAL: &str = "/dev/tty";

/// Exit codes of a command that is not there, and of one that cannot be run. Source: POSIX.1-2024, Shell Command
/// Language, 2.8.2.
const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;

/// Signals to handle. All but SIGCHLD go on to the command. SIGWINCH and terminal stop signals reach it by themselves.
const SIGNALS: [i32; 7] = [SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2];

/// Runs a command behind an emulated link, in a network namespace of its own
#[derive(Clone, Debug, Args)]
pub(crate) struct EmulateOptions {
    /// Delay, half of it each way
    #[arg(long, value_name = "TIME")]
    rtt: Option<String>,
    /// Delays vary by up to so much around half of --rtt, each way
    #[arg(long, value_name = "TIME")]
    jitter: Option<String>,
    /// Share of the packets that is lost each way
    #[arg(long, value_name = "SHARE")]
    loss: Option<String>,
    /// Bits per second each way
    #[arg(long, value_name = "RATE")]
    rate: Option<String>,
    /// Bytes, or packets, that wait before the bottleneck, as in 64k or 100p; at most 256 MiB, the default
    #[arg(long, value_name = "SIZE")]
    queue: Option<String>,
    /// Recorded delivery opportunities of the way out, in place of a rate
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    uplink: Option<String>,
    /// Recorded delivery opportunities of the way back
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    downlink: Option<String>,
    /// Steps of the link in turn, as JSON: a list of {"delay_ms", "jitter_ms", "loss_pct", "rate_kbit", "duration_s"}, in
    /// place of all other parts
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    schedule: Option<String>,
    /// The link in one word, or more of it: parts below, joined by commas
    #[arg(long, value_name = "LINK")]
    link: Option<String>,
    /// Number that decides which packets are lost and how late others are
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// Address of the far side [default: 100.64.0.1, or the next that is free]
    #[arg(long, value_name = "ADDRESS")]
    peer: Option<Ipv4Addr>,
    /// Give the far side a network of its own, and run this line of shell there
    #[arg(long, value_name = "COMMAND")]
    far: Option<OsString>,
    /// Node of the TUN driver
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    tun: Option<PathBuf>,
    /// Use veth cables and packet sockets even where there is TUN
    #[arg(long, conflicts_with = "tun")]
    veth: bool,
    /// Write NAME.uplink.log and NAME.downlink.log in Mahimahi's form, NAME.uplink.events and NAME.downlink.events with
    /// nanoseconds
    #[arg(long, value_name = "NAME", value_hint = ValueHint::FilePath)]
    log: Option<PathBuf>,
    /// Show figures at the end, on standard error
    #[arg(long)]
    stats: bool,
    /// Write figures, or the results of checks, as JSON
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) json: Option<PathBuf>,
    /// Hold the emulator against what links should do, by the checks below [default: all]
    #[arg(long = "check", value_name = "CHECK", num_args = 0.., hide_possible_values = true, conflicts_with_all = [
        "rtt", "jitter", "loss", "rate", "queue", "uplink", "downlink", "schedule", "link", "peer", "far", "tun",
        "veth", "log", "stats", "command",
    ])]
    pub(crate) checks: Option<Vec<Check>>,
    /// The command to run [default: your shell]
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl EmulateOptions {
    /// Returns the link that the options and --link describe together.
    ///
    /// # Errors
    ///
    /// Returns a sentence if they describe no link.
    pub(crate) fn path(&self) -> Result<Path, String> {
        let options = [
            ("rtt", &self.rtt),
            ("jitter", &self.jitter),
            ("loss", &self.loss),
            ("rate", &self.rate),
            ("queue", &self.queue),
            ("uplink", &self.uplink),
            ("downlink", &self.downlink),
            ("schedule", &self.schedule),
        ];
        let mut words = Vec::new();
        for (name, value) in options {
            let Some(value) = value else { continue };
            if value.contains(',') {
                return Err(format!("the value of --{name} contains a comma: {value:?}"));
            }
            words.push(format!("{name}={value}"));
        }
        words.extend(self.link.clone());
        let path = if words.is_empty() { Path::wire() } else { words.join(",").parse::<Path>()? };
        if path.download.is_some() {
            return Err(
                "a download is for virtual time: run a program here that downloads".to_owned()
            );
        }
        Ok(path.of_whole_packets())
    }

    /// Returns the command to run: the given command, or else the user's shell.
    fn command(&self) -> Vec<OsString> {
        if !self.command.is_empty() {
            return self.command.clone();
        }
        let shell = env::var_os("SHELL").filter(|shell| !shell.is_empty());
        vec![shell.unwrap_or_else(|| "/bin/sh".into())]
    }

    fn device(&self) -> Device {
        match &self.tun {
            Some(node) => Device::Tun(node.clone()),
            None if self.veth => Device::Veth,
            None => Device::Any,
        }
    }
}

/// Runs a command behind a path and returns its exit code, as a shell would report it. Sentences that the user must
/// read go to `complain`.
///
/// # Errors
///
/// Returns an error if the link cannot be made, or a file cannot be read or written.
pub(crate) fn run(options: &EmulateOptions, mut path: Path, complain: impl Fn(&str)) -> Result<u8> {
    let (command, seed) = (options.command(), Seed::new(options.seed));
    path.load()?;
    if let Some(code) = cannot_run(&command, &complain) {
        return Ok(code);
    }
    // A file that cannot be written is reported before the work.
    options.json.as_deref().map_or(Ok(()), check_writable)?;
    let possible = acquire_rights()?;
    let far = if options.far.is_some() { Far::Own } else { possible };
    let [uplink, downlink] = path.links(Instant::ZERO, seed).map(bounded);
    let testbed = Testbed::new(TestbedOptions {
        far,
        device: options.device(),
        address: options.peer,
        log: options.log.clone(),
        ..TestbedOptions::new(uplink, downlink, seed)
    })?;
    if far != Far::Here && options.far.is_none() {
        complain(
            "without root the far side is a namespace of its own, with nothing in it: nothing answers there. \
             --far COMMAND runs a server in it",
        );
    }
    let status = run_command(&testbed, &command, options.far.as_ref())?;
    let figures = testbed.finish()?;
    for reason in &figures.invalid {
        complain(&format!("this run is invalid, the machine was too busy: {reason}"));
    }
    if options.stats {
        let _ = io::stderr().write_all(table(&figures).as_bytes());
    }
    if let Some(report) = &options.json {
        let json =
            serde_json::to_string_pretty(&figures).context("cannot write figures as JSON")?;
        write_whole(report, &(json + "\n"))?;
    }
    Ok(code(status))
}

/// If a command cannot be run, tells the user why, and returns the exit code for this case.
fn cannot_run(command: &[OsString], complain: impl Fn(&str)) -> Option<u8> {
    let name = command.first()?;
    let candidates = candidates(name, env::var_os("PATH").as_ref());
    // A directory has the right to execute, too, but cannot be run.
    let is_program = |path: &CString| {
        let is_folder = PathBuf::from(OsStr::from_bytes(path.to_bytes())).is_dir();
        !is_folder && access(path.as_c_str(), Access::EXEC_OK).is_ok()
    };
    if candidates.iter().any(is_program) {
        return None;
    }
    let exists = |path: &CString| access(path.as_c_str(), Access::EXISTS).is_ok();
    let (reason, code) = if candidates.iter().any(exists) {
        ("it is no program that you may execute", NOT_EXECUTABLE)
    } else {
        ("there is no such program", NOT_FOUND)
    };
    complain(&format!("cannot run {}: {reason}", name.display()));
    Some(code)
}

/// Starts the far side's command if there is one, then `command`, and waits until `command` has ended.
fn run_command(
    testbed: &Testbed,
    command: &[OsString],
    far: Option<&OsString>,
) -> Result<ExitStatus> {
    let mut events =
        EventLoop::new(testbed.clock(), &SIGNALS).context("cannot wait for signals")?;
    let far = far.map(|line| {
        let mut shell = testbed.command(End::Far, "/bin/sh")?;
        shell.arg("-c").arg(line).stdin(std::process::Stdio::null());
        start(&mut shell, testbed)
    });
    let mut far = far.transpose()?;
    let (name, arguments) = command.split_first().context("there is no command")?;
    let mut command = testbed.command(End::Near, name)?;
    let mut child = start(command.args(arguments), testbed)?;
    loop {
        let mut interests = [Interest::new(testbed.failure(), true, false)];
        events.wait(&mut interests, None).context("cannot wait for the command")?;
        for signal in events.take_signals() {
            hand_on(signal, &child);
        }
        // The far side's command is waited for too, so that it does not stay a zombie.
        if let Some(far) = &mut far {
            let _ = far.try_wait();
        }
        if let Some(status) = child.try_wait().context("cannot wait for the command")? {
            return Ok(status);
        }
        if interests[0].is_readable() {
            bail!(
                "the link has failed, so the command was ended: an interface of it was taken away"
            );
        }
    }
}

fn start(command: &mut Command, testbed: &Testbed) -> Result<Child> {
    // In a nested emulator, the command keeps the far side of the outer emulator.
    if !testbed.is_nested() || env::var_os(PEER).is_none() {
        command.env(PEER, testbed.address(End::Far).to_string());
    }
    command.spawn().map_err(|error| {
        let name = command.get_program().display();
        anyhow!("cannot run {name}: {error}")
    })
}

/// Hands a signal on to the command, unless the terminal has sent it to the command already.
fn hand_on(signal: i32, child: &Child) {
    let is_keyboard = matches!(signal, SIGINT | SIGQUIT);
    if signal == SIGCHLD || (is_keyboard && is_in_foreground()) {
        return;
    }
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let (Some(pid), Some(signal)) = (pid, Signal::from_named_raw(signal)) {
        // A command that has just ended gets no signal.
        let _ = kill_process(pid, signal);
    }
}

/// Returns whether the terminal's keys send signals to this process group, even if standard input is no terminal.
fn is_in_foreground() -> bool {
    let group = File::open(TERMINAL).and_then(|terminal| Ok(tcgetpgrp(terminal)?));
    group.is_ok_and(|group| group == getpgrp())
}

fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// Returns the figures as a table for people.
fn table(report: &Report) -> String {
    let mut table = format!(
        "{:<9}{:>10}{:>11}{:>9}{:>12}{:>15}{:>27}\n",
        "", "entered", "delivered", "dropped", "Mbit/s", "mean delay", "late p50 / p99 / max"
    );
    for (name, direction) in DIRECTIONS.into_iter().zip([&report.uplink, &report.downlink]) {
        let DirectionReport { entered, delivered, dropped, mean_delay_ms, lateness, .. } =
            direction;
        let bytes = u32::try_from(direction.delivered_bytes / 1_000).unwrap_or(u32::MAX);
        let megabits = f64::from(bytes) * 8e-3 / report.seconds.max(1e-3);
        let late =
            format!("{:.0} / {:.0} / {:.0} us", lateness.p50_us, lateness.p99_us, lateness.max_us);
        table += &format!(
            "{name:<9}{entered:>10}{delivered:>11}{dropped:>9}{megabits:>12.3}{mean_delay_ms:>12.2} ms{late:>27}\n"
        );
    }
    table
}
