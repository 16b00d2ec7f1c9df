//! Texts and frames outside a session's datagrams: ssh's configuration, control sockets, tunnels and keys.

use rove_bootstrap::Sharing;
use rove_bootstrap::ssh_config::{self, DETOUR_CHARS_MAX};
use rove_bootstrap::tunnel::frame::{Decoder, Frame, FrameError};
use rove_control::{decode_reply, decode_request};
use rove_ssp::Key;

/// `ssh -G` may print anything. The parsed text must have no effect on a terminal, the name must be no option, and the
/// account must be a single word.
pub fn ssh_config_takes_anything(data: &[u8]) {
    let answer = String::from_utf8_lossy(data);
    let config = ssh_config::parse(&answer, |_| Sharing::Unknown);
    if let Some(account) = config.account() {
        assert!(!account.to_string().contains(|c: char| c.is_whitespace() || c.is_control()));
    }
    if let Some(name) = config.host_name {
        assert!(answer.contains(&name) && !name.is_empty() && !name.starts_with('-'));
        assert!(!name.contains(|c: char| c.is_whitespace() || c.is_control()));
    }
    if let Some(detour) = config.detour {
        let (kind, words) = detour.split_once(' ').expect("a keyword and its value");
        assert!(["ProxyJump", "ProxyCommand"].contains(&kind));
        assert!(!words.is_empty() && !words.eq_ignore_ascii_case("none"));
        assert!(!words.contains(char::is_control) && words.chars().count() <= DETOUR_CHARS_MAX);
    }
}

/// The peers at both ends of a control socket may send anything.
pub fn control_takes_anything(data: &[u8]) {
    assert!(decode_request(data).is_err() || data.starts_with(b"rove/"), "another protocol");
    let is_json =
        data.trim_ascii_start().starts_with(b"{") || data.trim_ascii_start().starts_with(b"[");
    assert!(decode_reply(data).is_err() || is_json, "no JSON");
}

/// A tunnel may deliver any bytes, in pieces of any size. The pieces must not change the frames. Frames that are
/// written and read again must stay the same.
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

/// A key's text must be read as it was written, and no other text may be a key.
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

    proptest! {
        #[test]
        fn any_configuration_of_ssh_is_shown_harmlessly(
            answer in "((ProxyJump|proxycommand|hostname|x) ?(none|-o|[ -~\\PC]{0,20})?[\r\t\u{1b}]?\n){0,8}",
        ) {
            ssh_config_takes_anything(answer.as_bytes());
        }

        #[test]
        fn any_line_of_a_control_socket_is_read_or_refused(line in any::<Vec<u8>>()) {
            control_takes_anything(&line);
        }

        #[test]
        fn any_bytes_of_a_tunnel_are_read_alike_however_they_are_cut(
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
        fn a_parsed_key_is_written_alike(text in "[A-Za-z0-9+/]{21,23}") {
            key_takes_anything(text.as_bytes());
        }
    }

    #[test]
    fn nesting_without_end_is_refused() {
        for open in ["[", "{\"a\":"] {
            control_takes_anything(open.repeat(10_000).as_bytes());
        }
    }
}
