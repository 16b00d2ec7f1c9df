//! Settings of ssh that a login by rove obeys as ssh itself does.

use crate::support::{Far, Invocation, Scratch, Sshd, Terminal, require, rove};

/// A command that prints the address from which ssh connected, and exits with status 7.
const HELLO: [&str; 4] = ["--", "sh", "-c", "echo hello to ${SSH_CONNECTION%% *}; exit 7"];

/// Logs in to `host` by this call. Returns the client's output.
fn log_in(call: Invocation, host: &str) -> String {
    let exit = Terminal::start(&call.arg(host).args(HELLO), (24, 200)).wait_exit();
    assert!(exit.output.contains("hello to"), "{}", exit.output.escape_debug());
    exit.assert_code(7);
    exit.output
}

#[test]
fn a_name_that_ssh_completes_has_the_section_of_the_whole_name() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let sshd = Sshd::start(Far::default());
    let config = std::fs::read_to_string(sshd.path("ssh_config")).expect("it is there");
    let section = config.replace("Host far\n HostName 127.0.0.1\n", "");
    let scratch = Scratch::new();
    let config = scratch.write(
        "ssh_config",
        &format!(
            "CanonicalizeHostname yes\nCanonicalDomains corp.example\n\
             Match canonical host far.corp.example\n{section}"
        ),
    );
    // ssh asks the resolver for the name with a dot at its end.
    let names = scratch.write("hosts", "127.0.0.1 far.corp.example far.corp.example.\n");
    let mount = "mount --bind \"$0\" /etc/hosts && exec \"$@\"";
    let call = Invocation::new(rove()).arg("-F").arg(config);
    log_in(call.behind_mounts(&[mount, &names.display().to_string()]), "far");
}

#[test]
fn an_unknown_key_is_asked_about_although_the_words_of_ssh_go_to_a_file() {
    let sshd = Sshd::start(Far::default());
    let settings = ["BatchMode=no", "StrictHostKeyChecking=ask"].map(|it| ["-o", it]);
    let call =
        Invocation::new(rove()).arg("-E").arg(sshd.path("words")).args(settings.as_flattened());
    let call = call.arg(format!("--ssh={}", sshd.ssh())).arg("far").args(HELLO);
    let mut terminal = Terminal::start(&call, (24, 200));
    terminal.wait_for_text("continue connecting");
    terminal.send("yes\r");
    let exit = terminal.wait_exit();
    assert!(exit.output.contains("hello to"), "{}", exit.output.escape_debug());
    exit.assert_code(7);
}

#[test]
fn ssh_comes_from_the_address_that_the_user_has_chosen() {
    let sshd = Sshd::start(Far::default());
    let ssh = format!("--ssh={}", sshd.ssh());
    for words in [["-b", "127.0.0.7"], ["-o", "BindAddress=127.0.0.7"]] {
        let call = Invocation::new(rove()).args(words).arg(&ssh);
        let output = log_in(call, "far");
        assert!(output.contains("hello to 127.0.0.7"), "{}", output.escape_debug());
    }
}

#[test]
fn a_host_that_has_no_address_is_reached_through_ssh_alone() {
    let sshd = Sshd::start(Far::default());
    let program = require("sshd", "openssh-server");
    let (config, log) = (sshd.path("sshd_config"), sshd.path("log"));
    let proxy = format!("{} -i -f {} -E {}", program.display(), config.display(), log.display());
    sshd.configure(&format!(" ProxyCommand {proxy}\n"));
    let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh()));
    let output = log_in(call, "far");
    assert!(output.contains("hello to UNKNOWN"), "{}", output.escape_debug());
    assert!(!output.contains("MOSH"), "{}", output.escape_debug());
    let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh()));
    let call = call.args(["--no-tunnel", "far"]);
    let exit = Terminal::start(&call, (24, 200)).wait_exit();
    exit.assert_code(10);
    assert!(exit.output.contains("try --tunnel"), "{}", exit.output.escape_debug());
}
