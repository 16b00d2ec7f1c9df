//! The commands that ssh runs on the host. Their lines carry the [`Challenge`], a random word of this run of rove. By
//! the word, rove tells the lines from other output.

use std::ffi::{OsStr, OsString};
use std::iter;

use rove_session::JoinMode;

use crate::challenge::Challenge;
use crate::options::{BindServer, DetachedUse, HostOptions, WantedSession};
use crate::quote;
use crate::tunnel::NO_TUNNEL_PROGRAM;

/// The line that rove's search prints if the host has no server program.
pub const NO_SERVER_PROGRAM: &str = "ROVE NO SERVER PROGRAM";

/// Begins the line in which rove's commands name the host's system if it has no program for them. The output of `uname`
/// follows.
pub const SYSTEM: &str = "ROVE SYSTEM";

/// Begins the line that a command for the host's rove prints if there is no rove. The challenge follows.
pub const NO_ROVE: &str = "ROVE NO ROVE";

/// Begins the line that the command of [`searching`] prints before a stock Mosh server starts. The challenge follows.
pub const STOCK_SERVER: &str = "ROVE STOCK";

/// Begins the first line of `rove`'s own commands. The challenge follows. Output of start-up files precedes the line.
pub const START: &str = "ROVE START";

/// Begins the line that tells the path of an agent's socket on the host. The challenge follows.
pub const AGENT: &str = "ROVE AGENT";

/// Environment variable that tells the host's rove the name by which the user calls the host. A rove that does not know
/// the variable names no host.
pub const ASKED_AS_VARIABLE: &str = "ROVE_ASKED_AS";

/// Environment variable of a session's programs: a random word by which the session is known. It travels with `-l`.
pub const SESSION_VARIABLE: &str = "ROVE_SESSION";

/// The name with which the former client of a session that is resumed travels with `-l`. An older rove makes nothing of
/// it.
pub const FORMER_VARIABLE: &str = "ROVE_FORMER";

/// The name with which [`DetachedUse`] travels with `-l`. An older server and a stock one make nothing of it.
pub const DETACHED_VARIABLE: &str = "ROVE_ATTACH";

/// The name with which the size of the user's window travels with `-l`, as `COLUMNSxROWS`. By it, a server starts the
/// login shell before its client has come. An older server and a stock one make nothing of it.
pub const WINDOW_VARIABLE: &str = "ROVE_WINDOW";

/// The environment variable by which the user tells rove that an emulator runs it. To a server, it travels with `-l`. An
/// older server and a stock one make nothing of it.
pub const ALLOW_EMULATOR_VARIABLE: &str = "ROVE_ALLOW_EMULATOR";

/// The name with which the wish for a socket that leads to the user's agent travels with `-l`. An older server and a stock
/// one make nothing of it.
pub const AGENT_VARIABLE: &str = "ROVE_AGENT";

/// Shell text that prints the address at which the host's sshd was reached. It equals stock Mosh's byte for byte.
/// Source: Mosh 1.4.0 as observed.
const MOSH_TELLS_ADDRESS: &str = r#"sh -c '[ -n "$SSH_CONNECTION" ] && printf "\nMOSH SSH_CONNECTION %s\n" "$SSH_CONNECTION"' ; "#;

/// Shell text that prints the address of the host's sshd after [`START`], without a backslash, for fish.
const TELLS_ADDRESS: &str =
    r#"if [ -n "$SSH_CONNECTION" ]; then echo "MOSH SSH_CONNECTION $SSH_CONNECTION"; fi; "#;

/// Shell text that keeps the connection open while rove reads. By its lines ssh and the host notice within a second
/// that rove has ended, in whatever way.
const WAITS: &str = "while sleep 1; do echo; done; ";

/// Shell text, within a loop, that keeps the connection open until rove sends a line. Then the loop begins again. The
/// end of the input means that rove has ended.
const SEARCHES_AGAIN: &str = "read -r line || exit 127; continue; ";

/// Directories searched for programs besides `PATH`, which is short in a login without a terminal. They are those of
/// users, of cargo, of administrators and of Homebrew.
const DIRECTORIES: [&str; 4] =
    ["$HOME/.local/bin", "$HOME/.cargo/bin", "/usr/local/bin", "/opt/homebrew/bin"];

/// Returns the arguments of the server, which stock Mosh servers accept as well as rove's. Only a server
/// that may look at running sessions gets [`SESSION_VARIABLE`].
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
        WantedSession::Resumed(port, resumed) => {
            let former = (FORMER_VARIABLE.to_owned(), resumed.former.clone());
            Some((None, Some(former), Some(port.to_string())))
        }
        WantedSession::New | WantedSession::Named(_) | WantedSession::Streams(_) => None,
    };
    if let Some((way, former, session)) = running {
        let words = iter::once("attach").chain(way).map(str::to_owned);
        let told = former.into_iter().chain(variables.into_iter().filter(is_inside));
        let told = told.flat_map(|(name, value)| ["-l".to_owned(), format!("{name}={value}")]);
        return words.chain(told).chain(session).map(OsString::from).collect();
    }
    // An older rove refuses the word, and starts no shell.
    let has_program = !options.no_program && !matches!(options.session, WantedSession::Streams(_));
    let mut args: Vec<OsString> = match has_program {
        true => vec!["new".into(), "-c".into(), colors.to_string().into()],
        false if options.no_program => vec!["forwards".into()],
        false => vec!["streams".into()],
    };
    if let WantedSession::Named(name) = &options.session {
        args.extend(["-n".into(), name.to_string().into()]);
    }
    match &options.bind_server {
        BindServer::Ssh | BindServer::Open if options.local => {
            args.extend(["-i".into(), options.host.clone()]);
        }
        BindServer::Ssh => args.push("-s".into()),
        // The make of this server is unknown. A stock Mosh server would answer from an address of its own choice.
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
    if options.allow_emulator {
        args.extend(["-l".into(), format!("{ALLOW_EMULATOR_VARIABLE}=1").into()]);
    }
    if !options.command.is_empty() {
        args.push("--".into());
        args.extend(options.command.iter().cloned());
    }
    args
}

/// Returns the command of `mosh`, byte for byte: the server as it is, a piece of shell, and its quoted arguments.
pub fn stock(server: &OsStr, args: &[OsString], tell_address: bool) -> OsString {
    let mut command = OsString::from(if tell_address { MOSH_TELLS_ADDRESS } else { "" });
    command.push(server);
    push_quoted(&mut command, args, quote::bourne);
    command
}

/// Returns the command of `rove` with a server that the user named, for any login shell. `preamble` runs first.
pub fn named(server: &OsStr, preamble: &str, challenge: &Challenge, args: &[OsString]) -> OsString {
    let mut command = OsString::from("sh -c ");
    let script = format!("{preamble}{}", starts(challenge));
    command.push(quote::any_shell(OsStr::new(&script)));
    command.push("; ");
    command.push(server);
    push_quoted(&mut command, args, quote::any_shell);
    command
}

/// Returns the usual command of `rove`, for any login shell. It runs the first server program that it finds, a rove
/// before a stock Mosh. `preamble` is shell text that runs first. `bind` is added for a stock server, after the first
/// word. `None` if only a rove will do. If there is no server and `waits` is set, the connection stays open. If
/// `carries` is set, a rove's server is followed by the tunnel's end. If both are set, the command searches again for
/// each line that it reads.
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
/// named one), prints the server's output, and becomes the tunnel's end on the host. If there is no rove and `waits` is
/// set, the command searches again for each line that it reads.
///
/// A server that the user named is text for sh here, because the login shell may be unable to process the server's
/// output.
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

/// Returns the piece of sh that runs a server, prints all of its output, and then runs the program in the variable
/// named `rove` as the far end of its tunnel.
fn carrying(server: &str, rove: &str) -> String {
    format!(
        "o=$({server} \"$@\" </dev/null 2>&1); s=$?; echo \"$o\"; \
         if [ $s != 0 ]; then exit $s; fi; o=${{o##*MOSH CONNECT }}; \
         exec \"${rove}\" tunnel \"${{o%%[!0-9]*}}\""
    )
}

/// Returns the command that runs the host's rove with these arguments, for any login shell. It tells rove the name by
/// which the user calls the host. It does not print addresses, because no session's server is involved.
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

/// Returns the command of an ssh that lends the user's agent, for any login shell: it tells the path of the agent's socket
/// after [`AGENT`] and the challenge, and ends with its input.
pub fn agent(challenge: &Challenge) -> OsString {
    script(&format!("echo; echo \"{AGENT} {challenge} $SSH_AUTH_SOCK\"; exec cat >/dev/null"))
}

/// Returns the line with which our commands begin.
pub fn first_line(challenge: &Challenge) -> String {
    format!("{START} {challenge}")
}

/// Returns the piece of sh with which our command begins, on a line of its own.
fn starts(challenge: &Challenge) -> String {
    format!("echo; echo \"{}\"; {TELLS_ADDRESS}", first_line(challenge))
}

/// Returns the command that starts another `rove tunnel` on the host, for the server at this UDP port. [`first_line`]
/// precedes its output.
pub fn tunnel_again(port: &str, challenge: &Challenge) -> OsString {
    let begins = format!("echo; echo \"{}\"; ", first_line(challenge));
    let missing = format!("echo {NO_TUNNEL_PROGRAM}; exit 127; ");
    script(&format!("{begins}{} exec \"$t\" tunnel {port}", find_rove(&missing)))
}

/// Returns the shell text that prints the host's system and processor, by which rove chooses a program to install.
fn tells_system() -> String {
    format!("echo \"{SYSTEM} $(uname -s) $(uname -m)\";")
}

/// Returns shell text that sets `$t` to the path of `rove`, or else runs `otherwise`.
fn find_rove(otherwise: &str) -> String {
    let found = "if [ -z \"$t\" ]; then t=\"$p\"; fi";
    format!("t=; {}if [ -z \"$t\" ]; then {otherwise}fi;", search_for("rove", found))
}

/// Returns shell text that sets `$p` to each server program of the host in turn. It runs `rove` for a rove, and `mosh`
/// for a stock Mosh server.
pub fn search(rove: &str, mosh: &str) -> String {
    search_for("rove", rove) + &search_for("mosh-server", mosh)
}

/// Returns shell text that runs `run` for each path, as `$p`, at which `program` exists.
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

/// Returns a command that runs shell text, for any login shell.
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
