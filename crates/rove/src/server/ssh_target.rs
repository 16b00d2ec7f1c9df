//! Resolves a stream's target `localhost:22` to the sshd by which the session was started.

use std::ffi::OsStr;
use std::net::IpAddr;

/// The TCP port of ssh. Source: RFC 4253, section 4.1.
const SSH_PORT: u16 = 22;

/// Returns the host and port to connect to for a stream's target. `localhost:22` becomes the address of the sshd in
/// `ssh_connection` (`client-ip client-port server-ip server-port`). That sshd may use another port, or not listen on
/// the loopback.
pub(super) fn resolve(host: &str, port: u16, ssh_connection: Option<&OsStr>) -> (String, u16) {
    let sshd = || {
        let port = ssh_connection?.to_str()?.split_whitespace().nth(3)?;
        Some((server_address(ssh_connection)?.to_string(), port.parse().ok()?))
    };
    let is_meant = host == "localhost" && port == SSH_PORT;
    let found = if is_meant { sshd() } else { None };
    found.unwrap_or_else(|| (host.to_owned(), port))
}

/// Returns the server's address in sshd's `client-ip client-port server-ip server-port`. `None` if it has none.
pub(super) fn server_address(ssh_connection: Option<&OsStr>) -> Option<IpAddr> {
    let word = ssh_connection?.to_str()?.split_whitespace().nth(2)?;
    word.parse().ok().map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_itself_is_reached_where_its_sshd_was() {
        const SSHD: Option<&str> = Some("10.0.0.1 50000 10.0.0.2 2222");
        for (host, port, connection, found) in [
            ("localhost", 22, SSHD, ("10.0.0.2", 2222)),
            ("localhost", 22, Some("::1 5 ::ffff:10.0.0.2 22"), ("10.0.0.2", 22)),
            ("localhost", 22, Some("::1 5 2001:db8::1 2222"), ("2001:db8::1", 2222)),
            ("localhost", 22, None, ("localhost", 22)),
            ("localhost", 22, Some(""), ("localhost", 22)),
            ("localhost", 22, Some("10.0.0.1 50000 10.0.0.2"), ("localhost", 22)),
            ("localhost", 22, Some("10.0.0.1 50000 x 22"), ("localhost", 22)),
            ("localhost", 80, SSHD, ("localhost", 80)),
            ("127.0.0.1", 22, SSHD, ("127.0.0.1", 22)),
        ] {
            let (name, number) = resolve(host, port, connection.map(OsStr::new));
            assert_eq!((name.as_str(), number), found, "{host}:{port} {connection:?}");
        }
    }

    #[test]
    fn the_servers_address_is_the_third_word_of_ssh_connection() {
        for (text, address) in [
            ("10.0.0.1 50000 10.0.0.2 22", Some("10.0.0.2")),
            ("::1 50000 2001:db8::2 22", Some("2001:db8::2")),
            ("::ffff:10.0.0.1 5 ::FFFF:10.0.0.2 22", Some("10.0.0.2")),
            ("10.0.0.1 50000", None),
            ("a b host d", None),
            ("", None),
        ] {
            let address = address.map(|address| address.parse().unwrap());
            assert_eq!(server_address(Some(OsStr::new(text))), address, "{text}");
        }
        assert_eq!(server_address(None), None);
    }
}
