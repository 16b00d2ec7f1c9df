//! The server's side of SOCKS 4, 4a and 5, only for CONNECT and without authentication. It does no I/O.
//!
//! Source: RFC 1928, and the memos on SOCKS 4 and 4a.

use std::net::{Ipv4Addr, Ipv6Addr};

use rove_streams::Target;
use rove_units::Duration;

/// Most bytes of a SOCKS request. Chosen: more than a SOCKS 4a request whose user and name have 255 bytes each.
pub(crate) const REQUEST_MAX: usize = 1_024;

/// Most incomplete requests of SOCKS clients at an end. Chosen: a browser opens at most so many connections to a proxy.
pub(crate) const REQUESTS_MAX: usize = 32;

/// Longest wait for the request of a SOCKS client. Chosen: as long as making a connection may take.
pub(crate) const REQUEST_PATIENCE: Duration = Duration::from_secs(30);

/// Time for which an incomplete request is kept even if many other clients wait. Chosen: a handshake takes two round
/// trips to the client. Connections that send nothing delay the other clients for at most this time.
pub(crate) const REQUEST_TIME: Duration = Duration::from_secs(2);
const _: () = assert!(REQUEST_TIME.as_nanos() < REQUEST_PATIENCE.as_nanos());

/// The first byte of a request, by version.
const VERSION_4: u8 = 4;
const VERSION_5: u8 = 5;

/// The command that asks for a connection, in each version.
const CONNECT: u8 = 1;

/// The method of SOCKS 5 without authentication, and the answer to a greeting that does not offer this method.
const NO_AUTHENTICATION: u8 = 0;
const NO_METHOD: u8 = 0xff;

/// The kinds of addresses of SOCKS 5.
const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

/// The results of a SOCKS 5 request.
const SUCCEEDED: u8 = 0;
const FAILED: u8 = 1;
const HOST_UNREACHABLE: u8 = 4;
const REFUSED: u8 = 5;
const NO_COMMAND: u8 = 7;
const NO_ADDRESS: u8 = 8;

/// The results of a SOCKS 4 request.
const GRANTED_4: u8 = 0x5a;
const REJECTED_4: u8 = 0x5b;

/// A client's request, of which some bytes may be missing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    bytes: Vec<u8>,
    /// Whether the greeting of SOCKS 5 was answered.
    is_greeted: bool,
}

/// The progress of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The request is incomplete.
    More,
    /// The client wants a connection.
    Connect {
        target: Target,
        version: Version,
        /// The bytes that the client has sent after the request.
        rest: Vec<u8>,
    },
    /// The request has failed, and the connection ends.
    End,
}

/// The version of SOCKS that a client uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    Four,
    Five,
}

impl Version {
    /// Returns the reply to a request whose connection was made.
    pub(crate) fn granted(self) -> Vec<u8> {
        match self {
            Self::Four => reply_4(GRANTED_4),
            Self::Five => reply_5(SUCCEEDED),
        }
    }

    /// Returns the reply to a request with an invalid target.
    fn failed(self) -> Vec<u8> {
        match self {
            Self::Four => reply_4(REJECTED_4),
            Self::Five => reply_5(FAILED),
        }
    }

    /// Returns the reply to a request whose connection failed with this error message.
    pub(crate) fn refused(self, words: &str) -> Vec<u8> {
        match self {
            Self::Four => reply_4(REJECTED_4),
            Self::Five if words.starts_with("Connection refused") => reply_5(REFUSED),
            Self::Five => reply_5(HOST_UNREACHABLE),
        }
    }
}

impl Request {
    /// Reads the client's next bytes, and returns the request's progress. Appends the bytes to send back to `replies`.
    pub(crate) fn handle(&mut self, bytes: &[u8], replies: &mut Vec<u8>) -> Step {
        self.bytes.extend(bytes);
        let parsed = match self.bytes.first() {
            _ if self.is_greeted => self.version_5(replies),
            None => Ok(None),
            Some(&VERSION_4) => self.version_4(),
            Some(&VERSION_5) => self.version_5(replies),
            Some(_) => Err(Vec::new()),
        };
        let checked = parsed.and_then(|found| match found {
            Some((target, version, _)) if target.check().is_err() => Err(version.failed()),
            found => Ok(found),
        });
        match checked {
            Ok(Some((target, version, rest))) => {
                debug_assert!(rest.len() < self.bytes.len(), "the request is no part of the rest");
                Step::Connect { target, version, rest }
            }
            Ok(None) if self.bytes.len() > REQUEST_MAX => Step::End,
            Ok(None) => Step::More,
            Err(reply) => {
                replies.extend(reply);
                Step::End
            }
        }
    }

    fn version_4(&self) -> Parsed {
        let mut reader = Reader(&self.bytes[1..]);
        let Some(&[command, high, low, a, b, c, d]) = reader.take() else { return Ok(None) };
        let Some(_user) = reader.until_zero() else { return Ok(None) };
        let host = match [a, b, c, d] {
            // In SOCKS 4a, such an address means that a name follows.
            [0, 0, 0, 1..=255] => match reader.until_zero() {
                Some(name) => text(name).ok_or_else(|| reply_4(REJECTED_4))?,
                None => return Ok(None),
            },
            address => Ipv4Addr::from(address).to_string(),
        };
        if command != CONNECT {
            return Err(reply_4(REJECTED_4));
        }
        let target = Target::Tcp { host, port: u16::from_be_bytes([high, low]) };
        Ok(Some((target, Version::Four, reader.0.to_vec())))
    }

    /// Reads the greeting and the request. Appends the answer to the greeting to `replies`.
    fn version_5(&mut self, replies: &mut Vec<u8>) -> Parsed {
        if !self.is_greeted {
            let Some((&count, rest)) = self.bytes[1..].split_first() else { return Ok(None) };
            let Some((methods, rest)) = rest.split_at_checked(count.into()) else {
                return Ok(None);
            };
            if !methods.contains(&NO_AUTHENTICATION) {
                return Err(vec![VERSION_5, NO_METHOD]);
            }
            replies.extend([VERSION_5, NO_AUTHENTICATION]);
            self.is_greeted = true;
            self.bytes = rest.to_vec();
        }
        let mut reader = Reader(&self.bytes);
        let Some(&[version, command, _, kind]) = reader.take() else { return Ok(None) };
        if version != VERSION_5 {
            return Err(reply_5(FAILED));
        }
        let host = match kind {
            IPV4 => reader.take::<4>().map(|it| Ipv4Addr::from(*it).to_string()),
            IPV6 => reader.take::<16>().map(|it| Ipv6Addr::from(*it).to_string()),
            NAME => match reader.counted() {
                Some(name) => Some(text(name).ok_or_else(|| reply_5(FAILED))?),
                None => None,
            },
            _ => return Err(reply_5(NO_ADDRESS)),
        };
        let (Some(host), Some(&port)) = (host, reader.take()) else { return Ok(None) };
        if command != CONNECT {
            return Err(reply_5(NO_COMMAND));
        }
        let target = Target::Tcp { host, port: u16::from_be_bytes(port) };
        Ok(Some((target, Version::Five, reader.0.to_vec())))
    }
}

/// The target, the version and the bytes after the request; `None` while the request is incomplete; or the last reply
/// to a bad request.
type Parsed = Result<Option<(Target, Version, Vec<u8>)>, Vec<u8>>;

/// Removes parts from the front of a request. A part is `None` while it is incomplete.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take<const LEN: usize>(&mut self) -> Option<&'a [u8; LEN]> {
        let (part, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(part)
    }

    fn counted(&mut self) -> Option<&'a [u8]> {
        let [count] = *self.take()?;
        let (part, rest) = self.0.split_at_checked(count.into())?;
        self.0 = rest;
        Some(part)
    }

    fn until_zero(&mut self) -> Option<&'a [u8]> {
        let len = self.0.iter().position(|byte| *byte == 0)?;
        let (part, rest) = self.0.split_at(len);
        self.0 = &rest[1..];
        Some(part)
    }
}

fn text(name: &[u8]) -> Option<String> {
    String::from_utf8(name.to_vec()).ok()
}

/// Returns a reply of SOCKS 4 without an address.
fn reply_4(result: u8) -> Vec<u8> {
    vec![0, result, 0, 0, 0, 0, 0, 0]
}

/// Returns a reply of SOCKS 5 without an address.
fn reply_5(result: u8) -> Vec<u8> {
    vec![VERSION_5, result, 0, IPV4, 0, 0, 0, 0, 0, 0]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GREETING: &[u8] = &[5, 1, 0];

    fn tcp(host: &str, port: u16) -> Target {
        Target::Tcp { host: host.to_owned(), port }
    }

    /// Hands a request's pieces to the parser. Returns the bytes for the client, and the final step.
    fn run<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<u8>, Step) {
        let (mut request, mut said) = (Request::default(), Vec::new());
        let steps = pieces.into_iter().map(|piece| request.handle(piece, &mut said));
        let last = steps.reduce(|last, next| if last == Step::More { next } else { last });
        (said, last.expect("there is a piece"))
    }

    fn by_bytes(bytes: &[u8]) -> (Vec<u8>, Step) {
        run(bytes.chunks(1))
    }

    #[test]
    fn each_version_names_a_place_however_its_bytes_are_cut() {
        let name = [&[5, 1, 0, 3, 4][..], b"host", &[0, 80]].concat();
        let v6 = [&[5, 1, 0, 4][..], &Ipv6Addr::LOCALHOST.octets(), &[0, 80]].concat();
        for (request, target, version) in [
            (&[4, 1, 0, 80, 10, 0, 0, 1, b'm', b'e', 0][..], tcp("10.0.0.1", 80), Version::Four),
            (&[4, 1, 1, 0, 0, 0, 0, 9, 0, b'h', b'.', 0], tcp("h.", 256), Version::Four),
            (&name, tcp("host", 80), Version::Five),
            (&[5, 1, 0, 1, 10, 0, 0, 1, 0, 80], tcp("10.0.0.1", 80), Version::Five),
            (&v6, tcp("::1", 80), Version::Five),
        ] {
            let greeting = if version == Version::Five { GREETING } else { &[] };
            let wanted = Step::Connect { target, version, rest: Vec::new() };
            let answer = if version == Version::Five { &[5, 0][..] } else { &[] };
            assert_eq!(by_bytes(&[greeting, request].concat()), (answer.to_vec(), wanted.clone()));
            let with_rest = [request, b"GET"].concat();
            // A client need not wait for the answer to its greeting.
            let (said, step) = run([&[greeting, &with_rest].concat()[..]]);
            let Step::Connect { rest, .. } = step else { panic!("{step:?}") };
            assert_eq!((&*said, &*rest), (answer, &b"GET"[..]));
        }
    }

    #[test]
    fn bad_input_gets_the_reply_of_its_version_or_the_end() {
        let long = [&[5, 1, 0, 3, 255][..], &[b'x'; 255], &[0, 1]].concat();
        assert!(matches!(run([GREETING, &long]).1, Step::Connect { .. }));
        let greeted = |reply: &[u8]| [&[5, 0], reply].concat();
        for (pieces, wanted) in [
            (&[&[0][..]][..], Vec::new()),
            (&[&[6, 1, 0]], Vec::new()),
            (&[b"GET / HTTP/1.1\r\n\r\n"], Vec::new()),
            // No method, and a method that rove does not support.
            (&[&[5, 0]], vec![5, 0xff]),
            (&[&[5, 1, 2]], vec![5, 0xff]),
            // BIND, UDP ASSOCIATE, a wrong version, and an unknown kind of address.
            (&[GREETING, &[5, 2, 0, 1, 1, 1, 1, 1, 0, 80]], greeted(&reply_5(NO_COMMAND))),
            (&[GREETING, &[5, 3, 0, 1, 1, 1, 1, 1, 0, 80]], greeted(&reply_5(NO_COMMAND))),
            (&[GREETING, &[4, 1, 0, 1]], greeted(&reply_5(FAILED))),
            (&[GREETING, &[5, 1, 0, 2]], greeted(&reply_5(NO_ADDRESS))),
            // An empty name, a name that is not UTF-8, and the port 0.
            (&[GREETING, &[5, 1, 0, 3, 0, 0, 80]], greeted(&reply_5(FAILED))),
            (&[GREETING, &[5, 1, 0, 3, 1, 0xff, 0, 80]], greeted(&reply_5(FAILED))),
            (&[GREETING, &[5, 1, 0, 1, 1, 1, 1, 1, 0, 0]], greeted(&reply_5(FAILED))),
            (&[&[4, 2, 0, 80, 1, 1, 1, 1, 0]], reply_4(REJECTED_4)),
            (&[&[4, 1, 0, 0, 1, 1, 1, 1, 0]], reply_4(REJECTED_4)),
            (&[&[4, 1, 0, 80, 0, 0, 0, 1, 0, 0]], reply_4(REJECTED_4)),
        ] {
            assert_eq!(run(pieces.iter().copied()), (wanted, Step::End), "{pieces:?}");
        }
        let all = [&[5, 255][..], &[7; 254], &[0]].concat();
        assert_eq!(run([&all[..]]), (vec![5, 0], Step::More));
    }

    #[test]
    fn a_request_without_an_end_is_bounded() {
        let mut request = Request::default();
        let mut endless = [4, 1, 0, 80, 1, 1, 1, 1].iter().copied().chain(std::iter::repeat(b'u'));
        let fed = (1..).find(|_| {
            let byte = endless.next().expect("it has no end");
            request.handle(&[byte], &mut Vec::new()) == Step::End
        });
        assert_eq!(fed, Some(REQUEST_MAX + 1));
    }

    #[test]
    fn a_reply_says_whether_the_connection_was_made() {
        assert_eq!(Version::Four.granted()[1], GRANTED_4);
        assert_eq!(Version::Four.refused("x")[1], REJECTED_4);
        assert_eq!(Version::Five.granted()[1], SUCCEEDED);
        assert_eq!(Version::Five.refused("Connection refused")[1], REFUSED);
        assert_eq!(Version::Five.refused("No route to host")[1], HOST_UNREACHABLE);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_request_or_none_within_the_bound(
            version in 3_u8..7,
            bytes in proptest::collection::vec(prop_oneof![0_u8..6, any::<u8>()], 0..1_500),
        ) {
            let whole = [&[version][..], &bytes].concat();
            let (_, step) = by_bytes(&whole);
            if let Step::Connect { target, rest, .. } = &step {
                prop_assert!(target.check().is_ok() && rest.is_empty());
            }
            // The bytes of a SOCKS 5 greeting do not count towards the limit.
            prop_assert!(step != Step::More || whole.len() <= REQUEST_MAX + 257);
        }
    }
}
