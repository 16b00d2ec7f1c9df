//! Text from outside, and what must hold whatever it is: for the fuzz targets, and no part of the
//! library's interface.
//!
//! Each function takes the fuzzer's bytes and panics when something does not hold.

use std::ffi::OsStr;

use rove_ssp::Key;

use crate::ancillary::control_messages;
use crate::bootstrap::startup::{Announced, Progress, Rules, Startup, StartupError};
use crate::cli::config::Config;
use crate::control::protocol::{decode_reply, decode_request};
use crate::sys;
use crate::tunnel::frame::{Decoder, Frame, FrameError};

/// What ssh prints may be anything, in pieces of any size: what is learnt and shown is the same, only
/// stock's rules refuse anything, and what is announced is an address, a port and a key.
pub fn startup_takes_anything(data: &[u8]) {
    let Some((&choice, output)) = data.split_first() else { return };
    let bit = |number: u32| choice >> number & 1 == 1;
    let rules = if bit(0) {
        Rules::Stock { address_known: bit(1) }
    } else {
        Rules::Tolerant { proxy: bit(1), start: bit(2) }
    };
    let (whole, text) = read(rules, output.chunks(output.len().max(1)));
    let pieces = read(rules, output.chunks(1 + usize::from(choice >> 3)));
    assert!((&whole, &text) == (&pieces.0, &pieces.1), "it depends on how the output is cut");
    assert!(text.len() <= output.len(), "the user is shown more than there was");
    let announced = match whole {
        Ok(announced) => announced,
        Err(error) => {
            assert!(matches!(rules, Rules::Stock { .. }), "refused: {error}");
            return;
        }
    };
    if let Some(connect) = announced.connect {
        // Four bits of the last character belong to no key: the client refuses what has them.
        let key = Key::from_text(&connect.key);
        assert!(key.is_err() || *key.expect("a key").to_text() == connect.key);
        assert!(connect.port.bytes().all(|byte| byte.is_ascii_digit()));
    }
    for address in [announced.proxy_address, announced.server_address].into_iter().flatten() {
        assert!(!address.starts_with('-') && address.bytes().all(|byte| byte.is_ascii_graphic()));
    }
}

fn read<'a>(
    rules: Rules,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> (Result<Announced, StartupError>, Vec<u8>) {
    let (mut startup, mut text) = (Startup::new(rules), Vec::new());
    for piece in pieces {
        match startup.read(piece, &mut text) {
            Ok(Progress::Reading) => {}
            Ok(Progress::Announced) => return (Ok(startup.into_announced()), text),
            Err(error) => return (Err(error), text),
        }
    }
    let end = startup.finish(&mut text);
    (end.map(|_| startup.into_announced()), text)
}

/// A file of settings may hold anything: it is read, or a place in it is named; a host has settings or
/// none.
pub fn config_takes_anything(data: &[u8]) {
    let host = String::from_utf8_lossy(&data[..data.len().min(32)]);
    match Config::parse(data) {
        Ok(config) => drop(config.for_host(OsStr::new(&*host))),
        Err(fault) => assert!(fault.at() <= data.len(), "what is wrong lies behind the file's end"),
    }
}

/// Whoever reaches a control socket, or answers at one, may say anything.
pub fn control_takes_anything(data: &[u8]) {
    let _ = decode_request(data);
    let _ = decode_reply(data);
}

/// A tunnel may bring any bytes, in pieces of any size: the same frames come of them, and written again
/// they are read alike.
pub fn tunnel_takes_anything(data: &[u8]) {
    let Some((&choice, stream)) = data.split_first() else { return };
    let (frames, end) = frames(stream.chunks(stream.len().max(1)));
    let pieces = self::frames(stream.chunks(1 + usize::from(choice)));
    assert!((&frames, &end) == (&pieces.0, &pieces.1), "it depends on how the stream is cut");
    let mut again = Vec::new();
    frames.iter().for_each(|frame| frame.encode(&mut again));
    assert!(again.len() <= stream.len(), "more than there was");
    assert_eq!(self::frames(again.chunks(1 + usize::from(choice))), (frames, Ok(())));
}

fn frames<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<Frame>, Result<(), FrameError>) {
    let (mut decoder, mut frames) = (Decoder::default(), Vec::new());
    for mut piece in pieces {
        while !piece.is_empty() {
            match decoder.next(&mut piece) {
                Ok(frame) => frames.extend(frame),
                Err(error) => return (frames, Err(error)),
            }
        }
    }
    (frames, Ok(()))
}

/// Control messages may be anything: the walk over them ends, stays within the bytes, and so do their readers.
pub fn ancillary_takes_anything(data: &[u8]) {
    let span: usize = control_messages(data).map(|message| message.data.len()).sum();
    assert!(span <= data.len(), "more than there was");
    assert!(control_messages(data).count() <= data.len(), "a walk without an end");
    let _ = (sys::congestion_mark(data), sys::local_address(data));
}

/// A key's text is read back as it was written, and no other text is a key.
pub fn key_takes_anything(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    if let Ok(key) = Key::from_text(text) {
        assert_eq!(*key.to_text(), text);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bootstrap::remote::START;

    /// Pieces that mean something, and noise between them.
    fn pieces(words: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
        let word = (0..words.len()).prop_map(|at| words[at].as_bytes().to_vec());
        let piece = prop_oneof![4 => word, 1 => proptest::collection::vec(any::<u8>(), 0..40)];
        proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    const PRINTED: &[&str] = &[
        "MOSH CONNECT ",
        "MOSH IP ",
        "MOSH SSH_CONNECTION ",
        START,
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
        fn whatever_is_printed_is_read_alike_however_it_is_cut(
            choice: u8,
            output in pieces(PRINTED),
        ) {
            startup_takes_anything(&[&[choice], &output[..]].concat());
        }

        #[test]
        fn whatever_a_file_holds_is_read_or_refused(file in pieces(WRITTEN)) {
            config_takes_anything(&file);
        }

        #[test]
        fn whatever_a_control_socket_says_is_read_or_refused(line in any::<Vec<u8>>()) {
            control_takes_anything(&line);
        }

        #[test]
        fn whatever_comes_out_of_a_tunnel_is_read_alike_however_it_is_cut(
            cut: u8,
            frames in proptest::collection::vec((0_u8..4, 0_u8..6, any::<[u8; 5]>()), 0..40),
        ) {
            let frame = |(kind, len, contents): &(u8, u8, [u8; 5])| {
                [&[*kind, 0, *len], &contents[..usize::from((*len).min(5))]].concat()
            };
            let stream: Vec<Vec<u8>> = frames.iter().map(frame).collect();
            tunnel_takes_anything(&[&[cut], &stream.concat()[..]].concat());
        }

        #[test]
        fn whatever_the_control_messages_are_the_walk_ends(
            data in proptest::collection::vec(prop_oneof![Just(0_u8), 0..64_u8, any::<u8>()], 0..200),
        ) {
            ancillary_takes_anything(&data);
        }

        #[test]
        fn what_is_read_as_a_key_is_written_alike(text in "[A-Za-z0-9+/]{21,23}") {
            key_takes_anything(text.as_bytes());
        }
    }

    #[test]
    fn nesting_without_end_is_refused() {
        for open in ["a = [", "a = {a = ", "[a.", "a."] {
            let (head, repeated) = open.split_at(open.find(['[', '{', '.']).unwrap_or(0));
            config_takes_anything((head.to_owned() + &repeated.repeat(100_000)).as_bytes());
        }
        for open in ["[", "{\"a\":"] {
            control_takes_anything(open.repeat(10_000).as_bytes());
        }
    }
}
