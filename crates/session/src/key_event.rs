//! Finds keys that arrive as control sequences among the user's bytes, one sequence at a time.
//!
//! [`rove_terminal::KeyEvent`] reads the key itself. The client needs only the byte that the key stands for, as the
//! program on the host reads the sequence.

use rove_terminal::KeyEvent;

const ESC: u8 = 0x1b;

/// Longest sequence read as a key. Chosen: the longest a single key is known to need is 45, for a key
/// with both alternates, all modifiers and its text.
const SEQUENCE_MAX: usize = 64;

/// A reading of bytes from a keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// A possible beginning of a key.
    Beginning,
    /// This key.
    Key(KeyEvent),
    /// Something else, in part or whole.
    Other,
}

/// Reads bytes that begin with ESC.
pub(crate) fn read(bytes: &[u8]) -> Reading {
    let [ESC, rest @ ..] = bytes else {
        return Reading::Other;
    };
    let [b'[', rest @ ..] = rest else {
        return if rest.is_empty() { Reading::Beginning } else { Reading::Other };
    };
    let is_parameter = |byte: &u8| matches!(byte, b'0'..=b'9' | b':' | b';');
    let len = rest.iter().take_while(|byte| is_parameter(byte)).count();
    let event = match rest[len..] {
        [] if bytes.len() < SEQUENCE_MAX => return Reading::Beginning,
        [last] => KeyEvent::read(&rest[..len], last),
        _ => None,
    };
    event.map_or(Reading::Other, Reading::Key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_in_both_forms() {
        for bytes in [&b"\x1b[94;5u"[..], b"\x1b[27;5;94~"] {
            let Reading::Key(event) = read(bytes) else { panic!("no key: {bytes:?}") };
            assert_eq!((event.as_byte(), event.is_hit), (Some(0x1e), true));
        }
    }

    #[test]
    fn other_sequences_are_told_at_the_first_byte_that_no_key_has() {
        let others: [&[u8]; 16] = [
            b"x",
            b"\x1bO",
            b"\x1b\x1b",
            b"\x1b[A",
            b"\x1b[1;5A",
            b"\x1b[3~",
            b"\x1b[27;5~",
            b"\x1b[27;5;94;1~",
            b"\x1b[26;5;94~",
            b"\x1b[27:1;5;94~",
            b"\x1b[?",
            b"\x1b[<",
            b"\x1b[u",
            b"\x1b[;5u",
            b"\x1b[4294967296u",
            b"\x1b[9\x1b",
        ];
        for bytes in others {
            assert_eq!(read(bytes), Reading::Other, "{bytes:?}");
        }
        let whole = b"\x1b[54:94:54;6:1;1u";
        for len in 1..whole.len() {
            assert_eq!(read(&whole[..len]), Reading::Beginning, "{len} bytes");
        }
    }

    #[test]
    fn no_sequence_is_read_beyond_its_bound() {
        let long = |len: usize| [b"\x1b[".to_vec(), vec![b'1'; len - 2]].concat();
        assert_eq!(read(&long(SEQUENCE_MAX - 1)), Reading::Beginning);
        assert_eq!(read(&long(SEQUENCE_MAX)), Reading::Other);
    }
}
