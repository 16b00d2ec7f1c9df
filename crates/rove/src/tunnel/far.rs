//! The host's end of a tunnel: moves datagrams between ssh's standard input and output and the server's UDP port.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;

use anyhow::Context;
use rove_bootstrap::tunnel::MARK;
use rove_bootstrap::tunnel::carrier::{Arrival, Carrier};
use rove_control::Request;
use rove_platform::clock::Clock;
use rove_platform::event_loop::{EventLoop, Interest};
use rove_ssp::wire::DATAGRAM_LEN_MAX;
use rove_udp::DATAGRAMS_PER_TURN;
use rustix::io::Errno;
use rustix::stdio;
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

/// Most bytes read from ssh at once. Chosen: the size of a pipe's buffer on Linux.
const READ_LEN: usize = 64 * 1024;

/// Runs the host's end until standard input ends. Datagrams are sent to `port` of this computer's loopback address.
///
/// # Errors
///
/// Returns why the end cannot run, or that its input is not a tunnel.
pub(crate) fn run(port: u16) -> anyhow::Result<()> {
    let server = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot open a UDP socket")?;
    // A connected socket receives from the server only, and reports if the server is gone.
    socket.connect(server).context("cannot open a UDP socket")?;
    socket.set_nonblocking(true).context("cannot open a UDP socket")?;
    // If the login has a terminal, the terminal must not change bytes.
    if let Ok(mut modes) = tcgetattr(stdio::stdin()) {
        modes.make_raw();
        tcsetattr(stdio::stdin(), OptionalActions::Now, &modes)
            .context("cannot make the terminal raw")?;
    }
    let mut stdout = io::stdout();
    writeln!(stdout, "{MARK}").and_then(|()| stdout.flush()).context("nobody listens")?;
    for descriptor in [stdio::stdin(), stdio::stdout()] {
        rustix::io::ioctl_fionbio(descriptor, true).context("cannot use ssh's pipes")?;
    }
    let events = EventLoop::new(Clock::start(), &[]).context("cannot wait")?;
    let buffer = vec![0; READ_LEN];
    Pump { events, socket, carrier: Carrier::default(), buffer, is_told: false }.run(port)
}

struct Pump {
    events: EventLoop,
    socket: UdpSocket,
    carrier: Carrier,
    buffer: Vec<u8>,
    /// Whether the server has been told of this end.
    is_told: bool,
}

impl Pump {
    fn run(mut self, port: u16) -> anyhow::Result<()> {
        loop {
            if !self.write()? {
                return Ok(());
            }
            let mut interests = vec![
                Interest::new(stdio::stdin(), true, false),
                Interest::new(self.socket.as_fd(), true, false),
            ];
            if !self.carrier.poll_bytes().is_empty() {
                interests.push(Interest::new(stdio::stdout(), false, true));
            }
            self.events.wait(&mut interests, None).context("cannot wait")?;
            let [has_input, has_datagrams] = [0, 1].map(|index| interests[index].is_readable());
            if has_input && !self.read()? {
                return Ok(());
            }
            if has_datagrams {
                self.receive();
                // A server that has answered has its control socket.
                if !std::mem::replace(&mut self.is_told, true)
                    && let Ok(end) = self.socket.local_addr()
                {
                    rove_control::tell(port, Request::Tunnel(end.port()));
                }
            }
        }
    }

    /// Reads ssh's bytes and sends the datagrams in them. Returns whether the input goes on.
    fn read(&mut self) -> anyhow::Result<bool> {
        let len = match rustix::io::read(stdio::stdin(), &mut self.buffer) {
            Ok(0) => return Ok(false),
            Ok(len) => len,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(true),
            Err(_) => return Ok(false),
        };
        let mut bytes = &self.buffer[..len];
        while let Some(arrival) = self.carrier.handle_bytes(&mut bytes)? {
            let Arrival::Datagram(datagram) = arrival else { continue };
            // A datagram that cannot be sent is lost, as on any path.
            if let Err(error) = self.socket.send(&datagram)
                && error.kind() == io::ErrorKind::ConnectionRefused
            {
                // The error is about an earlier datagram.
                self.carrier.handle_refusal();
                let _ = self.socket.send(&datagram);
            }
        }
        Ok(true)
    }

    fn receive(&mut self) {
        let mut buffer = [0; DATAGRAM_LEN_MAX + 1];
        for _ in 0..DATAGRAMS_PER_TURN {
            match self.socket.recv(&mut buffer) {
                Ok(len) => self.carrier.handle_datagram(&buffer[..len]),
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    self.carrier.handle_refusal();
                }
                Err(_) => break,
            }
        }
    }

    /// Writes as many bytes as ssh accepts. Returns whether ssh still reads.
    fn write(&mut self) -> anyhow::Result<bool> {
        while let bytes = self.carrier.poll_bytes()
            && !bytes.is_empty()
        {
            match rustix::io::write(stdio::stdout(), bytes) {
                Ok(len) => self.carrier.consume(len),
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(_) => return Ok(false),
            }
        }
        Ok(true)
    }
}
