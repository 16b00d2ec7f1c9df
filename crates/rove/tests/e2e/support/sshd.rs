//! A real sshd on a loopback port. The test determines its keys, users and programs.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use rustix::net::UCred;
use rustix::net::sockopt::socket_peercred;
use rustix::process::{Signal, getpid, kill_process};

use super::border::within_network;
use super::invocation::{Invocation, OWN_MOUNTS, require};
use super::server::rove;
use rove_rig::guard::within_guard;
use rove_rig::scratch::Scratch;
use rove_rig::sshd;

/// Programs that login shells and rove's login need on the far computer, besides rove or Mosh.
const BASICS: [&str; 17] = [
    "sh",
    "env",
    "cat",
    "stty",
    "printf",
    "locale",
    "sleep",
    "uname",
    "date",
    "rm",
    "mkdir",
    "chmod",
    "mv",
    "wc",
    "find",
    "sha256sum",
    "head",
];

/// The password of the user, for an sshd that asks for it, and its hash in a list of passwords (crypt(5)).
pub(crate) const PASSWORD: &str = "open sesame";
const PASSWORD_HASH: &str = "$6$rovetest$be2o0E66BTbh1PkwPOTUWsJ4KAbfr7pCMQl9NmGqWIvNz22YZ7rXQxKcHDEfRx9dXjRrxdo/\
                             /Sa4ewbGu8Gxr/";

/// A script that runs a command with the list of passwords in its first argument.
const WITH_PASSWORDS: &str = "mount --bind \"$1\" /etc/shadow && shift && exec \"$@\"";

/// A script that runs a command with the folder in its first argument as `/etc`.
const WITH_ETC: &str = "mount --bind \"$1\" /etc && shift && exec \"$@\"";

/// The far computer as a user finds it after the login.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Far {
    /// The name of the login shell, which the tests find in their own PATH.
    pub(crate) shell: &'static str,
    /// The session programs in the far PATH, by the names of [`far_path`].
    pub(crate) programs: &'static [&'static str],
    /// Shell commands that the login shell runs before the user's command, as a start-up file would.
    pub(crate) profile: &'static str,
    /// The banner that sshd sends before the login.
    pub(crate) banner: &'static str,
}

impl Default for Far {
    fn default() -> Self {
        Self { shell: "sh", programs: &["rove"], profile: "", banner: "" }
    }
}

/// A far computer, with an sshd at a loopback port. Dropping this value ends both.
pub(crate) struct Sshd(sshd::Sshd);

impl Sshd {
    /// Starts a far computer.
    pub(crate) fn start(far: Far) -> Self {
        let sshd = require("sshd", "openssh-server");
        Self::start_by(far, listener(Ipv4Addr::LOCALHOST), |_| vec![sshd.into()])
    }

    /// Starts a far computer in the network at the path `network`. Its sshd's port is in the test's own network.
    pub(crate) fn start_in(far: Far, network: &str) -> Self {
        Self::start_behind(far, listener(Ipv4Addr::LOCALHOST), network)
    }

    /// Starts a far computer in the network at the path `network`. Its sshd listens at `address` in that network.
    pub(crate) fn start_at(far: Far, network: &str, address: Ipv4Addr) -> Self {
        let listener = within_network(network, move || listener(address));
        Self::start_behind(far, listener, network)
    }

    fn start_behind(far: Far, listener: TcpListener, network: &str) -> Self {
        let sshd = require("sshd", "openssh-server");
        let words = ["nsenter".to_owned(), format!("--net={network}")];
        let words = words.into_iter().map(OsString::from);
        Self::start_by(far, listener, |_| words.chain([sshd.into()]).collect())
    }

    /// Starts a far computer that asks for a password. `None` for users other than root, who cannot replace the list.
    pub(crate) fn start_with_password(far: Far) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return None;
        }
        let sshd = require("sshd", "openssh-server");
        Some(Self::start_by(far, listener(Ipv4Addr::LOCALHOST), |scratch| {
            for (name, from, to) in [
                ("ssh_config", "BatchMode yes", "PreferredAuthentications password"),
                ("sshd_config", "PasswordAuthentication no\n", "PasswordAuthentication yes\n"),
            ] {
                scratch.write(name, &scratch.read(name).replacen(from, to, 1));
            }
            let list =
                scratch.write("shadow", &format!("root:{PASSWORD_HASH}:19000:0:99999:7:::\n"));
            let words = [&OWN_MOUNTS[..], &[WITH_PASSWORDS, "sh"]].concat();
            let words = words.into_iter().map(OsString::from);
            words.chain([list.into(), sshd.into()]).collect()
        }))
    }

    /// Starts a far computer with `rules` in `/etc/rove/server.toml`, a file with the permissions `mode`. `None` for
    /// users other than root, who cannot replace `/etc`.
    pub(crate) fn start_with_rules(rules: &str, mode: u32) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return None;
        }
        let sshd = require("sshd", "openssh-server");
        Some(Self::start_by(Far::default(), listener(Ipv4Addr::LOCALHOST), |scratch| {
            let etc = scratch.path("etc");
            let copied = Command::new("cp").args(["-a", "/etc"]).arg(&etc).status();
            assert!(copied.expect("cp starts").success());
            let file = scratch.write("etc/rove/server.toml", rules);
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(file, mode).expect("it is ours");
            let words = [&OWN_MOUNTS[..], &[WITH_ETC, "sh"]].concat();
            let words = words.into_iter().map(OsString::from);
            words.chain([etc.into(), sshd.into()]).collect()
        }))
    }

    /// Starts a far computer. `sshd` returns the words that start its sshd, after the configuration was written.
    fn start_by(
        far: Far,
        listener: TcpListener,
        sshd: impl FnOnce(&Scratch) -> Vec<OsString>,
    ) -> Self {
        require("ssh", "openssh-client");
        require("ssh-keygen", "openssh-client");
        let scratch = Scratch::new();
        let address = listener.local_addr().expect("a bound socket has an address");
        let config = write_configs(&scratch, far, address);
        let (sshd, log) = (sshd(&scratch), scratch.path("log"));
        // A listening sshd would need a free port at its start. An sshd for each connection inherits the connection.
        let commands = std::iter::repeat_with(move || {
            let mut command = Command::new(&sshd[0]);
            command.args(&sshd[1..]).arg("-E").arg(&log);
            sshd::with_config(command, &config)
        });
        Self(sshd::Sshd::serve(scratch, listener, commands).expect("the system has threads"))
    }

    /// Returns the command line of an ssh for which `far` is this computer.
    pub(crate) fn ssh(&self) -> String {
        self.0.ssh()
    }

    /// Returns the command line of an ssh that reaches this computer, as `far`, through the jump host `jump`.
    pub(crate) fn ssh_behind(&self, jump: &Self) -> String {
        let jump = jump.0.scratch.read("ssh_config").replace("Host far", "Host jump");
        let far = self.0.scratch.read("ssh_config");
        let config = format!("Host far\n ProxyJump jump\n{far}{jump}");
        format!("ssh -F {}", self.0.scratch.write("ssh_config_jump", &config).display())
    }

    /// Configures a call of rove so that it offers no copy of itself to this computer, which a static rove would do.
    pub(crate) fn without_offer(&self, call: Invocation) -> Invocation {
        call.env("ROVE_CONFIG", self.0.scratch.write("rove.toml", "install = 'never'\n"))
    }

    /// Returns the path of a file in the far computer's folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.scratch.path(name)
    }

    /// Returns how many connections sshd has had.
    pub(crate) fn connections(&self) -> usize {
        self.0.connections.lock().expect("no holder of the lock panics").len()
    }

    /// Adds lines to the section of ssh's configuration about this computer.
    pub(crate) fn configure(&self, lines: &str) {
        let config = self.0.scratch.read("ssh_config");
        self.0.scratch.write("ssh_config", &format!("{config}{lines}"));
    }

    /// Puts lines in front of sshd's configuration, because sshd obeys the first value of each setting.
    pub(crate) fn rule(&self, lines: &str) {
        let config = self.0.scratch.read("sshd_config");
        self.0.scratch.write("sshd_config", &format!("{lines}{config}"));
    }

    /// Waits until all connections have ended.
    pub(crate) fn wait_alone(&self) {
        let sessions = Arc::clone(&self.0.connections);
        within_guard("the end of all connections", move || {
            for child in sessions.lock().expect("no holder of the lock panics").iter_mut() {
                child.wait().expect("a child can be waited for");
            }
        });
    }

    /// Cuts all open connections. Returns how many there were.
    pub(crate) fn cut(&self) -> usize {
        let mut sessions = self.0.connections.lock().expect("no holder of the lock panics");
        let mut count = 0;
        for child in sessions.iter_mut() {
            if matches!(child.try_wait(), Ok(None)) {
                child.kill().and_then(|()| child.wait()).expect("a child can be killed");
                count += 1;
            }
        }
        count
    }

    /// Refuses all logins from now on.
    pub(crate) fn bar(&self) {
        std::fs::rename(self.path("user_key.pub"), self.path("barred")).expect("the key was there");
    }

    /// Allows logins again.
    pub(crate) fn unbar(&self) {
        std::fs::rename(self.path("barred"), self.path("user_key.pub")).expect("it was barred");
    }

    /// Ends the sessions that the test leaves on the far computer, because they would keep their ports for weeks.
    fn end_sessions(&self) {
        let sockets = std::fs::read_dir(self.path("sockets"));
        for socket in sockets.into_iter().flatten().flatten() {
            let is_session = socket.file_name().as_encoded_bytes()[0].is_ascii_digit();
            let server = UnixStream::connect(socket.path()).and_then(|it| Ok(socket_peercred(it)?));
            // A test may have created a socket in that folder.
            let is_server = |it: &UCred| is_session && it.pid != getpid();
            let Some(server) = server.ok().filter(is_server) else { continue };
            // Servers wait for their clients until the second signal. SIGCONT wakes stopped servers.
            for signal in [Signal::TERM, Signal::INT, Signal::CONT] {
                let _ = kill_process(server.pid, signal);
            }
        }
    }

    pub(crate) fn log(&self) -> String {
        self.0.scratch.read("log")
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- log of sshd\n{}", self.log());
        }
        self.0.end();
        self.end_sessions();
    }
}

fn listener(address: Ipv4Addr) -> TcpListener {
    TcpListener::bind((address, 0)).expect("there are free ports")
}

/// Writes the configuration of sshd and ssh, and the login shell. Returns the path of sshd's configuration. The far
/// computer finds no sessions of other tests, which may be stopped or ending. The account's own shell starts the login
/// shell, with the far computer's home, because bash reads `.bashrc` when sshd starts it.
fn write_configs(scratch: &Scratch, far: Far, address: SocketAddr) -> PathBuf {
    let dir = scratch.folder().display();
    let bin = far_path(scratch, far);
    let shell = require(far.shell, far.shell);
    let login = scratch.script(
        "login",
        &format!(
            "#!/bin/sh\nPATH={bin}\nHOME={dir}\nSHELL=/bin/sh\nLANG=C.UTF-8\n\
             ROVE_RUNTIME_DIR={dir}/sockets\n\
             export PATH HOME SHELL LANG ROVE_RUNTIME_DIR\n{}\n\
             exec {} -c \"$SSH_ORIGINAL_COMMAND\"\n",
            far.profile,
            shell.display(),
            bin = bin.display(),
        ),
    );
    let banner = scratch.write("banner", far.banner);
    let more = format!(
        "ForceCommand {}\nBanner {}\nSetEnv HOME={dir}\n",
        login.display(),
        banner.display()
    );
    sshd::prepare(scratch, address, &more).expect("the scratch folder takes files")
}

/// Creates the only folder in the far PATH.
fn far_path(scratch: &Scratch, far: Far) -> PathBuf {
    let bin = scratch.path("bin");
    std::fs::create_dir(&bin).expect("the scratch folder takes a folder");
    let link = |name: &str, target: PathBuf| {
        std::os::unix::fs::symlink(target, bin.join(name)).expect("the folder takes links");
    };
    for name in BASICS {
        link(name, require(name, "coreutils"));
    }
    for name in far.programs {
        match *name {
            "rove" => link("rove", rove()),
            "rove as mosh-server" => link("mosh-server", rove()),
            other => link(other, require(other, "mosh")),
        }
    }
    bin
}
