//! The commands that ssh runs on the host. The output of rove's own commands begins with a line that contains the
//! [`Challenge`], a random word of this run of rove. By this line, rove ignores the output of start-up files.

use std::ffi::{OsStr, OsString};
use std::iter;

use rove_session::JoinMode;

use crate::challenge::Challenge;
use crate::options::{BindServer, DetachedUse, HostOptions, WantedSession};
use crate::quote;
use crate::tunnel::NO_TUNNEL_PROGRAM;

/// The line that rove's search command prints if the host has no server program.
pub const NO_SERVER_PROGRAM: &str = "ROVE NO SERVER PROGRAM";

/// The beginning of the line with the host's system, which rove's commands print if the host lacks a program. The
/// output of `uname` follows.
pub const SYSTEM: &str = "ROVE SYSTEM";

/// The beginning of the line that a command for the host's rove prints if the host has no rove. The challenge follows.
pub const NO_ROVE: &str = "ROVE NO ROVE";

/// The beginning of the line that [`searching`]'s command prints before it starts a stock server. A challenge follows.
pub const STOCK_SERVER: &str = "ROVE STOCK";

/// The beginning of the first line of rove's own commands. The challenge follows. Start-up files may print earlier.
pub const START: &str = "ROVE START";

/// The beginning of the line with the path of an agent's socket on the host. The challenge follows.
pub const AGENT: &str = "ROVE AGENT";

/// Environment variable with the name by which the user calls the host. The host's rove uses the name in messages.
/// Versions that do not know the variable leave the name out.
pub const ASKED_AS_VARIABLE: &str = "ROVE_ASKED_AS";

/// Environment variable of a session's programs: a random word that identifies the session. The server sets it.
pub const SESSION_VARIABLE: &str = "ROVE_SESSION";

/// Variable, passed to the server by `-l`, that names the former client of a resumed session. Older servers ignore it.
pub const FORMER_VARIABLE: &str = "ROVE_FORMER";

/// Exit code of the host's rove if the session to resume certainly does not run. Older versions exit with 1. Source:
/// sysexits.h, `EX_UNAVAILABLE`.
pub const NO_SUCH_SESSION: u8 = 69;

/// Variable, passed to the server by `-l`, with the [`DetachedUse`]. Older servers and stock Mosh ignore it.
pub const DETACHED_VARIABLE: &str = "ROVE_ATTACH";

/// Name of the variable, passed to the server by `-l`, with the size of the user's window as `COLUMNSxROWS`. With it, a
/// server can start the login shell before its client connects. Older servers and stock Mosh ignore it.
pub const WINDOW_VARIABLE: &str = "ROVE_WINDOW";

/// Variable, passed to the server by `-l`, that requests a socket on the host that leads to the user's ssh agent. Older
/// servers and stock Mosh ignore it.
pub const AGENT_VARIABLE: &str = "ROVE_AGENT";

/// Shell text that prints the address at which the host's sshd was reached, equal to stock Mosh's byte for byte.
/// Source: Mosh 1.4.0 as observed.
const MOSH_TELLS_ADDRESS: &str = r#"sh -c '[ -n "$SSH_CONNECTION" ] && printf "\nMOSH SSH_CONNECTION %s\n" "$SSH_CONNECTION"' ; "#;

/// Shell text that prints the address of the host's sshd after [`START`]. It has no backslash, because of fish.
const TELLS_ADDRESS: &str =
    r#"if [ -n "$SSH_CONNECTION" ]; then echo "MOSH SSH_CONNECTION $SSH_CONNECTION"; fi; "#;

/// Shell text for the host that keeps ssh's connection open until the user's rove has ended. It prints a line each
/// second. After the end of that rove, ssh and then this text fail to write the line.
const WAITS: &str = "while sleep 1; do echo; done; ";

/// Shell text in a loop: waits for a line of the user's rove to search again, and exits at the end of the input.
const SEARCHES_AGAIN: &str = "read -r line || exit 127; continue; ";

/// Directories searched for programs besides `PATH`, which is short in a login without a terminal: those of users,
/// cargo, administrators and Homebrew.
const DIRECTORIES: [&str; 4] =
    ["$HOME/.local/bin", "$HOME/.cargo/bin", "/usr/local/bin", "/opt/homebrew/bin"];

/// Returns the arguments of the server, in a form that stock Mosh servers accept too. [`SESSION_VARIABLE`] is among
/// them only if the server may look for a running session: for `attach`, `resume` or a name.
pub fn server_arguments(
    options: &HostOptions,
    colors: u32,
    variables: Vec<(String, String)>,
) -> Vec<OsString> {
    let is_inside = |(name, _): &(String, String)| name == SESSION_VARIABLE;
    let running = match &options.session {
        WantedSession::Attached(session, way) => {
            Some((way.map(JoinMode::option), None, session.as_ref().map(ToString::to_string)))
        }
        WantedSession::Resumed(server, resumed) => {
            let former = (FORMER_VARIABLE.to_owned(), resumed.former.clone());
            Some((None, Some(former), Some(server.port().to_string())))
        }
        WantedSession::New | WantedSession::Named(_) | WantedSession::Streams(_) => None,
    };
    if let Some((way, former, session)) = running {
        let words = iter::once("attach").chain(way).map(str::to_owned);
        let told = former.into_iter().chain(variables.into_iter().filter(is_inside));
        let told = told.flat_map(|(name, value)| ["-l".to_owned(), format!("{name}={value}")]);
        return words.chain(told).chain(session).map(OsString::from).collect();
    }
    // Older versions of rove refuse `streams` and `forwards`, so that they start no unwanted shell.
    let has_program = options.has_program();
    let mut args: Vec<OsString> = match options.session {
        _ if has_program => vec!["new".into(), "-c".into(), colors.to_string().into()],
        // ssh's `-N` changes nothing here: the session ends soon after its last stream.
        WantedSession::Streams(_) => vec!["streams".into()],
        _ => vec!["forwards".into()],
    };
    if let WantedSession::Named(name) = &options.session {
        args.extend(["-n".into(), name.to_string().into()]);
    }
    match &options.bind_server {
        BindServer::Ssh | BindServer::Open if options.local => {
            args.extend(["-i".into(), options.host.clone()]);
        }
        BindServer::Ssh => args.push("-s".into()),
        // This server may be stock Mosh, which would answer from an address of its own choice.
        BindServer::Open if options.server.is_some() => args.push("-s".into()),
        BindServer::Open | BindServer::Any => {}
        BindServer::Address(address) => args.extend(["-i".into(), address.into()]),
    }
    if let Some(port) = &options.port {
        args.extend(["-p".into(), port.into()]);
    }
    let is_new = options.session == WantedSession::New;
    let is_told = |it: &(String, String)| has_program && (!is_new || !is_inside(it));
    for (name, value) in variables.into_iter().filter(is_told) {
        args.extend(["-l".into(), format!("{name}={value}").into()]);
    }
    let detached = options.detached_use();
    if detached != DetachedUse::Hint {
        args.extend(["-l".into(), format!("{DETACHED_VARIABLE}={}", detached.name()).into()]);
    }
    if !options.command.is_empty() {
        args.push("--".into());
        args.extend(options.command.iter().cloned());
    }
    args
}

/// Returns the command that `mosh` runs on the host, equal to stock Mosh's byte for byte. The server is shell text, and
/// the arguments are quoted.
pub fn stock(server: &OsStr, args: &[OsString], tell_address: bool) -> OsString {
    let mut command = OsString::from(if tell_address { MOSH_TELLS_ADDRESS } else { "" });
    command.push(server);
    push_quoted(&mut command, args, quote::bourne);
    command
}

/// Returns the command that starts the user's own `server`, for any login shell. The shell text `preamble` runs first.
pub fn named(server: &OsStr, preamble: &str, challenge: &Challenge, args: &[OsString]) -> OsString {
    let mut command = OsString::from("sh -c ");
    let script = format!("{preamble}{}", starts(challenge));
    command.push(quote::any_shell(OsStr::new(&script)));
    command.push("; ");
    command.push(server);
    push_quoted(&mut command, args, quote::any_shell);
    command
}

/// Returns the usual command of `rove`, for any login shell. After the shell text `preamble`, it runs the first server
/// program that it finds, and prefers rove to stock Mosh. A stock server gets the option `bind`, unless `bind` is
/// empty. If `bind` is `None`, the command uses no stock server. If the host has no server and `waits` is true, the
/// command keeps the connection open. If `carries` is true, it starts a rove server and becomes the tunnel's end. If
/// both are true and there is no server, it searches again after each input line.
pub fn searching(
    preamble: &str,
    challenge: &Challenge,
    args: &[OsString],
    bind: Option<&str>,
    waits: bool,
    carries: bool,
) -> OsString {
    let (head, end) = match (waits, carries) {
        (true, true) => ("while :; do ", format!("{SEARCHES_AGAIN}done")),
        (true, false) => ("", format!("{WAITS}exit 127")),
        (false, _) => ("", "exit 127".to_owned()),
    };
    let mut script = format!("{preamble}{head}{}", starts(challenge));
    let stock = format!("echo \"{STOCK_SERVER} {challenge}\"; ");
    let carrying = carrying("\"$p\" server", "p");
    let ours = if carries { &carrying } else { "exec \"$p\" server \"$@\"" };
    script.push_str(&match bind {
        Some("") => search(ours, &format!("{stock}exec \"$p\" \"$@\"")),
        Some(bind) => {
            search(ours, &format!("{stock}w=$1; shift; exec \"$p\" \"$w\" {bind} \"$@\""))
        }
        None => search_for("rove", ours),
    });
    // A shell exits with 127 if it does not find a command.
    script.push_str(&format!("{} echo {NO_SERVER_PROGRAM}; {end}", tells_system()));
    with_arguments(&script, args)
}

/// Returns the command for a session through a tunnel, for any login shell. It runs a server (rove's, unless the user
/// named another) and prints the server's output. Then it becomes the tunnel's end on the host. If the host has no rove
/// and `waits` is true, it searches for rove again after each line that the client sends.
///
/// Unlike [`named()`], this command lets sh interpret a server that the user named. The login shell may be unable to
/// process the server's output.
pub fn tunnel(
    server: Option<&OsStr>,
    challenge: &Challenge,
    args: &[OsString],
    waits: bool,
) -> OsString {
    let server = server.map_or("\"$t\" server".into(), OsStr::to_string_lossy);
    let (head, missing, end) =
        if waits { ("while :; do ", SEARCHES_AGAIN, "; done") } else { ("", "exit 127; ", "") };
    let otherwise = format!("{} echo {NO_TUNNEL_PROGRAM}; {missing}", tells_system());
    let script = format!(
        "{head}{}{} {}{end}",
        starts(challenge),
        find_rove(&otherwise),
        carrying(&server, "t")
    );
    with_arguments(&script, args)
}

/// Returns the sh text that runs a server, and prints all of its output. The text then runs a program as the tunnel's
/// end on the host. The shell variable with the name `rove` holds the program's path.
///
/// The output may hold a session's title, which any program of the session sets. Most shells' `echo` would turn a `\n`
/// in the title into a line end, and the next line could announce a false server. So the text uses `printf`, or `print`
/// if `printf` is not built in. All users see a program's arguments, and these would hold the key.
fn carrying(server: &str, rove: &str) -> String {
    format!(
        "o=$({server} \"$@\" </dev/null 2>&1); s=$?; \
         case $(command -v printf) in /*) print -r -- \"$o\";; *) printf \"%s\\n\" \"$o\";; esac; \
         if [ $s != 0 ]; then exit $s; fi; o=${{o##*MOSH CONNECT }}; \
         exec \"${rove}\" tunnel \"${{o%%[!0-9]*}}\""
    )
}

/// Returns the command that runs the host's rove with these arguments, for any login shell. [`ASKED_AS_VARIABLE`] tells
/// the host's rove how the user calls the host. The command prints no address, as it starts no session.
pub fn rove(challenge: &Challenge, host: &OsStr, args: &[OsString]) -> OsString {
    let missing = format!("echo \"{NO_ROVE} {challenge}\"; exit 127; ");
    let name = format!("{ASKED_AS_VARIABLE}=\"$1\"; export {ASKED_AS_VARIABLE}; shift;");
    let run = format!("echo \"{START} {challenge}\"; exec \"$t\" \"$@\"");
    let args: Vec<OsString> = iter::once(host.to_owned()).chain(args.iter().cloned()).collect();
    with_arguments(&format!("echo; {} {name} {run}", find_rove(&missing)), &args)
}

/// Returns the command that runs shell text with these arguments, for any login shell.
pub fn script_with(challenge: &Challenge, script: &str, args: &[OsString]) -> OsString {
    with_arguments(&format!("echo; echo \"{START} {challenge}\"; {script}"), args)
}

/// Returns the command for an ssh that forwards the user's agent, for any login shell. It prints the path of the
/// agent's socket after [`AGENT`] and the challenge, and ends when its input ends.
pub fn agent(challenge: &Challenge) -> OsString {
    script(&format!("echo; echo \"{AGENT} {challenge} $SSH_AUTH_SOCK\"; exec cat >/dev/null"))
}

/// Returns the line that rove's own commands print first.
pub fn first_line(challenge: &Challenge) -> String {
    format!("{START} {challenge}")
}

/// Returns the sh text with which rove's own commands begin. Its output starts on a new line.
fn starts(challenge: &Challenge) -> String {
    format!("echo; echo \"{}\"; {TELLS_ADDRESS}", first_line(challenge))
}

/// Returns the command that prints [`first_line`] and runs `rove tunnel`, for a server's UDP port or as a forwarder.
pub fn tunnel_again(port: &str, challenge: &Challenge) -> OsString {
    let begins = format!("echo; echo \"{}\"; ", first_line(challenge));
    let missing = format!("echo {NO_TUNNEL_PROGRAM}; exit 127; ");
    script(&format!("{begins}{} exec \"$t\" tunnel {port}", find_rove(&missing)))
}

/// Returns the sh text that prints the host's system and processor, by which rove chooses a program to install.
fn tells_system() -> String {
    format!("echo \"{SYSTEM} $(uname -s) $(uname -m)\";")
}

/// Returns sh text that sets `$t` to the path of `rove`, or runs `otherwise` if there is no rove.
fn find_rove(otherwise: &str) -> String {
    let found = "if [ -z \"$t\" ]; then t=\"$p\"; fi";
    format!("t=; {}if [ -z \"$t\" ]; then {otherwise}fi;", search_for("rove", found))
}

/// Returns sh text that sets `$p` to each server program of the host in turn. It runs the text `rove` for each rove,
/// and then the text `mosh` for each `mosh-server`.
pub fn search(rove: &str, mosh: &str) -> String {
    search_for("rove", rove) + &search_for("mosh-server", mosh)
}

/// Returns sh text that runs the text `run` for each path at which `program` exists, with the path in `$p`.
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

/// Returns a command that runs sh text, for any login shell.
pub fn script(script: &str) -> OsString {
    let mut command = OsString::from("sh -c ");
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
