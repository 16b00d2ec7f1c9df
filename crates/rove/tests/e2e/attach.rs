//! Sessions that continue with another client.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{
    Far, Invocation, Maker, SIZE, Scratch, Server, Sshd, Terminal, answered, install_script,
    require, rove, side_by_side, within_guard,
};

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A script that prints `here`, and then each line that it reads.
const ECHOING: &str = "echo here; while read -r line; do echo \"got $line\"; done";

/// A part of the message at a client whose session another client has taken over.
const TAKEN_OVER: &str = "another rove from 127.0.0.1 took the session over";

/// Returns a call of rove for a host.
fn call(sshd: &Sshd, words: &[&str]) -> Invocation {
    Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh())).args(words)
}

/// Returns a call of the rove command `word` for a host.
fn command(sshd: &Sshd, word: &str, words: &[&str]) -> Invocation {
    Invocation::new(rove()).arg(word).arg(format!("--ssh={}", sshd.ssh())).args(words)
}

fn attach(sshd: &Sshd, words: &[&str]) -> Terminal {
    Terminal::start(&command(sshd, "attach", words), SIZE)
}

/// Starts a session and waits until its program runs.
fn start(sshd: &Sshd, options: &[&str]) -> Terminal {
    let words = [options, &["far", "--", "sh", "-c", ECHOING]].concat();
    let terminal = Terminal::start(&call(sshd, &words), SIZE);
    terminal.wait_for_text("here");
    terminal
}

/// Ends the host's session with the name `which`, or all sessions for `--all`.
fn end(sshd: &Sshd, which: &str) {
    let ended = answered(&command(sshd, "kill", &["far", which]));
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
}

#[test]
fn a_session_goes_on_at_another_terminal_and_the_former_client_says_so() {
    side_by_side(&[&["attach"][..], &["attach", "--tunnel"]], |way| {
        let sshd = Sshd::start(Far::default());
        let mut first = start(&sshd, &["--session", "work"]);
        first.talk("one");
        let mut second =
            Terminal::start(&command(&sshd, way[0], &[&way[1..], &["far", "work"]].concat()), SIZE);
        second.wait_for_text("got one");
        first.wait_exit().assert_code(79).assert_restored(Maker::Rove);
        assert!(first.output().contains(TAKEN_OVER), "{}", first.output());
        second.talk("two");

        let listing = answered(&command(&sshd, "list", &["far", "--json"]));
        let listing: Value = serde_json::from_slice(&listing.stdout).expect("a line of JSON");
        let session = &listing["sessions"][0];
        assert_eq!((&session["session"], &session["takeovers"]), (&"work".into(), &1.into()));

        // The session's name leads there again and starts no new session.
        let mut third = Terminal::start(&call(&sshd, &["--session", "work", "far"]), SIZE);
        third.wait_for_text("got two");
        second.wait_exit().assert_code(79);
        third.talk("three");
        end(&sshd, "work");
        third.wait_exit().assert_code(143);
    });
}

#[test]
fn of_two_attachments_at_once_the_one_that_is_not_served_is_told_to_repeat_it() {
    let (sshd, scratch) = (Sshd::start(Far::default()), Scratch::new());
    start(&sshd, &[]).talk("one");
    // This script starts the client when the user presses Enter.
    let client = format!("echo held; read -r _; exec '{}' client \"$@\"", rove().display());
    let held = scratch.script("held", &client);
    let mut loser = attach(&sshd, &[&format!("--client={}", held.display()), "far"]);
    loser.wait_for_text("held");
    let second = attach(&sshd, &["far"]);
    second.wait_for_text("got one");
    loser.send("\r");
    loser.wait_for_text("No answer from");
    loser.send("\x1e.");
    loser.wait_exit().assert_code(1).assert_restored(Maker::Rove);
    let output = loser.output().replace("\r\n", " ");
    assert!(output.contains("repeat `rove attach far`, because a later login"), "{output}");
    second.talk("two");
    end(&sshd, "--all");
}

#[test]
fn a_client_that_was_killed_costs_nothing() {
    let sshd = Sshd::start(Far::default());
    let mut first = start(&sshd, &[]);
    first.talk("one");
    first.signal(Signal::KILL);
    first.wait_exit();
    let mut second = attach(&sshd, &["far"]);
    second.wait_for_text("got one");
    second.talk("two");
    second.send("\x04");
    second.wait_exit().assert_code(0).assert_restored(Maker::Rove);
}

#[test]
fn the_user_chooses_among_several_sessions_by_a_digit() {
    let sshd = Sshd::start(Far::default());
    let mut sessions = [start(&sshd, &[]), start(&sshd, &["--session", "mail"])];
    for (word, session) in ["one", "two"].into_iter().zip(&sessions) {
        session.talk(word);
    }
    let chooser = attach(&sshd, &["far"]);
    chooser.wait_for_text("which session? [1-2]");
    chooser.send("2\r");
    chooser.wait_for_text("got two");
    sessions[1].wait_exit().assert_code(79);
    sessions[0].talk("more");
    let mut nobody = attach(&sshd, &["far"]);
    nobody.wait_for_text("which session? [1-2]");
    nobody.send("3\r");
    nobody.wait_exit().assert_code(10);
    let output = nobody.output().replace("\r\n", " ");
    assert!(output.contains("no session on far was chosen: name one of them"), "{output}");
    end(&sshd, "--all");
}

#[test]
fn a_name_is_given_to_one_session_and_waits_for_no_client() {
    let scratch = Scratch::new();
    let call = |name: &str| {
        let call = Maker::Rove.server().env("ROVE_RUNTIME_DIR", scratch.path("sockets"));
        call.args(["new", "-n", name, "-i", "127.0.0.1", "-p", "0", "--", "sleep", "1000"])
    };
    let first = Server::from_call(LOCALHOST, call("work")).expect("a server");
    // Neither session has a client. A call with the first session's name still gets a new key of that session.
    let second = Server::from_call(LOCALHOST, call("mail")).expect("another server");
    let again = call("work");
    let told = within_guard("a key", move || again.command().output().expect("rove starts"));
    let told = String::from_utf8(told.stdout).expect("a line");
    let connect = format!("MOSH CONNECT {} ", first.address.port());
    assert!(told.contains(&connect) && !told.contains(&first.key), "{told}");
    // Several simultaneous calls with the same new name get one session.
    let asked = [call("race"), call("race"), call("race")];
    let asked = asked.map(|call| {
        call.command().stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("rove")
    });
    let ports = within_guard("three keys", move || {
        asked.map(|child| {
            let told = child.wait_with_output().expect("it ends").stdout;
            let told = String::from_utf8(told).expect("text");
            let (_, port) = told.split_once("MOSH CONNECT ").expect("a port");
            port.split_once(' ').expect("a key").0.to_owned()
        })
    });
    assert!(ports.iter().all(|port| *port == ports[0]), "{ports:?}");
    let end = Invocation::new(rove()).env("ROVE_RUNTIME_DIR", scratch.path("sockets"));
    assert!(answered(&end.args(["kill", &ports[0]])).status.success());
    for server in [first, second] {
        assert!(server.is_running());
        server.signal(Signal::TERM);
        server.assert_gone();
    }
}

#[test]
fn a_stock_client_that_is_replaced_ends_as_after_any_session() {
    let scratch = Scratch::new();
    let environment = |call: Invocation| call.env("ROVE_RUNTIME_DIR", scratch.path("sockets"));
    let server =
        Server::start_with(environment(Maker::Rove.server()), LOCALHOST, &["sh", "-c", ECHOING]);
    let mut stock = Terminal::start(&Maker::Stock.client(server.address, &server.key), SIZE);
    stock.wait_for_text("here");
    stock.talk("one");
    let port = server.address.port().to_string();
    let ask = environment(Invocation::new(rove()).args(["server", "attach", &port]));
    let told = within_guard("a key", move || ask.command().output().expect("rove starts"));
    let told = String::from_utf8(told.stdout).expect("a line");
    let words: Vec<&str> = told.split_whitespace().collect();
    let ["ROVE", "LOOPBACK", "MOSH", "CONNECT", found, key] = words[..] else { panic!("{told}") };
    assert_eq!(found, port);
    assert_ne!(key, server.key, "each client has a key of its own");
    let address = SocketAddr::new(LOCALHOST, server.address.port());
    let next = Terminal::start(&Maker::Rove.client(address, key), SIZE);
    next.wait_for_text("got one");
    stock.wait_exit().assert_code(0).assert_restored(Maker::Stock);
    next.talk("two");
    // The former key no longer opens the session.
    let mut late = Terminal::start(&Maker::Stock.client(server.address, &server.key), SIZE);
    late.wait_for_text("Nothing received from server");
    next.talk("three");
    late.send("\x1e.");
    late.wait_exit();
}

#[test]
fn each_client_of_a_session_has_a_key_of_its_own() {
    let scratch = Scratch::new();
    let environment = |call: Invocation| call.env("ROVE_RUNTIME_DIR", scratch.path("sockets"));
    let server =
        Server::start_with(environment(Maker::Rove.server()), LOCALHOST, &["sh", "-c", ECHOING]);
    let owner = Terminal::start(&Maker::Rove.client(server.address, &server.key), SIZE);
    owner.talk("one");
    let mut keys = vec![server.key.clone()];
    for words in [&["--view"][..], &["--view"], &["--share"], &[]] {
        let ask = environment(Invocation::new(rove())).args(["server", "attach"]).args(words);
        let ask = ask.arg(server.address.port().to_string());
        // The server gives no key until its client has told it that others may join.
        let key = within_guard("a key", move || {
            loop {
                let told = ask.command().stderr(Stdio::null()).output().expect("rove starts");
                let told = String::from_utf8(told.stdout).expect("text");
                if let Some(key) = told.split_whitespace().nth(5) {
                    return key.to_owned();
                }
            }
        });
        assert!(key.len() == 22 && !keys.contains(&key), "{words:?}: {key} is in {keys:?}");
        keys.push(key);
    }
}

#[test]
fn an_attachment_that_cannot_be_is_refused_in_a_sentence() {
    let sshd = Sshd::start(Far::default());
    let stock = Sshd::start(Far { programs: &["mosh-server"], ..Far::default() });
    let long = "x".repeat(300);
    for (sshd, words, code, part) in [
        (&sshd, &["far"][..], 10, "no session of yours runs here"),
        (&sshd, &["far", "work"], 10, "no session of yours runs here"),
        (&sshd, &["far", "Work"], 255, "consists of the letters a to z"),
        (&sshd, &["far", "a/../b"], 255, "consists of the letters a to z"),
        (&sshd, &["far", ".work"], 255, "begins with a letter or a digit"),
        (&sshd, &["far", &long], 255, "at most 64 characters"),
        (&sshd, &["far", "a", "b"], 255, "one session"),
        (&stock, &["far"], 10, "rove not found on far"),
    ] {
        let mut refused = attach(sshd, words);
        refused.wait_exit().assert_code(code);
        let output = refused.output().replace("\r\n", " ");
        assert!(output.contains(part), "{words:?}: {output}");
        assert!(output.starts_with("rove"), "no empty line comes first: {output:?}");
        let is_asked = part.starts_with("no session");
        let refers = output.contains("far gave no session to rove attach; its reason stands above");
        assert_eq!(refers, is_asked, "{words:?}: {output}");
    }
    let mut refused = Terminal::start(&call(&stock, &["--session", "work", "far"]), SIZE);
    refused.wait_exit().assert_code(10);
    assert!(refused.output().contains("rove not found on far"), "{}", refused.output());
}

#[test]
fn a_session_whose_server_stands_still_is_named_to_those_who_look_for_one() {
    let (sshd, here) = (Sshd::start(Far::default()), Scratch::new());
    let file = here.write("a.txt", "1");
    let _terminal = start(&sshd, &["--session", "work"]);
    let sessions = || {
        let listing = answered(&command(&sshd, "list", &["far", "--json"])).stdout;
        let listing: Value = serde_json::from_slice(&listing).expect("a line of JSON");
        listing["sessions"].as_array().expect("a list").clone()
    };
    let pid = sessions()[0]["pid"].as_i64().expect("a number");
    let server = Pid::from_raw(i32::try_from(pid).expect("it fits")).expect("a process");
    kill_process(server, Signal::STOP).expect("it runs");
    let named = format!("session {pid} (port ");
    let attaching = |words: &[&str]| command(&sshd, "attach", words);
    for (call, is_named) in [
        (attaching(&["far"]), true),
        (attaching(&["far", "work"]), true),
        (attaching(&["far", &pid.to_string()]), true),
        (call(&sshd, &["--session", "work", "far"]), true),
        (attaching(&["far", "wrok"]), false),
        (attaching(&["far", "1"]), false),
    ] {
        let mut refused = Terminal::start(&call, SIZE);
        refused.wait_exit().assert_code(10);
        let output = refused.output().replace("\r\n", " ");
        let names = output.contains(&named) && output.contains("its server does not answer");
        let is_unknown = output.contains("no session of yours has the name, process or port");
        assert_eq!((names, is_unknown), (is_named, !is_named), "{call:?}: {output}");
    }
    let put = command(&sshd, "put", &["far", file.to_str().expect("it is text")]);
    let output = within_guard("rove put", move || put.command().output().expect("rove starts"));
    kill_process(server, Signal::CONT).expect("it stands still");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(255), "{said}");
    assert!(said.contains(&format!("a.txt is not copied: {named}")), "{said}");
    assert_eq!(sessions().len(), 1, "no other session got the name");
    end(&sshd, "--all");
}

/// Starts a session whose program turns the echo off, so that only the program's answers are on the screen.
fn start_quiet(sshd: &Sshd, options: &[&str]) -> Terminal {
    let program = format!("stty -echo; {ECHOING}");
    let words = [options, &["far", "--", "sh", "-c", &program]].concat();
    let terminal = Terminal::start(&call(sshd, &words), SIZE);
    terminal.wait_for_text("here");
    terminal
}

/// Joins a session, waits until all other clients show the new one, and returns the new client.
fn join(sshd: &Sshd, option: &str, others: &[&Terminal]) -> Terminal {
    let terminal = attach(sshd, &[option, "far"]);
    let purpose = if option == "--view" { "joined to view" } else { "joined to type" };
    others.iter().for_each(|other| other.wait_for_notice(purpose));
    terminal
}

#[test]
fn a_viewer_sees_and_does_not_type_and_the_owner_sees_it_come_and_go() {
    side_by_side(&[&[][..], &["--tunnel"]], |way| {
        let sshd = Sshd::start(Far::default());
        let mut owner = start_quiet(&sshd, way);
        owner.talk("one");
        let mut viewer = attach(&sshd, &[way, &["--view", "far"][..]].concat());
        viewer.wait_for_text("got one");
        owner.wait_for_notice("joined to view");
        viewer.wait_for_notice("You view this session");
        viewer.send("\x1ep/nothing\r");
        viewer.wait_for_notice("only the session's own one copies");
        viewer.send("never\r");
        owner.talk("two");
        viewer.wait_for_text("got two");
        assert!(!owner.output().contains("got never"), "{}", owner.output());

        let listing = answered(&command(&sshd, "list", &["far", "--json"]));
        let listing: Value = serde_json::from_slice(&listing.stdout).expect("a line of JSON");
        let joined = listing["sessions"][0]["joined"][0].as_str().expect("a joined client");
        assert!(joined.contains("process") && joined.ends_with("views"), "{joined}");

        viewer.send("\x1e.");
        viewer.wait_exit().assert_code(0).assert_restored(Maker::Rove);
        owner.wait_for_notice("has left");
        owner.talk("three");
        owner.send("\x04");
        owner.wait_exit().assert_code(0).assert_restored(Maker::Rove);
    });
}

#[test]
fn two_clients_share_a_session_until_the_owner_ends_that_and_locks_it() {
    let sshd = Sshd::start(Far::default());
    let mut owner = start_quiet(&sshd, &["--session", "work"]);
    let sharer = join(&sshd, "--share", &[&owner]);
    let viewer = join(&sshd, "--view", &[&owner, &sharer]);
    sharer.talk("one");
    for other in [&owner, &viewer] {
        other.wait_for_text("got one");
    }
    owner.talk("two");
    sharer.wait_for_text("got two");
    owner.send("\x1ee");
    for mut ended in [sharer, viewer] {
        ended.wait_exit().assert_code(79).assert_restored(Maker::Rove);
        let output = ended.output().replace("\r\n", " ");
        let sentence = "goes on without this client: its own client has ended this one";
        assert!(output.contains(sentence) && !output.contains("silent"), "{output}");
    }
    owner.send("\x1el");
    owner.wait_for_notice("Locked");
    for (words, part) in [
        (&["--view", "far"][..], "nobody may join it"),
        (&["--share", "far", "work"], "nobody may join it"),
        (&["far", "work"], "has locked it"),
    ] {
        let mut refused = attach(&sshd, words);
        refused.wait_exit().assert_code(10);
        let output = refused.output().replace("\r\n", " ");
        assert!(output.contains(part), "{words:?}: {output}");
    }
    owner.talk("three");
    owner.send("\x1el");
    owner.wait_for_notice("Unlocked");
    let mut heir = attach(&sshd, &["far", "work"]);
    heir.wait_for_text("got three");
    owner.wait_exit().assert_code(79);
    heir.send("\x04");
    heir.wait_exit().assert_code(0);
}

#[test]
fn a_session_that_is_over_leaves_its_name_to_the_next_one() {
    let sshd = Sshd::start(Far::default());
    let mut owner = start_quiet(&sshd, &["--session", "work"]);
    let mut viewer = join(&sshd, "--view", &[&owner]);
    // The server runs for some more seconds, to repeat its acknowledgment of the viewer's end if necessary.
    viewer.send("\x1e.");
    viewer.wait_exit().assert_code(0);
    owner.send("\x04");
    owner.wait_exit().assert_code(0);
    let mut next = start(&sshd, &["--session", "work"]);
    next.talk("new");
    next.send("\x04");
    next.wait_exit().assert_code(0);
}

#[test]
fn nobody_joins_where_the_configuration_says_so() {
    let sshd = Sshd::start(Far::default());
    let scratch = Scratch::new();
    let file = scratch.path("config.toml");
    std::fs::write(&file, "[host.far]\nshare = false\n").expect("a file");
    let call = call(&sshd, &["far", "--", "sh", "-c", ECHOING]).env("ROVE_CONFIG", &file);
    let mut owner = Terminal::start(&call, SIZE);
    owner.wait_for_text("here");
    owner.talk("one");
    let mut refused = attach(&sshd, &["--share", "far"]);
    refused.wait_exit().assert_code(10);
    assert!(refused.output().contains("share = false"), "{}", refused.output());
    owner.send("\x04");
    owner.wait_exit().assert_code(0);
}

#[test]
fn nobody_attaches_to_the_session_that_he_is_in() {
    let sshd = Sshd::start(Far::default());
    let mut around = Terminal::start(&call(&sshd, &["--session", "work", "far", "--", "sh"]), SIZE);
    let rove = rove();
    let say = |words: &str, mark: usize| {
        let line = format!("{} {words}; echo end{mark}: $?\r", rove.display());
        around.send(format!("printf '\\033[H\\033[J'; {line}"));
    };
    let program = require("ssh", "openssh-client");
    let ssh = format!("--ssh='{}'", sshd.ssh().replacen("ssh", &program.to_string_lossy(), 1));
    for (mark, words) in [
        format!("attach {ssh} far"),
        format!("attach {ssh} --view far work"),
        format!("attach {ssh} --tunnel --share far work"),
        format!("{ssh} --session work far"),
    ]
    .into_iter()
    .enumerate()
    {
        say(&words, mark);
        around.wait_for_text(&format!("end{mark}: 10"));
        let text = around.screen().contents().replace("\n", " ");
        assert!(text.contains("this terminal is inside the session"), "{words}: {text}");
    }
    // A shell inside a session may attach to another session.
    let mut other = start(&sshd, &["--session", "mail"]);
    say(&format!("attach {ssh} far mail"), 9);
    other.wait_exit().assert_code(79);
    around.wait_for_text("here");
    around.talk("nested");
    around.send("\x04");
    around.wait_for_text("end9: 0");
    around.send("exit\r");
    around.wait_exit().assert_code(0);
}

#[test]
fn a_session_behind_a_tunnel_is_attached_to_through_ssh_without_a_word() {
    let sshd = Sshd::start(Far::default());
    let mut first = start(&sshd, &["--tunnel", "--session", "work"]);
    first.talk("one");
    let mut second = attach(&sshd, &["far", "work"]);
    second.wait_for_text("got one");
    first.wait_exit().assert_code(79);
    second.talk("two");
    second.send("\x04");
    second.wait_exit().assert_code(0);
}

/// Waits until `is_wanted` is true for all sessions on the host.
fn wait_for_sessions(sshd: &Sshd, is_wanted: fn(&Value) -> bool) {
    let list = command(sshd, "list", &["far", "--json"]);
    within_guard("sessions", move || {
        loop {
            let listing = list.command().output().expect("rove").stdout;
            let listing: Value = serde_json::from_slice(&listing).expect("a line of JSON");
            if listing["sessions"].as_array().is_some_and(|them| them.iter().all(is_wanted)) {
                return;
            }
        }
    });
}

/// Most logins until one gets its answers in time.
const LOGINS_MAX: usize = 20;

/// Logs in with `setting` as the value of the option `attach`.
fn login(sshd: &Sshd, scratch: &Scratch, setting: &str, options: &[&str]) -> Terminal {
    let file = scratch.path(setting);
    std::fs::write(&file, format!("[host.far]\nattach = \"{setting}\"\n")).expect("a file");
    let call = call(sshd, &[options, &["far"]].concat()).env("ROVE_CONFIG", &file);
    Terminal::start(&call, SIZE)
}

#[test]
fn a_login_does_about_sessions_without_a_client_what_the_configuration_says() {
    let sshd = Sshd::start(Far::default());
    let scratch = Scratch::new();
    // While the host has no session, the login asks nothing.
    let mut first = login(&sshd, &scratch, "ask", &[]);
    first.send("echo a$((1+1))b\r");
    first.wait_for_text("a2b");
    first.send("exit\r");
    first.wait_exit().assert_code(0);
    for word in ["old", "new"] {
        let mut session = start(&sshd, &["--session", word]);
        session.talk(word);
        session.signal(Signal::KILL);
        session.wait_exit();
        // Ages are in whole seconds, so the next session must be younger by seconds.
        wait_for_sessions(&sshd, |it| it["age_seconds"].as_u64() >= Some(2));
    }
    wait_for_sessions(&sshd, |it| it["state"] == "detached");

    let hint = "2 sessions of yours on this computer have no client";
    // A login does not wait for a session that is slow to answer, and this computer may be busy.
    let is_told = |setting: &str, options: &[&str]| {
        let mut shell = login(&sshd, &scratch, setting, options);
        shell.send("echo a$((1+1))b\r");
        shell.wait_for_text("a2b");
        let is_told = shell.screen().contents().contains(hint);
        shell.send("exit\r");
        shell.wait_exit().assert_code(0);
        assert!(!shell.output().contains("go on with which"), "{}", shell.output());
        is_told
    };
    for (setting, options) in [("hint", &[][..]), ("newest", &["-q"])] {
        assert!((0..LOGINS_MAX).any(|_| is_told(setting, options)), "{setting}");
    }
    assert!(!is_told("never", &[]));
    let mut asked = login(&sshd, &scratch, "ask", &[]);
    asked.wait_for_text("go on with which? [1-2, Enter: a new one]");
    asked.send("\r");
    asked.send("echo a$((1+1))b\r");
    asked.wait_for_text("a2b");
    assert!(!asked.screen().contents().contains(hint), "{}", asked.dump());
    asked.send("exit\r");
    asked.wait_exit().assert_code(0);

    let mut newest = login(&sshd, &scratch, "newest", &[]);
    newest.wait_for_text("got new");
    newest.talk("more");
    assert!(newest.output().contains("going on with your newest session"), "{}", newest.dump());
    newest.send("\x04");
    newest.wait_exit().assert_code(0);

    let mut last = login(&sshd, &scratch, "ask", &["--tunnel"]);
    last.wait_for_text("go on with which? [1-1, Enter: a new one]");
    last.send("1\r");
    last.wait_for_text("got old");
    last.send("\x04");
    last.wait_exit().assert_code(0);

    let mut wrong = login(&sshd, &scratch, "always", &[]);
    wrong.wait_exit().assert_code(255);
    let output = wrong.output().replace("\r\n", " ");
    assert!(output.contains("attach: \"always\" is none of hint, ask, newest, never"), "{output}");
}

/// A host with an older rove in the first folder of its PATH.
const OLDER: Far =
    Far { shell: "sh", programs: &["rove"], profile: "PATH=$HOME/old:$PATH", banner: "" };

#[test]
fn an_older_rove_and_an_older_server_are_said_to_lack_what_was_asked_for() {
    let sshd = Sshd::start(OLDER);
    let old = sshd.path("old");
    fs::create_dir(&old).unwrap();
    let says = "a session's name begins with a letter or a digit, and \\\"--share\\\" does not";
    let program = format!(
        "#!/bin/sh\ncase \"$*\" in *--share*) echo \"rove server: {says}\" >&2; exit 1;; esac\nexec \"$HOME/bin/rove\" \"$@\"\n"
    );
    install_script(&old.join("rove"), &program);
    let mut refused = attach(&sshd, &["--share", "far"]);
    refused.wait_exit().assert_code(10);
    let said = refused.output().replace("\r\n", " ");
    assert!(said.contains("no rove attach --share"), "{said}");

    // This socket answers as the server of an older rove does.
    let sockets = sshd.path("sockets");
    fs::create_dir(&sockets).unwrap();
    fs::set_permissions(&sockets, fs::Permissions::from_mode(0o700)).unwrap();
    let pid = std::process::id();
    let listener = UnixListener::bind(sockets.join(format!("{pid}-60001"))).unwrap();
    std::thread::spawn(move || {
        for mut connection in listener.incoming().map_while(Result::ok) {
            let mut request = String::new();
            let mut reader = BufReader::new(connection.try_clone().unwrap());
            // On a busy computer, the asking process may have given up. The loop then answers the next request.
            let _ = reader.read_line(&mut request);
            let status = format!(
                "{{\"protocol\":1,\"session\":{{\"pid\":{pid},\"port\":60001,\"name\":\"rove\",\"state\":\"attached\"}}}}\n"
            );
            let answer = match request.contains("status") {
                true => status,
                false => "{\"protocol\":1,\"error\":\"no such request\"}\n".to_owned(),
            };
            let _ = connection.write_all(answer.as_bytes());
        }
    });
    let cases = [(&["far"][..], "no rove attach;"), (&["--view", "far"], "no rove attach --view;")];
    let said = cases.map(|(words, _)| {
        let mut refused = attach(&sshd, words);
        (refused.wait_exit().code(), refused.output().replace("\r\n", " "))
    });
    for ((_, lacks), (code, said)) in cases.into_iter().zip(said) {
        assert_eq!(code, 10, "{said}");
        assert!(said.contains("older rove") && said.contains(lacks), "{said}");
    }
}

#[test]
fn a_session_on_the_loopback_is_reached_through_ssh_alone() {
    let sshd = Sshd::start(Far::default());
    let mut first = start(&sshd, &["--tunnel"]);
    first.talk("one");
    let second = attach(&sshd, &["far"]);
    second.wait_for_text("got one");
    first.wait_exit().assert_code(79);
    second.talk("two");
    end(&sshd, "--all");
}

#[test]
fn a_client_may_come_to_another_address_of_the_host_than_the_one_before() {
    let scratch = Scratch::new();
    let call = || Maker::Rove.server().env("ROVE_RUNTIME_DIR", scratch.path("sockets"));
    let new = call().args(["new", "-i", "0.0.0.0", "-p", "0", "--", "sh", "-c", ECHOING]);
    let server = Server::from_call(LOCALHOST, new).expect("a server");
    let client = |ip: [u8; 4], key: &str| {
        let address = SocketAddr::new(ip.into(), server.address.port());
        Terminal::start(&Maker::Rove.client(address, key), SIZE)
    };
    let mut former = client([127, 0, 0, 1], &server.key);
    former.wait_for_text("here");
    former.talk("one");
    for (number, ip) in [(2, [127, 0, 0, 2]), (3, [127, 0, 0, 3]), (1, [127, 0, 0, 1])] {
        let ask = call().arg("attach");
        let told = within_guard("a key", move || ask.command().output().expect("rove starts"));
        let told = String::from_utf8(told.stdout).expect("a line");
        let connect = told.lines().find_map(|line| line.strip_prefix("MOSH CONNECT "));
        let key = connect.and_then(|line| line.split(' ').nth(1)).expect("a key").to_owned();
        let next = client(ip, &key);
        next.wait_for_text("got one");
        former.wait_exit().assert_code(79);
        next.talk(&format!("from {number}"));
        next.send("\x1es");
        next.wait_for_text(&format!("to 127.0.0.{number}:"));
        next.send("q");
        former = next;
    }
    former.send("\x04");
    former.wait_exit().assert_code(0);
}
