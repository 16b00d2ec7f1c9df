//! Programs that use ssh with `rove -W` as its ProxyCommand, while the network fails and returns with another address.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::support::{
    Bastion, Far, Invocation, Scratch, Sshd, pause, require, rove, wait_until, within_guard,
};

/// How long the network is away. Chosen: long enough for TCP to resend data, which it cannot do to another address.
const OUTAGE: Duration = Duration::from_secs(3);

/// A user's computer, from which ssh reaches the host `far` only through `rove -W` and a gate.
struct Place {
    bastion: Bastion,
    scratch: Scratch,
}

impl Place {
    /// Starts the user's computer and the gate. `None` for users other than root, who cannot create networks.
    fn new() -> Option<Self> {
        let bastion = Bastion::start(Far::default())?;
        let (rove, ssh) = (rove(), bastion.jump.ssh());
        let rove = rove.display();
        bastion.far.configure(&format!(" ProxyCommand {rove} -W %h:%p --ssh='{ssh}' far\n"));
        Some(Self { bastion, scratch: Scratch::new() })
    }

    fn host(&self) -> &Sshd {
        &self.bastion.far
    }

    /// Returns a call of `program` on the user's computer. Its settings permit rove to use UDP only.
    fn call(&self, program: &str) -> Invocation {
        let settings = self.scratch.write("rove.toml", "tunnel = false\n");
        self.bastion.here(Invocation::new(program).env("ROVE_CONFIG", settings))
    }

    /// Takes the network away.
    fn take_network(&self) {
        self.bastion.ip_here(&["link", "set", "u0", "down"]);
        self.bastion.ip_here(&["address", "del", "10.0.1.1/24", "dev", "u0"]);
    }

    /// Restores the network with another address.
    fn bring_network(&self) {
        self.bastion.ip_here(&["address", "add", "10.0.1.3/24", "dev", "u0"]);
        self.bastion.ip_here(&["link", "set", "u0", "up"]);
    }

    /// Asserts that a single login at the gate and a single login at the host have carried all sessions.
    fn assert_one_connection(&self) {
        assert_eq!((self.bastion.jump.connections(), self.host().connections()), (1, 1));
    }
}

/// Folders, and files in each folder. Source: the test case needs 10,000 files.
const FOLDERS: usize = 100;
const FILES: usize = 100;

/// Returns how many folders have been copied to `path`.
fn folders_in(path: &Path) -> usize {
    fs::read_dir(path).map_or(0, |entries| entries.flatten().count())
}

#[test]
fn rsync_of_ten_thousand_files_goes_on_after_an_outage_at_another_address() {
    let rsync = require("rsync", "rsync");
    let Some(place) = Place::new() else { return };
    let [from, to] = ["from", "to"].map(|name| place.scratch.path(name));
    for folder in 0..FOLDERS {
        let folder = from.join(folder.to_string());
        fs::create_dir_all(&folder).expect("the scratch folder takes folders");
        for file in 0..FILES {
            let text = format!("{} {file}\n", folder.display()).repeat(1 + file % 40);
            fs::write(folder.join(file.to_string()), text).expect("the folder takes files");
        }
    }
    // The copy is so slow that the outage happens during the copy on any computer.
    let call = Invocation::new(rsync).args(["-a", "--bwlimit=4m", "--rsync-path=/usr/bin/rsync"]);
    let call = call.args(["-e", &place.host().ssh(), &format!("{}/", from.display())]);
    let call = call.arg(format!("far:{}", to.display()));
    let call = call.env("ROVE_CONFIG", place.scratch.write("rove.toml", "tunnel = false\n"));
    let mut copy = place.bastion.here(call).command().spawn().expect("rsync starts");
    wait_until("a tenth of the folders", || folders_in(&to) > FOLDERS / 10);
    place.take_network();
    pause(OUTAGE);
    place.bring_network();
    assert!(copy.try_wait().expect("it is a child").is_none(), "it was not in the midst of it");
    let status = within_guard("the copy", move || copy.wait().expect("it ends"));
    assert!(status.success(), "{}", place.bastion.jump.log());
    let mut compare = Command::new("diff");
    let compare = compare.arg("-r").args([&from, &to]).output().expect("diff starts");
    assert!(compare.status.success(), "{}", String::from_utf8_lossy(&compare.stdout));
    let count = fs::read_dir(&to).expect("a folder").flatten().map(|it| folders_in(&it.path()));
    assert_eq!(count.sum::<usize>(), FOLDERS * FILES);
    place.assert_one_connection();
}

/// A `cat` on the host, run in a session of ssh's master connection.
struct Session {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
}

impl Session {
    fn start(place: &Place) -> Self {
        let ssh = place.host().ssh();
        let mut words = ssh.split(' ');
        let call = place.call(words.next().expect("ssh has a name")).args(words);
        let path = format!("-oControlPath={}", place.scratch.path("master").display());
        let call = call.args(["-oControlMaster=auto", "-oControlPersist=yes", &path]);
        let mut command = call.args(["far", "cat"]).command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("ssh starts");
        let input = child.stdin.take().expect("it is piped");
        let output = child.stdout.take().expect("it is piped");
        Self { child, input, output }
    }

    /// Writes these bytes. The pipe and ssh accept them even while the network is away.
    fn write(&mut self, bytes: &[u8]) {
        self.input.write_all(bytes).expect("it is taken");
    }

    /// Asserts that these bytes come back from the host.
    fn assert_reads(mut self, bytes: &[u8]) -> Self {
        let bytes = bytes.to_vec();
        within_guard("the output of a session", move || {
            let mut read = vec![0; bytes.len()];
            self.output.read_exact(&mut read).expect("more comes");
            assert!(read == bytes, "{} bytes", bytes.len());
            self
        })
    }

    /// Ends the input. Asserts that no more bytes come back and that the call succeeds.
    fn finish(self) {
        let Self { mut child, input, mut output } = self;
        drop(input);
        let (rest, status) = within_guard("the end of a session", move || {
            let mut rest = Vec::new();
            output.read_to_end(&mut rest).expect("it is readable");
            (rest, child.wait().expect("it ends"))
        });
        assert!(rest.is_empty() && status.success(), "{} bytes, {status:?}", rest.len());
    }
}

#[test]
fn the_sessions_of_a_master_of_ssh_outlast_an_outage_and_a_new_address() {
    let Some(place) = Place::new() else { return };
    // Each piece fits into the buffer of a pipe.
    let pieces: Vec<Vec<u8>> = (1..=4_u8)
        .map(|seed| (0..40_000_u32).map(|it| it.wrapping_mul(it).to_le_bytes()[1] ^ seed).collect())
        .collect();
    let start = |piece: &Vec<u8>| {
        let mut session = Session::start(&place);
        session.write(piece);
        session.assert_reads(piece)
    };
    let mut sessions: Vec<_> = pieces.iter().map(start).collect();
    place.take_network();
    for (session, piece) in sessions.iter_mut().zip(&pieces) {
        session.write(piece);
    }
    pause(OUTAGE);
    place.bring_network();
    for (session, piece) in sessions.into_iter().zip(&pieces) {
        session.assert_reads(piece).finish();
    }
    // The master connection still works.
    start(&b"another".to_vec()).finish();
    place.assert_one_connection();
    let ssh = place.host().ssh();
    let path = format!("-S{}", place.scratch.path("master").display());
    let words = ssh.split(' ').skip(1);
    let mut end = Command::new("ssh");
    let end = end.args(words).args([&path, "-O", "exit", "far"]).stderr(Stdio::null()).status();
    assert!(end.expect("ssh starts").success());
    place.host().wait_alone();
}
