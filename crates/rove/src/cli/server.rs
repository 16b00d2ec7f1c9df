//! The command line of `mosh-server` and `rove server`.

use std::ffi::{OsStr, OsString};

use clap::{Arg, ArgAction, Command};
use rove_bootstrap::remote::{FORMER_VARIABLE, SESSION_VARIABLE};
use rove_bootstrap::{LabelError, ProgramName, SessionRef};
use rove_cli_docs::{Manual, Words};
use rove_udp::PortRange;

use crate::attach::Asked;
use crate::cli::getopt::{self, Item};
use crate::cli::option_values::{PortError, udp_ports};
use crate::program::ROVE;
use crate::server::{BindAddress, Purpose, ServerOptions};
use rove_session::JoinMode;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ServerCall {
    /// Print the help or, as `mosh-server`, the usage on standard output.
    Help,
    Version,
    /// Run a server, after printing the complaints. An unknown option causes only a complaint. A newer client may pass
    /// such an option to an older server, which must start.
    Run {
        options: ServerOptions,
        /// Sentences for standard error.
        complaints: Vec<String>,
    },
    /// Print the port of a running session, and a key for its next client. If the line names no session,
    /// [`crate::attach::run`] chooses the session.
    Attach(Option<SessionRef>, Option<JoinMode>, Asked),
}

pub(crate) static MANUAL: Manual = Manual {
    word: "server",
    definition,
    words: Words::OneOf(&["new", "attach", "streams", "forwards"]),
    text: include_str!("../../manuals/server.toml"),
    ..Manual::of(&ROVE)
};

/// Returns the definition of the options. The help, the manual and the letters that the parser accepts come from it.
fn definition() -> Command {
    let flag = |name: &'static str| Arg::new(name).action(ArgAction::SetTrue);
    let value = |name: &'static str, letter, value_name: &'static str| {
        Arg::new(name).short(letter).value_name(value_name)
    };
    Command::new("rove server")
        .about("Runs a shell or a command for a client to come")
        .override_usage(
            "rove server new [options] [-- command...]\n       rove server attach [--view|--share] [NAME|PID|PORT]\n       rove server streams|forwards [options]",
        )
        .disable_help_flag(true)
        .args([
            flag("ssh").short('s').help("Bind the address that ssh arrived at"),
            flag("verbose").short('v').action(ArgAction::Count).help(
                "Stay on the terminal and say what happens; twice: check every difference sent",
            ),
            value("address", 'i', "ADDRESS").help("Bind this numeric address"),
            value("port", 'p', "PORT[:PORT2]")
                .help("Bind this UDP port, or one of this range [default: 60001 to 60999]"),
            value("colors", 'c', "NUMBER").help("Colours of the user's terminal; 256 sets TERM"),
            value("locale", 'l', "NAME=VALUE")
                .action(ArgAction::Append)
                .help("COLORTERM, or locale for a host without UTF-8; may be repeated"),
            value("session", 'n', "NAME")
                .help("Name of the session; one that has the name already gets another client"),
            value("ignored", '@', "WORD").hide(true),
            flag("help").short('h').long("help").help("Print this help"),
            flag("version").short('V').long("version").help("Print the version"),
        ])
}

/// Why a server's command line is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ServerLineError {
    #[error("the first word must be \"new\"")]
    NotNew,
    #[error("streams and forwards run no command, and their session has no name")]
    NoProgram,
    #[error("attach takes one session")]
    SeveralSessions,
    #[error(transparent)]
    Session(#[from] LabelError),
    /// A wrong port or range of ports. Stock clients look for the words of this message.
    #[error("{reason}\nBad UDP port range ({text})")]
    Ports { reason: PortError, text: String },
    #[error("Bad number of colors ({0})")]
    Colors(String),
}

/// Returns the one-line usage of `mosh-server`.
pub(crate) fn usage() -> String {
    let program = "mosh-server";
    format!(
        "Usage: {program} new [-s] [-v] [-i LOCALADDR] [-p PORT[:PORT2]] [-c COLORS] \
         [-l NAME=VALUE] [-- COMMAND...]"
    )
}

/// Reads the words after the program's name.
///
/// # Errors
///
/// Returns the fault of the command line. The caller prints it before the usage; the exit code is 1.
pub(crate) fn parse(name: ProgramName, args: Vec<OsString>) -> Result<ServerCall, ServerLineError> {
    let questions: &[&str] = match name {
        ProgramName::Rove => &["--help", "-h", "--version", "-V"],
        ProgramName::Mosh => &["--help", "-h", "--version"],
    };
    match getopt::first_of(&args, questions) {
        Some("--version" | "-V") => return Ok(ServerCall::Version),
        Some(_) => return Ok(ServerCall::Help),
        None => {}
    }
    let mut complaints = Vec::new();
    let options = ServerOptions { name, ..ServerOptions::default() };
    let options = match args.split_first() {
        Some((first, rest)) if first == "new" => {
            parse_new(options, rest.to_vec(), &mut complaints)?
        }
        Some((first, rest))
            if (first == "streams" || first == "forwards") && name == ProgramName::Rove =>
        {
            let purpose = if first == "streams" { Purpose::Streams } else { Purpose::Forwards };
            let options = ServerOptions { purpose, ..options };
            let options = parse_new(options, rest.to_vec(), &mut complaints)?;
            if options.session.is_some() || !options.command.is_empty() {
                return Err(ServerLineError::NoProgram);
            }
            options
        }
        Some((first, rest)) if first == "attach" && name == ProgramName::Rove => {
            let way = rest.first().and_then(|word| JoinMode::from_option(word.to_str()?));
            let words = if way.is_some() { &rest[1..] } else { rest };
            let (words, asked) = asked(words);
            return Ok(ServerCall::Attach(session(words)?, way, asked));
        }
        _ => parse_legacy(options, &args, &mut complaints)?,
    };
    Ok(ServerCall::Run { options, complaints })
}

/// Reads the options `-l NAME=VALUE` at the beginning. Returns the other words, and the values that `attach` uses.
fn asked(mut words: &[OsString]) -> (&[OsString], Asked) {
    let mut asked = Asked::default();
    while let [option, variable, rest @ ..] = words
        && option == "-l"
    {
        match variable.to_string_lossy().split_once('=') {
            Some((SESSION_VARIABLE, word)) => asked.inside = Some(word.to_owned()),
            Some((FORMER_VARIABLE, former)) => asked.former = former.parse().ok(),
            _ => {}
        }
        words = rest;
    }
    (words, asked)
}

/// Returns the session that the words name. `None` without words. Refuses several words and an invalid name.
fn session(words: &[OsString]) -> Result<Option<SessionRef>, ServerLineError> {
    match words {
        [] => Ok(None),
        [word] => Ok(Some(word.to_string_lossy().parse()?)),
        _ => Err(ServerLineError::SeveralSessions),
    }
}

/// Reads the oldest form of `mosh-server`'s command line, without the word `new`: no words, IP, or IP PORT. Returns
/// [`ServerLineError::NotNew`] for more words, and for `rove server`.
fn parse_legacy(
    mut options: ServerOptions,
    args: &[OsString],
    complaints: &mut Vec<String>,
) -> Result<ServerOptions, ServerLineError> {
    // Only old stock clients use this form, and they call `mosh-server`.
    if args.len() > 2 || options.name == ProgramName::Rove {
        return Err(ServerLineError::NotNew);
    }
    if let Some(address) = args.first() {
        options.bind = bind_address(address, complaints);
    }
    if let Some(ports) = args.get(1) {
        options.ports = port_range(ports)?;
    }
    Ok(options)
}

fn parse_new(
    mut options: ServerOptions,
    args: Vec<OsString>,
    complaints: &mut Vec<String>,
) -> Result<ServerOptions, ServerLineError> {
    let definition = definition();
    let definition = match options.name {
        ProgramName::Rove => definition,
        // Stock `mosh-server` has no `-n`.
        ProgramName::Mosh => definition.mut_arg("session", |arg| arg.short(None).long("session")),
    };
    let line = getopt::read(options.name, &definition, args);
    // The last of several `-p` counts. An earlier value may be wrong, because a wrapper may have added it.
    let mut ports = None;
    for item in line.items {
        match item {
            Item::Flag('s') => options.bind = BindAddress::SshConnection,
            Item::Flag(_) => options.verbose = options.verbose.saturating_add(1),
            Item::Value('i', address) => options.bind = bind_address(&address, complaints),
            Item::Value('p', word) => ports = Some(word),
            Item::Value('n', name) => {
                let name = name.to_string_lossy();
                options.session = Some(name.parse()?);
            }
            Item::Value('c', colors) => options.colors = color_count(&colors)?,
            Item::Value('l', word) => options.locale.extend(variable(&word)),
            // By `-@`, a wrapper puts options in front of a whole command line: `new -p 60005 -@ new -s`. The second
            // `new` is the value of `-@`. The server ignores other words before `--`.
            Item::Value(..) | Item::Word(_) => {}
            Item::Complaint(complaint) => complaints.push(complaint),
        }
    }
    if let Some(ports) = ports {
        options.ports = port_range(&ports)?;
    }
    options.command = line.rest;
    Ok(options)
}

/// Returns the two parts of `NAME=VALUE`. `None` for a word without `=` or name, which stock Mosh also ignores.
fn variable(word: &OsStr) -> Option<(String, String)> {
    let word = word.to_string_lossy();
    let (name, value) = word.split_once('=')?;
    (!name.is_empty() && !word.contains('\0')).then(|| (name.to_owned(), value.to_owned()))
}

fn bind_address(text: &OsStr, complaints: &mut Vec<String>) -> BindAddress {
    match text.to_str().and_then(|text| text.parse().ok()) {
        Some(address) => BindAddress::Address(address),
        None => {
            let text = text.display();
            complaints.push(format!(
                "{text} is not a numeric IP address; binding to any address instead"
            ));
            BindAddress::Any
        }
    }
}

fn port_range(text: &OsStr) -> Result<PortRange, ServerLineError> {
    let text = text.to_string_lossy().into_owned();
    udp_ports(&text).map_err(|reason| ServerLineError::Ports { reason, text })
}

/// Reads the value of `-c`, a number of colours. `None` for an empty text, as in stock Mosh, and for a number outside
/// `u32`. A client sends -1 if its terminal has no colours. Refuses a text that is no number.
fn color_count(text: &OsStr) -> Result<Option<u32>, ServerLineError> {
    let text = text.to_string_lossy();
    if text.is_empty() {
        return Ok(None);
    }
    match text.parse::<i64>() {
        Ok(count) => Ok(u32::try_from(count).ok()),
        Err(_) => Err(ServerLineError::Colors(text.into_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(line: &str) -> Result<ServerCall, String> {
        let args = line.split_whitespace().map(OsString::from).collect();
        parse(ProgramName::Mosh, args).map_err(|error| error.to_string())
    }

    fn run(line: &str) -> (ServerOptions, Vec<String>) {
        match call(line) {
            Ok(ServerCall::Run { options, complaints }) => (options, complaints),
            other => panic!("{line}: {other:?}"),
        }
    }

    fn mosh() -> ServerOptions {
        ServerOptions { name: ProgramName::Mosh, ..ServerOptions::default() }
    }

    #[test]
    fn every_form_that_clients_send_is_understood() {
        let locale = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
        };
        let ports = |low, high| PortRange { low, high };
        let address = |text: &str| BindAddress::Address(text.parse().unwrap());
        let ssh = BindAddress::SshConnection;
        for (line, expected) in [
            ("", mosh()),
            ("new", mosh()),
            ("127.0.0.1", ServerOptions { bind: address("127.0.0.1"), ..mosh() }),
            (
                "::1 60100",
                ServerOptions { bind: address("::1"), ports: ports(60_100, 60_100), ..mosh() },
            ),
            (
                "new -s -c 256 -l LANG=en_US.UTF-8 -l LC_ALL= -- tmux a -v",
                ServerOptions {
                    bind: ssh,
                    colors: Some(256),
                    locale: locale(&[("LANG", "en_US.UTF-8"), ("LC_ALL", "")]),
                    command: ["tmux", "a", "-v"].map(OsString::from).to_vec(),
                    ..mosh()
                },
            ),
            (
                "new -vv -p60010:60020 -i ::",
                ServerOptions {
                    bind: address("::"),
                    ports: ports(60_010, 60_020),
                    verbose: 2,
                    ..mosh()
                },
            ),
            ("new -v -@ new -c 8 foo", ServerOptions { colors: Some(8), verbose: 1, ..mosh() }),
            ("new -p 0", ServerOptions { ports: ports(0, 0), ..mosh() }),
            ("new -c -1 -l FOO -l =x", mosh()),
            // Older clients send this variable.
            (
                "new -l ROVE_ALLOW_EMULATOR=1",
                ServerOptions { locale: locale(&[("ROVE_ALLOW_EMULATOR", "1")]), ..mosh() },
            ),
            ("new -i 1.2.3.4 -s", ServerOptions { bind: ssh, ..mosh() }),
        ] {
            assert_eq!(run(line), (expected, Vec::new()), "{line}");
        }
    }

    #[test]
    fn an_unknown_option_is_named_and_the_server_still_runs() {
        for (line, complaint) in [
            ("new -s -z", "unknown option -z"),
            ("new --bogus -s", "unknown option --bogus"),
            ("new -s -i", "option -i needs a value"),
        ] {
            let expected = ServerOptions { bind: BindAddress::SshConnection, ..mosh() };
            assert_eq!(run(line), (expected, vec![complaint.to_owned()]), "{line}");
        }
        let (options, complaints) = run("new -i foo");
        assert_eq!(options, mosh());
        assert!(complaints[0].starts_with("foo is not a numeric IP address"));
    }

    #[test]
    fn roves_own_server_names_the_option_that_was_meant() {
        for (word, own, stock) in [
            ("--port=60001", "unknown option --port; did you mean -p?", ""),
            ("--verbos", "unknown option --verbos; did you mean -v?", ""),
            ("-S", "unknown option -S; did you mean -s?", ""),
            ("-z", "unknown option -z", ""),
            ("-i", "option -i needs a value", "option -i needs a value"),
        ] {
            let stock =
                if stock.is_empty() { format!("unknown option {word}") } else { stock.into() };
            for (name, wanted) in [(ProgramName::Rove, own), (ProgramName::Mosh, &stock)] {
                let call = parse(name, vec!["new".into(), word.into()]);
                let Ok(ServerCall::Run { complaints, .. }) = call else {
                    panic!("{word}: {call:?}")
                };
                assert_eq!(complaints, [wanted], "{word}");
            }
        }
        let version = |name| parse(name, vec!["new".into(), "-V".into()]);
        assert_eq!(version(ProgramName::Rove), Ok(ServerCall::Version));
        assert!(matches!(version(ProgramName::Mosh), Ok(ServerCall::Run { .. })));
    }

    #[test]
    fn impossible_values_are_refused_with_their_reason() {
        for (line, reason) in [
            (
                "new -p 70000",
                "Server-side (low) port (70000) must be within 0 to 65535.\nBad UDP port range (70000)",
            ),
            (
                "new -p 5:3",
                "Server-side low port (5) is above the high port (3).\nBad UDP port range (5:3)",
            ),
            (
                "new -p 0:5",
                "A server-side port range cannot start with port 0 (0:5).\nBad UDP port range (0:5)",
            ),
            (
                "new -p 5:",
                "Server-side port or range (5:) is not a number or LOW:HIGH.\nBad UDP port range (5:)",
            ),
            (
                "new -p +5",
                "Server-side port or range (+5) is not a number or LOW:HIGH.\nBad UDP port range (+5)",
            ),
            ("new -c 256x", "Bad number of colors (256x)"),
            (
                "1.2.3.4 x",
                "Server-side port or range (x) is not a number or LOW:HIGH.\nBad UDP port range (x)",
            ),
            ("a b c", "the first word must be \"new\""),
            ("attach x y", "the first word must be \"new\""),
        ] {
            assert_eq!(call(line), Err(reason.to_owned()), "{line}");
        }
    }

    #[test]
    fn colors_are_a_number_or_none() {
        for (text, colors) in [("256", Some(256)), ("0", Some(0)), ("-1", None), ("", None)] {
            assert_eq!(color_count(OsStr::new(text)), Ok(colors), "{text:?}");
        }
    }

    #[test]
    fn rove_server_alone_starts_nothing() {
        for args in [vec![], vec![OsString::from("127.0.0.1")]] {
            assert!(parse(ProgramName::Rove, args).is_err());
        }
        assert!(parse(ProgramName::Rove, vec!["new".into()]).is_ok());
    }

    #[test]
    fn a_session_is_named_or_attached_to_by_roves_own_server_alone() {
        let own = |line: &str| {
            parse(ProgramName::Rove, line.split_whitespace().map(OsString::from).collect())
        };
        for line in ["attach", "attach 60001", "attach work"] {
            let session = line.strip_prefix("attach ").map(|word| word.parse().unwrap());
            assert_eq!(
                own(line),
                Ok(ServerCall::Attach(session, None, Asked::default())),
                "{line}"
            );
        }
        let joined =
            ServerCall::Attach("work".parse().ok(), Some(JoinMode::View), Asked::default());
        assert_eq!(own("attach --view work"), Ok(joined));
        assert_eq!(
            own("attach --share"),
            Ok(ServerCall::Attach(None, Some(JoinMode::Share), Asked::default()))
        );
        let former = "0123456789abcdef.5";
        let asked = Asked { inside: Some("ab".to_owned()), former: former.parse().ok() };
        let inside = ServerCall::Attach("7".parse().ok(), Some(JoinMode::View), asked);
        let line = format!("attach --view -l ROVE_FORMER={former} -l X=y -l ROVE_SESSION=ab 7");
        assert_eq!(own(&line), Ok(inside));
        for line in
            ["attach a b", "attach -x", "attach a --view", "attach A", "new -n 60001", "new -n -x"]
        {
            assert!(own(line).is_err(), "{line}");
        }
        let Ok(ServerCall::Run { options, .. }) = own("streams -p 60010") else {
            panic!("a server")
        };
        assert_eq!((options.purpose, options.ports.low), (Purpose::Streams, 60_010));
        let Ok(ServerCall::Run { options, .. }) = own("forwards -p 60010") else {
            panic!("a server")
        };
        assert_eq!(options.purpose, Purpose::Forwards);
        for line in ["streams -n work", "streams -- ls", "forwards -- ls"] {
            assert_eq!(own(line), Err(ServerLineError::NoProgram), "{line}");
        }
        assert!(call("streams x y").is_err(), "stock has no such word");
        let Ok(ServerCall::Run { options, .. }) = own("new -n work") else { panic!("a server") };
        assert_eq!(options.session, "work".parse().ok());
        let (options, complaints) = run("new -n work");
        assert_eq!((options.session, complaints.len()), (None, 1));
    }

    #[test]
    fn help_and_version_count_before_the_command_only() {
        assert_eq!(call("new -s --help"), Ok(ServerCall::Help));
        assert_eq!(call("-h"), Ok(ServerCall::Help));
        assert_eq!(call("new --version -- x"), Ok(ServerCall::Version));
        assert_eq!(run("new -- x --version -h").0.command.len(), 3);
    }
}
