//! rove replaces characters that hide or reorder other text wherever it prints text from a host.

use crate::support::{
    Far, Invocation, SIZE, Sshd, Terminal, answered, install_script, rove, side_by_side,
};

/// Directional overrides and isolates, separators, zero-width spaces, a tag, a soft hyphen, a mark, a C1 control, DEL.
const HIDING: &str =
    "\u{202e}\u{2066}\u{2069}\u{2028}\u{2029}\u{200b}\u{feff}\u{e0041}\u{ad}\u{61c}\u{9b}\u{7f}";

/// Returns the characters of `text` that are in [`HIDING`].
fn hiding(text: &str) -> Vec<char> {
    text.chars().filter(|c| HIDING.contains(*c)).collect()
}

/// Starts a host with this profile and with a `uname` that prints hiding characters and then a visible word.
fn host(profile: &'static str) -> Sshd {
    let sshd = Sshd::start(Far { profile, ..Far::default() });
    let uname = sshd.path("bin").join("uname");
    std::fs::remove_file(&uname).expect("the far computer has it");
    install_script(&uname, &format!("#!/bin/sh\necho 'Linux system{HIDING}said'\n"));
    sshd
}

#[test]
fn no_text_of_a_host_hides_or_turns_around_what_stands_beside_it() {
    let profile = format!("echo 'out{HIDING}said'; echo 'err{HIDING}said' >&2").leak();
    let sshd = host(profile);
    let ssh = format!("--ssh={}", sshd.ssh());
    let command = format!("printf '\\033]2;title{HIDING}said\\007'; echo here; cat");
    let call = Invocation::new(rove()).arg(&ssh).args(["far", "--", "sh", "-c", &command]);
    let session = Terminal::start(&call, SIZE);
    session.wait_for_text("here");
    let script = "echo hello from afar";
    side_by_side([&[][..], &["--tunnel"]], |options| {
        let call = Invocation::new(rove()).arg(&ssh).args(options);
        let call = call.args(["far", "--", "sh", "-c", script]);
        let exit = Terminal::start(&call, SIZE).wait_exit();
        let said = &exit.output;
        let is_shown = said.contains("outsaid") && said.contains("errsaid");
        assert!(is_shown && said.contains("hello from afar"), "{}", said.escape_debug());
        assert_eq!(hiding(said), [], "{}", said.escape_debug());
    });
    let list = [&["list", "far"][..], &["list", "far", "--json"]];
    let others = [
        &["doctor", "far"][..],
        &["doctor", "far", "--json"],
        &["install", "far"],
        &["kill", "far", "1"],
        &["kill", "far", "--all"],
    ];
    for words in list.into_iter().chain(others) {
        let call = Invocation::new(rove()).args(words).arg(&ssh);
        let output = answered(&call);
        let said = [&output.stdout[..], &output.stderr].concat();
        let said = String::from_utf8(said).expect("it is text");
        assert!(said.contains("said"), "{words:?}: {}", said.escape_debug());
        assert_eq!(hiding(&said), [], "{words:?}: {}", said.escape_debug());
        if words.contains(&"list") {
            assert!(said.contains("title"), "{words:?}: {}", said.escape_debug());
        }
        if words.contains(&"--json") {
            let json = String::from_utf8(output.stdout).expect("it is text");
            let value: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
            assert!(value.to_string().contains("said"), "{words:?}: {value}");
        }
    }
}
