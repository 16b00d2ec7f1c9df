//! Moves a server out of its login if systemd-logind would end the login's processes at logout (`KillUserProcesses`).
//!
//! The user's service manager gives the server a scope of its own, as with `systemd-run --user --scope`. That manager
//! outlives the logout only if the user lingers (`loginctl enable-linger`). Otherwise a server stays in its login.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rove_bootstrap::ProgramName;
use rove_platform::clock::{self, Clock};
use rove_units::{Duration, Instant};
use rustix::event::{Timespec, poll};

use crate::getent;

/// Longest time for which a login waits for logind and the scope. Chosen: less than a second. systemd 252 needs 10 to
/// 30 ms.
const PATIENCE: Duration = Duration::from_millis(800);
const _: () = assert!(PATIENCE.as_millis() < 1_000);
/// Time between two checks of this process's control group.
const STEP: Timespec = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };

/// The call for logind's settings about processes of users who have logged out. Source: `org.freedesktop.login1(5)`.
const SETTINGS: &str = "get-property org.freedesktop.login1 /org/freedesktop/login1 \
                        org.freedesktop.login1.Manager KillUserProcesses KillOnlyUsers KillExcludeUsers";
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
    /// The program `busctl`, which sends calls to logind and to the user's manager.
    busctl: &'a OsStr,
    patience: Duration,
}

impl Host<'_> {
    /// Leaves the login if needed and possible, and returns whether this process left. `user` returns the user's name.
    fn leave_login(&self, user: impl FnOnce() -> Option<OsString>) -> bool {
        let clock = Clock::start();
        let until = clock.now() + self.patience;
        let lingers =
            |user: &OsString| self.root.join("var/lib/systemd/linger").join(user).exists();
        let user = self.runtime.join("bus").exists().then(user).flatten().filter(lingers);
        user.is_some_and(|user| self.login_ends_processes_of(&user, clock, until))
            && self.enter_scope(clock, until)
    }

    /// Returns whether logind ends the processes of `user` when the user logs out.
    fn login_ends_processes_of(&self, user: &OsStr, clock: Clock, until: Instant) -> bool {
        let call = self.busctl().args(SETTINGS.split(' ')).stdout(Stdio::piped()).spawn();
        let Ok(mut call) = call else { return false };
        while matches!(call.try_wait(), Ok(None)) && clock.now() < until {
            let _ = poll(&mut [], Some(&STEP));
        }
        let _ = call.kill();
        let mut answer = String::new();
        let is_read = call.wait().is_ok_and(|status| status.success())
            // The pipe of a program that has ended holds at most 64 KiB.
            && call.stdout.is_some_and(|mut output| output.read_to_string(&mut answer).is_ok());
        is_read && user.to_str().is_some_and(|user| ends_processes_of(user, &answer))
    }

    /// Asks the manager for a scope for this process, and waits. Returns whether the manager moved this process there.
    fn enter_scope(&self, clock: Clock, until: Instant) -> bool {
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
        self.busctl()
            .args(START.split(' '))
            .args([scope, "fail", &count, "Description", "s", "rove session"])
            .args(["PIDs", "au", "1", &process])
            .args(optional.as_flattened())
            .arg("0")
            // The variable may name another bus than that of the user's manager.
            .env_remove("DBUS_SESSION_BUS_ADDRESS")
            .env("XDG_RUNTIME_DIR", self.runtime)
            .spawn()
    }

    fn busctl(&self) -> Command {
        let mut command = Command::new(self.busctl);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Waits until this process is in the scope, because the manager answers the call before it moves the process.
    /// Returns `false` if the call fails or `until` passes.
    fn wait(&self, clock: Clock, until: Instant, call: &mut Child, scope: &str) -> bool {
        loop {
            let groups = fs::read(self.root.join("proc/self/cgroup")).unwrap_or_default();
            if groups.split(|byte| b"/\n".contains(byte)).any(|name| name == scope.as_bytes()) {
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

/// Returns whether the answer to [`SETTINGS`], one property a line, states that logind ends the processes of `user`.
fn ends_processes_of(user: &str, answer: &str) -> bool {
    let lines: Vec<&str> = answer.lines().collect();
    let &["b true", only, excluded] = lines.as_slice() else { return false };
    let name = format!("\"{user}\"");
    let has = |list: &str| list.split(' ').any(|word| word == name);
    !has(excluded) && (only == "as 0" || has(only))
}

#[cfg(test)]
mod tests {
    use rove_rig::guard::side_by_side;
    use rove_rig::scratch::Scratch;

    use super::*;

    /// Longest wait for busctl. Only a script that never ends takes so long.
    const LONG: Duration = Duration::from_secs(100);

    /// logind's usual answer with `KillUserProcesses=yes`.
    const ENDS: &str = "b true\nas 0\nas 1 \"root\"";

    /// A folder with the files of a computer on which the user `me` lingers.
    struct Computer(Scratch);

    impl Computer {
        fn new() -> Self {
            let computer = Self(Scratch::new());
            computer.write("var/lib/systemd/linger/me", "");
            computer.write("bus", "");
            computer.write("proc/self/cgroup", "0::/user.slice/session-3.scope\n");
            computer.write("asked", "");
            computer.write("settings", &format!("echo '{ENDS}'"));
            computer
        }

        fn write(&self, path: &str, text: &str) {
            self.0.write(path, text);
        }

        /// Runs the script `busctl` in place of busctl. Returns whether the server leaves a login of `user`, and the
        /// number of runs.
        fn login(&self, user: &str, patience: Duration, busctl: &str) -> (bool, usize) {
            let root = self.0.display();
            let script = format!(
                "#!/bin/sh\ncase \"$*\" in *KillUserProcesses*) . {root}/settings; exit;; esac\n\
                 echo \"$*\" >>{root}/asked\n{busctl}"
            );
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
    fn the_setting_counts_and_its_exceptions() {
        for (answer, mine, roots) in [
            ("", false, false),
            ("b true\n", false, false),
            ("b false\nas 0\nas 1 \"root\"\n", false, false),
            ("b true\nas 0\nas 1 \"root\"\n", true, false),
            ("b true\nas 0\nas 0\n", true, true),
            ("b true\nas 0\nas 2 \"you\" \"me\"\n", false, true),
            ("b true\nas 0\nas 1 \"meme\"\n", true, true),
            ("b true\nas 1 \"you\"\nas 0\n", false, false),
            ("b true\nas 2 \"you\" \"me\"\nas 0\n", true, false),
            ("b true\nas 1 \"me\"\nas 1 \"me\"\n", false, false),
        ] {
            let found = ["me", "root"].map(|user| ends_processes_of(user, answer));
            assert_eq!(found, [mine, roots], "{answer:?}");
        }
    }

    #[test]
    fn only_a_login_whose_end_ends_its_processes_is_left_and_only_into_a_manager_that_stays() {
        let computer = Computer::new();
        let manager = computer.manager();
        for settings in
            ["printf 'b false\nas 0\nas 0\n'", "exit 1", &format!("echo '{ENDS}'; exit 1")]
        {
            computer.write("settings", settings);
            assert_eq!(computer.login("me", LONG, &manager), (false, 0), "{settings}");
        }
        computer.write("settings", &format!("echo '{ENDS}'"));
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
    fn programs_that_do_not_answer_delay_a_login_by_the_patience_alone() {
        // This time is long enough for the script on a busy computer.
        let patience = Duration::from_secs(4);
        let ends = format!("echo '{ENDS}'");
        let calls =
            [(&*ends, "exec sleep 600", 1), (&*ends, "exit 0", 1), ("exec sleep 600", "", 0)];
        side_by_side(calls, |(settings, busctl, asked)| {
            let computer = Computer::new();
            computer.write("settings", settings);
            let clock = Clock::start();
            let begin = clock.now();
            assert_eq!(
                computer.login("me", patience, busctl),
                (false, asked),
                "{settings} {busctl}"
            );
            assert!(clock.now() < begin + LONG, "{settings} {busctl}");
        });
    }
}
