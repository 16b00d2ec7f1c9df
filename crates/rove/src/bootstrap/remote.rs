//! The command that ssh runs on the host.

use std::ffi::{OsStr, OsString};

use crate::bootstrap::options::{BindServer, HostOptions};
use crate::bootstrap::quote;

/// What our search says when the host has no server program.
pub(crate) const NO_SERVER_PROGRAM: &str = "ROVE NO SERVER PROGRAM";

/// What `rove`'s own commands say first: what a banner or a start-up file has printed stands above it.
pub(crate) const START: &str = "ROVE START";

/// Tells the address that the host's sshd sees itself under; `mosh`'s own, to the byte.
/// Source: Mosh 1.4.0 as observed.
const MOSH_TELLS_ADDRESS: &str = r#"sh -c '[ -n "$SSH_CONNECTION" ] && printf "\nMOSH SSH_CONNECTION %s\n" "$SSH_CONNECTION"' ; "#;

/// The same behind [`START`], without a backslash, which fish reads in single quotes.
const TELLS_ADDRESS: &str = r#"echo; echo "ROVE START"; if [ -n "$SSH_CONNECTION" ]; then echo "MOSH SSH_CONNECTION $SSH_CONNECTION"; fi; "#;

/// Where programs are looked for apart from `PATH`, which is short in a login without a terminal:
/// what users install, what cargo installs, what administrators and Homebrew install.
const DIRECTORIES: [&str; 4] =
    ["$HOME/.local/bin", "$HOME/.cargo/bin", "/usr/local/bin", "/opt/homebrew/bin"];

/// Returns the server's arguments, which stock servers take as well as ours.
pub(crate) fn server_arguments(
    options: &HostOptions,
    colors: u32,
    variables: Vec<(String, String)>,
) -> Vec<OsString> {
    let mut args: Vec<OsString> = vec!["new".into(), "-c".into(), colors.to_string().into()];
    match &options.bind_server {
        BindServer::Ssh if options.local => args.extend(["-i".into(), options.host.clone()]),
        BindServer::Ssh => args.push("-s".into()),
        BindServer::Any => {}
        BindServer::Address(address) => args.extend(["-i".into(), address.into()]),
    }
    if let Some(port) = &options.port {
        args.extend(["-p".into(), port.into()]);
    }
    for (name, value) in variables {
        args.extend(["-l".into(), format!("{name}={value}").into()]);
    }
    if !options.command.is_empty() {
        args.push("--".into());
        args.extend(options.command.iter().cloned());
    }
    args
}

/// Returns `mosh`'s command, to the byte: the server as it is, a piece of shell, its arguments quoted.
pub(crate) fn stock(server: &OsStr, args: &[OsString], tell_address: bool) -> OsString {
    let mut command = OsString::from(if tell_address { MOSH_TELLS_ADDRESS } else { "" });
    command.push(server);
    push_quoted(&mut command, args, quote::bourne);
    command
}

/// Returns `rove`'s command with the server the user named, for any login shell. `preamble` is a piece of
/// sh that runs first.
pub(crate) fn named(server: &OsStr, preamble: &str, args: &[OsString]) -> OsString {
    let mut command = OsString::from("sh -c ");
    command.push(quote::any_shell(OsStr::new(&format!("{preamble}{TELLS_ADDRESS}"))));
    command.push("; ");
    command.push(server);
    push_quoted(&mut command, args, quote::any_shell);
    command
}

/// Returns `rove`'s usual command, for any login shell: it runs the first server program it finds,
/// one of ours before a stock one. `preamble` is a piece of sh that runs first.
pub(crate) fn searching(preamble: &str, args: &[OsString]) -> OsString {
    let mut script = format!("{preamble}{TELLS_ADDRESS}");
    script.push_str(&search("exec \"$p\" server \"$@\"", "exec \"$p\" \"$@\""));
    // 127 is what a shell says of a command it does not find.
    script.push_str(&format!("echo {NO_SERVER_PROGRAM}; exit 127"));
    let mut command = OsString::from("exec sh -c ");
    command.push(quote::any_shell(OsStr::new(&script)));
    command.push(" rove");
    push_quoted(&mut command, args, quote::any_shell);
    command
}

/// Returns a piece of sh that goes through the server programs there are, as `$p`, and does `rove` for
/// one of ours, `mosh` for a stock one.
pub(crate) fn search(rove: &str, mosh: &str) -> String {
    let mut script = String::new();
    for (program, run) in [("rove", rove), ("mosh-server", mosh)] {
        script.push_str("for p in ");
        script.push_str(program);
        for directory in DIRECTORIES {
            script.push_str(&format!(" \"{directory}/{program}\""));
        }
        script.push_str(&format!(
            "; do if command -v \"$p\" >/dev/null 2>&1; then {run}; fi; done; "
        ));
    }
    script
}

/// Returns a command that runs a piece of sh, for any login shell.
pub(crate) fn script(script: &str) -> OsString {
    let mut command = OsString::from("exec sh -c ");
    command.push(quote::any_shell(OsStr::new(script)));
    command
}

fn push_quoted(command: &mut OsString, args: &[OsString], quote: fn(&OsStr) -> OsString) {
    for arg in args {
        command.push(" ");
        command.push(quote(arg));
    }
}

#[cfg(test)]
mod tests;
