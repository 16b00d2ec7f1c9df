//! Properties that hold for any input from outside, for the fuzz targets. They are no part of the library's interface.
//!
//! Each function takes the fuzzer's bytes, and panics if a property does not hold.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::OnceLock;

use rove_bootstrap::remote::START;
use rove_bootstrap::startup::{
    ADDRESS, Announced, IP, Progress, Rules, Startup, StartupError, StockAddress, Stream,
};
use rove_bootstrap::{Challenge, HostOptions, Plan, ProgramName};
use rove_ssp::Key;

use crate::agent::filter::Filter;
use crate::bootstrap::Invocation;
use crate::bootstrap::prepare;
use crate::cli::config::Config;
use crate::cli::host::{self, HostCall};
use crate::socks::{self, Request, Step};
use crate::terminal_type::{self, RenderOptions};

/// The ways to start a session that the bootstrap's fuzzer tries. They resolve no name and open no connection.
const CALLS: [(ProgramName, &[&str]); 6] = [
    (ProgramName::Rove, &["--experimental-remote-ip=proxy", "host"]),
    (ProgramName::Rove, &["--experimental-remote-ip=remote", "-p", "1:2", "host"]),
    (ProgramName::Rove, &["--local", "192.0.2.7"]),
    (ProgramName::Mosh, &["host"]),
    (ProgramName::Mosh, &["-e", "remote", "host"]),
    (ProgramName::Mosh, &["-e", "local", "192.0.2.7"]),
];

/// The options and the plan of a call from [`CALLS`].
struct Way {
    options: HostOptions,
    plan: Plan,
}

/// A constant in place of the random word by which rove recognises its own output. Its text is 32 zeros.
const WORD: [u8; 16] = [0; 16];

fn ways() -> &'static [Way] {
    static WAYS: OnceLock<Vec<Way>> = OnceLock::new();
    WAYS.get_or_init(|| {
        let way = |(name, words): (ProgramName, &[&str])| {
            let words = words.iter().map(OsString::from).collect();
            let Ok(HostCall::Connect(options)) = host::parse(name, words, || Ok(Config::default()))
            else {
                panic!("a session is asked for");
            };
            let invocation = Invocation { name, program: "/rove".into(), args: Vec::new() };
            let challenge = Challenge::from_bytes(WORD);
            let plan = prepare::plan(&options, &invocation, 256, challenge, "", None);
            Way { options: *options, plan: plan.expect("the address is a number") }
        };
        CALLS.map(way).into()
    })
}

/// Checks the reading of ssh's output. Both streams may contain anything, in pieces of any size and order, and ssh may
/// end with any status. Only the rules for servers of Mosh (`Rules::Stock`) refuse a line. After a failure of ssh no
/// session begins. A session's port, key and address must come from lines that the plan's rules admit on their streams.
pub fn bootstrap_takes_anything(data: &[u8]) {
    let &[choice, status, ref rest @ ..] = data else { return };
    let way = &ways()[usize::from(choice) % CALLS.len()];
    let status = ExitStatus::from_raw(match status {
        0..0xc0 => i32::from(status) << 8,
        0xc0..0xe0 => 255 << 8,
        signal => i32::from(signal & 15) + 1,
    });
    let pieces = pieces(rest);
    let whole = |stream: Stream| {
        let of_stream = pieces.iter().filter(|(found, _)| *found == stream);
        of_stream.flat_map(|(_, bytes)| bytes.iter().copied()).collect::<Vec<u8>>()
    };
    let (output, errors) = (whole(Stream::Output), whole(Stream::Errors));
    let (mixed, text_len) = read(&way.plan, &pieces);
    assert!(text_len <= output.len() + errors.len(), "the user is shown more than there was");
    let apart = [(Stream::Errors, &errors[..]), (Stream::Output, &output[..])];
    let (apart, _) = read(&way.plan, &apart);
    let is_stock = matches!(way.plan.rules(), Rules::Stock(_));
    let (Ok(mixed), Ok(apart)) = (&mixed, &apart) else {
        assert!(is_stock && apart.is_err(), "refused: {mixed:?}");
        return;
    };
    assert_eq!(mixed, apart, "it depends on how the streams are cut");
    let alone = read(&way.plan, &[(Stream::Output, &output[..])]).0.expect("as before");
    assert_eq!(alone.connect, mixed.connect, "the error output has a say in it");
    assert_announced(&way.plan, mixed, &output, &errors);
    match way.plan.judge(&way.options, mixed.clone(), status) {
        Ok((address, connect)) => {
            assert!(!way.plan.is_ssh_failure(status), "a session of an ssh that failed");
            assert_eq!(Some(&connect), mixed.connect.as_ref());
            let is_plain = address.text.bytes().all(|byte| byte.is_ascii_graphic());
            assert!(is_plain && !address.text.starts_with('-'));
        }
        Err(error) => assert!(!error.to_string().contains('\u{1b}'), "it acts on a terminal"),
    }
}

/// Asserts that each announced fact comes from a line that the plan's rules permit for it.
fn assert_announced(plan: &Plan, announced: &Announced, output: &[u8], errors: &[u8]) {
    let lines = |stream: &[u8]| {
        let lines = stream.split(|&byte| byte == b'\n');
        lines.map(|line| line.trim_ascii_end().to_vec()).collect::<Vec<_>>()
    };
    let has = |lines: &[Vec<u8>], line: String| lines.iter().any(|it| *it == line.as_bytes());
    let word = "0".repeat(2 * WORD.len());
    let (mut host, proxy) = (lines(output), lines(errors));
    let rules = plan.rules();
    if matches!(rules, Rules::Tolerant { start: true, .. }) {
        let start = format!("{START} {word}");
        let at = host.iter().position(|line| *line == start.as_bytes());
        host.drain(..at.map_or(host.len(), |at| at + 1));
    }
    if let Some(connect) = &announced.connect {
        assert!(has(&host, format!("MOSH CONNECT {} {}", connect.port, connect.key)));
        // Four bits of the last Base64 character belong to no key. The client refuses a text that sets them.
        let key = Key::from_text(&connect.key);
        assert!(key.is_err() || *key.expect("a key").to_text() == connect.key);
    }
    if let Some(address) = &announced.server_address {
        let is_it = |line: &Vec<u8>| {
            line.starts_with(b"MOSH SSH_CONNECTION ")
                && line.windows(address.len()).any(|it| it == address.as_bytes())
        };
        assert!(host.iter().any(is_it));
    }
    if let Some(address) = &announced.proxy_address {
        let line = match rules {
            Rules::Stock(StockAddress::Proxy) => format!("MOSH IP {address}"),
            Rules::Tolerant { proxy: true, .. } => format!("{IP} {word} {address}"),
            _ => panic!("there is no proxy that tells an address"),
        };
        assert!(has(&proxy, line));
    }
    for address in &announced.other_addresses {
        assert!(has(&proxy, format!("{ADDRESS} {word} {address}")));
    }
}

/// Cuts the fuzzer's bytes into pieces: a byte gives the stream and the length of the piece that follows.
fn pieces(data: &[u8]) -> Vec<(Stream, &[u8])> {
    let mut pieces = Vec::new();
    let mut rest = data;
    while let [head, tail @ ..] = rest {
        let stream = if head >> 7 == 0 { Stream::Output } else { Stream::Errors };
        let (piece, after) = tail.split_at(usize::from(head & 0x7f).min(tail.len()));
        pieces.push((stream, piece));
        rest = after;
    }
    pieces
}

/// Reads the pieces to the streams' ends. Returns the announcement, and the length of the text that the user sees.
fn read(plan: &Plan, pieces: &[(Stream, &[u8])]) -> (Result<Announced, StartupError>, usize) {
    let (mut startup, mut text) = (Startup::new(plan.rules()), Vec::new());
    let mut is_announced = false;
    for &(stream, piece) in pieces {
        if is_announced && stream == Stream::Output {
            continue;
        }
        match startup.read(stream, piece, &mut text) {
            Ok(progress) => is_announced |= progress == Progress::Announced,
            Err(error) => return (Err(error), text.len()),
        }
    }
    let ends = Stream::ALL.map(|stream| startup.finish(stream, &mut text));
    let end = ends.into_iter().find_map(Result::err);
    (end.map_or_else(|| Ok(startup.announced), Err), text.len())
}

/// Checks that any file of settings is parsed, or has a fault whose position lies within the file.
pub fn config_takes_anything(data: &[u8]) {
    let host = String::from_utf8_lossy(&data[..data.len().min(32)]);
    match Config::parse(data) {
        Ok(config) => drop(config.for_host(OsStr::new(&*host))),
        Err(fault) => assert!(fault.at <= data.len(), "what is wrong lies behind the file's end"),
    }
}

/// Checks that the alternate screen's sequences, read from a terminfo entry, have at most twice the entry's bytes.
pub fn terminfo_takes_anything(data: &[u8]) {
    let render_options = RenderOptions { init: true, ..RenderOptions::default() };
    for term in ["xterm-256color", "dumb"] {
        let Ok(capabilities) = terminal_type::read_entry(data, term, render_options) else {
            continue;
        };
        assert!(
            capabilities.alternate_screen.enter.len() + capabilities.alternate_screen.leave.len()
                <= 2 * data.len(),
            "more than there was"
        );
    }
}

/// Checks the SOCKS server. A program may send any bytes in any pieces. The answer does not depend on the pieces, and
/// an accepted target is within the bounds of a message.
pub fn socks_takes_anything(data: &[u8]) {
    let [size, data @ ..] = data else { return };
    let data = &data[..data.len().min(socks::REQUEST_MAX)];
    let read = |size: usize| {
        let (mut request, mut replies) = (Request::default(), Vec::new());
        for piece in data.chunks(size) {
            match request.handle(piece, &mut replies) {
                Step::More => {}
                Step::Connect { target, version, .. } => {
                    assert!(target.check().is_ok(), "{target:?}");
                    return (replies, Some((target, version)), true);
                }
                Step::End => return (replies, None, true),
            }
        }
        (replies, None, false)
    };
    let whole = read(socks::REQUEST_MAX);
    assert!(whole.0.len() <= 32, "a reply is short");
    assert_eq!(read(usize::from(*size).max(1)), whole);
}

/// Checks the agent's filter. Host and agent may send any bytes in any pieces. The agent gets only whole messages of
/// permitted kinds, and the host only refusals and the agent's own bytes.
pub fn agent_takes_anything(data: &[u8]) {
    let [flags, data @ ..] = data else { return };
    let mut data = data;
    let (asks, is_bound) = (flags & 1 == 1, flags & 2 == 2);
    let mut filter = Filter::new(asks, is_bound);
    let (mut to_agent, mut to_host, mut said) = (Vec::new(), Vec::new(), 0);
    // A request has at least five bytes, and so has a refusal.
    let asked = data.len();
    while let [head, rest @ ..] = data {
        let (piece, after) = rest.split_at(usize::from(head & 0x3f).min(rest.len()));
        let result = match head >> 6 {
            0 | 1 => filter.handle_request(piece, &mut to_agent, &mut to_host),
            2 => {
                said += piece.len();
                filter.handle_answer(piece, &mut to_agent, &mut to_host)
            }
            _ => {
                filter.decide(head & 1 == 1, &mut to_agent, &mut to_host);
                Ok(())
            }
        };
        if let Some(used) = filter.poll_use() {
            assert!(!used.to_string().contains(char::is_control), "it acts on a terminal");
        }
        if result.is_err() {
            break;
        }
        data = after;
    }
    let refused = asked / 5 + 1;
    assert!(to_host.len() <= said + 5 * refused, "the host is told more than there was");
    check_messages(&to_agent, is_bound);
}

/// Asserts that the bytes for the agent are whole messages of the permitted kinds.
fn check_messages(mut rest: &[u8], is_bound: bool) {
    while let Some((len, after)) = rest.split_first_chunk::<4>() {
        let len = usize::try_from(u32::from_be_bytes(*len)).expect("it fits");
        let message = after.get(..len).expect("messages are whole");
        let is_allowed = match message[0] {
            11 | 13 => true,
            27 => is_bound && message.windows(5).any(|it| it == b"query" || it == b"sessi"),
            _ => false,
        };
        assert!(is_allowed, "the agent is sent {}", message[0]);
        rest = &after[len..];
    }
    assert!(rest.is_empty(), "messages are whole");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns bytes made of `words` and of noise between them.
    fn pieces(words: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
        let word = (0..words.len()).prop_map(|at| words[at].as_bytes().to_vec());
        let piece = prop_oneof![4 => word, 1 => proptest::collection::vec(any::<u8>(), 0..40)];
        proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    /// Returns the fuzzer's bytes for these words of an output. Each bit of `streams` chooses the stream of a word.
    fn on_streams(streams: u64, words: &[usize]) -> Vec<u8> {
        let piece = |(at, &word): (usize, &usize)| {
            let text = PRINTED[word % PRINTED.len()].as_bytes();
            let stream = if streams >> (at % 64) & 1 == 1 { 0x80 } else { 0 };
            let head = stream | u8::try_from(text.len()).expect("the pieces are short");
            [&[head], text].concat()
        };
        words.iter().enumerate().flat_map(piece).collect()
    }

    const PRINTED: &[&str] = &[
        "MOSH CONNECT 60001 4NeCCgvZFe2RnPgrcU1PQw\n",
        "MOSH IP 192.0.2.7\n",
        "ROVE START 00000000000000000000000000000000\r\n",
        "ROVE START\n",
        "ROVE IP 00000000000000000000000000000000 192.0.2.7\n",
        "ROVE ADDRESS 00000000000000000000000000000000 ::1\n",
        "MOSH SSH_CONNECTION ::1 5 192.0.2.8 22\n",
        "ROVE NO SERVER PROGRAM\n",
        "MOSH CONNECT ",
        "MOSH IP ",
        "MOSH SSH_CONNECTION ",
        "ROVE ",
        "\n",
        "\r\n",
        " ",
        "60001",
        "4NeCCgvZFe2RnPgrcU1PQw",
        "4NeCCgvZFe2RnPgrcU1PQx",
        "192.0.2.7",
        "fe80::1%eth0",
        "-oProxyCommand=x",
        "Bad UDP port",
        "\x1b]52;c;eA==\x07",
    ];

    const WRITTEN: &[&str] = &[
        "[host.\"*.example.org\"]\n",
        "[host.\"?\"]\n",
        "[",
        "]",
        "[[",
        "{",
        "}",
        "\"",
        " = ",
        "true\n",
        "\"adaptive\"\n",
        "predict",
        "port",
        "60_001\n",
        "0x1f\n",
        "# \n",
        "\n",
        ".",
        "\u{feff}",
    ];

    proptest! {
        #[test]
        fn only_the_host_announces_a_session_in_any_output_of_ssh(
            choice: u8,
            status: u8,
            streams: u64,
            words in proptest::collection::vec(0..100_usize, 0..24),
        ) {
            bootstrap_takes_anything(&[&[choice, status], &on_streams(streams, &words)[..]].concat());
        }

        #[test]
        fn only_the_host_announces_a_session_in_any_bytes_of_ssh(data in any::<Vec<u8>>()) {
            bootstrap_takes_anything(&data);
        }

        #[test]
        fn any_file_of_settings_is_read_or_refused(file in pieces(WRITTEN)) {
            config_takes_anything(&file);
        }
    }

    #[test]
    fn nesting_without_end_is_refused() {
        for open in ["a = [", "a = {a = ", "[a.", "a."] {
            let (head, repeated) = open.split_at(open.find(['[', '{', '.']).unwrap_or(0));
            config_takes_anything((head.to_owned() + &repeated.repeat(100_000)).as_bytes());
        }
    }
}
