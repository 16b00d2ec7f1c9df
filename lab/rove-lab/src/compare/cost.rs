//! Processor time and memory that the processes at an end of a testbed have used.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;

use anyhow::{Context, Result};
use serde::Serialize;

use rove_net::Offered;
use rove_net::testbed::{End, Testbed};
use rove_rig::process;

/// Processor time and memory of one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Cost {
    /// Processor time, user and system together, in seconds.
    pub(crate) processor_seconds: f64,
    /// The sum over the side's processes of each one's peak of resident memory, in megabytes of 10^6 bytes. Pages that
    /// processes share are counted once for each of these processes.
    pub(crate) peak_megabytes: f64,
}

/// Traffic of both ways, up and down, and costs of both sides, client and server.
pub(super) type Spent = ([Offered; 2], [Cost; 2]);

/// The means of [`Spent`] over several runs. In place of a mean, the peak of memory is the largest one.
#[derive(Serialize)]
pub(super) struct MeanSpent {
    uplink: Traffic,
    downlink: Traffic,
    client: Cost,
    server: Cost,
}

/// The traffic of a direction, headers of IP included.
#[derive(Serialize)]
struct Traffic {
    bytes: f64,
    packets: f64,
}

impl MeanSpent {
    #[expect(clippy::cast_precision_loss, reason = "fewer bytes than 2^52")]
    pub(super) fn of(runs: &[Spent]) -> Self {
        let mean = |figure: &dyn Fn(&Spent) -> f64| {
            runs.iter().map(figure).sum::<f64>() / runs.len().max(1) as f64
        };
        let traffic = |way: usize| Traffic {
            bytes: mean(&|(offered, _)| offered[way].bytes.get() as f64).round(),
            packets: mean(&|(offered, _)| offered[way].packets as f64),
        };
        let cost = |side: usize| Cost {
            processor_seconds: mean(&|(_, costs)| costs[side].processor_seconds),
            peak_megabytes: runs.iter().fold(0.0, |peak, it| it.1[side].peak_megabytes.max(peak)),
        };
        Self { uplink: traffic(0), downlink: traffic(1), client: cost(0), server: cost(1) }
    }
}

/// Processor time in seconds of each process at an end, by the process number.
pub(super) type Usage = BTreeMap<u32, f64>;

/// Reads the usage so far of the processes at the near and the far end, without processes of this program.
///
/// # Errors
///
/// Returns an error if the list of processes cannot be read.
pub(super) fn usages(testbed: &Testbed) -> Result<[Usage; 2]> {
    Ok([usage(testbed, End::Near)?, usage(testbed, End::Far)?])
}

fn usage(testbed: &Testbed, end: End) -> Result<Usage> {
    // Files are told apart by inode: paths differ between the two sides of a mount namespace.
    let identity = |process: &str| {
        fs::metadata(format!("/proc/{process}/exe")).map(|file| (file.dev(), file.ino()))
    };
    let own = identity("self").context("cannot tell which program this is")?;
    let is_ours = |pid: &u32| identity(&pid.to_string()).is_ok_and(|it| it == own);
    let others = testbed.processes(end)?.into_iter().filter(|pid| !is_ours(pid));
    // A process may end at any time, and has no figures then.
    Ok(others.filter_map(|pid| Some((pid, process::threads_cpu_seconds(pid)?))).collect())
}

/// Returns the costs at both ends since `before`.
///
/// # Errors
///
/// Returns an error as [`usages`] does.
pub(super) fn since(testbed: &Testbed, before: &[Usage; 2]) -> Result<[Cost; 2]> {
    let now = usages(testbed)?;
    Ok([0, 1].map(|end| {
        let spent = |(pid, seconds): (&u32, &f64)| seconds - before[end].get(pid).unwrap_or(&0.0);
        let peaks = now[end].keys().filter_map(|pid| process::peak_megabytes(*pid).ok());
        Cost { processor_seconds: now[end].iter().map(spent).sum(), peak_megabytes: peaks.sum() }
    }))
}
