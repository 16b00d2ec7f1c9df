//! The command line of `rove-lab emulate`.

use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use clap::{Args, Command, ValueHint};
use rove_cli_docs::{Manual, Words};
use rove_flows::path::Path;
use rove_net::Device;
use rove_units::Seed;

use crate::cli::program::LABORATORY;
use crate::emulate::{EmulateOptions, ViewPlace};
use crate::validate::Check;

/// The manual of `rove-lab emulate`.
pub(crate) static MANUAL: Manual = Manual {
    word: "emulate",
    definition: || {
        EmulateArgs::augment_args(Command::new("rove-lab emulate"))
            .override_usage("rove-lab emulate [options] [-- command...]\n       rove-lab emulate --check [CHECK...]")
    },
    words: Words::Command,
    notes: &[
        "The command has a network of its own, whose only way out is the link; at its far side is this computer, at \
         the address 100.64.0.1 unless that is taken. Services that listen at all addresses answer there. With --far \
         the far side is a network of its own, too. Nothing beyond the far side can be reached, and there are no \
         names and no IPv6.",
        "Without root, a user namespace takes the place of its rights, and the far side is always a network of its own. \
         When the command ends, so does everything that it and --far have started.",
        "A run in which packets left late (1 % by more than 2 ms, or one by more than 20 ms) or an interface \
         dropped some is said to be invalid at the end: the machine was too busy. docs/lab.md describes schedules \
         and the logs.",
        "With --check no command runs. Each check sends packets through an emulated link in real time, and prints the figure that \
         the link's description demands and the one that was measured. A computer that is busy with something else fails the \
         checks of times: leave it alone meanwhile.",
    ],
    lists: &[
        (
            "Parts of --link, joined by commas; up.PART or down.PART for one direction",
            &[
                ("rtt=TIME", "delay, half of it each way; at most a minute"),
                ("jitter=TIME", "delays vary by up to so much, at most half of rtt"),
                (
                    "distribution=normal",
                    "they vary with this standard deviation, cut at zero; uniform by default",
                ),
                ("reorder=yes", "they may put packets out of order"),
                ("mtu=SIZE", "drops larger packets without a word; headers count"),
                ("loss=SHARE", "loses so many packets each way, 5% or 0.05"),
                (
                    "ge=SHARE/SHARE/SHARE/SHARE",
                    "bursts of loss: turning bad, turning good, loss while bad, while good",
                ),
                ("bursts=SHARE/PACKETS", "loses so many, in bursts of so many packets in the mean"),
                ("duplicate=SHARE", "so many packets come twice"),
                (
                    "outage=TIME-TIME",
                    "nothing passes from the one to the other; several joined by +",
                ),
                (
                    "onoff=TIME/TIME",
                    "on and off for so long in the mean, exponentially distributed",
                ),
                ("intermittent=TIME/TIME", "on and off for exactly so long"),
                ("rate=RATE", "a bottleneck of 1Mbit, 64k"),
                ("burst=SIZE", "a token bucket of this size, full at first, holds the rate"),
                (
                    "queue=SIZE",
                    "bytes that wait before the bottleneck, or packets: 64k, 100p; at most 256 MiB, the default",
                ),
                ("discipline=NAME", "drop-tail, drop-head, codel, pie or fq-codel"),
                (
                    "uplink=FILE, downlink=FILE",
                    "recorded delivery opportunities in place of a rate",
                ),
                (
                    "order=NAME-NAME-NAME",
                    "order of the stages: loss-queue-delay (default), loss-delay-queue, queue-loss-delay, delay-queue-loss",
                ),
                ("schedule=FILE", "all of it, as --schedule has it"),
            ],
        ),
        (
            "Checks of --check",
            &[
                ("delay", "a constant delay"),
                ("loss", "losses, beside those of a virtual run"),
                ("tbf", "a token bucket, beside the kernel's"),
                ("trace", "a trace's opportunities, saturated"),
                ("load", "full packets at 50 Mbit/s: processor time"),
                ("packets", "40,000 packets per second: none lost"),
                ("real-virtual", "delays packet by packet, beside a virtual run"),
                ("tcp", "TCP in bulk (cubic, bbr): use of the rate, and the queue that it makes"),
            ],
        ),
    ],
    examples: &[
        ("rove-lab emulate --rtt 300ms --loss 5%", "a shell behind a bad link"),
        (
            "rove-lab emulate --rate 5M --far 'iperf3 -s' -- sh -c 'iperf3 -c $ROVE_PEER'",
            "a server and a client, alone with each other",
        ),
        (
            "rove-lab emulate --uplink lte.up --downlink lte.down --log run -- ./client",
            "a recorded cellular link, with logs",
        ),
        ("rove-lab emulate --schedule tunnel.json -- ./client", "a link that changes in steps"),
        ("rove-lab emulate --check", "every check of the emulator itself, in a minute and a half"),
        ("rove-lab emulate --check real-virtual loss", "two of them"),
    ],
    environment: &[
        ("SHELL", "The command where none is given; /bin/sh without it."),
        (
            "ROVE_PEER",
            "Set for the command and for --far: the address of the far side; in an emulator within another, of the outer one's.",
        ),
    ],
    files: &[(
        "/dev/net/tun",
        "The node of the TUN driver; where it cannot be opened, veth cables are used.",
    )],
    exit_status: &[
        ("0 to 255", "The command's own; 128 and the signal where one ended it."),
        ("1", "There could be no link, a file not be read or written, or a check failed."),
        ("2", "The command line is wrong."),
        ("126", "The command cannot be executed."),
        ("127", "There is no such command."),
    ],
    ..Manual::of(&LABORATORY)
};

/// Runs a command behind an emulated link, in a network namespace of its own
#[derive(Debug, Args)]
pub(crate) struct EmulateArgs {
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
    /// Show rate, queue, delay and drops: on standard error (for commands that write little), in the terminal's title
    /// (--view=title), or in a file or on another terminal (--view=FILE)
    #[arg(long, value_name = "WHERE", num_args = 0..=1, require_equals = true)]
    view: Option<Option<PathBuf>>,
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
        "rtt", "jitter", "loss", "rate", "queue", "uplink", "downlink", "schedule", "link", "peer", "far", "tun", "veth", "view",
        "log", "stats", "command",
    ])]
    pub(crate) checks: Option<Vec<Check>>,
    /// The command to run [default: your shell]
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl EmulateArgs {
    /// Returns what the words ask for.
    ///
    /// # Errors
    ///
    /// Returns a sentence if they describe no link.
    pub(crate) fn options(self) -> Result<EmulateOptions, String> {
        let path = self.path()?;
        let device = match (self.tun, self.veth) {
            (Some(node), _) => Device::Tun(node),
            (None, true) => Device::Veth,
            (None, false) => Device::Any,
        };
        let view = self.view.map(|place| match place {
            None => ViewPlace::Here,
            Some(place) if place.as_os_str() == "title" => ViewPlace::Title,
            Some(place) => ViewPlace::File(place),
        });
        let mut command = self.command;
        if command.is_empty() {
            let shell = std::env::var_os("SHELL").filter(|shell| !shell.is_empty());
            command.push(shell.unwrap_or_else(|| "/bin/sh".into()));
        }
        Ok(EmulateOptions {
            path,
            seed: Seed::new(self.seed),
            device,
            peer: self.peer,
            far: self.far,
            view,
            log: self.log,
            stats: self.stats,
            report: self.json,
            command,
        })
    }

    /// Returns the link that the options and --link describe together.
    fn path(&self) -> Result<Path, String> {
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
}
