//! Prompts that the client remembers: in the next session, it shows keys typed at them before their echo.

use std::net::{IpAddr, Ipv4Addr};

use rove_link::LinkConfig;
use rove_shell::relay::Relay;
use rove_units::Duration;
use rustix::process::Signal;
use serde_json::json;

use crate::secrecy::pause;
use crate::support::{
    Far, Invocation, Maker, SIZE, Scratch, Server, Sshd, Terminal, relay_to, require, rove,
    side_by_side,
};

/// The prompt of all shells here.
const PROMPT: &str = "far$ ";
/// Runs a shell with [`PROMPT`], below the rows in which the client shows its status.
const SHELL: &str = "printf '\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n'; \
                     exec env PS1='far$ ' bash --norc --noprofile";
/// A script that asks a question with the same prompt and terminal modes but without echo, and then runs the shell.
const ASKS_SILENTLY: &str = "printf '\\033[?2004hfar$ '; stty raw -echo; head -c 9 > /dev/null; stty sane; \
                             printf '\\r\\n'; exec env PS1='far$ ' bash --norc --noprofile";
/// The first words of the client's status.
const STATUS: &str = "Status (any key closes this)";
/// The account whose prompts the client remembers.
const ACCOUNT: &str = "me@far.example:22";

/// Time from key to key of a line without echo. Chosen: the same as in the tests of secrets.
const KEY_GAP_MS: u64 = 80;
/// Wait before the Enter of a line without echo. Chosen: the path's round trip, and the client's wait for an echo.
const THOUGHT_MS: u64 = 450;

/// A server of rove and a server of Mosh.
const SERVERS: [Maker; 2] = [Maker::Rove, Maker::Stock];

/// A session over a slow path. Its client keeps the memory of prompts in a scratch folder.
struct Session {
    terminal: Terminal,
    _relay: Relay,
    server: Server,
    /// How many prompts the user has answered.
    lines: usize,
}

impl Session {
    fn open(server: Maker, state: &Scratch, account: &str, script: &str) -> Self {
        Self::open_with(server, state, account, script, |call| call)
    }

    fn open_with(
        server: Maker,
        state: &Scratch,
        account: &str,
        script: &str,
        more: impl FnOnce(Invocation) -> Invocation,
    ) -> Self {
        require("bash", "bash");
        let server = Server::start(server, IpAddr::V4(Ipv4Addr::LOCALHOST), &["sh", "-c", script]);
        let relay = relay_to(server.address, LinkConfig::lossless(Duration::from_millis(100)));
        let call = Maker::Rove.client(relay.address(), &server.key);
        let call = call.session_call(json!({"account": account}));
        let call = call.env("XDG_STATE_HOME", state.folder());
        let terminal = Terminal::start(&more(call), SIZE);
        let session = Self { terminal, _relay: relay, server, lines: 0 };
        session.wait_for_prompt();
        session
    }

    fn wait_for_prompt(&self) {
        let prompts = self.lines + 1;
        self.terminal.wait_for("a prompt", |screen| {
            let stands = screen.cursor_position().1 == 5;
            stands && screen.contents().matches(PROMPT.trim_end()).count() == prompts
        });
    }

    /// Types a line key by key, each key after the echo of the previous one, and then Enter.
    fn enter_line(&mut self) {
        let mut typed = PROMPT.to_owned();
        for key in ["t", "r", "u", "e"] {
            typed.push_str(key);
            self.terminal.send(key);
            self.terminal.wait_for(&typed, |screen| {
                row_of_cursor(screen) == typed
                    && usize::from(screen.cursor_position().1) == typed.len()
            });
        }
        self.terminal.send("\r");
        self.lines += 1;
        self.wait_for_prompt();
    }

    /// Returns whether the first character of a line appears while the server is stopped. Erases that character.
    fn shows_the_first_character_ahead(&self) -> bool {
        let line = format!("{PROMPT}w");
        self.server.signal(Signal::STOP);
        // The client itself draws the status, in the same frame as the character or in a later one.
        self.terminal.send("w\x1es");
        self.terminal.wait_for_text(STATUS);
        let is_seen = row_of_cursor(&self.terminal.screen()) == line;
        self.server.signal(Signal::CONT);
        self.terminal.wait_for("the echo", |screen| row_of_cursor(screen) == line);
        // The first key hides the status.
        self.terminal.send("q\x15");
        self.terminal.wait_for("an empty line", |screen| {
            row_of_cursor(screen) == PROMPT && !screen.contents().contains(STATUS)
        });
        is_seen
    }

    /// Ends the session with the escape key. If a busy computer echoed a typed `exit` too late, the client would
    /// distrust the prompt.
    fn leave(mut self) {
        self.terminal.send("\x1e.");
        self.terminal.wait_exit().assert_code(0);
    }
}

fn row_of_cursor(screen: &vt100::Screen) -> String {
    let row = usize::from(screen.cursor_position().0);
    let text = screen.rows(0, 80).nth(row).unwrap_or_default();
    // The blank at the end of a prompt may be a cell that no program has drawn.
    format!("{:<5}", text.trim_end())
}

/// Most memories in which lines are entered until one memory knows the prompt. A line with a late echo on a busy
/// computer does not count. It can also make the client distrust the prompt in this memory for ever.
const MEMORIES_MAX: usize = 8;

/// Enters three lines in a session whose memory records the prompt. Returns the memory if the next session then shows
/// the first character of a line before its echo. Tries that with several memories.
fn memory_of_three_lines(server: Maker) -> Scratch {
    let new_memory = || {
        let state = Scratch::new();
        let mut session = Session::open(server, &state, ACCOUNT, SHELL);
        (0..3).for_each(|_| session.enter_line());
        session.leave();
        shows_ahead(server, &state, ACCOUNT, |call| call).then_some(state)
    };
    let memory = (0..MEMORIES_MAX).find_map(|_| new_memory());
    memory.unwrap_or_else(|| panic!("{server:?}: the prompt is known in none of the memories"))
}

/// Returns whether a session shows the first character of its first line before its echo.
fn shows_ahead(
    server: Maker,
    state: &Scratch,
    account: &str,
    more: impl FnOnce(Invocation) -> Invocation,
) -> bool {
    let session = Session::open_with(server, state, account, SHELL, more);
    let is_seen = session.shows_the_first_character_ahead();
    session.leave();
    is_seen
}

fn forget(state: &Scratch, words: &[&str]) -> String {
    let call = Invocation::new(rove()).arg("forget").args(words);
    let output = call.env("XDG_STATE_HOME", state.folder()).command().output().expect("rove runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_prompt_of_an_earlier_session_is_known_from_the_first_line_until_it_is_forgotten() {
    side_by_side(SERVERS, |server| {
        let nothing = Scratch::new();
        assert!(
            !shows_ahead(server, &nothing, ACCOUNT, |call| call),
            "{server:?}: an empty memory"
        );
        let state = memory_of_three_lines(server);
        assert!(!shows_ahead(server, &state, "me@other.example:22", |call| call), "{server:?}");
        assert_eq!(forget(&state, &[]), "the prompts of 2 hosts are forgotten\n");
        assert!(!shows_ahead(server, &state, ACCOUNT, |call| call), "{server:?}");
    });
}

#[test]
fn a_prompt_at_which_nothing_was_echoed_is_not_known_in_the_next_session() {
    side_by_side(SERVERS, |server| {
        let state = memory_of_three_lines(server);
        let read = || std::fs::read(state.path("rove/prompts")).expect("a session has written it");
        let before = read();
        let session = Session::open(server, &state, ACCOUNT, ASKS_SILENTLY);
        for key in "topsecre".chars() {
            session.terminal.send(key.to_string());
            pause(KEY_GAP_MS);
        }
        pause(THOUGHT_MS);
        session.terminal.send("\r");
        session.terminal.wait_for("the refusal in the file", |_| read() != before);
        // A killed client cannot save anything at its end, so the file must already have the distrust.
        session.terminal.signal(Signal::KILL);
        drop(session);
        let mut session = Session::open(server, &state, ACCOUNT, SHELL);
        assert!(!session.shows_the_first_character_ahead(), "{server:?}");
        (0..3).for_each(|_| session.enter_line());
        assert!(!session.shows_the_first_character_ahead(), "{server:?}: after three lines");
        session.leave();
    });
}

#[test]
fn without_predictions_that_use_it_no_memory_is_read_or_written() {
    for preference in ["Never", "Experimental"] {
        let state = Scratch::new();
        let facts = json!({"choices": {"predict": preference}, "account": ACCOUNT});
        let with = |call: Invocation| call.session_call(facts);
        let session = Session::open_with(Maker::Rove, &state, ACCOUNT, SHELL, with);
        session.leave();
        assert!(!state.path("rove").exists(), "{preference}");
    }
}

#[test]
fn called_as_mosh_client_no_memory_is_read_or_written() {
    let state = Scratch::new();
    std::os::unix::fs::symlink(rove(), state.path("mosh-client")).expect("the folder takes links");
    let server = Server::start(Maker::Rove, IpAddr::V4(Ipv4Addr::LOCALHOST), &["sh", "-c", SHELL]);
    let (ip, port) = (server.address.ip().to_string(), server.address.port().to_string());
    let call = Invocation::new(state.path("mosh-client")).args([ip, port]);
    let call = call.env("MOSH_KEY", &server.key).session_call(json!({"account": ACCOUNT}));
    let mut terminal = Terminal::start(&call.env("XDG_STATE_HOME", state.folder()), SIZE);
    terminal.wait_for_text(PROMPT.trim_end());
    terminal.send("exit\r");
    terminal.wait_exit().assert_code(0);
    assert!(!state.path("rove").exists());
}

/// Starts a far computer for which ssh also has the name `alias`.
fn far_computer() -> Sshd {
    let sshd = Sshd::start(Far { programs: &["rove", "bash"], ..Far::default() });
    let config = std::fs::read_to_string(sshd.path("ssh_config")).expect("it was written");
    sshd.configure(&config.replace("Host far", "Host alias"));
    sshd
}

#[test]
fn a_host_is_remembered_as_ssh_resolves_it_and_forgotten_by_any_alias() {
    let (sshd, state) = (far_computer(), Scratch::new());
    let ssh = format!("--ssh={}", sshd.ssh());
    let session = |config: &str| {
        let call = Invocation::new(rove()).args([&*ssh, "far", "--", "sh", "-c", SHELL]);
        let call = call.env("ROVE_CONFIG", state.write("config.toml", config));
        let mut terminal = Terminal::start(&call.env("XDG_STATE_HOME", state.folder()), SIZE);
        terminal.wait_for_text(PROMPT.trim_end());
        terminal.send("exit\r");
        terminal.wait_exit().assert_code(0);
    };
    session("prompt-memory = false");
    assert!(!state.path("rove").exists());
    session("[host.far]\nprompt-memory = false");
    assert!(!state.path("rove").exists());
    session("");
    let said = forget(&state, &[&ssh, "-l", "nobody", "alias"]);
    assert!(said.starts_with("nothing was remembered of nobody@127.0.0.1:"), "{said}");
    let said = forget(&state, &[&ssh, "alias"]);
    assert!(said.starts_with("the prompts of ") && said.contains("@127.0.0.1:"), "{said}");
    assert_eq!(forget(&state, &[]), "nothing was remembered\n");
}

#[test]
fn a_file_that_is_not_the_users_alone_is_named_and_left() {
    use std::os::unix::fs::PermissionsExt;

    let state = Scratch::new();
    let session = Session::open(Maker::Rove, &state, ACCOUNT, SHELL);
    session.leave();
    let file = state.path("rove/prompts");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("it is there");
    let call = Invocation::new(rove()).arg("forget").env("XDG_STATE_HOME", state.folder());
    let output = call.command().output().expect("rove runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("rove/prompts") && said.contains("remove it"), "{said}");
    assert!(file.exists());
    // The session works although the client cannot write the file.
    let mut session = Session::open(Maker::Rove, &state, ACCOUNT, SHELL);
    session.enter_line();
    session.leave();
}
