use std::path::Path;
use std::process::Command;

use rove_rig::scratch::Scratch;

use super::*;
use crate::options::{Joined, Passage};
use crate::program_name::ProgramName;

/// A simulated host: a home directory with programs that print how they were called.
struct Host {
    home: Scratch,
}

impl Host {
    fn new() -> Self {
        Self { home: Scratch::new() }
    }

    fn install(&self, path: &str) {
        let script = "#!/bin/sh\nprintf '%s' \"${0##*/}\"; printf ' [%s]' \"$@\"; echo\n";
        self.home.script(path, script);
    }

    /// Runs `command` as sshd would, in `shell`; `None` if the shell is not installed.
    fn run(&self, shell: &str, command: &OsStr) -> Option<String> {
        let shell = ["/bin", "/usr/bin"]
            .map(|directory| Path::new(directory).join(shell))
            .into_iter()
            .find(|path| path.exists())?;
        let search_path = format!("{}:/usr/bin:/bin", self.home.join("bin").display());
        let output = Command::new(shell)
            .arg("-c")
            .arg(command)
            .env_clear()
            .env("HOME", self.home.folder())
            .env("PATH", search_path)
            .env("LC_ALL", "C.UTF-8")
            .env("SSH_CONNECTION", "192.0.2.1 50000 192.0.2.7 22")
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        Some(String::from_utf8(output.stdout).unwrap())
    }
}

const SHELLS: [&str; 8] = ["sh", "dash", "bash", "rbash", "zsh", "fish", "csh", "tcsh"];
const ADDRESS: &str = "\nROVE START 00000000000000000000000000000000\nMOSH SSH_CONNECTION 192.0.2.1 50000 192.0.2.7 22\n";

/// The line that precedes the output of a stock server.
const STOCK: &str = "ROVE STOCK 00000000000000000000000000000000\n";

/// A run's challenge: 32 zeros.
fn challenge() -> Challenge {
    Challenge::from_bytes([0; 16])
}

fn arguments() -> Vec<OsString> {
    ["new", "-l", "LANG=it's", "--", "echo", "a b!\\$x\"", ""].map(OsString::from).to_vec()
}

const RECEIVED: &str = "[new] [-l] [LANG=it's] [--] [echo] [a b!\\$x\"] []\n";

#[test]
fn every_login_shell_finds_rove_first_and_hands_the_arguments_over_whole() {
    let host = Host::new();
    host.install("bin/rove");
    host.install("bin/mosh-server");
    for shell in SHELLS {
        if let Some(output) =
            host.run(shell, &searching("", &challenge(), &arguments(), Some(""), false, false))
        {
            assert_eq!(output, format!("{ADDRESS}rove [server] {RECEIVED}"), "{shell}");
        }
    }
}

#[test]
fn rove_in_a_directory_of_the_user_is_preferred_to_an_installed_mosh_server() {
    for directory in [".local/bin", ".cargo/bin"] {
        let host = Host::new();
        host.install(&format!("{directory}/rove"));
        host.install("bin/mosh-server");
        let output = host
            .run("sh", &searching("", &challenge(), &arguments(), Some(""), false, false))
            .unwrap();
        assert_eq!(output, format!("{ADDRESS}rove [server] {RECEIVED}"), "{directory}");
    }
}

#[test]
fn without_rove_a_mosh_server_runs() {
    let host = Host::new();
    host.install("bin/mosh-server");
    for shell in SHELLS {
        if let Some(output) =
            host.run(shell, &searching("", &challenge(), &arguments(), Some(""), false, false))
        {
            assert_eq!(output, format!("{ADDRESS}{STOCK}mosh-server {RECEIVED}"), "{shell}");
        }
    }
}

#[test]
fn only_a_stock_server_is_told_to_bind_where_ssh_arrived() {
    for (program, line, received) in [
        ("rove", "", RECEIVED.replacen("[new]", "[server] [new]", 1)),
        ("mosh-server", STOCK, RECEIVED.replacen("[new]", "[new] [-s]", 1)),
    ] {
        let host = Host::new();
        host.install(&format!("bin/{program}"));
        for shell in SHELLS {
            if let Some(output) = host
                .run(shell, &searching("", &challenge(), &arguments(), Some("-s"), false, false))
            {
                assert_eq!(output, format!("{ADDRESS}{line}{program} {received}"), "{shell}");
            }
        }
    }
}

#[test]
fn the_search_says_when_it_found_nothing() {
    // The machine that runs the tests may have a mosh-server, so the command looks for other names.
    let host = Host::new();
    let system = host.run("sh", OsStr::new("echo $(uname -s) $(uname -m)")).unwrap();
    // With `waits` and `carries`, the command waits for a line, and ends when its input ends.
    for both in [false, true] {
        let command = searching("", &challenge(), &arguments(), Some(""), both, both);
        let command = command.into_string().unwrap().replace("mosh-server", "no-such-server");
        let command = OsString::from(command.replace("p in rove", "p in no-rove"));
        for shell in SHELLS {
            if let Some(output) = host.run(shell, &command) {
                let wanted = format!("{ADDRESS}{SYSTEM} {system}{NO_SERVER_PROGRAM}\n");
                assert_eq!(output, wanted, "{shell}");
            }
        }
    }
}

/// A server's output that would be two lines if a shell interpreted its backslash.
const BACKSLASH: &str =
    "ROVE SESSION 60002 bash [x\\nMOSH CONNECT 60001 4NeCCgvZFe2RnPgrcU1PQw\\0101\\c]";

#[test]
fn no_shell_interprets_a_backslash_in_a_servers_output() {
    let host = Host::new();
    host.home.script("bin/rove", &format!("#!/bin/sh\nprintf '%s\\n' '{BACKSLASH}'; exit 1\n"));
    for shell in SHELLS {
        let searching = searching("", &challenge(), &arguments(), Some(""), true, true);
        for command in [searching, tunnel(None, &challenge(), &arguments(), false)] {
            if let Some(output) = host.run(shell, &command) {
                assert_eq!(output, format!("{ADDRESS}{BACKSLASH}\n"), "{shell}");
            }
        }
    }
}

#[test]
fn a_shell_without_its_own_printf_gives_the_key_to_no_program() {
    // The functions imitate a shell whose `printf` is a program. All users see a program's arguments.
    let script = format!(
        "command() {{ echo /usr/bin/printf; }}; printf() {{ echo shown; }}; print() {{ echo \"$3\"; }}; \
         serve() {{ echo 'MOSH CONNECT 60001 key'; return 1; }}; {}",
        carrying("serve", "t")
    );
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "MOSH CONNECT 60001 key\n");
}

#[test]
fn a_named_server_is_a_piece_of_shell() {
    let host = Host::new();
    host.install("bin/my-server");
    for shell in SHELLS {
        if let Some(output) = host
            .run(shell, &named(OsStr::new("env A=b my-server -x"), "", &challenge(), &arguments()))
        {
            assert_eq!(output, format!("{ADDRESS}my-server [-x] {RECEIVED}"), "{shell}");
        }
    }
}

#[test]
fn every_login_shell_starts_a_server_and_then_the_far_end_of_a_tunnel() {
    let host = Host::new();
    host.install(".local/bin/rove");
    let script = "#!/bin/sh\necho; echo MOSH CONNECT 60001 key; printf '[%s]' \"$@\"; echo\n";
    host.home.script("bin/my-server", script);
    let said = "MOSH CONNECT 60001 key\n";
    for shell in SHELLS {
        let server = OsStr::new("env A=b my-server -x");
        if let Some(output) =
            host.run(shell, &tunnel(Some(server), &challenge(), &arguments(), false))
        {
            let received = RECEIVED.trim_end().replace("] [", "][");
            let wanted = format!("{ADDRESS}\n{said}[-x]{received}\nrove [tunnel] [60001]\n");
            assert_eq!(output, wanted, "{shell}");
        }
        if let Some(output) = host.run(shell, &tunnel(None, &challenge(), &arguments(), true)) {
            let wanted = format!("{ADDRESS}rove [server] {RECEIVED}rove [tunnel] []\n");
            assert_eq!(output, wanted, "{shell}");
        }
        if let Some(output) = host.run(shell, &tunnel_again("60001", &challenge())) {
            let first = first_line(&challenge());
            assert_eq!(output, format!("\n{first}\nrove [tunnel] [60001]\n"), "{shell}");
        }
        let carrying = searching("", &challenge(), &arguments(), Some("-s"), true, true);
        if let Some(output) = host.run(shell, &carrying) {
            let wanted = format!("{ADDRESS}rove [server] {RECEIVED}rove [tunnel] []\n");
            assert_eq!(output, wanted, "{shell}");
        }
    }
}

#[test]
fn stock_commands_are_stocks_to_the_byte() {
    let args = ["new", "-c", "256", "-s", "--", "it's"].map(OsString::from);
    assert_eq!(
        stock(OsStr::new("mosh-server"), &args, false),
        r"mosh-server 'new' '-c' '256' '-s' '--' 'it'\''s'"
    );
    assert_eq!(
        stock(OsStr::new("mosh-server"), &args[..1], true),
        r#"sh -c '[ -n "$SSH_CONNECTION" ] && printf "\nMOSH SSH_CONNECTION %s\n" "$SSH_CONNECTION"' ; mosh-server 'new'"#
    );
}

#[test]
fn every_login_shell_runs_a_command_of_roves_wherever_rove_is() {
    let word = "0".repeat(32);
    for place in ["bin/rove", ".local/bin/rove", ".cargo/bin/rove"] {
        let host = Host::new();
        host.install(place);
        for shell in SHELLS {
            if let Some(output) =
                host.run(shell, &rove(&challenge(), OsStr::new("me@it's"), &arguments()))
            {
                assert_eq!(output, format!("\nROVE START {word}\nrove {RECEIVED}"), "{shell}");
            }
            let script = "printf '%s.' \"$@\"";
            let command = script_with(&challenge(), script, &["a b!".into(), "".into()]);
            if let Some(output) = host.run(shell, &command) {
                assert_eq!(output, format!("\nROVE START {word}\na b!.."), "{shell}");
            }
        }
    }
    let host = Host::new();
    for shell in SHELLS {
        if let Some(output) =
            host.run(shell, &rove(&challenge(), OsStr::new("me@it's"), &arguments()))
        {
            assert_eq!(output, format!("\nROVE NO ROVE {word}\n"), "{shell}");
        }
    }
}

#[test]
fn a_server_without_a_program_is_told_nothing_about_one() {
    let passage =
        Passage { joined: Joined::Port("host:22".to_owned()), gates: "gate\n".to_owned() };
    let options = HostOptions {
        name: ProgramName::Rove,
        session: WantedSession::Streams(passage),
        port: Some("60010".to_owned()),
        ..HostOptions::default()
    };
    let variables = vec![("LANG".to_owned(), "C.UTF-8".to_owned())];
    assert_eq!(server_arguments(&options, 256, variables.clone()), ["streams", "-p", "60010"]);
    let options = HostOptions { no_program: true, ..options };
    assert_eq!(server_arguments(&options, 256, variables.clone()), ["streams", "-p", "60010"]);
    let options = HostOptions { session: WantedSession::New, ..options };
    assert_eq!(server_arguments(&options, 256, variables), ["forwards", "-p", "60010"]);
}
