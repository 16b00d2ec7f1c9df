//! The command that ssh runs on the host.

use std::ffi::{OsStr, OsString};
use std::iter;

use crate::challenge::Challenge;
use crate::options::{BindServer, HostOptions, WantedSession};
use crate::quote;
use crate::tunnel::NO_TUNNEL_PROGRAM;

/// The line of our search when the host has no server program.
pub const NO_SERVER_PROGRAM: &str = "ROVE NO SERVER PROGRAM";

/// Begins the line in which our commands name the host's system where it has no program for them; `uname`'s output
/// follows.
pub const SYSTEM: &str = "ROVE SYSTEM";

/// Begins the line that a command for the host's rove prints where there is none; the run's challenge follows.
pub const NO_ROVE: &str = "ROVE NO ROVE";

/// Begins the line that our search prints before it starts a stock server; the run's challenge follows.
pub const STOCK_SERVER: &str = "ROVE STOCK";

/// First line of `rove`'s own commands, which the run's challenge follows. The output of start-up files stands above
/// it.
pub const START: &str = "ROVE START";

/// Tells a rove that our commands run the name by which the user calls its host; one that does not know the variable
/// names no host.
pub const ASKED_AS_VARIABLE: &str = "ROVE_ASKED_AS";

/// Tells the address that the host's sshd sees itself under; `mosh`'s own, to the byte.
/// Source: Mosh 1.4.0 as observed.
const MOSH_TELLS_ADDRESS: &str = r#"sh -c '[ -n "$SSH_CONNECTION" ] && printf "\nMOSH SSH_CONNECTION %s\n" "$SSH_CONNECTION"' ; "#;

/// The same for behind [`START`], without a backslash, which fish reads in single quotes.
const TELLS_ADDRESS: &str =
    r#"if [ -n "$SSH_CONNECTION" ]; then echo "MOSH SSH_CONNECTION $SSH_CONNECTION"; fi; "#;

/// Keeps the connection open while somebody reads here. The lines let ssh and the host notice within a second that nobody
/// does any more, however rove has ended.
const WAITS: &str = "while sleep 1; do echo; done; ";

/// Where programs are looked for apart from `PATH`, which is short in a login without a terminal:
/// what users install, what cargo installs, what administrators and Homebrew install.
const DIRECTORIES: [&str; 4] =
    ["$HOME/.local/bin", "$HOME/.cargo/bin", "/usr/local/bin", "/opt/homebrew/bin"];

/// Returns the server's arguments, which stock servers take as well as ours.
pub fn server_arguments(
    options: &HostOptions,
    colors: u32,
    variables: Vec<(String, String)>,
) -> Vec<OsString> {
    if let WantedSession::Attached(session, way) = &options.session {
        let words = iter::once("attach").chain(way.option()).map(str::to_owned);
        return words
            .chain(session.as_ref().map(ToString::to_string))
            .map(OsString::from)
            .collect();
    }
    let mut args: Vec<OsString> = vec!["new".into(), "-c".into(), colors.to_string().into()];
    if let WantedSession::Named(name) = &options.session {
        args.extend(["-n".into(), name.to_string().into()]);
    }
    match &options.bind_server {
        BindServer::Ssh | BindServer::Open if options.local => {
            args.extend(["-i".into(), options.host.clone()]);
        }
        BindServer::Ssh => args.push("-s".into()),
        // A server whose make is not known: a stock one would answer from some address of its own choice.
        BindServer::Open if options.server.is_some() => args.push("-s".into()),
        BindServer::Open | BindServer::Any => {}
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
pub fn stock(server: &OsStr, args: &[OsString], tell_address: bool) -> OsString {
    let mut command = OsString::from(if tell_address { MOSH_TELLS_ADDRESS } else { "" });
    command.push(server);
    push_quoted(&mut command, args, quote::bourne);
    command
}

/// Returns `rove`'s command with the server the user named, for any login shell. `preamble` is a piece of
/// sh that runs first.
pub fn named(server: &OsStr, preamble: &str, challenge: &Challenge, args: &[OsString]) -> OsString {
    let mut command = OsString::from("sh -c ");
    let script = format!("{preamble}{}", starts(challenge));
    command.push(quote::any_shell(OsStr::new(&script)));
    command.push("; ");
    command.push(server);
    push_quoted(&mut command, args, quote::any_shell);
    command
}

/// Returns `rove`'s usual command, for any login shell: it runs the first server program it finds,
/// one of ours before a stock one. `preamble` is a piece of sh that runs first. `bind` is what a stock one
/// has in addition, behind the first word; `None` if only ours will do. If there is none and it `waits`, the connection stays open until we end it.
pub fn searching(
    preamble: &str,
    challenge: &Challenge,
    args: &[OsString],
    bind: Option<&str>,
    waits: bool,
) -> OsString {
    let mut script = format!("{preamble}{}", starts(challenge));
    let stock = format!("echo \"{STOCK_SERVER} {challenge}\"; ");
    let ours = "exec \"$p\" server \"$@\"";
    script.push_str(&match bind {
        Some("") => search(ours, &format!("{stock}exec \"$p\" \"$@\"")),
        Some(bind) => {
            search(ours, &format!("{stock}w=$1; shift; exec \"$p\" \"$w\" {bind} \"$@\""))
        }
        None => search_for("rove", ours),
    });
    // 127 is what a shell says of a command it does not find.
    let wait = if waits { WAITS } else { "" };
    script.push_str(&format!("{} echo {NO_SERVER_PROGRAM}; {wait}exit 127", tells_system()));
    with_arguments(&script, args)
}

/// Returns the command for a session through a tunnel, for any login shell. It runs a server, ours unless
/// the user named one, tells all that it says, and becomes the tunnel's far end.
///
/// A server that the user named is a piece of sh here, as the login shell may be unable to go on with what it
/// says.
pub fn tunnel(server: Option<&OsStr>, challenge: &Challenge, args: &[OsString]) -> OsString {
    let server = server.map_or("\"$t\" server".into(), OsStr::to_string_lossy);
    let script = format!(
        "{}{} o=$({server} \"$@\" </dev/null 2>&1); s=$?; echo \"$o\"; \
         if [ $s != 0 ]; then exit $s; fi; o=${{o##*MOSH CONNECT }}; \
         exec \"$t\" tunnel \"${{o%%[!0-9]*}}\"",
        starts(challenge),
        find_rove(NO_TUNNEL_PROGRAM, &tells_system())
    );
    with_arguments(&script, args)
}

/// Returns the command that runs rove with these arguments, for any login shell, and tells it that the user calls the
/// host by this name. A session's server is none of its affair, so nothing is said of addresses.
pub fn rove(challenge: &Challenge, host: &OsStr, args: &[OsString]) -> OsString {
    let missing = format!("\"{NO_ROVE} {challenge}\"");
    let name = format!("{ASKED_AS_VARIABLE}=\"$1\"; export {ASKED_AS_VARIABLE}; shift;");
    let run = format!("echo \"{START} {challenge}\"; exec \"$t\" \"$@\"");
    let args: Vec<OsString> = iter::once(host.to_owned()).chain(args.iter().cloned()).collect();
    with_arguments(&format!("echo; {} {name} {run}", find_rove(&missing, "")), &args)
}

/// Returns the command that runs a piece of sh with these arguments, for any login shell.
pub fn script_with(challenge: &Challenge, script: &str, args: &[OsString]) -> OsString {
    with_arguments(&format!("echo; echo \"{START} {challenge}\"; {script}"), args)
}

/// Returns the piece of sh with which our command begins, on a line of its own.
fn starts(challenge: &Challenge) -> String {
    format!("echo; echo \"{START} {challenge}\"; {TELLS_ADDRESS}")
}

/// Returns the command that starts another far end for a server at this port.
pub fn tunnel_again(port: &str) -> OsString {
    script(&format!("{} exec \"$t\" tunnel {port}", find_rove(NO_TUNNEL_PROGRAM, "")))
}

/// Returns the piece of sh that tells what the host is, for a choice of what to install there.
fn tells_system() -> String {
    format!("echo \"{SYSTEM} $(uname -s) $(uname -m)\";")
}

/// Returns a piece of sh that finds `rove`, as `$t`, or does `otherwise`, says `missing` and ends.
fn find_rove(missing: &str, otherwise: &str) -> String {
    let found = "if [ -z \"$t\" ]; then t=\"$p\"; fi";
    format!(
        "t=; {}if [ -z \"$t\" ]; then {otherwise} echo {missing}; exit 127; fi;",
        search_for("rove", found)
    )
}

/// Returns a piece of sh that goes through the server programs there are, as `$p`, and does `rove` for
/// one of ours, `mosh` for a stock one.
pub fn search(rove: &str, mosh: &str) -> String {
    search_for("rove", rove) + &search_for("mosh-server", mosh)
}

/// Returns a piece of sh that does `run` for each place, as `$p`, where `program` is.
fn search_for(program: &str, run: &str) -> String {
    let mut script = format!("for p in {program}");
    for directory in DIRECTORIES {
        script.push_str(&format!(" \"{directory}/{program}\""));
    }
    script.push_str(&format!("; do if command -v \"$p\" >/dev/null 2>&1; then {run}; fi; done; "));
    script
}

fn with_arguments(script: &str, args: &[OsString]) -> OsString {
    let mut command = self::script(script);
    command.push(" rove");
    push_quoted(&mut command, args, quote::any_shell);
    command
}

/// Returns a command that runs a piece of sh, for any login shell.
pub fn script(script: &str) -> OsString {
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
