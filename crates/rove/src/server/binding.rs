//! Binds a server's UDP port at the address that the user chose.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use anyhow::anyhow;
use rove_bootstrap::ProgramName;
use rove_control::ask_for_port;
use rove_udp::{PortRange, ServerSocket};

use super::ssh_target::server_address;
use crate::messages::{reason, say};

/// The local address that a server binds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum BindAddress {
    /// The server binds all addresses of this computer, IPv6 and IPv4.
    #[default]
    Any,
    /// The server binds the local address of the ssh connection (`SSH_CONNECTION`).
    SshConnection,
    /// The server binds this address.
    Address(IpAddr),
}

/// Binds a port at the address that the user chose. If that fails, binds a port at all addresses, as Mosh does. Under
/// the name `rove`, a failure at an address that the user typed is an error instead.
///
/// # Errors
///
/// Returns, in a sentence for the user, why no port could be bound.
pub(super) fn bind(
    at: BindAddress,
    ports: PortRange,
    name: ProgramName,
) -> anyhow::Result<ServerSocket> {
    let ssh_connection = std::env::var_os("SSH_CONNECTION");
    let wanted = match at {
        BindAddress::Any => None,
        BindAddress::Address(address) => Some(address),
        BindAddress::SshConnection => {
            let address = server_address(ssh_connection.as_deref());
            if address.is_none() {
                warn("SSH_CONNECTION names no address of this computer; binding to any");
            }
            address
        }
    };
    if let Some(address) = wanted {
        match bind_to(address, ports) {
            Ok(socket) => return Ok(socket),
            Err(error) if name == ProgramName::Rove && at == BindAddress::Address(address) => {
                return Err(unbound(&error, ports).context(format!("cannot bind to {address}")));
            }
            Err(error) => warn(format!("cannot bind to {address} ({error}); binding to any")),
        }
    }
    let any = match bind_to(Ipv6Addr::UNSPECIFIED.into(), ports) {
        // An error other than a port in use may mean that this computer lacks IPv6. If another process has bound the
        // port for IPv6, the server must not bind the same port for IPv4 only.
        Err(error) if error.kind() != io::ErrorKind::AddrInUse => {
            bind_to(Ipv4Addr::UNSPECIFIED.into(), ports)
        }
        // An IPv6 socket receives IPv4 as well.
        result => result,
    };
    any.map_err(|error| unbound(&error, ports))
}

/// Returns the sentence that no port could be bound.
fn unbound(error: &io::Error, PortRange { low, high }: PortRange) -> anyhow::Error {
    let remedy = match error.kind() {
        io::ErrorKind::PermissionDenied => "choose others, from 1024 on, with -p",
        io::ErrorKind::AddrNotAvailable => "choose an address of this computer",
        _ => "end a server that is no longer needed, or choose others with -p",
    };
    let reason = reason(&error.to_string());
    anyhow!("no UDP port from {low} to {high} could be bound ({reason}): {remedy}")
}

/// Binds a free port. If none is free, asks the user's servers that linger after their sessions, and tries again.
fn bind_to(address: IpAddr, ports: PortRange) -> io::Result<ServerSocket> {
    match ServerSocket::bind(address, ports) {
        Err(error)
            if error.kind() == io::ErrorKind::AddrInUse
                && ask_for_port(|port| (ports.low..=ports.high).contains(&port)) =>
        {
            ServerSocket::bind(address, ports)
        }
        result => result,
    }
}

/// Prints a warning on standard error, which may have no reader.
fn warn(text: impl AsRef<str>) {
    say(io::stderr(), text.as_ref());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_the_user_named_is_not_replaced_by_all_addresses() {
        let ports = PortRange { low: 61_000, high: 61_999 };
        // An address for documentation (RFC 5737), which no computer has.
        let at = BindAddress::Address(Ipv4Addr::new(192, 0, 2, 1).into());
        let error = bind(at, ports, ProgramName::Rove).expect_err("no such address");
        let said = format!("{error:#}");
        assert!(said.starts_with("cannot bind to 192.0.2.1: no UDP port"), "{said}");
        assert!(said.ends_with("choose an address of this computer"), "{said}");
        assert!(bind(at, ports, ProgramName::Mosh).is_ok(), "stock binds all");
    }
}
