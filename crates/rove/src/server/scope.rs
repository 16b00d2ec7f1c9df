//! Moves a server out of its login if systemd-logind would end the login's processes at logout (`KillUserProcesses`).
//!
//! The user's service manager gives the server a scope of its own, as with `systemd-run --user --scope`. That manager
//! outlives the logout only if the user lingers (`loginctl enable-linger`). Otherwise a server stays in its login.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rove_bootstrap::ProgramName;
use rove_platform::clock::{self, Clock};
use rove_units::{Duration, Instant};
use rustix::event::{Timespec, poll};

use crate::getent;

/// Longest time for which a login waits for the scope. Chosen: less than a second. systemd 252 needs 10 to 30 ms.
const PATIENCE: Duration = Duration::from_millis(800);
const _: () = assert!(PATIENCE.as_millis() < 1_000);
/// Time between two checks of this process's control group.
const STEP: Timespec = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };

/// Folders of systemd's configuration. A file in an earlier folder replaces files of the same name in later ones.
/// Source: `logind.conf(5)`.
const FOLDERS: [&str; 4] =
    ["etc/systemd", "run/systemd", "usr/local/lib/systemd", "usr/lib/systemd"];

/// The call for a new scope, without its arguments. Source: `org.freedesktop.systemd1(5)`.
const START: &str = "--user call org.freedesktop.systemd1 /org/freedesktop/systemd1 \
                     org.freedesktop.systemd1.Manager StartTransientUnit ssa(sv)a(sa(sv))";
/// Properties of a scope that only newer managers know, the oldest property first. With `CollectMode` (systemd 236),
/// the manager forgets a failed scope. With `OOMPolicy` (253), a program killed for lack of memory does not end the
/// whole session.
const OPTIONAL: [[&str; 3]; 2] =
    [["CollectMode", "s", "inactive-or-failed"], ["OOMPolicy", "s", "continue"]];

/// Moves this process into a systemd scope of its own if the logout would otherwise end the process. If that fails, the
/// process stays in its login. Call this before the server forks, because a child starts in its parent's scope. A
/// server called as `mosh-server` stays in its login, where scripts expect it.
pub(super) fn leave_login(name: ProgramName) {
    let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    // A login known to logind has `XDG_RUNTIME_DIR`. Only the processes of such logins end at logout.
    let is_meant = |folder: &PathBuf| name == ProgramName::Rove && folder.is_absolute();
    let Some(runtime) = runtime.filter(is_meant) else { return };
    let (root, busctl) = (Path::new("/"), OsStr::new("busctl"));
    let host = Host { root, runtime: &runtime, busctl, patience: PATIENCE };
    host.leave_login(|| getent::own_user().map(|user| user.name));
}

/// The paths and the program for contacting systemd, and how long to wait for it.
struct Host<'a> {
    /// The root of all paths outside `runtime`.
    root: &'a Path,
    /// The user's folder for sockets (`XDG_RUNTIME_DIR`).
    runtime: &'a Path,
    /// The program `busctl`, which sends calls to the user's manager.
    busctl: &'a OsStr,
    patience: Duration,
}

impl Host<'_> {
    /// Leaves the login if needed and possible, and returns whether this process left. `user` returns the user's name.
    fn leave_login(&self, user: impl FnOnce() -> Option<OsString>) -> bool {
        let logind = Logind::read(self.root);
        let is_possible = |user: &OsString| {
            user.to_str().is_some_and(|user| logind.ends_processes_of(user))
                && self.root.join("var/lib/systemd/linger").join(user).exists()
                && self.runtime.join("bus").exists()
        };
        logind.ends_processes && user().as_ref().is_some_and(is_possible) && self.enter_scope()
    }

    /// Asks the manager for a scope for this process, and waits. Returns whether the manager moved this process there.
    fn enter_scope(&self) -> bool {
        let clock = Clock::start();
        let until = clock.now() + self.patience;
        // The scope may outlive this process. The time in the name sets it apart from a later process's scope.
        let scope = format!("rove-{}-{}.scope", std::process::id(), clock::unix_seconds());
        for count in (0..=OPTIONAL.len()).rev() {
            let Ok(mut call) = self.call(&scope, &OPTIONAL[..count]) else { return false };
            let is_in = self.wait(clock, until, &mut call, &scope);
            let _ = call.kill();
            let _ = call.wait();
            if is_in || clock.now() >= until {
                return is_in;
            }
        }
        false
    }

    fn call(&self, scope: &str, optional: &[[&str; 3]]) -> io::Result<Child> {
        let count = (optional.len() + 2).to_string();
        let process = std::process::id().to_string();
        Command::new(self.busctl)
            .args(START.split(' '))
            .args([scope, "fail", &count, "Description", "s", "rove session"])
            .args(["PIDs", "au", "1", &process])
            .args(optional.as_flattened())
            .arg("0")
            // The variable may name another bus than that of the user's manager.
            .env_remove("DBUS_SESSION_BUS_ADDRESS")
            .env("XDG_RUNTIME_DIR", self.runtime)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
    }

    /// Waits until this process is in the scope, because the manager answers the call before it moves the process.
    /// Returns `false` if the call fails or `until` passes.
    fn wait(&self, clock: Clock, until: Instant, call: &mut Child, scope: &str) -> bool {
        loop {
            let groups = read(&self.root.join("proc/self/cgroup")).unwrap_or_default();
            if groups.lines().any(|group| group.rsplit('/').next() == Some(scope)) {
                return true;
            }
            let has_failed = call.try_wait().map_or(true, |it| it.is_some_and(|it| !it.success()));
            if has_failed || clock.now() >= until {
                return false;
            }
            let _ = poll(&mut [], Some(&STEP));
        }
    }
}

/// The settings of systemd-logind about processes of users who have logged out.
#[derive(Debug, Default)]
struct Logind {
    ends_processes: bool,
    /// The only users whose processes logind ends (`KillOnlyUsers`); empty for all.
    only: Vec<String>,
    /// The users whose processes stay (`KillExcludeUsers`). `None` means only root.
    excluded: Option<Vec<String>>,
}

impl Logind {
    fn read(root: &Path) -> Self {
        let mut logind = Self::default();
        let folders = FOLDERS.map(|folder| root.join(folder));
        let main = folders.iter().find_map(|folder| read(&folder.join("logind.conf")));
        logind.apply(&main.unwrap_or_default());
        let mut additions = BTreeMap::new();
        for folder in &folders {
            let Ok(entries) = fs::read_dir(folder.join("logind.conf.d")) else { continue };
            for path in entries.flatten().map(|entry| entry.path()) {
                let name = path.file_name().unwrap_or_default().to_owned();
                additions.entry(name).or_insert(path);
            }
        }
        let is_read = |path: &&PathBuf| path.extension() == Some(OsStr::new("conf"));
        for path in additions.values().filter(is_read) {
            logind.apply(&read(path).unwrap_or_default());
        }
        logind
    }

    /// Applies the settings of a file. A later value replaces an earlier one. The words of a list setting are added to
    /// the earlier ones, and an empty value clears the list.
    fn apply(&mut self, text: &str) {
        let mut section = "";
        for line in text.lines().map(str::trim) {
            if line.starts_with('[') {
                section = line;
            }
            let Some((name, value)) = line.split_once('=').filter(|_| section == "[Login]") else {
                continue;
            };
            let list = match name.trim_end() {
                "KillUserProcesses" => {
                    self.ends_processes = boolean(value.trim()).unwrap_or(self.ends_processes);
                    continue;
                }
                "KillOnlyUsers" => &mut self.only,
                "KillExcludeUsers" => self.excluded.get_or_insert_default(),
                _ => continue,
            };
            if value.trim().is_empty() {
                list.clear();
            }
            list.extend(value.split_whitespace().map(str::to_owned));
        }
    }

    fn ends_processes_of(&self, user: &str) -> bool {
        let has = |list: &[String]| list.iter().any(|name| name == user);
        let is_excluded = self.excluded.as_deref().map_or(user == "root", has);
        self.ends_processes && !is_excluded && (self.only.is_empty() || has(&self.only))
    }
}

/// Returns the truth value that systemd reads in `text`, or `None` for other words. Source: `systemd.syntax(7)`.
fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "yes" | "y" | "true" | "t" | "on" => Some(true),
        "0" | "no" | "n" | "false" | "f" | "off" => Some(false),
        _ => None,
    }
}

fn read(path: &Path) -> Option<String> {
    fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use rove_rig::guard::side_by_side;
    use rove_rig::scratch::Scratch;

    use super::*;

    /// Longest wait for busctl. Only a script that never ends takes so long.
    const LONG: Duration = Duration::from_secs(100);

    /// A folder with the files of a computer on which the user `me` lingers.
    struct Computer(Scratch);

    impl Computer {
        fn new() -> Self {
            let computer = Self(Scratch::new());
            computer.write("var/lib/systemd/linger/me", "");
            computer.write("bus", "");
            computer.write("proc/self/cgroup", "0::/user.slice/session-3.scope\n");
            computer
        }

        fn write(&self, path: &str, text: &str) {
            self.0.write(path, text);
        }

        /// Runs the script `busctl` for busctl. Returns whether the server leaves a login of `user`, and the number of
        /// runs.
        fn login(&self, user: &str, patience: Duration, busctl: &str) -> (bool, usize) {
            let root = self.0.display();
            let script = format!("#!/bin/sh\necho \"$*\" >>{root}/asked\n{busctl}");
            let program = self.0.script("busctl", &script);
            let busctl = program.as_os_str();
            let host = Host { root: &self.0, runtime: &self.0, busctl, patience };
            let has_left = host.leave_login(|| Some(user.into()));
            (has_left, self.0.read("asked").lines().count())
        }

        /// Returns a script that moves the process like a manager that does not know the newest property.
        fn manager(&self) -> String {
            let groups = self.0.join("proc/self/cgroup");
            format!(
                "case \"$*\" in *OOMPolicy*) exit 1;; esac; [ -z \"$DBUS_SESSION_BUS_ADDRESS\" ] || exit 1\n\
                 for a; do case $a in rove-*.scope) echo 0::/app.slice/$a >{};; esac; done",
                groups.display()
            )
        }
    }

    #[test]
    fn the_last_setting_counts_and_its_exceptions() {
        for (main, addition, mine, roots) in [
            ("", "", false, false),
            ("[Login]\n#KillUserProcesses=yes\n", "", false, false),
            ("[Login]\nKillUserProcesses = Yes\n", "", true, false),
            ("[Other]\nKillUserProcesses=yes\n", "", false, false),
            ("[Login]\nKillUserProcesses=yes", "[Login]\nKillUserProcesses=off", false, false),
            ("[Login]\nKillUserProcesses=0", "[Login]\nKillUserProcesses=1", true, false),
            ("[Login]\nKillUserProcesses=1", "[Login]\nKillUserProcesses=maybe", true, false),
            ("[Login]\nKillUserProcesses=1\nKillExcludeUsers=you me", "", false, true),
            (
                "[Login]\nKillUserProcesses=1\nKillExcludeUsers=me",
                "[Login]\nKillExcludeUsers=",
                true,
                true,
            ),
            ("[Login]\nKillUserProcesses=1\nKillOnlyUsers=you", "", false, false),
            (
                "[Login]\nKillUserProcesses=1\nKillOnlyUsers=you",
                "[Login]\nKillOnlyUsers=me",
                true,
                false,
            ),
        ] {
            let computer = Computer::new();
            computer.write("etc/systemd/logind.conf", main);
            computer.write("usr/lib/systemd/logind.conf", "[Login]\nKillUserProcesses=yes\n");
            computer.write("etc/systemd/logind.conf.d/5.conf", addition);
            computer.write("run/systemd/logind.conf.d/5.conf", "[Login]\nKillUserProcesses=yes\n");
            computer.write("run/systemd/logind.conf.d/9.bak", "[Login]\nKillUserProcesses=yes\n");
            let logind = Logind::read(&computer.0);
            let found = ["me", "root"].map(|user| logind.ends_processes_of(user));
            assert_eq!(found, [mine, roots], "{main:?} {addition:?}");
        }
    }

    #[test]
    fn only_a_login_whose_end_ends_its_processes_is_left_and_only_into_a_manager_that_stays() {
        let computer = Computer::new();
        let manager = computer.manager();
        assert_eq!(
            computer.login("me", LONG, &manager),
            (false, 0),
            "logind leaves processes alone"
        );
        computer.write("etc/systemd/logind.conf", "[Login]\nKillUserProcesses=yes\n");
        assert_eq!(computer.login("you", LONG, &manager), (false, 0), "no lingering");
        assert_eq!(computer.login("me", LONG, "exit 1"), (false, 3), "the manager refuses");
        assert_eq!(
            computer.login("me", LONG, &manager),
            (true, 3 + 2),
            "asked again without OOMPolicy"
        );
        fs::remove_file(computer.0.join("bus")).unwrap();
        assert_eq!(computer.login("me", LONG, &manager), (false, 5), "no bus");
    }

    #[test]
    fn a_manager_that_does_not_move_the_process_delays_a_login_by_the_patience_alone() {
        // Long enough that a busy computer runs the script.
        let patience = Duration::from_secs(4);
        side_by_side(["exec sleep 600", "exit 0"], |busctl| {
            let computer = Computer::new();
            computer.write("etc/systemd/logind.conf", "[Login]\nKillUserProcesses=yes\n");
            let clock = Clock::start();
            let begin = clock.now();
            assert_eq!(computer.login("me", patience, busctl), (false, 1), "{busctl}");
            assert!(clock.now() < begin + LONG, "{busctl}");
        });
    }
}
