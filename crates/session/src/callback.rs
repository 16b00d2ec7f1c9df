//! Finds on the screen the address of a browser login that redirects the browser to a loopback port.
//!
//! A program on the host that logs in by a browser prints an address. Its `redirect_uri` names a port of the host at
//! which the program listens, but the browser runs on the user's computer. This module only reads: the screen's text
//! comes from the program, so the client must ask the user before it forwards the port.

use std::sync::Arc;

use rove_terminal::{Row, Screen};

/// Maximum length of a browser login's address, in bytes. Chosen: four times the longest hyperlink of a screen.
const ADDRESS_MAX: usize = 8_192;

/// Maximum number of shown characters of a login's host name. Chosen: the question about it fits 40 columns.
const HOST_SHOWN_MAX: usize = 36;

/// The lowest loopback port to which a login may redirect. Source: lower ports are for system services (RFC 6335).
const PORT_MIN: u16 = 1_024;

/// The two beginnings of a web address, and ([`SCHEME`]) the letters with which both begin.
const SCHEMES: [&str; 2] = ["https://", "http://"];
const SCHEME: &str = "http";

/// Characters that are cut off the end of an address, because they belong to the sentence around it.
const ENDS: [char; 7] = ['.', ',', ';', ':', '\'', ')', ']'];

/// The names of the loopback interface in an address, each with the address to which the host connects for this name.
const LOOPBACKS: [(&str, &str); 3] =
    [("localhost", "localhost"), ("127.0.0.1", "127.0.0.1"), ("[::1]", "::1")];

/// A login that redirects the browser to a port of the loopback interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callback {
    /// The host name in the login's address, in printable ASCII.
    pub login: String,
    /// The name or address of the loopback interface to which the browser is redirected.
    pub loopback: &'static str,
    /// The port to which the browser is redirected.
    pub port: u16,
}

/// A login, and the row in which its address ends.
type Found = (u16, Callback);

/// The text of successive rows that one address may span, and where each row begins in it.
#[derive(Default)]
struct Line {
    text: String,
    /// For each row, the length of the text before it, and the row's number.
    rows: Vec<(usize, u16)>,
}

/// Returns the login whose address ends in the row nearest to the cursor; rows below the cursor come last. `None` if no
/// address redirects to a loopback port from 1024 on. An address may span rows, or be in a hyperlink.
pub(crate) fn find(screen: &Screen) -> Option<Callback> {
    let mut best: Option<Found> = None;
    let cursor = screen.cursor().row;
    let mut offer = |found: Found| {
        let rank = |row: u16| if row <= cursor { (true, row) } else { (false, u16::MAX - row) };
        if best.as_ref().is_none_or(|(row, _)| rank(*row) <= rank(found.0)) {
            best = Some(found);
        }
    };
    let mut line = Line::default();
    for row in 0..screen.size().rows() {
        links(screen, row).for_each(&mut offer);
        line.rows.push((line.text.len(), row));
        line.text.push_str(&screen.row_text(row));
        if !screen.row(row).is_some_and(goes_on) {
            core::mem::take(&mut line).addresses().for_each(&mut offer);
        }
    }
    line.addresses().for_each(&mut offer);
    best.map(|(_, callback)| callback)
}

/// Returns the logins of a row's hyperlinks.
fn links(screen: &Screen, row: u16) -> impl Iterator<Item = Found> {
    let columns = screen.size().columns();
    let cells = screen.row(row).into_iter();
    let mut last = None;
    cells
        .flat_map(move |it| {
            (0..columns).filter_map(move |column| it.decoration(column).link.as_ref())
        })
        .filter(move |link| {
            let address = Arc::as_ptr(link);
            last.replace(address) != Some(address)
        })
        .filter_map(move |link| Some((row, Callback::of(link.uri())?)))
}

/// Returns whether an address may continue in the next row: the row wraps, or its last character fits an address.
fn goes_on(row: &Row) -> bool {
    let last = row.cells().last().and_then(|cell| cell.base);
    row.wrapped() || last.and_then(|c| u8::try_from(c).ok()).is_some_and(is_of_address)
}

impl Line {
    fn addresses(&self) -> impl Iterator<Item = Found> {
        let mut rest = 0;
        core::iter::from_fn(move || {
            loop {
                let begin = rest + self.text.get(rest..)?.find(SCHEME)?;
                let tail = self.text.get(begin..)?;
                if !SCHEMES.iter().any(|scheme| tail.starts_with(scheme)) {
                    rest = begin + SCHEME.len();
                    continue;
                }
                let len = tail.bytes().take_while(|byte| is_of_address(*byte)).count();
                // An `http` within these characters (in `redirect_uri`) belongs to the address, so the search skips it.
                rest = begin + len;
                let address = tail.get(..len)?.trim_end_matches(ENDS);
                let at = self.rows.partition_point(|(at, _)| *at < rest).checked_sub(1)?;
                if let Some(callback) = Callback::of(address) {
                    return Some((self.rows.get(at)?.1, callback));
                }
            }
        })
    }
}

impl Callback {
    /// Reads a web address. `None` unless its one `redirect_uri` leads to a loopback port from 1024 on, by plain HTTP.
    fn of(address: &str) -> Option<Self> {
        // A hyperlink may contain a backslash. Browsers take it for the slash that ends the host's name.
        if address.len() > ADDRESS_MAX || !address.bytes().all(is_of_address) {
            return None;
        }
        let rest = SCHEMES.iter().find_map(|scheme| address.strip_prefix(scheme))?;
        let (authority, _) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let login = authority.rsplit('@').next().and_then(shown_host)?;
        let (_, query) = rest.split('#').next()?.split_once('?')?;
        let mut back = query.split('&').filter_map(|part| part.strip_prefix("redirect_uri="));
        let (only, None) = (back.next()?, back.next()) else { return None };
        let back = decoded(only)?;
        let back = back.strip_prefix("http://")?;
        let (loopback, back) = LOOPBACKS
            .iter()
            .find_map(|(name, at)| Some((*at, back.strip_prefix(name)?.strip_prefix(':')?)))?;
        let (port, end) = back.split_at(back.find(['/', '?', '#']).unwrap_or(back.len()));
        debug_assert!(end.is_empty() || !port.contains('/'), "the port ends where the path begins");
        let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let port = port.parse().ok().filter(|port| is_number && *port >= PORT_MIN)?;
        Some(Self { login, loopback, port })
    }
}

/// Returns the login's host name as the client shows it to the user. A long name keeps its end, because the end says
/// who owns the name. `None` for an empty name, and for a name with a percent sign, which a browser would decode.
fn shown_host(host: &str) -> Option<String> {
    if host.is_empty() || host.contains('%') {
        return None;
    }
    // The name is ASCII, so each byte is a character.
    let cut = host.len().checked_sub(HOST_SHOWN_MAX).filter(|cut| *cut > 0);
    Some(cut.map_or_else(
        || host.to_owned(),
        |cut| format!("...{}", host.get(cut + 3..).unwrap_or_default()),
    ))
}

/// Returns the text with its percent-encoding decoded once. `None` if the encoding is malformed, or the result is not
/// printable ASCII without blanks.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut decoded = String::new();
    while let Some(byte) = bytes.next() {
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        let byte = match byte {
            b'%' => u8::try_from(digit()? * 16 + digit()?).ok()?,
            byte => byte,
        };
        decoded.push(Some(byte).filter(u8::is_ascii_graphic)?.into());
    }
    Some(decoded)
}

/// Returns whether a byte may stand in an address. Source: RFC 3986, section 2.
const fn is_of_address(byte: u8) -> bool {
    byte.is_ascii_graphic()
        && !matches!(byte, b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}')
}

#[cfg(test)]
mod tests;
