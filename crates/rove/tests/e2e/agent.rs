//! The agent that a session lends to its host (`-A`): real agents, and ssh's own forwarding as the comparison.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;

use crate::support::{
    Far, Invocation, Scratch, Sshd, Terminal, answered, pause, require, rove, wait_until,
    within_guard,
};

/// A shell without a prompt. It prints the path of the agent's socket below the notice bar.
const READY: [&str; 4] = ["--", "sh", "-c", "echo; echo; echo \"path=$SSH_AUTH_SOCK;\"; exec sh"];

/// Message types of an agent: the request for its keys, the list of keys, and a failure. Source:
/// draft-ietf-sshm-ssh-agent, section 6.1.
const LIST: u8 = 11;
const KEYS: u8 = 12;
const FAILURE: u8 = 5;

/// A user whose agent is a real `ssh-agent` with one key.
pub(crate) struct User {
    scratch: Scratch,
    agent: Child,
}

impl User {
    /// Starts an agent with a key that was added with these options.
    pub(crate) fn new(options: &[&str]) -> Self {
        Self::with_agent(Scratch::new(), options, &[])
    }

    /// Works as [`User::new`] does, with more environment variables for the agent.
    fn with_agent(scratch: Scratch, options: &[&str], env: &[(&str, &str)]) -> Self {
        let key = scratch.path("key");
        let keygen = Command::new(require("ssh-keygen", "openssh-client"))
            .args(["-q", "-t", "ed25519", "-N", "", "-C", "work laptop", "-f"])
            .arg(&key)
            .status();
        assert!(keygen.expect("it was found").success());
        let log = File::create(scratch.path("log")).expect("the folder takes files");
        let agent = Command::new(require("ssh-agent", "openssh-client"))
            .args(["-d", "-a"])
            .arg(scratch.path("socket"))
            .envs(env.iter().copied())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("it was found");
        let user = Self { scratch, agent };
        let socket = user.socket();
        wait_until("an agent", || UnixStream::connect(&socket).is_ok());
        let mut add = Command::new(require("ssh-add", "openssh-client"));
        add.arg("-q").args(options).arg(&key).env("SSH_AUTH_SOCK", user.socket());
        assert!(add.status().expect("it was found").success());
        user
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.scratch.path("socket")
    }

    /// Returns a call of rove with these options (or a command of rove), for the host `far`, followed by `words`.
    fn call(&self, sshd: &Sshd, options: &[&str], words: &[&str]) -> Invocation {
        let call = Invocation::new(rove()).args(options).arg(format!("--ssh={}", sshd.ssh()));
        let call = call.arg("far").args(words);
        call.env("SSH_AUTH_SOCK", self.socket()).env("ROVE_RUNTIME_DIR", self.scratch.path("run"))
    }

    /// Starts a session with these options and waits until it runs. Returns the path of the agent's socket on the host.
    fn session(&self, sshd: &Sshd, options: &[&str]) -> (Terminal, PathBuf) {
        let terminal = Terminal::start(&self.call(sshd, options, &READY), (24, 160));
        let between = |text: &str| {
            let (path, _) = text.split_once("path=")?.1.split_once(';')?;
            Some(PathBuf::from(path))
        };
        terminal.wait_for("a path", |screen| between(&screen.contents()).is_some());
        let path = between(&terminal.screen().contents()).expect("it was waited for");
        (terminal, path)
    }

    /// Returns whether the agent has received a message of type `kind`.
    fn has_seen(&self, kind: u8) -> bool {
        self.seen(kind) > 0
    }

    /// Returns how many messages of type `kind` the agent has received.
    fn seen(&self, kind: u8) -> usize {
        let log = self.scratch.read("log");
        let messages = log.lines().filter(|line| line.contains("process_message"));
        messages.filter(|line| line.trim_end().ends_with(&format!(" type {kind}"))).count()
    }
}

impl Drop for User {
    fn drop(&mut self) {
        let _ = self.agent.kill();
        let _ = self.agent.wait();
    }
}

/// Sends a message with this type and body to the agent at this path. Returns the answer.
pub(crate) fn ask(path: &Path, kind: u8, body: &[u8]) -> io::Result<Vec<u8>> {
    let mut stream = UnixStream::connect(path)?;
    let len = u32::try_from(1 + body.len()).expect("messages here are short");
    stream.write_all(&[&len.to_be_bytes()[..], &[kind], body].concat())?;
    let mut len = [0; 4];
    stream.read_exact(&mut len)?;
    let mut answer = vec![0; usize::try_from(u32::from_be_bytes(len)).expect("it fits")];
    stream.read_exact(&mut answer)?;
    Ok(answer)
}

/// Returns how many keys the agent at this path lists.
fn count_keys(path: &Path) -> io::Result<u8> {
    let answer = ask(path, LIST, &[])?;
    assert_eq!(answer[0], KEYS, "{answer:?}");
    Ok(answer[4])
}

/// Waits until an agent answers at this path. Returns how many keys it has.
fn wait_for_agent(path: &Path) -> u8 {
    let path = path.to_owned();
    within_guard("an agent at the path", move || {
        loop {
            if let Ok(count) = count_keys(&path) {
                return count;
            }
            pause(Duration::from_millis(20));
        }
    })
}

/// Waits until the server, which may run a moment longer than its client, has removed this path.
fn wait_for_removal(path: &Path) {
    wait_until("the end of the path", || !path.exists());
}

/// Waits until no agent answers at the path.
fn wait_for_nobody(path: &Path) {
    let path = path.to_owned();
    within_guard("nobody at the path", move || {
        while count_keys(&path).is_ok() {
            pause(Duration::from_millis(20));
        }
    });
}

#[test]
fn the_host_may_list_and_sign_and_the_agent_never_learns_of_anything_else() {
    let (sshd, user) = (Sshd::start(Far::default()), User::new(&[]));
    let (mut terminal, path) = user.session(&sshd, &["-A"]);
    assert_eq!(path.parent(), Some(&*sshd.path("sockets")));
    assert_eq!(wait_for_agent(&path), 1, "{}", terminal.dump());
    let folder = user.scratch.folder().display().to_string();
    let keygen = require("ssh-keygen", "openssh-client");
    let sign = format!("echo x | {} -Y sign -n git -f {folder}/key.pub", keygen.display());
    // Without the key's file, `sign` needs the agent.
    std::fs::remove_file(user.scratch.path("key")).expect("it was there");
    terminal.send(format!("{sign} > {folder}/signed && echo so' be it'\n"));
    terminal.wait_for_text("so be it");
    terminal.wait_for_text("-A: the host has used");
    terminal.wait_for_text("for a signature (git)");
    assert!(user.scratch.read("signed").contains("BEGIN SSH SIGNATURE"));
    // These requests delete one or all keys, lock the agent, add a key or a smartcard, or name an unknown extension.
    for kind in [18, 19, 22, 17, 25, 20, 26, 27] {
        let answer = ask(&path, kind, b"\0\0\0\x05weird").expect("an answer");
        assert_eq!(answer, [FAILURE], "{kind}");
    }
    for kind in [0, 1, 18, 19, 20, 22, 26] {
        assert!(!user.has_seen(kind), "{kind}: {}", user.scratch.read("log"));
    }
    assert!(user.has_seen(LIST) && user.has_seen(13) && user.has_seen(27), "it was bound, too");
    terminal.send("exit\n");
    terminal.wait_exit().assert_code(0);
    wait_for_removal(&path);
    sshd.wait_alone();
}

#[test]
fn a_login_from_the_host_is_told_with_the_name_that_known_hosts_has() {
    let (sshd, other) = (Sshd::start(Far::default()), Sshd::start(Far::default()));
    let user = User::new(&[]);
    let mut add = Command::new(require("ssh-add", "openssh-client"));
    add.arg("-q").arg(other.path("user_key")).env("SSH_AUTH_SOCK", user.socket());
    assert!(add.status().expect("it was found").success());
    let (mut terminal, path) = user.session(&sshd, &["-A"]);
    assert_eq!(wait_for_agent(&path), 2, "{}", terminal.dump());
    let ssh = require("ssh", "openssh-client").display().to_string();
    // Without `-n`, the first login's ssh would read the second login's command as its own input.
    let login = other.ssh().replacen("ssh", &format!("{ssh} -n"), 1);
    // The user's computer has never connected to that host. Such a host may be reachable from the session's host only.
    terminal.send(format!("{login} far echo first' is there'\n"));
    terminal.wait_for_text("first is there");
    terminal.wait_for_notice(" at a host that known_hosts lacks");
    let keys = std::fs::read_to_string(other.path("host_key.pub")).expect("sshd has a key");
    let known = std::fs::read_to_string(sshd.path("known")).expect("the login has made it");
    std::fs::write(sshd.path("known"), format!("{known}build.example {keys}")).expect("it is ours");
    terminal.send(format!("{login} far echo second' is there'\n"));
    terminal.wait_for_text("second is there");
    terminal.wait_for_notice(" at build.example");
    terminal.send("exit\n");
    terminal.wait_exit().assert_code(0);
}

#[test]
fn a_use_that_is_to_be_confirmed_waits_for_the_users_key() {
    let (sshd, user) = (Sshd::start(Far::default()), User::new(&[]));
    let config = user.scratch.write("rove.toml", "agent = 'confirm'\n");
    let call = user.call(&sshd, &["-A"], &READY).env("ROVE_CONFIG", config);
    let mut terminal = Terminal::start(&call, (24, 160));
    terminal.wait_for_text("path=/");
    let folder = user.scratch.folder().display().to_string();
    let keygen = require("ssh-keygen", "openssh-client");
    std::fs::remove_file(user.scratch.path("key")).expect("it was there");
    let add = require("ssh-add", "openssh-client");
    terminal.send(format!("until {} -l; do sleep 0.1; done; echo so' be it'\n", add.display()));
    terminal.wait_for_text("so be it");
    let sign = format!("echo x | {} -Y sign -n git -f {folder}/key.pub", keygen.display());
    terminal.send(format!("clear; {sign} > {folder}/signed && echo done' with it'\n"));
    terminal.wait_for_text("-A: the host wants to use the key work laptop for a signature (git)");
    terminal.wait_for_text("[To allow it: Ctrl-^ y]");
    assert!(!user.has_seen(13), "the agent does not know yet");
    terminal.send("\x1ey");
    terminal.wait_for_text("done with it");
    assert!(user.has_seen(13) && user.scratch.read("signed").contains("BEGIN SSH SIGNATURE"));
    terminal.send("exit\n");
    terminal.wait_exit().assert_code(0);
}

#[test]
fn an_agent_that_waits_for_its_user_keeps_no_key_of_the_session_waiting() {
    // The agent asks its user before a signature, as a token does, and answers nobody before the user has answered.
    let (sshd, scratch) = (Sshd::start(Far::default()), Scratch::new());
    let wait = "#!/bin/sh\nmkdir FOLDER/asked\nuntil read answer <FOLDER/answer; do sleep 0.1; done 2>/dev/null\n\
                rm FOLDER/answer; rmdir FOLDER/asked; exit \"$answer\"\n";
    let folder = scratch.folder().display().to_string();
    let askpass = scratch.script("askpass", &wait.replace("FOLDER", &folder));
    let askpass = askpass.to_str().expect("it is text").to_owned();
    let env = [("SSH_ASKPASS", &*askpass), ("SSH_ASKPASS_REQUIRE", "force")];
    let user = User::with_agent(scratch, &["-c"], &env);
    let (mut terminal, path) = user.session(&sshd, &["-A"]);
    assert_eq!(wait_for_agent(&path), 1, "{}", terminal.dump());
    std::fs::remove_file(user.scratch.path("key")).expect("it was there");
    let keygen = require("ssh-keygen", "openssh-client");
    let sign = format!("echo x | {} -Y sign -n git -f {folder}/key.pub", keygen.display());
    for (answer, status) in [("0", "0"), ("1", "255")] {
        let named = format!("signed-{answer}");
        terminal.send(format!(
            "{{ {sign} >{folder}/{named} 2>&1; echo \"done-{answer}\"\"=$?\"; }} &\n"
        ));
        wait_until("the agent's question", || user.scratch.path("asked").exists());
        terminal.send(format!("echo; echo; echo keys of {answer}' go on'\n"));
        terminal.wait_for_text(&format!("keys of {answer} go on"));
        assert!(
            !terminal.screen().contents().contains(&format!("done-{answer}=")),
            "the agent has not answered"
        );
        user.scratch.write("answer.new", &format!("{answer}\n"));
        let (new, file) = (user.scratch.path("answer.new"), user.scratch.path("answer"));
        std::fs::rename(new, file).expect("it is ours");
        terminal.wait_for_text(&format!("done-{answer}={status}"));
        let is_signed = user.scratch.read(&named).contains("BEGIN SSH SIGNATURE");
        assert_eq!(is_signed, answer == "0", "{}", user.scratch.read(&named));
        wait_until("the question's end", || !user.scratch.path("asked").exists());
    }
    assert_eq!(wait_for_agent(&path), 1, "the connection has outlasted a refusal");
    terminal.send("exit\n");
    terminal.wait_exit().assert_code(0);
}

/// Runs `ssh-add` with these words at the agent of this path. Returns its output.
fn ssh_add(path: &Path, words: &[&str]) -> String {
    let mut add = Command::new(require("ssh-add", "openssh-client"));
    add.args(words).env("SSH_AUTH_SOCK", path).env("SSH_ASKPASS_REQUIRE", "never");
    let output = within_guard("ssh-add", {
        add.stdin(Stdio::null());
        move || add.output().expect("it was found")
    });
    assert!(!output.status.success(), "{words:?}: {output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn no_library_of_the_hosts_choice_is_loaded_and_no_key_is_added_or_deleted() {
    let (sshd, user) = (Sshd::start(Far::default()), User::new(&[]));
    let other = User::new(&[]);
    let (library, key) = (user.scratch.path("lib.so"), other.scratch.path("key"));
    std::fs::copy("/bin/true", &library).expect("the folder takes files");
    let library = library.to_str().expect("it is text");
    let key = key.to_str().expect("it is text");
    let words = [&["-s", library][..], &["-e", library], &[key], &["-d", key], &["-D"]];
    // A plain relay of the socket would bring each of these requests to the agent.
    for (words, kind) in words[..2].iter().zip([20, 21]) {
        ssh_add(&user.socket(), words);
        assert_eq!(user.seen(kind), 1, "{}", user.scratch.read("log"));
    }
    let (mut terminal, path) = user.session(&sshd, &["-A"]);
    assert_eq!(wait_for_agent(&path), 1, "{}", terminal.dump());
    for words in words {
        ssh_add(&path, words);
    }
    let log = user.scratch.read("log");
    assert_eq!((user.seen(20), user.seen(21), user.seen(26)), (1, 1, 0), "{log}");
    assert_eq!((user.seen(18), user.seen(19), count_keys(&path).ok()), (0, 0, Some(1)), "{log}");
    terminal.send("exit\n");
    terminal.wait_exit().assert_code(0);
}

#[test]
fn a_key_that_may_not_go_on_from_the_host_is_kept_from_it_as_by_ssh() {
    let (sshd, scratch) = (Sshd::start(Far::default()), Scratch::new());
    let keys = std::fs::read_to_string(sshd.path("host_key.pub")).expect("sshd has a key");
    let known = scratch.write("known", &format!("other {keys}"));
    let known = known.to_str().expect("it is text");
    for (options, count) in [(&["-H", known, "-h", "other"][..], "no identities"), (&[], "work")] {
        let user = User::new(options);
        let add = require("ssh-add", "openssh-client");
        let mut ssh = sshd.ssh();
        ssh.push_str(&format!(" -A far {} -l", add.display()));
        let words = shell_words::split(&ssh).expect("it is a command line");
        let mut ssh = Command::new(&words[0]);
        ssh.args(&words[1..]).env("SSH_AUTH_SOCK", user.socket());
        let listed = ssh.output().expect("it was found").stdout;
        let (mut terminal, path) = user.session(&sshd, &["-A"]);
        wait_for_agent(&path);
        terminal.send(format!("{} -l > {}/listed\n", add.display(), scratch.folder().display()));
        terminal.send("exit\n");
        terminal.wait_exit();
        assert_eq!(scratch.read("listed"), String::from_utf8_lossy(&listed));
        assert!(scratch.read("listed").contains(count), "{}", scratch.read("listed"));
    }
}

#[test]
fn the_path_stays_when_the_client_is_killed_and_leads_to_the_next_one() {
    let (sshd, user) = (Sshd::start(Far::default()), User::new(&[]));
    let (mut terminal, path) = user.session(&sshd, &["-A", "--session", "x"]);
    assert_eq!(wait_for_agent(&path), 1);
    terminal.signal(Signal::KILL);
    terminal.wait_exit();
    wait_for_nobody(&path);
    assert!(path.exists(), "programs of the session know it");
    // The next client has another agent, with two keys.
    let other = User::new(&[]);
    let key = user.scratch.path("key");
    let mut add = Command::new(require("ssh-add", "openssh-client"));
    add.arg("-q").arg(key).env("SSH_AUTH_SOCK", other.socket());
    assert!(add.status().expect("it was found").success());
    let mut terminal = Terminal::start(&other.call(&sshd, &["attach", "-A"], &["x"]), (24, 160));
    assert_eq!(wait_for_agent(&path), 2, "{}", terminal.dump());
    // In a session without `-A`, the environment names a path at which no agent answers.
    let mut last = Terminal::start(&other.call(&sshd, &["attach"], &["x"]), (24, 160));
    last.wait_for_text("path=/");
    wait_for_nobody(&path);
    last.send("exit\n");
    last.wait_exit().assert_code(0);
    terminal.wait_exit();
}

#[test]
fn a_host_or_a_user_without_an_agent_is_told_in_one_sentence() {
    let user = User::new(&[]);
    let told = |sshd: &Sshd, call: Invocation, sentence: &str| {
        let mut terminal = Terminal::start(&sshd.without_offer(call), (24, 160));
        terminal.wait_for_text(sentence);
        terminal.send("\x1e.");
        terminal.wait_exit();
    };
    let sshd = Sshd::start(Far::default());
    let call = user.call(&sshd, &["-A"], &["cat"]).env("SSH_AUTH_SOCK", "");
    told(&sshd, call, "-A: no agent runs on this computer");
    let call = user.call(&sshd, &["-A"], &["cat"]).env("SSH_AUTH_SOCK", "/nowhere");
    told(&sshd, call, "-A: the agent does not answer");
    sshd.configure(" ForwardAgent /nowhere\n");
    told(&sshd, user.call(&sshd, &[], &["cat"]), "-A: the agent does not answer");
    let stock = Sshd::start(Far { programs: &["mosh-server"], ..Far::default() });
    told(&stock, user.call(&stock, &["-A"], &["cat"]), "carries no agent; use ssh -A");
}

#[test]
fn a_client_in_the_background_lends_no_agent() {
    let (sshd, user) = (Sshd::start(Far::default()), User::new(&[]));
    let output = answered(&user.call(&sshd, &["-N", "-f", "-A", "-R0:localhost:1"], &[]));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("-A: nobody sees without a terminal how the host uses"), "{said}");
    // A later session lends its agent, and the folder has only this session's path.
    let (mut terminal, path) = user.session(&sshd, &["-A"]);
    assert_eq!(wait_for_agent(&path), 1, "{}", terminal.dump());
    let names = std::fs::read_dir(sshd.path("sockets")).expect("a folder").flatten();
    let names = names.map(|entry| entry.file_name().into_string().expect("it is text"));
    let agents: Vec<String> = names.filter(|name| name.starts_with("agent-")).collect();
    assert_eq!(agents.len(), 1, "{agents:?}");
    terminal.send("exit\n");
    terminal.wait_exit();
    let kill = Invocation::new(rove()).arg("kill").arg(format!("--ssh={}", sshd.ssh()));
    let ended = answered(&kill.args(["far", "--all"]));
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
}

#[test]
fn where_ssh_cannot_log_in_again_a_relay_lends_the_agent_and_is_named() {
    let (sshd, scratch) = (Sshd::start(Far::default()), Scratch::new());
    // This ssh refuses the second login, as if the user had to answer a question for it.
    let ssh = scratch.script(
        "ssh",
        &format!(
            "#!/bin/sh\ncase \"$*\" in *ForwardAgent=*/lent-*) echo refused >&2; exit 255;; esac\nexec {} \"$@\"\n",
            sshd.ssh()
        ),
    );
    let keys = std::fs::read_to_string(sshd.path("host_key.pub")).expect("sshd has a key");
    let known = scratch.write("known", &format!("other {keys}"));
    let known = known.to_str().expect("it is text");
    for (options, signs) in [(&[][..], true), (&["-H", known, "-h", "other"], false)] {
        let user = User::new(options);
        let call = Invocation::new(rove()).arg("-A").arg(format!("--ssh={}", ssh.display()));
        let call = call.arg("far").args(READY).env("SSH_AUTH_SOCK", user.socket());
        let call = call.env("ROVE_RUNTIME_DIR", user.scratch.path("run"));
        let mut terminal = Terminal::start(&call, (24, 160));
        terminal.wait_for_text("path=/");
        terminal.wait_for_text("-A: by a relay of rove's own, without keys that are limited");
        let screen = terminal.screen().contents();
        let path = screen.split_once("path=").and_then(|(_, rest)| rest.split_once(';'));
        let path = PathBuf::from(path.expect("it was waited for").0);
        assert_eq!(wait_for_agent(&path), 1, "{}", terminal.dump());
        let folder = user.scratch.folder().display().to_string();
        std::fs::remove_file(user.scratch.path("key")).expect("it was there");
        let keygen = require("ssh-keygen", "openssh-client");
        let sign = format!("echo x | {} -Y sign -n git -f {folder}/key.pub", keygen.display());
        terminal.send(format!("{sign} > {folder}/signed; echo so' be it'\n"));
        terminal.wait_for_text("so be it");
        assert_eq!(user.scratch.read("signed").contains("BEGIN SSH SIGNATURE"), signs);
        // A program must not bind the connection to a host that the program chooses, nor send any other request.
        let bound = user.seen(27);
        for kind in [18, 19, 22, 17, 25, 20, 26, 27] {
            let bind = b"\0\0\0\x18session-bind@openssh.com";
            assert_eq!(ask(&path, kind, bind).expect("an answer"), [FAILURE], "{kind}");
        }
        for kind in [0, 1, 18, 19, 20, 22, 26] {
            assert!(!user.has_seen(kind), "{kind}: {}", user.scratch.read("log"));
        }
        assert_eq!(user.seen(27), bound, "the login to the host has bound its own connection");
        terminal.send("\x1es");
        terminal.wait_for_text("-A by a relay of rove's own, not by ssh");
        terminal.send("x");
        terminal.send("\x15exit\n");
        terminal.wait_exit().assert_code(0);
        wait_for_removal(&path);
    }
}

#[test]
fn an_sshd_that_forwards_no_agent_is_named() {
    let (sshd, user) = (Sshd::start(Far::default()), User::new(&[]));
    let config = sshd.path("sshd_config");
    let lines = std::fs::read_to_string(&config).expect("it was written");
    std::fs::write(&config, format!("AllowAgentForwarding no\n{lines}")).expect("it is ours");
    let (terminal, path) = user.session(&sshd, &["-A"]);
    terminal.wait_for_text("-A: the host's sshd forwards no agent (AllowAgentForwarding)");
    let lists = user.seen(LIST);
    wait_for_nobody(&path);
    assert!(count_keys(&path).is_err(), "no relay lends it");
    assert_eq!(user.seen(LIST), lists);
}

#[test]
fn a_session_without_the_option_has_no_path_and_starts_nothing() {
    let (sshd, user) = (Sshd::start(Far::default()), User::new(&[]));
    let script = "echo; echo; echo \"none=${SSH_AUTH_SOCK-yes}\"; cat";
    let call = user.call(&sshd, &[], &["--", "sh", "-c", script]);
    let mut terminal = Terminal::start(&call, (24, 160));
    terminal.wait_for_text("none=yes");
    terminal.send("\x04");
    terminal.wait_exit().assert_code(0);
    assert_eq!(sshd.connections(), 1);
}
