//! Sockets for ssh at which another user may listen. No ssh that rove starts connects to them.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::{
    Border, Far, Invocation, SIZE, Scratch, Sshd, Terminal, examined_until, rove, side_by_side,
    within_guard,
};

/// The user number of `nobody`.
const NOBODY: u32 = 65_534;

/// A listener at the path of a master connection. It counts connections and closes them.
struct FalseMaster {
    visits: Arc<AtomicUsize>,
}

impl FalseMaster {
    fn listen(path: &Path) -> Self {
        let listener = UnixListener::bind(path).expect("the folder takes sockets");
        let visits = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&visits);
        std::thread::spawn(move || {
            for _connection in listener.incoming().map_while(Result::ok) {
                counted.fetch_add(1, Ordering::SeqCst);
            }
        });
        Self { visits }
    }

    fn visits(&self) -> usize {
        self.visits.load(Ordering::SeqCst)
    }
}

/// The ways in which another user may control a socket.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// Everybody may create a socket in the socket's folder.
    OpenFolder,
    /// Everybody may create a socket in the socket's folder, but only a socket's owner may remove it.
    StickyFolder,
    /// The path is a link in the user's own folder, and leads to the socket.
    Link,
    /// The socket belongs to another user.
    Owner,
}

/// Listens at a socket with this fault. Returns the listener and the socket's path for ssh.
fn false_master(scratch: &Scratch, fault: Fault) -> (FalseMaster, PathBuf) {
    let folder = scratch.path("folder");
    fs::create_dir(&folder).expect("the scratch folder takes a folder");
    let socket = folder.join("cm");
    let master = FalseMaster::listen(&socket);
    let mode = match fault {
        Fault::OpenFolder | Fault::Link => 0o777,
        Fault::StickyFolder => 0o1777,
        Fault::Owner => 0o755,
    };
    fs::set_permissions(&folder, Permissions::from_mode(mode)).expect("the folder is ours");
    let link = scratch.path("link");
    symlink(&socket, &link).expect("the scratch folder takes links");
    if matches!(fault, Fault::Owner) {
        chown(&socket, Some(NOBODY), None).expect("only root tries this");
    }
    (master, if matches!(fault, Fault::Link) { link } else { socket })
}

fn faults() -> Vec<Fault> {
    let mut faults = vec![Fault::OpenFolder, Fault::StickyFolder, Fault::Link];
    if rustix::process::geteuid().is_root() {
        faults.push(Fault::Owner);
    }
    faults
}

/// Runs a command of rove that logs in once. Returns its output.
fn run(call: &Invocation) -> String {
    let call = call.clone();
    let words = call.words();
    within_guard(&words, move || {
        let output = call.command().output().expect("rove starts");
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    })
}

#[test]
fn no_ssh_that_rove_starts_goes_through_a_socket_of_somebody_elses() {
    side_by_side(faults(), |fault| {
        let scratch = Scratch::new();
        let (master, path) = false_master(&scratch, fault);
        let (jump, sshd) = (Sshd::start(Far::default()), Sshd::start(Far::default()));
        let section = format!(" ControlPath {}\n ControlMaster auto\n", path.display());
        sshd.configure(&section);
        let (own, mosh) = (rove(), scratch.path("mosh"));
        symlink(&own, &mosh).expect("the scratch folder takes links");
        let ssh = format!("--ssh={}", sshd.ssh());
        let by_option = format!("--ssh={} -S {}", sshd.ssh(), path.display());
        let behind = format!("--ssh={}", sshd.ssh_behind(&jump));
        // This configuration also applies to a host that is called by its address.
        let config = fs::read_to_string(sshd.path("ssh_config")).expect("it is there");
        let everywhere = scratch.write("ssh_config", &config.replace("Host far", "Host *"));
        let everywhere = format!("--ssh=ssh -F {}", everywhere.display());
        let remote = "--experimental-remote-ip=remote";
        let hello = ["far", "--", "sh", "-c", "echo hello from afar"];
        for (program, words) in [
            (&own, &[&ssh[..]][..]),
            (&own, &[&by_option]),
            (&own, &[&ssh, remote]),
            (&own, &[&everywhere, "--experimental-remote-ip=local"]),
            (&own, &[&ssh, "--tunnel"]),
            (&own, &[&by_option, "--tunnel"]),
            (&own, &[&behind]),
            (&own, &[&behind, "--tunnel"]),
            (&mosh, &[&ssh, "--server=rove server"]),
            (&mosh, &[&ssh, "--server=rove server", remote]),
            (&mosh, &[&ssh, "--server=rove server", "--tunnel"]),
        ] {
            let call = Invocation::new(program).args(words).args(hello);
            let exit = Terminal::start(&call, SIZE).wait_exit();
            let said = exit.output.escape_debug();
            assert!(exit.output.contains("hello from afar"), "{}: {said}", call.words());
            assert_eq!(master.visits(), 0, "{}: {said}", call.words());
        }
        for (words, part) in [
            (&["list", "far"][..], "far"),
            (&["kill", "far", "1"], "no session of yours on far"),
            (&["install", "far", "--build", "/bin/true"], "needs libraries of the host"),
            (&["doctor", "far"], "All is well"),
            (&["-G", "far"], "controlpath "),
        ] {
            for ssh in [&ssh, &by_option] {
                let call = Invocation::new(rove()).args(words).arg(ssh);
                let is_wanted = |said: &String| words[0] != "doctor" || said.contains(part);
                let said = examined_until(|| run(&call), is_wanted);
                assert!(said.contains(part), "{words:?}: {said}");
                assert_eq!(master.visits(), 0, "{words:?}: {said}");
            }
        }
        for (ssh, way) in [(&ssh, "--tunnel=auto"), (&by_option, "--tunnel"), (&ssh, "--view")] {
            let call = Invocation::new(rove()).args(["attach", ssh, way, "far", "1"]);
            let said = Terminal::start(&call, SIZE).wait_exit().output;
            assert!(said.contains("no session of yours"), "attach {way}: {said}");
            assert_eq!(master.visits(), 0, "attach {way}: {said}");
        }
        // ssh by itself, without rove, connects to that socket.
        let words = sshd.ssh();
        let words: Vec<&str> = words.split(' ').skip(1).collect();
        run(&Invocation::new("ssh").args(words).args(["far", "true"]));
        assert_eq!(master.visits(), 1);
    });
}

#[test]
fn a_tunnel_that_is_made_again_goes_through_no_socket_of_somebody_elses() {
    side_by_side(faults(), |fault| {
        let scratch = Scratch::new();
        let (master, path) = false_master(&scratch, fault);
        let sshd = Sshd::start(Far::default());
        sshd.configure(&format!(" ControlPath {}\n", path.display()));
        let echo = "echo ready; while IFS= read -r line; do echo \"got $line\"; done";
        let call = Invocation::new(rove()).arg("--tunnel").arg(format!("--ssh={}", sshd.ssh()));
        let terminal = Terminal::start(&call.args(["far", "--", "sh", "-c", echo]), SIZE);
        terminal.wait_for_text("ready");
        assert_ne!(sshd.cut(), 0);
        terminal.wait_for_notice("The ssh tunnel has ended and is being started again");
        terminal.send("one\r");
        terminal.wait_for_text("got one");
        // The client offers the user a login. The user's login fails, too, because sshd accepts nobody.
        sshd.bar();
        assert_ne!(sshd.cut(), 0);
        terminal.wait_for_text("Ctrl-^ r");
        const TAKES: &str = "\x1b[?1049h";
        let takes = terminal.output().matches(TAKES).count();
        terminal.send("\x1er");
        // The login fails at once. The client then enters the alternate screen again.
        terminal.wait_for_output_times(TAKES, takes + 1);
        terminal.wait_for("the session", |screen| screen.alternate_screen());
        assert_eq!(master.visits(), 0);
        sshd.unbar();
        terminal.send("\x1er");
        terminal.send("two\r");
        terminal.wait_for_text("got two");
        assert_eq!(master.visits(), 0);
        terminal.signal(rustix::process::Signal::HUP);
    });
}

#[test]
fn neither_a_login_where_udp_is_silent_nor_a_resumed_session_goes_through_one() {
    side_by_side(faults(), |fault| {
        let Some(border) = Border::start(Far::default(), false, false) else { return };
        let scratch = Scratch::new();
        let (master, path) = false_master(&scratch, fault);
        border.sshd.configure(&format!(" ControlPath {}\n", path.display()));
        let environment = |call: Invocation| {
            let folder = |name: &str| scratch.path(name);
            call.env("ROVE_RUNTIME_DIR", folder("run")).env("XDG_DATA_HOME", folder("data"))
        };
        let ssh = format!("--ssh={}", border.sshd.ssh());
        let port = border.port.to_string();
        let call = Invocation::new(rove()).args(["--tunnel=auto", &ssh, "-p", &port]);
        let call = call.args(["far", "--", "sh", "-c", "echo ready; read line; echo got $line"]);
        let mut terminal = Terminal::start(&environment(call), SIZE);
        terminal.wait_for_text("ready");
        terminal.wait_for_notice("is silent: using ssh");
        terminal.signal(rustix::process::Signal::KILL);
        terminal.wait_exit();
        let call = environment(Invocation::new(rove()).arg("resume"));
        let mut terminal = Terminal::start(&call, SIZE);
        terminal.wait_for_text("ready");
        terminal.send("one\r");
        terminal.wait_exit().assert_code(0);
        assert_eq!(master.visits(), 0);
    });
}
