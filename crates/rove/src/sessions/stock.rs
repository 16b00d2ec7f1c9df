//! Finds this user's stock servers (Mosh's own `mosh-server`) among the processes, because they have no control socket.

use std::fs;
use std::path::Path;

use rustix::process::geteuid;

/// Most processes that are examined to find stock servers. Chosen: Linux's default limit on processes.
const PROCESSES_MAX: usize = 32_768;
/// The process name of a stock server, with the line break of `/proc/PID/comm`. Source: Mosh 1.4.0 as observed.
const PROCESS_NAME: &str = "mosh-server\n";

/// Returns the numbers of this user's processes named mosh-server, without the `known` rove servers. Empty if the
/// system has no `/proc`.
pub(super) fn servers(known: &[u32]) -> Vec<u32> {
    let user = geteuid().as_raw();
    let mut found: Vec<u32> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .take(PROCESSES_MAX)
        .filter(|entry| owner(&entry.path()) == Some(user))
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let name = fs::read(entry.path().join("comm")).ok()?;
            (name == PROCESS_NAME.as_bytes()).then_some(pid)
        })
        .filter(|pid| !known.contains(pid))
        .collect();
    found.sort_unstable();
    found
}

/// Returns the effective user of a process, or `None` if unknown. The owner of its folder in `/proc` is no evidence.
/// The folder of a process with protected memory, such as a rove server named mosh-server, is root's.
fn owner(process: &Path) -> Option<u32> {
    let status = fs::read_to_string(process.join("status")).ok()?;
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    users.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_of_a_process_is_its_effective_user() {
        assert_eq!(owner(Path::new("/proc/self")), Some(geteuid().as_raw()));
        assert_eq!(owner(Path::new("/proc/self/nothing")), None);
    }
}
