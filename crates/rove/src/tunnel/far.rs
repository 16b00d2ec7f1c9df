//! The host's end of a tunnel (`rove tunnel PORT`). It moves datagrams between standard input and output, which ssh
//! carries, and the server's UDP port.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;

use anyhow::Context;
use rove_bootstrap::tunnel::carrier::Arrival;
use rove_control::Request;
use rove_platform::clock::Clock;
use rove_platform::event_loop::{EventLoop, Interest};
use rove_ssp::wire::DATAGRAM_LEN_MAX;
use rove_udp::DATAGRAMS_PER_TURN;

use crate::tunnel::pipes::Pipes;

/// Runs the host's end until standard input ends. Datagrams are sent to `port` of this computer's loopback address.
///
/// # Errors
///
/// Returns why the host's end cannot run, or that its input is malformed.
pub(crate) fn run(port: u16) -> anyhow::Result<()> {
    let server = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot open a UDP socket")?;
    // A connected socket receives only from the server, and reports if the server's port is closed.
    socket.connect(server).context("cannot open a UDP socket")?;
    socket.set_nonblocking(true).context("cannot open a UDP socket")?;
    let pipes = Pipes::open()?;
    let events = EventLoop::new(Clock::start(), &[]).context("cannot wait")?;
    Pump { events, socket, pipes, is_told: false }.run(port)
}

struct Pump {
    events: EventLoop,
    socket: UdpSocket,
    pipes: Pipes,
    /// Whether this end has reported its UDP port to the server.
    is_told: bool,
}

impl Pump {
    fn run(mut self, port: u16) -> anyhow::Result<()> {
        while self.pipes.write() {
            let mut interests = vec![Interest::new(self.socket.as_fd(), true, false)];
            interests.extend(self.pipes.interests());
            self.events.wait(&mut interests, None).context("cannot wait")?;
            let [has_datagrams, has_input] = [0, 1].map(|index| interests[index].is_readable());
            if has_input {
                let Some(arrivals) = self.pipes.read()? else { return Ok(()) };
                arrivals.into_iter().for_each(|arrival| self.pass(port, arrival));
            }
            if has_datagrams {
                self.receive();
                // The report needs the server's control socket, which exists once the server has answered.
                if !std::mem::replace(&mut self.is_told, true)
                    && let Ok(end) = self.socket.local_addr()
                {
                    rove_control::tell(port, &Request::Tunnel(end.port()));
                }
            }
        }
        Ok(())
    }

    /// Sends a datagram to the server, or tells the server the address of a forwarder.
    fn pass(&mut self, port: u16, arrival: Arrival) {
        match arrival {
            // A datagram that cannot be sent is lost, as on any path.
            Arrival::Datagram(datagram) => {
                if let Err(error) = self.socket.send(&datagram)
                    && error.kind() == io::ErrorKind::ConnectionRefused
                {
                    // The error belongs to an earlier datagram, and this datagram was not sent.
                    self.pipes.carrier.handle_refusal();
                    let _ = self.socket.send(&datagram);
                }
            }
            Arrival::Words(text) => {
                let source = text.parse().into_iter();
                source.for_each(|source| rove_control::tell(port, &Request::Forwarder(source)));
            }
            Arrival::Refused => {}
        }
    }

    fn receive(&mut self) {
        let carrier = &mut self.pipes.carrier;
        let mut buffer = [0; DATAGRAM_LEN_MAX + 1];
        for _ in 0..DATAGRAMS_PER_TURN {
            match self.socket.recv(&mut buffer) {
                Ok(len) => carrier.handle_datagram(&buffer[..len]),
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    carrier.handle_refusal();
                }
                Err(_) => break,
            }
        }
    }
}
