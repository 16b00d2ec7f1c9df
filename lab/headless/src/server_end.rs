//! The server end: the released server, and a program on its pty.

use core::net::SocketAddr;

use rove_link::net::End;
use rove_session::{Server, ServerConfig, ServerEvent};
use rove_ssp::Ecn;
use rove_units::Instant;

use crate::traffic::Traffic;

/// A program on the pty, which also records measurements at the server end.
pub trait Program {
    /// Lets the program read its input ([`Server::host_input`], [`Server::consume_host_input`]), and write output that
    /// is due ([`Server::handle_host_output`]).
    fn turn(&mut self, now: Instant, server: &mut Server);

    /// Returns when the caller must call [`Program::turn`], even if nothing happens before.
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    /// Handles a request of the server to its driver.
    fn handle_event(&mut self, _event: ServerEvent) {}
}

/// A program that answers each read with the given bytes and the keys that it read. Enter begins a line.
#[derive(Clone, Copy, Debug)]
pub struct Echo(pub &'static [u8]);

impl Program for Echo {
    fn turn(&mut self, now: Instant, server: &mut Server) {
        let typed = server.host_input().to_vec();
        if !typed.is_empty() {
            server.consume_host_input(typed.len());
            let echo = String::from_utf8_lossy(&typed).replace('\r', "\r\n");
            server.handle_host_output(now, &[self.0, echo.as_bytes()].concat());
        }
    }
}

/// A server, and the program on its pty.
pub struct ServerEnd<P> {
    /// The server.
    pub server: Server,
    /// The program that reads the user's keys.
    pub program: P,
    /// Datagrams that the server has sent.
    pub traffic: Traffic,
}

impl<P: Program> ServerEnd<P> {
    /// Creates a server and its program. `now` is the time on the end's own clock.
    pub fn new(config: ServerConfig, program: P, now: Instant) -> Self {
        Self { server: Server::new(config, now), program, traffic: Traffic::default() }
    }
}

impl<P: Program> End for ServerEnd<P> {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        // The path forges nothing. The transport handles datagrams that arrive twice or too late.
        let _ = self.server.handle_datagram(now, source, Ecn::Capable, payload);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.server.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        self.program.turn(now, &mut self.server);
        while let Some(event) = self.server.poll_event() {
            self.program.handle_event(event);
        }
        let transmit = self.server.poll_transmit(now)?;
        self.traffic.count(now, &transmit.payload);
        Some((transmit.destination, transmit.payload))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        [self.server.poll_timeout(), self.program.poll_timeout()].into_iter().flatten().min()
    }
}
