//! The former client of a session with a rove server, as the next client names it to the server.

use core::fmt;
use core::str::FromStr;

use rove_ssp::Key;

/// The name of a client, and of all its successors, as long as no key is lost in between. It is derived
/// from the first client's session key, and reveals nothing of that key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientId(u64);

impl ClientId {
    /// Returns the name of the client with this key.
    pub fn of(key: &Key) -> Self {
        Self(key.name())
    }
}

/// A client whose process is gone, and the number of the key from which its record is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Former {
    /// The name of the former client.
    pub client: ClientId,
    /// If the server has taken at least this many keys, the record contains all further keys.
    pub whole_from: u64,
}

/// The error of a text that does not name a former client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a former client is 16 hexadecimal digits, a dot and a number")]
pub struct FormerError;

impl fmt::Display for ClientId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for ClientId {
    type Err = FormerError;

    fn from_str(text: &str) -> Result<Self, FormerError> {
        let is_hex = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        u64::from_str_radix(text, 16).ok().filter(|_| is_hex).map(Self).ok_or(FormerError)
    }
}

impl fmt::Display for Former {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.client, self.whole_from)
    }
}

impl FromStr for Former {
    type Err = FormerError;

    fn from_str(text: &str) -> Result<Self, FormerError> {
        let (client, whole_from) = text.split_once('.').ok_or(FormerError)?;
        let is_number = whole_from.bytes().all(|byte| byte.is_ascii_digit());
        let whole_from = whole_from.parse().ok().filter(|_| is_number).ok_or(FormerError)?;
        Ok(Self { client: client.parse()?, whole_from })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_former_client_is_read_as_it_was_written_and_nothing_else_is_one() {
        let client = ClientId::of(&Key::from_bytes([7; 16]));
        assert_ne!(client, ClientId::of(&Key::from_bytes([8; 16])));
        for whole_from in [0, 1, u64::MAX] {
            let former = Former { client, whole_from };
            assert_eq!(former.to_string().parse(), Ok(former));
        }
        for text in [
            "",
            ".",
            "0.0",
            "00112233445566zz.0",
            "+011223344556677.0",
            "0011223344556677.+1",
            "0011223344556677",
        ] {
            assert_eq!(text.parse::<Former>(), Err(FormerError), "{text}");
        }
    }
}
