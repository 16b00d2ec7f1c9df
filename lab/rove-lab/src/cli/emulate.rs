//! The command line of `rove-lab emulate`.

use clap::{Args, Command};
use rove_cli_docs::{Manual, Words};

use crate::cli::program::LABORATORY;
use crate::emulate::EmulateOptions;

/// The manual of `rove-lab emulate`.
pub(crate) static MANUAL: Manual = Manual {
    word: "emulate",
    definition: || {
        EmulateOptions::augment_args(Command::new("rove-lab emulate"))
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
