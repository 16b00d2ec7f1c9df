//! Copies of a large file over loopback: by scp over ssh, over `rove exec` and over `rove -W`.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use rove_rig::clock;
use rove_rig::place::Place;
use rove_rig::scratch::Scratch;
use rove_rig::session::in_known_environment;
use rove_rig::sshd::Sshd;
use rove_units::Bytes;

use super::pair;
use super::report::{Line, Target};
use super::turns::Bench;

/// Least ratio of a copy's speed to that of scp over ssh. Chosen: TCP in the kernel copies bytes less often than rove,
/// and most networks are slower than half of scp's speed.
const SPEED_RATIO_MIN: f64 = 0.5;

/// The program that carries a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carrier {
    Ssh,
    /// `rove exec` in place of ssh.
    Exec,
    /// An ssh whose ProxyCommand is `rove -W`.
    Proxy,
}

/// The direction of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    FromHost,
    ToHost,
}

/// The lines of the table, each with the direction and the carrier of the copy.
const LINES: [(&str, Way, Carrier); 3] = [
    ("scp from the host by rove exec", Way::FromHost, Carrier::Exec),
    ("scp to the host by rove exec", Way::ToHost, Carrier::Exec),
    ("scp from the host by ssh over rove -W", Way::FromHost, Carrier::Proxy),
];

/// Measures each copy once in a round.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Line>> {
    let home = Scratch::create()?;
    let file = home.path("sent");
    make_file(&file, bench.copy_size)?;
    pair::link_programs(bench.programs.systems()[1], &home)?;
    let mut lines = LINES.map(|(what, ..)| (what, Vec::new(), Vec::new()));
    for round in 1..=bench.rounds {
        bench.progress("copies of a file", "scp, rove and ssh", round);
        let mut by_ssh = Vec::new();
        let mut turns = [
            (Way::FromHost, Carrier::Ssh),
            (Way::FromHost, Carrier::Exec),
            (Way::ToHost, Carrier::Ssh),
            (Way::ToHost, Carrier::Exec),
            (Way::FromHost, Carrier::Proxy),
        ];
        // Each round begins with another copy, because a copy leaves dirty pages, which slow the next copy down.
        let first = (round - 1) % turns.len();
        turns.rotate_left(first);
        for (way, carrier) in turns {
            let speed = copy(&home, way, carrier, bench.copy_size)?;
            match LINES.iter().position(|(_, its, by)| (*its, *by) == (way, carrier)) {
                Some(line) => lines[line].1.push(speed),
                None => by_ssh.push((way, speed)),
            }
        }
        for ((_, way, _), line) in LINES.iter().zip(&mut lines) {
            let beside = by_ssh.iter().find(|(its, _)| its == way);
            line.2.extend(beside.map(|(_, speed)| *speed));
        }
    }
    let target = Target::RatioAtLeast(SPEED_RATIO_MIN);
    let line = |(what, ours, theirs)| {
        Line::new(what, "MB/s", ours).beside("scp by ssh", theirs).target(target)
    };
    Ok(lines.into_iter().map(line).collect())
}

/// Writes a file of random bytes, which no compression shortens.
pub(super) fn make_file(path: &Path, size: Bytes) -> Result<()> {
    let chance = File::open("/dev/urandom").context("cannot open the system's random numbers")?;
    let mut file = File::create(path).context("cannot make the file that is copied")?;
    io::copy(&mut chance.take(size.get()), &mut file).context("cannot write the file")?;
    Ok(())
}

/// Copies the file and checks that all bytes have arrived. Returns MB/s over the whole time, login included.
fn copy(home: &Scratch, way: Way, carrier: Carrier, size: Bytes) -> Result<f64> {
    let sshd = Sshd::start_with(Place::Here, &pair::settings(home.folder()))?;
    let config = sshd.client_config().display().to_string();
    let mut scp = Command::new("scp");
    in_known_environment(&mut scp, home.folder()).env("ROVE_RUNTIME_DIR", home.path("run"));
    scp.args(["-q", "-F", &config]).stdin(Stdio::null());
    match carrier {
        Carrier::Ssh => {}
        Carrier::Exec => drop(scp.arg("-S").arg(home.path("rove-exec"))),
        Carrier::Proxy => {
            let rove = home.path("rove");
            let proxy =
                format!("ProxyCommand={} -W %h:%p --ssh='{}' far", rove.display(), sshd.ssh());
            scp.args(["-o", &proxy]);
        }
    }
    let (sent, arrived) = (home.path("sent"), home.path("arrived"));
    let far = |path: &Path| format!("far:{}", path.display());
    match way {
        Way::FromHost => scp.arg(far(&sent)).arg(&arrived),
        Way::ToHost => scp.arg(&sent).arg(far(&arrived)),
    };
    let start = clock::now();
    let status = scp.status().context("cannot start scp")?;
    let seconds = clock::seconds_since(start);
    ensure!(status.success(), "{way:?} by {carrier:?}: scp failed");
    ensure!(is_same(&sent, &arrived)?, "{way:?} by {carrier:?}: the copy has other bytes");
    fs::remove_file(&arrived).context("cannot remove the copy")?;
    #[expect(clippy::cast_precision_loss, reason = "less than 2^53 bytes")]
    let megabytes = size.get() as f64 / 1e6;
    Ok(megabytes / seconds)
}

/// Returns whether two files have the same bytes.
fn is_same(one: &Path, other: &Path) -> Result<bool> {
    const BLOCK: usize = 64 * 1024;
    let open = |path: &Path| Ok::<_, io::Error>(BufReader::with_capacity(BLOCK, File::open(path)?));
    let (mut one, mut other) = (open(one)?, open(other)?);
    let (mut left, mut right) = ([0; BLOCK], [0; BLOCK]);
    loop {
        let len = one.read(&mut left)?;
        if len == 0 {
            return Ok(other.read(&mut right)? == 0);
        }
        let is_there = other.read_exact(&mut right[..len]).is_ok();
        if !is_there || left[..len] != right[..len] {
            return Ok(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_that_is_shorter_longer_or_other_is_found() {
        let scratch = Scratch::create().expect("a folder");
        let keep = |name: &str, bytes: &[u8]| scratch.keep(name, bytes).expect("a file");
        let mut bytes = vec![7; 200_000];
        let sent = keep("sent", &bytes);
        let same = keep("same", &bytes);
        let shorter = keep("shorter", &bytes[..199_999]);
        let longer = keep("longer", &[&bytes[..], b"x"].concat());
        bytes[150_000] = 8;
        let other = keep("other", &bytes);
        for (path, is_copy) in [(same, true), (shorter, false), (longer, false), (other, false)] {
            assert_eq!(is_same(&sent, &path).expect("both are there"), is_copy, "{path:?}");
        }
    }
}
