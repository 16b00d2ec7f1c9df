//! The session's entry in the list of logged-in users (utmp), for `who` and `w`.
//!
//! An ordinary user may not write the list. Linux distributions install a helper that may write it (utempter), and
//! FreeBSD has another (ulog-helper). Both take the pseudo-terminal as their standard input. Without a helper, as on
//! macOS, the session is not listed. The helper waits while another program has locked the list, up to ten seconds with
//! glibc. So only the end of a session waits for the helper.

use std::ffi::OsStr;
use std::net::IpAddr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

#[cfg(any(rove_portable, not(target_os = "linux")))]
use crate::answer;
use crate::login_records;

/// The file name of FreeBSD's helper. Source: FreeBSD, libexec/ulog-helper.
const ULOG_HELPER: &str = "ulog-helper";

/// Most bytes of a process's state in the output of `ps` that are read. Chosen: far more than its few letters.
#[cfg(any(rove_portable, not(target_os = "linux")))]
const STATE_BYTES_MAX: u64 = 64;

/// A session's entry. Dropping this value removes the entry from the list.
#[derive(Debug)]
pub(crate) struct Entry {
    helper: PathBuf,
    master: OwnedFd,
    /// The host field that the entry should have.
    wanted: String,
    /// The host field that was last passed to the helper.
    told: String,
    /// The running helper, if any.
    running: Option<Child>,
}

impl Entry {
    /// Adds the entry of a session that has no client yet. `None` if there is no helper.
    pub(crate) fn add(master: BorrowedFd<'_>) -> Option<Self> {
        Self::with(helpers().into_iter().find(|helper| helper.is_file())?, master)
    }

    /// Adds the entry by running the program `helper`.
    fn with(helper: PathBuf, master: BorrowedFd<'_>) -> Option<Self> {
        let master = master.try_clone_to_owned().ok()?;
        let (wanted, told, running) = (String::new(), String::new(), None);
        let mut entry = Self { helper, master, wanted, told, running };
        entry.show(None);
        Some(entry)
    }

    /// Sets the client's address in the entry, or that there is no client, as soon as the helper is free.
    pub(crate) fn show(&mut self, client: Option<IpAddr>) {
        self.wanted = origin(client, std::process::id());
        self.handle_child_end();
    }

    /// Passes a changed entry to the helper, unless the helper is running. Call this when a child may have ended.
    pub(crate) fn handle_child_end(&mut self) {
        if let Some(helper) = &mut self.running {
            let Ok(Some(status)) = helper.try_wait() else { return };
            tracing::debug!(%status, "list of users");
            self.running = None;
        }
        if self.wanted != self.told {
            self.told.clone_from(&self.wanted);
            let [add, _] = words(&self.helper);
            self.running = self.start(&[add, &self.told]);
        }
    }

    /// Starts the helper, which runs for about a millisecond unless the list is locked. `None` if it does not start.
    fn start(&self, arguments: &[&str]) -> Option<Child> {
        let master = self.master.try_clone().ok()?;
        Command::new(&self.helper)
            .args(arguments)
            .stdin(master)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .inspect_err(|error| tracing::debug!(%error, "list of users"))
            .ok()
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        // If the removal ran before the addition has ended, the entry would stay.
        let added = self.running.take();
        let wait = |helper: Option<Child>| helper.map(|mut helper| helper.wait());
        wait(added);
        let [_, remove] = words(&self.helper);
        wait(self.start(&[remove]));
    }
}

/// Returns the process numbers of this user's servers whose sessions are listed without a client.
pub(crate) fn detached_servers(user: &OsStr) -> Vec<u32> {
    login_records::read()
        .into_iter()
        .filter(|entry| user == entry.user.as_str() && Path::new("/dev").join(&entry.line).exists())
        .filter_map(|entry| detached_server(&entry.host))
        .filter(|&server| is_running(server))
        .collect()
}

/// Returns whether a process with this number runs. An ended process has the state Z until its parent waits for it.
#[cfg(any(rove_portable, not(target_os = "linux")))]
fn is_running(process: u32) -> bool {
    let mut ps = Command::new("ps");
    let state = answer::of(ps.args(["-o", "stat=", "-p", &process.to_string()]), STATE_BYTES_MAX);
    state.is_some_and(|state| !state.trim_ascii().starts_with(b"Z"))
}

/// Returns whether a process with this number runs. A killed server leaves its entry in the list. Until its parent
/// waits for it, the server is a zombie with an empty command line.
#[cfg(all(target_os = "linux", not(rove_portable)))]
fn is_running(process: u32) -> bool {
    std::fs::read(format!("/proc/{process}/cmdline")).is_ok_and(|words| !words.is_empty())
}

/// Reads the server's process number in the host field of a session without a client. `None` for any other field.
fn detached_server(host: &str) -> Option<u32> {
    host.strip_prefix("mosh [")?.strip_suffix(']')?.parse().ok()
}

/// Returns the possible paths of the helper: of Debian, of other distributions, and of FreeBSD.
fn helpers() -> [PathBuf; 4] {
    let debian = format!("/usr/lib/{}-linux-gnu/utempter/utempter", std::env::consts::ARCH);
    let freebsd = format!("/usr/libexec/{ULOG_HELPER}");
    let others = ["/usr/libexec/utempter/utempter", "/usr/lib/utempter/utempter"];
    let [fedora, arch] = others.map(str::to_owned);
    [debian, fedora, arch, freebsd].map(PathBuf::from)
}

/// Returns the arguments by which this helper adds an entry and removes it.
fn words(helper: &Path) -> [&'static str; 2] {
    if helper.ends_with(ULOG_HELPER) { ["login", "logout"] } else { ["add", "del"] }
}

/// Returns the entry's host field. Administrators' scripts look for exactly this text. Source: Mosh 1.4.0 as observed.
fn origin(client: Option<IpAddr>, server: u32) -> String {
    match client {
        Some(address) => format!("{} via mosh [{server}]", address.to_canonical()),
        None => format!("mosh [{server}]"),
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use rove_rig::scratch::Scratch;

    use super::*;

    #[test]
    fn each_helper_is_asked_in_its_own_words() {
        let scratch = Scratch::new();
        for (name, asked) in [
            ("utempter", "add mosh [SELF]\nadd 192.0.2.1 via mosh [SELF]\ndel\n"),
            ("ulog-helper", "login mosh [SELF]\nlogin 192.0.2.1 via mosh [SELF]\nlogout\n"),
        ] {
            let (helper, heard) = (scratch.path(name), scratch.path("heard"));
            // Another process writes the helper, because a file that somebody may still write cannot be executed.
            let write =
                "printf '#!/bin/sh\\necho \"$*\" >>%s\\n' \"$1\" >\"$0\" && chmod 755 \"$0\"";
            let made = Command::new("/bin/sh").args(["-c", write]).args([&helper, &heard]).status();
            assert!(made.unwrap().success());
            let terminal = std::fs::File::open("/dev/null").unwrap();
            let mut entry = Entry::with(helper, terminal.as_fd()).unwrap();
            // The second change waits for the end of the first helper.
            entry.running.as_mut().unwrap().wait().unwrap();
            entry.show(Some("192.0.2.1".parse().unwrap()));
            drop(entry);
            let own = std::process::id().to_string();
            let found = std::fs::read_to_string(&heard).unwrap();
            assert_eq!(found.replace(&own, "SELF"), asked, "{name}");
            std::fs::remove_file(heard).unwrap();
        }
    }

    #[test]
    fn the_origin_names_the_client_and_the_server_process() {
        for (client, text) in [
            (None, "mosh [17]"),
            (Some("192.0.2.1"), "192.0.2.1 via mosh [17]"),
            (Some("::ffff:192.0.2.1"), "192.0.2.1 via mosh [17]"),
            (Some("2001:db8::1"), "2001:db8::1 via mosh [17]"),
        ] {
            let client = client.map(|address| address.parse().unwrap());
            assert_eq!(origin(client, 17), text);
        }
    }

    #[test]
    fn only_sessions_without_a_client_are_detached() {
        for (host, server) in [
            ("mosh [17]", Some(17)),
            ("192.0.2.1 via mosh [17]", None),
            ("mosh [x]", None),
            ("mosh [17", None),
            ("192.0.2.1", None),
            ("", None),
        ] {
            assert_eq!(detached_server(host), server, "{host:?}");
        }
    }
}
