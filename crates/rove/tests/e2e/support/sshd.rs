//! A real sshd on a loopback port, with keys, users and programs of the test's own.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use rustix::net::sockopt::socket_peercred;
use rustix::process::{Signal, kill_process};

use super::border::within_network;
use super::invocation::{Invocation, OWN_MOUNTS, require};
use super::server::rove;
use rove_rig::guard::within_guard;
use rove_rig::scratch::Scratch;

/// Programs that a login shell and a bootstrap use beside the session's own.
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

/// The password of whoever logs in where sshd asks for one, and what stands for it in a list of passwords (crypt(5)).
pub(crate) const PASSWORD: &str = "open sesame";
const PASSWORD_HASH: &str = "$6$rovetest$be2o0E66BTbh1PkwPOTUWsJ4KAbfr7pCMQl9NmGqWIvNz22YZ7rXQxKcHDEfRx9dXjRrxdo/\
                             /Sa4ewbGu8Gxr/";

/// Runs a command where this file is the list of passwords.
const WITH_PASSWORDS: &str = "mount --bind \"$1\" /etc/shadow && shift && exec \"$@\"";

/// The host as a user finds it who logs in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Far {
    /// The login shell, found in the PATH of the tests.
    pub(crate) shell: &'static str,
    /// The session programs on the far PATH.
    pub(crate) programs: &'static [&'static str],
    /// Shell commands that run before the user's, as a talkative profile would.
    pub(crate) profile: &'static str,
    /// The banner that sshd sends before the login.
    pub(crate) banner: &'static str,
}

impl Default for Far {
    fn default() -> Self {
        Self { shell: "sh", programs: &["rove"], profile: "", banner: "" }
    }
}

/// A far computer: sshd answers at a loopback port until this is dropped.
pub(crate) struct Sshd {
    scratch: Scratch,
    sessions: Arc<Mutex<Vec<Child>>>,
}

impl Sshd {
    /// Starts one.
    pub(crate) fn start(far: Far) -> Self {
        let sshd = require("sshd", "openssh-server");
        Self::start_by(far, listener(Ipv4Addr::LOCALHOST), |_| vec![sshd.into()])
    }

    /// Starts one in the network of this path, reached from here.
    pub(crate) fn start_in(far: Far, network: &str) -> Self {
        Self::start_behind(far, listener(Ipv4Addr::LOCALHOST), network)
    }

    /// Starts one in the network of this path, reached at its address there.
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

    /// Starts one that asks for a password; `None` for all but root, who can have a list of passwords of their own.
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

    /// Starts one by these words, which are asked for once its configuration is written.
    fn start_by(
        far: Far,
        listener: TcpListener,
        sshd: impl FnOnce(&Scratch) -> Vec<OsString>,
    ) -> Self {
        require("ssh", "openssh-client");
        let scratch = Scratch::new();
        make_keys(&scratch);
        let address = listener.local_addr().expect("a bound socket has an address");
        let config = write_configs(&scratch, far, address);
        let sshd = sshd(&scratch);
        let sessions = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&sessions);
        let log = scratch.path("log");
        // sshd wants to be born with a port of its own; one process per connection needs none.
        std::thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let child = serve(&sshd, &config, &log, connection);
                shared.lock().expect("no holder of the lock panics").push(child);
            }
        });
        Self { scratch, sessions }
    }

    /// Returns the command line of an ssh that knows this computer as `far`.
    pub(crate) fn ssh(&self) -> String {
        format!("ssh -F {}", self.scratch.path("ssh_config").display())
    }

    /// Returns the command line of an ssh that reaches this computer as `far` through another.
    pub(crate) fn ssh_behind(&self, jump: &Self) -> String {
        let jump = jump.scratch.read("ssh_config").replace("Host far", "Host jump");
        let far = self.scratch.read("ssh_config");
        let config = format!("Host far\n ProxyJump jump\n{far}{jump}");
        format!("ssh -F {}", self.scratch.write("ssh_config_jump", &config).display())
    }

    /// Configures a call of rove not to offer this computer a copy of itself, which a static rove does.
    pub(crate) fn without_offer(&self, call: Invocation) -> Invocation {
        call.env("ROVE_CONFIG", self.scratch.write("rove.toml", "install = 'never'\n"))
    }

    /// Returns the path of a file in its folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.scratch.path(name)
    }

    /// Returns how many connections there have been.
    pub(crate) fn connections(&self) -> usize {
        self.sessions.lock().expect("no holder of the lock panics").len()
    }

    /// Adds lines to what the configuration of ssh says of this computer.
    pub(crate) fn configure(&self, lines: &str) {
        let config = self.scratch.read("ssh_config");
        self.scratch.write("ssh_config", &format!("{config}{lines}"));
    }

    /// Waits until there is no connection any more.
    pub(crate) fn wait_alone(&self) {
        let sessions = Arc::clone(&self.sessions);
        within_guard("the end of all connections", move || {
            for child in sessions.lock().expect("no holder of the lock panics").iter_mut() {
                child.wait().expect("a child can be waited for");
            }
        });
    }

    /// Cuts every connection; returns how many there were.
    pub(crate) fn cut(&self) -> usize {
        let mut sessions = self.sessions.lock().expect("no holder of the lock panics");
        let mut count = 0;
        for child in sessions.iter_mut() {
            if matches!(child.try_wait(), Ok(None)) {
                child.kill().and_then(|()| child.wait()).expect("a child can be killed");
                count += 1;
            }
        }
        count
    }

    /// Lets nobody log in any more.
    pub(crate) fn bar(&self) {
        std::fs::rename(self.path("user_key.pub"), self.path("barred")).expect("the key was there");
    }

    /// Lets in again who was barred.
    pub(crate) fn unbar(&self) {
        std::fs::rename(self.path("barred"), self.path("user_key.pub")).expect("it was barred");
    }

    /// Ends the sessions that the test leaves on the far computer. Each would run on for weeks, and keep its port.
    fn end_sessions(&self) {
        let sockets = std::fs::read_dir(self.path("sockets"));
        for socket in sockets.into_iter().flatten().flatten() {
            let is_session = socket.file_name().as_encoded_bytes()[0].is_ascii_digit();
            let server = UnixStream::connect(socket.path()).and_then(|it| Ok(socket_peercred(it)?));
            let Some(server) = server.ok().filter(|_| is_session) else { continue };
            // A server waits for its client after the first signal, and for nobody after the second. Some are stopped.
            for signal in [Signal::TERM, Signal::INT, Signal::CONT] {
                let _ = kill_process(server.pid, signal);
            }
        }
    }

    /// Returns what sshd has logged.
    pub(crate) fn log(&self) -> String {
        self.scratch.read("log")
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- log of sshd\n{}", self.log());
        }
        for child in &mut *self.sessions.lock().expect("no holder of the lock panics") {
            let _ = child.kill();
            let _ = child.wait();
        }
        self.end_sessions();
    }
}

fn listener(address: Ipv4Addr) -> TcpListener {
    TcpListener::bind((address, 0)).expect("there are free ports")
}

fn serve(sshd: &[OsString], config: &Path, log: &Path, connection: TcpStream) -> Child {
    let input = OwnedFd::from(connection);
    let output = input.try_clone().expect("a descriptor can be duplicated");
    // As root, sshd wants this folder; the system makes it when it starts its own sshd.
    let _ = std::fs::create_dir_all("/run/sshd");
    Command::new(&sshd[0])
        .args(&sshd[1..])
        .arg("-i")
        .arg("-f")
        .arg(config)
        .arg("-E")
        .arg(log)
        .stdin(Stdio::from(input))
        .stdout(Stdio::from(output))
        .stderr(Stdio::null())
        .spawn()
        .expect("sshd starts")
}

fn make_keys(scratch: &Scratch) {
    let keygen = require("ssh-keygen", "openssh-client");
    for name in ["host_key", "user_key"] {
        let made = Command::new(&keygen)
            .args(["-q", "-t", "ed25519", "-N", "", "-C", "rove test", "-f"])
            .arg(scratch.path(name))
            .status();
        assert!(made.expect("ssh-keygen starts").success(), "no {name}");
    }
}

/// Writes sshd's and ssh's configuration and the login shell; returns the path of sshd's. The far computer's sessions
/// are its own: those of other tests, which may be stopped or end just then, are not found there. The account's own shell starts
/// the login shell, and bash reads `.bashrc` when sshd starts it: the home is the far computer's for that shell, too.
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
    scratch.write(
        "ssh_config",
        &format!(
            "Host far\n HostName {}\n Port {}\n IdentityFile {dir}/user_key\n \
             IdentitiesOnly yes\n BatchMode yes\n UserKnownHostsFile {dir}/known\n \
             StrictHostKeyChecking accept-new\n LogLevel ERROR\n",
            address.ip(),
            address.port()
        ),
    );
    scratch.write(
        "sshd_config",
        &format!(
            "HostKey {dir}/host_key\nAuthorizedKeysFile {dir}/user_key.pub\nStrictModes no\n\
             UsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
             PermitRootLogin yes\nPrintMotd no\nPidFile none\nForceCommand {}\n\
             Banner {}\nSetEnv HOME={dir}\n",
            login.display(),
            banner.display()
        ),
    )
}

/// Makes a folder that is the whole far PATH.
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
