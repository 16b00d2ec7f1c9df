//! Servers and clients of rove and of stock Mosh.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::Output;

use rustix::process::Signal;

use super::invocation::{Invocation, require};
use rove_rig::guard::{side_by_side, within_guard};
use rove_rig::process::Process;
use rove_rig::session::announced;

/// The maker of a client or server program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Maker {
    /// The program of this package.
    Rove,
    /// Mosh 1.4 as the distribution ships it.
    Stock,
}

impl Maker {
    /// Returns the first words of this maker's server command line.
    pub(crate) fn server(self) -> Invocation {
        match self {
            Self::Rove => Invocation::new(rove()).arg("server"),
            Self::Stock => Invocation::new(require("mosh-server", "mosh")),
        }
    }

    /// Returns this maker's client command line for a server at `address`.
    pub(crate) fn client(self, address: SocketAddr, key: &str) -> Invocation {
        let call = match self {
            Self::Rove => Invocation::new(rove()).arg("client"),
            Self::Stock => Invocation::new(require("mosh-client", "mosh")),
        };
        call.env("MOSH_KEY", key).arg(address.ip().to_string()).arg(address.port().to_string())
    }

    /// Returns the maker's name for tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rove => "rove",
            Self::Stock => "stock",
        }
    }
}

/// Returns the program under test.
pub(crate) fn rove() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_rove"))
}

/// Repeats a command that asks sessions until all sessions have answered in time. On a busy computer, a server may need
/// longer than the command waits.
pub(crate) fn answered(call: &Invocation) -> Output {
    let call = call.clone();
    within_guard("the sessions to answer", move || {
        loop {
            let output = call.command().output().expect("rove starts");
            let said = [&output.stdout[..], &output.stderr].concat();
            if !String::from_utf8_lossy(&said).contains("does not answer") {
                return output;
            }
        }
    })
}

/// Most examinations of a host until the doctor's report is as wanted.
const EXAMINATIONS_MAX: usize = 5;

/// Repeats an examination by the doctor until its report is as wanted. On a busy computer the doctor's few seconds may
/// be too short. Returns the last report.
pub(crate) fn examined_until<R>(examine: impl Fn() -> R, is_wanted: impl Fn(&R) -> bool) -> R {
    let mut report = examine();
    for _ in 1..EXAMINATIONS_MAX {
        if is_wanted(&report) {
            break;
        }
        report = examine();
    }
    report
}

/// Runs `test` in parallel for each pair of client and server, except for stock Mosh at both ends.
pub(crate) fn each_pair(test: impl Fn((Maker, Maker)) + Sync) {
    let pairs =
        [(Maker::Rove, Maker::Rove), (Maker::Rove, Maker::Stock), (Maker::Stock, Maker::Rove)];
    side_by_side(pairs, test);
}

/// Opens a process. Dropping the returned value kills the process.
pub(crate) fn process(pid: u32) -> Process {
    Process::open(pid, Signal::KILL).expect("the process is there")
}

/// A detached server. Dropping this value kills it.
pub(crate) struct Server {
    process: Process,
    /// The address at which the server listens.
    pub(crate) address: SocketAddr,
    /// The session key as text.
    pub(crate) key: String,
}

impl Server {
    /// Starts a server that runs `command`, at a port that the kernel chooses.
    pub(crate) fn start(maker: Maker, ip: IpAddr, command: &[&str]) -> Self {
        Self::start_with(maker.server(), ip, command)
    }

    /// Works as [`Server::start`] does, by a call whose environment the caller has extended.
    pub(crate) fn start_with(call: Invocation, ip: IpAddr, command: &[&str]) -> Self {
        let ip_text = ip.to_string();
        let call = call.args(["new", "-c", "256", "-i", &ip_text, "-p", "0", "--"]).args(command);
        Self::from_call(ip, call).unwrap_or_else(|output| panic!("{output:?}"))
    }

    /// Starts a server by this call. If the call announces no server, returns the output and status of the call.
    pub(crate) fn from_call(ip: IpAddr, call: Invocation) -> Result<Self, Output> {
        let output = within_guard("the server to detach", move || {
            // A stock server's program would inherit signals that the tests' parent ignores, such as SIGINT.
            let mut command = call.command_behind(&["env", "--default-signal", "--"]);
            command.stdin(std::process::Stdio::null()).output().expect("the server starts")
        });
        let Some((port, key, pid)) = announced(&output) else { return Err(output) };
        Ok(Self { process: process(pid), address: SocketAddr::new(ip, port), key })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.pid()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        self.process.signal(signal);
    }

    /// Returns whether the server still runs.
    pub(crate) fn is_running(&self) -> bool {
        !self.process.is_gone()
    }

    /// Waits until the server has ended.
    #[track_caller]
    pub(crate) fn assert_gone(&self) {
        assert!(self.process.wait_gone(), "the server is still there");
    }
}
