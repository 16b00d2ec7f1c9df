//! `rove install` copies rove to a host, by a real ssh through a real sshd.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rustix::process::Signal;

use crate::bootstrap::Master;
use crate::support::{
    Far, Invocation, Maker, PASSWORD, SIZE, Scratch, Sshd, Terminal, install_script, require, rove,
    side_by_side, within_guard,
};

/// A host without rove and mosh-server.
const EMPTY: Far = Far { shell: "sh", programs: &[], profile: "", banner: "" };

/// C source of a static program that executes the rove under test. That rove is not static if cargo builds it for
/// glibc. The version of the build follows the mark.
const STUB: &str = r#"
#include <unistd.h>
const char mark[] = "\001rove-build VERSION\001";
int main(int argc, char **argv) {
    execv("PROGRAM", argv);
    return mark[0] + argc;
}
"#;

/// Compiles [`STUB`] for a host with this machine's architecture.
fn build(scratch: &Scratch) -> PathBuf {
    let compiler = require("cc", "gcc");
    let text = STUB
        .replace("VERSION", env!("CARGO_PKG_VERSION"))
        .replace("PROGRAM", rove().to_str().expect("the path is UTF-8"));
    let source = scratch.write("stub.c", &text);
    let program = scratch.path("build");
    let status = Command::new(compiler).arg("-static").arg("-o").arg(&program).arg(source).status();
    assert!(status.expect("the compiler starts").success());
    program
}

/// Returns a call of `rove install` for this host.
fn install(sshd: &Sshd, build: &Path, words: &[&str]) -> Invocation {
    let call = Invocation::new(rove()).args(["install", &format!("--ssh={}", sshd.ssh())]);
    call.arg("--build").arg(build).args(words).arg("far")
}

fn run(call: &Invocation) -> (Output, String) {
    let output = call.command().output().expect("rove starts");
    let said = [&output.stdout[..], &output.stderr].concat();
    (output, String::from_utf8_lossy(&said).into_owned())
}

/// Returns the names of the files in the host's folder `~/.local/bin`.
fn folder(sshd: &Sshd) -> Vec<String> {
    let Ok(entries) = fs::read_dir(sshd.path(".local/bin")) else { return Vec::new() };
    entries
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect()
}

/// Replaces the host's program `name` by this script.
fn replace(sshd: &Sshd, name: &str, script: &str) {
    let path = sshd.path("bin").join(name);
    let _ = fs::remove_file(&path);
    install_script(&path, script);
}

#[test]
fn a_host_without_the_folder_gets_rove_and_the_second_time_nothing_is_sent() {
    let scratch = Scratch::new();
    let build = build(&scratch);
    let sshd = Sshd::start(Far { profile: "echo Welcome", ..EMPTY });
    let (output, said) = run(&install(&sshd, &build, &[]));
    assert!(output.status.success(), "{said}");
    assert!(said.contains("copied rove ") && said.contains(" to far:~/.local/bin/rove"), "{said}");
    assert_eq!(folder(&sshd), ["rove"]);
    assert_eq!(fs::read(sshd.path(".local/bin/rove")).unwrap(), fs::read(&build).unwrap());
    let mode = fs::metadata(sshd.path(".local/bin/rove")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    let (output, said) = run(&install(&sshd, &build, &[]));
    assert!(output.status.success() && said.contains("is this very rove already"), "{said}");
    // The printed result leaves out the output of start-up files.
    assert!(!String::from_utf8_lossy(&output.stdout).contains("Welcome"), "{said}");
}

#[test]
fn a_newer_rove_stays_unless_it_is_forced_out() {
    let scratch = Scratch::new();
    let build = build(&scratch);
    let sshd = Sshd::start(EMPTY);
    fs::create_dir_all(sshd.path(".local/bin")).unwrap();
    let newer = "#!/bin/sh\necho rove 99.0.0\n";
    install_script(&sshd.path(".local/bin/rove"), newer);
    let (output, said) = run(&install(&sshd, &build, &[]));
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("far has rove 99.0.0, which is newer than "), "{said}");
    assert!(said.contains("--force"), "{said}");
    // With a terminal, rove asks the user.
    let mut terminal = Terminal::start(&install(&sshd, &build, &[]), SIZE);
    terminal.wait_for_text("Replace it? [y/N]");
    terminal.send("n\r");
    terminal.wait_exit().assert_code(1);
    assert_eq!(fs::read_to_string(sshd.path(".local/bin/rove")).unwrap(), newer);
    let (output, said) = run(&install(&sshd, &build, &["--force"]));
    assert!(output.status.success(), "{said}");
    assert_eq!(fs::read(sshd.path(".local/bin/rove")).unwrap(), fs::read(&build).unwrap());
}

#[test]
fn a_host_of_another_kind_is_named_with_what_to_do() {
    let scratch = Scratch::new();
    let build = build(&scratch);
    let sshd = Sshd::start(EMPTY);
    let uname = "#!/bin/sh\nif [ \"$1\" = -m ]; then echo aarch64; else echo Linux; fi\n";
    replace(&sshd, "uname", uname);
    let (output, said) = run(&install(&sshd, &build, &[]));
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(", not for Linux on aarch64;"), "{said}");
    let data = scratch.folder().display().to_string();
    let call = Invocation::new(rove()).env("XDG_DATA_HOME", &data);
    let call = call.args(["install", &format!("--ssh={}", sshd.ssh()), "far"]);
    let (_, said) = run(&call);
    let reason = "there is no rove for Linux on aarch64 on this computer";
    assert_eq!(said.matches(reason).count(), 1, "{said}");
    assert!(
        said.contains("dist --install --target linux-aarch64")
            && said.contains("rove-linux-aarch64"),
        "{said}"
    );
    assert!(said.contains(&format!("{data}/rove/builds")), "{said}");
    assert_eq!(folder(&sshd), [""; 0]);
}

#[test]
fn a_program_that_cannot_be_copied_is_not_offered() {
    let scratch = Scratch::new();
    let sshd = Sshd::start(EMPTY);
    let uname = "#!/bin/sh\nif [ \"$1\" = -m ]; then echo aarch64; else echo Linux; fi\n";
    replace(&sshd, "uname", uname);
    let ssh = format!("--ssh={}", sshd.ssh());
    let reason = "rove install far has no rove for Linux on aarch64 yet, and says how to get one";
    for words in [&[ssh.as_str(), "far"][..], &[&ssh, "--tunnel", "far"], &["doctor", &ssh, "far"]]
    {
        let call = Invocation::new(rove()).args(words).env("XDG_DATA_HOME", scratch.folder());
        let mut terminal = Terminal::start(&call, SIZE);
        let exit = terminal.wait_exit();
        let said = exit.output.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(reason), "{words:?}: {said}");
        assert!(!said.contains("copies rove there"), "{words:?}: {said}");
    }
}

#[test]
fn a_build_in_the_users_folder_is_taken_where_the_running_program_does_not_fit() {
    let scratch = Scratch::new();
    let program = build(&scratch);
    let builds = scratch.path("data/rove/builds");
    fs::create_dir_all(&builds).unwrap();
    let name = format!("rove-linux-{}", std::env::consts::ARCH);
    symlink(&program, builds.join(name)).unwrap();
    let sshd = Sshd::start(EMPTY);
    let call = Invocation::new(rove()).env("XDG_DATA_HOME", scratch.path("data"));
    let (output, said) =
        run(&call.args(["install", &format!("--ssh={}", sshd.ssh()), "-q", "far"]));
    assert!(output.status.success() && said.is_empty(), "{said}");
    assert_eq!(folder(&sshd), ["rove"]);
}

#[test]
fn a_home_that_nobody_can_write_to_is_named() {
    let scratch = Scratch::new();
    let build = build(&scratch);
    // Not even root can make a folder in `/proc`.
    let sshd = Sshd::start(Far { profile: "HOME=/proc", ..EMPTY });
    let (output, said) = run(&install(&sshd, &build, &[]));
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("cannot create ~/.local/bin on far (mkdir: "), "{said}");
}

#[test]
fn a_transfer_that_is_cut_short_leaves_nothing() {
    let scratch = Scratch::new();
    let build = build(&scratch);
    let sshd = Sshd::start(EMPTY);
    // This ssh passes on a part of the program and then closes the host's input.
    let words = format!("head -c 100000 | {} \"$@\"", sshd.ssh());
    let ssh = format!("--ssh=sh -c '{words}' ssh");
    let call = Invocation::new(rove()).args(["install", &ssh, "--build"]).arg(&build).arg("far");
    let (output, said) = run(&call);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("bytes of rove arrived on far, so nothing was changed there"), "{said}");
    assert_eq!(folder(&sshd), [""; 0]);
}

#[test]
fn a_connection_that_breaks_leaves_nothing_and_is_told_of() {
    let scratch = Scratch::new();
    let build = build(&scratch);
    let sshd = Sshd::start(EMPTY);
    // This ssh passes on a part of the program and then waits.
    let more =
        "exec 3<&0; exec SSH \"$@\" < <(head -c 100000 <&3; exec tail --pid=$$ -f /dev/null)";
    let script = format!("#!/bin/bash\n{}\n", more.replace("SSH", &sshd.ssh()));
    let ssh = scratch.script("ssh", &script);
    let call = Invocation::new(rove()).arg("install").arg(format!("--ssh={}", ssh.display()));
    let mut terminal = Terminal::start(&call.arg("--build").arg(&build).arg("far"), SIZE);
    // The bar shows how many bytes have arrived on the host.
    terminal.wait_for("the bar", |screen| screen.contents().contains("0.1 MB of"));
    assert_eq!(folder(&sshd).len(), 1, "the part has a name of its own");
    assert_ne!(folder(&sshd), ["rove"]);
    sshd.cut();
    let exit = terminal.wait_exit();
    exit.assert_code(1).assert_restored(Maker::Rove);
    let text = exit.screen.contents();
    assert!(text.contains("the connection to far ended after 0.1 MB of "), "{text}");
    crate::support::within_guard("the host to tidy up", move || {
        while !folder(&sshd).is_empty() {
            crate::support::pause(std::time::Duration::from_millis(5));
        }
    });
}

/// Returns a call of `rove far` with this configuration. The call finds the build.
fn session(scratch: &Scratch, sshd: &Sshd, config: &str) -> Invocation {
    session_by(scratch, &sshd.ssh(), config, "echo hello from afar; exit 7")
}

/// Works as [`session`] does, with the ssh command line `ssh` and a session that runs the sh text `script`.
pub(crate) fn session_by(scratch: &Scratch, ssh: &str, config: &str, script: &str) -> Invocation {
    let program = build(scratch);
    let builds = scratch.path("data/rove/builds");
    fs::create_dir_all(&builds).expect("the scratch folder takes folders");
    let name = format!("rove-linux-{}", std::env::consts::ARCH);
    symlink(&program, builds.join(name)).expect("the folder takes links");
    let config = scratch.write("config.toml", config);
    Invocation::new(rove())
        .env("XDG_DATA_HOME", scratch.path("data"))
        .env("ROVE_CONFIG", config)
        .arg(format!("--ssh={ssh}"))
        .args(["far", "--", "sh", "-c", script])
}

#[test]
fn a_host_without_a_server_is_offered_one_and_a_yes_leads_into_the_session() {
    let scratch = Scratch::new();
    let sshd = Sshd::start(EMPTY);
    let mut terminal = Terminal::start(&session(&scratch, &sshd, ""), SIZE);
    terminal.wait_for_text("to far:~/.local/bin? [y/N]");
    assert!(folder(&sshd).is_empty());
    terminal.send("y\r");
    let exit = terminal.wait_exit();
    assert!(exit.output.contains("hello from afar"), "{}\n{}", terminal.dump(), sshd.log());
    exit.assert_code(7).assert_restored(Maker::Rove);
    assert_eq!(folder(&sshd), ["rove"]);
}

#[test]
fn the_offer_is_declined_by_no_and_answered_by_the_configuration() {
    for (config, asks, code) in [
        ("", true, 10),
        ("install = 'never'", false, 10),
        ("[host.far]\ninstall = 'always'", false, 7),
    ] {
        let scratch = Scratch::new();
        let sshd = Sshd::start(EMPTY);
        let mut terminal = Terminal::start(&session(&scratch, &sshd, config), SIZE);
        if asks {
            terminal.wait_for_text("[y/N]");
            terminal.send("\r");
        }
        let exit = terminal.wait_exit();
        exit.assert_code(code);
        assert_eq!(exit.output.contains("[y/N]"), asks, "{}", exit.output);
        let is_named = exit.output.contains("neither rove nor mosh-server found on far");
        assert_eq!(is_named, code == 10, "{}", exit.output);
        assert_eq!(folder(&sshd).is_empty(), code == 10);
    }
}

#[test]
fn nobody_is_asked_without_a_terminal() {
    let scratch = Scratch::new();
    let sshd = Sshd::start(EMPTY);
    // A client program that the user configures needs no terminal.
    let call = session(&scratch, &sshd, "client = '/bin/true'");
    let output = call.command().stdin(std::process::Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(10), "{said}");
    assert!(!said.contains("[y/N]") && said.contains("rove install far"), "{said}");
}

/// The user's reactions to rove's offer to copy itself to a host.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    Yes,
    /// The user agrees, but the host cannot store the copy.
    Vain,
    No,
    Interrupt,
    /// A signal kills rove.
    Death,
}

/// Returns how many of ssh's sockets are in a folder. It leaves out a session's socket for calls, and its record.
fn count_sockets(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).expect("rove made it").map_while(Result::ok);
    let is_sshs = |entry: &fs::DirEntry| {
        entry.file_type().is_ok_and(|kind| kind.is_socket())
            && !entry.file_name().to_string_lossy().starts_with("gate-")
    };
    entries.filter(is_sshs).count()
}

/// Waits until ssh has removed its socket, which ssh does after its connection has ended.
fn wait_for_no_socket(folder: &Path) {
    let folder = folder.to_owned();
    within_guard("the end of the socket", move || {
        while count_sockets(&folder) > 0 {
            crate::support::pause(std::time::Duration::from_millis(5));
        }
    });
}

#[test]
fn a_password_is_asked_for_once_and_the_connection_is_gone_with_the_run() {
    let ways = [
        (Answer::Yes, "", 7),
        (Answer::Vain, "HOME=/proc", 10),
        (Answer::No, "", 10),
        (Answer::Interrupt, "", 128 + 2),
        (Answer::Death, "", 128 + 9),
    ];
    const TUNNEL: &str = "tunnel = true";
    let configs = ["", "no-ssh-pty = true", TUNNEL];
    let ways = ways.into_iter().flat_map(|way| configs.map(|config| (way, config)));
    let script = "echo hello from afar; read -r line; exit 7";
    side_by_side(ways, |((answer, profile, code), config)| {
        let scratch = Scratch::new();
        let Some(sshd) = Sshd::start_with_password(Far { profile, ..EMPTY }) else { return };
        let sockets = scratch.path("sockets");
        let call = session_by(&scratch, &sshd.ssh(), config, script);
        let call = call.env("ROVE_RUNTIME_DIR", &sockets);
        let mut terminal = Terminal::start(&call, SIZE);
        terminal.wait_for_text("password:");
        terminal.send(format!("{PASSWORD}\r"));
        terminal.wait_for_text("to far:~/.local/bin? [y/N]");
        assert_eq!(count_sockets(&sockets), 1, "the connection is open");
        match answer {
            Answer::Yes | Answer::Vain => terminal.send("y\r"),
            Answer::No => terminal.send("\r"),
            Answer::Interrupt => terminal.send("\x03"),
            Answer::Death => terminal.signal(Signal::KILL),
        }
        if answer == Answer::Yes {
            terminal.wait_for_text("hello from afar");
            if config != TUNNEL {
                // A session over UDP does not keep the ssh connection open.
                sshd.wait_alone();
            }
            wait_for_no_socket(&sockets);
            terminal.send("\r");
        }
        let exit = terminal.wait_exit();
        exit.assert_code(code);
        let said = exit.output.escape_debug();
        assert_eq!(exit.output.matches("password:").count(), 1, "{said}\n{}", sshd.log());
        assert_eq!(sshd.connections(), 1, "{said}");
        assert_eq!(exit.output.contains("hello from afar"), answer == Answer::Yes, "{said}");
        sshd.wait_alone();
        if answer != Answer::Death {
            wait_for_no_socket(&sockets);
        }
    });
}

#[test]
fn a_login_that_ends_while_the_host_is_silent_leaves_no_connection() {
    let silent = Far { profile: "echo hello from afar; exec sleep 1000", ..EMPTY };
    let ways = [Some(Signal::KILL), Some(Signal::TERM), None];
    let ways = ways.into_iter().flat_map(|way| ["", "install = 'never'"].map(|it| (way, it)));
    side_by_side(ways, |(signal, config)| {
        let scratch = Scratch::new();
        let sshd = Sshd::start(silent);
        let terminal = Terminal::start(&session(&scratch, &sshd, config), SIZE);
        terminal.wait_for_text("hello from afar");
        let _window = match signal {
            Some(signal) => {
                terminal.signal(signal);
                Some(terminal)
            }
            None => {
                terminal.close_window();
                None
            }
        };
        sshd.wait_alone();
    });
}

#[test]
fn a_window_closed_at_the_offer_ends_the_connection() {
    let scratch = Scratch::new();
    let sshd = Sshd::start(EMPTY);
    let terminal = Terminal::start(&session(&scratch, &sshd, ""), SIZE);
    terminal.wait_for_text("[y/N]");
    terminal.close_window();
    sshd.wait_alone();
}

#[test]
fn an_offered_copy_leads_into_the_session_with_any_connections() {
    for (case, logins) in [
        ("usual", 1),
        // The configuration tells ssh to keep connections open, but the login of a session ignores this.
        ("configured", 1),
        ("open", 1),
        ("another program", 3),
        ("a folder that others may enter", 3),
        ("a long path", 3),
    ] {
        let scratch = Scratch::new();
        let sshd = Sshd::start(EMPTY);
        let sockets = match case {
            "a long path" => scratch.path(&"x".repeat(90)),
            _ => scratch.path("sockets"),
        };
        let mut _master = None;
        let mut ssh = sshd.ssh();
        match case {
            "configured" => sshd.configure(&format!(
                " ControlMaster auto\n ControlPath {}\n ControlPersist 60\n",
                scratch.path("cm").display()
            )),
            "open" => _master = Some(Master::open(&sshd)),
            "another program" => {
                let script = scratch.script("login", &format!("#!/bin/sh\nexec {ssh} \"$@\"\n"));
                ssh = script.display().to_string();
            }
            "a folder that others may enter" => {
                fs::create_dir(&sockets).expect("the scratch folder takes a folder");
                let mode = fs::Permissions::from_mode(0o755);
                fs::set_permissions(&sockets, mode).expect("it is ours");
            }
            _ => {}
        }
        let script = "echo hello from afar; exit 7";
        let call = session_by(&scratch, &ssh, "install = 'always'", script);
        let call = call.env("ROVE_RUNTIME_DIR", &sockets);
        let exit = Terminal::start(&call, SIZE).wait_exit();
        assert!(exit.output.contains("hello from afar"), "{case}: {}", exit.output);
        exit.assert_code(7).assert_restored(Maker::Rove);
        assert_eq!(sshd.connections(), logins, "{case}");
    }
}
