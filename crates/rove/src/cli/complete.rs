//! Names of hosts and sessions, for the completion of command lines.
//!
//! The shell waits for the completion. The searches for hosts and for sessions each end within about [`PATIENCE`]. This
//! also holds for huge ssh files, and for a server that does not answer.

use std::collections::BTreeSet;
use std::env;
use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rove_cli_docs::completions::Names;
use rove_platform::clock::Clock;
use rove_units::{Duration, Instant};

use crate::cli::config::pattern;

use crate::sessions::describe;

/// Most bytes that a shell completion reads of all ssh files together. Chosen: the files can name 10,000 hosts, and
/// reading takes a tenth of a second.
const BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Most ssh files that a shell completion reads, and most files for one `Include`. Chosen: far more than usual.
const FILES_MAX: usize = 256;
/// Longest time for reading ssh's files, and again for waiting until servers answer. Chosen: a hundred times the usual
/// time of either, and half of the second within which a completion must end.
const PATIENCE: Duration = Duration::from_millis(500);

/// The functions that list hosts and sessions for the completion.
pub(super) const NAMES: Names = Names { hosts, sessions };

/// Reads ssh's configuration and known-hosts files, within limits, and collects the names of hosts in them.
struct Reader {
    clock: Clock,
    deadline: Instant,
    bytes_left: u64,
    files: BTreeSet<PathBuf>,
    hosts: BTreeSet<String>,
}

/// Returns the hosts named in ssh's configuration and known-hosts files.
fn hosts() -> Vec<String> {
    let home = env::var_os("HOME").map(PathBuf::from);
    let clock = Clock::start();
    let mut reader = Reader {
        clock,
        deadline: clock.now() + PATIENCE,
        bytes_left: BYTES_MAX,
        files: BTreeSet::new(),
        hosts: BTreeSet::new(),
    };
    let own = home.as_ref().map(|home| home.join(".ssh"));
    let system = Path::new("/etc/ssh");
    let folders = [(own.as_deref(), "", "known_hosts"), (Some(system), "ssh_", "ssh_known_hosts")];
    for (folder, prefix, known) in folders {
        let Some(folder) = folder else { continue };
        let home = home.as_deref().unwrap_or(folder);
        reader.read_config(&folder.join(format!("{prefix}config")), folder, home);
        reader.read_known(&folder.join(known));
    }
    reader.hosts.into_iter().collect()
}

fn sessions() -> Vec<(String, String)> {
    let clock = Clock::start();
    let survey = rove_control::survey(clock, clock.now() + PATIENCE);
    let named =
        |found: &rove_control::Found| (found.status.port.to_string(), describe(&found.status));
    survey.sessions.iter().map(named).collect()
}

impl Reader {
    /// Reads an ssh_config file and the files that it includes. A relative path starts at `folder`, `~/` at `home`.
    fn read_config(&mut self, path: &Path, folder: &Path, home: &Path) {
        for line in self.read(path).lines() {
            let is_separator = |c: char| c == '=' || c.is_whitespace();
            let line = line.trim().replace('"', "");
            let (keyword, rest) = line.split_once(is_separator).unwrap_or_default();
            let words = rest.trim_start_matches(is_separator).split_whitespace();
            match keyword.to_ascii_lowercase().as_str() {
                "host" => self.take(words),
                "include" => {
                    for word in words {
                        let path = word.strip_prefix("~/").map(|rest| home.join(rest));
                        for path in self.expanded(&path.unwrap_or_else(|| folder.join(word))) {
                            self.read_config(&path, folder, home);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn read_known(&mut self, path: &Path) {
        for line in self.read(path).lines().filter(|line| !line.starts_with(['|', '#', '@'])) {
            let names = line.split_whitespace().next().unwrap_or_default().split(',');
            self.take(names.map(|name| {
                name.strip_prefix('[').and_then(|name| name.split(']').next()).unwrap_or(name)
            }));
        }
    }

    /// Adds all `names` except patterns such as `*.example.org`.
    fn take<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        let is_name = |name: &&str| !name.is_empty() && !name.contains(['*', '?', '!']);
        self.hosts.extend(names.filter(is_name).map(str::to_owned));
    }

    /// Returns the text of a regular file, up to the limit of bytes. The text is empty if the file is unreadable or was
    /// read already, or if another limit is reached. Other files, such as pipes, may be endless and are not read.
    fn read(&mut self, path: &Path) -> String {
        let mut text = Vec::new();
        if self.files.len() < FILES_MAX
            && !self.is_late()
            && self.files.insert(path.to_owned())
            && let Ok(file) =
                OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)
            && file.metadata().is_ok_and(|it| it.is_file())
        {
            let _ = file.take(self.bytes_left).read_to_end(&mut text);
        }
        self.bytes_left = self.bytes_left.saturating_sub(text.len() as u64);
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Returns at most [`FILES_MAX`] paths that match `path`, which may contain `*` and `?`. Empty after the deadline.
    fn expanded(&self, path: &Path) -> Vec<PathBuf> {
        let mut paths = vec![PathBuf::new()];
        if self.is_late() {
            return Vec::new();
        }
        for component in path.components() {
            let name = component.as_os_str().to_string_lossy();
            if !name.contains(['*', '?']) {
                paths.iter_mut().for_each(|path| path.push(component));
                continue;
            }
            let is_meant = |file: &str| !file.starts_with('.') && pattern::matches(&name, file);
            let folders = paths.iter().filter_map(|path| fs::read_dir(path).ok());
            let entries = folders.flatten().take_while(|_| !self.is_late()).flatten();
            let meant = entries.filter(|entry| is_meant(&entry.file_name().to_string_lossy()));
            paths = meant.take(FILES_MAX).map(|entry| entry.path()).collect();
            paths.sort();
        }
        paths
    }

    fn is_late(&self) -> bool {
        self.clock.now() >= self.deadline
    }
}
