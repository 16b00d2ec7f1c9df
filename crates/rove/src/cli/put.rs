//! The command line of `rove put`, which copies files to a host and types their paths into a session there.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use clap::{Arg, Command};
use rove_bootstrap::{HostOptions, Joined, SessionRef};
use rove_cli_docs::{Manual, Words};

use crate::cli::config::{Config, ConfigError};
use crate::cli::host;
use crate::cli::login::{Instead, Login};
use crate::client::file_sender;
use crate::messages::reason;
use crate::program::ROVE;

/// Most bytes of the names of all files of one `rove put`. Chosen: the client gets them as JSON in an environment
/// variable, where a byte takes up to four characters (`255,`).
const NAMES_MAX: usize = 16_384;

pub(crate) static MANUAL: Manual = Manual {
    word: "put",
    definition,
    words: Words::HostAndFiles,
    text: include_str!("../../manuals/put.toml"),
    ..Manual::of(&ROVE)
};

fn definition() -> Command {
    Command::new("rove put")
        .about("Copies files to a host and types their paths into a session there")
        .override_usage("rove put [options] [user@]host[:session] file...")
        .args([
            Arg::new("ssh")
                .long("ssh")
                .value_name("COMMAND")
                .help("ssh to run for the login, with options: \"ssh -p 2222\" [default: ssh]"),
            host::flag("quiet", "Leave out messages that are no errors").short('q'),
            host::controller_option(),
            Arg::new("words").num_args(0..).value_parser(clap::value_parser!(OsString)).hide(true),
        ])
        .args_override_self(true)
}

/// Reads the words after `put`. `load` reads the user's configuration.
///
/// # Errors
///
/// Returns a fault of the command line, a file or the configuration, or a request for something else, such as `--help`.
pub(crate) fn parse(
    args: Vec<OsString>,
    load: impl FnOnce() -> Result<Config, ConfigError>,
) -> Result<(HostOptions, Joined), Instead> {
    let matches = rove_cli_docs::matches(&MANUAL, args)?;
    let mut words = matches.get_many::<OsString>("words").unwrap_or_default().cloned();
    let files = |words: &mut dyn Iterator<Item = OsString>| words.collect::<Vec<_>>();
    let (Some(place), files) = (words.next(), files(&mut words)) else {
        return Err(Instead::wrong_form(&MANUAL, "no host is named"));
    };
    let (host, session) = split(&place);
    if !session.is_empty() {
        session.parse::<SessionRef>().map_err(Instead::wrong)?;
    }
    if files.is_empty() {
        return Err(Instead::wrong_form(&MANUAL, "no file is named"));
    }
    if files.iter().map(|it| it.as_bytes().len() + 1).sum::<usize>() > NAMES_MAX {
        return Err(Instead::wrong(format!("the files' names have more than {NAMES_MAX} bytes")));
    }
    for file in &files {
        file_sender::open(Path::new(file)).map_err(|error| {
            let name = file.to_string_lossy();
            Instead::wrong(format!("{}: {}", name.escape_debug(), reason(&error.to_string())))
        })?;
    }
    let mut login = Login::default();
    login.add(matches.get_one::<String>("ssh").map(|ssh| format!("--ssh={ssh}").into()));
    login.add(host::controller_words(&matches));
    login.add(matches.get_flag("quiet").then(|| "--quiet".into()));
    let options = login.options(host, load)?;
    let files = files.into_iter().map(OsString::into_vec).collect();
    Ok((options, Joined::Files { session, files }))
}

/// Splits `host:session` at the last colon. The second text is empty if `place` names no session. An IPv6 address must
/// be in brackets if a session follows.
fn split(place: &OsStr) -> (OsString, String) {
    let text = place.to_string_lossy();
    let at = text.rfind(':').filter(|at| {
        let host = &text[..*at];
        host.ends_with(']') || !host.contains(':')
    });
    match at {
        Some(at) => {
            let host = &text[..at];
            let (user, host) = host.split_at(host.rfind('@').map_or(0, |at| at + 1));
            let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            let host = format!("{user}{}", address.unwrap_or(host));
            (host.into(), text[at + 1..].to_owned())
        }
        None => (place.to_owned(), String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<(String, String, usize), String> {
        let words = words.iter().map(OsString::from).collect();
        match parse(words, || Ok(Config::default())) {
            Ok((options, Joined::Files { session, files })) => {
                Ok((options.host.to_string_lossy().into_owned(), session, files.len()))
            }
            Ok((_, joined)) => panic!("{joined:?}"),
            Err(Instead::Wrong(error)) => Err(error.message),
            Err(_) => panic!("no other answer is asked for"),
        }
    }

    #[test]
    fn a_host_a_session_and_files_are_read() {
        let file = std::env::current_exe().unwrap();
        let file = file.to_str().unwrap();
        let read = |place: &str| parsed(&[place, file, file]);
        for (place, host, session) in [
            ("host", "host", ""),
            ("me@host:work", "me@host", "work"),
            ("host:60001", "host", "60001"),
            ("host:", "host", ""),
            ("::1", "::1", ""),
            ("[::1]:work", "::1", "work"),
            ("me@[2001:db8::5]:60001", "me@2001:db8::5", "60001"),
        ] {
            assert_eq!(read(place), Ok((host.to_owned(), session.to_owned(), 2)), "{place}");
        }
        for (words, part) in [
            (&[][..], "no host is named"),
            (&["host"], "no file is named"),
            (&["host:A B", file], "a session's name consists of"),
            (&["host", "/nowhere/at all"], "/nowhere/at all: No such file"),
            (&["host", "/"], "/: it is no file"),
            (&["host", "/dev/null"], "/dev/null: it is no file"),
            (&["--", "-host", file], "is not a host name"),
        ] {
            let error = parsed(words).unwrap_err();
            assert!(error.contains(part), "{words:?}: {error}");
        }
        let many = vec![file; NAMES_MAX / file.len() + 1];
        let error = parsed(&[&["host"], &many[..]].concat()).unwrap_err();
        assert!(error.contains("more than 16384 bytes"), "{error}");
    }
}
